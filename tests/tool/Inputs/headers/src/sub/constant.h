#define CONSTANT 3

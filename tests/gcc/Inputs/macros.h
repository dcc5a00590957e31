// Macros of a user's header, which the test's own pass arguments through.
#define OPERAND(type, name, ...) const tc_tensor *name TC_SHAPE(#type "[" #__VA_ARGS__ "]")
#define RESULT(name) TC_COMPILE static tc_tensor *name
#define HALVES(x) ((x) / 2 + (x) / 2)
#define LIST(X) X(1) X(2) X(3)

#include <stdio.h>

int main(void) {
  puts("plain");
  return 0;
}

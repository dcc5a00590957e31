/* Says that it is the clang which the plugin is for, and has nothing of Clang's. */
#include <dlfcn.h>
#include <stdio.h>

void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = __clang_major__; /* of the compiler that the tests run */
  *minor = *patch = 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && !dlopen(argv[1], RTLD_NOW)) puts(dlerror());
  return 0;
}

// What Clang's plugin compiled is found by GCC's, where flags are the same: kernels, and what checks operands.
// RUN: rm -rf %t && mkdir %t
// RUN: env TC_BUILD_CACHE=%t %tcclang -c %s -o %t/clang.o -Rpass=tc 2>&1 | %check --check-prefix=COLD %s
// RUN: env TC_BUILD_CACHE=%t %tcgcc -fplugin-arg-libtcgcc-remarks -c %s -o %t/gcc.o 2>&1 | %check --check-prefix=WARM %s
// COLD: 0 of 2 compiled parts of this file come from the cache
// WARM: 2 of 2 compiled parts of this file come from the cache
#include <tcompile.h>

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,512]")) {
  return tc_softmax(tc_exp(x), -1);
}

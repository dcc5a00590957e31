// C++ files stay eager and say so.
// RUN: %tcxx -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++20 -Wall -Wextra -Werror -c %s -o %t.o 2>&1 | %check --allow-empty --check-prefix=QUIET %s
// QUIET-NOT: {{.}}
#include <tcompile.h>

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK: cplusplus.cpp:[[#@LINE-1]]:23: remark: not compiled: annotated functions are compiled in C files, and this is C++

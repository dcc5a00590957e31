// A file with errors of its own gets those, once, and nothing else.
// RUN: %not %tc -c %s -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile.h>

TC_COMPILE tc_tensor *good(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
int broken(void) { return undeclared; }
// CHECK: other_errors.c:[[#@LINE-1]]:{{[0-9]+}}: error:
// CHECK-NOT: remark

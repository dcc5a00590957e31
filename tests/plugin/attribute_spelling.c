// The attributes as they are spelt, on a declaration alone, and from a macro.
// RUN: %tc -O1 -c %s -o %t.o -Rpass=tc 2>&1 | %check %s
#include <tcompile.h>

__attribute__((tc_compile)) tc_tensor *plain(const tc_tensor *x __attribute__((tc_shape("f32[N]")))) {
  return tc_exp(x);
}
// CHECK-DAG: remark: 'plain' compiled: 1 ops in 1 kernel

TC_COMPILE tc_tensor *from_header(const tc_tensor *x TC_SHAPE("f32[N]"));
tc_tensor *from_header(const tc_tensor *x) { return tc_exp(x); }
// CHECK-DAG: remark: 'from_header' compiled

#define FAST(name) TC_COMPILE tc_tensor *name
FAST(from_macro)(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK-DAG: remark: 'from_macro' compiled

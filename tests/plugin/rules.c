// What the rules of operations say, at the call.  (Other rules: shape_errors.c, tests/graph.)
// RUN: %not %tc -fsyntax-only %s 2>&1 | %check %s
#include <tcompile.h>

#define IN(name, shape) const tc_tensor *name TC_SHAPE(shape)
TC_COMPILE tc_tensor *batches(IN(a, "f32[2,3,4]"), IN(b, "f32[5,4,6]")) { return tc_matmul(a, b); }
// CHECK-DAG: rules.c:[[#@LINE-1]]:82: error: matmul: [2,3,4] x [5,4,6]: leading axes do not broadcast
TC_COMPILE tc_tensor *no_axis(IN(x, "f32[]"), IN(w, "f32[3,4]")) { return tc_linear(x, w, NULL); }
// CHECK-DAG: rules.c:[[#@LINE-1]]:75: error: linear: x must have at least one axis
TC_COMPILE tc_tensor *nine_axes(IN(x, "f32[1,2,3,4,5,6,7,8]")) { return tc_unsqueeze(x, 0); }
// CHECK-DAG: rules.c:[[#@LINE-1]]:73: error: unsqueeze: the result has more than 8 axes
TC_COMPILE tc_tensor *dots(IN(x, "f32[3,4]")) { return tc_einsum("...a...->a", (const tc_tensor *[]){x}, 1); }
// CHECK-DAG: rules.c:[[#@LINE-1]]:56: error: einsum: "...a...->a": '...' appears twice in one operand
TC_COMPILE tc_tensor *scalar_axis(IN(x, "f32[]")) { return tc_flatten(x, 1, 1); }
// CHECK-DAG: rules.c:[[#@LINE-1]]:60: error: flatten: axis is out of range for []
TC_COMPILE tc_tensor *no_classes(IN(x, "f32[4,0]"), IN(t, "i64[4]")) { return tc_cross_entropy(x, t, 1); }
// CHECK-DAG: rules.c:[[#@LINE-1]]:79: error: cross_entropy: [4,0] has no classes
TC_COMPILE tc_tensor *no_type(IN(x, "f32[4]")) { return tc_cast(x, (tc_dtype)77); }
// CHECK-DAG: rules.c:[[#@LINE-1]]:57: error: cast: dtype is not an element type

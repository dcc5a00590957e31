// What is said where gradients are not compiled.
// RUN: %not %tc -w -fsyntax-only %s -Rpass-missed=tc -fdiagnostics-parseable-fixits 2>&1 | %check %s
#include <tcompile.h>

#define X tc_tensor *x TC_SHAPE("f32[N]")
TC_COMPILE tc_tensor *many(X) { tc_tensor *g; return tc_grad(tc_square(x), 1, &x, &g) ? g : NULL; }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:54: remark: 'many' not compiled: the gradient of f32[N], which is not one number; tc_vjp takes a cotangent of its shape
TC_COMPILE tc_tensor *of_list(X, int n) { tc_tensor *g; return tc_grad(tc_sum(x, TC_ALL, false), n, &x, &g) ? g : NULL; }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:98: remark: 'of_list' not compiled: how many gradients are wanted has to be known at build time; TC_SPECIALIZE("n=...") compiles for a value of it
TC_COMPILE tc_tensor *flagged(X, int flags) { tc_tensor *g; return tc_grad_with(tc_sum(x, TC_ALL, false), NULL, 1, &x, flags, &g) ? g : NULL; }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:120: remark: 'flagged' not compiled: 'flags' has to be known at build time; TC_SPECIALIZE("flags=...") compiles for a value of it
TC_COMPILE tc_tensor *into(X, tc_tensor **g) { return tc_grad(tc_sum(tc_exp(x), TC_ALL, false), 1, &x, g + tc_rank(x)) ? *g : NULL; }
TC_COMPILE tc_tensor *nowhere(X) { tc_tensor *y = tc_sum(tc_exp(x), TC_ALL, false); return tc_grad(y, 1, &x, NULL) ? y : NULL; }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:92: remark: graph break in 'nowhere': gradients go to a list that is not followed
TC_COMPILE tc_tensor *quiet(X) {
  tc_tensor *g = NULL, *y = tc_sum(tc_exp(x), TC_ALL, false);
  TC_NO_GRAD { tc_grad(y, 1, &x, &g); }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:16: remark: graph break in 'quiet': gradients are asked for in TC_NO_GRAD
  return g;
}
TC_COMPILE tc_tensor *twice(X) {
  tc_tensor *y = tc_sum(tc_exp(x), TC_ALL, false), *g;
  if (!tc_grad(y, 1, &x, &g)) return NULL;
  return tc_grad(y, 1, &x, &g) ? g : NULL;
// CHECK-DAG: gradients.c:[[#@LINE-1]]:10: remark: graph break in 'twice': an earlier call has freed the tape behind this value; give that one TC_RETAIN_GRAPH (tc_grad_with)
}
TC_COMPILE tc_tensor *other(X, tc_tensor *z TC_SHAPE("f32[N]")) {
  tc_tensor *y = tc_sum(tc_exp(x), TC_ALL, false), *g;
  return tc_grad(y, 1, &z, &g) ? g : NULL;
// CHECK-DAG: gradients.c:[[#@LINE-1]]:10: remark: graph break in 'other': what gradient 0 is wanted of does not lead to f32[] within the statements from here on
}
TC_COMPILE tc_tensor *inner(X, const tc_tensor *z TC_SHAPE("f32[N]")) {
  tc_tensor *h = tc_exp(z), *y = tc_sum(tc_mul(x, h), TC_ALL, false), *g;
  return tc_grad(y, 1, &h, &g) ? g : NULL;
// CHECK-DAG: gradients.c:[[#@LINE-1]]:24: remark: graph break in 'inner': the gradient of a value that is computed from none of the operands that gradients are taken with respect to
}
TC_COMPILE tc_tensor *tracked(X) {
  tc_tensor *y = tc_sum(tc_exp(x), TC_ALL, false), *side = tc_cos(x), *g;
  if (!tc_grad(y, 1, &x, &g)) return NULL;
  return tc_add(side, g);
// CHECK-DAG: gradients.c:[[#@LINE-1]]:3: remark: graph break in 'tracked': f32[N] is handed on while its gradient is tracked; hand on tc_detach of it
}
TC_COMPILE tc_tensor *stored(X, tc_tensor *m TC_SHAPE("f32[N]")) {
  tc_tensor *y = tc_sum(tc_exp(x), TC_ALL, false), *g;
  tc_add_(m, x);
  return tc_grad(y, 1, &x, &g) ? g : NULL;
// CHECK-DAG: gradients.c:[[#@LINE-1]]:3: remark: graph break in 'stored': 'm' is written with what gradients are tracked of
}
TC_COMPILE tc_tensor *updated(X) {
  tc_tensor *y = tc_sum(tc_exp(x), TC_ALL, false), *g;
  if (!tc_grad(y, 1, &x, &g)) return NULL;
  tc_sub_(x, g);
// CHECK-DAG: gradients.c:[[#@LINE-1]]:3: error: 'x' is written while its gradient is tracked; write it in TC_NO_GRAD { ... }
// CHECK-DAG: fix-it:"{{.*}}gradients.c":{[[#@LINE-2]]:3-[[#@LINE-2]]:3}:"TC_NO_GRAD "
  return g;
}
TC_COMPILE tc_tensor *position(X) {
  tc_tensor *y = tc_sum(tc_cast(tc_argmax(x, TC_ALL, false), TC_F32), TC_ALL, false), *g;
  return tc_grad(y, 1, &x, &g) ? g : NULL;
// CHECK-DAG: gradients.c:[[#@LINE-1]]:10: error: argmax has no gradient (its result is a position); "x" reaches what is differentiated by argmax, cast, sum
}
TC_COMPILE tc_tensor *fixed(tc_tensor *x TC_SHAPE("f32[3]")) { tc_tensor *g; return tc_grad(tc_square(x), 1, &x, &g) ? g : NULL; }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:85: error: the gradient of f32[3], which is not one number; tc_vjp takes a cotangent of its shape
// CHECK-DAG: fix-it:"{{.*}}gradients.c":{[[#@LINE-2]]:93-[[#@LINE-2]]:93}:"tc_sum("
// CHECK-DAG: fix-it:"{{.*}}gradients.c":{[[#@LINE-3]]:105-[[#@LINE-3]]:105}:", TC_ALL, false)"
// What a gradient reaches only through a function of the program's own: its path.
bool twice_kernel(tc_tensor *out, const tc_tensor *x);
TC_CUSTOM_OP("f32[N]", twice_kernel) tc_tensor *doubled(const tc_tensor *x TC_SHAPE("f32[N]"));
TC_COMPILE tc_tensor *custom(X) {
  tc_tensor *y = tc_sum(tc_exp(doubled(tc_sin(x))), TC_ALL, false), *g;
  return tc_grad(y, 1, &x, &g) ? g : NULL;
// CHECK-DAG: gradients.c:[[#@LINE-1]]:10: error: call has no gradient (nothing is known of the function); "x" reaches what is differentiated by sin, call, exp, sum
}
TC_COMPILE tc_tensor *forward(X) {
  tc_tensor *y = tc_cast(tc_argmax(x, TC_ALL, false), TC_F32);
  return tc_jvp(y, 1, &x, &x);
// CHECK-DAG: gradients.c:[[#@LINE-1]]:10: error: argmax has no gradient (its result is a position); "x" reaches what is differentiated by argmax, cast
}
TC_COMPILE tc_tensor *tangents(X, int n) { return tc_jvp(tc_exp(x), n, &x, &x); }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:69: remark: 'tangents' not compiled: how many tangents there are has to be known at build time; TC_SPECIALIZE("n=...") compiles for a value of it
tc_tensor *far(tc_tensor *const *p, void *context);
TC_COMPILE tc_tensor *unseen(X) { tc_tensor *g; return tc_value_and_grad(far, NULL, 1, &x, &g); }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:74: remark: 'unseen' not compiled: a function whose body is not visible in this file is handed over
static tc_tensor *around(tc_tensor *const *p, void *context) { return tc_checkpoint(around, context, 1, p); }
TC_COMPILE tc_tensor *endless(X) { return tc_checkpoint(around, NULL, 1, &x); }
// CHECK-DAG: gradients.c:[[#@LINE-2]]:71: remark: 'endless' not compiled: 'around' is handed over inside of itself
static tc_tensor *square(tc_tensor *const *p, void *context) { return context ? NULL : tc_square(p[0]); }
TC_COMPILE tc_tensor *vector(tc_tensor *x TC_SHAPE("f32[3]")) { tc_tensor *g; return tc_value_and_grad(square, NULL, 1, &x, &g); }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:86: error: the gradient of f32[3], which is not one number; tc_vjp takes a cotangent of its shape
static tc_tensor *adds(tc_tensor *const *p, void *context) { return context ? NULL : tc_sum(tc_add_s_(p[0], 1), TC_ALL, false); }
TC_COMPILE tc_tensor *written(X) { tc_tensor *g; return tc_value_and_grad(adds, NULL, 1, &x, &g); }
// CHECK-DAG: gradients.c:[[#@LINE-1]]:57: remark: 'written' not compiled: a tensor that gradients are taken with respect to is written

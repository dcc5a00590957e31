// Forms in which tc_vmap is written, and what its function may do.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"
#define X const tc_tensor *x TC_SHAPE("f32[B,N]")
static bool scoped(tc_tensor *const *x, void *context, tc_tensor **y) {
  (void)context;
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_exp(x[0]);
  y[0] = tc_keep(tc_sum(h, TC_ALL, false));
  TC_SCOPE { h = tc_keep(tc_mul(h, h)); }
  y[1] = tc_keep(h);
  return y[0] && y[1];
}
TC_COMPILE tc_tensor *keeps(X, tc_tensor **other) {
  tc_tensor *y[2];
  if (!tc_vmap(scoped, NULL, 1, &x, NULL, 2, y)) return NULL;
  *other = y[1];
  return y[0];
}
// the same value as an operand of one example elsewhere: tc_select(x, 0, 0)
static bool minus_first(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_sub(x[0], context)) != NULL; }
TC_COMPILE tc_tensor *first(X) { tc_tensor *y; return tc_vmap(minus_first, tc_select(x, 0, 0), 1, &x, NULL, 1, &y) ? y : NULL; }
// the whole batch inside
static bool against_all(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_matmul(context, x[0])) != NULL; }
TC_COMPILE tc_tensor *gram(X) { tc_tensor *y; return tc_vmap(against_all, (void *)x, 1, &x, NULL, 1, &y) ? y : NULL; }
// the same tensor twice, by other axes
static bool both(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_outer(x[0], x[1])) != NULL; }
TC_COMPILE tc_tensor *twice(const tc_tensor *x TC_SHAPE("f32[N,N]")) {
  const tc_tensor *in[] = {x, x};
  tc_tensor *y;
  return tc_vmap(both, NULL, 2, in, (int[]){0, 1}, 1, &y) ? y : NULL;
}
// sizes that have to be equal: a guard
TC_COMPILE tc_tensor *equal(const tc_tensor *a TC_SHAPE("f32[N,K]"), const tc_tensor *b TC_SHAPE("f32[M,K]")) {
  const tc_tensor *in[] = {a, b};
  tc_tensor *y;
  return tc_vmap(both, NULL, 2, in, NULL, 1, &y) ? y : NULL;
}
// rows written one by one to a buffer of its own; a loop inside; conditions on sizes and numbers
typedef struct { int steps; double rate; } options;
static bool rolled(tc_tensor *const *x, void *context, tc_tensor **y) {
  const options *o = context;
  tc_tensor *out = tc_empty(TC_DIMS(o->steps, tc_size(x[0], 0)), TC_F32), *h = x[0];
  for (int i = 0; i < o->steps; i++) {
    h = o->rate > 1 ? tc_tanh(h) : tc_mul_s(h, o->rate);
    tc_copy_(tc_select(out, 0, i), h);
  }
  y[0] = out;
  return true;
}
TC_COMPILE tc_tensor *rollout(X, double rate) {
  options o = {3, rate};
  tc_tensor *y;
  return tc_vmap(rolled, &o, 1, &x, NULL, 1, &y) ? y : NULL;
}
// in a loop of unknown count
TC_COMPILE tc_tensor *loop(X, int n) {
  tc_tensor *h = (tc_tensor *)x;
  for (int i = 0; i < n; i++) {
    const tc_tensor *in = h;
    tc_tensor *y;
    if (!tc_vmap(minus_first, tc_mean(h, TC_AXES(0), false), 1, &in, NULL, 1, &y)) return NULL;
    h = y;
  }
  return h;
}
// in TC_NO_GRAD; integers; several results of one operation
static bool many(tc_tensor *const *x, void *context, tc_tensor **y) {
  (void)context;
  y[0] = tc_max_with_index(x[0], TC_ALL, false, &y[1]);
  y[2] = tc_var_mean(x[0], TC_ALL, 1, true, &y[3]);
  y[4] = tc_argmax(x[0], TC_ALL, true);
  return true;
}
TC_COMPILE bool several(X, tc_tensor **out) { TC_NO_GRAD return tc_vmap(many, NULL, 1, &x, NULL, 5, out); return false; }
// seeds of its own
static bool noisy(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_add(x[0], tc_rand_like(x[0], 7, TC_F32))) != NULL; }
TC_COMPILE tc_tensor *noise(X) { tc_tensor *y; return tc_vmap(noisy, NULL, 1, &x, NULL, 1, &y) ? y : NULL; }
static bool dropped(tc_tensor *const *x, void *context, tc_tensor **y) { tc_generator g = *(tc_generator *)context; return (y[0] = tc_dropout(x[0], 0.5, true, &g)) != NULL; }
TC_COMPILE tc_tensor *drop(X, uint64_t seed) { tc_generator g = tc_generator_of(seed); tc_tensor *y; return tc_vmap(dropped, &g, 1, &x, NULL, 1, &y) ? y : NULL; }
// a number of each example's own: the body draws
static bool drawn(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_dropout(x[0], 0.5, true, context)) != NULL; }
TC_COMPILE tc_tensor *draw(X, tc_generator *g) { tc_tensor *y; return tc_vmap(drawn, g, 1, &x, NULL, 1, &y) ? y : NULL; }
// a number that is the same for all, and one that is not
static bool reads(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_mul_s(x[0], tc_item(tc_sum(context, TC_ALL, false)))) != NULL; }
TC_COMPILE tc_tensor *number(X, tc_tensor *w TC_SHAPE("f32[3]")) { tc_tensor *y; return tc_vmap(reads, w, 1, &x, NULL, 1, &y) ? y : NULL; }
static bool data(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; y[0] = tc_item(tc_sum(x[0], TC_ALL, false)) > 0 ? tc_exp(x[0]) : tc_neg(x[0]); return true; }
TC_COMPILE tc_tensor *branch(X) { tc_tensor *y; return tc_vmap(data, NULL, 1, &x, NULL, 1, &y) ? y : NULL; }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(5, 4), 1, TC_F32), *o = NULL, *m[5] = {0};
  show(keeps(x, &o)), show(o), show(first(x)), show(gram(x));
  show(twice(tc_matmul(tc_transpose(x, 0, 1), x)));
  show(equal(x, tc_exp(x))), show(equal(x, tc_slice(x, 0, 1, 3, 1))), puts(tc_error()), tc_clear_error();
  show(rollout(x, 0.5)), show(rollout(x, 1.5)), show(loop(x, 3));
  printf("%d\n", several(x, m)); for (int i = 0; i < 5; i++) show(m[i]);
  show(noise(x)), show(drop(x, 9));
  tc_generator g = tc_generator_of(3); show(draw(x, &g)); printf("%d\n", (int)g.offset);
  show(number(x, tc_ones(TC_DIMS(3), TC_F32))), show(branch(x));
  return finish();
}
// CHECK: remark: 'keeps' compiled:
// CHECK: remark: 'first' compiled:
// CHECK: remark: 'gram' compiled: {{[0-9]+}} ops in 1 kernel [
// CHECK: remark: 'rollout' compiled for rate > 1.0:
// CHECK: remark: 'draw' not compiled: a function that tc_vmap applies to each example writes what is not its own
// CHECK: remark: 'branch' not compiled: a number is read that differs from example to example of tc_vmap
// CHECK-DAG: keeps {{.*}} 1 0 0 
// CHECK-DAG: first {{.*}} 1 0 0 
// CHECK-DAG: gram {{.*}} 1 0 0 
// CHECK-DAG: twice {{.*}} 1 0 0 
// CHECK-DAG: equal {{.*}} 1 0 1 sizes differ 1
// CHECK-DAG: rollout [rate > 1.0] {{.*}} 1 0 0 
// CHECK-DAG: loop {{.*}} 3 0 0 
// CHECK-DAG: several {{.*}} 1 0 0 
// CHECK-DAG: noise {{.*}} 1 0 0 
// CHECK-DAG: drop {{.*}} 1 0 0 
// CHECK-DAG: number {{.*}} 1 0 0 

// Compiled functions that eager code differentiates: a forward and a backward call in kernels, by the tape.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

typedef struct { tc_tensor *w1 TC_SHAPE("f32[D,H]"), *b1 TC_SHAPE("f32[H]"), *w2 TC_SHAPE("f32[H,C]"), *b2 TC_SHAPE("f32[C]"); } model;

TC_COMPILE tc_tensor *network(const model *m, const tc_tensor *x TC_SHAPE("f32[B,D]")) {
  tc_tensor *h = tc_gelu(tc_add(tc_matmul(x, m->w1), m->b1));
  return tc_add(tc_matmul(h, m->w2), m->b2);
}

TC_COMPILE tc_tensor *normed(const tc_tensor *x TC_SHAPE("f64[B,C]"), const tc_tensor *g TC_SHAPE("f64[C]"),
                             const tc_tensor *b TC_SHAPE("f64[C]"), const tc_tensor *y TC_SHAPE("i64[B]"), tc_tensor **p) {
  tc_tensor *h = tc_layer_norm(x, 1, g, b, 1e-5);
  *p = tc_softmax(h, -1);
  return tc_cross_entropy(h, y, TC_MEAN);
}

// Its results are views of an operand and of a result, an operand, and a constant.
TC_COMPILE tc_tensor *views(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor *out[4]) {
  tc_tensor *y = tc_exp(x);
  out[0] = tc_transpose(x, 0, 1);
  out[1] = tc_slice(y, 0, 0, 1, 1);
  out[2] = y;
  out[3] = tc_argmax(y, TC_AXES(1), false);
  return tc_detach(tc_sin(x));
}

// What does not move with what is tracked is not tracked.
TC_COMPILE tc_tensor *apart(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *w TC_SHAPE("f32[N]"), tc_tensor **other) {
  *other = tc_mul(w, w);
  return tc_mul(x, tc_sin(w));
}

// A print between, a loop whose count nobody knows, and a branch on data: each segment brings its own.
TC_COMPILE tc_tensor *broken(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *w TC_SHAPE("f32[N]"), int n) {
  tc_tensor *h = tc_mul(tc_tanh(x), w);
  printf("%d\n", (int)tc_numel(h));
  for (int i = 0; i < n; i++) h = tc_sin(tc_mul(h, w));
  if (tc_item(tc_sum(h, TC_ALL, false)) > 0) h = tc_mul_s(h, 3);
  return tc_sum(tc_square(h), TC_ALL, false);
}

// Statistics are written beside, which move with nothing.
TC_COMPILE tc_tensor *centred(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor *mean TC_SHAPE("f32[M]")) {
  tc_tensor *m = tc_mean(x, TC_AXES(0), false), *y = tc_mul(tc_sub(x, m), m);
  TC_NO_GRAD { tc_add_(mean, m); }
  return y;
}

// More gradients than there are bits for; one dtype of two, and one size of all.
TC_COMPILE tc_tensor *many(const tc_tensor *const p[70] TC_SHAPE("f32[N]")) {
  tc_tensor *sum = tc_square(p[0]);
  for (int i = 1; i < 70; i++) sum = tc_add(tc_sin(sum), tc_mul(p[i], p[i - 1]));
  return sum;
}

TC_COMPILE TC_SPECIALIZE("N=1") tc_tensor *chosen(const tc_tensor *x TC_SHAPE("f32|f64[N]")) { return tc_mul(x, tc_exp(x)); }

static tc_tensor *leaf(tc_tensor *x) { return tc_requires_grad_(x, true); }

static void gradients(int n, tc_tensor **list) {
  for (int i = 0; i < n; i++) show(tc_grad_of(list[i]));
  tc_zero_grad(n, list);
}

int main(void) {
  const model m = {leaf(tc_mul_s(tc_randn(TC_DIMS(6, 8), 1, TC_F32), 0.5)), leaf(tc_zeros(TC_DIMS(8), TC_F32)),
                   leaf(tc_mul_s(tc_randn(TC_DIMS(8, 3), 2, TC_F32), 0.5)), leaf(tc_zeros(TC_DIMS(3), TC_F32))};
  tc_tensor *p[] = {m.w1, m.b1, m.w2, m.b2};
  for (int rows = 0; rows < 10; rows += 3) {
    tc_tensor *x = tc_randn(TC_DIMS(rows, 6), 3, TC_F32), *y = network(&m, x);
    show(y), printf("%d\n", tc_requires_grad(y));
    tc_backward(tc_sum(tc_square(y), TC_ALL, false));
    gradients(4, p);
    y = network(&m, leaf(x));
    tc_backward(tc_mean(tc_sin(network(&m, tc_concat((const tc_tensor *[]){y, y}, 2, 1))), TC_ALL, false));
    gradients(4, p), gradients(1, &x);
  }
  tc_tensor *x = leaf(tc_randn(TC_DIMS(5, 4), 4, TC_F64)), *g = leaf(tc_ones(TC_DIMS(4), TC_F64)), *b = leaf(tc_zeros(TC_DIMS(4), TC_F64));
  tc_tensor *all[] = {x, g, b}, *soft, *y = tc_argmax(tc_cos(x), TC_AXES(1), false);
  tc_tensor *loss = normed(x, g, b, y, &soft);
  show(loss), show(soft);
  tc_backward(tc_add(loss, tc_sum(tc_square(soft), TC_ALL, false)));
  gradients(3, all);
  tc_backward(normed(tc_transpose(tc_mul_s(tc_transpose(x, 0, 1), 2), 0, 1), g, g, y, &soft)); // strided, and one twice
  gradients(2, all);

  tc_tensor *v = leaf(tc_randn(TC_DIMS(3, 4), 5, TC_F32)), *out[4], *cut = views(v, out);
  for (int i = 0; i < 4; i++) show(out[i]), printf("%d\n", tc_requires_grad(out[i]));
  show(cut), printf("%d\n", tc_requires_grad(cut));
  tc_backward(tc_sum(tc_add(tc_matmul(tc_square(out[2]), out[0]), tc_sum(out[1], TC_ALL, false)), TC_ALL, false));
  gradients(1, &v);

  tc_tensor *a = tc_randn(TC_DIMS(7), 6, TC_F32), *w = tc_randn(TC_DIMS(7), 7, TC_F32), *other;
  leaf(a);
  tc_tensor *r = apart(a, w, &other);
  printf("%d %d\n", tc_requires_grad(r), tc_requires_grad(other));
  tc_backward(tc_sum(r, TC_ALL, false)), gradients(1, &a);
  leaf(w);
  r = apart(a, a, &other); // one tensor twice
  tc_backward_with(tc_sum(r, TC_ALL, false), NULL, TC_RETAIN_GRAPH), show(tc_grad_of(a));
  tc_backward(tc_sum(tc_mul(r, other), TC_ALL, false)), gradients(1, &a);
  TC_NO_GRAD { printf("%d\n", tc_requires_grad(apart(a, w, &other))); }

  tc_tensor *aw[] = {a, w};
  for (int n = 0; n < 3; n++) {
    loss = broken(a, w, n);
    show(loss), tc_backward(loss), gradients(2, aw);
  }
  tc_tensor *part[70];
  for (int i = 0; i < 70; i++) part[i] = tc_full(TC_DIMS(2), 0.02 * i, TC_F32);
  leaf(part[0]), leaf(part[62]), leaf(part[68]), leaf(part[69]);
  tc_tensor *tracked[] = {part[0], part[62], part[68], part[69]};
  tc_backward(tc_sum(many((const tc_tensor *const *)part), TC_ALL, false)), gradients(4, tracked);
  for (int n = 0; n < 3; n++) {
    tc_tensor *one = leaf(tc_full(TC_DIMS(n), 0.5, TC_F32)), *two = leaf(tc_full(TC_DIMS(n), 0.5, TC_F64)), *both[] = {one, two};
    tc_backward(tc_add(tc_sum(chosen(one), TC_ALL, false), tc_sum(tc_mul_s(chosen(two), 3), TC_ALL, false))), gradients(2, both);
  }
  tc_tensor *mean = tc_ones(TC_DIMS(4), TC_F32);
  r = centred(v, mean);
  show(r), show(mean), tc_backward(tc_sum(tc_square(r), TC_ALL, false)), gradients(1, &v);
  return finish();
}
// CHECK: remark: 'network' compiled with its gradients: 2 kernels forward, {{[0-9]}} backward; saves 1 tensor, 4*B*m__H bytes
// CHECK: remark: 'normed' compiled with its gradients: 2 kernels forward, 2 backward; saves {{[0-9]}} tensors, {{[0-9]+}}*B bytes
// CHECK: remark: 'views' compiled with its gradients: 1 kernel forward, 1 backward; saves 0 tensors [
// CHECK: remark: 'apart' compiled with its gradients: 1 kernel forward, 1 backward; saves 0 tensors; 1 value computed again [
// CHECK: remark: 'broken' compiled with its gradients
// CHECK: remark: 'broken' compiled with its gradients
// CHECK: remark: 'broken' compiled with its gradients
// CHECK: remark: 'broken' compiled with its gradients
// CHECK: remark: 'centred' compiled with its gradients
// CHECK: chosen [N=1,x=f32, gradients] {{.*}} 1 0 0 
// CHECK: many [gradients] {{.*}} 1 0 0 
// CHECK: centred [gradients] {{.*}} 1 0 0 
// CHECK-NEXT: centred [training] {{.*}} 1 0 0 
// CHECK-NEXT: centred {{.*}} 0 0 0 
// CHECK: broken [gradients] {{.*}} 3 0 0 
// CHECK-NEXT: broken [training] {{.*}} 3 0 0 
// CHECK-NEXT: broken {{.*}} 0 0 0 
// CHECK: broken [gradients] {{.*}} 3 0 0 
// CHECK: broken [gradients] {{.*}} 3 0 0 
// CHECK: apart [gradients] {{.*}} 3 0 0 
// CHECK-NEXT: apart [training] {{.*}} 2 0 0 
// CHECK-NEXT: apart {{.*}} 1 0 0 
// CHECK: views [gradients] {{.*}} 1 0 0 
// CHECK: normed [gradients] {{.*}} 2 1 0 
// CHECK-NEXT: normed [training] {{.*}} 2 1 0 
// CHECK: network [gradients] {{.*}} 12 0 0 
// CHECK-NEXT: network [training] {{.*}} 12 0 0 
// CHECK-NEXT: network {{.*}} 0 0 0 

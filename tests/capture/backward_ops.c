// Gradients by compiled calls, of functions of every kind: elementwise, reductions, rows, products, views, indices, parts, what is
// random; with broadcasting, other dtypes, strided and empty operands.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define X const tc_tensor *x TC_SHAPE("f64[N,M]"), const tc_tensor *w TC_SHAPE("f64[M]"), const tc_tensor *i TC_SHAPE("i64[N]")
#define OPS(DO)                                                                                                                    \
  DO(add, tc_add(tc_add_s(x, 1), w)) DO(broadcast, tc_div(w, tc_add_s(tc_square(x), 1))) DO(sub, tc_sub(tc_rsub_s(x, 2), x))       \
  DO(powers, tc_pow(tc_abs(x), tc_abs(w))) DO(ties, tc_maximum(tc_minimum(x, w), tc_zeros_like(x)))                                \
  DO(clamp, tc_clamp(x, -0.5, 0.5)) DO(piecewise, tc_mul(tc_floor(x), x)) DO(sign, tc_mul(tc_sign(x), w))                          \
  DO(where, tc_where(tc_gt_s(x, 0), tc_sin(x), tc_mul(x, w))) DO(activations, tc_add(tc_silu(x), tc_softplus(x)))                  \
  DO(bell, tc_erf(x)) DO(mean, tc_mean(x, TC_AXES(0), false)) DO(variance, tc_var(x, TC_AXES(1), 1, true))                         \
  DO(most, tc_max(x, TC_AXES(1), false)) DO(prod, tc_prod(x, TC_AXES(1), false)) DO(lse, tc_logsumexp(x, TC_AXES(-1), false))      \
  DO(cumsum, tc_cumsum(x, 0)) DO(cumprod, tc_cumprod(x, 1)) DO(softmax, tc_mul(tc_softmax(x, 1), w))                              \
  DO(log_softmax, tc_log_softmax(x, 0)) DO(layer, tc_layer_norm(x, 1, w, NULL, 1e-5)) DO(rms, tc_rms_norm(x, 1, w, 1e-5))              \
  DO(matmul, tc_matmul(tc_transpose(x, 0, 1), x)) DO(vector, tc_matmul(x, w)) DO(sorted, tc_index_select(x, 0, i))                  \
  DO(embedding, tc_embedding(x, i)) DO(entropy, tc_cross_entropy(x, tc_slice(i, 0, 0, 5, 1), TC_SUM))                              \
  DO(concat, tc_concat((const tc_tensor *[]){x, tc_mul(x, w)}, 2, 1)) DO(slices, tc_mul(tc_slice(x, 1, 0, 2, 1), tc_slice(x, 1, 1, 3, 1))) \
  DO(shapes, tc_flip(tc_reshape(tc_permute(x, TC_AXES(1, 0)), TC_DIMS(-1)), TC_AXES(0))) DO(roll, tc_roll(tc_mul(x, x), 1, 1))      \
  DO(expanded, tc_mul(tc_expand(tc_unsqueeze(w, 0), TC_DIMS(5, 3)), x)) DO(dropped, tc_mul(tc_randn(TC_DIMS(5, 3), 9, TC_F64), x))   \
  DO(cut, tc_mul(x, tc_detach(tc_mul(x, w)))) DO(numbers, tc_mul_s(x, (double)tc_size(x, 0)))                                       \
  DO(narrow, tc_cast(tc_exp(tc_cast(x, TC_F32)), TC_F64)) DO(halves, tc_cast(tc_mul_s(tc_cast(x, TC_BF16), 4), TC_F64))
#define DEFINE(name, e) TC_COMPILE static tc_tensor *name(X) { (void)w, (void)i; return e; }
OPS(DEFINE)

static void run(const char *name, tc_tensor *(*f)(X)) {
  TC_SCOPE {
    tc_tensor *base = tc_requires_grad_(tc_randn(TC_DIMS(3, 5), 1, TC_F64), true), *g[2];
    tc_tensor *w = tc_requires_grad_(tc_arange(3, 0.5, 0.25, TC_F64), true);
    tc_tensor *i = tc_from(TC_DIMS(5), (const int64_t[]){2, 0, 1, 1, 2}, TC_I64), *x = tc_transpose(base, 0, 1), *y = f(x, w, i);
    printf("%s ", name), show(y);
    tc_tensor *dy = tc_cast(tc_cos(tc_reshape(tc_arange(tc_numel(y), 0, 1, TC_F64), tc_shape(y))), tc_dtype_of(y));
    if (tc_grad_with(y, dy, 2, ((tc_tensor *[]){base, w}), TC_ALLOW_UNUSED, g)) show(g[0]), show(g[1]);
  }
}

#define RUN(name, e) run(#name, name);
int main(void) {
  OPS(RUN)
  return finish();
}
// CHECK: remark: 'add' compiled with its gradients: 
// CHECK: remark: 'broadcast' compiled with its gradients: 
// CHECK: remark: 'sub' compiled with its gradients: 
// CHECK: remark: 'powers' compiled with its gradients: 
// CHECK: remark: 'ties' compiled with its gradients: 
// CHECK: remark: 'clamp' compiled with its gradients: 
// CHECK: remark: 'piecewise' compiled with its gradients: 
// CHECK: remark: 'sign' compiled with its gradients: 
// CHECK: remark: 'where' compiled with its gradients: 
// CHECK: remark: 'activations' compiled with its gradients: 
// CHECK: remark: 'bell' compiled with its gradients: 
// CHECK: remark: 'mean' compiled with its gradients: 
// CHECK: remark: 'variance' compiled with its gradients: 
// CHECK: remark: 'most' compiled with its gradients: 
// CHECK: remark: 'prod' compiled with its gradients: 
// CHECK: remark: 'lse' compiled with its gradients: 
// CHECK: remark: 'cumsum' compiled with its gradients: 
// CHECK: remark: 'cumprod' compiled with its gradients: 
// CHECK: remark: 'softmax' compiled with its gradients: 
// CHECK: remark: 'log_softmax' compiled with its gradients: 
// CHECK: remark: 'layer' compiled with its gradients: 
// CHECK: remark: 'rms' compiled with its gradients: 
// CHECK: remark: 'matmul' compiled with its gradients: 
// CHECK: remark: 'vector' compiled with its gradients: 
// CHECK: remark: 'sorted' compiled with its gradients: 
// CHECK: remark: 'embedding' compiled with its gradients: 
// CHECK: remark: 'entropy' compiled with its gradients: 
// CHECK: remark: 'concat' compiled with its gradients: 
// CHECK: remark: 'slices' compiled with its gradients: 
// CHECK: remark: 'shapes' compiled with its gradients: 
// CHECK: remark: 'roll' compiled with its gradients: 
// CHECK: remark: 'expanded' compiled with its gradients: 
// CHECK: remark: 'dropped' compiled with its gradients: 
// CHECK: remark: 'cut' compiled with its gradients: 
// CHECK: remark: 'numbers' compiled with its gradients: 
// CHECK: remark: 'narrow' compiled with its gradients: 
// CHECK: remark: 'halves' compiled with its gradients: 
// CHECK: halves [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: halves [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: halves {{.*}} 0 0 0 
// CHECK: narrow [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: narrow [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: narrow {{.*}} 0 0 0 
// CHECK: numbers [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: numbers [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: numbers {{.*}} 0 0 0 
// CHECK: cut [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: cut [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: cut {{.*}} 0 0 0 
// CHECK: dropped [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: dropped [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: dropped {{.*}} 0 0 0 
// CHECK: expanded [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: expanded [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: expanded {{.*}} 0 0 0 
// CHECK: roll [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: roll [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: roll {{.*}} 0 0 0 
// CHECK: shapes [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: shapes [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: shapes {{.*}} 0 0 0 
// CHECK: slices [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: slices [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: slices {{.*}} 0 0 0 
// CHECK: concat [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: concat [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: concat {{.*}} 0 0 0 
// CHECK: entropy [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: entropy [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: entropy {{.*}} 0 0 0 
// CHECK: embedding [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: embedding [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: embedding {{.*}} 0 0 0 
// CHECK: sorted [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: sorted [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: sorted {{.*}} 0 0 0 
// CHECK: vector [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: vector [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: vector {{.*}} 0 0 0 
// CHECK: matmul [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: matmul [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: matmul {{.*}} 0 0 0 
// CHECK: rms [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: rms [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: rms {{.*}} 0 0 0 
// CHECK: layer [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: layer [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: layer {{.*}} 0 0 0 
// CHECK: log_softmax [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: log_softmax [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: log_softmax {{.*}} 0 0 0 
// CHECK: softmax [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: softmax [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: softmax {{.*}} 0 0 0 
// CHECK: cumprod [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: cumprod [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: cumprod {{.*}} 0 0 0 
// CHECK: cumsum [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: cumsum [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: cumsum {{.*}} 0 0 0 
// CHECK: lse [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: lse [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: lse {{.*}} 0 0 0 
// CHECK: prod [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: prod [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: prod {{.*}} 0 0 0 
// CHECK: most [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: most [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: most {{.*}} 0 0 0 
// CHECK: variance [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: variance [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: variance {{.*}} 0 0 0 
// CHECK: mean [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: mean [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: mean {{.*}} 0 0 0 
// CHECK: bell [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: bell [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: bell {{.*}} 0 0 0 
// CHECK: activations [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: activations [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: activations {{.*}} 0 0 0 
// CHECK: where [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: where [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: where {{.*}} 0 0 0 
// CHECK: sign [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: sign [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: sign {{.*}} 0 0 0 
// CHECK: piecewise [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: piecewise [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: piecewise {{.*}} 0 0 0 
// CHECK: clamp [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: clamp [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: clamp {{.*}} 0 0 0 
// CHECK: ties [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: ties [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: ties {{.*}} 0 0 0 
// CHECK: powers [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: powers [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: powers {{.*}} 0 0 0 
// CHECK: sub [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: sub [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: sub {{.*}} 0 0 0 
// CHECK: broadcast [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: broadcast [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: broadcast {{.*}} 0 0 0 
// CHECK: add [gradients] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: add [training] {{.*}} 1 {{[01]}} 0 
// CHECK-NEXT: add {{.*}} 0 0 0 

/* Prints a hash of the bits of many results, large enough for every kernel to use several threads:
 * run with different OMP_NUM_THREADS the output must not change. */
#include "check.h"

TC_COMPILE static tc_tensor *chain(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *b TC_SHAPE("f32[C]")) {
  return tc_mul(tc_gelu(tc_add(x, b)), tc_sigmoid(x));
}
TC_COMPILE static tc_tensor *softmax(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_softmax(x, -1); }
TC_COMPILE static tc_tensor *norm(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_layer_norm(x, 1, NULL, NULL, 1e-5); }
TC_COMPILE static tc_tensor *total(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_sum(x, TC_ALL, false); }
TC_COMPILE static tc_tensor *columns(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_sum(tc_square(x), TC_AXES(0), false); }
TC_COMPILE static tc_tensor *loss(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *t TC_SHAPE("i64[R]")) {
  return tc_cross_entropy(x, t, TC_MEAN);
}
TC_COMPILE static tc_tensor *product(const tc_tensor *a TC_SHAPE("f32[M,K]"), const tc_tensor *b TC_SHAPE("f32[K,N]")) {
  return tc_relu(tc_matmul(a, b));
}
TC_COMPILE static tc_tensor *product16(const tc_tensor *a TC_SHAPE("bf16[M,K]"), const tc_tensor *b TC_SHAPE("bf16[K,N]")) {
  return tc_matmul(a, b);
}
TC_COMPILE static tc_tensor *scan(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_cumsum(x, 0); }
TC_COMPILE static tc_tensor *row_scan(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_cumsum(x, 1); }

TC_COMPILE static tc_tensor *column(const tc_tensor *a TC_SHAPE("f32[M,K]"), const tc_tensor *x TC_SHAPE("f32[K]")) {
  return tc_matmul(a, x);
}

static void show(const char *name, const tc_tensor *y) {
  CHECK(y && hits_of(name) == 1);
  const unsigned char *bytes = tc_cdata(y);
  size_t n = (size_t)tc_numel(y) * tc_dtype_size(tc_dtype_of(y));
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  printf("%s %016llx\n", name, (unsigned long long)hash);
}

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(700, 1111), 1, TC_F32), *b = tc_randn(TC_DIMS(1111), 2, TC_F32);
    tc_tensor *t = tc_cast(tc_mul_s(tc_rand(TC_DIMS(700), 3, TC_F32), 1111), TC_I64);
    tc_tensor *w = tc_randn(TC_DIMS(1111, 333), 4, TC_F32);
    show("chain", chain(x, b));
    show("softmax", softmax(x));
    show("norm", norm(x));
    show("total", total(x));
    show("columns", columns(x));
    show("loss", loss(x, t));
    show("product", product(x, w));
    show("product16", product16(tc_cast(x, TC_BF16), tc_cast(w, TC_BF16)));
    show("scan", scan(x));
    show("row_scan", row_scan(x));
    show("column", column(x, b));
  }
  return 0;
}

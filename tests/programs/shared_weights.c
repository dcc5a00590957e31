/* Products that share their second operand share its packed form: each gives the bits that it gives
 * alone, whatever the others' numbers of rows, and none sees a form that was packed before a write. */
#include <omp.h>
#include <string.h>

#include "check.h"

typedef const tc_tensor *operand;

static tc_tensor *values(int64_t rows, int64_t columns, uint64_t seed, tc_dtype d) {
  tc_tensor *x = tc_randn(TC_DIMS(rows, columns), seed, TC_F32);
  return tc_cast(d == TC_I32 ? tc_mul_s(x, 1000) : x, d);
}

static void same(operand a, operand b) {
  CHECK(a && b && tc_numel(a) == tc_numel(b));
  CHECK(!memcmp(tc_cdata(a), tc_cdata(b), (size_t)tc_numel(a) * tc_dtype_size(tc_dtype_of(a))));
}

/* w by rows, then by columns; products of few and of many rows; weights that are computed. */
#define SHARED(T)                                                                                  \
  TC_COMPILE static bool shared_##T(                                                               \
      operand x TC_SHAPE(#T "[M,K]"), operand y TC_SHAPE(#T "[L,K]"),                              \
      operand w TC_SHAPE(#T "[K,N]"), operand v TC_SHAPE(#T "[N,K]"), tc_tensor **out) {           \
    tc_tensor *doubled = tc_mul_s(w, 2);                                                           \
    out[0] = tc_matmul(x, w);                                                                      \
    out[1] = tc_relu(tc_matmul(y, w));                                                             \
    out[2] = tc_linear(y, v, NULL);                                                                \
    out[3] = tc_neg(tc_linear(x, v, NULL));                                                        \
    out[4] = tc_matmul(x, doubled);                                                                \
    out[5] = tc_matmul(y, doubled);                                                                \
    return out[5] != NULL;                                                                         \
  }                                                                                                \
  TC_COMPILE static tc_tensor *by_rows_##T(operand x TC_SHAPE(#T "[M,K]"),                         \
                                           operand w TC_SHAPE(#T "[K,N]")) {                       \
    return tc_matmul(x, w);                                                                        \
  }                                                                                                \
  TC_COMPILE static tc_tensor *by_columns_##T(operand x TC_SHAPE(#T "[M,K]"),                      \
                                              operand v TC_SHAPE(#T "[N,K]")) {                    \
    return tc_linear(x, v, NULL);                                                                  \
  }                                                                                                \
  static void check_##T(tc_dtype d, int64_t m, int64_t l, int64_t k, int64_t n) {                  \
    TC_SCOPE {                                                                                     \
      operand x = values(m, k, 1, d), y = values(l, k, 2, d);                                      \
      operand w = values(k, n, 3, d), v = values(n, k, 4, d);                                      \
      operand doubled = tc_mul_s(w, 2);                                                            \
      tc_tensor *out[6];                                                                           \
      CHECK(shared_##T(x, y, w, v, out));                                                          \
      same(out[0], by_rows_##T(x, w));                                                             \
      same(out[1], tc_relu(by_rows_##T(y, w)));                                                    \
      same(out[2], by_columns_##T(y, v));                                                          \
      same(out[3], tc_neg(by_columns_##T(x, v)));                                                  \
      same(out[4], by_rows_##T(x, doubled));                                                       \
      same(out[5], by_rows_##T(y, doubled));                                                       \
    }                                                                                              \
  }

SHARED(f32)
SHARED(bf16)
SHARED(f64)
SHARED(i32)

/* Matrices of one array are others, each at its place. */
TC_COMPILE static tc_tensor *stacked(operand x TC_SHAPE("f32[M,K]"),
                                     operand w TC_SHAPE("f32[3,K,K]")) {
  for (int i = 0; i < 3; i++) x = tc_relu(tc_linear(x, tc_select(w, 0, i), NULL));
  return (tc_tensor *)x;
}

/* The second product multiplies by what the write left. */
TC_COMPILE static tc_tensor *written(operand x TC_SHAPE("f32[M,K]"),
                                     tc_tensor *w TC_SHAPE("f32[K,N]")) {
  tc_tensor *y = tc_matmul(x, w);
  tc_add_(w, tc_sum(y, TC_AXES(0), true));
  return tc_add(y, tc_matmul(x, w));
}

/* A step multiplies by u what the one before multiplied by u. */
TC_COMPILE static tc_tensor *recurrence(operand x TC_SHAPE("f32[12,B,D]"),
                                        operand u TC_SHAPE("f32[D,D]")) {
  tc_tensor *h = tc_select(x, 0, 0);
  for (int i = 1; i < 12; i++) h = tc_tanh(tc_add(tc_select(x, 0, i), tc_matmul(h, u)));
  return h;
}

static void check_against_body(int64_t b, int64_t d) {
  TC_SCOPE {
    operand x = tc_randn(TC_DIMS(12, b, d), 5, TC_F32);
    operand u = tc_mul_s(tc_randn(TC_DIMS(d, d), 6, TC_F32), 0.05);
    tc_tensor *w = tc_clone(u), *w2 = tc_clone(u), *first = tc_clone(tc_select(x, 0, 0));
    operand y = recurrence(x, u), z = written(first, w);
    operand layers = tc_mul_s(tc_randn(TC_DIMS(3, d, d), 7, TC_F32), 0.05),
            s = stacked(first, layers);
    tc_set_enabled(false);
    CHECK(tc_allclose(s, stacked(first, layers), 1e-4, 1e-4));
    operand y2 = recurrence(x, u), z2 = written(first, w2);
    tc_set_enabled(true);
    CHECK(tc_allclose(y, y2, 1e-4, 1e-4) && tc_allclose(w, w2, 1e-4, 1e-3));
    CHECK(tc_allclose(z, z2, 1e-3, 1e-2));
  }
}

int main(void) {
  static const int64_t size[][4] = {{1, 64, 96, 80},     {7, 65, 33, 100}, {40, 100, 700, 70},
                                    {30, 1, 512, 512},   {64, 64, 1, 64},  {64, 33, 5000, 48},
                                    {50, 40, 300, 1999}, {1, 1, 200, 300}, {0, 9, 20, 20}};
  for (int threads = 1; threads < 4; threads++) {
    omp_set_num_threads(threads);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
      const int64_t *s = size[i];
      check_f32(TC_F32, s[0], s[1], s[2], s[3]);
      check_bf16(TC_BF16, s[0], s[1], s[2], s[3]);
      check_f64(TC_F64, s[0], s[1], s[2], s[3]);
    }
    check_f32(TC_F32, 60, 50, 3000, 2600); /* packed, more than the memory for it */
    check_i32(TC_I32, 50, 60, 70, 80);
    for (int64_t b = 1; b < 100; b += 33) check_against_body(b, 130);
  }
  CHECK(hits_of("shared_f32") && hits_of("shared_bf16") && hits_of("shared_f64"));
  CHECK(hits_of("shared_i32") && hits_of("written") && hits_of("recurrence") && hits_of("stacked"));
  CHECK(!fallbacks_of("shared_f32") && !fallbacks_of("recurrence"));
  return 0;
}

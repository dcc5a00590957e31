/* tcompile/nn/quantize.h: products with weights of 8 and 4 bits, and of 8-bit integers, by kernels and by bodies, beside f64;
 * what quantisation keeps of weights. */
#include "check.h"

#include <math.h>
#include <string.h>
#include <tcompile/nn.h>

/* max |a - b| */
static double apart(const tc_tensor *a, const tc_tensor *b) {
  double e = 0;
  TC_SCOPE e = tc_item(tc_max(tc_abs(tc_sub(tc_cast(a, TC_F64), tc_cast(b, TC_F64))), TC_ALL, false));
  return e;
}

static double largest(const tc_tensor *a) {
  double e = 0;
  TC_SCOPE e = tc_item(tc_max(tc_abs(tc_cast(a, TC_F64)), TC_ALL, false));
  return e;
}

/* ---- functions ----------------------------------------------------------------------------------- */

#define W8 const tc_tensor *q TC_SHAPE("i8[O,I]"), const tc_tensor *s TC_SHAPE("f32[O]")
#define W4 const tc_tensor *q TC_SHAPE("u8[O,G,H]"), const tc_tensor *s TC_SHAPE("f32[O,G]")
#define FULL TC_COMPILE_WITH("fullgraph", "max_workspace=0")

FULL tc_tensor *int8_f32(const tc_tensor *x TC_SHAPE("f32[N,I]"), W8, const tc_tensor *b TC_SHAPE("f32[O]")) {
  return tc_linear_int8(x, q, s, b);
}
FULL tc_tensor *int8_bf16(const tc_tensor *x TC_SHAPE("bf16[N,I]"), W8, const tc_tensor *b TC_SHAPE("f32[O]")) {
  return tc_linear_int8(x, q, s, b);
}
FULL tc_tensor *int8_f16(const tc_tensor *x TC_SHAPE("f16[N,I]"), W8, const tc_tensor *b TC_SHAPE("f32[O]")) {
  return tc_linear_int8(x, q, s, b);
}
/* Written out. */
FULL TC_SPECIALIZE("N=1") tc_tensor *int8_written(const tc_tensor *x TC_SHAPE("f32[N,I]"), W8, const tc_tensor *b TC_SHAPE("f32[O]")) {
  return tc_linear(x, tc_mul(tc_cast(q, TC_F32), tc_unsqueeze(s, -1)), b);
}

FULL tc_tensor *int4_f32(const tc_tensor *x TC_SHAPE("f32[N,I]"), W4) { return tc_linear_int4(x, q, s, NULL, NULL); }
FULL tc_tensor *int4_one(const tc_tensor *x TC_SHAPE("f32[1,I]"), W4) { return tc_linear_int4(x, q, s, NULL, NULL); }
FULL tc_tensor *int4_bf16(const tc_tensor *x TC_SHAPE("bf16[N,I]"), W4) { return tc_linear_int4(x, q, s, NULL, NULL); }
FULL tc_tensor *int4_zero(const tc_tensor *x TC_SHAPE("f32[N,I]"), W4, const tc_tensor *z TC_SHAPE("f32[O,G]")) {
  return tc_linear_int4(x, q, s, z, NULL);
}
FULL tc_tensor *int4_fixed(const tc_tensor *x TC_SHAPE("f32[1,256]"), const tc_tensor *q TC_SHAPE("u8[70,8,16]"),
                           const tc_tensor *s TC_SHAPE("f32[70,8]"), const tc_tensor *z TC_SHAPE("f32[70,8]")) {
  return tc_linear_int4(x, q, s, z, NULL);
}

FULL tc_tensor *sums_i8(const tc_tensor *x TC_SHAPE("i8[N,I]"), const tc_tensor *q TC_SHAPE("i8[O,I]")) { return tc_linear_int32(x, q); }
FULL tc_tensor *sums_u8(const tc_tensor *x TC_SHAPE("u8[N,I]"), const tc_tensor *q TC_SHAPE("i8[O,I]")) { return tc_linear_int32(x, q); }
FULL tc_tensor *sums_u8_u8(const tc_tensor *x TC_SHAPE("u8[N,I]"), const tc_tensor *q TC_SHAPE("u8[O,I]")) { return tc_linear_int32(x, q); }
/* The weights stored the other way round. */
FULL tc_tensor *sums_columns(const tc_tensor *x TC_SHAPE("i8[N,I]"), const tc_tensor *q TC_SHAPE("i8[I,O]")) {
  return tc_matmul(tc_cast(x, TC_I32), tc_cast(q, TC_I32));
}
FULL tc_tensor *requantized(const tc_tensor *x TC_SHAPE("u8[N,I]"), const tc_tensor *q TC_SHAPE("i8[O,I]"), const tc_tensor *s TC_SHAPE("f32[O]")) {
  return tc_requantize(tc_linear_int32(x, q), s, 7, TC_U8);
}
FULL tc_tensor *int8_rows(const tc_tensor *x TC_SHAPE("i8[N,I]"), const tc_tensor *xs TC_SHAPE("f32[N,1]"), W8) {
  return tc_linear_int8_rows(x, xs, q, s, NULL);
}

/* ---- 8 bits ---------------------------------------------------------------------------------------- */

static void check_near(const tc_tensor *y, const tc_tensor *body, const tc_tensor *exact, double digits) {
  CHECK(y && body && tc_dtype_of(y) == tc_dtype_of(body));
  CHECK(apart(y, exact) <= 2 * apart(body, exact) + digits * largest(exact));
}

typedef tc_tensor *with_int8(const tc_tensor *, const tc_tensor *, const tc_tensor *, const tc_tensor *);

static void compare_int8(with_int8 *f, const char *name, int n, int in, int out, tc_dtype d, double digits) {
  TC_SCOPE {
    tc_tensor *s, *q = tc_quantize_per_channel(tc_randn(TC_DIMS(out, in), 3, TC_F32), &s);
    const tc_tensor *x = tc_cast(tc_randn(TC_DIMS(n, in), 4, TC_F32), d), *b = tc_randn(TC_DIMS(out), 5, TC_F32);
    const uint64_t before = hits_of(name);
    const tc_tensor *y = f(x, q, s, b);
    CHECK(hits_of(name) == before + 1);
    tc_set_enabled(false);
    const tc_tensor *body = f(x, q, s, b);
    tc_set_enabled(true);
    const tc_tensor *w = tc_mul(tc_cast(q, TC_F64), tc_unsqueeze(tc_cast(s, TC_F64), -1));
    check_near(y, body, tc_linear(tc_cast(x, TC_F64), w, tc_cast(b, TC_F64)), digits);
  }
}

static void test_int8(void) {
  const int rows[] = {1, 2, 5, 33}, inner[] = {96, 203};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 2; k++) {
      compare_int8(int8_f32, "int8_f32", rows[i], inner[k], 70, TC_F32, 1e-6);
      compare_int8(int8_written, "int8_written", rows[i], inner[k], 70, TC_F32, 1e-6);
      compare_int8(int8_bf16, "int8_bf16", rows[i], inner[k], 70, TC_BF16, 4e-3);
      compare_int8(int8_f16, "int8_f16", rows[i], inner[k], 70, TC_F16, 5e-4);
    }
}

/* Half a step away at most, of each channel; rows of zeros stay. */
static void test_channels(void) {
  TC_SCOPE {
    tc_tensor *w = tc_randn(TC_DIMS(9, 4, 3), 1, TC_F32), *s;
    tc_zero_(tc_select(w, 0, 2));
    const tc_tensor *q = tc_quantize_per_channel(w, &s), *back = tc_dequantize_per_channel(q, s);
    CHECK(q && tc_dtype_of(q) == TC_I8 && tc_rank(q) == 3 && tc_size(s, 0) == 9 && tc_at(s, TC_DIMS(2)) == 1);
    const tc_tensor *off = tc_div(tc_abs(tc_sub(back, w)), tc_reshape(s, TC_DIMS(9, 1, 1)));
    CHECK(tc_item(tc_max(off, TC_ALL, false)) <= 0.5 + 1e-4);
    CHECK(tc_item(tc_max(tc_cast(q, TC_I32), TC_ALL, false)) == 127 || tc_item(tc_min(tc_cast(q, TC_I32), TC_ALL, false)) == -127);
    CHECK(!tc_quantize_per_channel(tc_ones(TC_DIMS(4), TC_F32), &s) && !s && tc_error());
    tc_clear_error();
    CHECK(!tc_linear_int8(tc_ones(TC_DIMS(2, 5), TC_F32), tc_cast(tc_ones(TC_DIMS(3, 4), TC_F32), TC_I8), tc_ones(TC_DIMS(3), TC_F32), NULL));
    CHECK(tc_error() && strstr(tc_error(), "tc_linear_int8: rows of 5 elements, weights [3,4], 3 scales"));
    tc_clear_error();
  }
}

/* ---- 4 bits ---------------------------------------------------------------------------------------- */

static void test_groups(void) {
  for (int zeros = 0; zeros < 2; zeros++) TC_SCOPE {
      const tc_tensor *w = tc_add_s(tc_randn(TC_DIMS(5, 96), 1, TC_F32), zeros ? 2 : 0);
      tc_tensor *s, *z = NULL, *q = tc_quantize_int4(w, 32, &s, zeros ? &z : NULL);
      CHECK(q && tc_dtype_of(q) == TC_U8 && tc_size(q, 1) == 3 && tc_size(q, 2) == 16 && !z == !zeros);
      const tc_tensor *off = tc_abs(tc_sub(tc_dequantize_int4(q, s, z), w));
      const tc_tensor *steps = tc_div(tc_reshape(off, TC_DIMS(5, 3, 32)), tc_unsqueeze(s, -1));
      CHECK(tc_item(tc_max(steps, TC_ALL, false)) <= (zeros ? 1 : 0.5) + 1e-4); /* zero points are rounded, too */
    }
}

static void compare_int4(int n, int group, int groups, int out) {
  TC_SCOPE {
    const int in = group * groups;
    const tc_tensor *w = tc_randn(TC_DIMS(out, in), 3, TC_F32), *x = tc_randn(TC_DIMS(n, in), 4, TC_F32), *low = tc_cast(x, TC_BF16);
    tc_tensor *s, *z, *s2, *q = tc_quantize_int4(w, group, &s, NULL), *q2 = tc_quantize_int4(w, group, &s2, &z);
    const tc_tensor *y[5] = {int4_f32(x, q, s), n == 1 ? int4_one(x, q, s) : NULL, int4_bf16(low, q, s), int4_zero(x, q2, s2, z)};
    const bool fixed = n == 1 && group == 32 && groups == 8 && out == 70;
    if (fixed) y[4] = int4_fixed(x, q2, s2, z);
    tc_set_enabled(false);
    const tc_tensor *body = int4_f32(x, q, s), *body_bf16 = int4_bf16(low, q, s), *body_zero = int4_zero(x, q2, s2, z);
    tc_set_enabled(true);
    const tc_tensor *v = tc_cast(tc_dequantize_int4(q, s, NULL), TC_F64), *v2 = tc_cast(tc_dequantize_int4(q2, s2, z), TC_F64);
    const tc_tensor *exact = tc_linear(tc_cast(x, TC_F64), v, NULL), *zeros = tc_linear(tc_cast(x, TC_F64), v2, NULL);
    check_near(y[0], body, exact, 1e-6);
    if (n == 1) check_near(y[1], body, exact, 1e-6);
    check_near(y[2], body_bf16, exact, 4e-3);
    check_near(y[3], body_zero, zeros, 1e-6);
    if (fixed) check_near(y[4], body_zero, zeros, 1e-6);
  }
}

static void test_int4(void) {
  const int rows[] = {1, 3, 20};
  for (int i = 0; i < 3; i++) {
    compare_int4(rows[i], 32, 8, 70);
    compare_int4(rows[i], 16, 5, 33);
    compare_int4(rows[i], 128, 3, 17);
    compare_int4(rows[i], 6, 7, 9); /* runs of three */
  }
  CHECK(!fallbacks_of("int4_f32") && !fallbacks_of("int4_one") && !fallbacks_of("int4_bf16") && !fallbacks_of("int4_zero"));
  CHECK(hits_of("int4_f32") == 12 && hits_of("int4_fixed") == 1);
}

/* ---- integers -------------------------------------------------------------------------------------- */

static tc_tensor *integers(int rows, int columns, int seed, tc_dtype d) {
  const tc_tensor *r = tc_rand(TC_DIMS(rows, columns), (uint64_t)seed, TC_F32);
  return tc_cast(tc_floor(d == TC_U8 ? tc_mul_s(r, 256) : tc_sub_s(tc_mul_s(r, 256), 128)), d);
}

static bool same(const tc_tensor *a, const tc_tensor *b) { return a && b && tc_dtype_of(a) == tc_dtype_of(b) && apart(a, b) == 0; }

static tc_tensor *exact_sums(const tc_tensor *x, const tc_tensor *q) {
  return tc_cast(tc_linear(tc_cast(x, TC_F64), tc_cast(q, TC_F64), NULL), TC_I32);
}

static void compare_sums(int n, int in, int out) {
  TC_SCOPE {
    const tc_tensor *x = integers(n, in, 1, TC_I8), *u = integers(n, in, 2, TC_U8), *q = integers(out, in, 3, TC_I8);
    const tc_tensor *v = integers(out, in, 4, TC_U8), *s = tc_mul_s(tc_rand(TC_DIMS(out), 5, TC_F32), 1e-3);
    CHECK(same(sums_i8(x, q), exact_sums(x, q)));
    CHECK(same(sums_u8(u, q), exact_sums(u, q)));
    CHECK(same(sums_u8_u8(u, v), exact_sums(u, v)));
    CHECK(same(sums_columns(x, tc_contiguous(tc_transpose(q, 0, 1))), exact_sums(x, q)));
    const tc_tensor *y = requantized(u, q, s);
    tc_set_enabled(false);
    const tc_tensor *body = requantized(u, q, s);
    tc_set_enabled(true);
    CHECK(same(y, body));
    tc_tensor *xs, *r = tc_quantize_rows(tc_randn(TC_DIMS(n, in), 6, TC_F32), &xs);
    const tc_tensor *back = tc_mul(tc_cast(r, TC_F64), tc_cast(xs, TC_F64));
    const tc_tensor *w = tc_mul(tc_cast(q, TC_F64), tc_unsqueeze(tc_cast(s, TC_F64), -1)), *exact = tc_linear(back, w, NULL);
    CHECK(apart(int8_rows(r, xs, q, s), exact) <= 1e-6 * largest(exact));
  }
}

static void test_integers(void) {
  const int sizes[][3] = {{1, 64, 40}, {3, 203, 70}, {33, 1024, 65}, {130, 77, 48}, {64, 2050, 100}, {5, 1, 3}, {16, 4096, 16}};
  for (int i = 0; i < 7; i++) compare_sums(sizes[i][0], sizes[i][1], sizes[i][2]);
  CHECK(!fallbacks_of("sums_i8") && !fallbacks_of("sums_u8") && !fallbacks_of("sums_u8_u8") && !fallbacks_of("sums_columns"));
  CHECK(hits_of("sums_i8") == 7);
}

int main(void) {
  test_channels();
  test_int8();
  test_groups();
  test_int4();
  test_integers();
  printf("quantised: passed\n");
  return 0;
}

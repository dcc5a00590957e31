/* Elementwise ops against libm in double, element by element, for every dtype and layout. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <tcompile.h>

#include "layouts.h"

static bool floating(tc_dtype d) { return d >= TC_F16; }

/* dims of every rank that matters: 0, 1, 2, 3, 8, empty, and one past a block of the kernels. */
static const tc_ints shapes[] = {
    {0, {0}},    {1, {7}},   {2, {3, 5}}, {3, {2, 3, 4}}, {8, {1, 2, 1, 2, 1, 2, 1, 2}},
    {2, {0, 4}}, {1, {1030}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef tc_tensor *unary_op(const tc_tensor *);
typedef tc_tensor *binary_op(const tc_tensor *, const tc_tensor *);

static void check_unary(unary_op *op, double (*exact)(double), const tc_tensor *x,
                        const char *what) {
  tc_tensor *y = op(x);
  cr_assert_not_null(y, "%s: %s", what, tc_error());
  if (tc_numel(x) == 0) return;
  tc_ints at = first_index(x);
  do {
    double want = exact(tc_at(x, at)), got = tc_at(y, at);
    cr_assert(rounds_to(tc_dtype_of(y), want, got), "%s %s: %g is not %g", what,
              tc_dtype_name(tc_dtype_of(x)), got, want);
  } while (next_index(&at, x));
}

static void each_layout(unary_op *op, double (*exact)(double), tc_dtype d, const char *what) {
  for (int l = 0; l < LAYOUT_COUNT; l++)
    for (int s = 0; s < SHAPES; s++) TC_SCOPE {
        check_unary(op, exact, layout_make(d, shapes[s], (layout)l, 3), what);
      }
}

static double negative(double x) { return -x; }
static double squared(double x) { return x * x; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double positive(double x) { return x > 0 ? x : 0; }
static double phi(double x) { return x * 0.5 * erfc(-x / sqrt(2.0)); }
static double to_even(double x) { return x - remainder(x, 1); }

Test(elementwise, unary_of_every_layout) {
  for (int d = TC_F16; d < TC_DTYPE_COUNT; d++) {
    each_layout(tc_neg, negative, (tc_dtype)d, "neg");
    each_layout(tc_exp, exp, (tc_dtype)d, "exp");
    each_layout(tc_sqrt, sqrt, (tc_dtype)d, "sqrt");
    each_layout(tc_sigmoid, sigmoid, (tc_dtype)d, "sigmoid");
    each_layout(tc_gelu, phi, (tc_dtype)d, "gelu");
    each_layout(tc_round, to_even, (tc_dtype)d, "round");
  }
  for (int d = TC_U8; d < TC_F16; d++) each_layout(tc_exp, exp, (tc_dtype)d, "exp");
  for (int d = TC_I8; d < TC_F16; d++) {
    each_layout(tc_neg, negative, (tc_dtype)d, "neg");
    each_layout(tc_abs, fabs, (tc_dtype)d, "abs");
    each_layout(tc_relu, positive, (tc_dtype)d, "relu");
  }
  for (int d = TC_I16; d < TC_F16; d++) each_layout(tc_square, squared, (tc_dtype)d, "square");
}

static double plus(double a, double b) { return a + b; }
static double minus(double a, double b) { return a - b; }
static double times(double a, double b) { return a * b; }
static double over(double a, double b) { return a / b; }
static double less(double a, double b) { return a < b; }
static double larger(double a, double b) { return a > b ? a : b; }

/* b broadcasts along an axis in front or behind; the result has a's shape. */
static void check_binary(binary_op *op, double (*exact)(double, double), const tc_tensor *a,
                         const tc_tensor *b, const char *what) {
  tc_tensor *y = op(a, b);
  cr_assert_not_null(y, "%s: %s", what, tc_error());
  tc_ints at = first_index(a);
  do {
    tc_ints other = {.n = tc_rank(b)};
    for (int i = 0; i < other.n; i++) {
      int64_t k = at.v[at.n - other.n + i];
      other.v[i] = tc_size(b, i) == 1 ? 0 : k;
    }
    double want = exact(tc_at(a, at), tc_at(b, other)), got = tc_at(y, at);
    cr_assert(rounds_to(tc_dtype_of(y), want, got), "%s: %g is not %g", what, got, want);
  } while (next_index(&at, a));
}

Test(elementwise, binary_with_broadcasting) {
  static const tc_ints other[] = {{3, {2, 3, 4}}, {1, {4}}, {2, {3, 1}}, {3, {2, 1, 1}}, {0, {0}}};
  for (int d = TC_I16; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++)
      for (int m = 0; m < LAYOUT_COUNT; m++)
        for (int s = 0; s < 5; s++) TC_SCOPE {
            tc_tensor *a = layout_make((tc_dtype)d, TC_DIMS(2, 3, 4), (layout)l, 1);
            tc_tensor *b = layout_make((tc_dtype)d, other[s], (layout)m, 2);
            check_binary(tc_add, plus, a, b, "add");
            check_binary(tc_sub, minus, a, b, "sub");
            check_binary(tc_mul, times, a, b, "mul");
            check_binary(tc_lt, less, a, b, "lt");
            check_binary(tc_maximum, larger, a, b, "maximum");
            if (floating((tc_dtype)d)) check_binary(tc_div, over, a, b, "div");
          }
}

Test(elementwise, promotion) {
  static const struct {
    tc_dtype a, b, result;
  } rows[] = {{TC_F16, TC_BF16, TC_F32}, {TC_U8, TC_I8, TC_I16},   {TC_BOOL, TC_U8, TC_U8},
              {TC_I64, TC_F16, TC_F16},  {TC_I32, TC_I64, TC_I64}, {TC_F32, TC_F64, TC_F64}};
  TC_SCOPE {
    for (int i = 0; i < 6; i++) {
      tc_tensor *y = tc_add(tc_ones(TC_DIMS(2), rows[i].a), tc_ones(TC_DIMS(2), rows[i].b));
      cr_expect_eq(tc_dtype_of(y), rows[i].result, "row %d", i);
    }
    tc_tensor *i8 = tc_ones(TC_DIMS(2), TC_I8);
    cr_expect_eq(tc_dtype_of(tc_add(i8, tc_empty(TC_SCALAR_SHAPE, TC_I64))), TC_I8);
    cr_expect_eq(tc_dtype_of(tc_add_s(i8, 2.9)), TC_I8);
    cr_expect_eq(tc_at(tc_add_s(i8, 2.9), TC_INTS(0)), 3); /* the scalar is truncated */
    cr_expect_eq(tc_dtype_of(tc_div(i8, i8)), TC_F32);
    cr_expect_eq(tc_dtype_of(tc_mul(tc_scalar(0.5), tc_ones(TC_DIMS(2), TC_F16))), TC_F16);
    cr_expect_eq(tc_dtype_of(tc_rdiv_s(tc_ones(TC_DIMS(2), TC_BF16), 3)), TC_BF16);
  }
}

Test(elementwise, operands_are_rounded_to_the_common_dtype_first) {
  TC_SCOPE {
    tc_tensor *i = tc_from(TC_DIMS(1), &(int64_t){16777217}, TC_I64);
    tc_tensor *f = tc_full(TC_DIMS(1), 16777216, TC_F32);
    cr_expect_eq(tc_item(tc_sub(i, f)), 0);
    cr_expect_eq(tc_item(tc_eq(i, f)), 1);
    tc_tensor *wide = tc_from(TC_SCALAR_SHAPE, &(int32_t){300}, TC_I32),
              *narrow = tc_full(TC_DIMS(1), 44, TC_I8);
    cr_expect_eq(tc_item(tc_eq(narrow, wide)), 1);
  }
}

static int64_t int_op(binary_op *op, tc_dtype d, int64_t a, int64_t b) {
  int64_t r = 0;
  TC_SCOPE {
    tc_tensor *x = tc_cast(tc_from(TC_DIMS(1), &a, TC_I64), d),
              *y = tc_cast(tc_from(TC_DIMS(1), &b, TC_I64), d);
    r = tc_item_int(op(x, y));
  }
  return r;
}

Test(elementwise, integers_wrap_and_divide_as_documented) {
  cr_expect_eq(int_op(tc_add, TC_I8, 127, 1), -128);
  cr_expect_eq(int_op(tc_mul, TC_U8, 16, 17), 16);
  cr_expect_eq(int_op(tc_sub, TC_I64, INT64_MIN, 1), INT64_MAX);
  cr_expect_eq(int_op(tc_mul, TC_I64, INT64_MAX, 3), INT64_MAX - 2);
  cr_expect_eq(int_op(tc_floor_div, TC_I32, -7, 2), -4);
  cr_expect_eq(int_op(tc_floor_div, TC_I32, 7, 0), 0);
  cr_expect_eq(int_op(tc_floor_div, TC_I64, INT64_MIN, -1), INT64_MIN);
  cr_expect_eq(int_op(tc_floor_div, TC_I32, INT32_MIN, -1), INT32_MIN);
  cr_expect_eq(int_op(tc_remainder, TC_I32, -7, 3), 2);
  cr_expect_eq(int_op(tc_remainder, TC_I32, 7, -3), -2);
  cr_expect_eq(int_op(tc_remainder, TC_I64, INT64_MIN, -1), 0);
  cr_expect_eq(int_op(tc_remainder, TC_I32, 7, 0), 0);
  cr_expect_eq(int_op(tc_fmod, TC_I32, -7, 3), -1);
  cr_expect_eq(int_op(tc_pow, TC_I32, 3, 4), 81);
  cr_expect_eq(int_op(tc_pow, TC_I8, 2, 7), -128);
  cr_expect_eq(int_op(tc_pow, TC_I32, 0, 0), 1);
  cr_expect_eq(int_op(tc_pow, TC_I32, -1, -3), -1);
  cr_expect_eq(int_op(tc_pow, TC_I32, 2, -1), 0);
  cr_expect_eq(int_op(tc_shl, TC_I32, 1, 31), INT32_MIN);
  cr_expect_eq(int_op(tc_shl, TC_I32, 1, 32), 0);
  cr_expect_eq(int_op(tc_shl, TC_I32, 1, -1), 0);
  cr_expect_eq(int_op(tc_shr, TC_I8, -128, 3), -16);
  cr_expect_eq(int_op(tc_shr, TC_I8, -128, 8), -1);
  cr_expect_eq(int_op(tc_shr, TC_U8, 128, 7), 1);
  cr_expect_eq(int_op(tc_bit_xor, TC_U8, 0xF0, 0xFF), 0x0F);
}

Test(elementwise, nan_wins_and_stays) {
  double nan[] = {(double)NAN, 1, (double)NAN}, other[] = {1, (double)NAN, (double)NAN};
  TC_SCOPE {
    for (int d = TC_F16; d < TC_DTYPE_COUNT; d++) {
      tc_tensor *a = tc_cast(tc_from(TC_DIMS(3), nan, TC_F64), (tc_dtype)d);
      tc_tensor *b = tc_cast(tc_from(TC_DIMS(3), other, TC_F64), (tc_dtype)d);
      tc_tensor *results[] = {tc_maximum(a, b), tc_minimum(a, b), tc_add(a, b)};
      for (int k = 0; k < 3; k++) cr_expect(tc_item(tc_all(tc_isnan(results[k]), TC_ALL, false)));
      tc_tensor *stays[] = {tc_relu(a),      tc_relu6(a),    tc_clamp(a, 0, 1),
                            tc_hardswish(a), tc_softplus(a), tc_leaky_relu(a, 0.1),
                            tc_elu(a, 1),    tc_gelu(a),     tc_sign(a),
                            tc_abs(a)};
      for (int k = 0; k < 10; k++) cr_expect(isnan(tc_at(stays[k], TC_INTS(0))), "%d", k);
      cr_expect(isnan(tc_item(tc_max(a, TC_ALL, false))) &&
                isnan(tc_item(tc_min(b, TC_ALL, false))));
      cr_expect_eq(tc_item_int(tc_argmax(b, TC_ALL, false)), 1);
    }
  }
}

Test(elementwise, floor_division_is_exact) {
  float a[] = {1, -1, 7, -7, 5, -5}, b[] = {0.1f, 0.1f, 2, 2, (float)INFINITY, (float)INFINITY};
  double want[] = {9, -10, 3, -4, 0, -1};
  TC_SCOPE {
    tc_tensor *x = tc_from(TC_DIMS(6), a, TC_F32), *y = tc_from(TC_DIMS(6), b, TC_F32),
              *q = tc_floor_div(x, y);
    for (int i = 0; i < 6; i++)
      cr_expect_eq(tc_at(q, TC_INTS(i)), want[i], "%d: %g", i, tc_at(q, TC_INTS(i)));
  }
}

Test(elementwise, casts) {
  double v[] = {2.75, -2.75, 300, -1, (double)NAN, 1e300, 0.0001};
  TC_SCOPE {
    tc_tensor *x = tc_from(TC_DIMS(7), v, TC_F64);
    tc_tensor *i = tc_cast(x, TC_I32), *u = tc_cast(x, TC_U8), *b = tc_cast(x, TC_BOOL),
              *h = tc_cast(x, TC_F16);
    cr_expect(tc_at(i, TC_INTS(0)) == 2 && tc_at(i, TC_INTS(1)) == -2 && tc_at(i, TC_INTS(4)) == 0);
    cr_expect(tc_at(u, TC_INTS(2)) == 255 && tc_at(u, TC_INTS(3)) == 0); /* the nearest value */
    cr_expect(tc_at(b, TC_INTS(6)) == 1 && tc_at(b, TC_INTS(4)) == 1);
    cr_expect(isinf(tc_at(h, TC_INTS(5))) && tc_at(h, TC_INTS(0)) == 2.75);
    int64_t odd =
        (1ll << 62) + (1ll << 38) + 1; /* rounds up once; through double it would tie to even */
    tc_tensor *big = tc_from(TC_DIMS(1), &odd, TC_I64);
    cr_expect_eq(tc_item(tc_cast(big, TC_F32)), (double)(float)odd);
    cr_expect_eq(tc_item(tc_add(big, tc_zeros(TC_DIMS(1), TC_F32))), (double)(float)odd);
  }
}

Test(elementwise, selection) {
  for (int d = 0; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++) TC_SCOPE {
        tc_tensor *m = layout_make(TC_BOOL, TC_DIMS(3, 5), (layout)l, 7);
        tc_tensor *a = layout_make((tc_dtype)d, TC_DIMS(3, 5), (layout)l, 8),
                  *b = layout_make((tc_dtype)d, TC_DIMS(5), LAYOUT_STEPPED, 9);
        tc_tensor *w = tc_where(m, a, b), *f = tc_masked_fill(a, m, 1);
        tc_ints at = first_index(a);
        do {
          bool yes = tc_at(m, at) != 0;
          cr_assert_eq(tc_at(w, at), yes ? tc_at(a, at) : tc_at(b, TC_INTS(at.v[1])));
          cr_assert_eq(tc_at(f, at), yes ? 1 : tc_at(a, at));
        } while (next_index(&at, a));
      }
}

Test(elementwise, scalars_on_either_side) {
  TC_SCOPE {
    tc_tensor *x = tc_full(TC_DIMS(2), 4, TC_F32);
    cr_expect_eq(tc_at(tc_sub_s(x, 1), TC_INTS(0)), 3);
    cr_expect_eq(tc_at(tc_rsub_s(x, 1), TC_INTS(0)), -3);
    cr_expect_eq(tc_at(tc_rdiv_s(x, 2), TC_INTS(0)), 0.5);
    cr_expect_eq(tc_at(tc_pow_s(x, 0.5), TC_INTS(1)), 2);
    cr_expect_eq(tc_at(tc_clamp(x, -1, 2), TC_INTS(0)), 2);
    cr_expect_eq(tc_at(tc_lerp(x, tc_neg(x), 0.25), TC_INTS(0)), 2);
    cr_expect_eq(tc_at(tc_ge_s(x, 4), TC_INTS(0)), 1);
    cr_expect_eq(tc_at(tc_mul_s(x, 0.1), TC_INTS(0)), (double)(4 * 0.1f)); /* 0.1 as an f32 */
  }
}

/* ---- numbers that an integer dtype does not hold ---------------------------------------------- */

static void refused(const tc_tensor *y, const char *why) {
  cr_expect_null(y);
  cr_expect(tc_error() && strstr(tc_error(), why), "%s, not %s", tc_error() ? tc_error() : "-",
            why);
  tc_clear_error();
}

Test(elementwise, scalars_outside_of_the_dtype) {
  TC_SCOPE {
    tc_tensor *u = tc_full(TC_DIMS(2), 200, TC_U8), *i = tc_full(TC_DIMS(2), -7, TC_I32);
    tc_tensor *m = tc_ones(TC_DIMS(2), TC_BOOL);
    refused(tc_add_s(u, 300), "tc_add_s: 300 does not fit u8, which holds 0 to 255");
    refused(tc_rsub_s(u, -1), "tc_rsub_s: -1 does not fit u8");
    refused(tc_masked_fill(i, m, -INFINITY), "tc_masked_fill: -inf does not fit i32");
    refused(tc_pad(u, TC_DIMS(1), TC_DIMS(0), NAN), "tc_pad: NaN does not fit u8");
    refused(tc_full(TC_DIMS(2), 0x1p63, TC_I64),
            "tc_full: 9.2233720368547758e+18 does not fit i64");
    refused(tc_full_like(u, 256), "tc_full_like: 256 does not fit u8");
    refused(tc_fill_(i, 3e9), "tc_fill_: 3000000000 does not fit i32");
    refused(tc_clamp(i, NAN, 2), "tc_clamp: NaN does not fit i32");
    refused(tc_add(u, tc_scalar(256)), "tc_add: 256 does not fit u8");
    cr_expect_eq(tc_at(tc_full(TC_DIMS(1), -0x1p63, TC_I64), TC_INTS(0)), -0x1p63);
    cr_expect_eq(tc_at(tc_add_s(u, 55.9), TC_INTS(0)), 255);
    cr_expect_eq(tc_at(tc_sub_s(u, -0.9), TC_INTS(0)), 200);
    cr_expect_eq(tc_at(tc_clamp(i, 0, INFINITY), TC_INTS(0)), 0);
    cr_expect_eq(tc_at(tc_minimum_s(u, 300), TC_INTS(0)), 200);
    cr_expect_null(tc_error());
  }
}

Test(elementwise, numbers_by_their_c_type) {
  TC_SCOPE {
    tc_tensor *i = tc_full(TC_DIMS(2), 20, TC_I64);
    float f = 2;
    size_t n = 3;
    cr_expect_eq(tc_dtype_of(tc_floor_div(i, tc_scalar(7))), TC_I64);
    cr_expect_eq(tc_dtype_of(tc_floor_div(i, tc_scalar(n))), TC_I64);
    cr_expect_eq(tc_dtype_of(tc_floor_div(i, tc_scalar(7.0))), TC_F32);
    cr_expect_eq(tc_dtype_of(tc_floor_div(i, tc_scalar(f))), TC_F32);
    cr_expect_eq(tc_dtype_of((tc_scalar)(7)), TC_F64);
    cr_expect_eq(tc_at(tc_bit_or(i, tc_scalar(1)), TC_INTS(0)), 21);
  }
}

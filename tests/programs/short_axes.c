/* What runs in lanes in ways of its own: channels of pixels, short rows, bytes, running sums, small
 * products.  Sizes around those of vectors, against the original bodies. */
#include <math.h>
#include <string.h>

#include "check.h"

typedef const tc_tensor *operand;

/* `call` compiled and eager, equal within the tolerance of its dtype. */
#define SAME(name, call) COMPARE_TO_BODY(name, call, check_same(name, got, want))

static void check_same(const char *name, operand got, operand want) {
  const tc_dtype d = tc_dtype_of(want);
  const double rtol = d == TC_BF16 ? 1.6e-2 : d == TC_F16 ? 1e-3 : d == TC_F32 ? 1.3e-6 : 0;
  const double atol = d == TC_F32 || d == TC_BF16 || d == TC_F16 ? 1e-5 : 0;
  if (d == TC_F64 ? tc_allclose(got, want, 1e-7, 1e-7) : tc_allclose(got, want, rtol, atol)) return;
  fprintf(stderr, "%s: wrong values\n", name);
  tc_print(got);
  tc_print(want);
  exit(1);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

TC_COMPILE static tc_tensor *normalised(operand x TC_SHAPE("f32[H,W,3]"),
                                        operand m TC_SHAPE("f32[3]"),
                                        operand s TC_SHAPE("f32[3]")) {
  return tc_mul(tc_sub(x, m), s);
}
TC_COMPILE static tc_tensor *normalised_bytes(operand x TC_SHAPE("u8[H,W,3]"),
                                              operand m TC_SHAPE("f32[3]"),
                                              operand s TC_SHAPE("f32[3]")) {
  return tc_mul(tc_sub(tc_cast(x, TC_F32), m), s);
}
TC_COMPILE static tc_tensor *scaled16(operand x TC_SHAPE("bf16[N,4]"),
                                      operand s TC_SHAPE("bf16[4]")) {
  return tc_mul(x, s);
}
TC_COMPILE static tc_tensor *turned(operand p TC_SHAPE("f64[N,2]"),
                                    operand r TC_SHAPE("f64[N,1]")) {
  return tc_add(tc_mul(p, r), tc_sin(r));
}
TC_COMPILE static tc_tensor *swapped(operand x TC_SHAPE("u8[H,W,3]")) {
  operand c[3] = {tc_select(x, 2, 2), tc_select(x, 2, 1), tc_select(x, 2, 0)};
  return tc_stack(c, 3, 2);
}
TC_COMPILE static tc_tensor *planar(operand x TC_SHAPE("i16[H,W,4]")) {
  operand c[4] = {tc_select(x, 2, 0), tc_select(x, 2, 1), tc_select(x, 2, 2), tc_select(x, 2, 3)};
  return tc_stack(c, 4, 0);
}
TC_COMPILE static tc_tensor *interleaved(operand x TC_SHAPE("f16[2,H,W]")) {
  operand c[2] = {tc_select(x, 0, 1), tc_select(x, 0, 0)};
  return tc_stack(c, 2, 2);
}
/* Stored where they stand. */
TC_COMPILE static void brighter(tc_tensor *x TC_SHAPE("f32[N,4]"), operand s TC_SHAPE("f32[4]")) {
  tc_mul_(x, s);
}
TC_COMPILE static tc_tensor *padded(operand a TC_SHAPE("f32[N,1]"),
                                    operand b TC_SHAPE("f32[N,2]")) {
  operand c[2] = {b, a};
  return tc_concat(c, 2, 1);
}

static void check_pixels(int64_t h, int64_t w) {
  tc_tensor *x = tc_rand(TC_DIMS(h, w, 3), 1, TC_F32), *m = tc_rand(TC_DIMS(3), 2, TC_F32);
  tc_tensor *s = tc_add_s(m, 1), *bytes = tc_cast(tc_mul_s(x, 255), TC_U8);
  SAME("normalised", normalised(x, m, s));
  SAME("normalised_bytes", normalised_bytes(bytes, m, s));
  SAME("swapped", swapped(bytes));
  SAME("planar", planar(tc_cast(tc_mul_s(tc_randn(TC_DIMS(h, w, 4), 3, TC_F32), 999), TC_I16)));
  SAME("interleaved", interleaved(tc_randn(TC_DIMS(2, h, w), 4, TC_F16)));
  tc_tensor *four = tc_randn(TC_DIMS(h * w, 4), 5, TC_BF16);
  SAME("scaled16", scaled16(four, tc_randn(TC_DIMS(4), 6, TC_BF16)));
  tc_tensor *points = tc_randn(TC_DIMS(h * w, 2), 7, TC_F64);
  SAME("turned", turned(points, tc_randn(TC_DIMS(h * w, 1), 8, TC_F64)));
  SAME("padded",
       padded(tc_randn(TC_DIMS(h * w, 1), 9, TC_F32), tc_randn(TC_DIMS(h * w, 2), 10, TC_F32)));
  tc_tensor *image = tc_randn(TC_DIMS(h * w, 4), 11, TC_F32),
            *by = tc_randn(TC_DIMS(4), 12, TC_F32);
  tc_tensor *want = tc_mul(image, by);
  brighter(image, by);
  check_same("brighter", image, want);
}

/* ---- rows ------------------------------------------------------------------------------------ */

TC_COMPILE static tc_tensor *most(operand x TC_SHAPE("f32[R,C]")) {
  return tc_argmax(x, TC_AXES(1), false);
}
TC_COMPILE static tc_tensor *least(operand x TC_SHAPE("i8[R,C]")) {
  return tc_argmin(x, TC_AXES(1), false);
}
TC_COMPILE static tc_tensor *top(operand x TC_SHAPE("f32[R,C]")) {
  return tc_max(x, TC_AXES(1), false);
}
TC_COMPILE static tc_tensor *squares(operand x TC_SHAPE("f64[R,C]")) {
  return tc_sum(tc_square(x), TC_AXES(1), false);
}

/* Down columns of known length: an element takes the place of those above it. */
TC_COMPILE static tc_tensor *most_of_five(operand x TC_SHAPE("f32[5,C]")) {
  return tc_argmax(x, TC_AXES(0), false);
}
TC_COMPILE static tc_tensor *least_of_five(operand x TC_SHAPE("i8[5,C]")) {
  return tc_argmin(x, TC_AXES(0), false);
}
TC_COMPILE static tc_tensor *most_of_window(operand x TC_SHAPE("f32[C,5]")) {
  return tc_argmax(tc_unfold(x, 1, 3, 2), TC_AXES(2), false);
}

/* What all rows share is read for four of them at once. */
TC_COMPILE static tc_tensor *times(operand a TC_SHAPE("f32[R,C]"), operand x TC_SHAPE("f32[C]")) {
  return tc_matmul(a, x);
}
TC_COMPILE static tc_tensor *times_integers(operand a TC_SHAPE("i32[R,C]"), operand x TC_SHAPE("i32[C]")) {
  return tc_matmul(a, x);
}
TC_COMPILE static tc_tensor *nearest(operand a TC_SHAPE("f64[R,C]"), operand x TC_SHAPE("f64[C]")) {
  return tc_argmin(tc_abs(tc_sub(a, x)), TC_AXES(1), false);
}

/* All pairs of rows: lanes are along the second, or along the first. */
TC_COMPILE static tc_tensor *between(operand x TC_SHAPE("f32[R,C]"), operand y TC_SHAPE("f32[K,C]")) {
  return tc_sum(tc_abs(tc_sub(tc_unsqueeze(x, 1), tc_unsqueeze(y, 0))), TC_AXES(2), false);
}

/* Ties, rows of -inf alone, and rows with NaN. */
static tc_tensor *rows_of(int64_t r, int64_t c) {
  tc_tensor *x = tc_round(tc_mul_s(tc_randn(TC_DIMS(r, c), (uint64_t)(r * 100 + c), TC_F32), 2));
  float *f = tc_data(x);
  for (int64_t i = 0; i < r; i++)
    for (int64_t j = 0; j < c; j++)
      if (i % 7 == 3) f[i * c + j] = -INFINITY;
      else if (i % 7 == 5 && j == (i + 1) % c) f[i * c + j] = NAN;
  return x;
}

static void check_rows(int64_t r, int64_t c) {
  tc_tensor *x = rows_of(r, c);
  SAME("most", most(x));
  SAME("most_of_five", most_of_five(tc_contiguous(tc_transpose(rows_of(c, 5), 0, 1))));
  SAME("least_of_five", least_of_five(tc_cast(tc_round(tc_mul_s(tc_randn(TC_DIMS(5, c), 4, TC_F32), 2)), TC_I8)));
  SAME("most_of_window", most_of_window(rows_of(c, 5)));
  tc_tensor *whole = tc_round(tc_mul_s(tc_randn(TC_DIMS(r, c), 2, TC_F32), 50));
  SAME("least", least(tc_cast(whole, TC_I8)));
  SAME("top", top(whole));
  SAME("squares", squares(tc_cast(whole, TC_F64)));
  const int64_t few = r < 3 ? r : 3;
  SAME("between", between(whole, whole));
  SAME("between", between(whole, tc_slice(whole, 0, 0, few, 1)));
  tc_tensor *each = tc_round(tc_mul_s(tc_randn(TC_DIMS(c), 3, TC_F32), 9)); /* sums are exact */
  SAME("times", times(whole, each));
  SAME("times_integers", times_integers(tc_cast(whole, TC_I32), tc_cast(each, TC_I32)));
  SAME("nearest", nearest(tc_cast(whole, TC_F64), tc_cast(each, TC_F64)));
}

/* ---- blocks of rows -------------------------------------------------------------------------- */

TC_COMPILE static tc_tensor *summed(operand x TC_SHAPE("f32[R,C]")) { return tc_cumsum(x, 1); }
TC_COMPILE static tc_tensor *normed(operand x TC_SHAPE("f32[R,C]")) { return tc_layer_norm(x, 1, NULL, NULL, 1e-5); }
/* Of nothing that is loaded: only what is stored lies in rows. */
TC_COMPILE static tc_tensor *numbered(operand x TC_SHAPE("f32[R,C]")) { return tc_cumsum(tc_ones_like(x), 1); }
TC_COMPILE static tc_tensor *summed_integers(operand x TC_SHAPE("i32[R,C]")) { return tc_cumprod(x, 1); }
TC_COMPILE static tc_tensor *centred(operand x TC_SHAPE("f32[R,C]")) { return tc_sub(x, tc_max(x, TC_AXES(1), true)); }
TC_COMPILE static tc_tensor *centred3(operand x TC_SHAPE("f32[R,3]")) { return tc_sub(x, tc_max(x, TC_AXES(1), true)); }
TC_COMPILE static tc_tensor *centred7(operand x TC_SHAPE("i32[R,7]")) { return tc_sub(x, tc_max(x, TC_AXES(1), true)); }
TC_COMPILE static tc_tensor *log_shares(operand x TC_SHAPE("f32[R,C]")) { return tc_log_softmax(x, 1); }
TC_COMPILE static tc_tensor *shares32(operand x TC_SHAPE("f32[R,C]")) { return tc_softmax(x, 1); }
/* Of one column, and of one element of k. */
TC_COMPILE static tc_tensor *columns(operand a TC_SHAPE("f32[B,R,C]"), operand b TC_SHAPE("f32[B,C,N]")) {
  return tc_matmul(a, b);
}
TC_COMPILE static tc_tensor *turned_product(operand a TC_SHAPE("bf16[K,R]"), operand b TC_SHAPE("bf16[C,K]")) {
  return tc_matmul(tc_transpose(a, 0, 1), tc_transpose(b, 0, 1));
}
/* Stored where they stand, beside other columns. */
TC_COMPILE static void centre(tc_tensor *x TC_SHAPE("f32[R,C]")) { tc_copy_(x, tc_sub(x, tc_max(x, TC_AXES(1), true))); }
TC_COMPILE static void sum_up(tc_tensor *x TC_SHAPE("f32[R,C]")) { tc_copy_(x, tc_cumsum(x, 1)); }

/* What is stored beside sums that serve the next stage. */
TC_COMPILE static tc_tensor *added_and_normed(operand x TC_SHAPE("f32[R,C]"),
                                              operand y TC_SHAPE("f32[R,C]"),
                                              tc_tensor **sum TC_SHAPE("f32[R,C]")) {
  *sum = tc_add(x, y);
  return tc_layer_norm(*sum, 1, NULL, NULL, 1e-5);
}

static void check_both(operand x, operand y) {
  tc_tensor *sum = NULL;
  SAME("added_and_normed", added_and_normed(x, y, &sum));
  COMPARE_TO_BODY("added_and_normed", (added_and_normed(x, y, &sum), sum),
                  check_same("sum", got, want));
}

/* The last rows and columns of a matrix: nothing lies behind their last element. */
static tc_tensor *end_of(tc_tensor *whole, int64_t rows, int64_t columns) {
  const int64_t r = tc_size(whole, 0), c = tc_size(whole, 1);
  return tc_slice(tc_slice(whole, 0, r - rows, r, 1), 1, c - columns, c, 1);
}

static void check_in_place(void (*change)(tc_tensor *), operand whole, int64_t r, int64_t c) {
  tc_tensor *got = tc_clone(whole), *want = tc_clone(whole);
  change(end_of(got, r, c));
  tc_set_enabled(false);
  change(end_of(want, r, c));
  tc_set_enabled(true);
  check_same("in place", got, want);
}

static void check_blocks(int64_t r, int64_t c) {
  tc_tensor *wide = tc_round(tc_mul_s(tc_randn(TC_DIMS(r + 1, c + 2), (uint64_t)(r * 100 + c), TC_F32), 9)); /* sums are exact */
  tc_tensor *x = end_of(wide, r, c), *dense = tc_clone(x), *integers = tc_cast(wide, TC_I32);
  SAME("summed", summed(x));
  SAME("summed", summed(dense));
  SAME("summed", summed(tc_flip(dense, TC_AXES(0))));
  SAME("numbered", numbered(dense));
  SAME("summed_integers", summed_integers(end_of(integers, r, c)));
  SAME("centred", centred(x));
  SAME("centred", centred(dense));
  if (c == 3) SAME("centred3", centred3(dense));
  if (c == 7) SAME("centred7", centred7(tc_cast(dense, TC_I32)));
  SAME("log_shares", log_shares(x));
  SAME("normed", normed(dense));
  check_both(x, dense);
  SAME("shares32", shares32(x));
  tc_tensor *two = tc_round(tc_mul_s(tc_randn(TC_DIMS(2, r, c), 1, TC_F32), 9));
  SAME("columns", columns(two, tc_round(tc_mul_s(tc_randn(TC_DIMS(2, c, 1), 2, TC_F32), 9))));
  for (int64_t k = 1; k < 4; k++)
    SAME("turned_product", turned_product(tc_randn(TC_DIMS(k, r), 1, TC_BF16), tc_randn(TC_DIMS(c, k), 2, TC_BF16)));
  check_in_place(centre, wide, r, c);
  check_in_place(sum_up, wide, r, c);
  check_in_place(centre, dense, r, c);
  check_in_place(sum_up, dense, r, c);
}

/* ---- exponentials of 16 bits ----------------------------------------------------------------- */

TC_COMPILE static tc_tensor *shares(operand x TC_SHAPE("bf16[R,C]")) { return tc_softmax(x, 1); }
TC_COMPILE static tc_tensor *shares16(operand x TC_SHAPE("f16[R,C]")) { return tc_softmax(x, 1); }

/* Masked places, far apart values, a row of one. */
static void check_shares(int64_t r, int64_t c) {
  tc_tensor *x = tc_mul_s(tc_randn(TC_DIMS(r, c), 1, TC_F32), 20);
  float *f = tc_data(x);
  for (int64_t i = 0; i < r * c; i++)
    if (i % 5 == 1 && c > 1) f[i] = -INFINITY;
  SAME("shares", shares(tc_cast(x, TC_BF16)));
  SAME("shares16", shares16(tc_cast(x, TC_F16)));
}

/* ---- bytes ----------------------------------------------------------------------------------- */

TC_COMPILE static tc_tensor *blend(operand a TC_SHAPE("u8[N]"), operand b TC_SHAPE("u8[N]")) {
  tc_tensor *x = tc_add(tc_mul_s(tc_cast(a, TC_F32), 0.25), tc_mul_s(tc_cast(b, TC_F32), 0.75));
  return tc_cast(tc_clamp(tc_round(x), 0, 255), TC_U8);
}
TC_COMPILE static tc_tensor *wrapped(operand a TC_SHAPE("u8[N]"), operand b TC_SHAPE("u8[N]")) {
  return tc_maximum(tc_add(a, b), tc_sub(a, tc_bit_xor(a, b)));
}

static void check_bytes(int64_t n) {
  tc_tensor *a = tc_cast(tc_mul_s(tc_rand(TC_DIMS(n), 1, TC_F32), 255.9), TC_U8);
  tc_tensor *b = tc_cast(tc_mul_s(tc_rand(TC_DIMS(n), 2, TC_F32), 255.9), TC_U8);
  SAME("blend", blend(a, b));
  SAME("wrapped", wrapped(a, b));
}

/* ---- running sums ---------------------------------------------------------------------------- */

TC_COMPILE static tc_tensor *running(operand x TC_SHAPE("f32[R,C]")) {
  return tc_mul_s(tc_cumsum(tc_square(x), 1), 0.5);
}
TC_COMPILE static tc_tensor *counted(operand x TC_SHAPE("i32[R,C]")) { return tc_cumsum(x, 1); }
TC_COMPILE static tc_tensor *grown(operand x TC_SHAPE("f64[R,C]")) { return tc_cumprod(x, 1); }
TC_COMPILE static tc_tensor *running16(operand x TC_SHAPE("f16[R,C]")) { return tc_cumsum(x, 1); }

/* Down the columns, some vectors of which run side by side. */
TC_COMPILE static tc_tensor *running_down(operand x TC_SHAPE("f32[R,C]")) {
  return tc_mul_s(tc_cumsum(tc_square(x), 0), 0.5);
}
TC_COMPILE static tc_tensor *counted_down(operand x TC_SHAPE("u8[R,C]")) { return tc_cumsum(x, 0); }
TC_COMPILE static tc_tensor *grown_down(operand x TC_SHAPE("f64[2,R,C]")) {
  return tc_cumprod(x, 1);
}

static void check_scans(int64_t r, int64_t c) {
  tc_tensor *x = tc_randn(TC_DIMS(r, c), 1, TC_F32);
  SAME("running", running(x));
  SAME("counted", counted(tc_cast(tc_mul_s(x, 1e6), TC_I32)));
  SAME("grown", grown(tc_cast(tc_add_s(tc_mul_s(x, 0.01), 1), TC_F64)));
  SAME("running16", running16(tc_cast(tc_mul_s(tc_abs(x), 0.1), TC_F16)));
  SAME("running_down", running_down(x));
  SAME("counted_down", counted_down(tc_cast(tc_mul_s(tc_abs(x), 50), TC_U8)));
  tc_tensor *pair = tc_randn(TC_DIMS(2, r, c), 2, TC_F64);
  SAME("grown_down", grown_down(tc_add_s(tc_mul_s(pair, 0.01), 1)));
}

/* ---- small products -------------------------------------------------------------------------- */

/* P' = (I - K H) P with P = F P F^T + Q, K = P H^T (H P H^T + R)^-1 */
TC_COMPILE static tc_tensor *kalman(operand f TC_SHAPE("f64[4,4]"), operand p TC_SHAPE("f64[4,4]"),
                                    operand q TC_SHAPE("f64[4,4]"), operand h TC_SHAPE("f64[2,4]"),
                                    operand r TC_SHAPE("f64[2,2]")) {
  tc_tensor *ahead = tc_add(tc_matmul(tc_matmul(f, p), tc_transpose(f, 0, 1)), q);
  tc_tensor *ht = tc_transpose(h, 0, 1);
  tc_tensor *s = tc_reshape(tc_add(tc_matmul(tc_matmul(h, ahead), ht), r), TC_DIMS(4));
  tc_tensor *a = tc_select(s, 0, 0), *b = tc_select(s, 0, 1), *c = tc_select(s, 0, 2),
            *d = tc_select(s, 0, 3);
  operand adjoint[4] = {d, tc_neg(b), tc_neg(c), a};
  tc_tensor *det = tc_sub(tc_mul(a, d), tc_mul(b, c));
  tc_tensor *inverse = tc_div(tc_reshape(tc_stack(adjoint, 4, 0), TC_DIMS(2, 2)), det);
  tc_tensor *k = tc_matmul(tc_matmul(ahead, ht), inverse);
  return tc_sub(ahead, tc_matmul(tc_matmul(k, h), ahead));
}

static void check_products(void) {
  tc_tensor *f = tc_randn(TC_DIMS(4, 4), 1, TC_F64), *l = tc_randn(TC_DIMS(4, 4), 2, TC_F64);
  tc_tensor *p = tc_matmul(l, tc_transpose(l, 0, 1)), *h = tc_randn(TC_DIMS(2, 4), 3, TC_F64);
  SAME("kalman", kalman(f, tc_contiguous(p), tc_eye(4, 4, TC_F64), h, tc_eye(2, 2, TC_F64)));
}

/* ---- transposes ------------------------------------------------------------------------------ */

TC_COMPILE static tc_tensor *transposed(operand x TC_SHAPE("f32[B,R,C]"), operand y TC_SHAPE("f32[B,C,R]")) {
  return tc_add(tc_transpose(x, 1, 2), y);
}
TC_COMPILE static tc_tensor *transposed_halves(operand x TC_SHAPE("bf16[R,C]")) { return tc_mul_s(tc_transpose(x, 0, 1), 2); }
TC_COMPILE static tc_tensor *transposed_doubles(operand x TC_SHAPE("f64[R,C]")) { return tc_mul_s(tc_transpose(x, 0, 1), 2); }
TC_COMPILE static tc_tensor *transposed_bytes(operand x TC_SHAPE("u8[R,C]")) { return tc_add(tc_transpose(x, 0, 1), tc_transpose(x, 0, 1)); }
TC_COMPILE static tc_tensor *transposed_few(operand x TC_SHAPE("i32[R,7]")) { return tc_mul_s(tc_transpose(x, 0, 1), 2); }

static void check_transposes(int64_t r, int64_t c) {
  tc_tensor *x = tc_randn(TC_DIMS(r, c), 1, TC_F32);
  SAME("transposed", transposed(tc_randn(TC_DIMS(2, r, c), 1, TC_F32), tc_randn(TC_DIMS(2, c, r), 2, TC_F32)));
  SAME("transposed_halves", transposed_halves(tc_cast(x, TC_BF16)));
  SAME("transposed_doubles", transposed_doubles(tc_cast(x, TC_F64)));
  SAME("transposed_bytes", transposed_bytes(tc_cast(tc_abs(x), TC_U8)));
  SAME("transposed_few", transposed_few(tc_cast(tc_mul_s(tc_randn(TC_DIMS(r, 7), 3, TC_F32), 100), TC_I32)));
}

int main(void) {
  static const int64_t size[][2] = {{1, 1}, {1, 15}, {3, 5}, {4, 16}, {7, 33}, {90, 101}};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) TC_SCOPE {
      check_pixels(size[i][0], size[i][1]);
      check_bytes(size[i][0] * size[i][1]);
      check_scans(size[i][0], size[i][1]);
      check_shares(size[i][0], size[i][1]);
    }
  TC_SCOPE {
    check_scans(5, 459);
  }
  for (int64_t c = 1; c <= 70; c += c < 20 ? 1 : 7)
    for (int64_t r = 1; r <= 40; r += 13) TC_SCOPE {
        check_rows(r, c);
      }
  for (int64_t c = 1; c <= 81; c += c < 20 ? 3 : 15)
    for (int64_t r = 1; r <= 90; r += r < 20 ? 4 : 35) TC_SCOPE {
        check_transposes(r, c);
      }
  for (int64_t c = 1; c <= 130; c += c < 20 ? 1 : 37)
    for (int64_t r = 1; r <= 49; r += r < 15 ? 14 : 1 + (r > 17) * 15) TC_SCOPE {
        check_blocks(r, c);
      }
  TC_SCOPE { /* rows of no elements */
    tc_tensor *empty = tc_zeros(TC_DIMS(40, 0), TC_F32);
    SAME("summed", summed(empty));
    SAME("numbered", numbered(empty));
    SAME("normed", normed(empty));
  }
  TC_SCOPE {
    check_products();
  }
  puts("short_axes: ok");
  return 0;
}

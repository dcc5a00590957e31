/* Operands that are columns of wider matrices: kernels read them as they lie, by their pitch, and give what the bodies give;
 * only what has no pitch is packed.  Around the columns there is NaN, which nothing may touch. */
#include <math.h>

#include "check.h"

typedef const tc_tensor *operand;

TC_COMPILE static tc_tensor *rows(operand x TC_SHAPE("f32[R,C]")) { return tc_softmax(x, -1); }
TC_COMPILE static tc_tensor *columns(operand x TC_SHAPE("bf16[R,C]")) { return tc_sum(x, TC_AXES(0), false); }
TC_COMPILE static tc_tensor *fixed(operand x TC_SHAPE("f32[9,40]"), operand y TC_SHAPE("f32[40,9]")) {
  return tc_add(tc_transpose(x, 0, 1), y);
}
TC_COMPILE static tc_tensor *product(operand x TC_SHAPE("f32[B,M,K]"), operand w TC_SHAPE("f32[N,K]"), operand b TC_SHAPE("f32[N]")) {
  return tc_relu(tc_linear(x, w, b));
}
TC_COMPILE static tc_tensor *picked(operand table TC_SHAPE("f32[V,C]"), operand i TC_SHAPE("i64[R]")) {
  return tc_mul_s(tc_embedding(table, i), 2);
}
/* One element follows the other through all rows, pieces of which are copied; so it is beside columns, and of four operands. */
TC_COMPILE static tc_tensor *flat(operand x TC_SHAPE("f32[R,C]"), operand y TC_SHAPE("f32[R,C]")) { return tc_mul(x, y); }
TC_COMPILE static tc_tensor *halves(operand x TC_SHAPE("bf16[B,R,C]"), operand y TC_SHAPE("bf16[B,R,C]")) {
  return tc_mul(tc_silu(x), y);
}
TC_COMPILE static tc_tensor *known(operand x TC_SHAPE("f64[70,131]")) { return tc_where(tc_gt_s(x, 0), x, tc_neg(x)); }
TC_COMPILE static bool both(operand x TC_SHAPE("f32[R,C]"), operand y TC_SHAPE("f32[R,C]"), tc_tensor **out) {
  out[0] = tc_add(tc_relu(x), y);
  out[1] = tc_sum(tc_mul(x, x), TC_AXES(0), false);
  return out[0] && out[1];
}
TC_COMPILE static tc_tensor *five(operand a TC_SHAPE("f32[R,C]"), operand b TC_SHAPE("f32[R,C]"), operand c TC_SHAPE("f32[R,C]"),
                                  operand d TC_SHAPE("f32[R,C]"), operand e TC_SHAPE("f32[R,C]")) {
  return tc_add(tc_mul(a, b), tc_sub(tc_mul(c, d), e));
}
/* Differentiated by the tape: its two parts have pitches of their own. */
TC_COMPILE static tc_tensor *layer(operand x TC_SHAPE("f32[B,I]"), operand w TC_SHAPE("f32[I,O]"), operand b TC_SHAPE("f32[O]")) {
  return tc_gelu(tc_add(tc_matmul(x, w), b));
}

/* The last axis of x within a wider one. */
static tc_tensor *within(operand x, int64_t left, int64_t right) {
  const int last = tc_rank(x) - 1;
  tc_ints dims = {.n = last + 1};
  for (int i = 0; i <= last; i++) dims.v[i] = tc_size(x, i);
  dims.v[last] += left + right;
  tc_tensor *wide = tc_full(dims, NAN, tc_dtype_of(x));
  tc_tensor *middle = tc_slice(wide, last, left, left + tc_size(x, last), 1);
  CHECK(middle && tc_copy_(middle, x));
  return middle;
}

#define SAME(name, packed_calls, call)                                                      \
  do {                                                                                      \
    const tc_stats before = tc_stats_of(name);                                              \
    tc_tensor *got = call;                                                                  \
    const tc_stats after = tc_stats_of(name);                                               \
    CHECK(got &&after.hits == before.hits + 1);                                             \
    CHECK(after.packed == before.packed + (packed_calls));                                  \
    const tc_stance stance = tc_set_stance(TC_STANCE_EAGER);                                \
    tc_tensor *want = call;                                                                 \
    tc_set_stance(stance);                                                                  \
    CHECK(tc_allclose(got, want, tc_dtype_of(want) == TC_BF16 ? 1.6e-2 : 1.3e-6, 1e-5));    \
  } while (0)

static tc_tensor *first_of_both(operand x, operand y) {
  tc_tensor *out[2] = {0};
  CHECK(both(x, y, out) && tc_allclose(out[1], tc_sum(tc_square(x), TC_AXES(0), false), 1e-5, 1e-4));
  return out[0];
}

static void sizes(int64_t r, int64_t c, int64_t left, int64_t right) {
  TC_SCOPE {
    tc_tensor *x = within(tc_randn(TC_DIMS(r, c), 1, TC_F32), left, right);
    tc_tensor *batches = within(tc_randn(TC_DIMS(3, r, c), 3, TC_F32), left, right);
    SAME("rows", 0, rows(x));
    SAME("columns", 0, columns(within(tc_randn(TC_DIMS(r, c), 4, TC_BF16), left, right)));
    SAME("product", 0, product(batches, x, tc_randn(TC_DIMS(r), 5, TC_F32)));
    SAME("picked", 0, picked(x, tc_arange(r, r - 1, -1, TC_I64)));
  }
}

static void flat_sizes(int64_t r, int64_t c, int64_t left, int64_t right) {
  TC_SCOPE {
    tc_tensor *x = within(tc_randn(TC_DIMS(r, c), 1, TC_F32), left, right);
    tc_tensor *y = within(tc_randn(TC_DIMS(r, c), 2, TC_F32), right, left);
    tc_tensor *z = within(tc_randn(TC_DIMS(3, r, c), 3, TC_BF16), left, right);
    SAME("flat", 0, flat(x, y));
    SAME("flat", 0, flat(x, tc_contiguous(y)));
    SAME("halves", 0, halves(z, within(tc_randn(TC_DIMS(3, r, c), 4, TC_BF16), right, left)));
    SAME("both", 0, first_of_both(x, y));
    SAME("five", 1, five(x, y, x, y, x)); /* only four have places */
  }
}

static tc_tensor *gradient_of_w(operand x) {
  tc_tensor *w = tc_requires_grad_(tc_randn(TC_DIMS(8, 8), 2, TC_F32), true), *b = tc_zeros(TC_DIMS(8), TC_F32);
  tc_tensor *h = layer(layer(x, w, b), w, b);
  CHECK(tc_backward(tc_mean(tc_square(h), TC_ALL, false)));
  return tc_grad_of(w);
}

int main(void) {
  sizes(7, 5, 1, 2);
  sizes(33, 70, 3, 0);
  sizes(300, 17, 0, 64);
  flat_sizes(7, 5, 1, 2);
  flat_sizes(300, 17, 0, 64);
  flat_sizes(21, 1031, 5, 9);
  flat_sizes(5000, 3, 1, 0);
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(9, 40), 1, TC_F32), *y = within(tc_randn(TC_DIMS(40, 9), 2, TC_F32), 1, 1);
    SAME("fixed", 0, fixed(within(x, 5, 3), y));
    SAME("fixed", 0, fixed(x, y));
    SAME("fixed", 1, fixed(tc_transpose(tc_contiguous(tc_transpose(x, 0, 1)), 0, 1), y)); /* elements apart */
    SAME("fixed", 1, fixed(tc_flip(x, TC_AXES(0)), y));                                    /* rows backwards */
    SAME("fixed", 1, fixed(tc_expand(tc_slice(x, 0, 0, 1, 1), TC_DIMS(9, 40)), y));        /* one row */
    SAME("known", 0, known(within(tc_randn(TC_DIMS(70, 131), 4, TC_F64), 3, 2)));
    tc_tensor *z = tc_randn(TC_DIMS(6, 7, 8), 3, TC_F32);
    SAME("product", 1, product(tc_slice(z, 1, 1, 5, 1), tc_randn(TC_DIMS(4, 8), 4, TC_F32), tc_randn(TC_DIMS(4), 5, TC_F32)));
  }
  TC_SCOPE {
    tc_tensor *x = within(tc_randn(TC_DIMS(16, 8), 1, TC_F32), 2, 1);
    const uint64_t before = fallbacks_of("layer");
    tc_tensor *got = gradient_of_w(x);
    CHECK(got && hits_of("layer") && fallbacks_of("layer") == before);
    const tc_stance stance = tc_set_stance(TC_STANCE_EAGER);
    CHECK(tc_allclose(got, gradient_of_w(x), 1e-5, 1e-5));
    tc_set_stance(stance);
  }
  puts("rows apart: ok");
  return 0;
}

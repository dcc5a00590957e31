/* Matrix products against three plain loops. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include <tcompile.h>

#include "layouts.h"

static void check_product(const tc_tensor *a, const tc_tensor *b, const tc_tensor *bias,
                          const tc_tensor *y) {
  int64_t k = tc_size(a, 1);
  cr_assert_not_null(y, "%s", tc_error());
  tc_ints at = first_index(y);
  do {
    double sum = bias ? tc_at(bias, TC_INTS(at.v[1])) : 0;
    for (int64_t i = 0; i < k; i++)
      sum += tc_at(a, TC_INTS(at.v[0], i)) * tc_at(b, TC_INTS(i, at.v[1]));
    if (tc_dtype_of(y) == TC_I8) sum = (double)(int8_t)(int64_t)sum;
    if (tc_dtype_of(y) == TC_U8) sum = (double)(uint8_t)(int64_t)sum;
    cr_assert(rounds_to(tc_dtype_of(y), sum, tc_at(y, at)), "%g is not %g", tc_at(y, at), sum);
  } while (next_index(&at, y));
}

Test(matmul, every_dtype_and_layout) {
  for (int d = TC_U8; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++)
      for (int m = 0; m < LAYOUT_COUNT; m++) TC_SCOPE {
          tc_tensor *a = layout_make((tc_dtype)d, TC_DIMS(5, 9), (layout)l, 1);
          tc_tensor *b = layout_make((tc_dtype)d, TC_DIMS(9, 7), (layout)m, 2),
                    *bias = layout_make((tc_dtype)d, TC_DIMS(7), (layout)l, 3);
          check_product(a, b, NULL, tc_matmul(a, b));
          check_product(a, b, bias, tc_linear(a, tc_transpose(b, 0, 1), bias));
        }
}

Test(matmul, larger_than_a_tile) {
  TC_SCOPE {
    tc_tensor *a = tc_rand(TC_DIMS(37, 300), 1, TC_F64), *b = tc_rand(TC_DIMS(300, 270), 2, TC_F64),
              *y = tc_matmul(a, b);
    double sum = 0;
    for (int i = 0; i < 300; i++) sum += tc_at(a, TC_INTS(36, i)) * tc_at(b, TC_INTS(i, 269));
    cr_expect(fabs(tc_at(y, TC_INTS(36, 269)) - sum) < 1e-12);
    tc_tensor *t = tc_matmul(tc_transpose(b, 0, 1), tc_transpose(a, 0, 1));
    cr_expect_leq(tc_max_abs_diff(tc_transpose(t, 0, 1), y), 1e-12);
  }
}

Test(matmul, vectors_and_batches) {
  TC_SCOPE {
    tc_tensor *v = tc_arange(3, 1, 1, TC_F32),
              *m = tc_reshape(tc_arange(6, 0, 1, TC_F32), TC_DIMS(3, 2));
    tc_tensor *dot = tc_matmul(v, v), *row = tc_matmul(v, m),
              *column = tc_matmul(tc_transpose(m, 0, 1), v);
    cr_expect(tc_rank(dot) == 0 && tc_item(dot) == 14);
    cr_expect(tc_rank(row) == 1 && tc_at(row, TC_INTS(0)) == 16 &&
              tc_max_abs_diff(row, column) == 0);
    tc_tensor *a = tc_rand(TC_DIMS(4, 1, 2, 3), 1, TC_F32),
              *b = tc_rand(TC_DIMS(5, 3, 2), 2, TC_F32), *y = tc_matmul(a, b);
    cr_expect(tc_rank(y) == 4 && tc_size(y, 0) == 4 && tc_size(y, 1) == 5);
    tc_tensor *one = tc_matmul(tc_select(tc_select(a, 0, 3), 0, 0), tc_select(b, 0, 4));
    cr_expect_eq(tc_max_abs_diff(tc_select(tc_select(y, 0, 3), 0, 4), one), 0);
    tc_tensor *z = tc_matmul(tc_rand(TC_DIMS(7, 2, 3), 1, TC_F32), v);
    cr_expect(tc_rank(z) == 2 && tc_size(z, 0) == 7 && tc_size(z, 1) == 2);
    tc_tensor *o = tc_outer(v, tc_slice(v, 0, 1, 3, 1));
    cr_expect(tc_size(o, 0) == 3 && tc_at(o, TC_INTS(2, 1)) == 9);
    tc_tensor *one_row = tc_linear(v, tc_transpose(m, 0, 1), NULL);
    cr_expect_eq(tc_max_abs_diff(one_row, row), 0);
  }
}

Test(matmul, mixed_dtypes_and_errors) {
  TC_SCOPE {
    tc_tensor *h = tc_ones(TC_DIMS(2, 3), TC_F16), *i = tc_ones(TC_DIMS(3, 2), TC_I32);
    cr_expect_eq(tc_dtype_of(tc_matmul(h, i)), TC_F16);
    cr_expect_null(tc_matmul(h, h));
    cr_expect(strstr(tc_error(), "tc_matmul: [2,3] x [2,3]"), "%s", tc_error());
  }
}

Test(einsum, is_what_it_says) {
  TC_SCOPE {
    tc_tensor *a = tc_rand(TC_DIMS(3, 4), 1, TC_F64), *b = tc_rand(TC_DIMS(4, 5), 2, TC_F64),
              *s = tc_rand(TC_DIMS(4, 4), 3, TC_F64);
    tc_tensor *batch = tc_rand(TC_DIMS(2, 3, 4), 4, TC_F64), *v = tc_rand(TC_DIMS(4), 5, TC_F64);
    const tc_tensor *ab[] = {a, b}, *ss[] = {s}, *bv[] = {batch, v}, *bb[] = {batch, b},
                    *chain[] = {a, s, b};
    double t = 1e-14;
    cr_expect_leq(tc_max_abs_diff(tc_einsum("ij,jk->ik", ab, 2), tc_matmul(a, b)), t);
    cr_expect_leq(tc_max_abs_diff(tc_einsum("ij,jk", ab, 2), tc_matmul(a, b)), t);
    cr_expect_leq(
        tc_max_abs_diff(tc_einsum("ij, jk -> ki", ab, 2), tc_transpose(tc_matmul(a, b), 0, 1)), t);
    tc_tensor *trace = tc_einsum("ii", ss, 1), *diagonal = tc_einsum("ii->i", ss, 1);
    cr_expect(tc_rank(trace) == 0 &&
              fabs(tc_item(trace) - tc_item(tc_sum(diagonal, TC_ALL, false))) <= t);
    cr_expect_eq(tc_at(diagonal, TC_INTS(2)), tc_at(s, TC_INTS(2, 2)));
    cr_expect_eq(tc_max_abs_diff(tc_einsum("ji", ss, 1), tc_transpose(s, 0, 1)), 0);
    cr_expect_leq(tc_max_abs_diff(tc_einsum("bij,j->bi", bv, 2), tc_matmul(batch, v)), t);
    cr_expect_leq(tc_max_abs_diff(tc_einsum("...ij,jk->...ik", bb, 2), tc_matmul(batch, b)), t);
    cr_expect_leq(
        tc_max_abs_diff(tc_einsum("ij,jk,kl->il", chain, 3), tc_matmul(tc_matmul(a, s), b)),
        t * 10);
    cr_expect_leq(tc_max_abs_diff(tc_einsum("ij->", ab, 1), tc_sum(a, TC_ALL, false)), t);
    cr_expect_null(tc_error());
    cr_expect_null(tc_einsum("ij,kj->q", ab, 2));
  }
}

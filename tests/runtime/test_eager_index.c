/* Indexing by data. */
#include <criterion/criterion.h>
#include <string.h>

#include <tcompile.h>

#include "layouts.h"

static tc_tensor *index_of(tc_dtype d, tc_ints dims, layout l, int64_t size) {
  tc_tensor *v = layout_make(TC_I64, dims, l, 11);
  return tc_cast(tc_remainder_s(v, (double)size), d);
}

static void check_gathers(const tc_tensor *x, tc_dtype d, layout l) {
  for (int axis = 0; axis < 2; axis++) {
    tc_tensor *i = index_of(d, TC_DIMS(4, 3), l, tc_size(x, axis)), *y = tc_gather(x, axis, i);
    tc_tensor *k = index_of(d, TC_DIMS(9), l, tc_size(x, axis)), *z = tc_index_select(x, axis, k);
    cr_assert(y && z, "%s", tc_error());
    tc_ints at = first_index(y);
    do {
      tc_ints from = at;
      from.v[axis] = (int64_t)tc_at(i, at);
      cr_assert_eq(tc_at(y, at), tc_at(x, from));
    } while (next_index(&at, y));
    at = first_index(z);
    do {
      tc_ints from = at;
      from.v[axis] = (int64_t)tc_at(k, TC_INTS(at.v[axis]));
      cr_assert_eq(tc_at(z, at), tc_at(x, from));
    } while (next_index(&at, z));
  }
}

Test(index, gather_and_select_of_every_layout) {
  for (int d = 0; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++)
      for (int m = 0; m < LAYOUT_COUNT; m++) TC_SCOPE {
          check_gathers(layout_make((tc_dtype)d, TC_DIMS(5, 7), (layout)l, 2),
                        m % 2 ? TC_I32 : TC_I64, (layout)m);
        }
}

Test(index, embedding_and_one_hot) {
  TC_SCOPE {
    tc_tensor *w = layout_make(TC_F32, TC_DIMS(6, 5), LAYOUT_TRANSPOSED, 2);
    tc_tensor *i = index_of(TC_I64, TC_DIMS(2, 3), LAYOUT_FLIPPED, 6), *y = tc_embedding(w, i),
              *h = tc_one_hot(i, 6);
    cr_expect(tc_rank(y) == 3 && tc_dtype_of(h) == TC_I64 && tc_size(h, 2) == 6);
    tc_ints at = first_index(y);
    do
      cr_assert_eq(tc_at(y, at),
                   tc_at(w, TC_INTS((int64_t)tc_at(i, TC_INTS(at.v[0], at.v[1])), at.v[2])));
    while (next_index(&at, y));
    cr_expect_eq(tc_max_abs_diff(tc_argmax(h, TC_AXES(2), false), i), 0);
    cr_expect_eq(tc_item(tc_sum(h, TC_ALL, false)), 6);
  }
}

Test(index, scatter_in_order) {
  for (int d = TC_U8; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
      tc_tensor *x = tc_full(TC_DIMS(4), 1, (tc_dtype)d),
                *i = tc_from(TC_DIMS(5), (int64_t[]){2, 0, 2, 3, 2}, TC_I64);
      tc_tensor *v = tc_arange(5, 1, 1, (tc_dtype)d), *set = tc_scatter(x, 0, i, v),
                *add = tc_scatter_add(x, 0, i, v);
      double want_set[] = {2, 1, 5, 4}, want_add[] = {3, 1, 10, 5};
      for (int k = 0; k < 4; k++)
        cr_expect(tc_at(set, TC_INTS(k)) == want_set[k] && tc_at(add, TC_INTS(k)) == want_add[k]);
      cr_expect_eq(tc_at(x, TC_INTS(2)), 1);
    }
}

Test(index, scatter_along_axes) {
  TC_SCOPE {
    tc_tensor *x = tc_zeros(TC_DIMS(3, 4), TC_F32),
              *src = layout_make(TC_F32, TC_DIMS(3, 5), LAYOUT_STEPPED, 6);
    tc_tensor *i = index_of(TC_I32, TC_DIMS(2, 5), LAYOUT_TRANSPOSED, 4),
              *y = tc_scatter_add(x, 1, i, src);
    double sum = 0;
    for (int r = 0; r < 2; r++)
      for (int k = 0; k < 5; k++) sum += tc_at(src, TC_INTS(r, k));
    cr_expect_eq(tc_item(tc_sum(y, TC_ALL, false)), sum);
    cr_expect_eq(tc_item(tc_norm(tc_select(y, 0, 2), 1, TC_ALL, false)), 0);
  }
}

Test(index, out_of_range_is_an_error) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(3, 4), TC_F32), *low = tc_full(TC_DIMS(2), -1, TC_I64),
              *high = tc_full(TC_DIMS(2), 3, TC_I32);
    tc_tensor *wide = tc_full(TC_DIMS(1, 1), 4, TC_I64);
    size_t before = tc_memory().live;
    cr_expect_null(tc_index_select(x, 0, low));
    cr_expect(strstr(tc_error(), "tc_index_select: index -1 is out of range for an axis of size 3"),
              "%s", tc_error());
    tc_tensor *bad[] = {tc_embedding(x, high),
                        tc_gather(x, 1, wide),
                        tc_one_hot(high, 3),
                        tc_scatter(x, 1, wide, x),
                        tc_scatter_add(x, 1, wide, x),
                        tc_nll(tc_slice(x, 0, 0, 2, 1), tc_full(TC_DIMS(2), 4, TC_I64), TC_SUM)};
    for (int i = 0; i < 6; i++) cr_expect_null(bad[i], "%d", i);
    tc_clear_error();
    cr_expect_leq(tc_memory().live, before + 4096); /* only the helpers of the last call */
    cr_expect_null(tc_gather(x, 0, tc_ones(TC_DIMS(1, 1), TC_F32)));
    cr_expect(strstr(tc_error(), "i32 or i64"));
  }
}

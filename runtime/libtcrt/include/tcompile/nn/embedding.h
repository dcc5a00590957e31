/* embedding.h - rows of a table, and sums of them.  tcompile.h has tc_embedding and tc_one_hot. */
#ifndef TCOMPILE_NN_EMBEDDING_H
#define TCOMPILE_NN_EMBEDDING_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* tc_embedding of weight[V,D] and index[...], where row `padding` has no gradient; [...,D]. */
static inline tc_tensor *tc_embedding_padded(const tc_tensor *weight, const tc_tensor *index, int64_t padding) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *rows = tc_embedding(weight, index);
    y = tc_keep(tc_where(tc_unsqueeze(tc_eq_s(index, (double)padding), -1), tc_detach(rows), rows));
  }
  return y;
}

typedef enum tc_bag { TC_BAG_SUM, TC_BAG_MEAN, TC_BAG_MAX } tc_bag;

/* The sum, mean or largest elements of rows of weight[V,D], those of a bag index[B,L]: [B,D].  share[B,L], or NULL: factors of
 * the rows, of sums alone.  Indices `padding` are left out (-1: none); an empty bag is 0. */
static inline tc_tensor *tc_embedding_bag(const tc_tensor *weight, const tc_tensor *index, tc_bag mode, const tc_tensor *share,
                                          int64_t padding) {
  tc_tensor *y = NULL;
  if (!weight || !index) return NULL;
  if (tc_rank(weight) != 2 || tc_rank(index) != 2)
    return TC_NN_FAIL("tc_embedding_bag: a table of %d axes, and indices of %d; both have 2", tc_rank(weight), tc_rank(index));
  if (mode != TC_BAG_SUM && share) return TC_NN_FAIL("tc_embedding_bag: shares are of sums");
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(weight), wide = tc_nn_wide(d);
    const tc_tensor *rows = tc_nn_as(tc_embedding(weight, index), wide), *in = tc_ne_s(index, (double)padding);
    const tc_tensor *mask = tc_unsqueeze(in, -1), *z;
    if (share) rows = tc_mul(rows, tc_unsqueeze(share, -1));
    if (mode == TC_BAG_MAX) {
      const tc_tensor *any = tc_any(mask, TC_AXES(1), false);
      z = tc_max(tc_where(mask, rows, tc_full_like(rows, -INFINITY)), TC_AXES(1), false);
      z = tc_where(any, z, tc_zeros_like(z));
    } else {
      z = tc_sum(tc_where(mask, rows, tc_zeros_like(rows)), TC_AXES(1), false);
      if (mode == TC_BAG_MEAN) z = tc_div(z, tc_maximum_s(tc_sum(tc_cast(mask, wide), TC_AXES(1), false), 1));
    }
    y = tc_keep(tc_cast(z, d));
  }
  return y;
}

/* Bags of any size: bag b is index[offset[b]], ..., index[offset[b + 1] - 1], of index[N]; offset[B] grows from 0 on.  The sum or
 * mean: [B,D].  share[N], or NULL: factors of the rows, of sums alone. */
static inline tc_tensor *tc_embedding_bag_offsets(const tc_tensor *weight, const tc_tensor *index, const tc_tensor *offset,
                                                  tc_bag mode, const tc_tensor *share) {
  tc_tensor *y = NULL;
  if (!weight || !index || !offset) return NULL;
  if (tc_rank(weight) != 2 || tc_rank(index) != 1 || tc_rank(offset) != 1)
    return TC_NN_FAIL("tc_embedding_bag_offsets: a table of %d axes, not 2, indices and offsets of %d and %d, not 1",
                      tc_rank(weight), tc_rank(index), tc_rank(offset));
  if (mode == TC_BAG_MAX || (mode != TC_BAG_SUM && share))
    return TC_NN_FAIL("tc_embedding_bag_offsets: of sums and means, and shares of sums");
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(weight), wide = tc_nn_wide(d);
    const int64_t n = tc_size(index, 0), bags = tc_size(offset, 0), width = tc_size(weight, 1);
    const tc_tensor *rows = tc_nn_as(tc_embedding(weight, index), wide), *place = tc_arange(n, 0, 1, TC_I64);
    const tc_tensor *begun = tc_le(offset, tc_reshape(place, TC_DIMS(n, 1))); /* [N,B] */
    const tc_tensor *bag = tc_sub_s(tc_sum(begun, TC_AXES(1), true), 1);
    if (share) rows = tc_mul(rows, tc_unsqueeze(share, -1));
    tc_tensor *z = tc_scatter_add(tc_zeros(TC_DIMS(bags, width), wide), 0, tc_expand(bag, TC_DIMS(n, width)), rows);
    if (mode == TC_BAG_MEAN) {
      const tc_tensor *mine = tc_eq(tc_arange(bags, 0, 1, TC_I64), bag); /* [N,B] */
      const tc_tensor *count = tc_maximum_s(tc_sum(tc_cast(mine, wide), TC_AXES(0), false), 1);
      z = tc_div(z, tc_unsqueeze(count, -1));
    }
    y = tc_keep(tc_cast(z, d));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif

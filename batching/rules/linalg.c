/* linalg.c - products of matrices: as few and as large ones as the operands allow. */
#include "batching/rules.h"

/* Of a column and a row, as gradients with respect to the weights of one example are: element by
 * element, so that what reads it may be the same kernel. */
static tc_ref product(const tc_bat *b, tc_ref x, tc_ref y) {
  if (!x.id || !y.id) return (tc_ref){0};
  const tc_type *s = tc_graph_type(b->c.g, x), *t = tc_graph_type(b->c.g, y);
  const bool outer = s->rank > 1 && t->rank > 1 && tc_dim_is(s->dim[s->rank - 1], 1);
  return dc2(&b->c, outer ? OP_MUL : OP_MATMUL, x, y);
}

/* Mapped operand i as a matrix behind the batch and `leading` more axes: a vector is a row (in
 * front) or a column. */
static tc_ref as_matrix(const tc_bat *b, int i, int leading) {
  const tc_type *t = bt_type(b, i);
  tc_type m = {.rank = 2, .dim = {tc_dim_const(1), tc_dim_const(1)}};
  if (t->rank == 1) m.dim[i == 0] = t->dim[0];
  else m = *t;
  tc_dim dims[TC_MAX_RANK];
  const int rank = leading + 2;
  for (int k = 0; k < rank; k++)
    dims[k] = k < rank - m.rank ? tc_dim_const(1) : m.dim[k - (rank - m.rank)];
  return bt_reshape(b, b->in[i], rank, dims);
}

/* A matrix, or vectors, times one that is the same for all: the examples are rows of one
 * product. */
static tc_ref with_shared(const tc_bat *b, int rank_a, int rank_b) {
  if (!b->mapped[1] && rank_b <= 2) return product(b, b->in[0], b->in[1]);
  if (b->mapped[0] || rank_b != 1 || rank_a > 2) return (tc_ref){0};
  const tc_ref a =
      rank_a == 2 ? tc_build_permute(b->c.g, b->in[0], 2, (const int[]){1, 0}, b->c.loc) : b->in[0];
  return product(b, b->in[1], a);
}

/* Leading axes of one example broadcast, so the batch comes in front of as many as the result
 * has. */
tc_ref tc_bat_matmul(const tc_bat *b) {
  const int rank_a = bt_rank(b, 0), rank_b = bt_rank(b, 1),
            most = rank_a > rank_b ? rank_a : rank_b;
  const int leading = most > 2 ? most - 2 : 0;
  const tc_ref shared = with_shared(b, rank_a, rank_b);
  if (shared.id) return shared;
  const tc_ref x = b->mapped[0] ? as_matrix(b, 0, leading) : b->in[0],
               y = b->mapped[1] ? as_matrix(b, 1, leading) : b->in[1];
  return bt_reshape(b, product(b, x, y), b->n->type.rank, b->n->type.dim);
}

/* ---- linear: x w^T + bias -------------------------------------------------------------------- */

/* x[.., I] as [rows, I] behind the batch, times w[B, O, I] transposed; [B, .., O] */
static tc_ref own_weights(const tc_bat *b, tc_ref x, tc_ref w) {
  const tc_type *t = bt_type(b, 0), *y = &b->n->type;
  const dc_axes front = {t->rank - 1, {0, 1, 2, 3, 4, 5, 6, 7}};
  tc_dim rows[2] = {dc_numel(&b->c, b->n->in[0], &front), t->dim[t->rank - 1]};
  x = b->mapped[0] ? bt_reshape(b, x, 2, rows) : dc_reshape(&b->c, x, 2, rows);
  return bt_reshape(b, product(b, x, bt_permute(b, w, 2, 1)), y->rank, y->dim);
}

/* Rounds once, behind the bias, as the decomposition does. */
tc_ref tc_bat_linear(const tc_bat *b) {
  const bool has_bias = b->n->nin > 2 && b->in[2].id, own_bias = has_bias && b->mapped[2];
  if (!b->mapped[1] && !own_bias) return bt_build(b, b->in, 0, NULL);
  const dc c = {b->c.g, b->c.loc, has_bias ? bt_wide(b) : b->c.dtype, false};
  const tc_ref x = dc_in(&c, b->in[0]), w = dc_in(&c, b->in[1]);
  tc_ref y = b->mapped[1] ? own_weights(b, x, w) : dc2(&c, OP_LINEAR, x, w);
  if (has_bias) y = dc2(&c, OP_ADD, y, dc_in(&c, bt_aligned(b, 2, b->n->type.rank)));
  return dc_out(&c, b->n, y);
}

/* y[i,j] = x[i] z[j] */
tc_ref tc_bat_outer(const tc_bat *b) {
  const tc_ref x = bt_axis(b, OP_UNSQUEEZE, b->in[0], -1),
               z = bt_axis(b, OP_UNSQUEEZE, b->in[1], -2);
  return dc_out(&b->c, b->n, dc2(&b->c, OP_MUL, x, z));
}

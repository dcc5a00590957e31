/* index.c - indexing by data, where indices or what they pick differ from example to example. */
#include "batching/rules.h"

static tc_ref gather(const tc_bat *b, tc_ref x, tc_ref index, int axis) {
  return dc_axis_op(&b->c, OP_GATHER, 2, (tc_ref[]){x, index}, axis);
}

/* x[.., index[j], ..], as index_select has it, for an index of one axis */
static tc_ref selected(const tc_bat *b, tc_ref x, tc_ref index, int axis) {
  return dc_axis_op(&b->c, OP_INDEX_SELECT, 2, (tc_ref[]){x, index}, axis);
}

/* One array, an index of each example: all indices in one row, then the batch moves to the
 * front. */
static tc_ref of_one(const tc_bat *b, tc_ref x, tc_ref index, int axis) {
  tc_dims *dims = tc_graph_dims(b->c.g);
  const tc_dim n = tc_graph_type(b->c.g, index)->dim[1], flat = tc_dim_mul(dims, b->size, n);
  tc_ref y = selected(b, x, dc_reshape(&b->c, index, 1, &flat), axis);
  tc_type t = *tc_graph_type(b->c.g, x);
  for (int i = t.rank; i > axis + 1; i--) t.dim[i] = t.dim[i - 1];
  t.dim[axis] = b->size;
  t.dim[axis + 1] = n;
  return bt_permute(b, dc_reshape(&b->c, y, t.rank + 1, t.dim), axis, 0);
}

/* x[B, .., axis, ..] with index[B, n]: as many copies of the index as there are elements beside the
 * axis */
static tc_ref of_each(const tc_bat *b, tc_ref x, tc_ref index, int axis) {
  tc_type t = *tc_graph_type(b->c.g, x);
  tc_dim narrow[TC_MAX_RANK];
  for (int i = 0; i < t.rank; i++) narrow[i] = i ? tc_dim_const(1) : b->size;
  narrow[axis] = t.dim[axis] = tc_graph_type(b->c.g, index)->dim[1];
  index = dc_reshape(&b->c, index, t.rank, narrow);
  return gather(b, x, tc_build_expand(b->c.g, index, t.rank, t.dim, b->c.loc), axis);
}

tc_ref tc_bat_index_select(const tc_bat *b) {
  const int axis = dc_axis(b->n, "axis", bt_rank(b, 0));
  if (!b->mapped[1]) return selected(b, b->in[0], b->in[1], axis + 1);
  return b->mapped[0] ? of_each(b, b->in[0], b->in[1], axis + 1)
                      : of_one(b, b->in[0], b->in[1], axis);
}

/* Rows of the weights [V,D]: their shape is that of the index, and D. */
tc_ref tc_bat_embedding(const tc_bat *b) {
  const int rank = bt_rank(b, 1);
  const dc_axes all = dc_last(rank, rank);
  if (!b->mapped[0]) return bt_build(b, b->in, 0, NULL);
  const tc_dim n = dc_numel(&b->c, b->n->in[1], &all);
  tc_ref y = b->mapped[1] ? of_each(b, b->in[0], bt_reshape(b, b->in[1], 1, &n), 1)
                          : selected(b, b->in[0], dc_reshape(&b->c, b->in[1], 1, &n), 1);
  return bt_reshape(b, y, b->n->type.rank, b->n->type.dim);
}

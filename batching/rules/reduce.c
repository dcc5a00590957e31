/* reduce.c - reductions, and what works along one axis: axes are those behind the batch. */
#include "batching/rules.h"

/* The node's attributes with these axes in place of its list, which is the first of them. */
static int with_axes(const tc_bat *b, const dc_axes *axes, tc_dim *attr) {
  const int old = (int)tc_dim_value(b->n->attr[0]);
  int n = 0;
  attr[n++] = tc_dim_const(axes->n);
  for (int i = 0; i < axes->n; i++) attr[n++] = tc_dim_const(axes->at[i] + 1);
  for (int i = 1 + old; i < b->n->nattr; i++) attr[n++] = b->n->attr[i];
  return n;
}

static tc_ref reduced(const tc_bat *b, tc_ref x, const dc_axes *axes, bool drop) {
  tc_ref in[2] = {x, b->n->nin > 1 ? b->in[1] : (tc_ref){0}};
  tc_dim attr[2 * TC_MAX_RANK + 2];
  const int n = with_axes(b, axes, attr);
  if (drop) attr[n - 1] = tc_dim_const(false); /* keep */
  return bt_build(b, in, n, attr);
}

/* Numbers are reduced along an axis of their own. */
tc_ref tc_bat_reduce(const tc_bat *b) {
  const tc_dim one = tc_dim_const(1);
  const int rank = bt_rank(b, 0);
  if (rank) {
    const dc_axes axes = dc_reduced(b->n, rank);
    return reduced(b, b->in[0], &axes, false);
  }
  return reduced(b, bt_reshape(b, b->in[0], 1, &one), &(dc_axes){1, {0}}, true);
}

/* Each result with the node's shape behind the batch. */
static tc_ref restored(const tc_bat *b, tc_ref r) {
  tc_ref part[TC_MAX_RESULTS];
  if (!r.id || b->n->nresult == 1)
    return r.id ? bt_reshape(b, r, b->n->type.rank, b->n->type.dim) : r;
  for (int k = 0; k < b->n->nresult; k++)
    part[k] = bt_reshape(b, tc_build_result(b->c.g, r, k, b->c.loc), b->n->result[k].rank,
                         b->n->result[k].dim);
  return tc_build_tuple(b->c.g, b->n->nresult, part, b->c.loc);
}

/* Without an axis the position is that among all elements, in row-major order. */
tc_ref tc_bat_position(const tc_bat *b) {
  const int rank = bt_rank(b, 0);
  const dc_axes axes = dc_reduced(b->n, rank), all = dc_last(rank, rank);
  if (axes.n == 1 && rank) return reduced(b, b->in[0], &axes, false);
  const tc_dim count = dc_numel(&b->c, b->n->in[0], &all);
  return restored(b, reduced(b, bt_reshape(b, b->in[0], 1, &count), &(dc_axes){1, {0}}, true));
}

/* ---- one axis -------------------------------------------------------------------------------- */

/* The node's op along the axis of that number. */
static tc_ref along(const tc_bat *b, const tc_ref *in, int64_t axis) {
  const tc_op op = b->n->op;
  /* the attribute that is the axis */
  const int at = op == OP_ROLL || op == OP_ORDER || op == OP_TOPK;
  tc_dim attr[4];
  for (int i = 0; i < b->n->nattr; i++) attr[i] = b->n->attr[i];
  attr[at] = tc_dim_const(axis);
  return bt_build(b, in, b->n->nattr, attr);
}

static tc_ref shifted(const tc_bat *b, const tc_ref *in) {
  return along(b, in, tc_dim_value(tc_attr_int(b->n, "axis")) + 1);
}

tc_ref tc_bat_along(const tc_bat *b) { return shifted(b, b->in); }

/* A number is an axis of size 1. */
tc_ref tc_bat_line(const tc_bat *b) {
  const tc_dim one = tc_dim_const(1);
  if (bt_rank(b, 0)) return shifted(b, b->in);
  const tc_ref x = bt_reshape(b, b->in[0], 1, &one);
  return restored(b, along(b, &x, 1));
}

/* Operands side by side along an axis, or index and indexed: each has the batch. */
tc_ref tc_bat_together(const tc_bat *b) {
  tc_ref all[255];
  for (int i = 0; i < b->n->nin; i++) all[i] = bt_all(b, i);
  return shifted(b, all);
}

/* nn.c - normalisations and losses. */
#include "batching/rules.h"

/* ---- over the last axes ---------------------------------------------------------------------- */

/* With weights of each example: without them first, in the dtype that the op computes in. */
static tc_ref with_own_weights(const tc_bat *b) {
  const dc c = {b->c.g, b->c.loc, bt_wide(b), false};
  const int rank = bt_rank(b, 0), last = b->n->nin - 1; /* the operand eps */
  tc_ref in[4] = {dc_in(&c, b->in[0])};
  in[last] = b->in[last];
  tc_ref y = bt_build(b, in, b->n->nattr, b->n->attr);
  if (b->in[1].id) y = dc2(&c, OP_MUL, y, dc_in(&c, bt_aligned(b, 1, rank)));
  if (last > 2 && b->in[2].id) y = dc2(&c, OP_ADD, y, dc_in(&c, bt_aligned(b, 2, rank)));
  return dc_out(&c, b->n, y);
}

tc_ref tc_bat_norm_last(const tc_bat *b) {
  const bool own = b->mapped[1] || (b->n->nin > 3 && b->mapped[2]);
  return own ? with_own_weights(b) : bt_build(b, b->in, b->n->nattr, b->n->attr);
}

/* ---- batch_norm: x[N,C,..] and statistics [C] ------------------------------------------------ */

/* Statistics that are the same for all: examples are more of the first axis. */
static tc_ref more_rows(const tc_bat *b) {
  tc_type t = *bt_type(b, 0);
  tc_ref in[6];
  t.dim[0] = tc_dim_mul(tc_graph_dims(b->c.g), b->size, t.dim[0]);
  for (int i = 0; i < 6; i++) in[i] = b->in[i];
  in[0] = dc_reshape(&b->c, b->in[0], t.rank, t.dim);
  return bt_reshape(b, bt_build(b, in, 0, NULL), b->n->type.rank, b->n->type.dim);
}

/* Those of each example: examples are more channels. */
static tc_ref more_channels(const tc_bat *b) {
  tc_type t = *bt_type(b, 0);
  tc_ref in[6];
  const tc_dim channels = t.dim[1] = tc_dim_mul(tc_graph_dims(b->c.g), b->size, t.dim[1]);
  in[0] = dc_reshape(&b->c, bt_permute(b, bt_all(b, 0), 0, 1), t.rank, t.dim);
  for (int i = 1; i < 5; i++) {
    in[i] = bt_all(b, i);
    if (in[i].id) in[i] = dc_reshape(&b->c, in[i], 1, &channels);
  }
  in[5] = b->in[5];
  tc_ref y = bt_build(b, in, 0, NULL);
  tc_dim apart[TC_MAX_RANK + 1] = {t.dim[0], b->size};
  for (int i = 1; i < t.rank; i++) apart[1 + i] = b->n->type.dim[i];
  return bt_permute(b, dc_reshape(&b->c, y, t.rank + 1, apart), 1, 0);
}

tc_ref tc_bat_batch_norm(const tc_bat *b) {
  const bool own = b->mapped[1] || b->mapped[2] || b->mapped[3] || b->mapped[4];
  return own ? more_channels(b) : more_rows(b);
}

/* ---- losses ---------------------------------------------------------------------------------- */

enum { LOSS_NONE, LOSS_MEAN, LOSS_SUM }; /* values of the attribute: tc_reduction */

static int64_t reduction(const tc_bat *b) { return tc_dim_value(tc_attr_int(b->n, "reduction")); }

/* The loss of each element, from operands that are widened where they are added up behind it. */
static tc_ref each(const tc_bat *b, tc_ref x, tc_ref y, bool widen_both) {
  const dc c = {b->c.g, b->c.loc, bt_wide(b), false};
  const tc_dim none = tc_dim_const(LOSS_NONE);
  if (reduction(b) != LOSS_NONE) {
    x = dc_in(&c, x);
    if (widen_both) y = dc_in(&c, y);
  }
  return bt_build(b, (tc_ref[]){x, y}, 1, &none);
}

/* Added up over all axes but that of the batch. */
static tc_ref per_example(const tc_bat *b, tc_ref loss) {
  int axes[TC_MAX_RANK];
  if (!loss.id) return loss;
  const int rank = tc_graph_type(b->c.g, loss)->rank;
  for (int i = 1; i < rank; i++) axes[i - 1] = i;
  if (rank > 1 && reduction(b) != LOSS_NONE)
    loss = tc_build_reduce(b->c.g, reduction(b) == LOSS_MEAN ? OP_MEAN : OP_SUM, loss, rank - 1,
                           axes, false, b->c.loc);
  return dc_out(&b->c, b->n, loss);
}

/* x[N,C] with target[N]: examples are more rows; x[C]: they are the rows. */
tc_ref tc_bat_nll(const tc_bat *b) {
  const tc_ref x = bt_all(b, 0), target = bt_all(b, 1);
  const tc_type *t = bt_type(b, 0);
  if (t->rank == 1) return per_example(b, each(b, x, target, false));
  const tc_dim rows = tc_dim_mul(tc_graph_dims(b->c.g), b->size, t->dim[0]),
               both[2] = {rows, t->dim[1]};
  const tc_ref loss =
      each(b, dc_reshape(&b->c, x, 2, both), dc_reshape(&b->c, target, 1, &rows), false);
  return per_example(b, bt_reshape(b, loss, 1, t->dim));
}

/* Operands broadcast. */
tc_ref tc_bat_pair_loss(const tc_bat *b) {
  const int a = bt_rank(b, 0), c = bt_rank(b, 1), rank = a > c ? a : c;
  return per_example(b, each(b, bt_aligned(b, 0, rank), bt_aligned(b, 1, rank), true));
}

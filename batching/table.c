/* table.c - the table of rules, and the vocabulary they share. */
#include "batching/batching.h"
#include "batching/rules.h"

#include <stddef.h>

#define IN(i) (1 << (i))

static const tc_bat_rule rule[OP_COUNT] = {
#define TC_BATCH(id, f, set) [OP_##id] = {tc_bat_##f, set, NULL},
#define TC_NO_BATCH(id, text) [OP_##id] = {NULL, 0, text},
#include "batching/rules.def"
};

static const tc_bat_rule elementwise = {tc_bat_elementwise, 255, NULL};

const tc_bat_rule *tc_bat_rule_of(tc_op op) {
  const tc_op_info *info = tc_op_get(op);
  const tc_bat_rule *r = &rule[info ? op : OP_NONE];
  return !r->fn && !r->why && info && info->cls == TC_CLASS_EW ? &elementwise : r;
}

const char *tc_batch_refusal(tc_op op, int operand) {
  const tc_bat_rule *r = tc_bat_rule_of(op);
  if (!r->fn) return r->why;
  const bool may = r->operands >> (operand < 7 ? operand : 7) & 1;
  return may ? NULL : "that operand is one number for all examples";
}

/* ---- vocabulary ------------------------------------------------------------------------------ */

const tc_type *bt_type(const tc_bat *b, int i) { return tc_graph_type(b->c.g, b->n->in[i]); }
int bt_rank(const tc_bat *b, int i) { return bt_type(b, i)->rank; }

tc_ref bt_build(const tc_bat *b, const tc_ref *in, int nattr, const tc_dim *attr) {
  return tc_build(b->c.g, b->n->op, b->n->nin, in, nattr, attr, NULL, b->c.loc);
}

int bt_dims(const tc_bat *b, int rank, const tc_dim *dims, tc_dim *out) {
  out[0] = b->size;
  for (int i = 0; i < rank && i < TC_MAX_RANK; i++) out[1 + i] = dims[i];
  return rank + 1;
}

tc_ref bt_reshape(const tc_bat *b, tc_ref all, int rank, const tc_dim *dims) {
  tc_dim to[TC_MAX_RANK + 1];
  const int n = bt_dims(b, rank, dims, to);
  return dc_reshape(&b->c, all, n, to);
}

tc_ref bt_aligned(const tc_bat *b, int i, int rank) {
  tc_dim dims[TC_MAX_RANK];
  if (!b->in[i].id || !b->mapped[i]) return b->in[i];
  const tc_type *t = bt_type(b, i);
  for (int k = 0; k < rank; k++)
    dims[k] = k < rank - t->rank ? tc_dim_const(1) : t->dim[k - (rank - t->rank)];
  return bt_reshape(b, b->in[i], rank, dims);
}

tc_ref bt_all(const tc_bat *b, int i) {
  tc_dim dims[TC_MAX_RANK + 1];
  if (!b->in[i].id || b->mapped[i]) return b->in[i];
  const int n = bt_dims(b, bt_rank(b, i), bt_type(b, i)->dim, dims);
  return tc_build_expand(b->c.g, b->in[i], n, dims, b->c.loc);
}

tc_ref bt_axis(const tc_bat *b, tc_op op, tc_ref x, int axis) {
  return dc_axis_op(&b->c, op, 1, &x, axis);
}

tc_ref bt_permute(const tc_bat *b, tc_ref x, int from, int to) {
  int axes[TC_MAX_RANK];
  if (!x.id || from == to) return x;
  const int rank = tc_graph_type(b->c.g, x)->rank;
  for (int i = 0, k = 0; i < rank; i++) {
    k += k == from;
    axes[i] = i == to ? from : k++;
  }
  return tc_build_permute(b->c.g, x, rank, axes, b->c.loc);
}

tc_dtype bt_wide(const tc_bat *b) {
  const uint8_t d = b->n->type.dtype;
  return d == TC_F16 || d == TC_BF16 ? TC_F32 : (tc_dtype)d;
}

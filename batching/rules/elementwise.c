/* elementwise.c - ops whose axes count from the right, and what makes or bundles values. */
#include "batching/rules.h"

/* Axes align at the right, so that what has fewer gets axes of size 1 behind the batch. */
tc_ref tc_bat_elementwise(const tc_bat *b) {
  tc_ref in[3];
  int rank = 0;
  for (int i = 0; i < b->n->nin; i++)
    if (b->in[i].id && bt_rank(b, i) > rank) rank = bt_rank(b, i);
  for (int i = 0; i < b->n->nin; i++) in[i] = bt_aligned(b, i, rank);
  return bt_build(b, in, b->n->nattr, b->n->attr);
}

/* A number for each example, everywhere in it. */
tc_ref tc_bat_full(const tc_bat *b) {
  tc_dim dims[TC_MAX_RANK + 1];
  const tc_type *t = &b->n->type;
  const tc_ref value = dc_out(&b->c, b->n, bt_aligned(b, 0, t->rank));
  const int n = bt_dims(b, t->rank, t->dim, dims);
  return tc_build_expand(b->c.g, value, n, dims, b->c.loc);
}

tc_ref tc_bat_tuple(const tc_bat *b) {
  tc_ref all[255];
  for (int i = 0; i < b->n->nin; i++) all[i] = bt_all(b, i);
  return tc_build_tuple(b->c.g, b->n->nin, all, b->c.loc);
}

tc_ref tc_bat_result(const tc_bat *b) {
  return tc_build_result(b->c.g, b->in[0], (int)tc_dim_value(tc_attr_int(b->n, "index")), b->c.loc);
}

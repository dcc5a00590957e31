/* view.c - views, and what moves elements. */
#include "batching/rules.h"

tc_ref tc_bat_reshape(const tc_bat *b) {
  return bt_reshape(b, b->in[0], b->n->type.rank, b->n->type.dim);
}

/* A list of axes, each one further to the right. */
static int axes_behind(const tc_bat *b, int *to) {
  const tc_dim *axes;
  const int n = tc_attr_list(b->n, "axes", &axes);
  for (int i = 0; i < n; i++) to[i] = (int)tc_dim_value(axes[i]) + 1;
  return n;
}

tc_ref tc_bat_permute(const tc_bat *b) {
  int axes[TC_MAX_RANK + 1] = {0};
  const int n = axes_behind(b, axes + 1);
  return tc_build_permute(b->c.g, b->in[0], n + 1, axes, b->c.loc);
}

/* No axes at all would be every one of them. */
tc_ref tc_bat_flip(const tc_bat *b) {
  int axes[TC_MAX_RANK];
  const int n = axes_behind(b, axes);
  tc_dim attr[TC_MAX_RANK + 1] = {tc_dim_const(n)};
  for (int i = 0; i < n; i++) attr[1 + i] = tc_dim_const(axes[i]);
  return n ? bt_build(b, b->in, n + 1, attr) : b->in[0];
}

tc_ref tc_bat_transpose(const tc_bat *b) {
  const tc_dim attr[2] = {tc_dim_const(tc_dim_value(b->n->attr[0]) + 1),
                          tc_dim_const(tc_dim_value(b->n->attr[1]) + 1)};
  return bt_build(b, b->in, 2, attr);
}

/* The list of n entries, with `front` for the batch. */
static int in_front(int64_t front, int n, const tc_dim *list, tc_dim *attr) {
  attr[0] = tc_dim_const(n + 1);
  attr[1] = tc_dim_const(front);
  for (int i = 0; i < n && i < TC_MAX_RANK; i++) attr[2 + i] = list[i];
  return n + 2;
}

tc_ref tc_bat_expand(const tc_bat *b) {
  tc_dim dims[TC_MAX_RANK + 1];
  const tc_type *t = &b->n->type;
  const int n = bt_dims(b, t->rank, t->dim, dims);
  return tc_build_expand(b->c.g, bt_aligned(b, 0, t->rank), n, dims, b->c.loc);
}

tc_ref tc_bat_repeat(const tc_bat *b) {
  tc_dim attr[TC_MAX_RANK + 2];
  const tc_dim *times;
  const int rank = tc_attr_list(b->n, "times", &times);
  const tc_ref x = bt_aligned(b, 0, rank);
  return bt_build(b, &x, in_front(1, rank, times, attr), attr);
}

tc_ref tc_bat_pad(const tc_bat *b) {
  tc_dim attr[2 * TC_MAX_RANK + 4];
  const tc_dim *before, *after;
  const int rank = tc_attr_list(b->n, "before", &before);
  tc_attr_list(b->n, "after", &after);
  const int n = in_front(0, rank, before, attr);
  return bt_build(b, b->in, n + in_front(0, rank, after, attr + n), attr);
}

tc_ref tc_bat_put(const tc_bat *b) {
  tc_dim attr[2 * TC_MAX_RANK + 4];
  const tc_ref all[2] = {bt_all(b, 0), bt_all(b, 1)};
  const tc_dim *first, *step;
  const int rank = tc_attr_list(b->n, "first", &first);
  tc_attr_list(b->n, "step", &step);
  const int n = in_front(0, rank, first, attr);
  return bt_build(b, all, n + in_front(1, rank, step, attr + n), attr);
}

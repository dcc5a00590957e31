/* Attributes of nodes: finding one by its name in the schema, and the canonical form that makes
 * equal meanings equal nodes. */
#include "graph/graph_impl.h"

#include <string.h>

/* Position of attribute `name` in the flat list, and its kind; -1: none.  attr may be any list that
 * follows the schema. */
static int find_attr(tc_op op, const tc_dim *attr, const char *name, char *kind) {
  size_t length = strlen(name);
  int k = 0;
  for (const char *s = tc_op_get(op)->attrs; *s; s += strcspn(s, " "), s += *s == ' ') {
    size_t n = strcspn(s, ":");
    if (n == length && !memcmp(s, name, n)) return *kind = s[n + 1], k;
    k += s[n + 1] == 'I' ? 1 + (int)tc_dim_value(attr[k]) : 1;
  }
  return -1;
}

tc_dim tc_attr_int(const tc_node *n, const char *name) {
  char kind;
  int k = find_attr(n->op, n->attr, name, &kind);
  return k < 0 || kind == 'I' ? TC_DIM_INVALID : n->attr[k];
}

int tc_attr_list(const tc_node *n, const char *name, const tc_dim **items) {
  char kind;
  int k = find_attr(n->op, n->attr, name, &kind);
  *items = NULL;
  if (k < 0 || kind != 'I') return 0;
  *items = n->attr + k + 1;
  return (int)tc_dim_value(n->attr[k]);
}

static void canonical_axis(tc_dim *axis, int rank) {
  if (tc_dim_is_const(*axis) && tc_dim_value(*axis) < 0)
    *axis = tc_dim_const(tc_dim_value(*axis) + rank);
}

static void canonical_axes(tc_dim *list, int rank, bool sort) {
  int64_t n = tc_dim_value(list[0]);
  for (int64_t i = 1; i <= n; i++) {
    canonical_axis(&list[i], rank);
    for (int64_t j = i; sort && j > 1 && list[j].bits < list[j - 1].bits; j--) {
      tc_dim t = list[j];
      list[j] = list[j - 1];
      list[j - 1] = t;
    }
  }
}

/* Resolves start and stop where the sizes tell enough that the slice stays the same. */
static void canonical_slice(tc_dims *c, const tc_type *x, tc_dim *attr) {
  tc_dim size = x->dim[tc_dim_value(attr[0])], zero = tc_dim_const(0), start, length, again[2];
  int64_t step = tc_dim_value(attr[3]);
  if (!tc_slice_bounds(c, size, attr[1], attr[2], step, &start, &length)) return;
  tc_dim stop = tc_dim_add(c, start, tc_dim_mul(c, length, attr[3]));
  if (step > 0) stop = tc_dim_min(c, stop, size);
  else if (tc_dim_known_le(c, stop, tc_dim_const(-1))) stop = tc_dim_const(-TC_SLICE_ALL);
  if (tc_dim_is(length, 0)) start = stop = zero;
  if (tc_dim_bad(stop) || !tc_dim_known_le(c, zero, start)) return;
  /* what might count from the end would be assumed not to */
  if (!tc_dim_is(stop, -TC_SLICE_ALL) && !tc_dim_known_le(c, zero, stop)) return;
  bool resolved = tc_slice_bounds(c, size, start, stop, step, &again[0], &again[1]);
  if (!resolved || !tc_dim_same(again[1], length)) return;
  attr[1] = start;
  attr[2] = stop;
}

/* A scalar has no axes to go along: the list becomes empty, and what is behind it moves up. */
static int no_axes(tc_dim *list, int nattr, int k) {
  const int n = (int)tc_dim_value(list[k]);
  list[k] = tc_dim_const(0);
  for (int i = k + 1; i + n < nattr; i++) list[i] = list[i + n];
  return nattr - n;
}

/* An empty list flips every axis, as a reduction's reduces all. */
static int every_axis(const tc_type *x, tc_dim *attr) {
  attr[0] = tc_dim_const(x->rank);
  for (int i = 0; i < x->rank; i++) attr[1 + i] = tc_dim_const(i);
  return 1 + x->rank;
}

int tc_attr_canonical(tc_dims *c, tc_op op, const tc_type *x, const tc_type *result, int nattr,
                      tc_dim *attr) {
  char kind;
  int k;
  switch (op) {
  case OP_RESHAPE:
  case OP_EXPAND:
    for (int i = 0; i < result->rank; i++) attr[1 + i] = result->dim[i];
    return nattr;
  case OP_TRANSPOSE:
  case OP_FLATTEN:
    canonical_axis(&attr[0], x->rank ? x->rank : 1);
    canonical_axis(&attr[1], x->rank ? x->rank : 1);
    return nattr;
  case OP_UNSQUEEZE:
  case OP_STACK:
    canonical_axis(&attr[0], x->rank + 1);
    return nattr;
  case OP_PERMUTE:
    canonical_axes(attr, x->rank, false);
    return nattr;
  case OP_FLIP:
    if (tc_dim_is(attr[0], 0)) return every_axis(x, attr);
    break;
  default:
    break;
  }
  if ((k = find_attr(op, attr, "axes", &kind)) >= 0) {
    if (!x->rank) return no_axes(attr, nattr, k);
    canonical_axes(attr + k, x->rank, true);
  }
  if ((k = find_attr(op, attr, "axis", &kind)) >= 0)
    canonical_axis(&attr[k], x->rank ? x->rank : 1);
  if (op == OP_SLICE) canonical_slice(c, x, attr);
  if (op == OP_SELECT && tc_dim_known_le(c, attr[1], tc_dim_const(-1)))
    attr[1] = tc_dim_add(c, attr[1], x->dim[tc_dim_value(attr[0])]);
  return nattr;
}

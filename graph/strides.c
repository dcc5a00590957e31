/* strides.c - see strides.h; the rules are those of libtcrt's eager_view.c. */
#include "graph/strides.h"
#include "graph/view.h"

tc_strides tc_strides_row_major(tc_dims *dims, const tc_type *t) {
  tc_strides s;
  tc_dim stride = tc_dim_const(1);
  for (int i = t->rank - 1; i >= 0; i--) {
    s.at[i] = stride;
    stride = tc_dim_mul(dims, stride, t->dim[i]);
  }
  return s;
}

static bool is_row_major(tc_dims *dims, const tc_type *t, const tc_strides *s) {
  tc_strides plain = tc_strides_row_major(dims, t);
  for (int i = 0; i < t->rank; i++)
    if (!tc_dim_is(t->dim[i], 1) && !tc_dim_same(plain.at[i], s->at[i])) return false;
  return true;
}

/* The group's axes of `from`, which have to be evenly spaced, become those of `to`. */
static bool regroup(tc_dims *dims, const tc_type *from, const tc_strides *s, const tc_view_group *g,
                    const tc_type *to, tc_strides *out) {
  tc_dim step = tc_dim_const(1), next = step;
  bool any = false;
  for (int k = g->i_end - 1; k >= g->i; k--) {
    if (tc_dim_is(from->dim[k], 1)) continue;
    if (any && !tc_dim_same(s->at[k], next)) return false;
    if (!any) step = s->at[k];
    any = true;
    next = tc_dim_mul(dims, s->at[k], from->dim[k]);
  }
  for (int k = g->j_end - 1; k >= g->j; k--) {
    out->at[k] = step;
    step = tc_dim_mul(dims, step, to->dim[k]);
  }
  return true;
}

static bool reshape(tc_dims *dims, const tc_type *from, const tc_type *to, tc_strides *s) {
  tc_strides out = {0};
  for (tc_view_group g = {0}; tc_view_has_group(from, to, &g);)
    if (!tc_view_next_group(dims, from, to, &g) || !regroup(dims, from, s, &g, to, &out))
      return false;
  *s = out;
  return true;
}

static int axis_of(const tc_node *n, const char *name) {
  return (int)tc_dim_value(tc_attr_int(n, name));
}

static void permute(const tc_node *n, tc_strides *s) {
  const tc_strides old = *s;
  const tc_dim *axes;
  int count = tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < count; i++) s->at[i] = old.at[tc_dim_value(axes[i])];
}

static void expand(const tc_node *n, const tc_type *from, tc_strides *s) {
  const tc_strides old = *s;
  int lead = n->type.rank - from->rank;
  for (int i = 0; i < n->type.rank; i++) {
    bool repeats = i < lead || !tc_dim_same(from->dim[i - lead], n->type.dim[i]);
    s->at[i] = repeats ? tc_dim_const(0) : old.at[i - lead];
  }
}

static void flip(tc_dims *dims, const tc_node *n, tc_strides *s) {
  const tc_dim *axes;
  int count = tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < count; i++) {
    tc_dim *stride = &s->at[tc_dim_value(axes[i])];
    *stride = tc_dim_sub(dims, tc_dim_const(0), *stride);
  }
}

static void remove_axis(int axis, int rank, tc_strides *s) {
  for (int i = axis; i + 1 < rank; i++) s->at[i] = s->at[i + 1];
}

bool tc_strides_view(tc_dims *dims, const tc_node *n, const tc_type *from, tc_strides *s) {
  switch (n->op) {
  case OP_PERMUTE:
    permute(n, s);
    return true;
  case OP_TRANSPOSE: {
    tc_dim *a = &s->at[axis_of(n, "a")], *b = &s->at[axis_of(n, "b")], old = *a;
    *a = *b;
    *b = old;
    return true;
  }
  case OP_EXPAND:
    expand(n, from, s);
    return true;
  case OP_FLIP:
    flip(dims, n, s);
    return true;
  case OP_SLICE: {
    tc_dim *stride = &s->at[axis_of(n, "axis")];
    *stride = tc_dim_mul(dims, *stride, tc_attr_int(n, "step"));
    return true;
  }
  case OP_UNFOLD: {
    tc_dim *stride = &s->at[axis_of(n, "axis")];
    s->at[from->rank] = *stride;
    *stride = tc_dim_mul(dims, *stride, tc_attr_int(n, "step"));
    return true;
  }
  case OP_SELECT:
    remove_axis(axis_of(n, "axis"), from->rank, s);
    return true;
  default: /* reshape, flatten, squeeze, unsqueeze; contiguous */
    if (n->op == OP_CONTIGUOUS ? is_row_major(dims, from, s) : reshape(dims, from, &n->type, s))
      return true;
    *s = tc_strides_row_major(dims, &n->type);
    return false;
  }
}

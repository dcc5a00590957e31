/* view.c - views, joins, and what moves elements: the transpose puts each back, and adds up. */
#include "autodiff/rules.h"

static tc_ref dy(const tc_vjp *v) { return v->dy[0]; }
static tc_dims *dims_of(const tc_vjp *v) { return tc_graph_dims(v->c.g); }
static const tc_dim zero = {0};

void tc_vjp_reshape(tc_vjp *v) { v->din[0] = vj_like(v, dy(v), vj_type(v, 0)); }

/* Linear and its own transpose. */
void tc_vjp_again(tc_vjp *v) { v->din[0] = vj_again(v, dy(v)); }

void tc_vjp_permute(tc_vjp *v) {
  const tc_dim *axes;
  int back[TC_MAX_RANK];
  const int rank = tc_attr_list(v->n, "axes", &axes);
  for (int i = 0; i < rank; i++) back[tc_dim_value(axes[i])] = i;
  v->din[0] = tc_build_permute(v->c.g, dy(v), rank, back, v->c.loc);
}

/* a among zeros: from `first` on, each `step` apart, along one axis of an array of shape t */
static tc_ref spread(const tc_vjp *v, tc_ref a, const tc_type *t, int axis, tc_dim first,
                     int64_t step) {
  tc_dim attr[2 * TC_MAX_RANK + 2];
  if (!a.id) return a;
  tc_ref in[2] = {vj_full(v, t, (tc_dtype)tc_graph_type(v->c.g, a)->dtype, 0), a};
  attr[0] = attr[1 + t->rank] = tc_dim_const(t->rank);
  for (int i = 0; i < t->rank; i++) {
    attr[1 + i] = i == axis ? first : zero;
    attr[2 + t->rank + i] = tc_dim_const(i == axis ? step : 1);
  }
  return tc_build(v->c.g, OP_PUT, 2, in, 2 * t->rank + 2, attr, NULL, v->c.loc);
}

/* a among zeros, from `first` on along one axis of an array of shape t */
static tc_ref placed(const tc_vjp *v, tc_ref a, const tc_type *t, int axis, tc_dim first) {
  tc_dim before[TC_MAX_RANK] = {{0}}, after[TC_MAX_RANK] = {{0}};
  if (!a.id) return a;
  const tc_dim end = tc_dim_add(dims_of(v), first, tc_graph_type(v->c.g, a)->dim[axis]);
  before[axis] = first;
  after[axis] = tc_dim_sub(dims_of(v), t->dim[axis], end);
  return vj_pad(v, a, before, after);
}

void tc_vjp_slice(tc_vjp *v) {
  const tc_type *t = vj_type(v, 0);
  const int axis = dc_axis(v->n, "axis", t->rank);
  const int64_t step = tc_dim_value(tc_attr_int(v->n, "step"));
  tc_dims *dims = dims_of(v);
  tc_dim first, length, last;
  if (!tc_slice_bounds(dims, t->dim[axis], tc_attr_int(v->n, "start"), tc_attr_int(v->n, "stop"),
                       step, &first, &length))
    return;
  length = v->n->type.dim[axis];
  if (tc_dim_is(length, 0)) {
    v->din[0] = TC_VJP_ZERO;
    return;
  }
  tc_ref part = dy(v);
  if (step < 0) { /* from the other end */
    tc_dim attr[2] = {tc_dim_const(1), tc_dim_const(axis)};
    part = tc_build(v->c.g, OP_FLIP, 1, &part, 2, attr, NULL, v->c.loc);
    last = tc_dim_mul(dims, tc_dim_sub(dims, length, tc_dim_const(1)), tc_dim_const(step));
    first = tc_dim_add(dims, first, last);
  }
  if (step == 1 || step == -1) v->din[0] = placed(v, part, t, axis, first);
  else v->din[0] = spread(v, part, t, axis, first, step < 0 ? -step : step);
}

enum { FEW = 16 /* positions of a window */, STEPS = 8 /* phases */ };

/* What the windows add to elements first, first + step, .. of the axis, `t` of them: position first
 * + m step of window w is the one of number w + m. */
static tc_ref folded_phase(const tc_vjp *v, const tc_type *t, int axis, int64_t size, int64_t first,
                           int64_t step) {
  tc_ref sum = {0};
  for (int64_t j = first; j < size; j += step) {
    tc_ref part = dy(v);
    tc_dim attr[2] = {tc_dim_const(t->rank), tc_dim_const(j)};
    part = tc_build(v->c.g, OP_SELECT, 1, &part, 2, attr, NULL, v->c.loc);
    part = placed(v, part, t, axis, tc_dim_const((j - first) / step));
    sum = sum.id ? tc_build2(v->c.g, OP_ADD, sum, part, v->c.loc) : part;
  }
  return sum.id ? sum : vj_full(v, t, (tc_dtype)tc_graph_type(v->c.g, dy(v))->dtype, 0);
}

/* Few positions, and few phases of the axis modulo the step: each element is the sum of those of
 * the windows that hold it. */
static tc_ref folded_by_position(const tc_vjp *v, const tc_type *t, int axis, int64_t size,
                                 int64_t step) {
  tc_dims *dims = dims_of(v);
  tc_ref phase[STEPS];
  int order[TC_MAX_RANK];
  tc_type part = *t, all = *t;
  part.dim[axis] = tc_dim_ceildiv(dims, t->dim[axis], tc_dim_const(step));
  all.dim[axis] = tc_dim_mul(dims, part.dim[axis], tc_dim_const(step));
  if (step == 1) return folded_phase(v, t, axis, size, 0, 1);
  for (int64_t i = 0; i < step; i++) phase[i] = folded_phase(v, &part, axis, size, i, step);
  for (int i = 0; i <= t->rank; i++) order[i] = i == axis ? axis + 1 : i == axis + 1 ? axis : i;
  const tc_ref phases = dc_axis_op(&v->c, OP_STACK, (int)step, phase, axis);
  const tc_ref sum =
      vj_like(v, tc_build_permute(v->c.g, phases, t->rank + 1, order, v->c.loc), &all);
  return tc_dim_known_eq(dims, all.dim[axis], t->dim[axis])
             ? sum
             : dc_slice(&v->c, sum, axis, zero, t->dim[axis]);
}

/* Any: all elements are added where they came from. */
static tc_ref folded_by_element(const tc_vjp *v, const tc_type *t, int axis, int64_t step) {
  const tc_type *windows = &v->n->type;
  tc_type at = {.rank = 2}, line = *t;
  int order[TC_MAX_RANK];
  for (int i = 0; i < windows->rank; i++)
    order[i] = i <= axis ? i : i == axis + 1 ? t->rank : i - 1;
  at.dim[0] = windows->dim[axis], at.dim[1] = windows->dim[t->rank];
  line.dim[axis] = tc_type_numel(dims_of(v), &at);
  const tc_ref parts =
      vj_like(v, tc_build_permute(v->c.g, vj_dy(v), windows->rank, order, v->c.loc), &line);
  const tc_ref by = tc_graph_const_i(v->c.g, TC_I64, true, step, v->c.loc);
  tc_ref to = tc_build2(v->c.g, OP_MUL, vj_positions(v, &at, 0), by, v->c.loc);
  to = tc_build2(v->c.g, OP_ADD, to, vj_positions(v, &at, 1), v->c.loc);
  for (int i = 0; i < t->rank; i++) at.dim[i] = tc_dim_const(1);
  at.rank = t->rank;
  at.dim[axis] = line.dim[axis];
  to = tc_build_expand(v->c.g, vj_like(v, to, &at), t->rank, line.dim, v->c.loc);
  const tc_ref zeros = vj_full(v, t, v->c.dtype, 0);
  return dc_axis_op(&v->c, OP_SCATTER_ADD, 3, (tc_ref[]){zeros, to, parts}, axis);
}

void tc_vjp_unfold(tc_vjp *v) {
  const tc_type *t = vj_type(v, 0);
  const int axis = dc_axis(v->n, "axis", t->rank);
  const tc_dim size = v->n->type.dim[t->rank];
  const int64_t step = tc_dim_value(tc_attr_int(v->n, "step"));
  if (tc_dim_is(size, 0)) v->din[0] = TC_VJP_ZERO;
  else if (tc_dim_is_const(size) && tc_dim_value(size) <= FEW && step <= STEPS &&
           t->rank < TC_MAX_RANK)
    v->din[0] = folded_by_position(v, t, axis, tc_dim_value(size), step);
  else v->din[0] = folded_by_element(v, t, axis, step);
}

/* The index as a position from 0 on: canonical, or of unknown sign and then not negative. */
void tc_vjp_select(tc_vjp *v) {
  const tc_type *t = vj_type(v, 0);
  const int axis = dc_axis(v->n, "axis", t->rank);
  tc_type row = *t;
  row.dim[axis] = tc_dim_const(1);
  v->din[0] = placed(v, vj_like(v, dy(v), &row), t, axis, tc_attr_int(v->n, "index"));
}

/* ---- joins ----------------------------------------------------------------------------------- */

void tc_vjp_concat(tc_vjp *v) {
  const int axis = dc_axis(v->n, "axis", v->n->type.rank);
  tc_dim at = zero;
  for (int i = 0; i < v->n->nin; i++) {
    const tc_dim end = tc_dim_add(dims_of(v), at, vj_type(v, i)->dim[axis]);
    if (v->want[i]) v->din[i] = vj_like(v, dc_slice(&v->c, dy(v), axis, at, end), vj_type(v, i));
    at = end;
  }
}

void tc_vjp_stack(tc_vjp *v) {
  const int axis = dc_axis(v->n, "axis", v->n->type.rank);
  for (int i = 0; i < v->n->nin; i++) {
    tc_ref part = dy(v);
    tc_dim attr[2] = {tc_dim_const(axis), tc_dim_const(i)};
    if (v->want[i]) v->din[i] = tc_build(v->c.g, OP_SELECT, 1, &part, 2, attr, NULL, v->c.loc);
  }
}

/* What lies at first[i] + step[i] j of each axis, of the size of `part`. */
static tc_ref taken(const tc_vjp *v, tc_ref a, const tc_type *part, const tc_dim *first,
                    const tc_dim *step) {
  tc_dims *dims = dims_of(v);
  for (int i = 0; i < part->rank && a.id; i++) {
    const tc_dim by = step ? step[i] : tc_dim_const(1), size = part->dim[i];
    tc_dim end = tc_dim_add(dims, first[i], size); /* stops right behind the last */
    if (tc_dim_is(size, 0)) end = first[i];
    else if (!tc_dim_is(by, 1))
      end = tc_dim_add(dims, tc_dim_add(dims, first[i], tc_dim_const(1)),
                       tc_dim_mul(dims, by, tc_dim_sub(dims, size, tc_dim_const(1))));
    if (tc_dim_is(first[i], 0) && tc_dim_is(by, 1) &&
        tc_dim_known_eq(dims, size, tc_graph_type(v->c.g, a)->dim[i]))
      continue;
    tc_dim attr[4] = {tc_dim_const(i), first[i], end, by};
    a = tc_build(v->c.g, OP_SLICE, 1, &a, 4, attr, NULL, v->c.loc);
  }
  return a;
}

/* dy with zeros in place of the part. */
static tc_ref without(const tc_vjp *v, const tc_type *part, int nattr, const tc_dim *attr) {
  tc_ref in[2] = {dy(v), vj_full(v, part, (tc_dtype)tc_graph_type(v->c.g, dy(v))->dtype, 0)};
  return tc_build(v->c.g, OP_PUT, 2, in, nattr, attr, NULL, v->c.loc);
}

/* x lies at `before`; the value is what is outside of it. */
void tc_vjp_pad(tc_vjp *v) {
  const tc_type *x = vj_type(v, 0);
  const tc_dim *before;
  tc_dim attr[2 * TC_MAX_RANK + 2];
  const int rank = tc_attr_list(v->n, "before", &before);
  attr[0] = attr[1 + rank] = tc_dim_const(rank);
  for (int i = 0; i < rank; i++) {
    attr[1 + i] = before[i];
    attr[2 + rank + i] = tc_dim_const(1);
  }
  if (v->want[0]) v->din[0] = taken(v, dy(v), x, before, NULL);
  if (v->want[1]) v->din[1] = without(v, x, 2 * rank + 2, attr);
}

void tc_vjp_put(tc_vjp *v) {
  const tc_dim *first, *step;
  tc_attr_list(v->n, "first", &first);
  tc_attr_list(v->n, "step", &step);
  const tc_type *part = vj_type(v, 1);
  if (v->want[0]) v->din[0] = without(v, part, v->n->nattr, v->n->attr);
  if (v->want[1]) v->din[1] = vj_like(v, taken(v, dy(v), part, first, step), part);
}

/* ---- repeat, roll, arange -------------------------------------------------------------------- */

/* Along one axis, [P, times, Q] in row-major order is summed over its middle. */
static tc_ref folded(const tc_vjp *v, tc_ref a, int axis, tc_dim size, tc_dim times) {
  const dc_axes middle = {1, {1}};
  tc_dim flat[3] = {tc_dim_const(1), times, size};
  if (!a.id || tc_dim_is(times, 1)) return a;
  tc_type t = *tc_graph_type(v->c.g, a);
  for (int i = 0; i < axis; i++) flat[0] = tc_dim_mul(dims_of(v), flat[0], t.dim[i]);
  for (int i = axis + 1; i < t.rank; i++) flat[2] = tc_dim_mul(dims_of(v), flat[2], t.dim[i]);
  t.dim[axis] = size;
  return vj_like(v, vj_sum(v, dc_reshape(&v->c, a, 3, flat), &middle), &t);
}

void tc_vjp_repeat(tc_vjp *v) {
  const tc_type *x = vj_type(v, 0);
  const tc_dim *times;
  const int rank = tc_attr_list(v->n, "times", &times), added = rank - x->rank;
  tc_ref d = vj_dy(v);
  for (int i = 0; i < rank; i++)
    d = folded(v, d, i, i < added ? tc_dim_const(1) : x->dim[i - added], times[i]);
  v->din[0] = vj_like(v, d, x);
}

void tc_vjp_roll(tc_vjp *v) {
  tc_ref d = dy(v);
  tc_dim back[2] = {tc_dim_sub(dims_of(v), zero, v->n->attr[0]), v->n->attr[1]};
  v->din[0] = tc_build(v->c.g, OP_ROLL, 1, &d, 2, back, NULL, v->c.loc);
}

/* start + i step */
void tc_vjp_arange(tc_vjp *v) {
  v->din[0] = dy(v);
  if (!v->want[1]) return;
  v->din[1] = dc2(&v->c, OP_MUL, vj_dy(v), dc_in(&v->c, vj_positions(v, &v->n->type, 0)));
}

/* ---- several results ------------------------------------------------------------------------- */

/* Its node reads the cotangent from it. */
void tc_vjp_result(tc_vjp *v) { v->din[0] = TC_VJP_ZERO; }

/* m = x 2^-e, and e is constant. */
void tc_vjp_frexp(tc_vjp *v) {
  if (!v->dy[0].id) {
    v->din[0] = TC_VJP_ZERO;
    return;
  }
  tc_ref e = dc1(&v->c, OP_EXPONENT, vj_in(v, 0));
  v->din[0] = dc2(&v->c, OP_MUL, vj_dy(v), dc1(&v->c, OP_EXP2, dc1(&v->c, OP_NEG, e)));
}

/* index.c - indexing by data: what is read is added back, what is written is read. */
#include "autodiff/rules.h"

static tc_ref axis_op3(const tc_vjp *v, tc_op op, tc_ref a, tc_ref index, tc_ref b, int axis) {
  return dc_axis_op(&v->c, op, 3, (tc_ref[]){a, index, b}, axis);
}

/* zeros of shape t, with dy added where it was read */
static tc_ref added_back(const tc_vjp *v, const tc_type *t, tc_ref index, tc_ref dy, int axis) {
  return axis_op3(v, OP_SCATTER_ADD, vj_full(v, t, v->c.dtype, 0), index, dy, axis);
}

static int the_axis(const tc_vjp *v) { return dc_axis(v->n, "axis", vj_type(v, 0)->rank); }

/* Does each line of x along the axis give one element? */
static bool takes_one(const tc_vjp *v, int axis) {
  const tc_type *x = vj_type(v, 0), *index = vj_type(v, 1);
  bool one = true;
  for (int i = 0; i < x->rank; i++)
    one = one && (i == axis ? tc_dim_is(index->dim[i], 1) : tc_dim_same(index->dim[i], x->dim[i]));
  return one;
}

/* dy where it was read.  One element of each line is chosen by comparison, which has no order and
 * needs no zeros. */
void tc_vjp_gather(tc_vjp *v) {
  const int axis = the_axis(v);
  const tc_ref index = v->n->in[1];
  if (!vj_type(v, 0)->rank || !takes_one(v, axis)) {
    v->din[0] = added_back(v, vj_type(v, 0), index, vj_dy(v), axis);
    return;
  }
  const tc_ref here = dc2(&v->c, OP_EQ, index, vj_positions(v, vj_type(v, 0), axis));
  v->din[0] = dc3(&v->c, OP_WHERE, here, vj_dy(v), dc_const(&v->c, 0));
}

/* index[n] along an axis of t, for all elements of t. */
static tc_ref along(const tc_vjp *v, tc_ref index, const tc_type *t, int axis) {
  tc_type line = {.rank = t->rank};
  for (int i = 0; i < t->rank; i++) line.dim[i] = i == axis ? t->dim[i] : tc_dim_const(1);
  return tc_build_expand(v->c.g, vj_like(v, index, &line), t->rank, t->dim, v->c.loc);
}

void tc_vjp_index_select(tc_vjp *v) {
  const int axis = the_axis(v);
  tc_ref index = along(v, v->n->in[1], &v->n->type, axis);
  v->din[0] = added_back(v, vj_type(v, 0), index, vj_dy(v), axis);
}

/* Rows of [V,D]: dy as [number of indices, D]. */
void tc_vjp_embedding(tc_vjp *v) {
  const tc_type *w = vj_type(v, 0);
  tc_type rows = {.rank = 2};
  rows.dim[0] = tc_type_numel(tc_graph_dims(v->c.g), vj_type(v, 1));
  rows.dim[1] = w->dim[1];
  tc_ref index = along(v, dc_reshape(&v->c, v->n->in[1], 1, rows.dim), &rows, 0);
  v->din[0] = added_back(v, w, index, vj_like(v, vj_dy(v), &rows), 0);
}

/* ---- scatter --------------------------------------------------------------------------------- */

/* a has the shape of the index; the source may be larger, and what no index names is not read. */
static tc_ref to_source(const tc_vjp *v, tc_ref a) {
  tc_dim before[TC_MAX_RANK] = {{0}}, after[TC_MAX_RANK];
  const tc_type *index = vj_type(v, 1), *source = vj_type(v, 2);
  bool same = true;
  for (int i = 0; i < index->rank; i++) {
    after[i] = tc_dim_sub(tc_graph_dims(v->c.g), source->dim[i], index->dim[i]);
    same &= tc_dim_is(after[i], 0);
  }
  return same ? a : vj_pad(v, a, before, after);
}

static tc_ref read_back(const tc_vjp *v, tc_ref a) {
  return dc_axis_op(&v->c, OP_GATHER, 2, (tc_ref[]){a, v->n->in[1]}, the_axis(v));
}

void tc_vjp_scatter_add(tc_vjp *v) {
  v->din[0] = v->dy[0];
  if (v->want[2]) v->din[2] = to_source(v, read_back(v, v->dy[0]));
}

/* Of several writes to one element the last remains, and gets the cotangent: each writes its
 * number, and looks whether it is still there. */
static tc_ref last_writes(const tc_vjp *v) {
  tc_ref number = vj_positions(v, vj_type(v, 1), -1);
  tc_ref zeros = vj_full(v, vj_type(v, 0), TC_I64, 0);
  tc_ref written = axis_op3(v, OP_SCATTER, zeros, v->n->in[1], number, the_axis(v));
  return dc2(&v->c, OP_EQ, read_back(v, written), number);
}

void tc_vjp_scatter(tc_vjp *v) {
  const tc_type *index = vj_type(v, 1);
  const tc_dtype dtype = (tc_dtype)v->n->type.dtype;
  if (v->want[0])
    v->din[0] =
        axis_op3(v, OP_SCATTER, v->dy[0], v->n->in[1], vj_full(v, index, dtype, 0), the_axis(v));
  if (!v->want[2]) return;
  tc_ref none = tc_graph_const_f(v->c.g, dtype, v->c.weak, 0, v->c.loc);
  v->din[2] = to_source(v, dc3(&v->c, OP_WHERE, last_writes(v), read_back(v, v->dy[0]), none));
}

/* fold.c
 *
 * requires: primitives.  keeps: locations.  Computes elementwise ops whose operands are constants
 * or FULLs of constants, in double or int64 and rounded to the dtype.  A view of a FULL is a FULL.
 * A FULL that only repeats a scalar against an operand of the whole shape becomes that scalar. */
#include "graph/passes/pass.h"
#include "graph/passes/pattern.h"
#include "graph/passes/rewrite.h"

/* What the operands of a test are converted to. */
static tc_dtype common_dtype(const tc_graph *g, int n, const tc_ref *in) {
  if (n < 2) return (tc_dtype)tc_graph_type(g, in[0])->dtype;
  return tc_promote(tc_graph_type(g, in[0]), tc_graph_type(g, in[1]));
}

/* Ref 0: some operand is not constant. */
static tc_ref fold_constants(tc_graph *g, const tc_node *n, const tc_ref *in) {
  tc_scalar_value v[3], y;
  if (n->nin < 1 || n->nin > 3) return (tc_ref){0};
  for (int i = 0; i < n->nin; i++)
    if (!tc_const_value(g, in[i], &v[i])) return (tc_ref){0};
  tc_dtype common = common_dtype(g, n->nin, in);
  if (!tc_scalar_eval(n->op, (tc_dtype)n->type.dtype, common, n->nin, v, &y)) return (tc_ref){0};
  tc_ref scalar = tc_const_of(g, y, n->type.rank == 0 && n->type.weak, n->loc);
  return n->type.rank ? tc_full_of(g, scalar, &n->type, n->loc) : scalar;
}

/* A rank-0 value of the FULL's dtype. */
static tc_ref scalar_of_full(tc_graph *g, const tc_node *full, tc_loc loc) {
  tc_ref s = full->in[0];
  tc_dtype dtype = (tc_dtype)full->type.dtype;
  tc_scalar_value v;
  if (tc_const_value(g, s, &v)) return tc_const_of(g, tc_scalar_convert(v, dtype), false, loc);
  const tc_type *t = tc_graph_type(g, s);
  return t->dtype == dtype && !t->weak ? s : tc_build_cast(g, s, dtype, loc);
}

/* The operands that decide the result's dtype, all but masks, have one dtype: then rank plays no
 * part in promotion. */
static bool one_dtype(const tc_graph *g, const tc_node *n, const tc_ref *in) {
  const tc_type *first = NULL;
  for (int i = 0; i < n->nin; i++) {
    const tc_type *t = tc_graph_type(g, in[i]);
    if (tc_op_get(n->op)->mask >> i & 1) continue;
    if (first && t->dtype != first->dtype) return false;
    first = t;
  }
  return true;
}

/* Is there, apart from operand i, one of the result's whole shape? */
static bool shape_without(const tc_graph *g, const tc_node *n, const tc_ref *in, int i) {
  for (int j = 0; j < n->nin; j++)
    if (j != i && tc_same_shape(tc_graph_type(g, in[j]), &n->type)) return true;
  return false;
}

static tc_ref fold_fulls(tc_rewrite *w, const tc_node *n, const tc_ref *in) {
  tc_ref now[3] = {{0}};
  if (n->nin > 3 || !one_dtype(w->g, n, in)) return tc_rewrite_copy(w->g, w->old, n, in);
  for (int i = 0; i < n->nin; i++) now[i] = in[i];
  for (int i = 0; n->nin > 1 && i < n->nin; i++) {
    tc_node full = *tc_graph_node(w->g, now[i]);
    if (full.op == OP_FULL && full.type.rank && shape_without(w->g, n, now, i))
      now[i] = scalar_of_full(w->g, &full, n->loc);
  }
  return tc_rewrite_copy(w->g, w->old, n, now);
}

static tc_ref fold_view(tc_rewrite *w, const tc_node *n, const tc_ref *in) {
  tc_node of = *tc_graph_node(w->g, in[0]);
  if (of.op == OP_FULL) return tc_full_of(w->g, of.in[0], &n->type, n->loc);
  if (of.op == OP_CONST && n->type.rank) return tc_full_of(w->g, in[0], &n->type, n->loc);
  return tc_rewrite_copy(w->g, w->old, n, in);
}

static tc_ref fold_node(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  if (tc_op_is_pointwise(n->op)) {
    tc_ref y = fold_constants(w->g, n, in);
    return y.id ? y : fold_fulls(w, n, in);
  }
  if (tc_op_get(n->op)->cls == TC_CLASS_VIEW) return fold_view(w, n, in);
  return tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *tc_pass_fold(tc_graph *g) { return tc_rewrite_run(g, fold_node, NULL); }

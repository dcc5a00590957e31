/* written_softmax.c - a softmax that is written out: y = e / sum e of e = exp(a), whose derivative is that of a softmax,
 *
 *   da = y (dy - sum dy y)
 *
 * Rule by rule it would come as two parts, by e and by its sum, of which neither is small where their sum is, and
 * with an array more than a softmax's takes: attention in training would have arrays of its weights (lower/chain.c).
 * What was subtracted in front of exp, max x, is one number for each sum and changes nothing: da is that of x. */
#include "autodiff/vjp.h"

/* May its cotangent be left out: does nobody ask for it? */
static bool is_inner(const sweep *s, tc_ref r) { return r.id <= s->last && !(s->mark[r.id] & (IS_WRT | IS_STOP)); }

/* What r is another shape of. */
static tc_ref reshaped(const sweep *s, tc_ref r) {
  const tc_node *n = tc_graph_node(s->g, r);
  return is_inner(s, r) && (n->op == OP_UNSQUEEZE || n->op == OP_RESHAPE) ? reshaped(s, n->in[0]) : r;
}

/* Does r have the shape of x, but for size 1 along the axes? */
static bool is_for_each(const sweep *s, tc_ref r, tc_ref x, const dc_axes *axes) {
  tc_dims *dims = tc_graph_dims(s->g);
  const tc_type *t = tc_graph_type(s->g, r), *of = tc_graph_type(s->g, x);
  if (t->rank != of->rank) return false;
  for (int i = 0; i < t->rank; i++) {
    bool reduced = false;
    for (int k = 0; k < axes->n; k++) reduced |= axes->at[k] == i;
    if (!tc_dim_same(tc_dim_norm(dims, t->dim[i]), reduced ? tc_dim_const(1) : tc_dim_norm(dims, of->dim[i]))) return false;
  }
  return true;
}

/* Is r the reduction of x along some axes, or along those, one for each other element of x? */
static bool is_reduced(const sweep *s, tc_ref r, tc_op op, tc_ref x, dc_axes *axes, bool those) {
  const tc_ref from = reshaped(s, r);
  const tc_node *n = tc_graph_node(s->g, from);
  if (n->op != op || n->in[0].id != x.id || !is_inner(s, from)) return false;
  const dc_axes found = dc_reduced(n, tc_graph_type(s->g, x)->rank);
  bool same = !those || found.n == axes->n;
  for (int i = 0; those && same && i < found.n; i++) same = found.at[i] == axes->at[i];
  *axes = found;
  return same && is_for_each(s, r, x, &found);
}

static bool find(const sweep *s, const tc_node *n, tc_ref *operand, dc_axes *axes) {
  const tc_node *e = n->op == OP_DIV ? tc_graph_node(s->g, n->in[0]) : NULL;
  if (!e || e->op != OP_EXP || !is_inner(s, n->in[0]) || !is_inner(s, n->in[1])) return false;
  if (!is_reduced(s, n->in[1], OP_SUM, n->in[0], axes, false)) return false;
  const tc_node *apart = tc_graph_node(s->g, e->in[0]);
  const bool shifted = apart->op == OP_SUB && is_inner(s, e->in[0]) && is_inner(s, apart->in[1]) &&
                       is_reduced(s, apart->in[1], OP_AMAX, apart->in[0], axes, true);
  *operand = shifted ? apart->in[0] : e->in[0];
  return s->source[operand->id] && vj_is_float(s->g, *operand);
}

static vj_found visit(sweep *s, tc_ref r, const tc_node *n) {
  tc_ref x, dy[TC_MAX_RESULTS], d = TC_VJP_ZERO;
  dc_axes axes;
  if (!find(s, n, &x, &axes)) return VJ_NONE;
  if (vj_gather_dy(s, r, n, dy)) {
    const tc_vjp v = {.c = vj_vocabulary(s, r, n), .n = n, .self = r, .dy = dy};
    d = vj_softmax(&v, &axes);
  }
  if (vj_add(s, x, d, n->loc)) return VJ_DONE;
  vj_report_limit(s, n);
  return VJ_FAILED;
}

const tc_autodiff_pattern tc_autodiff_softmax = {visit};

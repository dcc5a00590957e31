/* vjp.c - reverse mode: cotangents of the outputs travel to the operands, node by node.
 *
 * Ids are a topological order, so each of the three steps is one loop over ids:
 *   readers   backwards: which values outputs depend on, and through which reader
 *   sources   forwards: which of them move with wrt
 *   sweep     backwards: the rule of each such node gives cotangents to its operands */
#include "autodiff/vjp.h"

#include <stdlib.h>
#include <string.h>

bool tc_autodiff_passes(const tc_graph *g, tc_ref r, int i) {
  const tc_node *n = tc_graph_node(g, r);
  return n->op != OP_DETACH && n->in[i].id && vj_is_float(g, r) && vj_is_float(g, n->in[i]);
}

/* ---- what depends on what -------------------------------------------------------------------- */

/* What is taken as a constant. */
static bool is_stop(const sweep *s, uint32_t id, const tc_node *n) {
  return s->mark[id] & IS_STOP || n->op == OP_DETACH;
}

/* Conditions are piecewise constant, and other branches are not looked at: their derivative is 0.
 * Integers have none, unless that is to be 0, too. */
static bool is_constant(const sweep *s, uint32_t id, const tc_node *n) {
  const bool discrete = n->nresult == 1 && !tc_dtype_is_float((tc_dtype)n->type.dtype);
  return is_stop(s, id, n) || (discrete && (n->type.dtype == TC_BOOL || s->a->through_integers));
}

static void find_readers(sweep *s) {
  for (uint32_t k = 0; k < s->a->noutput; k++) {
    const uint32_t id = s->a->output[k].id;
    s->reader[id] = id;
  }
  for (uint32_t id = s->last; id > 0; id--) {
    const tc_node *n = tc_graph_node(s->g, (tc_ref){id});
    if (!s->reader[id] || is_constant(s, id, n)) continue;
    for (int i = 0; i < n->nin; i++)
      if (!s->reader[n->in[i].id]) s->reader[n->in[i].id] = id;
  }
}

static void find_sources(sweep *s) {
  for (uint32_t id = 1; id <= s->last; id++) {
    const tc_node *n = tc_graph_node(s->g, (tc_ref){id});
    if (s->mark[id] & IS_WRT) s->source[id] = id;
    if (!s->reader[id] || s->source[id] || is_stop(s, id, n)) continue;
    for (int i = 0; i < n->nin && !s->source[id]; i++)
      if (s->source[n->in[i].id] && tc_autodiff_passes(s->g, (tc_ref){id}, i))
        s->source[id] = n->in[i].id;
  }
}

/* ---- cotangents ------------------------------------------------------------------------------ */

/* The axes of `from` that an operand of shape t was broadcast along; *leading: those that t
 * lacks. */
static int broadcast_axes(tc_dims *dims, const tc_type *from, const tc_type *t, int *axes,
                          int *leading) {
  int n = 0;
  *leading = from->rank > t->rank ? from->rank - t->rank : 0;
  for (int i = 0; i < from->rank; i++) {
    const int k = i + t->rank - from->rank; /* of t */
    const bool to_one = k >= 0 && tc_dim_is(tc_dim_norm(dims, t->dim[k]), 1);
    if (k < 0 || (to_one && !tc_dim_is(tc_dim_norm(dims, from->dim[i]), 1))) axes[n++] = i;
  }
  return n;
}

/* d with the shape of t: sums what the operand was broadcast along, expands what was reduced. */
static tc_ref fit_shape(tc_graph *g, tc_ref d, const tc_type *t, tc_loc loc) {
  tc_dims *dims = tc_graph_dims(g);
  int axes[TC_MAX_RANK], leading;
  const int n = broadcast_axes(dims, tc_graph_type(g, d), t, axes, &leading);
  if (n) d = tc_build_reduce(g, OP_SUM, d, n, axes, n > leading, loc);
  if (!d.id) return d;
  if (n > leading && leading) { /* of size 1 now */
    const tc_type *summed = tc_graph_type(g, d);
    d = tc_build_reshape(g, d, t->rank, summed->dim + leading, loc);
    if (!d.id) return d;
  }
  const tc_type *from = tc_graph_type(g, d);
  bool smaller = from->rank < t->rank;
  for (int i = 1; !smaller && i <= from->rank; i++)
    smaller = tc_dim_is(tc_dim_norm(dims, from->dim[from->rank - i]), 1) &&
              !tc_dim_is(tc_dim_norm(dims, t->dim[t->rank - i]), 1);
  return smaller ? tc_build_expand(g, d, t->rank, t->dim, loc) : d;
}

/* d, any shape that broadcasts with the type, as a value of that type. */
static tc_ref fit(tc_graph *g, tc_ref d, const tc_type *type, tc_loc loc) {
  const tc_type t = *type; /* nodes never move, but results of inference do not outlive it */
  if (!d.id) return d;
  d = fit_shape(g, d, &t, loc);
  return d.id ? tc_build_cast(g, d, (tc_dtype)t.dtype, loc) : d;
}

static tc_ref plus(tc_graph *g, tc_ref a, tc_ref b, tc_loc loc) {
  const tc_ref joined = vj_adjoin(g, a, b, loc);
  return joined.id ? joined : tc_build2(g, OP_ADD, a, b, loc);
}

bool vj_add(sweep *s, tc_ref to, tc_ref d, tc_loc loc) {
  tc_ref *sum = &s->cotangent[to.id];
  s->mark[to.id] |= IS_REACHED;
  if (d.id == TC_VJP_ZERO.id) return true;
  if (tc_graph_node(s->g, to)->nresult == 1) {
    d = fit(s->g, d, tc_graph_type(s->g, to), loc);
    *sum = sum->id && d.id ? plus(s->g, *sum, d, loc) : d;
  }
  return d.id != 0;
}

static tc_dtype widened(tc_dtype d) { return tc_dtype_is_half(d) ? TC_F32 : d; }

bool vj_gather_dy(sweep *s, tc_ref r, const tc_node *n, tc_ref *dy) {
  bool any = false;
  for (int k = 0; k < n->nresult; k++) {
    const tc_ref part = n->nresult > 1 ? tc_build_result(s->g, r, k, n->loc) : r;
    dy[k] = part.id <= s->last ? s->cotangent[part.id] : (tc_ref){0};
    any |= dy[k].id != 0;
  }
  return any;
}

dc vj_vocabulary(const sweep *s, tc_ref r, const tc_node *n) {
  const tc_type *t = tc_graph_type(s->g, r);
  return (dc){s->g, n->loc, widened((tc_dtype)t->dtype), t->weak};
}

/* What the rule says; all zero where no cotangent arrived. */
static void apply(sweep *s, tc_ref r, const tc_node *n, tc_ref *din) {
  tc_ref dy[TC_MAX_RESULTS];
  const tc_vjp_rule *rule = tc_vjp_rule_of(n->op);
  const dc c = vj_vocabulary(s, r, n);
  tc_vjp v = {c, n, r, dy, s->want, din};
  if (!vj_gather_dy(s, r, n, dy)) {
    for (int i = 0; i < n->nin; i++) din[i] = TC_VJP_ZERO;
  } else if (rule->fn) {
    rule->fn(&v);
  } else {
    tc_vjp_formulas(&v, rule->text);
  }
}

static bool visit(sweep *s, tc_ref r, const tc_node *n) {
  tc_ref din[256];
  bool any = false;
  for (int i = 0; i < n->nin; i++) {
    din[i] = (tc_ref){0};
    any |= s->want[i] = s->source[n->in[i].id] && tc_autodiff_passes(s->g, r, i);
    if (s->want[i] && !tc_vjp_differentiates(n->op, i)) return vj_report_missing(s, r, i);
  }
  if (!any) return true;
  apply(s, r, n, din);
  for (int i = 0; i < n->nin; i++)
    if (s->want[i] && !vj_add(s, n->in[i], din[i], n->loc)) return vj_report_limit(s, n);
  return true;
}

static bool run(sweep *s) {
  for (uint32_t id = s->last; id > 0; id--) {
    const tc_node *n = tc_graph_node(s->g, (tc_ref){id});
    const bool on_path = s->mark[id] & IS_REACHED && s->source[id];
    if (!on_path || is_stop(s, id, n)) continue;
    const vj_found found = s->a->pattern ? s->a->pattern->visit(s, (tc_ref){id}, n) : VJ_NONE;
    if (found == VJ_FAILED || (found == VJ_NONE && !visit(s, (tc_ref){id}, n))) return false;
  }
  return true;
}

/* ---- the request ----------------------------------------------------------------------------- */

static bool check_value(sweep *s, tc_ref r, const char *what) {
  const tc_node *n = tc_graph_node(s->g, r);
  if (!n || n->nresult > 1) return vj_fail(s, s->a->loc, "%s is no value of the graph", what);
  if (tc_dtype_is_float((tc_dtype)n->type.dtype)) return true;
  return vj_fail(s, s->a->loc, "gradients are of floating values, and %s is %s", what,
                 tc_dtype_text((tc_dtype)n->type.dtype));
}

static bool single(tc_dims *dims, const tc_type *t) {
  return tc_dim_known_eq(dims, tc_type_numel(dims, t), tc_dim_const(1));
}

/* The cotangent given for output k, or 1. */
static tc_ref seed_of(sweep *s, uint32_t k) {
  const tc_autodiff *a = s->a;
  const tc_type *t = tc_graph_type(s->g, a->output[k]);
  tc_ref seed = a->cotangent ? a->cotangent[k] : (tc_ref){0};
  const tc_vjp v = {.c = {.g = s->g, .loc = a->loc}};
  if (seed.id) return vj_check_shape(s, seed, t, "the cotangent") ? seed : (tc_ref){0};
  if (single(tc_graph_dims(s->g), t)) return vj_full(&v, t, (tc_dtype)t->dtype, 1);
  tc_buf b = {0};
  tc_type_print(tc_graph_dims(s->g), t, &b);
  vj_fail(s, a->loc, "the gradient of %s needs a cotangent; only that of a single number does not",
          b.text ? b.text : "");
  tc_buf_free(&b);
  return (tc_ref){0};
}

static bool begin(sweep *s) {
  const tc_autodiff *a = s->a;
  for (uint32_t k = 0; k < a->noutput; k++) {
    if (!check_value(s, a->output[k], "what is differentiated")) return false;
    if (a->output[k].id > s->last) s->last = a->output[k].id;
  }
  for (uint32_t i = 0; i < a->nwrt; i++)
    if (!check_value(s, a->wrt[i], "what it is taken with respect to")) return false;
  const size_t n = tc_graph_count(s->g) + 1u;
  s->reader = calloc(n, sizeof *s->reader);
  s->source = calloc(n, sizeof *s->source);
  s->cotangent = calloc(n, sizeof *s->cotangent);
  s->mark = calloc(n, 1);
  if (!s->reader || !s->source || !s->cotangent || !s->mark)
    return vj_fail(s, a->loc, "out of memory");
  for (uint32_t i = 0; i < a->nwrt; i++) s->mark[a->wrt[i].id] |= IS_WRT;
  for (uint32_t i = 0; i < a->nstop; i++)
    if (a->stop[i].id < n) s->mark[a->stop[i].id] |= IS_STOP;
  return true;
}

static bool seed(sweep *s) {
  for (uint32_t k = 0; k < s->a->noutput; k++) {
    const tc_ref dy = seed_of(s, k);
    if (!dy.id || !vj_add(s, s->a->output[k], dy, s->a->loc)) return false;
  }
  return true;
}

static bool finish(sweep *s, tc_ref *grad, bool *reached) {
  const tc_vjp v = {.c = {.g = s->g, .loc = s->a->loc}};
  for (uint32_t i = 0; i < s->a->nwrt; i++) {
    const tc_ref w = s->a->wrt[i];
    const tc_type *t = tc_graph_type(s->g, w);
    if (reached) reached[i] = s->mark[w.id] & IS_REACHED;
    if (!(s->mark[w.id] & IS_REACHED) && s->reader[w.id]) return vj_report_cut(s, w);
    grad[i] = s->cotangent[w.id];
    if (!grad[i].id) grad[i] = vj_full(&v, t, (tc_dtype)t->dtype, 0);
    if (!grad[i].id) return false;
  }
  return true;
}

bool tc_autodiff_vjp(tc_graph *g, const tc_autodiff *a, tc_ref *grad, bool *reached) {
  sweep s = {.g = g, .a = a};
  bool ok = begin(&s);
  if (ok) {
    find_readers(&s);
    find_sources(&s);
    ok = seed(&s) && run(&s) && finish(&s, grad, reached);
  }
  free(s.reader);
  free(s.source);
  free(s.cotangent);
  free(s.mark);
  return ok;
}

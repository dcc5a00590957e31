/* views.c
 *
 * requires: primitives.  keeps: locations; computes no elementwise op twice.  Composes views and
 * drops identities, and moves views out of elementwise regions, so that all ops of a region share
 * one shape:
 *
 *   up    V(f(a, b)) = f(V a, V b)        when f's region reads only arguments and constants
 *   down  f(V h, b)  = V(f(h, V^-1 b))    when h comes from a reduction, a matmul or another heavy
 * op
 *
 * so a region keeps the shape of the heavy op that feeds it, where its kernel is, and views end on
 * arguments, where they are index arithmetic, or on results.  An EXPAND under an elementwise op
 * goes away when broadcasting says the same; where it repeats the matrices that products of one row
 * share, these are the rows of one product.
 *
 * Up is decided backwards, from users to operands: a node that is read once takes over the views of
 * its reader as a short chain (moves).  Down is decided forwards, while the new graph is built.
 * Both look at a node once. */
#include "graph/passes/pass.h"
#include "graph/passes/pattern.h"
#include "graph/passes/rewrite.h"
#include "graph/view.h"

#include <stdlib.h>

typedef struct moves {
  tc_arena *arena;
  bool *light;           /* [id]: an argument or constant, or a view or single-use region of such */
  bool *through;         /* [id]: a view that its operand took over */
  tc_view_chain **after; /* [id]: what a node must be seen through; NULL: nothing */
  tc_view_chain **edge;  /* [id]: of a pointwise node: one chain per operand; NULL: nothing */
} moves;

static bool is_pointwise(const tc_node *n) { return tc_op_is_pointwise(n->op); }

static bool is_view(const tc_node *n) { return tc_op_get(n->op)->cls == TC_CLASS_VIEW; }

/* ---- up: which nodes take over the views of their reader ------------------------------------- */

static bool compute_light(const tc_rewrite *w, const moves *m, uint32_t id, const tc_node *n) {
  if (tc_op_get(n->op)->cls == TC_CLASS_LEAF || n->op == OP_FULL) return true;
  if (is_view(n)) return m->light[n->in[0].id];
  if (!is_pointwise(n) || w->uses[id] != 1) return false;
  for (int i = 0; i < n->nin; i++)
    if (!m->light[n->in[i].id]) return false;
  return true;
}

/* May r take over what its only reader does to it? */
static bool takes_over(const tc_rewrite *w, const moves *m, tc_ref r) {
  const tc_node *n = tc_graph_node(w->old, r);
  if (w->uses[r.id] != 1 || !m->light[r.id]) return false;
  return is_pointwise(n) || (is_view(n) && n->op != OP_EXPAND);
}

static tc_view_chain *new_chain(const moves *m, const tc_view_chain *value) {
  tc_view_chain *c = tc_arena_alloc(m->arena, sizeof *c);
  if (c) *c = *value;
  return c;
}

/* The views of a view's reader follow the view itself. */
static bool move_past_view(const tc_rewrite *w, moves *m, uint32_t id, const tc_node *n) {
  tc_view_chain c = {0};
  tc_view_step own = tc_view_of(n);
  if (n->op == OP_EXPAND || !takes_over(w, m, n->in[0])) return true;
  tc_view_append(&c, &own);
  for (int i = 0; m->after[id] && i < m->after[id]->n; i++)
    if (!tc_view_append(&c, &m->after[id]->at[i])) return true;
  m->through[id] = true;
  m->after[id] = NULL;
  return (m->after[n->in[0].id] = new_chain(m, &c)) != NULL;
}

/* Chains for each operand of n that together act as `c` does on its result.  Operands of rank 0
 * need none, but some operand has to have the rank of the result. */
static bool adjust_operands(const tc_rewrite *w, const tc_node *n, const tc_view_chain *c,
                            tc_view_chain *edge) {
  tc_dims *dims = tc_graph_dims(w->old);
  bool ranked = false;
  for (int i = 0; i < n->nin; i++) {
    tc_type whole = n->type, part = *tc_graph_type(w->old, n->in[i]);
    for (int s = 0; s < c->n; s++) {
      if (!tc_view_adjust(dims, &c->at[s], &whole, &part, &edge[i])) return false;
      whole = c->at[s].to;
    }
    ranked |= part.rank == whole.rank;
  }
  return ranked;
}

static bool move_past_pointwise(const tc_rewrite *w, moves *m, uint32_t id, const tc_node *n) {
  if (!m->after[id]) return true;
  tc_view_chain *edge = tc_arena_alloc(m->arena, n->nin * sizeof *edge);
  if (!edge) return false;
  if (!adjust_operands(w, n, m->after[id], edge)) return true; /* the views stay behind n */
  m->edge[id] = edge;
  m->after[id] = NULL;
  for (int i = 0; i < n->nin; i++) {
    if (!edge[i].n || !takes_over(w, m, n->in[i])) continue;
    m->after[n->in[i].id] = new_chain(m, &edge[i]);
    if (!m->after[n->in[i].id]) return false;
    edge[i].n = 0;
  }
  return true;
}

static bool plan(tc_rewrite *w) {
  moves *m = w->self;
  uint32_t count = tc_graph_count(w->old);
  m->arena = tc_arena_new();
  m->light = calloc(count + 1u, sizeof *m->light);
  m->through = calloc(count + 1u, sizeof *m->through);
  m->after = calloc(count + 1u, sizeof *m->after);
  m->edge = calloc(count + 1u, sizeof *m->edge);
  if (!m->arena || !m->light || !m->through || !m->after || !m->edge) return false;
  for (uint32_t id = 1; id <= count; id++)
    m->light[id] = compute_light(w, m, id, tc_graph_node(w->old, (tc_ref){id}));
  for (uint32_t id = count; id > 0; id--) {
    const tc_node *n = tc_graph_node(w->old, (tc_ref){id});
    if (!w->uses[id]) continue;
    if (is_view(n) && !move_past_view(w, m, id, n)) return false;
    if (is_pointwise(n) && !move_past_pointwise(w, m, id, n)) return false;
  }
  return true;
}

/* ---- expands that broadcasting implies ------------------------------------------------------- */

/* Has every axis of the result its size from some operand (also 1, in front), `except` being of
 * type `instead`? */
static bool covered(const tc_graph *g, const tc_type *whole, int nin, const tc_ref *in, int except,
                    const tc_type *instead) {
  for (int a = 0; a < whole->rank; a++) {
    bool found = false;
    for (int i = 0; i < nin && !found; i++) {
      const tc_type *t = i == except ? instead : tc_graph_type(g, in[i]);
      int mine = a - (whole->rank - t->rank);
      found = mine >= 0 && tc_dim_same(t->dim[mine], whole->dim[a]);
    }
    if (!found) return false;
  }
  return true;
}

/* Rank 0 does not take part in promotion as arrays do, so an operand keeps at least one axis. */
static void drop_expands(tc_graph *g, const tc_type *whole, int nin, tc_ref *in) {
  for (int i = 0; i < nin; i++) {
    const tc_node *n = tc_graph_node(g, in[i]);
    if (n->op != OP_EXPAND) continue;
    tc_ref narrow = n->in[0];
    const tc_type *t = tc_graph_type(g, narrow);
    if (t->rank > 0 && covered(g, whole, nin, in, i, t)) in[i] = narrow;
  }
}

/* ---- down: views of heavy values move past what reads them ----------------------------------- */

/* Operand i is V(h), h heavy, V a reshape or permute, and has the shape of the result. */
static bool sinks(const tc_rewrite *w, const tc_node *n, const tc_ref *in, int i,
                  const tc_type *whole) {
  const moves *m = w->self;
  const tc_node *v = tc_graph_node(w->g, in[i]);
  if (m->light[n->in[i].id] || (v->op != OP_RESHAPE && v->op != OP_PERMUTE)) return false;
  const tc_type *h = tc_graph_type(w->g, v->in[0]);
  return h->rank > 0 && tc_same_shape(&v->type, whole);
}

static bool same_step(const tc_graph *g, const tc_node *n, const tc_view_step *s,
                      const tc_type *from) {
  if (n->op != s->op || !tc_same_shape(tc_graph_type(g, n->in[0]), from)) return false;
  tc_view_step mine = tc_view_of(n);
  for (int i = 0; i < s->narg; i++)
    if (!tc_dim_same(mine.arg[i], s->arg[i])) return false;
  return tc_same_shape(&mine.to, &s->to);
}

/* The operands of n as they are before view `v`, whose operand has shape `from`: those that went
 * through the same view lose it, light ones take its inverse.  false: some can do neither. */
static bool before_view(const tc_rewrite *w, const tc_node *n, const tc_ref *in,
                        const tc_view_step *v, const tc_type *from, tc_ref *out) {
  const moves *m = w->self;
  tc_view_chain back[3] = {{0}};
  tc_view_step inverse;
  if (n->nin > 3 || !tc_view_inverse(v, from, &inverse)) return false;
  for (int i = 0; i < n->nin; i++) {
    const tc_node *o = tc_graph_node(w->g, in[i]);
    tc_type part = o->type;
    if (same_step(w->g, o, v, from)) continue;
    if (part.rank && !m->light[n->in[i].id]) return false;
    if (!tc_view_adjust(tc_graph_dims(w->g), &inverse, &v->to, &part, &back[i])) return false;
  }
  for (int i = 0; i < n->nin; i++) {
    const tc_node *o = tc_graph_node(w->g, in[i]);
    out[i] =
        same_step(w->g, o, v, from) ? o->in[0] : tc_view_apply_all(w->g, in[i], &back[i], n->loc);
  }
  return true;
}

/* ---- products of one row that share a matrix ------------------------------------------------- */

/* r is x[.., H, K, N] with each matrix repeated along the axis in front of the last two: a reshape
 * to [.., H*G, K, N] of an expand to [.., H, G, K, N].  x, or ref 0. */
static tc_ref repeated(tc_graph *g, tc_ref r, tc_loc loc) {
  const tc_node *merge = tc_graph_node(g, r);
  const tc_ref none = {0};
  if (merge->op != OP_RESHAPE || merge->type.rank < 3) return none;
  const tc_node *expand = tc_graph_node(g, merge->in[0]);
  const int rank = merge->type.rank, axis = rank - 2; /* that repeats */
  if (expand->op != OP_EXPAND || expand->type.rank != rank + 1) return none;
  tc_type from = *tc_graph_type(g, expand->in[0]), merged = expand->type;
  if (from.rank != rank + 1 || !tc_dim_is(from.dim[axis], 1)) return none;
  for (int i = 0; i <= rank; i++)
    if (i != axis && !tc_dim_same(from.dim[i], expand->type.dim[i])) return none;
  merged.dim[axis] = tc_dim_mul(tc_graph_dims(g), merged.dim[axis - 1], merged.dim[axis]);
  for (int i = axis; i <= rank; i++) merged.dim[i - 1] = merged.dim[i];
  merged.rank--;
  if (!tc_same_shape(&merged, &merge->type)) return none;
  for (int i = axis; i < rank; i++) from.dim[i] = from.dim[i + 1];
  from.rank--;
  const tc_view_step drop = tc_view_reshape(&from);
  return tc_view_apply(g, expand->in[0], &drop, loc);
}

/* a[.., H*G, 1, K] times b, which is repeated, perhaps with its matrices transposed behind that:
 * [.., H, G, K] times what b is made of, seen as the result.  Or ref 0. */
static tc_ref share_rows(tc_graph *g, const tc_node *n, const tc_ref *in) {
  tc_type a = *tc_graph_type(g, in[0]);
  const tc_node b = *tc_graph_node(g, in[1]);
  const int rank = n->type.rank;
  const tc_ref none = {0};
  if (a.rank != rank || b.type.rank != rank || rank < 3 || !tc_dim_is(a.dim[rank - 2], 1))
    return none;
  const bool turned = b.op == OP_PERMUTE;
  tc_view_step turn = turned ? tc_view_of(&b) : (tc_view_step){0};
  for (int i = 0; turned && i < rank; i++)
    if (tc_dim_value(turn.arg[i]) != (i < rank - 2 ? i : 2 * rank - 3 - i)) return none;
  tc_ref x = repeated(g, turned ? b.in[0] : in[1], n->loc);
  if (!x.id || !tc_dim_same(a.dim[rank - 3], b.type.dim[rank - 3])) return none;
  tc_type rows = a, whole = n->type;
  const tc_type t = *tc_graph_type(g, x);
  rows.dim[rank - 3] = t.dim[rank - 3];
  rows.dim[rank - 2] = tc_dim_div(tc_graph_dims(g), a.dim[rank - 3], t.dim[rank - 3]);
  turn.to = t;
  turn.to.dim[rank - 2] = t.dim[rank - 1];
  turn.to.dim[rank - 1] = t.dim[rank - 2];
  const tc_view_step cut = tc_view_reshape(&rows), back = tc_view_reshape(&whole);
  const tc_ref q = tc_view_apply(g, in[0], &cut, n->loc);
  if (turned) x = tc_view_apply(g, x, &turn, n->loc);
  return tc_view_apply(g, tc_build2(g, OP_MATMUL, q, x, n->loc), &back, n->loc);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* What is stored where a view splits two kernels should be the narrow value. */
static bool widens(const tc_graph *g, const tc_node *n, const tc_ref *in) {
  tc_dtype from = (tc_dtype)tc_graph_type(g, in[0])->dtype, to = (tc_dtype)n->type.dtype;
  return n->op == OP_CAST && tc_dtype_bytes(to) > tc_dtype_bytes(from);
}

static tc_ref rebuild_pointwise(tc_rewrite *w, const tc_node *n, const tc_ref *in,
                                const tc_type *whole) {
  tc_ref before[3];
  for (int i = 0; i < n->nin && !widens(w->g, n, in); i++) {
    if (!sinks(w, n, in, i, whole)) continue;
    tc_node view = *tc_graph_node(w->g, in[i]);
    tc_view_step v = tc_view_of(&view);
    tc_type from = *tc_graph_type(w->g, view.in[0]);
    if (!before_view(w, n, in, &v, &from, before)) continue;
    const tc_ref y = tc_rewrite_copy(w->g, w->old, n, before);
    /* An array's dtype wins over that of rank 0, which h may be seen as. */
    if (y.id && tc_graph_type(w->g, y)->dtype != n->type.dtype) continue;
    return tc_view_apply(w->g, y, &v, n->loc);
  }
  return tc_rewrite_copy(w->g, w->old, n, in);
}

static tc_ref view_node(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  const moves *m = w->self;
  tc_ref now[3], y;
  if (m->through[r.id]) return in[0];
  if (is_view(n)) {
    tc_view_step s = tc_view_of(n);
    y = tc_view_apply(w->g, in[0], &s, n->loc);
  } else if (is_pointwise(n) && n->nin <= 3) {
    const tc_view_chain *edge = m->edge[r.id];
    for (int i = 0; i < n->nin; i++)
      now[i] = tc_view_apply_all(w->g, in[i], edge ? &edge[i] : NULL, n->loc);
    if (!edge) drop_expands(w->g, &n->type, n->nin, now);
    y = edge ? tc_rewrite_copy(w->g, w->old, n, now) : rebuild_pointwise(w, n, now, &n->type);
  } else {
    y = n->op == OP_MATMUL ? share_rows(w->g, n, in) : (tc_ref){0};
    if (!y.id) y = tc_rewrite_copy(w->g, w->old, n, in);
  }
  return tc_view_apply_all(w->g, y, m->after[r.id], n->loc);
}

tc_graph *tc_pass_views(tc_graph *g) {
  moves m = {0};
  tc_graph *y = tc_rewrite_run_planned(g, plan, view_node, &m);
  tc_arena_free(m.arena);
  free(m.light);
  free(m.through);
  free(m.after);
  free(m.edge);
  return y;
}

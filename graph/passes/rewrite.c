/* rewrite.c - the walk that passes share; see rewrite.h. */
#include "graph/passes/rewrite.h"

#include <stdlib.h>
#include <string.h>

static tc_ref copy_leaf(tc_graph *g, const tc_node *n) {
  double f;
  int64_t i;
  tc_dtype dtype = (tc_dtype)n->type.dtype;
  if (n->op == OP_DIM) return tc_graph_dim_value(g, n->attr[0], n->type.weak, n->loc);
  if (!tc_node_const(n, &f, &i)) return (tc_ref){0};
  if (tc_dtype_is_float(dtype)) return tc_graph_const_f(g, dtype, n->type.weak, f, n->loc);
  return tc_graph_const_i(g, dtype, n->type.weak, i, n->loc);
}

tc_ref tc_rewrite_copy(tc_graph *g, tc_graph *of, const tc_node *n, const tc_ref *in) {
  if (n->op == OP_CONST || n->op == OP_DIM) return copy_leaf(g, n);
  const bool named = strstr(tc_op_get(n->op)->attrs, ":S") != NULL; /* the last attribute */
  const int numbers = n->nattr - named;
  const char *string = named ? tc_graph_string(of, n->attr[numbers]) : NULL;
  return tc_build(g, n->op, n->nin, in, numbers, n->attr, string, n->loc);
}

/* Backwards from the roots: when an id is reached all of its readers have been counted. */
static uint32_t *count_uses(const tc_graph *g) {
  uint32_t count = tc_graph_count(g);
  uint32_t *uses = calloc(count + 1u, sizeof *uses);
  if (!uses) return NULL;
  for (uint32_t i = 0; i < tc_graph_output_count(g); i++) uses[tc_graph_output_at(g, i).id]++;
  for (uint32_t i = 0, input; i < tc_graph_write_count(g); i++)
    uses[tc_graph_write_at(g, i, &input).id]++;
  if (tc_graph_effect(g).id) uses[tc_graph_effect(g).id]++;
  for (uint32_t id = count; id > 0; id--) {
    const tc_node *n = tc_graph_node(g, (tc_ref){id});
    for (int i = 0; uses[id] && i < n->nin; i++) uses[n->in[i].id]++;
  }
  return uses;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool is_argument(const tc_node *n) { return n->op == OP_INPUT || n->op == OP_SCALAR; }

static tc_ref step(tc_rewrite *w, tc_rewrite_fn *rule, tc_ref r, tc_ref *in) {
  const tc_node *n = tc_graph_node(w->old, r);
  if (is_argument(n)) return r; /* arguments keep their ids */
  if (!n->nin && (n->op == OP_CONST || n->op == OP_DIM)) return copy_leaf(w->g, n);
  for (int i = 0; i < n->nin; i++) in[i] = w->map[n->in[i].id];
  return rule(w, r, n, in);
}

static bool walk(tc_rewrite *w, tc_rewrite_fn *rule) {
  tc_ref in[256];
  for (uint32_t id = 1; id <= tc_graph_count(w->old); id++) {
    if (!w->uses[id]) continue;
    w->map[id] = step(w, rule, (tc_ref){id}, in);
    if (!w->map[id].id) return false;
  }
  return true;
}

static bool map_roots(tc_rewrite *w) {
  for (uint32_t i = 0; i < tc_graph_output_count(w->old); i++)
    if (!tc_graph_output(w->g, w->map[tc_graph_output_at(w->old, i).id])) return false;
  for (uint32_t i = 0, input; i < tc_graph_write_count(w->old); i++) {
    tc_ref value = tc_graph_write_at(w->old, i, &input);
    if (!tc_graph_write(w->g, input, w->map[value.id])) return false;
  }
  return tc_graph_set_effect(w->g, w->map[tc_graph_effect(w->old).id]);
}

tc_graph *tc_rewrite_run(tc_graph *g, tc_rewrite_fn *rule, void *self) {
  return tc_rewrite_run_planned(g, NULL, rule, self);
}

tc_graph *tc_rewrite_where(tc_graph *g, tc_op op, tc_rewrite_fn *rule) {
  for (uint32_t id = 1; id <= tc_graph_count(g); id++)
    if (tc_graph_node(g, (tc_ref){id})->op == op) return tc_rewrite_run(g, rule, NULL);
  return g;
}

tc_graph *tc_rewrite_run_planned(tc_graph *g, tc_rewrite_plan_fn *plan, tc_rewrite_fn *rule,
                                 void *self) {
  tc_rewrite w = {.old = g, .g = tc_graph_derive(g), .uses = count_uses(g), .self = self};
  w.map = calloc(tc_graph_count(g) + 1u, sizeof *w.map);
  bool ok = w.g && w.map && w.uses && (!plan || plan(&w)) && walk(&w, rule) && map_roots(&w);
  free(w.map);
  free(w.uses);
  bool same = ok && tc_graph_equal(g, w.g);
  if (w.g && (same || !ok)) tc_graph_free(w.g);
  return same ? g : ok ? w.g : NULL;
}

/* ---- equality -------------------------------------------------------------------------------- */

static bool equal_nodes(const tc_node *a, const tc_node *b) {
  if (a->op != b->op || a->nin != b->nin || a->nattr != b->nattr || a->nresult != b->nresult)
    return false;
  if (!tc_type_same(&a->type, &b->type)) return false;
  for (int i = 1; i < a->nresult; i++)
    if (!tc_type_same(&a->result[i], &b->result[i])) return false;
  return (!a->nin || !memcmp(a->in, b->in, a->nin * sizeof *a->in)) &&
         (!a->nattr || !memcmp(a->attr, b->attr, a->nattr * sizeof *a->attr));
}

static bool equal_roots(const tc_graph *a, const tc_graph *b) {
  if (tc_graph_output_count(a) != tc_graph_output_count(b)) return false;
  if (tc_graph_write_count(a) != tc_graph_write_count(b)) return false;
  if (tc_graph_effect(a).id != tc_graph_effect(b).id) return false;
  for (uint32_t i = 0; i < tc_graph_output_count(a); i++)
    if (tc_graph_output_at(a, i).id != tc_graph_output_at(b, i).id) return false;
  for (uint32_t i = 0, x, y; i < tc_graph_write_count(a); i++)
    if (tc_graph_write_at(a, i, &x).id != tc_graph_write_at(b, i, &y).id || x != y) return false;
  return true;
}

bool tc_graph_equal(const tc_graph *a, const tc_graph *b) {
  if (tc_graph_count(a) != tc_graph_count(b) || !equal_roots(a, b)) return false;
  for (uint32_t id = 1; id <= tc_graph_count(a); id++)
    if (!equal_nodes(tc_graph_node(a, (tc_ref){id}), tc_graph_node(b, (tc_ref){id}))) return false;
  return true;
}

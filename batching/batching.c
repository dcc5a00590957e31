/* batching.c - values of one example become values of all of them, node by node.
 *
 * Ids are a topological order, so each step is one loop over ids:
 *   examples  forwards: which values depend on an operand of one example
 *   readers   backwards: which of them an output needs
 *   rules     forwards: the rule of each such node gives its value for all examples */
#include "batching/batching.h"

#include "batching/rules.h"

#include <stdlib.h>
#include <string.h>

enum { DEPENDS = 1, NEEDED = 2 };

/* Arrays by id, [nodes before the call + 1]. */
typedef struct batch {
  tc_graph *g;
  const tc_batching *b;
  uint32_t last; /* output with the greatest id */
  tc_ref *all;   /* of all examples; ref 0: none, or not yet */
  uint8_t *mark;
  tc_ref in[256];
  bool mapped[256];
} batch;

static bool miss(const batch *s, tc_loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool miss(const batch *s, tc_loc loc, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  tc_vreport(tc_graph_diag(s->g), TC_MISSED, loc, format, ap);
  va_end(ap);
  return false;
}

/* ---- what depends on an example, and who needs it -------------------------------------------- */

static void find_examples(batch *s) {
  for (uint32_t i = 0; i < s->b->nmapped; i++) s->mark[s->b->one[i].id] |= DEPENDS;
  for (uint32_t id = 1; id <= s->last; id++) {
    const tc_node *n = tc_graph_node(s->g, (tc_ref){id});
    for (int i = 0; i < n->nin; i++) s->mark[id] |= s->mark[n->in[i].id] & DEPENDS;
  }
}

static void find_readers(batch *s) {
  for (uint32_t k = 0; k < s->b->noutput; k++) s->mark[s->b->output[k].id] |= NEEDED;
  for (uint32_t id = s->last; id > 0; id--) {
    const tc_node *n = tc_graph_node(s->g, (tc_ref){id});
    for (int i = 0; i < n->nin && s->mark[id] & NEEDED; i++) s->mark[n->in[i].id] |= NEEDED;
  }
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Is r what the rule of n has to give: the results of n, each with the axis of the batch in
 * front? */
static bool fits(const batch *s, tc_ref r, const tc_node *n) {
  const tc_node *made = tc_graph_node(s->g, r);
  if (n->nresult > 1)
    return made->op == OP_TUPLE ? made->nin == n->nresult : made->nresult == n->nresult;
  tc_dims *dims = tc_graph_dims(s->g);
  const tc_type *t = &made->type;
  bool same = made->nresult == 1 && t->dtype == n->type.dtype && t->rank == n->type.rank + 1;
  same = same && tc_dim_known_eq(dims, t->dim[0], s->b->size);
  for (int i = 0; same && i < n->type.rank; i++)
    same = tc_dim_known_eq(dims, t->dim[1 + i], tc_dim_norm(dims, n->type.dim[i]));
  return same;
}

static bool visit(batch *s, uint32_t id) {
  const tc_node *n = tc_graph_node(s->g, (tc_ref){id});
  const char *name = tc_op_get(n->op)->text;
  for (int i = 0; i < n->nin; i++) {
    const tc_ref all = s->all[n->in[i].id];
    s->mapped[i] = n->in[i].id && all.id;
    s->in[i] = s->mapped[i] ? all : n->in[i];
    const char *why = s->mapped[i] ? tc_batch_refusal(n->op, i) : NULL;
    if (why) return miss(s, n->loc, "%s is not computed for all examples at once: %s", name, why);
  }
  const dc c = {s->g, n->loc, (tc_dtype)n->type.dtype, false};
  const tc_bat b = {c, n, s->in, s->mapped, s->b->size};
  s->all[id] = tc_bat_rule_of(n->op)->fn(&b);
  if (!s->all[id].id) return miss(s, n->loc, "%s of all examples is beyond what graphs hold", name);
  return fits(s, s->all[id], n) ||
         miss(s, n->loc, "internal: %s of all examples has another shape", name);
}

static bool run(batch *s) {
  for (uint32_t i = 0; i < s->b->nmapped; i++) s->all[s->b->one[i].id] = s->b->all[i];
  for (uint32_t id = 1; id <= s->last; id++)
    if (s->mark[id] == (DEPENDS | NEEDED) && !s->all[id].id && !visit(s, id)) return false;
  return true;
}

/* ---- the request ----------------------------------------------------------------------------- */

static bool finish(batch *s, tc_ref *out) {
  for (uint32_t k = 0; k < s->b->noutput; k++) {
    const tc_ref one = s->b->output[k];
    const tc_type t = *tc_graph_type(s->g, one);
    tc_dim dims[TC_MAX_RANK + 1] = {s->b->size};
    for (int i = 0; i < t.rank; i++) dims[1 + i] = t.dim[i];
    out[k] = s->all[one.id];
    if (!out[k].id) out[k] = tc_build_expand(s->g, one, t.rank + 1, dims, s->b->loc);
    if (!out[k].id) return false;
  }
  return true;
}

static bool begin(batch *s) {
  const size_t n = tc_graph_count(s->g) + 1u;
  for (uint32_t k = 0; k < s->b->noutput; k++) {
    const tc_node *y = tc_graph_node(s->g, s->b->output[k]);
    if (!y || y->nresult > 1 || y->op == OP_EFFECT)
      return miss(s, s->b->loc, "a result is no value of the graph");
    if (s->b->output[k].id > s->last) s->last = s->b->output[k].id;
  }
  s->mark = calloc(n, 1);
  s->all = calloc(n, sizeof *s->all);
  return (s->mark && s->all) || miss(s, s->b->loc, "out of memory");
}

bool tc_batch(tc_graph *g, const tc_batching *b, tc_ref *out, tc_ref *batched) {
  batch s = {.g = g, .b = b};
  const uint32_t count = tc_graph_count(g);
  bool ok = begin(&s);
  if (ok) {
    find_examples(&s);
    find_readers(&s);
    ok = run(&s) && finish(&s, out);
  }
  for (uint32_t id = 0; ok && batched && id <= count; id++) batched[id] = s.all[id];
  free(s.mark);
  free(s.all);
  return ok;
}

/* Full of a NaN whose payload is in no other constant: neither is any that a program writes. */
tc_ref tc_batch_example(tc_graph *g, const tc_type *type, tc_loc loc) {
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(type->rank)};
  for (int i = 0; i < type->rank; i++) attr[1 + i] = type->dim[i];
  attr[1 + type->rank] = tc_dim_const(type->dtype);
  for (uint64_t number = tc_graph_count(g);; number++) {
    const uint32_t before = tc_graph_count(g);
    const uint64_t bits = UINT64_C(0x7ffeba7c00000000) | number;
    double nan;
    memcpy(&nan, &bits, sizeof nan);
    const tc_ref value = tc_graph_const_f(g, TC_F64, true, nan, loc);
    if (!value.id || value.id > before)
      return tc_build(g, OP_FULL, 1, &value, type->rank + 2, attr, NULL, loc);
  }
}

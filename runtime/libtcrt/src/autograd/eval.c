/* eval.c - nodes of a graph as operations of the eager library: those that are needed, in order of
 * their ids, each result freed behind its last reader.  What the tape has, but did not keep, is
 * computed again for the first gradient that reads it, so that no more of it lives than that
 * gradient needs. */
#include "runtime/libtcrt/src/autograd/subgraph.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPERANDS = 256 };

typedef struct evaluation {
  const tape_graph *i;
  uint32_t last;   /* the node with the greatest id that is needed */
  uint32_t *reads; /* [last + 1] readers to come; 0: not needed */
  tc_tensor **made;
  TC_VEC(uint32_t) open; /* being computed, the last one for those in front */
} evaluation;

static const tc_node *node_of(const evaluation *e, uint32_t id) {
  return tc_graph_node(e->i->g, (tc_ref){id});
}

static const tape_known *known(const evaluation *e, uint32_t id) {
  const tape_known *k = id < e->i->known.n ? &e->i->known.at[id] : NULL;
  return k && k->at && k->at->data ? k : NULL;
}

/* Of a RESULT the node that has several: its operands are read, and only that result is made. */
static const tc_node *computes(const evaluation *e, const tc_node *n) {
  return n->op == OP_RESULT ? tc_graph_node(e->i->g, n->in[0]) : n;
}

/* ---- what is needed -------------------------------------------------------------------------- */

bool tc_subgraph_written(const tape_plan *p, const tape_op *op, const tc_tensor *x) {
  return tc_fail(
      "%s: the gradient of %s needs its %s, an operand or the result, which was written in "
      "place since; write to a tc_clone, or after the gradients",
      p->name, tc_describe_op(op).text, tc_describe(x).text);
}

/* Is it still what it was? */
static bool is_valid(const evaluation *e, uint32_t id, const tc_node *reader) {
  const tape_known *k = known(e, id);
  const tape_op *op = reader ? tc_subgraph_op(e->i, reader->loc) : NULL;
  if (!k || tc_tape_version(k->at) == k->version) return true;
  if (op) return tc_subgraph_written(e->i->plan, op, k->at);
  return tc_fail("%s: a tensor that it needs, %s, was written in place", e->i->plan->name,
                 tc_describe(k->at).text);
}

static bool count_reads(evaluation *e) {
  for (uint32_t id = e->last; id > 0; id--) {
    if (!e->reads[id] || known(e, id)) continue;
    const tc_node *n = node_of(e, id), *of = computes(e, n);
    if (of->op == OP_INPUT)
      return tc_fail("%s: a value that it needs was not kept", e->i->plan->name);
    for (int k = 0; k < of->nin; k++) {
      const uint32_t in = of->in[k].id;
      if (!in) continue;
      e->reads[in]++;
      if (!is_valid(e, in, n)) return false;
    }
  }
  return true;
}

/* ---- an op ----------------------------------------------------------------------------------- */

static const tc_tensor *value(const evaluation *e, uint32_t id) {
  const tape_known *k = known(e, id);
  return !id ? NULL : k ? k->at : e->made[id];
}

static tc_tensor *constant(const tc_node *n) {
  const tc_dtype d = (tc_dtype)n->type.dtype;
  double f;
  int64_t i;
  tc_tensor *t = tc_node_const(n, &f, &i) ? tc_tensor_new(d, 0, NULL, TC_CPU) : NULL;
  if (!t) return NULL;
  t->key.flags |= TC_FLAG_WEAK;
  if (tc_is_float(d)) tc_store_f(t->data, d, 1, &f, 1);
  else tc_store_i(t->data, d, 1, &i, 1);
  return t;
}

/* One that takes part in promotion stands where the others are. */
static tc_tensor *constant_at(const tc_node *n, tc_device device) {
  tc_tensor *t = constant(n);
  if (!t || n->type.weak) return t;
  t->key.flags &= (uint8_t)~TC_FLAG_WEAK;
  if (device == TC_CPU) return t;
  tc_tensor *there = tc_to(t, device);
  tc_free(t);
  return there;
}

static const char *string_of(const evaluation *e, const tc_node *n) {
  const bool has = n->nattr && strstr(tc_op_get(n->op)->attrs, ":S");
  return has ? tc_graph_string(e->i->g, n->attr[n->nattr - 1]) : NULL;
}

/* Result `wanted` of the node. */
static tc_tensor *run_op(const evaluation *e, const tc_node *n, int wanted) {
  const tape_op *op = tc_subgraph_op(e->i, n->loc);
  const tc_tensor *in[MOST_OPERANDS];
  tc_type type[MOST_OPERANDS];
  const tc_type *type_at[MOST_OPERANDS];
  tc_tensor *other = NULL, **further[TC_MAX_RESULTS] = {NULL};
  for (int k = 0; k < n->nin; k++) {
    in[k] = value(e, n->in[k].id);
    if (in[k]) type[k] = tc_type_of(in[k]);
    type_at[k] = in[k] ? &type[k] : NULL;
  }
  if (wanted) further[wanted - 1] = &other;
  tc_eager_call c = {.op = n->op,
                     .name = op ? op->name : e->i->plan->name,
                     .nin = n->nin,
                     .in = in,
                     .type = type_at,
                     .attr = n->attr,
                     .further = further,
                     .string = string_of(e, n),
                     .device = e->i->plan->op.at[e->i->of.first]->device};
  tc_tensor *first = tc_tape_run(&c, n->nattr, n->nresult - 1);
  if (wanted) tc_free(first);
  return wanted ? other : first;
}

static tc_tensor *run_node(const evaluation *e, const tc_node *n) {
  const tc_device device = e->i->plan->op.at[e->i->of.first]->device;
  if (n->op == OP_CONST) return constant_at(n, device);
  if (n->op == OP_DETACH) return tc_detach(value(e, n->in[0].id));
  if (n->op != OP_RESULT) return run_op(e, n, 0);
  return run_op(e, tc_graph_node(e->i->g, n->in[0]), (int)tc_dim_value(n->attr[0]));
}

static void forget(evaluation *e, uint32_t id) {
  if (!id || --e->reads[id]) return;
  tc_free(e->made[id]);
  e->made[id] = NULL;
}

/* An operand that is still to be computed; 0: none. */
static uint32_t missing(const evaluation *e, const tc_node *of) {
  for (int k = 0; k < of->nin; k++)
    if (of->in[k].id && !value(e, of->in[k].id)) return of->in[k].id;
  return 0;
}

/* The node, and what it needs. */
static bool make(evaluation *e, uint32_t id) {
  e->open.n = 0;
  if (value(e, id)) return true;
  if (!tc_push(&e->open, id)) return tc_tape_no_memory();
  while (e->open.n) {
    const uint32_t at = e->open.at[e->open.n - 1];
    const tc_node *n = node_of(e, at), *of = computes(e, n);
    const uint32_t before = missing(e, of);
    if (before && !tc_push(&e->open, before)) return tc_tape_no_memory();
    if (before) continue;
    e->made[at] = run_node(e, n);
    if (!e->made[at]) return false;
    for (int k = 0; k < of->nin; k++) forget(e, of->in[k].id);
    e->open.n--;
  }
  return true;
}

static bool run_all(evaluation *e, uint32_t n, const tc_ref *ref) {
  for (uint32_t id = e->i->forward + 1; id <= e->last; id++)
    if (e->reads[id] && !make(e, id)) return false;
  for (uint32_t k = 0; k < n; k++)
    if (!make(e, ref[k].id)) return false;
  return true;
}

/* ---- what is handed out ---------------------------------------------------------------------- */

/* A contiguous tensor over memory of its own. */
static tc_tensor *take(evaluation *e, uint32_t id) {
  const tc_tensor *x = value(e, id);
  tc_tensor *own = e->made[id];
  const bool dense = own && own->key.flags & TC_FLAG_CONTIGUOUS && own->storage &&
                     tc_tape_headers(own->storage) == 1;
  if (!dense || e->reads[id] > 1) return tc_clone(x);
  e->made[id] = NULL;
  return own;
}

static bool hand_out(evaluation *e, uint32_t n, const tc_ref *ref, tc_tensor **out) {
  for (uint32_t k = 0; k < n; k++) {
    out[k] = take(e, ref[k].id);
    forget(e, ref[k].id);
    if (out[k]) continue;
    for (; k > 0; out[k] = NULL) tc_free(out[--k]);
    return false;
  }
  return true;
}

static bool begin(evaluation *e, uint32_t n, const tc_ref *ref) {
  for (uint32_t k = 0; k < n; k++)
    if (ref[k].id > e->last) e->last = ref[k].id;
  e->reads = calloc(e->last + 1u, sizeof *e->reads);
  e->made = calloc(e->last + 1u, sizeof *e->made);
  if (!e->reads || !e->made) return tc_tape_no_memory();
  for (uint32_t k = 0; k < n; k++) {
    e->reads[ref[k].id]++;
    if (!is_valid(e, ref[k].id, NULL)) return false;
  }
  return true;
}

bool tc_subgraph_evaluate(const tape_graph *i, uint32_t n, const tc_ref *ref, tc_tensor **out) {
  evaluation e = {.i = i};
  const bool ok =
      begin(&e, n, ref) && count_reads(&e) && run_all(&e, n, ref) && hand_out(&e, n, ref, out);
  for (uint32_t id = 0; e.made && id <= e.last; id++) tc_free(e.made[id]);
  free(e.reads);
  free(e.made);
  free(e.open.at);
  return ok;
}

/* evaluate.c - the nodes of a graph as eager operations, in order; each result is freed behind its
 * last reader. */
#include <stdlib.h>
#include <string.h>

#include "runtime/libtcrt/src/eager/eager.h"
#include "tools/opt/run.h"

typedef struct evaluation {
  tc_graph *g;
  const run_values *v;
  uint32_t *reads;                    /* [nodes + 1] readers to come */
  tc_tensor *(*made)[TC_MAX_RESULTS]; /* [nodes + 1] results; those of inputs are borrowed */
} evaluation;

static const tc_node *node_of(const evaluation *e, uint32_t id) {
  return tc_graph_node(e->g, (tc_ref){id});
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* A C number where it does not take part in promotion. */
static tc_tensor *number(tc_dtype d, bool weak, double f, int64_t i) {
  tc_tensor *t = tc_tensor_new(d, 0, NULL, TC_CPU);
  if (!t) return NULL;
  if (weak) t->key.flags |= TC_FLAG_WEAK;
  if (tc_dtype_is_float(d)) tc_store_f(t->data, d, 1, &f, 1);
  else tc_store_i(t->data, d, 1, &i, 1);
  return t;
}

static tc_tensor *leaf(const evaluation *e, const tc_node *n) {
  const tc_dtype d = (tc_dtype)n->type.dtype;
  double f = 0;
  int64_t i = 0;
  if (n->op == OP_INPUT) return e->v->input[tc_dim_value(n->attr[0])];
  if (n->op == OP_SCALAR) {
    f = e->v->real[tc_dim_value(n->attr[0])];
    i = e->v->whole[tc_dim_value(n->attr[0])];
  } else if (n->op == OP_CONST) {
    tc_node_const(n, &f, &i);
  } else if (!tc_dim_eval(tc_graph_dims(e->g), n->attr[0], e->v->size, &i)) {
    return tc_fail("a size is past 64 bits");
  }
  return number(d, n->type.weak, f, i);
}

/* ---- ops ------------------------------------------------------------------------------------- */

static const char *string_of(const evaluation *e, const tc_node *n) {
  const bool has = n->nattr && strstr(tc_op_get(n->op)->attrs, ":S");
  return has ? tc_graph_string(e->g, n->attr[n->nattr - 1]) : NULL;
}

static bool take_attributes(const evaluation *e, const tc_node *n, tc_dim *attr) {
  for (int i = 0; i < n->nattr; i++) {
    int64_t value;
    if (!tc_dim_eval(tc_graph_dims(e->g), n->attr[i], e->v->size, &value))
      return tc_fail("%s: a size is past 64 bits", tc_op_get(n->op)->text);
    attr[i] = tc_dim_const(value);
  }
  return true;
}

/* With room for its operands and attributes. */
static bool run_op(const evaluation *e, const tc_node *n, const tc_tensor **in, tc_type *type,
                   const tc_type **type_at, tc_dim *attr, tc_tensor **out) {
  tc_tensor **further[TC_MAX_RESULTS];
  for (int k = 0; k < n->nin; k++) {
    in[k] = n->in[k].id ? e->made[n->in[k].id][0] : NULL;
    if (in[k]) type[k] = tc_type_of(in[k]);
    type_at[k] = in[k] ? &type[k] : NULL;
  }
  for (int k = 1; k < n->nresult; k++) further[k - 1] = &out[k];
  tc_eager_call c = {.op = n->op,
                     .name = tc_op_get(n->op)->text,
                     .nin = n->nin,
                     .in = in,
                     .type = type_at,
                     .attr = attr,
                     .string = string_of(e, n),
                     .device = TC_CPU,
                     .further = further};
  return take_attributes(e, n, attr) && (out[0] = tc_eager_run(&c, n->nattr));
}

static bool op(const evaluation *e, const tc_node *n, tc_tensor **out) {
  const size_t nin = n->nin + 1u, nattr = n->nattr + 1u;
  const tc_tensor **in = calloc(nin, sizeof *in);
  tc_type *type = calloc(nin, sizeof *type);
  const tc_type **type_at = calloc(nin, sizeof *type_at);
  tc_dim *attr = calloc(nattr, sizeof *attr);
  const bool room = in && type && type_at && attr;
  const bool ok = room ? run_op(e, n, in, type, type_at, attr, out)
                       : tc_fail_as(TC_ERROR_MEMORY, "out of memory") != NULL;
  free(in);
  free(type);
  free(type_at);
  free(attr);
  return ok;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool make(const evaluation *e, uint32_t id) {
  const tc_node *n = node_of(e, id);
  tc_tensor **out = e->made[id];
  switch (tc_op_get(n->op)->cls) {
  case TC_CLASS_LEAF:
    return (out[0] = leaf(e, n));
  case TC_CLASS_CALL:
  case TC_CLASS_EFFECT:
    return tc_fail(
        "the graph calls a function of the program that it was made from, which is not here");
  case TC_CLASS_TUPLE:
    for (int k = 0; n->op == OP_TUPLE && k < n->nin; k++)
      if (!(out[k] = tc_contiguous(e->made[n->in[k].id][0]))) return false;
    if (n->op == OP_RESULT) out[0] = tc_contiguous(e->made[n->in[0].id][tc_dim_value(n->attr[0])]);
    return out[0];
  default:
    return n->op == OP_DETACH ? (out[0] = tc_detach(e->made[n->in[0].id][0])) != NULL
                              : op(e, n, out);
  }
}

static void drop(const evaluation *e, uint32_t id) {
  if (!id || e->reads[id]) return;
  for (int k = 0; k < TC_MAX_RESULTS && node_of(e, id)->op != OP_INPUT; k++) {
    tc_free(e->made[id][k]);
    e->made[id][k] = NULL;
  }
}

static tc_ref root(const evaluation *e, uint32_t i) {
  uint32_t input;
  const uint32_t outputs = tc_graph_output_count(e->g);
  return i < outputs ? tc_graph_output_at(e->g, i) : tc_graph_write_at(e->g, i - outputs, &input);
}

static void count_reads(const evaluation *e, uint32_t nodes, uint32_t roots) {
  for (uint32_t i = 0; i < roots; i++) e->reads[root(e, i).id]++;
  e->reads[tc_graph_effect(e->g).id]++;
  for (uint32_t id = nodes; id > 0; id--)
    for (int k = 0; e->reads[id] && k < node_of(e, id)->nin; k++)
      e->reads[node_of(e, id)->in[k].id]++;
}

static bool evaluate(const evaluation *e, uint32_t nodes) {
  for (uint32_t id = 1; id <= nodes; id++) {
    if (!e->reads[id]) continue;
    if (!make(e, id)) return false;
    for (int k = 0; k < node_of(e, id)->nin; k++) {
      const uint32_t in = node_of(e, id)->in[k].id;
      if (in) e->reads[in]--, drop(e, in);
    }
  }
  return true;
}

bool run_graph(tc_graph *g, const run_values *v, tc_tensor **out) {
  const uint32_t nodes = tc_graph_count(g),
                 roots = tc_graph_output_count(g) + tc_graph_write_count(g);
  evaluation e = {g, v, calloc(nodes + 1u, sizeof *e.reads), calloc(nodes + 1u, sizeof *e.made)};
  bool ok = e.reads && e.made;
  if (!ok) tc_fail_as(TC_ERROR_MEMORY, "out of memory");
  if (ok) count_reads(&e, nodes, roots);
  ok = ok && evaluate(&e, nodes);
  for (uint32_t i = 0; i < roots; i++) {
    out[i] = ok ? tc_clone(e.made[root(&e, i).id][0]) : NULL;
    ok = ok && out[i];
  }
  for (uint32_t id = 1; e.reads && e.made && id <= nodes; id++) e.reads[id] = 0, drop(&e, id);
  free(e.reads);
  free(e.made);
  return ok;
}

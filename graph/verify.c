/* The rules of graph/graph.h, checked.  Passes run between two of these. */
#include "graph/graph_impl.h"
#include "graph/passes/pass.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tc_graph *g;
  char *message;
  size_t size;
} check;

static bool violated(check *k, uint32_t id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool violated(check *k, uint32_t id, const char *format, ...) {
  const tc_node *n = tc_graph_node(k->g, (tc_ref){id});
  const tc_op_info *info = n ? tc_op_get(n->op) : NULL;
  tc_buf b = {0};
  if (n) tc_putf(&b, "%%%u = %s: ", id, info ? info->text : "?");
  va_list ap;
  va_start(ap, format);
  tc_vputf(&b, format, ap);
  va_end(ap);
  snprintf(k->message, k->size, "%s", b.text ? b.text : "out of memory");
  tc_buf_free(&b);
  return false;
}

/* Operands are older nodes; only optional ones may be missing. */
static bool check_operands(check *k, uint32_t id, const tc_node *n) {
  const tc_op_info *info = tc_op_get(n->op);
  if (n->nin < info->min_in || (n->nin > info->max_in && info->max_in != 255))
    return violated(k, id, "has %u operands", n->nin);
  for (int i = 0; i < n->nin; i++) {
    if (n->in[i].id >= id)
      return violated(k, id, "operand %d is not older: %%%u", i + 1, n->in[i].id);
    bool optional = i < 32 && (uint32_t)tc_op_get(n->op)->optional >> i & 1;
    if (!n->in[i].id && !optional) return violated(k, id, "operand %d is missing", i + 1);
  }
  return true;
}

/* Sizes are compared as known now: later assumptions may have refined older types. */
static bool same_now(tc_dims *c, tc_type a, tc_type b) {
  for (int i = 0; i < a.rank && i < TC_MAX_RANK; i++) a.dim[i] = tc_dim_norm(c, a.dim[i]);
  for (int i = 0; i < b.rank && i < TC_MAX_RANK; i++) b.dim[i] = tc_dim_norm(c, b.dim[i]);
  return tc_type_same(&a, &b);
}

/* The same, or equal by an assumption that no symbol was replaced by. */
static bool equal_now(tc_dims *c, const tc_type *a, const tc_type *b) {
  bool equal = a->dtype == b->dtype && a->rank == b->rank && a->weak == b->weak;
  for (int i = 0; equal && i < a->rank; i++) equal = tc_dim_known_eq(c, a->dim[i], b->dim[i]);
  return equal;
}

static bool check_declared(check *k, uint32_t id, const tc_node *n) {
  uint32_t i = n->nattr == 1 && tc_dim_is_const(n->attr[0]) ? (uint32_t)tc_dim_value(n->attr[0])
                                                            : UINT32_MAX;
  const tc_input *in = n->op == OP_INPUT ? tc_graph_input_at(k->g, i) : NULL;
  const tc_scalar_arg *s = n->op == OP_SCALAR ? tc_graph_scalar_at(k->g, i) : NULL;
  if (!in && !s) return violated(k, id, "is not declared");
  if ((in ? in->node.id : s->node.id) != id)
    return violated(k, id, "is not the node of its declaration");
  if (in && !tc_type_same(&in->type, &n->type))
    return violated(k, id, "differs from its declaration");
  if (s && (n->type.rank || !n->type.weak || n->type.dtype != s->dtype))
    return violated(k, id, "differs from its declaration");
  return true;
}

static bool check_type(check *k, uint32_t id, const tc_node *n) {
  node_key key = {n->op, n->nin, n->nattr, n->in, n->attr};
  const char *schema = tc_op_get(n->op)->attrs;
  const char *kind = strstr(schema, ":S");
  const char *string = kind && n->nattr ? tc_graph_string(k->g, n->attr[n->nattr - 1]) : NULL;
  if (kind && !string) return violated(k, id, "its string is not in the graph");
  refusal why = {0};
  tc_type t[TC_MAX_RESULTS];
  const tc_type *types = tc_graph_type(k->g, (tc_ref){id});
  const int count = tc_graph_infer(k->g, &key, string, t, &why);
  if (!count) return violated(k, id, "%s", why.message);
  if (count != n->nresult) return violated(k, id, "has %d results, not %d", n->nresult, count);
  int i = 0;
  while (i < count && same_now(tc_graph_dims(k->g), t[i], types[i])) i++;
  if (i == count) return true;
  tc_buf said = {0}, is = {0};
  tc_type_print(tc_graph_dims(k->g), &types[i], &said);
  tc_type_print(tc_graph_dims(k->g), &t[i], &is);
  violated(k, id, "has type %s, not %s", said.text, is.text);
  tc_buf_free(&said);
  tc_buf_free(&is);
  return false;
}

static bool check_node(check *k, uint32_t id, bool *leaves) {
  const tc_node *n = tc_graph_node(k->g, (tc_ref){id});
  if (!tc_op_get(n->op)) return violated(k, id, "no such op");
  if (n->op == OP_INPUT || n->op == OP_SCALAR)
    return *leaves ? check_declared(k, id, n) : violated(k, id, "stands behind other nodes");
  *leaves = false;
  if (!check_operands(k, id, n) || !check_type(k, id, n)) return false;
  node_key key = {n->op, n->nin, n->nattr, n->in, n->attr};
  tc_ref found = tc_graph_find(k->g, &key);
  return found.id == id || violated(k, id, "is not found under its key: %%%u is", found.id);
}

static bool check_writes(check *k) {
  for (uint32_t i = 0, input = 0; i < tc_graph_write_count(k->g); i++) {
    const tc_node *v = tc_graph_node(k->g, tc_graph_write_at(k->g, i, &input));
    const tc_input *to = tc_graph_input_at(k->g, input);
    if (!v || !to) return violated(k, 0, "write %u: no such node", i);
    if (!to->written)
      return violated(k, 0, "write %u: \"%s\" is not marked as written", i, to->name);
    tc_type a = v->type, b = to->type;
    a.weak = b.weak = false;
    if (!equal_now(tc_graph_dims(k->g), &a, &b))
      return violated(k, 0, "write %u: another type than \"%s\"", i, to->name);
  }
  return true;
}

bool tc_graph_verify(tc_graph *g, char *message, size_t size) {
  check k = {g, message, size};
  bool leaves = true;
  if (size) message[0] = 0;
  for (uint32_t id = 1; id <= tc_graph_count(g); id++)
    if (!check_node(&k, id, &leaves)) return false;
  for (uint32_t i = 0; i < tc_graph_output_count(g); i++)
    if (!tc_graph_node(g, tc_graph_output_at(g, i)))
      return violated(&k, 0, "result %u: no such node", i);
  return check_writes(&k);
}

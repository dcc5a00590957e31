/* Printing a graph.  The grammar is in graph/text.h; the reader is graph/text_parse.c. */
#include "graph/text.h"
#include "graph/graph_impl.h"
#include "graph/text_sizes.h"

#include <inttypes.h>
#include <string.h>

static void put_const(const tc_node *n, tc_buf *out) {
  double f;
  int64_t i;
  tc_node_const(n, &f, &i);
  tc_putf(out, " %s%s ", n->type.weak ? "weak " : "", tc_dtype_text((tc_dtype)n->type.dtype));
  if (tc_dtype_is_float((tc_dtype)n->type.dtype)) tc_put_double(out, f);
  else tc_putf(out, "%" PRId64, i);
}

/* A size as known now: later assumptions may have refined it. */
static void put_dim(tc_dims *c, tc_dim d, tc_buf *out) {
  tc_dim_print(c, tc_dim_norm(c, d), NULL, out);
}

static void put_type(tc_dims *c, tc_type t, tc_buf *out) {
  for (int i = 0; i < t.rank; i++) t.dim[i] = tc_dim_norm(c, t.dim[i]);
  tc_type_print(c, &t, out);
}

static void put_leaf(tc_graph *g, const tc_node *n, tc_buf *out) {
  tc_dims *c = tc_graph_dims(g);
  uint32_t k = (uint32_t)tc_dim_value(n->attr[0]);
  switch (n->op) {
  case OP_INPUT:
    tc_put(out, " ");
    tc_type_print(c, &n->type, out);
    tc_put(out, " ");
    tc_put_quoted(out, tc_graph_input_at(g, k)->name);
    if (tc_graph_input_at(g, k)->leaf) tc_put(out, " leaf");
    if (tc_graph_input_at(g, k)->row_major) tc_put(out, " row_major");
    if (tc_graph_input_at(g, k)->detached) tc_put(out, " detached");
    break;
  case OP_SCALAR:
    tc_putf(out, " %s ", tc_dtype_text((tc_dtype)n->type.dtype));
    tc_put_quoted(out, tc_graph_scalar_at(g, k)->name);
    break;
  case OP_CONST:
    put_const(n, out);
    break;
  default:
    tc_put(out, n->type.weak ? " weak " : " ");
    put_dim(c, n->attr[0], out);
  }
}

static void put_attrs(tc_graph *g, const tc_node *n, tc_buf *out) {
  tc_dims *c = tc_graph_dims(g);
  const tc_dim *v = n->attr;
  for (const char *s = tc_op_get(n->op)->attrs; *s; s += strcspn(s, " "), s += *s == ' ') {
    size_t length = strcspn(s, ":");
    tc_put(out, " ");
    tc_putn(out, s, length);
    tc_put(out, "=");
    switch (s[length + 1]) {
    case 'D':
      tc_put(out, tc_dtype_text((tc_dtype)tc_dim_value(*v++)));
      break;
    case 'S':
      tc_put_quoted(out, tc_graph_string(g, *v++));
      break;
    case 'I':
      tc_put(out, "[");
      for (int64_t i = 0, items = tc_dim_value(*v++); i < items; i++) {
        if (i) tc_put(out, ",");
        put_dim(c, *v++, out);
      }
      tc_put(out, "]");
      break;
    default:
      put_dim(c, *v++, out);
    }
  }
}

static void put_node(tc_graph *g, uint32_t id, tc_buf *out) {
  const tc_node *n = tc_graph_node(g, (tc_ref){id});
  tc_putf(out, "%%%" PRIu32 " = %s", id, tc_op_get(n->op)->text);
  if (tc_op_get(n->op)->cls == TC_CLASS_LEAF) put_leaf(g, n, out);
  else {
    for (int i = 0; i < n->nin; i++) {
      if (n->in[i].id) tc_putf(out, " %%%" PRIu32, n->in[i].id);
      else tc_put(out, " _");
    }
    put_attrs(g, n, out);
    const tc_type *type = tc_graph_type(g, (tc_ref){id});
    for (int i = 0; i < n->nresult; i++) {
      tc_put(out, i ? " " : " : ");
      put_type(tc_graph_dims(g), type[i], out);
    }
  }
  if (n->loc.line) tc_putf(out, " ; %" PRIu32 ":%" PRIu32, n->loc.line, n->loc.col);
  tc_put(out, "\n");
}

void tc_graph_print(tc_graph *g, tc_buf *out) {
  uint32_t id = 1, leaves = tc_graph_input_count(g) + tc_graph_scalar_count(g);
  tc_putf(out, "graph %s\n", tc_graph_name(g));
  tc_put_symbols(tc_graph_dims(g), out);
  for (; id <= leaves; id++) put_node(g, id, out);
  tc_put_assumptions(tc_graph_dims(g), out);
  for (; id <= tc_graph_count(g); id++) put_node(g, id, out);
  for (uint32_t i = 0, input; i < tc_graph_write_count(g); i++) {
    uint32_t value = tc_graph_write_at(g, i, &input).id;
    tc_putf(out, "write %%%" PRIu32 " -> %%%" PRIu32 "\n", value,
            tc_graph_input_at(g, input)->node.id);
  }
  if (tc_graph_effect(g).id) tc_putf(out, "effects %%%" PRIu32 "\n", tc_graph_effect(g).id);
  if (!tc_graph_output_count(g)) return;
  tc_put(out, "ret");
  for (uint32_t i = 0; i < tc_graph_output_count(g); i++)
    tc_putf(out, " %%%" PRIu32, tc_graph_output_at(g, i).id);
  tc_put(out, "\n");
}

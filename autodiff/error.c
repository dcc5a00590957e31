/* error.c - why there is no gradient, with the path of ops that it would have taken. */
#include "autodiff/vjp.h"

bool vj_fail(sweep *s, tc_loc loc, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  tc_vreport(tc_graph_diag(s->g), TC_ERROR, loc, format, ap);
  va_end(ap);
  return false;
}

bool vj_check_shape(sweep *s, tc_ref value, const tc_type *t, const char *what) {
  tc_dims *dims = tc_graph_dims(s->g);
  const tc_type *have = tc_graph_type(s->g, value);
  bool same = have && have->rank == t->rank;
  for (int i = 0; same && i < t->rank; i++)
    same = !tc_dim_bad(tc_dim_unify(dims, have->dim[i], t->dim[i]));
  if (same) return true;
  tc_buf a = {0}, b = {0};
  if (have) tc_shape_print(dims, have, &a);
  tc_shape_print(dims, t, &b);
  vj_fail(s, s->a->loc, "%s is %s, and the value %s", what, a.text ? a.text : "of another graph",
          b.text ? b.text : "");
  tc_buf_free(&a);
  tc_buf_free(&b);
  return false;
}

bool vj_report_limit(sweep *s, const tc_node *n) {
  tc_report(tc_graph_diag(s->g), TC_MISSED, n->loc, "the gradient of %s is beyond what graphs hold",
            tc_op_get(n->op)->text);
  return false;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* "x" for an argument, else what made it. */
static void put_value(const tc_graph *g, uint32_t id, tc_buf *out) {
  const tc_node *n = tc_graph_node(g, (tc_ref){id});
  const bool named = n->op == OP_INPUT || n->op == OP_SCALAR;
  const uint32_t index = named ? (uint32_t)tc_dim_value(n->attr[0]) : 0;
  if (n->op == OP_INPUT) tc_putf(out, "\"%s\"", tc_graph_input_at(g, index)->name);
  else if (n->op == OP_SCALAR) tc_putf(out, "\"%s\"", tc_graph_scalar_at(g, index)->name);
  else tc_putf(out, "the result of %s", tc_op_get(n->op)->text);
}

enum { SHOWN = 6 }; /* ops at each end of a long path */

/* The ops from `id`, exclusive, to the output; those of a RESULT are its node's. */
static void put_path(const sweep *s, uint32_t id, tc_buf *out) {
  uint32_t length = 0, k = 0;
  for (uint32_t at = id; s->reader[at] != at; at = s->reader[at]) length++;
  for (uint32_t at = id; s->reader[at] != at; k++) {
    at = s->reader[at];
    const tc_node *n = tc_graph_node(s->g, (tc_ref){at});
    if (length > 2 * SHOWN && k == SHOWN) tc_putf(out, ", %u more", length - 2 * SHOWN);
    if ((length > 2 * SHOWN && k >= SHOWN && k < length - SHOWN) || n->op == OP_RESULT) continue;
    tc_putf(out, "%s%s", k ? ", " : "", tc_op_get(n->op)->text);
  }
}

/* The first node on the way from w to the output that no derivative passes. */
static uint32_t obstacle(const sweep *s, uint32_t w, int *operand) {
  for (uint32_t at = w; s->reader[at] != at; at = s->reader[at]) {
    const tc_ref reader = {s->reader[at]};
    const tc_node *n = tc_graph_node(s->g, reader);
    *operand = 0;
    for (int i = 0; i < n->nin; i++)
      if (n->in[i].id == at) *operand = i;
    if (!vj_is_float(s->g, reader) || !tc_vjp_differentiates(n->op, *operand)) return reader.id;
  }
  return w;
}

static bool report(sweep *s, uint32_t w, uint32_t at, const char *why) {
  const tc_node *n = tc_graph_node(s->g, (tc_ref){at});
  tc_buf text = {0};
  if (n->op == OP_RESULT) n = tc_graph_node(s->g, n->in[0]);
  tc_putf(&text, "%s has no gradient (%s); ", tc_op_get(n->op)->text, why);
  put_value(s->g, w, &text);
  tc_put(&text, " reaches what is differentiated by ");
  put_path(s, w, &text);
  tc_report(tc_graph_diag(s->g), TC_ERROR, n->loc, "%s", text.text ? text.text : "out of memory");
  tc_buf_free(&text);
  return false;
}

/* Why nothing passes from node `at` to its operand. */
static const char *reason(const sweep *s, uint32_t at, int operand) {
  const tc_node *n = tc_graph_node(s->g, (tc_ref){at});
  const char *why = tc_autodiff_refusal(n->op, operand);
  return why ? why : "its result is no floating number";
}

bool vj_report_cut(sweep *s, tc_ref w) {
  int operand = 0;
  const uint32_t at = obstacle(s, w.id, &operand);
  return report(s, w.id, at, reason(s, at, operand));
}

bool vj_report_missing(sweep *s, tc_ref at, int operand) {
  uint32_t w = at.id, below = tc_graph_node(s->g, at)->in[operand].id;
  for (;; below = s->source[w]) { /* the path reported is the one that leads through `at` */
    s->reader[below] = w;
    w = below;
    if (s->source[w] == w) break;
  }
  return report(s, w, at.id, reason(s, at.id, operand));
}

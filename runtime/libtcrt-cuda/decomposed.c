/* Ops without a form: a graph of one node with constant sizes, taken apart by the compiler's own
 * passes and evaluated node by node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes/pass.h"
#include "runtime/libtcrt-cuda/eager.h"

static const tc_loc nowhere;

/* ---- the graph ------------------------------------------------------------------------------- */

typedef struct message {
  char text[300];
} message;

static void note(void *self, tc_severity severity, tc_loc loc, const char *text) {
  message *m = self;
  (void)severity;
  (void)loc;
  if (!m->text[0]) snprintf(m->text, sizeof m->text, "%s", text);
}

static tc_ref constant(tc_graph *g, const tc_tensor *x, const tc_type *type) {
  tc_dtype d = (tc_dtype)type->dtype;
  if (tc_dtype_is_float(d)) return tc_graph_const_f(g, d, type->weak, tc_item(x), nowhere);
  return tc_graph_const_i(g, d, type->weak, tc_item_int(x), nowhere);
}

/* Inputs come first, then the constants among the operands; missing ones stay ref 0. */
static bool add_operands(tc_graph *g, const tc_eager_call *c, tc_ref *ref) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < c->nin; i++) {
      if (!c->in[i] || tc_is_scalar(c->in[i]) != (pass == 1)) continue;
      tc_type type = *c->type[i];
      type.weak = type.weak && pass == 1;
      ref[i] = pass ? constant(g, c->in[i], &type) : tc_graph_input(g, "x", &type, nowhere);
      if (!ref[i].id) return false;
    }
  return true;
}

static tc_graph *graph_of(const tc_op_call *o, tc_diag *diag) {
  const tc_eager_call *c = o->c;
  tc_graph *g = tc_graph_new(c->name, diag);
  tc_ref *ref = calloc((size_t)c->nin + 1, sizeof *ref);
  tc_ref y = {0};
  int nattr = c->string ? o->nattr - 1 : o->nattr; /* tc_build adds the string's */
  if (g && ref && add_operands(g, c, ref))
    y = tc_build(g, c->op, c->nin, ref, nattr, c->attr, c->string, nowhere);
  free(ref);
  if (y.id && tc_graph_output(g, y)) return tc_graph_optimize(g);
  tc_graph_free(g);
  return NULL;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

typedef struct evaluation {
  const tc_op_call *o;
  tc_graph *g;
  const tc_tensor **value; /* by node */
  tc_number *number;       /* likewise, of constants */
} evaluation;

static tc_ints list(const tc_node *n, const char *name) {
  const tc_dim *items;
  tc_ints v = {tc_attr_list(n, name, &items), {0}};
  for (int i = 0; i < v.n; i++) v.v[i] = tc_dim_value(items[i]);
  return v;
}

static int64_t attr(const tc_node *n, const char *name) {
  return tc_dim_value(tc_attr_int(n, name));
}

/* Ops that libtcrt does by itself on a device. */
static const tc_tensor *run_native(const tc_node *n, const tc_tensor *const *in) {
  switch (n->op) {
  case OP_RESHAPE:
    return tc_reshape(in[0], list(n, "dims"));
  case OP_PERMUTE:
    return tc_permute(in[0], list(n, "axes"));
  case OP_EXPAND:
    return tc_expand(in[0], list(n, "dims"));
  case OP_FLIP:
    return tc_flip(in[0], list(n, "axes"));
  case OP_SLICE:
    return tc_slice(in[0], (int)attr(n, "axis"), attr(n, "start"), attr(n, "stop"),
                    attr(n, "step"));
  case OP_UNFOLD:
    return tc_unfold(in[0], (int)attr(n, "axis"), attr(n, "size"), attr(n, "step"));
  case OP_CONCAT:
    return tc_concat(in, n->nin, (int)attr(n, "axis"));
  case OP_PAD:
    return tc_pad(in[0], list(n, "before"), list(n, "after"), tc_item(in[1]));
  default:
    return NULL;
  }
}

static bool is_native(tc_op op) {
  tc_class cls = tc_op_get(op)->cls;
  return cls == TC_CLASS_VIEW || cls == TC_CLASS_JOIN;
}

/* By its form, in the name of the op that was called. */
static const tc_tensor *run_form(const evaluation *e, const tc_node *n, const tc_tensor *const *in,
                                 const tc_type *const *type) {
  tc_eager_call c = *e->o->c;
  c.op = n->op;
  c.nin = n->nin;
  c.in = in;
  c.type = type;
  c.attr = n->attr;
  tc_op_call o = {.c = &c, .nattr = n->nattr, .type = n->type};
  bool none = false;
  tc_tensor *y = tc_form_run(&o, &none);
  if (none)
    tcrt_fail("%s: libtcrt-cuda.so has no kernel for %s of %s", c.name, tc_op_get(n->op)->text,
              tc_dtype_text((tc_dtype)(n->nin ? type[0]->dtype : n->type.dtype)));
  return y;
}

/* A view or a join of nothing but constants: on the device. */
static const tc_tensor *place(const evaluation *e, const tc_tensor *x, const tc_type *type) {
  tc_op_call o = *e->o;
  o.type = *type;
  tc_tensor *y = tc_is_scalar(x) ? tc_result_new(&o) : NULL;
  if (!tc_is_scalar(x)) return x;
  return y ? tc_copy_(y, x) : NULL;
}

static const tc_tensor *run_node(const evaluation *e, const tc_node *n) {
  const tc_tensor **in = calloc((size_t)n->nin + 1, sizeof *in);
  const tc_type **type = calloc((size_t)n->nin + 1, sizeof *type);
  const tc_tensor *y = NULL;
  bool native = is_native(n->op), ok = in && type;
  for (int i = 0; i < n->nin && ok; i++) {
    in[i] = e->value[n->in[i].id];
    type[i] = tc_graph_type(e->g, n->in[i]);
    if (native && in[i] && !(n->op == OP_PAD && i == 1)) in[i] = place(e, in[i], type[i]);
    ok = in[i] || !n->in[i].id;
  }
  if (ok) y = native ? run_native(n, in) : run_form(e, n, in, type);
  free(in);
  free(type);
  return y;
}

static const tc_tensor *leaf(const evaluation *e, uint32_t id, const tc_node *n, int *input) {
  tc_number *v = &e->number[id];
  double f;
  int64_t i;
  if (n->op == OP_INPUT) {
    const tc_eager_call *c = e->o->c;
    while (!c->in[*input] || tc_is_scalar(c->in[*input])) ++*input;
    return c->in[(*input)++];
  }
  if (n->op == OP_DIM) tc_number_i(v, tc_dim_value(n->attr[0]));
  else if (tc_node_const(n, &f, &i) && tc_dtype_is_float((tc_dtype)n->type.dtype))
    tc_number_f(v, f);
  else tc_number_i(v, i);
  return &v->t;
}

static bool is_leaf(tc_op op) { return tc_op_get(op)->cls == TC_CLASS_LEAF; }

/* The result as a tensor of its own: the node may be an operand, a view or a constant. */
static tc_tensor *result(const evaluation *e, const tc_tensor *y) {
  const tc_type *type = &e->o->type;
  if (!y) return NULL;
  if (tc_is_scalar(y)) {
    tc_tensor *z = tc_result_new(e->o);
    return z && tc_copy_(z, y) ? z : NULL;
  }
  const tc_graph *g = e->g;
  tc_op op = tc_graph_node(g, tc_graph_output_at(g, 0))->op;
  tc_tensor *z = op == OP_INPUT || is_native(op) ? tc_clone(y) : tc_contiguous(y);
  if (z) tc_result_shape(z, type);
  return z;
}

static tc_tensor *evaluate(evaluation *e) {
  int input = 0;
  bool ok = true;
  for (uint32_t id = 1; id <= tc_graph_count(e->g) && ok; id++) {
    const tc_node *n = tc_graph_node(e->g, (tc_ref){id});
    e->value[id] = is_leaf(n->op) ? leaf(e, id, n, &input) : run_node(e, n);
    ok = e->value[id] != NULL;
  }
  return ok ? result(e, e->value[tc_graph_output_at(e->g, 0).id]) : NULL;
}

tc_tensor *tc_decomposed_run(const tc_op_call *o) {
  message m = {""};
  tc_diag diag = {.emit = note, .self = &m};
  evaluation e = {.o = o, .g = graph_of(o, &diag)};
  if (!e.g) return tcrt_fail("%s: %s", o->c->name, m.text[0] ? m.text : "out of memory");
  size_t n = tc_graph_count(e.g) + 1;
  e.value = calloc(n, sizeof *e.value);
  e.number = calloc(n, sizeof *e.number);
  tc_tensor *y = e.value && e.number ? evaluate(&e) : tcrt_fail("%s: out of memory", o->c->name);
  free(e.value);
  free(e.number);
  tc_graph_free(e.g);
  return y;
}

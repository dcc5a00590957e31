/* The list of one-op graphs, and building one: both walk the tables of graph/. */
#include "runtime/libtcrt-cuda/oneop.h"

#include <stdio.h>
#include <string.h>

typedef struct walk {
  bool (*visit)(const tc_oneop *o, void *context);
  void *context;
  tc_diag *silent; /* for candidates that inference refuses */
} walk;

static const tc_loc nowhere;

/* ---- the graph of one ------------------------------------------------------------------------ */

static tc_ref operand(tc_graph *g, const char *name, tc_dtype dtype, const char *axes) {
  tc_type t = {.dtype = (uint8_t)dtype};
  for (; *axes; axes++) {
    char symbol[2] = {*axes, 0};
    t.dim[t.rank++] = tc_dim_sym(tc_graph_dims(g), symbol, 0, INT64_MAX / 8, 1);
  }
  return tc_graph_input(g, name, &t, nowhere);
}

static tc_ref scalar(tc_graph *g, const char *name, tc_dtype dtype) {
  return tc_graph_scalar(g, name, tc_dtype_is_float(dtype) ? TC_F64 : TC_I64, nowhere);
}

static tc_ref as(tc_graph *g, tc_ref x, tc_dtype dtype) {
  return tc_build_cast(g, x, dtype, nowhere);
}

/* Operand i of an elementwise op is a mask where the op says so. */
static tc_dtype operand_dtype(const tc_oneop *o, int i) {
  return tc_op_get(o->op)->mask >> i & 1 ? TC_BOOL : o->dtype;
}

static tc_ref build_elementwise(tc_graph *g, const tc_oneop *o) {
  static const char *const name[] = {"a", "b", "c"};
  tc_ref in[3];
  int n = (int)strlen(o->form);
  for (int i = 0; i < n; i++)
    in[i] = o->form[i] == 's' ? scalar(g, name[i], o->dtype)
                              : operand(g, name[i], operand_dtype(o, i), "N");
  for (int i = 0; i < n; i++)
    if (o->form[i] == 's') in[i] = as(g, in[i], o->dtype);
  tc_dim to = tc_dim_const(o->to);
  bool cast = o->op == OP_CAST;
  return tc_build(g, o->op, n, in, cast, cast ? &to : NULL, NULL, nowhere);
}

static tc_ref build_creation(tc_graph *g, const tc_oneop *o) {
  tc_ref like = operand(g, "like", o->dtype, "N");
  tc_dim n = tc_graph_type(g, like)->dim[0], dtype = tc_dim_const(o->dtype);
  tc_dim dims[] = {tc_dim_const(1), n, dtype}, count[] = {n, dtype};
  if (o->op == OP_ARANGE) {
    tc_ref in[2] = {scalar(g, "start", TC_F64)};
    in[1] = scalar(g, "step", TC_F64);
    return tc_build(g, o->op, 2, in, 2, count, NULL, nowhere);
  }
  bool random = o->op != OP_FULL;
  tc_ref v = scalar(g, random ? "seed" : "value", random ? TC_I64 : o->dtype);
  return tc_build(g, o->op, 1, &v, 3, dims, NULL, nowhere);
}

/* Ops along one axis: a list of it and keepdim, or the axis. */
static tc_ref build_along(tc_graph *g, const tc_oneop *o) {
  tc_ref x = operand(g, "x", o->dtype, *o->form == 'r' ? "AB" : "ABC");
  tc_dim one = tc_dim_const(1), reduce[] = {one, one, tc_dim_const(0)};
  bool list = !strcmp(tc_op_get(o->op)->attrs, "axes:I keep:b");
  return tc_build(g, o->op, 1, &x, list ? 3 : 1, list ? reduce : &one, NULL, nowhere);
}

static tc_ref build_indexed(tc_graph *g, const tc_oneop *o) {
  tc_dim one = tc_dim_const(1);
  bool scatter = tc_op_get(o->op)->cls == TC_CLASS_SCATTER;
  tc_ref in[3] = {operand(g, "x", o->dtype, "ABC")};
  in[1] = operand(g, "index", TC_I64, o->op == OP_INDEX_SELECT ? "J" : "AJC");
  if (scatter) in[2] = operand(g, "src", o->dtype, "AJC");
  return tc_build(g, o->op, scatter ? 3 : 2, in, 1, &one, NULL, nowhere);
}

static tc_ref build_product(tc_graph *g, const tc_oneop *o) {
  tc_ref a = operand(g, "a", o->dtype, "PMK");
  return tc_build2(g, o->op, a, operand(g, "b", o->dtype, "PKN"), nowhere);
}

static tc_ref build(tc_graph *g, const tc_oneop *o) {
  switch (tc_op_get(o->op)->cls) {
  case TC_CLASS_EW:
    return build_elementwise(g, o);
  case TC_CLASS_GEN:
    return build_creation(g, o);
  case TC_CLASS_INDEX:
  case TC_CLASS_SCATTER:
    return build_indexed(g, o);
  case TC_CLASS_MATMUL:
    return build_product(g, o);
  default:
    return build_along(g, o);
  }
}

tc_graph *tc_oneop_graph(const tc_oneop *o, tc_diag *diag) {
  tc_graph *g = tc_graph_new(o->key, diag);
  tc_ref y = g ? build(g, o) : (tc_ref){0};
  if (y.id && tc_graph_output(g, y)) return g;
  tc_graph_free(g);
  return NULL;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Is it a form of its own?  An op that computes in another dtype than d (exp of integers) gets its
 * operands converted first; tests and comparisons give bool for every d. */
static bool stands(const walk *w, const tc_oneop *o) {
  tc_graph *g = tc_oneop_graph(o, w->silent);
  if (!g) return false;
  tc_dtype out = (tc_dtype)tc_graph_type(g, tc_graph_output_at(g, 0))->dtype;
  tc_graph_free(g);
  tc_class cls = tc_op_get(o->op)->cls;
  if (cls == TC_CLASS_COMP) return out == o->dtype;
  return cls != TC_CLASS_EW || out == o->dtype || out == TC_BOOL;
}

static bool offer(const walk *w, tc_op op, tc_dtype dtype, const char *form) {
  tc_oneop o = {.op = op, .dtype = dtype, .to = dtype, .form = form};
  snprintf(o.key, sizeof o.key, "%s.%s.%s", tc_op_get(op)->text, tc_dtype_text(dtype), form);
  return !stands(w, &o) || w->visit(&o, w->context);
}

static bool offer_all(const walk *w, tc_op op, uint32_t dtypes, const char *form) {
  for (int d = 0; d < TC_DTYPE_COUNT; d++)
    if (dtypes >> d & 1 && !offer(w, op, (tc_dtype)d, form)) return false;
  return true;
}

static bool offer_casts(const walk *w) {
  for (int from = 0; from < TC_DTYPE_COUNT; from++)
    for (int to = 0; to < TC_DTYPE_COUNT; to++) {
      tc_oneop o = {.op = OP_CAST, .dtype = (tc_dtype)from, .to = (tc_dtype)to, .form = "v"};
      snprintf(o.key, sizeof o.key, "cast.%s.%s", tc_dtype_text(o.dtype), tc_dtype_text(o.to));
      if (from != to && !w->visit(&o, w->context)) return false;
    }
  return true;
}

enum {
  EVERY = (1 << TC_DTYPE_COUNT) - 1,
  SIZES = 1 << TC_U8 | 1 << TC_I16 | 1 << TC_I32 | 1 << TC_I64
};

/* How the arguments of an elementwise function read as a form; NULL: it is none. */
static const char *form_of(const char *arguments) {
  static const char *const known[][2] = {{"t", "v"},     {"tt", "vv"},   {"ttt", "vvv"},
                                         {"t~s", "vs"},  {"t~xs", "sv"}, {"t~s~s", "vss"},
                                         {"tt~s", "vvs"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i][0], arguments)) return known[i][1];
  return NULL;
}

static const struct {
  tc_op op;
  const char *arguments;
} function[] = {
#define TC_API(name, op, arguments) {OP_##op, arguments},
#include "graph/ops/api.def"
    {OP_MANTISSA, "t"}, /* of tc_frexp, which has several results */
    {OP_EXPONENT, "t"},
};

/* Functions before this one have the same op and arguments: tc_clamp_min is tc_maximum_s. */
static bool offered(size_t at) {
  for (size_t i = 0; i < at; i++)
    if (function[i].op == function[at].op && !strcmp(function[i].arguments, function[at].arguments))
      return true;
  return false;
}

static bool offer_elementwise(const walk *w) {
  for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
    const char *form = form_of(function[i].arguments);
    if (tc_op_get(function[i].op)->cls != TC_CLASS_EW || !form || offered(i)) continue;
    if (!offer_all(w, function[i].op, EVERY, form)) return false;
  }
  return true;
}

static bool along_one_axis(const tc_op_info *op) {
  bool axes = !strcmp(op->attrs, "axes:I keep:b"), axis = !strcmp(op->attrs, "axis:i");
  bool composite = op->cls == TC_CLASS_COMP && op->max_in == 1 && (axes || axis);
  return op->max_in == 1 && (op->cls == TC_CLASS_REDUCE || op->cls == TC_CLASS_SCAN || composite);
}

static bool offer_op(const walk *w, tc_op op) {
  const tc_op_info *i = tc_op_get(op);
  if (along_one_axis(i)) return offer_all(w, op, EVERY, "r") && offer_all(w, op, EVERY, "c");
  switch (i->cls) {
  case TC_CLASS_GEN:
    return op == OP_EYE || offer_all(w, op, EVERY, "g");
  case TC_CLASS_INDEX:
    return (op != OP_GATHER && op != OP_INDEX_SELECT) || offer_all(w, op, SIZES, "c");
  case TC_CLASS_SCATTER:
    return offer_all(w, op, op == OP_SCATTER ? SIZES : EVERY, "c");
  case TC_CLASS_MATMUL:
    return offer_all(w, op, EVERY, "m");
  default:
    return true;
  }
}

bool tc_oneop_each(bool (*visit)(const tc_oneop *o, void *context), void *context) {
  tc_diag silent = {0};
  walk w = {visit, context, &silent};
  bool all = offer_elementwise(&w) && offer_casts(&w);
  for (int op = OP_NONE + 1; op < OP_COUNT && all; op++) all = offer_op(&w, (tc_op)op);
  return all;
}

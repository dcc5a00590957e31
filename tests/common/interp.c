/* interp.c - arrays, sizes, and the loop over nodes; see interp.h. */
#include "tests/common/interp_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ---------------------------------------------------------------------------------- */

interp_array *interp_new(tc_dtype dtype, int rank, const int64_t *dim) {
  interp_array *a = calloc(1, sizeof *a);
  a->dtype = dtype;
  a->rank = rank;
  a->count = 1;
  for (int i = 0; i < rank; i++) a->count *= a->dim[i] = dim[i];
  size_t n = (size_t)a->count + 1;
  if (tc_dtype_is_float(dtype)) a->f = calloc(n, sizeof *a->f);
  else a->i = calloc(n, sizeof *a->i);
  return a;
}

void interp_free(interp_array *a) {
  if (!a) return;
  free(a->f);
  free(a->i);
  free(a);
}

/* Towards zero; NaN is 0, what the dtype cannot hold is its nearest end. */
static int64_t truncated(tc_dtype d, double v) {
  const int bits = 8 * (int)tc_dtype_bytes(d), magnitude = d == TC_U8 ? 8 : bits - 1;
  const double end = ldexp(1, magnitude);
  if (isnan(v)) return 0;
  if (v >= end) return INT64_MAX >> (63 - magnitude);
  if (d == TC_U8) return v > 0 ? (int64_t)v : 0;
  return v <= -end ? -(INT64_MAX >> (63 - magnitude)) - 1 : (int64_t)v;
}

double interp_get(const interp_array *a, int64_t k) { return a->f ? a->f[k] : (double)a->i[k]; }

int64_t interp_int(const interp_array *a, int64_t k) {
  return a->f ? truncated(TC_I64, a->f[k]) : a->i[k];
}

void interp_set(interp_array *a, int64_t k, double v) {
  if (a->f) a->f[k] = v;
  else a->i[k] = a->dtype == TC_BOOL ? v != 0 : truncated(a->dtype, v);
}

void interp_copy(interp_array *to, int64_t k, const interp_array *from, int64_t j) {
  if (to->f || from->f) interp_set(to, k, interp_get(from, j));
  else to->i[k] = tc_dtype_wrap(to->dtype, from->i[j]);
}

double interp_distance(const interp_array *a, const interp_array *b, double rtol, double atol) {
  if (a->dtype != b->dtype || a->rank != b->rank) return INFINITY;
  if (memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim)) return INFINITY;
  double worst = 0;
  for (int64_t k = 0; k < a->count; k++) {
    double x = interp_get(a, k), y = interp_get(b, k);
    if (x == y || (isnan(x) && isnan(y))) continue;
    if (!isfinite(x) || !isfinite(y) || a->i) return INFINITY;
    double excess = fabs(x - y) - (atol + rtol * fabs(y));
    if (excess > worst) worst = excess;
  }
  return worst;
}

/* ---- indices --------------------------------------------------------------------------------- */

bool interp_next(int64_t *index, int rank, const int64_t *dim) {
  for (int a = rank - 1; a >= 0; a--) {
    if (++index[a] < dim[a]) return true;
    index[a] = 0;
  }
  return false;
}

int64_t interp_flat(const int64_t *index, int rank, const int64_t *dim) {
  int64_t k = 0;
  for (int a = 0; a < rank; a++) k = k * dim[a] + index[a];
  return k;
}

int64_t interp_at(const interp_array *a, const int64_t *index, int rank) {
  int64_t k = 0;
  for (int i = 0; i < a->rank; i++)
    k = k * a->dim[i] + (a->dim[i] == 1 ? 0 : index[rank - a->rank + i]);
  return k;
}

/* ---- what a node says ------------------------------------------------------------------------ */

bool interp_fail(interp_node *e, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  int n = snprintf(e->run->message, sizeof e->run->message, "%s: ", tc_op_get(e->n->op)->text);
  vsnprintf(e->run->message + n, sizeof e->run->message - (size_t)n, format, ap);
  va_end(ap);
  return false;
}

static int64_t value_of(interp_node *e, tc_dim d) {
  int64_t v = 0;
  if (tc_dim_is_const(d)) return tc_dim_value(d);
  return tc_dim_eval(tc_graph_dims(e->run->g), d, e->sym, &v) ? v : INT64_MIN;
}

int64_t interp_attr(interp_node *e, const char *name) {
  return value_of(e, tc_attr_int(e->n, name));
}

int interp_list(interp_node *e, const char *name, int64_t *items) {
  const tc_dim *dims;
  int n = tc_attr_list(e->n, name, &dims);
  for (int i = 0; i < n; i++) items[i] = value_of(e, dims[i]);
  return n;
}

int interp_axis(int64_t axis, int rank) { return (int)(axis < 0 ? axis + rank : axis); }

/* ---- leaves and creation --------------------------------------------------------------------- */

static bool eval_scalar(interp_node *e) {
  tc_value v = e->run->scalar[value_of(e, e->n->attr[0])];
  if (e->out->f) e->out->f[0] = v.f;
  else e->out->i[0] = v.i;
  return true;
}

static bool eval_input(interp_node *e) {
  const interp_array *x = e->run->input[value_of(e, e->n->attr[0])];
  if (x->dtype != e->out->dtype || x->count != e->out->count) return interp_fail(e, "does not fit");
  for (int64_t k = 0; k < x->count; k++) interp_copy(e->out, k, x, k);
  return true;
}

bool interp_leaf(interp_node *e) {
  double f;
  int64_t i;
  switch (e->n->op) {
  case OP_INPUT:
    return eval_input(e);
  case OP_SCALAR:
    return eval_scalar(e);
  case OP_DIM:
    e->out->i[0] = value_of(e, e->n->attr[0]);
    return true;
  default:
    if (!tc_node_const(e->n, &f, &i)) return interp_fail(e, "no value");
    if (e->out->f) e->out->f[0] = f;
    else e->out->i[0] = i;
    return true;
  }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static interp_fn *evaluator(const tc_node *n) {
  switch (n->op) {
  case OP_LINEAR:
  case OP_OUTER:
    return interp_linalg;
  case OP_EINSUM:
    return interp_einsum;
  case OP_STACK:
  case OP_REPEAT:
  case OP_ROLL:
    return interp_join;
  case OP_MEAN:
  case OP_VAR:
  case OP_STD:
  case OP_LOGSUMEXP:
  case OP_NORM:
    return interp_reduce;
  case OP_ARGSORT:
  case OP_SORT:
  case OP_TOPK:
    return interp_order;
  case OP_CROSS_ENTROPY:
  case OP_NLL:
  case OP_MSE:
  case OP_BCE_LOGITS:
    return interp_loss;
  default:
    break;
  }
  switch (tc_op_get(n->op)->cls) {
  case TC_CLASS_LEAF:
    return interp_leaf;
  case TC_CLASS_GEN:
  case TC_CLASS_EW:
    return interp_elementwise;
  case TC_CLASS_REDUCE:
    return interp_reduce;
  case TC_CLASS_SCAN:
    return interp_scan;
  case TC_CLASS_SORT:
    return interp_order;
  case TC_CLASS_VIEW:
    return interp_view;
  case TC_CLASS_JOIN:
    return interp_join;
  case TC_CLASS_INDEX:
  case TC_CLASS_SCATTER:
    return interp_index;
  case TC_CLASS_MATMUL:
    return interp_linalg;
  default:
    return interp_norms;
  }
}

static void interp_convert(interp_array *to, const interp_array *from) {
  for (int64_t k = 0; k < to->count; k++) interp_copy(to, k, from, k);
}

/* ---- several results --------------------------------------------------------------------------- */

/* The op that alone gives result i. */
static tc_op part_of(tc_op op, int64_t i) {
  switch (op) {
  case OP_FREXP:
    return i ? OP_EXPONENT : OP_MANTISSA;
  case OP_VAR_MEAN:
    return i ? OP_MEAN : OP_VAR;
  case OP_MAX_WITH_INDEX:
    return i ? OP_ARGMAX : OP_AMAX;
  case OP_MIN_WITH_INDEX:
    return i ? OP_ARGMIN : OP_AMIN;
  case OP_SORT:
    return i ? OP_ARGSORT : OP_SORT;
  case OP_TOPK:
    return i ? OP_ORDER : OP_TOPK;
  case OP_CUMMAX:
    return i ? OP_RUNNING_ARGMAX : OP_RUNNING_MAX;
  case OP_CUMMIN:
    return i ? OP_RUNNING_ARGMIN : OP_RUNNING_MIN;
  default:
    return OP_NONE;
  }
}

/* Result i of a node: the node with that op, its attributes read by their names.  An exponent is a
 * number of the operand's dtype first. */
static bool eval_result(interp_run *run, const int64_t *sym, const tc_node *n, interp_array **value,
                        interp_array *out) {
  const tc_node *whole = tc_graph_node(run->g, n->in[0]);
  const int64_t i = tc_dim_value(n->attr[0]);
  interp_array *in[256] = {NULL};
  tc_node part = *whole;
  tc_dim attr[TC_MAX_RANK + 2];
  if (whole->op == OP_TUPLE) return interp_convert(out, value[whole->in[i].id]), true;
  part.op = part_of(whole->op, i);
  part.type = whole->result[part.op == OP_EXPONENT ? 0 : i];
  part.attr = attr;
  for (int k = 0; k < whole->nattr; k++) attr[k] = whole->attr[k];
  if (part.op == OP_MEAN) attr[1 + tc_dim_value(attr[0])] = whole->attr[whole->nattr - 1];
  for (int k = 0; k < part.nin; k++) in[k] = value[part.in[k].id];
  interp_node e = {run, sym, &part, in, interp_new((tc_dtype)part.type.dtype, out->rank, out->dim)};
  const bool ok = evaluator(&part)(&e);
  if (ok) interp_convert(out, e.out);
  interp_free(e.out);
  return ok;
}

static bool eval_node(interp_run *run, const int64_t *sym, const tc_node *n, interp_array **value,
                      interp_array **out) {
  interp_array *in[256] = {NULL};
  interp_node e = {run, sym, n, in, NULL};
  int64_t dim[TC_MAX_RANK];
  for (int i = 0; i < n->nin; i++) in[i] = n->in[i].id ? value[n->in[i].id] : NULL;
  for (int i = 0; i < n->type.rank; i++) {
    dim[i] = value_of(&e, n->type.dim[i]);
    if (dim[i] < 0) return interp_fail(&e, "axis %d has size %lld", i, (long long)dim[i]);
  }
  e.out = *out = interp_new((tc_dtype)n->type.dtype, n->type.rank, dim);
  if (n->nresult > 1) return true; /* its RESULTs are evaluated */
  if (n->op == OP_RESULT ? !eval_result(run, sym, n, value, e.out) : !evaluator(n)(&e))
    return false;
  for (int64_t k = 0; run->round && e.out->f && k < e.out->count; k++)
    e.out->f[k] = tc_dtype_round(e.out->dtype, e.out->f[k]);
  return true;
}

/* Symbols that are bound to a size take it; the others are 0. */
static int64_t *bind_symbols(interp_run *run) {
  tc_dims *dims = tc_graph_dims(run->g);
  uint32_t count = tc_dims_sym_count(dims);
  int64_t *sym = calloc(count + 1u, sizeof *sym);
  for (uint32_t s = 0; s < count; s++) {
    const tc_sym *y = tc_dims_sym(dims, s);
    if (y->input >= 0 && y->axis >= 0) sym[s] = run->input[y->input]->dim[y->axis];
    else if (y->input >= 0) sym[s] = run->scalar[y->input].i;
  }
  return sym;
}

static interp_array *copy_of(const interp_array *a) {
  interp_array *b = interp_new(a->dtype, a->rank, a->dim);
  for (int64_t k = 0; k < a->count; k++) interp_copy(b, k, a, k);
  return b;
}

static void take_roots(interp_run *run, interp_array **value) {
  uint32_t input;
  run->noutput = tc_graph_output_count(run->g);
  run->nwrite = tc_graph_write_count(run->g);
  run->output = calloc(run->noutput + 1u, sizeof *run->output);
  run->write = calloc(run->nwrite + 1u, sizeof *run->write);
  for (uint32_t i = 0; i < run->noutput; i++)
    run->output[i] = copy_of(value[tc_graph_output_at(run->g, i).id]);
  for (uint32_t i = 0; i < run->nwrite; i++)
    run->write[i] = copy_of(value[tc_graph_write_at(run->g, i, &input).id]);
}

bool interp_graph(interp_run *run) {
  uint32_t count = tc_graph_count(run->g);
  interp_array **value = calloc(count + 1u, sizeof *value);
  int64_t *sym = bind_symbols(run);
  bool ok = true;
  for (uint32_t id = 1; ok && id <= count; id++)
    ok = eval_node(run, sym, tc_graph_node(run->g, (tc_ref){id}), value, &value[id]);
  if (ok) take_roots(run, value);
  for (uint32_t id = 1; id <= count; id++) interp_free(value[id]);
  free(value);
  free(sym);
  return ok;
}

void interp_run_free(interp_run *run) {
  for (uint32_t i = 0; i < run->noutput; i++) interp_free(run->output[i]);
  for (uint32_t i = 0; i < run->nwrite; i++) interp_free(run->write[i]);
  free(run->output);
  free(run->write);
  run->output = run->write = NULL;
  run->noutput = run->nwrite = 0;
}

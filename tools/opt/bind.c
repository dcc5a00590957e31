/* bind.c - operands against the parameters of a graph: dtypes, ranks, sizes, and what was assumed
 * of them. */
#include <inttypes.h>
#include <stdlib.h>

#define TC_NO_LOCATIONS
#include <tcompile.h>

#include "tools/opt/run.h"

typedef struct binding {
  tc_graph *g;
  tc_tensor *const *operand;
  const char *const *name; /* as the user gave them */
  run_values *v;
  tc_buf *why;
} binding;

static bool refuse(binding *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(binding *b, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  tc_vputf(b->why, format, ap);
  va_end(ap);
  return false;
}

bool run_each_parameter(const tc_graph *g, run_parameter_fn *each, void *self) {
  uint32_t i = 0, s = 0;
  const uint32_t inputs = tc_graph_input_count(g), scalars = tc_graph_scalar_count(g);
  while (i < inputs || s < scalars) {
    const bool scalar = i == inputs || (s < scalars && tc_graph_scalar_at(g, s)->node.id <
                                                           tc_graph_input_at(g, i)->node.id);
    if (!each(self, i + s, scalar, scalar ? s : i)) return false;
    if (scalar) s++;
    else i++;
  }
  return true;
}

/* ---- one parameter --------------------------------------------------------------------------- */

static void put_type(const tc_tensor *t, tc_buf *out) {
  tc_putf(out, "%s[", tc_dtype_name(tc_dtype_of(t)));
  for (int i = 0; i < tc_rank(t); i++) tc_putf(out, i ? ",%" PRId64 : "%" PRId64, tc_size(t, i));
  tc_put(out, "]");
}

/* "operand 1, x.npy: 'x' is f32[5,784], but the graph takes f32[B,783]" */
static bool refuse_type(binding *b, uint32_t number, const tc_input *in) {
  tc_putf(b->why, "operand %u, %s: '%s' is ", number + 1, b->name[number], in->name);
  put_type(b->operand[number], b->why);
  tc_put(b->why, ", and the graph takes ");
  tc_type_print(tc_graph_dims(b->g), &in->type, b->why);
  return false;
}

static bool bind_input(binding *b, uint32_t number, uint32_t index) {
  const tc_input *in = tc_graph_input_at(b->g, index);
  const tc_tensor *t = b->operand[number];
  tc_dims *dims = tc_graph_dims(b->g);
  if (tc_dtype_of(t) != (tc_dtype)in->type.dtype || tc_rank(t) != in->type.rank)
    return refuse_type(b, number, in);
  for (int axis = 0; axis < in->type.rank; axis++)
    if (tc_dim_is_const(in->type.dim[axis]) && !tc_dim_is(in->type.dim[axis], tc_size(t, axis)))
      return refuse_type(b, number, in);
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++) {
    const tc_sym *s = tc_dims_sym(dims, i);
    if (s->axis >= 0 && s->axis < in->type.rank && s->input == (int32_t)index)
      b->v->size[i] = tc_size(t, s->axis);
  }
  b->v->input[index] = b->operand[number];
  return true;
}

/* false: it is a fraction, or past 64 bits. */
static bool whole_of(const tc_tensor *t, int64_t *value) {
  if (!tc_dtype_is_float(tc_dtype_of(t))) *value = tc_item_int(t);
  else {
    const double f = tc_item(t);
    if (!(f >= -0x1p63 && f < 0x1p63) || f != (double)(int64_t)f) return false;
    *value = (int64_t)f;
  }
  return true;
}

static bool bind_scalar(binding *b, uint32_t number, uint32_t index) {
  const tc_scalar_arg *a = tc_graph_scalar_at(b->g, index);
  const tc_tensor *t = b->operand[number];
  tc_dims *dims = tc_graph_dims(b->g);
  if (tc_numel(t) != 1) {
    tc_putf(b->why, "operand %u, %s: '%s' is a number, and this is ", number + 1, b->name[number],
            a->name);
    put_type(t, b->why);
    return false;
  }
  if (!whole_of(t, &b->v->whole[index]) && a->dtype == TC_I64)
    return refuse(b, "operand %u, %s: '%s' is a whole number", number + 1, b->name[number],
                  a->name);
  b->v->real[index] = tc_item(t);
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++) {
    const tc_sym *s = tc_dims_sym(dims, i);
    if (s->axis < 0 && s->input == (int32_t)index) b->v->size[i] = b->v->whole[index];
  }
  return true;
}

static bool bind(void *self, uint32_t number, bool scalar, uint32_t index) {
  return (scalar ? bind_scalar : bind_input)(self, number, index);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static bool check_symbol(binding *b, const tc_sym *s, int64_t value) {
  if (s->input < 0) return true;
  if (value < s->lo || value > s->hi) {
    tc_putf(b->why, "%s is %" PRId64 ", and the graph is for %" PRId64, s->name, value, s->lo);
    if (s->hi == INT64_MAX) tc_put(b->why, " and more");
    else tc_putf(b->why, " to %" PRId64, s->hi);
    return false;
  }
  return s->multiple < 2 || value % s->multiple == 0 ||
         refuse(b, "%s is %" PRId64 ", and the graph is for multiples of %" PRId64, s->name, value,
                s->multiple);
}

/* The sizes of an operand that are expressions of others. */
static bool check_sizes(void *self, uint32_t number, bool scalar, uint32_t index) {
  binding *b = self;
  if (scalar) return true;
  const tc_input *in = tc_graph_input_at(b->g, index);
  for (int axis = 0; axis < in->type.rank; axis++) {
    int64_t want;
    if (tc_dim_eval(tc_graph_dims(b->g), in->type.dim[axis], b->v->size, &want) &&
        want == tc_size(b->operand[number], axis))
      continue;
    refuse_type(b, number, in);
    return refuse(b, ", where axis %d would be %" PRId64, axis, want);
  }
  return true;
}

static void put_dim(binding *b, tc_dim d) { tc_dim_print(tc_graph_dims(b->g), d, NULL, b->why); }

static bool check_assumptions(binding *b) {
  tc_dims *dims = tc_graph_dims(b->g);
  const tc_dim_pair *pair;
  const tc_dim_bound *bound;
  int64_t x, y;
  for (uint32_t i = 0, n = tc_dims_assumed(dims, &pair); i < n; i++) {
    if (tc_dim_eval(dims, pair[i].a, b->v->size, &x) &&
        tc_dim_eval(dims, pair[i].b, b->v->size, &y) && x == y)
      continue;
    tc_put(b->why, "the graph is for ");
    put_dim(b, pair[i].a);
    tc_put(b->why, " = ");
    put_dim(b, pair[i].b);
    return refuse(b, ", which does not hold");
  }
  for (uint32_t i = 0, n = tc_dims_bounds(dims, &bound); i < n; i++) {
    if (tc_dim_eval(dims, bound[i].d, b->v->size, &x) && x >= bound[i].lo && x <= bound[i].hi)
      continue;
    put_dim(b, bound[i].d);
    return refuse(b, " is out of the range that the graph is for");
  }
  return true;
}

static bool check(binding *b) {
  tc_dims *dims = tc_graph_dims(b->g);
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++)
    if (!check_symbol(b, tc_dims_sym(dims, i), b->v->size[i])) return false;
  return run_each_parameter(b->g, check_sizes, b) && check_assumptions(b);
}

static bool put_parameter(void *self, uint32_t number, bool scalar, uint32_t index) {
  binding *b = self;
  const tc_input *in = scalar ? NULL : tc_graph_input_at(b->g, index);
  tc_putf(b->why, "%s%s ", number ? ", " : "",
          in ? in->name : tc_graph_scalar_at(b->g, index)->name);
  if (in) tc_type_print(tc_graph_dims(b->g), &in->type, b->why);
  else tc_put(b->why, tc_dtype_text(tc_graph_scalar_at(b->g, index)->dtype));
  return true;
}

static bool refuse_count(binding *b, uint32_t want, size_t n) {
  tc_putf(b->why, "there are %zu operands, and the graph takes %u: ", n, want);
  run_each_parameter(b->g, put_parameter, b);
  return false;
}

bool run_bind(tc_graph *g, tc_tensor *const *operand, const char *const *name, size_t n,
              run_values *v, tc_buf *why) {
  const uint32_t inputs = tc_graph_input_count(g), scalars = tc_graph_scalar_count(g);
  binding b = {g, operand, name, v, why};
  if (n != inputs + scalars) return refuse_count(&b, inputs + scalars, n);
  *v = (run_values){calloc(inputs + 1, sizeof *v->input), calloc(scalars + 1, sizeof *v->real),
                    calloc(scalars + 1, sizeof *v->whole),
                    calloc(tc_dims_sym_count(tc_graph_dims(g)) + 1, sizeof *v->size)};
  if (!v->input || !v->real || !v->whole || !v->size) return refuse(&b, "out of memory");
  return run_each_parameter(g, bind, &b) && check(&b);
}

void run_values_free(run_values *v) {
  free(v->input);
  free(v->real);
  free(v->whole);
  free(v->size);
  *v = (run_values){0};
}

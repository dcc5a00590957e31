/* tc-opt --run against the interpreter of the tests: random graphs over every op, with symbolic sizes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TC_NO_LOCATIONS
#include <tcompile.h>

#include "graph/text.h"
#include "tests/common/random_graph.h"
#include "tools/opt/run.h"

static void quiet(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}

static tc_tensor *tensor_of(const interp_array *a) {
  tc_ints dims = {.n = a->rank};
  memcpy(dims.v, a->dim, sizeof dims.v);
  tc_tensor *t = a->f ? tc_from(dims, a->f, TC_F64) : tc_from(dims, a->i, TC_I64);
  return t ? tc_cast(t, a->dtype) : NULL;
}

/* What rounding may do: |a-b| <= eps (1 + |b|) + gain |b-c|, where c is b for arguments changed by `change`.  Functions of
 * integers are of f32. */
typedef struct tolerance {
  double eps, change, gain, most; /* most: past it values may overflow */
} tolerance;

static tolerance tolerance_of(tc_graph *g) {
  return random_coarsest_dtype(g) == TC_F64 ? (tolerance){1e-9, 1e-12, 1e4, 1e200}
                                            : (tolerance){2e-6, 6e-8, 100, 1e37};
}

static bool is_close(double a, double b, double c, tolerance t) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  if (isnan(b) != isnan(c) || isinf(b) != isinf(c) || fabs(b) > t.most) return true;
  return fabs(a - b) <= t.eps * (1 + fabs(b)) + t.gain * fabs(b - c);
}

static bool same(const tc_tensor *x, const interp_array *want, const interp_array *near,
                 tolerance t) {
  if (tc_dtype_of(x) != want->dtype || tc_rank(x) != want->rank) return false;
  for (int i = 0; i < want->rank; i++)
    if (tc_size(x, i) != want->dim[i]) return false;
  const tc_tensor *wide = tc_cast(x, want->f ? TC_F64 : TC_I64);
  for (int64_t k = 0; k < want->count; k++) {
    const double a = want->f ? ((const double *)tc_cdata(wide))[k]
                             : (double)((const int64_t *)tc_cdata(wide))[k];
    if (!is_close(a, interp_get(want, k), interp_get(near, k), t)) return false;
  }
  return true;
}

static interp_run interpreted(const random_graph *r, interp_array *const *input) {
  interp_run run = {.g = r->g, .input = (const interp_array *const *)input, .scalar = r->scalar};
  cr_assert(interp_graph(&run), "%s", run.message);
  return run;
}

enum { MOST = 256 };

typedef struct operands {
  const random_graph *r;
  tc_tensor *at[MOST];
  const char *name[MOST];
} operands;

static bool add(void *self, uint32_t number, bool scalar, uint32_t index) {
  operands *o = self;
  cr_assert_lt(number, MOST);
  o->name[number] = "operand";
  if (!scalar) o->at[number] = tensor_of(o->r->input[index]);
  else if (tc_graph_scalar_at(o->r->g, index)->dtype == TC_F64)
    o->at[number] = tc_scalar(o->r->scalar[index].f);
  else o->at[number] = tc_scalar_int(o->r->scalar[index].i);
  return o->at[number];
}

static void show(const random_graph *r, uint64_t seed, const char *why) {
  tc_buf text = {0};
  tc_graph_print(r->g, &text);
  cr_expect(false, "seed %llu: %s\n%s", (unsigned long long)seed, why ? why : "", text.text);
  tc_buf_free(&text);
}

static void compare(const random_graph *r, uint64_t seed) {
  const tolerance t = tolerance_of(r->g);
  interp_array **nearby = random_graph_perturbed(r, t.change);
  interp_run want = interpreted(r, r->input), near = interpreted(r, nearby);
  operands o = {.r = r};
  tc_buf why = {0};
  run_values v = {0};
  tc_tensor *out[64];
  cr_assert(run_each_parameter(r->g, add, &o));
  const uint32_t n = tc_graph_input_count(r->g) + tc_graph_scalar_count(r->g);
  if (!run_bind(r->g, o.at, o.name, n, &v, &why)) show(r, seed, why.text);
  else if (!run_graph(r->g, &v, out)) show(r, seed, tc_error());
  else
    for (uint32_t i = 0; i < want.noutput; i++)
      if (!same(out[i], want.output[i], near.output[i], t)) show(r, seed, "a result differs");
  run_values_free(&v);
  tc_buf_free(&why);
  interp_run_free(&want);
  interp_run_free(&near);
  random_graph_free_input(r, nearby);
}

/* A number that an integer dtype does not hold is an error of tc_masked_fill, which no graph has. */
static bool may_be_refused(const tc_graph *g) {
  for (uint32_t id = 1; id <= tc_graph_count(g); id++) {
    const tc_ref n = {id};
    if (tc_graph_node(g, n)->op == OP_MASKED_FILL && !tc_dtype_is_float((tc_dtype)tc_graph_type(g, n)->dtype)) return true;
  }
  return false;
}

static bool check(random_options o) {
  random_graph r;
  tc_diag diag = {quiet, NULL};
  if (!random_graph_make(&o, &diag, &r)) return false;
  if (!may_be_refused(r.g)) TC_SCOPE compare(&r, o.seed);
  tc_clear_error();
  cr_expect_eq(tc_memory().live, 0, "seed %llu leaves memory", (unsigned long long)o.seed);
  random_graph_free_input(&r, r.input);
  tc_graph_free(r.g);
  return true;
}

static const uint32_t doubles =
    1u << TC_F64 | 1u << TC_I64 | 1u << TC_I32 | 1u << TC_U8 | 1u << TC_BOOL;

static const uint32_t floating = 1u << TC_F64 | 1u << TC_BOOL;

Test(run, every_op) {
  for (int op = 1; op < OP_CALL; op++)
    for (uint64_t k = 0; k < 12; k++)
      cr_expect(check((random_options){.seed = 31 * (uint64_t)op + k,
                                       .always = (tc_op)op,
                                       .symbolic = k & 1,
                                       .dtypes = doubles}),
                "no place for %s", tc_op_get((tc_op)op)->text);
}

/* Of f64: what narrow dtypes magnify is not the evaluator's. */
Test(run, random_graphs) {
  for (uint64_t k = 0; k < 600; k++)
    check((random_options){.seed = 9100 + k,
                           .nodes = 4 + (int)(k % 30),
                           .symbolic = k & 1,
                           .specials = k % 8 == 7,
                           .dtypes = floating});
}

/* ---- operands that do not fit ---------------------------------------------------------------- */

static void expect_refused(const char *graph, size_t n, tc_tensor *const *operand,
                           const char *want) {
  static const char *const names[] = {"a.npy", "b.npy", "c.npy"};
  tc_diag diag = {quiet, NULL};
  tc_graph *g = tc_graph_parse(graph, &diag);
  run_values v = {0};
  tc_buf why = {0};
  cr_assert(g);
  cr_expect(!run_bind(g, operand, names, n, &v, &why));
  cr_expect(why.text && strstr(why.text, want), "expected \"%s\", not \"%s\"", want,
            why.text ? why.text : "");
  run_values_free(&v);
  tc_buf_free(&why);
  tc_graph_free(g);
}

Test(run, what_does_not_fit_is_named) {
  static const char two[] =
      "graph g\nsym N 2..6 %2\n%1 = param f32[N,4] \"x\"\n%2 = param f32[N+1] \"y\"\n"
      "%3 = scalar i64 \"n\"\n%4 = exp %1\nret %4\n";
  static const char more[] =
      "graph g\n%1 = param f32[A] \"x\"\n%2 = param f32[B] \"y\"\nassume A-B in 0..inf\n"
      "%3 = exp %1\nret %3\n";
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(4, 4), TC_F32), *y = tc_ones(TC_DIMS(5), TC_F32),
              *n = tc_scalar_int(3);
    expect_refused(two, 2, (tc_tensor *[]){x, y},
                   "there are 2 operands, and the graph takes 3: x f32[N,4], y f32[N+1], n i64");
    expect_refused(two, 3, (tc_tensor *[]){tc_cast(x, TC_F64), y, n},
                   "operand 1, a.npy: 'x' is f64[4,4], and the graph takes f32[N,4]");
    expect_refused(two, 3, (tc_tensor *[]){y, y, n}, "operand 1, a.npy: 'x' is f32[5], and");
    expect_refused(two, 3, (tc_tensor *[]){tc_ones(TC_DIMS(4, 5), TC_F32), y, n},
                   "'x' is f32[4,5], and");
    expect_refused(
        two, 3, (tc_tensor *[]){x, tc_ones(TC_DIMS(4), TC_F32), n},
        "operand 2, b.npy: 'y' is f32[4], and the graph takes f32[N+1], where axis 0 would be 5");
    expect_refused(two, 3, (tc_tensor *[]){tc_ones(TC_DIMS(8, 4), TC_F32), y, n},
                   "N is 8, and the graph is for 2 to 6");
    expect_refused(two, 3, (tc_tensor *[]){tc_ones(TC_DIMS(3, 4), TC_F32), y, n},
                   "N is 3, and the graph is for multiples of 2");
    expect_refused(two, 3, (tc_tensor *[]){x, y, y},
                   "operand 3, c.npy: 'n' is a number, and this is f32[5]");
    expect_refused(two, 3, (tc_tensor *[]){x, y, tc_scalar(0.5)},
                   "operand 3, c.npy: 'n' is a whole number");
    expect_refused(two, 3, (tc_tensor *[]){x, y, tc_scalar(1e300)},
                   "operand 3, c.npy: 'n' is a whole number");
    expect_refused(more, 2, (tc_tensor *[]){tc_ones(TC_DIMS(3), TC_F32), y},
                   "A-B is out of the range that the graph is for");
  }
}

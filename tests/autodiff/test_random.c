/* Random graphs over every op: first and second derivative along a random direction against difference quotients, forward
 * against reverse mode, and the passes over what was appended.
 *
 * The interpreter does not round, so graphs of every floating dtype are differentiated exactly.  A direction is left out
 * where two difference quotients or two gradients close by disagree (a kink, a jump, or digits lost to large numbers; a
 * standard deviation that is 0 but for rounding). */
#include <criterion/criterion.h>

#include "autodiff/autodiff.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/random_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tc_loc nowhere = {0, 0, 0, 0};

typedef struct counts {
  int graphs, compared, twice, kinks, no_float, values;
} counts;

/* What the generator and the engine say. */
typedef struct listener {
  char text[512];
} listener;

static void listen(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)s, (void)loc;
  snprintf(((listener *)self)->text, sizeof((listener *)self)->text, "%s", text);
}

enum { MOST = 128 };

typedef struct problem {
  random_graph r;
  listener said;
  tc_diag diag;
  uint32_t ny, nx;
  tc_ref y[MOST], dy[MOST], x[MOST], v[MOST], grad[MOST], second[MOST];
  interp_array **at, *direction[MOST]; /* arguments; direction[i] of x[i], NULL: of a scalar */
} problem;

/* In -1 .. 1, and a value of every floating dtype (splitmix64). */
static double noise(uint64_t *s) {
  uint64_t z = *s += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 58) / 32 - 1;
}

static bool is_float(tc_graph *g, tc_ref r) {
  return tc_dtype_is_float((tc_dtype)tc_graph_type(g, r)->dtype);
}

/* A value everywhere, in the shape of r. */
static tc_ref filled(tc_graph *g, tc_ref r, double value) {
  const tc_type *t = tc_graph_type(g, r);
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(t->rank)};
  const tc_ref one = tc_graph_const_f(g, TC_F64, true, value, nowhere);
  for (int i = 0; i < t->rank; i++) attr[1 + i] = t->dim[i];
  attr[1 + t->rank] = tc_dim_const(t->dtype);
  return tc_build(g, OP_FULL, 1, &one, t->rank + 2, attr, NULL, nowhere);
}

static tc_autodiff request(const problem *p) {
  return (tc_autodiff){
      .noutput = p->ny, .output = p->y, .cotangent = p->dy, .nwrt = p->nx, .wrt = p->x};
}

/* Those arguments that a gradient reaches, or that do not matter; not those behind integers. */
static void choose_arguments(problem *p) {
  tc_graph *g = p->r.g;
  const uint32_t n = tc_graph_input_count(g) + tc_graph_scalar_count(g);
  for (uint32_t id = 1; id <= n && p->nx < MOST; id++) {
    tc_ref ignored, x = {id};
    bool reached;
    tc_autodiff a = request(p);
    a.nwrt = 1, a.wrt = &x;
    if (!is_float(g, x)) continue;
    if (tc_autodiff_vjp(g, &a, &ignored, &reached)) {
      if (reached) p->x[p->nx++] = x;
    } else cr_assert(strstr(p->said.text, "has no gradient ("), "%s", p->said.text);
  }
}

/* A number for each argument: inputs cannot be added. */
static void choose_directions(problem *p, uint64_t *seed) {
  for (uint32_t i = 0; i < p->nx; i++) p->v[i] = filled(p->r.g, p->x[i], noise(seed));
}

static bool setup(problem *p, const random_options *o) {
  uint64_t seed = o->seed + 1;
  *p = (problem){.diag = {listen, &p->said}};
  cr_assert(random_graph_make(o, &p->diag, &p->r), "seed %llu: no graph",
            (unsigned long long)o->seed);
  tc_graph *g = p->r.g;
  for (uint32_t k = 0; k < tc_graph_output_count(g); k++) {
    p->y[p->ny] = tc_graph_output_at(g, k);
    if (!is_float(g, p->y[p->ny])) continue;
    p->dy[p->ny] = filled(g, p->y[p->ny], 1 + 0.5 * noise(&seed));
    p->ny++;
  }
  choose_arguments(p);
  choose_directions(p, &seed);
  p->at = random_graph_perturbed(&p->r, 0.02); /* off the grid on which elements are equal */
  return p->nx > 0;
}

static void teardown(problem *p) {
  random_graph_free_input(&p->r, p->at);
  random_graph_free_input(&p->r, p->r.input);
  tc_graph_free(p->r.g);
}

/* ---- evaluation ------------------------------------------------------------------------------------ */

static interp_run run_at(const problem *p, tc_graph *g, interp_array *const *at,
                         const tc_value *scalar) {
  interp_run run = {.g = g, .input = (const interp_array *const *)at, .scalar = scalar};
  cr_assert(interp_graph(&run), "%s", run.message);
  (void)p;
  return run;
}

static double sum_of_products(const interp_array *a, const interp_array *b) {
  double sum = 0;
  for (int64_t k = 0; k < a->count; k++) sum += interp_get(a, k) * interp_get(b, k);
  return sum;
}

/* Outputs of the graph: all roots, then pairs y, dy; v, gradient; v, gradient of <v, gradient>; then Jv. */
typedef struct layout {
  uint32_t pairs, gradients, seconds, tangents;
} layout;

static void append_pairs(tc_graph *g, uint32_t n, const tc_ref *a, const tc_ref *b) {
  for (uint32_t k = 0; k < n; k++) tc_graph_output(g, a[k]), tc_graph_output(g, b[k]);
}

static layout append(problem *p) {
  tc_graph *g = p->r.g;
  tc_ref out[MOST];
  const tc_autodiff a = request(p);
  layout l = {.pairs = tc_graph_output_count(g)};
  cr_assert(tc_autodiff_vjp(g, &a, p->grad, NULL), "%s", p->said.text);
  cr_assert(tc_autodiff_jvp(g, &a, p->v, out), "%s", p->said.text);
  const tc_autodiff again = {.noutput = p->nx,
                             .output = p->grad,
                             .cotangent = p->v,
                             .nwrt = p->nx,
                             .wrt = p->x,
                             .through_integers = true};
  cr_assert(tc_autodiff_vjp(g, &again, p->second, NULL), "%s", p->said.text);
  append_pairs(g, p->ny, p->y, p->dy);
  l.gradients = tc_graph_output_count(g);
  append_pairs(g, p->nx, p->v, p->grad);
  l.seconds = tc_graph_output_count(g);
  append_pairs(g, p->nx, p->v, p->second);
  l.tangents = tc_graph_output_count(g);
  for (uint32_t k = 0; k < p->ny; k++) tc_graph_output(g, out[k]);
  return l;
}

static double pairs(const interp_run *run, uint32_t from, uint32_t to) {
  double sum = 0;
  for (uint32_t i = from; i < to; i += 2)
    sum += sum_of_products(run->output[i], run->output[i + 1]);
  return sum;
}

/* Of <y, dy> along v: its value and derivatives */
typedef struct sample {
  double value, slope, second;
} sample;

static sample sample_of(const interp_run *run, const layout *l) {
  return (sample){pairs(run, l->pairs, l->gradients), pairs(run, l->gradients, l->seconds),
                  pairs(run, l->seconds, l->tangents)};
}

/* At x + h v. */
static sample along(const problem *p, const layout *l, double h, const interp_run *here) {
  interp_array **at = calloc(p->r.ninput + 1u, sizeof *at);
  tc_value scalar[2] = {p->r.scalar[0], p->r.scalar[1]};
  for (uint32_t i = 0; i < p->r.ninput; i++) at[i] = p->at[i];
  for (uint32_t i = 0; i < p->nx; i++) {
    const interp_array *v = here->output[l->gradients + 2 * i];
    const uint32_t input = p->x[i].id - 1;
    if (input >= p->r.ninput) {
      scalar[0].f += h * v->f[0];
      continue;
    }
    at[input] = interp_new(v->dtype, v->rank, v->dim);
    for (int64_t k = 0; k < v->count; k++) at[input]->f[k] = p->at[input]->f[k] + h * v->f[k];
  }
  interp_run run = run_at(p, p->r.g, at, scalar);
  const sample there = sample_of(&run, l);
  interp_run_free(&run);
  for (uint32_t i = 0; i < p->r.ninput; i++)
    if (at[i] != p->at[i]) interp_free(at[i]);
  free(at);
  return there;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-4 + 1e-3 * fabs(b); }

static void fail_at(const problem *p, const random_options *o, const char *what, double a,
                    double b) {
  tc_buf text = {0};
  tc_graph_print(p->r.g, &text);
  fprintf(stderr, "%s\n", text.text);
  tc_buf_free(&text);
  cr_assert(false, "seed %llu: %s: %.12g and %.12g", (unsigned long long)o->seed, what, a, b);
}

/* Arguments that differ in the last digits: what that changes, rounding may change. */
static interp_run run_beside(const problem *p) {
  uint64_t seed = 3;
  interp_array **at = calloc(p->r.ninput + 1u, sizeof *at);
  for (uint32_t i = 0; i < p->r.ninput; i++) {
    const interp_array *x = p->at[i];
    at[i] = interp_new(x->dtype, x->rank, x->dim);
    for (int64_t k = 0; k < x->count; k++)
      if (x->f) at[i]->f[k] = x->f[k] * (1 + 1e-12 * noise(&seed));
      else at[i]->i[k] = x->i[k];
  }
  interp_run run = run_at(p, p->r.g, at, p->r.scalar);
  random_graph_free_input(&p->r, at);
  return run;
}

static bool same_value(double a, double b, double beside) {
  if (a == b || !isfinite(a) || !isfinite(b) || !isfinite(beside) || fabs(a) > 1e100) return true;
  return fabs(a - b) <= 1e-6 * (1 + fabs(a)) + 1e4 * fabs(a - beside);
}

/* Where not even the results of the graph itself are the same (the sign of a zero decides), nothing is said of its
 * derivatives: tests/passes looks after those. */
static void check_passes(problem *p, const random_options *o, const layout *l,
                         const interp_run *want) {
  char message[256] = "";
  bool same = true;
  cr_assert(tc_graph_verify(p->r.g, message, sizeof message), "%s", message);
  p->said.text[0] = 0;
  interp_run beside = run_beside(p);
  tc_graph *g = tc_graph_optimize(p->r.g);
  cr_assert_not_null(g, "seed %llu: %s", (unsigned long long)o->seed, p->said.text);
  p->r.g = g;
  interp_run got = run_at(p, g, p->at, p->r.scalar);
  for (uint32_t i = 0; same && i < got.noutput; i++)
    for (int64_t k = 0; k < got.output[i]->count; k++) {
      const double a = interp_get(want->output[i], k), b = interp_get(got.output[i], k);
      if (same_value(a, b, interp_get(beside.output[i], k))) continue;
      same = false;
      if (i >= l->gradients) fail_at(p, o, "the passes change a derivative", a, b);
    }
  interp_run_free(&got);
  interp_run_free(&beside);
}

static bool has(tc_graph *g, tc_op op) {
  for (uint32_t id = tc_graph_count(g); id > 0; id--)
    if (tc_graph_node(g, (tc_ref){id})->op == op) return true;
  return false;
}

/* Difference quotients, and whether the derivatives are the same in the neighbourhood. */
typedef struct quotients {
  double slope, second;
  bool smooth, smooth_twice;
} quotients;

static quotients quotients_of(const problem *p, const layout *l, const interp_run *here, sample x) {
  static const double beside[] = {3e-7, -7e-7, 2e-6, -3e-6, 5e-6};
  const double h = 1e-6;
  const sample right = along(p, l, h, here), left = along(p, l, -h, here),
               half = along(p, l, h / 2, here);
  quotients q = {(right.value - left.value) / (2 * h), (right.slope - left.slope) / (2 * h), true,
                 true};
  bool same = near(right.slope, x.slope) && near(left.slope, x.slope);
  bool same_twice = near(right.second, x.second) && near(left.second, x.second);
  for (int i = 0; i < 5; i++) {
    const sample there = along(p, l, beside[i], here);
    same &= near(there.slope, x.slope);
    same_twice &= near(there.second, x.second);
  }
  q.smooth = same && near(q.slope, (half.value - x.value) / (h / 2)) && fabs(x.value) < 1e6;
  q.smooth_twice = q.smooth && same_twice && near(q.second, (half.slope - x.slope) / (h / 2)) &&
                   fabs(x.slope) < 1e6;
  return q;
}

/* A difference quotient moves the constants of detach, too; cumprod beside a zero, which relu makes, has no second
 * derivative. */
static void check(const random_options *o, counts *c) {
  problem p;
  c->graphs++;
  if (!setup(&p, o)) {
    c->no_float++;
    teardown(&p);
    return;
  }
  const bool constants = has(p.r.g, OP_DETACH), scans = has(p.r.g, OP_CUMPROD);
  const layout l = append(&p);
  interp_run here = run_at(&p, p.r.g, p.at, p.r.scalar);
  const sample x = sample_of(&here, &l);
  double forward = 0;
  for (uint32_t k = 0; k < p.ny; k++)
    forward += sum_of_products(here.output[l.tangents + k], here.output[l.pairs + 2 * k + 1]);
  const quotients q = quotients_of(&p, &l, &here, x);
  const bool once = q.smooth && !constants, twice = q.smooth_twice && !constants && !scans;
  c->kinks += !once;
  c->compared += once;
  c->twice += twice;
  c->values += (int)p.nx;
  if (once && !near(x.slope, q.slope)) fail_at(&p, o, "gradient and quotient", x.slope, q.slope);
  if (twice && !near(x.second, q.second))
    fail_at(&p, o, "second derivative and quotient", x.second, q.second);
  if (isfinite(x.slope) && fabs(x.slope) < 1e9 &&
      fabs(x.slope - forward) > 1e-6 * (1 + fabs(x.slope)))
    fail_at(&p, o, "reverse and forward mode", x.slope, forward);
  if (o->dtypes & 1u << TC_F64)
    check_passes(&p, o, &l, &here); /* constants round to narrow dtypes */
  interp_run_free(&here);
  teardown(&p);
}

/* No u8, where -1 is 255, of which cosh leaves no digits of anything else. */
static const uint32_t doubles = 1u << TC_F64 | 1u << TC_I64 | 1u << TC_I32 | 1u << TC_BOOL;
static const uint32_t mixed = 1u << TC_F32 | 1u << TC_BF16 | 1u << TC_I32 | 1u << TC_BOOL;

/* Each op in the middle of others. */
Test(random, every_op) {
  counts c = {0};
  for (int op = 1; op < OP_COUNT; op++)
    for (uint64_t k = 0; k < 12; k++) {
      random_options o = {.seed = 1000 * (uint64_t)op + k,
                          .nodes = (int)(k % 4),
                          .always = (tc_op)op,
                          .symbolic = k & 1,
                          .dtypes = k % 3 ? doubles : mixed};
      check(&o, &c);
    }
  fprintf(stderr, "every op: %d graphs, %d compared, %d twice, %d at kinks, %d without gradient\n",
          c.graphs, c.compared, c.twice, c.kinks, c.no_float);
  cr_expect_gt(c.compared, c.graphs / 3);
}

Test(random, graphs) {
  counts c = {0};
  const char *count = getenv("TC_TEST_GRAPHS"), *seed = getenv("TC_TEST_SEED");
  const int n = count ? atoi(count) : 600;
  for (int k = 0; k < n; k++) {
    random_options o = {.seed = (seed ? strtoull(seed, NULL, 10) : 52000) + (uint64_t)k,
                        .nodes = 3 + k % 25,
                        .symbolic = k & 1,
                        .dtypes = k % 3 ? doubles : mixed};
    check(&o, &c);
  }
  fprintf(
      stderr,
      "random graphs: %d, %d compared (%d arguments), %d twice, %d at kinks, %d without gradient\n",
      c.graphs, c.compared, c.values, c.twice, c.kinks, c.no_float);
  cr_expect_gt(c.compared, c.graphs / 4);
}

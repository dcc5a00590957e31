/* Save or compute again: the cut is least, what it saves is what one would, and the two parts compute what the joint
 * graph does. */
#include <criterion/criterion.h>

#include "autodiff/flow.h"
#include "autodiff/partition.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/case.h"
#include "tests/common/random_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const tc_loc nowhere = {0, 0, 0, 0};

static void say(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)s, (void)loc;
  if (self) snprintf(self, 512, "%s", text);
  else fprintf(stderr, "reported: %s\n", text);
}
static tc_diag loud = {say, NULL};

/* ---- the cut ----------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *s, uint64_t n) { /* splitmix64 */
  uint64_t z = *s += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % n;
}

/* Against every set of vertices that has the source and not the sink. */
Test(flow, cuts_are_least) {
  enum { N = 9 };
  uint64_t seed = 5;
  for (int k = 0; k < 2000; k++) {
    int64_t capacity[N][N] = {{0}}, least = INT64_MAX, side = 0;
    tc_flow f;
    cr_assert(tc_flow_begin(&f, N));
    for (int e = 0; e < 5 + k % 30; e++) {
      const uint32_t a = (uint32_t)draw(&seed, N), b = (uint32_t)draw(&seed, N);
      const int64_t c = draw(&seed, 8) ? (int64_t)draw(&seed, 20) : TC_FLOW_INFINITE;
      capacity[a][b] += c;
      cr_assert(tc_flow_edge_add(&f, a, b, c));
    }
    for (uint32_t set = 1; set < 1u << N; set += 2) {
      int64_t sum = 0;
      for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
          if (set >> a & 1 && !(set >> b & 1) && sum < TC_FLOW_INFINITE) sum += capacity[a][b];
      if (!(set >> (N - 1) & 1) && sum < least) least = sum;
    }
    if (least > TC_FLOW_INFINITE) least = TC_FLOW_INFINITE;
    const int64_t got = tc_flow_cut(&f, 0, N - 1);
    cr_assert_eq(got, least, "graph %d: %lld, and not %lld", k, (long long)got, (long long)least);
    for (int a = 0; a < N; a++)
      for (int b = 0; b < N; b++)
        if (f.level[a] && !f.level[b]) side += capacity[a][b];
    if (least < TC_FLOW_INFINITE)
      cr_assert_eq(side, least, "graph %d: the side is not that of the cut", k);
    tc_flow_free(&f);
  }
}

/* ---- what is saved ------------------------------------------------------------------------------------- */

enum { MOST = 64 };

typedef struct joint {
  tc_graph *g;
  uint32_t nforward;
  bool late[MOST];
  tc_partition p;
} joint;

/* The last node of the text is the result; "dy" among its inputs the cotangent; gradients with respect to inputs whose
 * names begin with w. */
static joint joint_of(const char *text, const tc_partition_options *more) {
  joint j = {.g = tc_graph_parse(text, &loud), .nforward = 1};
  cr_assert_not_null(j.g);
  tc_ref wrt[8], grad[8], dy = {0}, y = {tc_graph_count(j.g)};
  uint32_t n = 0;
  for (uint32_t i = 0; i < tc_graph_input_count(j.g); i++) {
    const tc_input *in = tc_graph_input_at(j.g, i);
    j.late[i] = !strcmp(in->name, "dy");
    if (j.late[i]) dy = in->node;
    if (in->name[0] == 'w') wrt[n++] = in->node;
  }
  const tc_autodiff a = {.noutput = 1, .output = &y, .cotangent = &dy, .nwrt = n, .wrt = wrt};
  cr_assert(tc_autodiff_vjp(j.g, &a, grad, NULL));
  tc_graph_output(j.g, y);
  for (uint32_t i = 0; i < n; i++) tc_graph_output(j.g, grad[i]);
  j.g = tc_graph_optimize(j.g);
  tc_partition_options o = more ? *more : (tc_partition_options){0};
  o.nforward = 1;
  o.late = j.late;
  cr_assert(tc_partition_choose(j.g, &o, &j.p));
  return j;
}

static void joint_free(joint *j) {
  tc_partition_free(&j->p);
  tc_graph_free(j->g);
}

static void expect_report(const char *text, const tc_partition_options *o, const char *want) {
  joint j = joint_of(text, o);
  tc_buf b = {0};
  tc_partition_print(j.g, &j.p, &b);
  cr_expect_str_eq(b.text, want);
  tc_buf_free(&b);
  joint_free(&j);
}

/* The result is there anyway. */
Test(partition, a_result_is_not_saved_twice) {
  expect_report("%1 = param f32[1000] \"w\"\n%2 = param f32[1000] \"dy\"\n%3 = tanh %1\n", NULL,
                "saved 0 tensors, 0 bytes; 0 values computed again\n");
}

/* cos(w) of w, which is an argument: reading w costs half of saving its cosine, which the forward part does not need. */
Test(partition, what_only_the_backward_part_needs_is_computed_there) {
  expect_report("%1 = param f32[1000] \"w\"\n%2 = param f32[1000] \"dy\"\n%3 = sin %1\n", NULL,
                "saved 0 tensors, 0 bytes; 0 values computed again\n");
}

/* Products are not repeated; one matrix is enough: the derivative of the activation, which shares its erf. */
static const char layer[] =
    "%1 = param f32[64,32] \"x\"\n%2 = param f32[32,48] \"w\"\n%3 = param f32[48] \"w\"\n"
    "%4 = param f32[64,48] \"dy\"\n%5 = matmul %1 %2\n%6 = add %5 %3\n%7 = gelu %6\n";

Test(partition, a_product_is_saved) {
  expect_report(layer, NULL,
                "saved 1 tensor, 12288 bytes; 0 values computed again\n  add f32[64,48], line 7\n");
}

Test(partition, a_product_is_repeated_if_asked) {
  const tc_partition_options o = {.repeat_contractions = true, .bytes_per_flop = 1e-6};
  expect_report(layer, &o, "saved 0 tensors, 0 bytes; 5 values computed again\n");
}

/* Scores are made again, of attention alone: what is saved is one value a row, twice. */
#define SCORES                                                                                                         \
  "%1 = param f32[2,64,16] \"x\"\n%2 = param f32[2,96,16] \"w\"\n%3 = param f32[2,96,8] \"w\"\n"                       \
  "%4 = param f32[2,64,8] \"dy\"\n%5 = permute %2 axes=[0,2,1]\n%6 = matmul %1 %5\n%7 = softmax %6 axis=2\n"

Test(partition, scores_of_attention_are_not_saved) {
  joint j = joint_of(SCORES "%8 = matmul %7 %3\n", NULL);
  cr_expect_eq(j.p.bytes, 2 * 2 * 64 * 4, "%lld bytes", (long long)j.p.bytes);
  joint_free(&j);
}

static void expect_saved(const char *text, int64_t least) {
  joint j = joint_of(text, NULL);
  cr_expect_geq(j.p.bytes, least, "%lld bytes", (long long)j.p.bytes);
  joint_free(&j);
}

/* Of eight experts there are few weights, and many numbers that make them. */
Test(partition, scores_of_experts_are_saved) {
  expect_saved("%1 = param f32[64,256] \"x\"\n%2 = param f32[256,8] \"w\"\n%3 = param f32[8,256] \"w\"\n"
               "%4 = param f32[64,256] \"dy\"\n%5 = matmul %1 %2\n%6 = softmax %5 axis=1\n%7 = matmul %6 %3\n",
               64 * 8 * 4);
}

Test(partition, logits_are_saved) {
  expect_saved("%1 = param f32[64,16] \"x\"\n%2 = param f32[16,96] \"w\"\n%3 = param f32[64,96] \"dy\"\n"
               "%4 = matmul %1 %2\n%5 = softmax %4 axis=1\n%6 = square %5\n",
               64 * 96 * 4);
}

/* Statistics of rows are saved, not the rows; under a limit not even those. */
static const char norm[] =
    "%1 = param f32[64,1024] \"w\"\n%2 = param f32[1024] \"w\"\n%3 = param f32[64,1024] \"dy\"\n"
    "%4 = const weak f64 1e-5\n%5 = layer_norm %1 %2 _ %4 naxes=1\n";

Test(partition, statistics_are_saved) {
  joint j = joint_of(norm, NULL);
  cr_expect_leq(j.p.bytes, 2 * 64 * 4, "%lld bytes", (long long)j.p.bytes);
  cr_expect_gt(j.p.nsaved, 0);
  joint_free(&j);
}

Test(partition, a_limit_is_kept_where_that_is_possible) {
  const tc_partition_options few = {.max_saved = 1};
  joint j = joint_of(norm, &few);
  cr_expect(j.p.within && j.p.bytes == 0, "%lld bytes", (long long)j.p.bytes);
  joint_free(&j);
  j = joint_of(layer, &few);
  cr_expect(!j.p.within && j.p.nsaved == 1);
  joint_free(&j);
}

/* Sizes that are not known are weighed by what the caller expects. */
Test(partition, symbols_have_sizes) {
  static const char text[] =
      "%1 = param f32[B,32] \"x\"\n%2 = param f32[32,48] \"w\"\n%3 = param f32[B,48] \"dy\"\n"
      "%4 = matmul %1 %2\n%5 = tanh %4\n%6 = square %5\n";
  const int64_t sizes[] = {10};
  const tc_partition_options o = {.sizes = sizes};
  joint j = joint_of(text, &o), k = joint_of(text, NULL);
  cr_expect_eq(j.p.bytes, 10 * 48 * 4, "%lld", (long long)j.p.bytes);
  cr_expect_eq(k.p.bytes, 128 * 48 * 4, "%lld", (long long)k.p.bytes);
  joint_free(&j), joint_free(&k);
}

Test(partition, refuses_what_has_no_parts) {
  char said[512] = "";
  tc_diag diag = {say, said};
  tc_graph *g = tc_graph_parse(
      "%1 = param f32[4] \"x\"\n%2 = param f32[4] \"dy\"\n%3 = mul %1 %2\nret %3 %3\n", &diag);
  const bool late[] = {false, true};
  const tc_partition_options o = {.nforward = 1, .late = late};
  tc_partition p;
  cr_expect(!tc_partition_choose(g, &o, &p));
  cr_expect_str_eq(
      said,
      "not divided into forward and backward part: a result of the forward part needs a cotangent");
  tc_graph_free(g);
}

/* ---- both parts ---------------------------------------------------------------------------------------- */

static interp_run evaluate(tc_graph *g, const interp_array *const *input, const tc_value *scalar) {
  interp_run run = {.g = g, .input = input, .scalar = scalar};
  cr_assert(interp_graph(&run), "%s", run.message);
  return run;
}

static bool same(const interp_array *a, const interp_array *b) {
  if (a->count != b->count || a->dtype != b->dtype) return false;
  for (int64_t k = 0; k < a->count; k++) {
    const double x = interp_get(a, k), y = interp_get(b, k);
    if (!(x == y || (isnan(x) && isnan(y)))) return false;
  }
  return true;
}

/* Runs the parts one behind the other; their results are the joint graph's, to the bit. */
static void check_parts(tc_graph *g, const tc_partition_options *o, interp_array *const *input,
                        const tc_value *scalar, const char *title, uint32_t *saved) {
  const uint32_t n = tc_graph_input_count(g);
  tc_partition p;
  tc_graph *forward, *backward;
  char message[256] = "";
  cr_assert(tc_partition_choose(g, o, &p), "%s", title);
  cr_assert(tc_partition_split(g, o, &p, &forward, &backward), "%s", title);
  cr_assert(tc_graph_verify(forward, message, sizeof message), "%s: %s", title, message);
  cr_assert(tc_graph_verify(backward, message, sizeof message), "%s: %s", title, message);
  interp_run whole = evaluate(g, (const interp_array *const *)input, scalar);
  interp_run first = evaluate(forward, (const interp_array *const *)input, scalar);
  const interp_array **all = calloc(n + first.noutput + 1u, sizeof *all);
  for (uint32_t i = 0; i < n; i++) all[i] = input[i];
  for (uint32_t i = 0; i < first.noutput; i++) all[n + i] = first.output[i];
  for (uint32_t i = 0, to; i < first.nwrite; i++) { /* the call has written them */
    tc_graph_write_at(forward, i, &to);
    all[to] = first.write[i];
  }
  interp_run second = evaluate(backward, all, scalar);
  cr_assert_eq(second.noutput + o->nforward, whole.noutput);
  for (uint32_t i = 0; i < whole.noutput; i++) {
    const interp_array *got = i < o->nforward ? first.output[i] : second.output[i - o->nforward];
    cr_assert(same(whole.output[i], got), "%s: result %u differs", title, i);
  }
  *saved += p.nsaved;
  free(all);
  interp_run_free(&whole), interp_run_free(&first), interp_run_free(&second);
  tc_graph_free(forward), tc_graph_free(backward);
  tc_partition_free(&p);
}

Test(parts, of_every_case) {
  uint32_t saved = 0;
  for (int k = 0; k < case_count; k++)
    for (int symbolic = 0; symbolic < 2; symbolic++) {
      const case_options options = {.dtype = TC_F64, .symbolic = symbolic};
      grad_case c;
      tc_ref grad[MAX_WRT];
      bool late[MOST];
      if (!case_make(case_lines[k].text, &options, &c)) continue;
      const tc_autodiff a = case_request(&c);
      cr_assert(tc_autodiff_vjp(c.g, &a, grad, NULL));
      for (uint32_t i = 0; i < c.ny; i++) tc_graph_output(c.g, c.y[i]);
      for (uint32_t i = 0; i < c.nwrt; i++) tc_graph_output(c.g, grad[i]);
      for (uint32_t i = 0; i < c.ninput; i++) late[i] = tc_graph_input_at(c.g, i)->name[0] != 'x';
      c.g = tc_graph_optimize(c.g);
      const tc_partition_options o = {.nforward = c.ny, .late = late};
      check_parts(c.g, &o, c.input, c.scalar, case_lines[k].text, &saved);
      case_free(&c);
    }
  fprintf(stderr, "every case: %u values saved\n", saved);
  cr_expect_gt(saved, 50);
}

/* Some arguments are negated in place; one of them is a result, too. */
static void write_arguments(const random_graph *r, uint64_t seed) {
  for (uint32_t i = (uint32_t)(seed % 7); i < r->ninput; i += 7) {
    const tc_ref x = tc_graph_input_at(r->g, i)->node;
    if (tc_graph_type(r->g, x)->dtype == TC_BOOL) continue;
    cr_assert(tc_graph_write(r->g, i, tc_build1(r->g, OP_NEG, x, nowhere)));
  }
}

/* Gradients of the results with cotangents that are values of the graph, and every third graph under a limit. */
static void check_random(uint64_t seed, uint32_t *saved) {
  static const uint32_t dtypes = 1u << TC_F64 | 1u << TC_I64 | 1u << TC_BOOL;
  char said[512], title[32];
  tc_diag diag = {say, said};
  random_graph r;
  random_options options = {
      .seed = seed, .nodes = 4 + (int)(seed % 20), .symbolic = seed & 1, .dtypes = dtypes};
  cr_assert(random_graph_make(&options, &diag, &r));
  tc_graph_output(r.g, tc_graph_input_at(r.g, (uint32_t)(seed % 7))->node);
  tc_partition_options o = {.nforward = tc_graph_output_count(r.g), .max_saved = seed % 3 ? 0 : 64};
  for (uint32_t k = 0; k < o.nforward; k++) {
    const tc_ref y = tc_graph_output_at(r.g, k);
    if (!tc_dtype_is_float((tc_dtype)tc_graph_type(r.g, y)->dtype)) continue;
    for (uint32_t id = 1; id <= r.ninput; id++) {
      const tc_ref x = {id};
      tc_ref grad;
      const tc_autodiff a = {.noutput = 1, .output = &y, .cotangent = &y, .nwrt = 1, .wrt = &x};
      bool reached, is_float = tc_dtype_is_float((tc_dtype)tc_graph_type(r.g, x)->dtype);
      if (is_float && tc_autodiff_vjp(r.g, &a, &grad, &reached) && reached)
        tc_graph_output(r.g, grad);
    }
  }
  write_arguments(&r, seed);
  r.g = tc_graph_optimize(r.g);
  snprintf(title, sizeof title, "seed %llu", (unsigned long long)seed);
  cr_assert_not_null(r.g, "%s: %s", title, said);
  check_parts(r.g, &o, r.input, r.scalar, title, saved);
  random_graph_free_input(&r, r.input);
  tc_graph_free(r.g);
}

Test(parts, of_random_graphs) {
  uint32_t saved = 0;
  for (uint64_t seed = 7000; seed < 7400; seed++) check_random(seed, &saved);
  fprintf(stderr, "random graphs: %u values saved\n", saved);
  cr_expect_gt(saved, 100);
}

/* The backward part needs what x was before the forward part wrote it, which may not have read it. */
Test(parts, an_input_that_is_written_is_saved) {
  static const char *const written[] = {"%4 = square %1\n", "%4 = exp %2\n"};
  for (int k = 0; k < 2; k++) {
    tc_buf text = {0};
    tc_putf(&text,
            "%%1 = param f64[2] \"x\"\n%%2 = param f64[2] \"y\"\n%%3 = param f64[2] \"dy\"\n%s"
            "%%5 = mul %%1 %%3\nwrite %%4 -> %%1\nret %%4 %%5\n",
            written[k]);
    joint j = {.g = tc_graph_parse(text.text, &loud)};
    const bool late[] = {false, false, true};
    const tc_partition_options o = {.nforward = 1, .late = late};
    cr_assert(tc_partition_choose(j.g, &o, &j.p));
    cr_expect(j.p.nsaved == 1 && j.p.saved[0].id == 1, "%s: %u saved", written[k], j.p.nsaved);
    joint_free(&j);
    tc_buf_free(&text);
  }
}

/* ---- time ---------------------------------------------------------------------------------------------- */

static double seconds_for(int n) {
  tc_graph *g = tc_graph_parse("%1 = param f32[B,64] \"w\"\n%2 = param f32[B,64] \"dy\"\n", &loud);
  static const tc_op ops[] = {OP_TANH, OP_MUL, OP_SIN, OP_ADD, OP_SIGMOID, OP_SUB};
  tc_ref a = {1}, b = {1}, dy = {2}, x = {1}, grad;
  for (int i = 0; i < n; i++) {
    const tc_op op = ops[i % 6];
    const tc_ref next = i % 2 ? tc_build2(g, op, a, b, nowhere) : tc_build1(g, op, a, nowhere);
    b = a, a = next;
  }
  const tc_autodiff request = {.noutput = 1, .output = &a, .cotangent = &dy, .nwrt = 1, .wrt = &x};
  cr_assert(tc_autodiff_vjp(g, &request, &grad, NULL));
  tc_graph_output(g, a), tc_graph_output(g, grad);
  const bool late[] = {false, true};
  const tc_partition_options o = {.nforward = 1, .late = late};
  tc_partition p;
  const clock_t start = clock();
  cr_assert(tc_partition_choose(g, &o, &p));
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  fprintf(stderr, "%u nodes: %u saved, %u again, %.3f s\n", tc_graph_count(g), p.nsaved,
          p.nrepeated, seconds);
  tc_partition_free(&p);
  tc_graph_free(g);
  return seconds;
}

Test(partition, takes_little_time) {
  seconds_for(1000);
  cr_expect_lt(seconds_for(10000), 2);
}

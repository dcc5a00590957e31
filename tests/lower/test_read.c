/* Loops as text: what is printed is read back, on every target; programs that are written by hand; what is wrong is
 * said, and nothing else happens.  The graphs of the other tests are read back by check_lowering_for. */
#include "backends/registry.h"
#include "tests/common/loop_texts.h"
#include "tests/common/random_graph.h"
#include "tests/lower/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is reported ------------------------------------------------------------------------ */

static void keep_text(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)s, (void)loc;
  snprintf(self, 300, "%s", text);
}

static tc_program *read_text(const char *text, char said[300]) {
  tc_diag diag = {keep_text, said};
  *said = 0;
  tc_program *p = tc_program_read(text, &diag);
  if (p) tc_graph_diag(p->graph)->self = NULL;
  return p;
}

/* ---- printed programs ------------------------------------------------------------------------ */

static void quiet(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}

static void check_random(const tc_target *target, uint64_t seed) {
  static tc_diag diag = {quiet, NULL};
  static const uint32_t floats = 1u << TC_F32 | 1u << TC_BF16 | 1u << TC_F64, others = 1u << TC_I64 | 1u << TC_BOOL;
  const random_options o = {
      .seed = seed, .nodes = 4 + (int)(seed % 30), .symbolic = seed & 1, .dtypes = floats | others};
  random_graph r;
  cr_assert(random_graph_make(&o, &diag, &r));
  interp_array **near = random_graph_perturbed(&r, 1e-12);
  r.g = tc_graph_optimize(r.g);
  cr_assert_not_null(r.g);
  check_lowering_for(target, r.g, r.input, near, r.scalar);
  random_graph_free_input(&r, near);
  random_graph_free_input(&r, r.input);
  tc_graph_free(r.g);
}

Test(read, random_graphs_of_every_backend, .timeout = 300) {
  const tc_backend *b;
  for (uint32_t i = 0; (b = tc_backend_of_build(i)); i++)
    for (uint64_t k = 0; k < 200; k++) check_random(b->target, 55000 + k);
}

/* ---- programs by hand ------------------------------------------------------------------------ */

static void expect_same(tc_program *p, tc_graph *g, interp_array *const *input) {
  loop_run got = {.p = p, .input = (const interp_array *const *)input};
  interp_run want = {.g = g, .input = (const interp_array *const *)input};
  cr_assert(loop_program(&got), "%s", got.message);
  cr_assert(interp_graph(&want), "%s", want.message);
  for (uint32_t i = 0; i < want.noutput; i++)
    cr_expect(interp_distance(got.output[i], want.output[i], 1e-6, 1e-6) == 0, "result %u differs", i);
  loop_run_free(&got);
  interp_run_free(&want);
}

/* Backends have code for its kernels. */
static void expect_code(const tc_backend *b, tc_program *p) {
  cr_assert(!b->plan || b->plan(p));
  for (uint32_t k = 0; k < p->nkernel; k++) {
    tc_kernel_text text = {0};
    cr_expect(b->supports(&p->kernel[k], p) && b->emit_kernel(&p->kernel[k], p, &text) && text.text.len, "%s of %s",
              p->kernel[k].name, b->name);
    tc_kernel_text_free(&text);
  }
}

/* The loops compute what the graph does, and are printed as something that is read. */
static void expect_computes(const char *loops, const char *graph) {
  char said[300];
  tc_program *p = read_text(loops, said);
  cr_assert_not_null(p, "%s", said);
  tc_graph *g = graph_of(graph);
  interp_array **input = arguments_of(g, 5);
  expect_same(p, g, input);
  tc_program *again = read_back(p);
  expect_same(again, g, input);
  free_read(again);
  const tc_backend *b;
  for (uint32_t i = 0; (b = tc_backend_of_build(i)); i++) expect_code(b, p);
  free_arguments(g, input);
  tc_graph_free(g);
  free_read(p);
}

Test(read, elementwise) {
  expect_computes("program scaled\n"
                  "buffer 0 input 0 x f32[R,C]   ; names of sizes are enough\n"
                  "buffer 1 input 1 b f32[C]\n"
                  "buffer 2 output 0 y f32[R,C]\n"
                  "kernel scaled_1\n"
                  "  nest r < R | c < C  lanes c\n"
                  "    stage { c }\n"
                  "      %1 = load x[C*r + c] : f32\n"
                  "      %2 = load b[C - 1 - c] : f32\n"
                  "      %3 = mul %1 %2 : f32\n"
                  "      store y.2[C*r + c] %3\n",
                  "graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"b\"\n%3 = flip %2 axes=[0]\n"
                  "%4 = mul %1 %3\nret %4\n");
}

Test(read, softmax) {
  expect_computes("program softmax: 1 kernels, workspace 0 bytes\n"
                  "buffer 0 output 0 result f32[R,C]\n"
                  "buffer 1 input 0 x f32[R,C]\n"
                  "buffer 2 local row f32[C]\n"
                  "kernel softmax_1  flops 5*C*R  bytes 8*C*R\n"
                  "  nest r < R | c < C  lanes c  work 14*C*R\n"
                  "    stage { c }\n"
                  "      %1 = load x[C*r + c] : f32\n"
                  "      #0 = max %1 : f32\n"
                  "    stage { c }\n"
                  "      %2 = #0 : f32\n"
                  "      %3 = sub %1 %2 : f32\n"
                  "      %4 = exp %3 : f32\n"
                  "      store row.2[c] %4\n"
                  "      #1 = sum %4 : f32\n"
                  "    stage { c }\n"
                  "      %5 = load row.2[c] : f32\n"
                  "      %6 = #1 : f32\n"
                  "      %7 = div %5 %6 : f32\n"
                  "      store result.0[C*r + c] %7\n",
                  "graph g\n%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n");
}

/* Rows that are kept, or not: a maximum and a sum at once. */
Test(read, kept_and_streamed_rows) {
  expect_computes("program logsumexp\n"
                  "buffer 0 output 0 y f32[R]\n"
                  "buffer 1 input 0 x f32[R,1<=C<=4096]\n"
                  "kernel logsumexp_1\n"
                  "  nest r < R | c < C\n"
                  "    stage { c }\n"
                  "      %1 = load x[C*r + c] : f32\n"
                  "      %2 = 1.0 : f32\n"
                  "      #0, #1 = online_softmax %1, %2 : f32\n"
                  "    stage { }\n"
                  "      %3 = #0 : f32\n"
                  "      %4 = #1 : f32\n"
                  "      %5 = log %4 : f32\n"
                  "      %6 = add %3 %5 : f32\n"
                  "      store y.0[r] %6\n"
                  "    or, where rows are not kept\n"
                  "    stage { c }\n"
                  "      #0, #1 = online_softmax %1, %2 : f32\n"
                  "    stage { }\n"
                  "      store y.0[r] %6\n",
                  "graph g\n%1 = param f32[R,C] \"x\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n");
}

/* Products of every kind. */
Test(read, products) {
  for (int i = 0; i < loop_text_count; i++) expect_computes(loop_texts[i].loops, loop_texts[i].graph);
}

/* Names that are no words of a line, and names that two inputs have. */
Test(read, names) {
  expect_computes("program names\n"
                  "buffer 0 input 0 \"a ; b\" f32[N]\n"
                  "buffer 1 input 1 w[0] f32[N]\n"
                  "buffer 2 input 2 x f32[N]\n"
                  "buffer 3 input 3 x f32[N]\n"
                  "buffer 4 output 0 y f32[N]\n"
                  "kernel names_1\n"
                  "  w[0] from element N - 1\n"
                  "  nest | N < N\n"
                  "    stage { N }\n"
                  "      %1 = load \"a ; b\"[N] : f32\n"
                  "      %2 = load w[0][-N] : f32\n"
                  "      %3 = load x.2[N] : f32\n"
                  "      %4 = load x.3[N] : f32\n"
                  "      %5 = sub %1 %2 : f32\n"
                  "      %6 = sub %3 %4 : f32\n"
                  "      %7 = mul %5 %6 : f32\n"
                  "      store y.4[N] %7\n",
                  "graph g\n%1 = param f32[N] \"a\"\n%2 = param f32[N] \"w\"\n%3 = param f32[N] \"x\"\n"
                  "%4 = param f32[N] \"x\"\n%5 = flip %2 axes=[0]\n%6 = sub %1 %5\n%7 = sub %3 %4\n"
                  "%8 = mul %6 %7\nret %8\n");
}

/* ---- what is wrong --------------------------------------------------------------------------- */

#define HEAD "program p\nbuffer 0 input 0 x f32[N,4]\nbuffer 1 output 0 y f32[N]\n"
#define SUM HEAD "kernel sum\n  nest i < N | j < 4\n    stage { j }\n      %1 = load x[4*i + j] : f32\n"
#define PRODUCT HEAD "kernel product\n  matmul f32 m < N n < 1 k < 4\n    a %1  b %1\n"

static const struct {
  const char *text, *why;
} wrong[] = {
    {"", "line 0: no program"},
    {"\nkernel k\n", "line 2: expected 'program' before \"kernel k\""},
    {"program p: 2 kernels, workspace 0 bytes\n", "line 1: 2 kernels are announced, and 0 there"},
    {"program p: 0 kernels, workspace N bytes\n", "line 1: no input has the size N"},
    {"program p: 0 kernels, workspace 4 byte\n", "line 1: workspace: expected 'bytes' before \"byte\""},
    {"program p\nbuffer 1 input 0 x f32[4]\n", "line 2: expected buffer 0"},
    {"program p\nbuffer 0 here x f32[4]\n",
     "line 2: expected input, output, arena, local, kept or private before \"here x f32[4]\""},
    {"program p\nbuffer 0 input 0 x f99[4]\n",
     "line 2: unknown element type; known are bool u8 i8 i16 i32 i64 f16 bf16 f32 f64: \"f99[4]\""},
    {"program p\nbuffer 0 input 1 x f32[4]\n", "line 2: input 0 has no line"},
    {"program p\nbuffer 0 output 1 x f32[4]\n", "line 2: results are numbered from 0 on, and each has one buffer"},
    {"program p\nbuffer 0 arena x f32[4] at 0 layout [1] layout\n", "line 2: unexpected \"layout\""},
    {"program p\nbuffer 0 arena x f32[4,4] at 0 layout [1, 1]\n", "line 2: elements of the layout share places"},
    {"program p\nbuffer 0 kept x f32[4] while w is unchanged\n", "line 2: buffer 0 depends on 'w', which is no input"},
    {HEAD "scalar 0 f64 \"a\"\n", "line 4: scalars stand in front of constants and buffers"},
    {HEAD "store y.1[0] %1\n", "line 4: expected 'kernel' before \"store y.1[0] %1\""},
    {HEAD "kernel k\nbuffer 2 local z f32[4]\n", "line 5: unexpected \"buffer 2 local z f32\""},
    {HEAD "kernel k\n", "line 4: the kernel in front of this line has no nest"},
    {HEAD "kernel k\n  nest i < M\n", "line 5: no input has the size M"},
    {HEAD "kernel k\n  nest i < N i < N\n", "line 5: two axes are i"},
    {HEAD "kernel k\n  nest i < N (chunk j of N)\n", "line 5: there is no axis j"},
    {HEAD "kernel k\n  nest i < N  lanes j\n", "line 5: there is no axis j"},
    {HEAD "kernel k\n  nest i < N\n    stage { i }\n", "line 6: the nest has no sequential axis i"},
    {HEAD "kernel k\n  own0 is N\n", "line 5: kernels have no size own0 of their own"},
    {HEAD "kernel k\n  for N < 4\n", "line 5: kernels have no size N of their own"},
    {HEAD "kernel k\n  in the launch in front\n", "line 5: no launch is in front"},
    {HEAD "kernel k\n  calls a function of the program\n", "line 5: calls of functions are not read"},
    {SUM "      store y.1[i] %2\n", "line 8: %2 is not defined"},
    {SUM "      store y[i] %1\n", "line 8: expected a buffer before \"y[i] %1\""},
    {SUM "      store y.1[i + h] %1\n", "line 8: no axis or size has the name \"h\""},
    {SUM "      store y.1[i %1\n", "line 8: expected ']' before \"%1\""},
    {SUM "      %1 = load x[0] : f32\n", "line 8: %1 is defined already"},
    {SUM "      %2 = load x[0] : f64\n", "line 8: the load gives f32"},
    {SUM "      %2 = what %1 : f32\n", "line 8: expected a value before \"what %1 : f32\""},
    {SUM "      %2 = 1.5 : i64\n", "line 8: no number of type i64: \"1.5 : i64\""},
    {SUM "      %2 = 256 : u8\n", "line 8: no number of type u8: \"256 : u8\""},
    {SUM "      %2 = exp %1\n", "line 8: expected ':' before \"\""},
    {SUM "      %2 = scalar 0 : f32\n", "line 8: there is no scalar 0"},
    {SUM "      %99999 = 1 : i64\n", "line 8: there is no number of a value 99999"},
    {SUM "      #0 = total %1 : f32\n", "line 8: expected a reduction before \"total %1 : f32\""},
    {SUM "      #0, #1 = sum %1, %1 : f32\n", "line 8: sum has 1 results"},
    {SUM "      #0, #2 = argmax %1, %1 : f32\n", "line 8: results of a reduction follow each other"},
    {SUM "      %2 = cast %1 : f64\n      store y.1[i] %2\n", "line 9: f64 is stored to f32"},
    {SUM "    stage { j }\n", "line 8: the stage in front of this line does nothing"},
    {SUM "      #0 = sum %1 : f32\n    stage { }\n      %2 = #1 : f32\n      store y.1[i] %2\n",
     "sum: expression 2: there is no result 1"},
    {SUM "      #0 = sum %1 : f32\n    stage { }\n      %2 = exp %1 %1 : f32\n      store y.1[i] %2\n",
     "sum: expression 2: 2 operands"},
    {SUM "      store x[i] %1\n", "sum: stores to an input"},
    {"program p\nbuffer 0 output 0 y f32[4]\nkernel k\n  nest | i < 4\n    stage { i }\n      %1 = 1.0 : f32\n"
     "      store y.0[i + 1] %1\n",
     "k: an access leaves buffer 0"},
    {PRODUCT "    epilogue\n      store y.1[m] %1\n", "line 8: %1 is not defined"},
    {PRODUCT "      %1 = load x[4*m + k] : f32\n", "line 7: the product in front of this line has no epilogue"},
    {PRODUCT "    epilogue\n      #0 = sum %1 : f32\n", "line 8: a product is all that an epilogue reduces"},
    {HEAD "kernel k\n  matmul f32 m < N n < 4\n", "line 5: a product has axes m, n and k"},
    {HEAD "kernel k\n  matmul f32 m < N n < 1 k < 4 (r < 2, s < 3)\n    a %1  b %1\n      %1 = load x[4*m + k] : f32\n"
          "    epilogue\n      %2 = #0 : f32\n      store y.1[m] %2\n",
     "k: parts of axis k are of another extent"},
};

Test(read, messages) {
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char said[300];
    tc_program *p = read_text(wrong[i].text, said);
    cr_expect_null(p, "%s", wrong[i].text);
    cr_expect_str_eq(said, wrong[i].why, "'%s', not '%s' of\n%s", said, wrong[i].why, wrong[i].text);
    if (p) free_read(p);
  }
}

/* ---- any text -------------------------------------------------------------------------------- */

/* Whatever it is, it is read and printed, or something is said. */
static void try_text(const char *text) {
  char said[300];
  tc_program *p = read_text(text, said);
  cr_expect(p || *said, "nothing is said of\n%s", text);
  if (!p) return;
  tc_buf again = {0};
  tc_program_print(p, &again);
  tc_buf_free(&again);
  free_read(p);
}

/* Parts of it, and what a few other bytes in each place make of it. */
static void try_changes(const tc_program *p) {
  static const char other[] = "0918-%#[](){}<>,:;*+ .\"\n\tijkN";
  uint64_t state = 7;
  tc_buf text = {0};
  tc_program_print(p, &text);
  for (size_t n = text.len; n-- > 0;) {
    const char was = text.text[n];
    for (int k = 0; k < 3; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text.text[n] = k ? other[(state >> 33) % (sizeof other - 1)] : (char)(state >> 40);
      if (text.text[n]) try_text(text.text);
    }
    text.text[n] = was;
  }
  for (; text.len-- > 0; try_text(text.text)) text.text[text.len] = 0;
  tc_buf_free(&text);
}

static void try_changes_of(const char *graph) {
  tc_target target = *tc_backend_of_build(0)->target;
  target.streams = true;
  target.long_pass = 2;
  target.split = 4;
  target.least_of_row = 0;
  tc_graph *g = graph_of(graph);
  tc_program *p = tc_lower(g, &target);
  cr_assert_not_null(p);
  try_changes(p);
  tc_program_free(p);
  tc_graph_free(g);
}

#define CHANGES(name, graph)                                                                       \
  Test(read_changes, name, .timeout = 300) { try_changes_of("graph g\n" graph); }

CHANGES(of_rows, "sym C 1..4096 %8\n%1 = param f32[R,C] \"x\"\n%2 = scalar f64 \"a\"\n"
                 "%3 = layer_norm %1 _ _ %2 naxes=1\nret %3\n")
CHANGES(of_products, "%1 = param bf16[B,M,6] \"x\"\n%2 = param bf16[6,8] \"v\"\n"
                     "%3 = matmul %1 %2\n%4 = gelu %3\nret %4\n")
CHANGES(of_indices, "%1 = param f32[V,D] \"w\"\n%2 = param i64[T] \"i\"\n%3 = embedding %1 %2\nret %3\n")
CHANGES(of_cut_sums, "%1 = param f32[N] \"x\"\n%2 = sum %1 axes=[] keep=0\n%3 = cumsum %1 axis=0\nret %2 %3\n")
CHANGES(of_siblings, "%1 = param f32[M] \"x\"\n%2 = param f32[N] \"y\"\n"
                     "%3 = exp %1\n%4 = exp %2\nwrite %3 -> %1\nwrite %4 -> %2\n")
CHANGES(of_random_numbers, "%1 = scalar i64 \"s\"\n%2 = rand %1 dims=[64] dtype=bf16\nret %2\n")

/* Every op of the table, and random graphs, through the CUDA printers to machine code for sm_80 and
 * sm_90: no text is refused, and no function needs much local memory.  And products of attention on
 * Hopper do not wait for each other.  TC_TEST_ALL=1 takes every op
 * instead of a third of them.  Without NVRTC there is nothing to test. */
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/emit.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/unit.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/random_graph.h"
#include "tests/cuda/cubin.h"
#include "tests/cuda/program.h"

/* Bytes of a thread: the reduction of large angles keeps a table of 28 bytes there, calls of large
 * functions their saved registers. */
enum { MOST_LOCAL = 128, TEXTS = 1024 };

typedef struct corpus {
  char *name[TEXTS], *text[TEXTS];
  int n;
} corpus;

static tc_diag quiet;

static void no_message(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}

static bool add_text(const char *name, const char *text, void *arg) {
  corpus *c = arg;
  for (int i = 0; i < c->n; i++)
    if (strcmp(c->name[i], name) == 0) return true;
  if (c->n == TEXTS) return true;
  c->name[c->n] = strdup(name);
  c->text[c->n++] = strdup(text);
  return true;
}

static void add_graph(const random_options *o, corpus *c) {
  random_graph r;
  const bool made = random_graph_make(o, &quiet, &r);
  random_graph_free_input(&r, r.input);
  tc_graph *g = made ? tc_graph_optimize(r.g) : NULL;
  if (!made) tc_graph_free(r.g);
  tc_program *p = g ? tc_lower(g, &tc_cuda_target) : NULL;
  cr_assert(!p || tc_backend_cuda.plan(p));
  if (p) {
    cr_expect(cuda_each_text(p, add_text, c), "a kernel without code");
    tc_program_free(p);
  }
  if (g) tc_graph_free(g);
}

static void collect(corpus *c) {
  static const uint32_t dtypes[] = {1u << TC_F32 | 1u << TC_I64 | 1u << TC_BOOL,
                                    1u << TC_F64 | 1u << TC_I32 | 1u << TC_U8,
                                    1u << TC_BF16 | 1u << TC_I16, 1u << TC_F16 | 1u << TC_I8};
  const int every = getenv("TC_TEST_ALL") ? 1 : 3;
  quiet.emit = no_message;
  for (int op = 1; op < OP_COUNT; op += every)
    add_graph(&(random_options){.seed = (uint64_t)op,
                                .always = (tc_op)op,
                                .symbolic = op & 1,
                                .dtypes = dtypes[op / every % 4]},
              c);
  for (int k = 0; k < 24 / every; k++)
    add_graph(
        &(random_options){
            .seed = 5000 + (uint64_t)k, .nodes = 20, .symbolic = k & 1, .dtypes = dtypes[k % 4]},
        c);
}

static int check_image(const char *name, const tc_nvrtc_blob *blob, uint32_t *most) {
  cubin_function *list = NULL;
  const int n = cubin_functions(blob->bytes, blob->size, &list);
  cr_assert_gt(n, 0, "%s: no functions in the image for sm_%u", name, blob->arch);
  for (int i = 0; i < n; i++) {
    if (list[i].frame)
      printf("sm_%u %s: %u bytes of local memory, %u registers\n", blob->arch, list[i].name,
             list[i].frame, list[i].registers);
    cr_expect_leq(list[i].frame, MOST_LOCAL, "%s needs %u bytes of local memory on sm_%u",
                  list[i].name, list[i].frame, blob->arch);
    if (list[i].registers > *most) *most = list[i].registers;
  }
  free(list);
  return n;
}

Test(machine_code, corpus, .timeout = 3000) {
  static corpus c;
  const tc_cuda_options options = {.narch = 2, .arch = {80, 90}};
  tc_buf why = {0};
  collect(&c);
  tc_nvrtc_job *job = calloc((size_t)c.n + 1, sizeof *job);
  for (int i = 0; i < c.n; i++) job[i] = (tc_nvrtc_job){.name = c.name[i], .text = c.text[i]};
  if (!tc_nvrtc_compile(&options, job, (size_t)c.n, &why))
    cr_skip("skipped: %s\n", why.text ? why.text : "no NVRTC");
  int functions = 0;
  uint32_t registers = 0;
  for (int i = 0; i < c.n; i++) {
    cr_expect_null(job[i].error, "%s: %.2000s", c.name[i], job[i].error);
    for (uint32_t b = 0; !job[i].error && b < job[i].nblob; b++)
      functions += check_image(c.name[i], &job[i].blob[b], &registers);
    tc_nvrtc_job_free(&job[i]);
    free(c.name[i]);
    free(c.text[i]);
  }
  printf("%d kernels, %d functions for two architectures, at most %u registers\n", c.n, functions,
         registers);
  free(job);
  tc_buf_free(&why);
}

/* ---- what the assembler says ----------------------------------------------------------------- */

typedef struct compiler {
  void *library;
  int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
  int (*compile)(void *, int, const char *const *);
  int (*log_size)(void *, size_t *);
  int (*log)(void *, char *);
  int (*destroy)(void **);
} compiler;

static bool open_compiler(compiler *c) {
  static const char *const name[] = {"nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetProgramLogSize",
                                     "nvrtcGetProgramLog", "nvrtcDestroyProgram"};
  void *const to[] = {&c->create, &c->compile, &c->log_size, &c->log, &c->destroy};
  tc_buf paths = {0};
  tc_nvrtc_candidates(NULL, &paths);
  for (const char *path = paths.text; !c->library && path && *path; path += strlen(path) + 1)
    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  tc_buf_free(&paths);
  bool all = c->library != NULL;
  for (int i = 0; all && i < 5; i++) {
    void *address = dlsym(c->library, name[i]);
    memcpy(to[i], &address, sizeof address);
    all = address != NULL;
  }
  return all;
}

/* ptxas puts a wait behind each wgmma where it cannot follow what becomes of their registers. */
static bool compiles_apart(const char *name, const char *text, void *arg) {
  const compiler *c = arg;
  static const char *const options[] = {"-arch=sm_90a", "-std=c++17", "-default-device", "-w"};
  void *program = NULL;
  size_t size = 0;
  cr_assert_eq(c->create(&program, text, name, 0, NULL, NULL), 0);
  cr_assert_eq(c->compile(program, 4, options), 0, "%s", name);
  cr_assert_eq(c->log_size(program, &size), 0);
  char *log = calloc(size + 1, 1);
  cr_assert_eq(c->log(program, log), 0);
  cr_expect_null(strstr(log, "serialized"), "%s: %s", name, log);
  free(log);
  c->destroy(&program);
  return true;
}

#define ATTENTION(width, mask)                                                                          \
  "graph g\n%1 = param bf16[B,R," width "] \"q\"\n%2 = param bf16[B,C," width "] \"k\"\n%3 = param bf16[B,C," width "] \"v\"\n" \
  "%4 = permute %2 axes=[0,2,1]\n%5 = matmul %1 %4\n" mask "%10 = softmax %9 axis=2\n%11 = matmul %10 %3\nret %11\n"
#define NO_MASK "%6 = neg %5\n%7 = tanh %6\n%8 = neg %7\n%9 = tanh %8\n"
#define CAUSAL                                                                                          \
  "%6 = const weak bf16 -INFINITY\n%7 = full %6 dims=[R,C] dtype=bf16\n%8 = triu %7 k=1\n%9 = add %5 %8\n"

Test(machine_code, products_are_not_serialized, .timeout = 600) {
  static const char *const texts[] = {ATTENTION("64", NO_MASK), ATTENTION("128", NO_MASK), ATTENTION("64", CAUSAL),
                                      ATTENTION("128", CAUSAL), ATTENTION("256", CAUSAL)};
  compiler c = {0};
  quiet.emit = no_message;
  if (!open_compiler(&c)) cr_skip("skipped: no NVRTC\n");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tc_graph *parsed = tc_graph_parse(texts[i], &quiet);
    cr_assert_not_null(parsed);
    tc_graph *g = tc_graph_optimize(parsed);
    tc_program *p = tc_lower(g, &tc_cuda_target);
    cr_assert(p && tc_backend_cuda.plan(p));
    cr_expect(cuda_each_text(p, compiles_apart, &c));
    tc_program_free(p);
    tc_graph_free(g);
  }
}

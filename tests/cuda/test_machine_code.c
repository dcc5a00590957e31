/* Every op of the table, and random graphs, through the CUDA printers to machine code for sm_80 and
 * sm_90: no text is refused, and no function needs much local memory.  TC_TEST_ALL=1 takes every op
 * instead of a third of them.  Without NVRTC there is nothing to test. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/emit.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/unit.h"
#include "graph/passes/pass.h"
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

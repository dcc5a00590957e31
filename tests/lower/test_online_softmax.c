/* Which maxima and sums of exponentials are one reduction of two accumulators, and that it does what both do. */
#include "tests/lower/check.h"

#include "backends/registry.h"

/* Stages of a program, of one of the two ways to run a nest, that are such a reduction. */
static int reductions_of(const tc_program *p, bool streamed) {
  int n = 0;
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t i = 0; i < p->kernel[k].nnest; i++) {
      const tc_nest *nest = &p->kernel[k].nest[i];
      const tc_stage *stage = nest->stage + (streamed ? nest->nstage : 0);
      for (uint32_t s = 0; s < (streamed ? nest->nstreamed : nest->nstage); s++)
        n += stage[s].naction == 1 && stage[s].action->reducer == TC_REDUCE_ONLINE_SOFTMAX && stage[s].action->term.id;
    }
  return n;
}

static const tc_target *target_of(const char *name) {
  tc_buf why = {0};
  const tc_backend *b = tc_backend_find(name, false, &why);
  tc_buf_free(&why);
  cr_assert_not_null(b);
  return b->target;
}

/* The values are checked on the way, in rows of 30. */
static int online(const char *text, const tc_target *target, bool streamed) {
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 30);
  check_lowering_for(target, g, input, NULL, NULL);
  free_arguments(g, input);
  tc_program *p = tc_lower(g, target);
  cr_assert_not_null(p);
  const int n = reductions_of(p, streamed);
  tc_program_free(p);
  tc_graph_free(g);
  return n;
}

/* A GPU's threads keep rows, or stream them. */
#define STREAMED(name, want, text)                                                                                     \
  Test(streamed, name) {                                                                                               \
    cr_expect_eq(online("graph g\n" text, target_of("cuda"), true), want);                                             \
    cr_expect_eq(online("graph g\n" text, target_of("cuda"), false), 0);                                               \
  }

STREAMED(softmax, 1, "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
STREAMED(log_softmax, 1, "%1 = param bf16[R,C] \"x\"\n%2 = log_softmax %1 axis=1\nret %2\n")
STREAMED(logsumexp, 1, "%1 = param f32[R,C] \"x\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n")
STREAMED(cross_entropy, 1,
         "%1 = param f32[R,C] \"x\"\n%2 = param i64[R] \"t\"\n%3 = cross_entropy %1 %2 reduction=0\nret %3\n")
STREAMED(of_a_sum, 1,
         "%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"y\"\n%3 = add %1 %2\n%4 = softmax %3 axis=1\nret %4\n")
STREAMED(two_of_one_row, 2,
         "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\n%3 = softmax %2 axis=1\nret %3\n")
STREAMED(of_f64, 1, "%1 = param f64[R,C] \"x\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n")
STREAMED(not_of_f64_twice, 0, "%1 = param f64[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
STREAMED(not_of_columns, 0, "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=0\nret %2\n")
STREAMED(not_of_another_maximum, 0,
         "%1 = param f32[R,C] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = max %2 axes=[1] keep=1\n%4 = sub %1 %3\n"
         "%5 = exp %4\n%6 = sum %5 axes=[1] keep=0\nret %6\n")
STREAMED(not_beside_another_sum, 0,
         "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\n%3 = logsumexp %1 axes=[1] keep=0\nret %2 %3\n")

/* On a CPU long rows are, where nothing else needs the exponentials. */
#define CPU(name, want, text)                                                                                          \
  Test(cpu, name) {                                                                                                    \
    tc_target target = *target_of("openmp");                                                                           \
    cr_expect_gt(target.online_from, 30);                                                                              \
    cr_expect_eq(online("graph g\n" text, &target, false), 0);                                                         \
    target.online_from = 30;                                                                                           \
    cr_expect_eq(online("graph g\n" text, &target, false), want);                                                      \
  }

CPU(logsumexp, 1, "%1 = param f32[R,100] \"x\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n")
CPU(log_softmax, 1, "%1 = param bf16[R,100] \"x\"\n%2 = log_softmax %1 axis=1\nret %2\n")
CPU(not_softmax, 0, "%1 = param f32[R,100] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
CPU(not_of_unknown_length, 0, "%1 = param f32[R,C] \"x\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n")

/* As it is printed. */
Test(online_softmax, text) {
  tc_graph *g = graph_of("graph g\n%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n");
  tc_program *p = tc_lower(g, target_of("cuda"));
  tc_buf text = {0};
  cr_assert_not_null(p);
  tc_program_print(p, &text);
  const char *way = strstr(text.text, "    or, where rows are not kept\n");
  cr_assert_not_null(way, "%s", text.text);
  cr_expect_not_null(strstr(way, "#0, #1 = online_softmax %1, %"), "%s", way);
  cr_expect_null(strstr(way, "store row"), "%s", way);
  tc_buf_free(&text);
  tc_program_free(p);
  tc_graph_free(g);
}

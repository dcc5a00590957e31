/* Which exponentials and sigmoids are computed to the digits of 16-bit results. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "backends/openmp/unit.h"
#include "graph/passes/pass.h"
#include "graph/text.h"

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

static bool is_coarse(const char *text) {
  tc_graph *g = tc_graph_parse(text, &diag);
  cr_assert_not_null(g);
  g = tc_graph_optimize(g);
  cr_assert_not_null(g);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  cr_assert(tc_backend_openmp.plan(p));
  bool coarse = false;
  for (uint32_t k = 0; k < p->nkernel; k++) {
    tc_kernel_text t = {0};
    cr_assert(tc_backend_openmp.emit_kernel(&p->kernel[k], p, &t));
    coarse |= strstr(t.text.text, "tc_expapprox_f32(") || strstr(t.text.text, "tc_sigmoidapprox_f32(");
    tc_kernel_text_free(&t);
  }
  tc_program_free(p);
  tc_graph_free(g);
  return coarse;
}

#define COARSE(name, want, text)                                                                   \
  Test(coarse, name) { cr_expect_eq(is_coarse("graph g\n" text), want); }

COARSE(softmax_of_bf16, true, "%1 = param bf16[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
COARSE(softmax_of_f16, true, "%1 = param f16[R,64] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
COARSE(stored, true, "%1 = param bf16[N] \"x\"\n%2 = exp %1\nret %2\n")
COARSE(scaled, true, "%1 = param bf16[N] \"x\"\n%2 = exp %1\n%3 = mul %2 %1\nret %3\n")
COARSE(sum_of_terms, true,
       "%1 = param bf16[R,C] \"x\"\n%2 = exp %1\n%3 = sum %2 axes=[1] keep=0\nret %3\n")
COARSE(softmax_of_f32, false, "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
COARSE(logarithm_of_a_sum, false,
       "%1 = param bf16[R,C] \"x\"\n%2 = log_softmax %1 axis=1\nret %2\n")
COARSE(difference, false, "%1 = param bf16[N] \"x\"\n%2 = exp %1\n%3 = sub %2 %1\nret %3\n")
COARSE(sum_of_products, false,
       "%1 = param bf16[R,C] \"x\"\n%2 = exp %1\n%3 = mul %2 %1\n%4 = sum %3 axes=[1] keep=0\n"
       "ret %4\n")
COARSE(compared, false, "%1 = param bf16[N] \"x\"\n%2 = exp %1\n%3 = gt %2 %1\nret %3\n")
COARSE(kept_as_f32_too, false,
       "%1 = param bf16[N] \"x\"\n%2 = cast %1 dtype=f32\n%3 = exp %2\n%4 = cast %3 dtype=bf16\n"
       "ret %3 %4\n")
COARSE(gated, true, "%1 = param bf16[R,C] \"x\"\n%2 = param bf16[R,C] \"y\"\n%3 = silu %1\n%4 = mul %3 %2\nret %4\n")
COARSE(gate_of_f32, false, "%1 = param f32[N] \"x\"\n%2 = silu %1\nret %2\n")
COARSE(complement, false, "%1 = param bf16[N] \"x\"\n%2 = sigmoid %1\n%3 = const weak f64 1\n%4 = sub %3 %2\nret %4\n")
COARSE(gate_behind_a_product, true,
       "%1 = param bf16[M,K] \"x\"\n%2 = param bf16[K,N] \"w\"\n%3 = matmul %1 %2\n%4 = silu %3\nret %4\n")
COARSE(gate_behind_a_product_of_f32, false,
       "%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = matmul %1 %2\n%4 = silu %3\nret %4\n")

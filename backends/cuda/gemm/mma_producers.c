/* mma_producers.c - the warps of a block that bring tiles to those that multiply them (CUTLASS: producers and consumers).
 *
 * A tile's place is full when the copies of all producers have arrived there, by themselves, and empty again when all warps
 * have multiplied it: neither side waits for what it began last. */
#include "backends/cuda/gemm/mma.h"

/* Registers of a producer: so many leave 160 to each of 384 threads that have 128 sums. */
enum { FEW_REGISTERS = 32 };

tc_cuda_fill tc_cuda_mma_fill(const tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const bool left = name == 'a';
  return (tc_cuda_fill){
      .o = o,
      .name = name,
      .outer = {left ? x->m : x->n, left ? "m0" : "n0", left ? "m_end" : "n_end", left ? "M" : "N"},
      .deep = {x->kk, "k0", "k_end", tc_cuda_mma_deep(x) == 64 ? "64" : "32"}};
}

bool tc_cuda_mma_has_producers(const tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_cuda_fill a = tc_cuda_mma_fill(x, &o[TC_CUDA_A], 'a'), b = tc_cuda_mma_fill(x, &o[TC_CUDA_B], 'b');
  return tc_cuda_has_steps(x, &a) && tc_cuda_has_steps(x, &b);
}

void tc_cuda_mma_put_mbarriers(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (!tc_cuda_mma_has_producers(x, o)) return;
  tc_print_line(&x->s, "__shared__ tc_mbarrier full[PLACES], empty[PLACES];");
  tc_print_line(&x->s, "int now = 0, phase = 0; /* the place of the next tile, and the phase of its mbarriers */");
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) {");
  tc_print_line(&x->s, "  if (threadIdx.x == 0)");
  tc_print_line(&x->s, "    for (int i = 0; i < PLACES; ++i) tc_mbarrier_init(&full[i], PRODUCERS), tc_mbarrier_init(&empty[i], THREADS / 32);");
  tc_print_line(&x->s, "  __syncthreads();");
  tc_print_line(&x->s, "}");
}

static const char next_place[] = "if (++now == PLACES) now = 0, phase = !phase;";

static void put_copies(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const tc_cuda_fill f = tc_cuda_mma_fill(x, o, name);
  tc_print_line(&x->s, "{ /* %s */", name == 'a' ? "A" : "B");
  x->s.indent += 2;
  tc_print_line(&x->s, "unsigned short *const %c_tile = place + now * PLACE%s;", name, name == 'a' ? "" : " + OF_A");
  tc_cuda_put_stepped_fill(x, &f, "copier", "PRODUCERS");
  tc_cuda_close_scope(x);
}

void tc_cuda_mma_put_producers(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (!tc_cuda_mma_has_producers(x, o)) return;
  tc_cuda_open_producers(x, FEW_REGISTERS);
  tc_print_line(&x->s, "const int copier = (int)threadIdx.x - THREADS;");
  tc_print_line(&x->s, "for (tc_int k0 = %s; k0 < k_end; k0 += 64) {", tc_cuda_has_k_parts(x->k) ? "k_first" : "0");
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_mbarrier_wait(&empty[now], !phase);");
  put_copies(x, &o[TC_CUDA_A], 'a');
  put_copies(x, &o[TC_CUDA_B], 'b');
  tc_print_line(&x->s, "tc_copies_arrive(&full[now]);");
  tc_print_line(&x->s, "%s", next_place);
  tc_cuda_close_scope(x);
  tc_cuda_close_scope(x);
  tc_cuda_open_consumers(x, FEW_REGISTERS, "BLOCKS");
}

void tc_cuda_mma_put_consumers(tc_cuda_product *x) {
  tc_print_line(&x->s, "for (tc_int step = 0, before = 0; step < steps; ++step) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const unsigned short *const from = place + now * PLACE;");
  tc_print_line(&x->s, "tc_mbarrier_wait(&full[now], phase);");
  tc_print_line(&x->s, "square.ready();");
  tc_print_line(&x->s, "square.start(from, from + OF_A);");
  tc_print_line(&x->s, "square.template finish<1>(from, from + OF_A);");
  tc_print_line(&x->s, "if (step > 0 && threadIdx.x %% 32 == 0) tc_mbarrier_arrive(&empty[before]); /* the product before is there */");
  tc_print_line(&x->s, "before = now;");
  tc_print_line(&x->s, "%s", next_place);
  tc_cuda_close_scope(x);
  tc_print_line(&x->s, "square.end();");
  tc_print_line(&x->s, "if (steps > 0 && threadIdx.x %% 32 == 0) tc_mbarrier_arrive(&empty[(now + PLACES - 1) %% PLACES]);");
}

void tc_cuda_mma_close_producers(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (tc_cuda_mma_has_producers(x, o)) tc_cuda_close_scope(x);
}

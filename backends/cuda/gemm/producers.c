/* producers.c - a block of warps that bring tiles and others that multiply them: the registers of each. */
#include "backends/cuda/gemm/matmul.h"

void tc_cuda_open_producers(tc_cuda_product *x, int registers) {
  tc_print_line(&x->s, "if (PRODUCERS > 0 && tc_warp_uniform((int)threadIdx.x / 32) >= THREADS / 32) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_registers_fewer<%d>();", registers);
}

void tc_cuda_open_consumers(tc_cuda_product *x, int registers, const char *blocks) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int ALL = THREADS + PRODUCERS, EACH = %d / %s / ALL / 8 * 8; /* registers of a thread, at first */", TC_CUDA_REGISTERS, blocks);
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) tc_registers_more<(EACH * ALL - PRODUCERS * %d) / THREADS / 8 * 8>();", registers);
}

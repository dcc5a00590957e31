/* approximate.c - where elementary functions need no more digits than 16 bits hold. */
#include "backends/cuda/schedule/plan.h"

/* Does another kernel of the program name the buffer? */
static bool is_shared(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  for (uint32_t i = 0; i < p->nkernel; ++i)
    for (uint32_t j = 0; p->kernel[i].buffer != k->buffer && j < p->kernel[i].nbuffer; ++j)
      if (p->kernel[i].buffer[j] == buffer) return true;
  return false;
}

/* Are all results of the kernel of 16 bits?  What passes between its own nests is none. */
bool tc_cuda_stores_halves(const tc_kernel *k, const tc_program *p) {
  bool any = false;
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = &p->buffer[k->buffer[i]];
    const bool half = tc_dtype_is_half(b->dtype);
    if (b->kind == TC_BUF_LOCAL || !tc_kernel_writes(k, i)) continue;
    if (!half && (b->kind != TC_BUF_ARENA || is_shared(k, p, k->buffer[i]))) return false;
    any |= half;
  }
  return any;
}

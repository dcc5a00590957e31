/* approximate.c - where elementary functions need no more digits than 16 bits hold. */
#include "backends/cuda/schedule/plan.h"

static bool is_chain_of_halves(const tc_kernel *k) {
  return k->kind == TC_KERNEL_MATMUL && tc_mm_is_chain(&k->mm) && tc_dtype_is_half(k->mm.operand);
}

/* Does another kernel of the program name the buffer?  What a chain keeps of its rows for others,
 * to make weights of 16 bits again, is theirs alone. */
static bool is_shared(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  for (uint32_t i = 0; i < p->nkernel; ++i) {
    const tc_kernel *other = &p->kernel[i];
    if (other->buffer == k->buffer || (is_chain_of_halves(k) && is_chain_of_halves(other)))
      continue;
    for (uint32_t j = 0; j < other->nbuffer; ++j)
      if (other->buffer[j] == buffer) return true;
  }
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

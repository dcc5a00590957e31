/* order.c - kernels that run earlier than they were made, in front of one that has to wait for
 * them.
 *
 * Two kernels keep their order where one stores to an array that the other names, and where both
 * are calls for their effect.  So what a kernel follows moves with it, and all else stays. */
#include "lower/lowering.h"

#include <string.h>

typedef struct moved { /* by kernels that move, per program buffer */
  bool *named, *stored;
  bool effect;
} moved;

static bool follows(const moved *m, const tc_kernel *k) {
  if (k->effect && m->effect) return true;
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    const uint32_t b = k->buffer[i];
    if (m->stored[b] || (m->named[b] && tc_kernel_writes(k, i))) return true;
  }
  return false;
}

static void add(moved *m, const tc_kernel *k) {
  m->effect |= k->effect;
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    m->named[k->buffer[i]] = true;
    m->stored[k->buffer[i]] |= tc_kernel_writes(k, i);
  }
}

/* Kernels first .. n-1: those in `moves`, then the others. */
static void reorder(lo *L, uint32_t first, const bool *moves) {
  tc_program *p = L->p;
  tc_kernel *all = lo_alloc(L, L->scratch, p->nkernel * sizeof *all);
  uint32_t n = first;
  memcpy(all, p->kernel, p->nkernel * sizeof *all);
  for (int rest = 0; rest < 2; rest++)
    for (uint32_t i = first; i < p->nkernel; i++)
      if (moves[i] != rest) p->kernel[n++] = all[i];
}

bool lo_run_before(lo *L, uint32_t first, const bool *wanted) {
  const tc_program *p = L->p;
  bool *moves = lo_alloc(L, L->scratch, p->nkernel * sizeof *moves), any = false;
  moved m = {lo_alloc(L, L->scratch, p->nbuffer), lo_alloc(L, L->scratch, p->nbuffer), false};
  for (uint32_t i = p->nkernel; i-- > first + 1;) {
    moves[i] = wanted[i] || follows(&m, &p->kernel[i]);
    if (moves[i]) add(&m, &p->kernel[i]);
    any |= moves[i];
  }
  if (follows(&m, &p->kernel[first])) return false;
  if (any) reorder(L, first, moves);
  return true;
}

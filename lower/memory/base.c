/* base.c - where the pointers of a kernel's arguments begin.
 *
 * What all accesses to an array have in common, the first element of a slice, is added to the
 * pointer that the launcher passes, so kernels that differ in a position alone (the steps of an
 * unrolled recurrence, the layers of one stacked array) have one text.  Addresses behind the common
 * part stay in the text, where neighbours are seen. */
#include "lower/lowering.h"

/* ---- accesses -------------------------------------------------------------------------------- */

static void each_action(tc_action *action, uint32_t n, lo_access *f, void *self) {
  for (uint32_t i = 0; action && i < n; i++)
    if (action[i].kind == TC_ACT_STORE || action[i].kind == TC_ACT_ADD)
      f(self, &action[i].buffer, &action[i].address);
}

void lo_each_access(tc_kernel *k, lo_access *f, void *self) {
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD) f(self, &k->expr[i].buffer, &k->expr[i].address);
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < tc_nest_stages(&k->nest[n]); s++) {
      const tc_stage *stage = &k->nest[n].stage[s];
      each_action(stage->action, stage->naction, f, self);
      each_action(stage->if_skipped, stage->naction, f, self);
    }
  for (int i = 0; i < TC_MM_STAGES; i++)
    each_action(tc_mm_stage(&k->mm, i)->action, tc_mm_stage(&k->mm, i)->naction, f, self);
}

/* ---- the least offset ------------------------------------------------------------------------ */

typedef struct bases {
  tc_dims *dims;
  tc_dim *of; /* per buffer: of the accesses so far; TC_DIM_INVALID: there is none yet */
} bases;

static void lower_base(void *self, uint32_t *buffer, tc_address *a) {
  const bases *b = self;
  tc_dim *base = &b->of[*buffer];
  if (tc_dim_bad(*base) || tc_dim_known_le(b->dims, a->offset, *base)) *base = a->offset;
  else if (!tc_dim_known_le(b->dims, *base, a->offset)) *base = tc_dim_const(0);
}

static void subtract_base(void *self, uint32_t *buffer, tc_address *a) {
  const bases *b = self;
  a->offset = tc_dim_sub(b->dims, a->offset, b->of[*buffer]);
}

/* requires: the addresses of k are final.  A pointer never lies in front of its array, where
 * offsets are negative and guards leave elements out, and does not move with a fused outer loop. */
void lo_move_bases(lo *L, tc_kernel *k) {
  const tc_dim zero = tc_dim_const(0);
  bases b = {L->dims, lo_alloc(L, L->arena, (k->nbuffer + 1) * sizeof *b.of)};
  k->base = b.of;
  for (uint32_t i = 0; i < k->nbuffer; i++) b.of[i] = TC_DIM_INVALID;
  if (k->kind != TC_KERNEL_CALL && !k->outer.fused) lo_each_access(k, lower_base, &b);
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (tc_dim_bad(b.of[i]) || !tc_dim_known_le(L->dims, zero, b.of[i])) b.of[i] = zero;
  if (k->kind != TC_KERNEL_CALL) lo_each_access(k, subtract_base, &b);
}

/* copies.c - which loads of a transpose are stored as they are. */
#include "backends/cuda/nest/nest.h"

#include <stdlib.h>

/* Its bits go without a conversion. */
uint32_t tc_cuda_copied(const tc_cuda_nest *x, const tc_action *a) {
  const tc_expr *e = &x->s.k->expr[a->value.id];
  const uint32_t *buffer = x->s.k->buffer;
  return a->kind == TC_ACT_STORE && !a->guard.id && !a->address.nterm && x->early[a->value.id] &&
                 x->s.p->buffer[buffer[e->buffer]].dtype == x->s.p->buffer[buffer[a->buffer]].dtype
             ? a->value.id
             : 0;
}

void tc_cuda_skip_copied(tc_cuda_nest *x) {
  const tc_stage *st = x->nest->stage;
  uint8_t *need = calloc(x->s.k->nexpr + 1, 1);
  for (uint32_t i = 0; need && i < st->naction; ++i)
    if (!tc_cuda_copied(x, &st->action[i]))
      need[st->action[i].value.id] = need[st->action[i].guard.id] = 1;
  if (need) tc_mark_operands(x->s.k, need);
  else x->s.out->failed = true;
  for (uint32_t i = 0; need && i < st->naction; ++i) {
    const uint32_t id = tc_cuda_copied(x, &st->action[i]);
    if (id && !need[id]) x->s.printed[id] = 1;
  }
  free(need);
}

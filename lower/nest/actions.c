/* actions.c - the actions of a nest under construction. */
#include "lower/lowering.h"

static void raise_level(const lo_kb *b, tc_val v, int *level) {
  if (v.id && b->level[v.id] > *level) *level = b->level[v.id];
}

int lo_value_level(const lo_kb *b, const tc_action *a) {
  int level = 0;
  raise_level(b, a->value, &level);
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; i++) raise_level(b, a->further[i], &level);
  raise_level(b, a->guard, &level);
  for (int t = 0; t < a->address.nterm; t++) raise_level(b, a->address.term[t].value, &level);
  return level;
}

void lo_push_act(lo_kb *b, lo_act a) {
  b->act = lo_grow(b->L, b->L->scratch, b->act, &b->cact, b->nact, sizeof *b->act);
  b->act[b->nact++] = a;
}

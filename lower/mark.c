/* mark.c - which values of a kernel an action needs.  Operands have smaller indices, so one pass backwards
 * over the pool reaches them all. */
#include "lower/loop.h"

static void mark_terms(const tc_address *a, uint8_t *marked) {
  for (int t = 0; t < a->nterm; t++) marked[a->term[t].value.id] = 1;
}

void tc_mark_action(const tc_action *a, uint8_t *marked) {
  marked[a->value.id] = marked[a->term.id] = marked[a->guard.id] = 1;
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; i++) marked[a->further[i].id] = 1;
  mark_terms(&a->address, marked);
  marked[0] = 0;
}

void tc_mark_operands(const tc_kernel *k, uint8_t *marked) {
  for (uint32_t id = k->nexpr; id-- > 1;) {
    const tc_expr *e = &k->expr[id];
    if (!marked[id]) continue;
    for (int i = 0; i < 3; i++) marked[e->in[i].id] = 1;
    marked[e->guard.id] = 1;
    mark_terms(&e->address, marked);
  }
  marked[0] = 0;
}

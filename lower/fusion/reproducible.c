/* reproducible.c - values that have to have the same bits in every loop that computes them: those
 * that are compared with their extremum.  A fused multiply-add in one loop, and not in another, is
 * enough to lose the element that is the maximum, and its gradient; and so is an f32 value in one
 * loop of what another one stores and loads as bf16 (lo_value). */
#include "lower/lowering.h"

#include "graph/extremum.h"

void lo_find_reproducible(lo *L) {
  for (uint32_t id = 1; id <= L->count; id++) {
    tc_ref extremum;
    const tc_ref x = tc_compared_with_extremum(L->g, lo_node(L, (tc_ref){id}), &extremum);
    if (!x.id) continue;
    L->fact[x.id].reproducible = true;
    L->fact[lo_node(L, extremum)->in[0].id].reproducible = true;
  }
  for (uint32_t id = L->count; id > 0; id--) { /* operands stand in front */
    const tc_node *n = lo_node(L, (tc_ref){id});
    const tc_class kind = lo_class(n);
    if (!L->fact[id].reproducible || kind == TC_CLASS_REDUCE || kind == TC_CLASS_MATMUL) continue;
    for (int i = 0; i < n->nin; i++) L->fact[n->in[i].id].reproducible = true;
  }
}

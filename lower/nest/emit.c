/* emit.c - the nests of a group: its whole rows in one, parts of them in several, or both ways. */
#include "lower/lowering.h"

/* Says of the nests from `first` on when they run. */
static void set_condition(lo_kb *b, const lo_group *g, uint32_t first, tc_when when) {
  for (uint32_t i = first; i < b->k->nnest; i++) {
    tc_nest *n = &b->k->nest[i];
    n->when = when;
    n->whole = g->whole;
    n->many = g->many;
    n->elements = lo_group_numel(b->L, g, g->sequential);
    n->results = lo_group_numel(b->L, g, ~g->sequential);
  }
}

void lo_emit_nest(lo_kb *b, lo_group *g) {
  const bool rows = lo_may_part_rows(b->L, g);
  const uint32_t start = b->k->nnest;
  if (rows) lo_part_rows(b, g);
  else if (g->split) lo_split(b, g);
  const uint32_t end = b->k->nnest;
  if (end > start && !g->whole) return;
  if (end > start) set_condition(b, g, start, TC_WHERE_CUT);
  lo_emit_whole(b, g);
  if (end > start) set_condition(b, g, end, TC_WHERE_WHOLE);
}

/* demand.c - what placement knows of a node: who reads it, and the arrays that it is written to. */
#include "lower/lowering.h"

lo_demand *lo_demand_value(lo *L, tc_ref r, lo_group *g, const lo_index *at, bool prologue,
                           bool in_reduce) {
  enum { LOOK = 8 };
  if (!r.id) return NULL;
  lo_add_sources(L, g, r);
  if (lo_class(lo_node(L, r)) == TC_CLASS_LEAF) return NULL;
  lo_place *p = &L->place[r.id];
  int look = 0;
  for (lo_demand *d = p->demand; d && look < LOOK; d = d->next, look++)
    if (d->group == g->id && d->at == at && d->prologue == prologue) {
      d->in_reduce |= in_reduce;
      return d;
    }
  lo_demand *d = lo_alloc(L, L->scratch, sizeof *d);
  *d = (lo_demand){.next = p->demand,
                   .other = g->demand,
                   .group = g->id,
                   .load = !at,
                   .prologue = prologue,
                   .in_reduce = in_reduce,
                   .at = at};
  return p->demand = g->demand = d;
}

void lo_compute(lo *L, tc_ref r, const lo_demand *d) {
  const tc_node *n = lo_node(L, r);
  lo_group *g = L->group[d->group];
  lo_add_member(L, g, r);
  for (int k = 0; k < n->nin; k++) {
    lo_demand *of = lo_demand_value(L, n->in[k], g, lo_operand_index(L, g, n, k, d->at),
                                    d->prologue, d->in_reduce);
    if (of) of->select |= d->select;
  }
}

lo_demand *lo_latest(lo_place *p) {
  lo_demand *best = NULL;
  for (lo_demand *d = p->demand; d; d = d->next)
    if (!d->load && !d->prologue && !d->select && (!best || d->group > best->group)) best = d;
  return best;
}

/* Buffers that node r is written to: results, writes, or workspace. */
void lo_make_buffer(lo *L, tc_ref r) {
  lo_place *p = &L->place[r.id];
  const tc_type *t = tc_graph_type(L->g, r);
  if (!p->target) {
    p->target = lo_alloc(L, L->scratch, sizeof *p->target);
    p->target->buffer =
        lo_new_buffer(L, TC_BUF_ARENA, 0, t->dtype, t, tc_op_get(lo_node(L, r)->op)->text);
  }
  p->buffer = p->target->buffer + 1;
  for (const lo_target *each = p->target; each; each = each->next) {
    L->p->buffer[each->buffer].node = r;
    L->p->buffer[each->buffer].why = L->why;
  }
}

void lo_store_all(lo *L, lo_group *g, tc_ref value, const lo_index *at, tc_ref owner,
                  const lo_index *to, bool add) {
  const tc_type *shape = tc_graph_type(L->g, owner);
  for (lo_target *t = L->place[owner.id].target; t; t = t->next) {
    lo_add_store(L, g, (lo_store){value, at, t->buffer, to, shape, add});
    g->is_output |= L->p->buffer[t->buffer].kind == TC_BUF_OUTPUT;
    g->updates |= L->place[owner.id].update;
  }
}

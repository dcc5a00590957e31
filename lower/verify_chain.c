/* verify_chain.c - chains of products: what depends on which result. */
#include <stdlib.h>
#include <string.h>

#include "lower/verify.h"

/* Per value: bit r where it has to do with RESULT r. */
static void find_results(const tc_kernel *k, uint8_t *of) {
  for (uint32_t id = 1; id < k->nexpr; id++) {
    const tc_expr *e = &k->expr[id];
    of[id] = of[e->guard.id];
    if (e->kind == TC_EX_RESULT && e->index < TC_MM_RESULTS) of[id] |= (uint8_t)(1u << e->index);
    for (int i = 0; i < 3; i++) of[id] |= of[e->in[i].id];
    for (int t = 0; t < e->address.nterm; t++) of[id] |= of[e->address.term[t].value.id];
  }
}

/* How often the term is a factor of v, where that is not 0; -1: v has to do with the rows otherwise. */
static int count_terms(const tc_kernel *k, tc_val v, tc_val term, const uint8_t *of) {
  const tc_expr *e = &k->expr[v.id];
  if (v.id == term.id) return 1;
  if (!(of[v.id] >> TC_MM_ROWS)) return 0;
  if (e->kind == TC_EX_ROUND) return count_terms(k, e->in[0], term, of);
  const int zero = tc_zero_operand(k, e);
  if (zero) return of[e->in[0].id] >> TC_MM_ROWS ? -1 : count_terms(k, e->in[3 - zero], term, of);
  if (e->kind != TC_EX_OP || e->op != OP_MUL) return -1;
  const int x = count_terms(k, e->in[0], term, of), y = count_terms(k, e->in[1], term, of);
  return x < 0 || y < 0 ? -1 : x + y;
}

static void check_reduction(lo_checker *c, const tc_mm_loop *m, const uint8_t *of) {
  enum { INNER = 1 << TC_MM_INNER, FIRST = 1 << TC_MM_ROWS };
  const tc_action *a = m->inner.rows.action;
  if (m->inner.n != 1 || m->inner.rows.naction != 1 || a->kind != TC_ACT_REDUCE ||
      !tc_reducer_has_terms(a->reducer) || !a->term.id || a->index != TC_MM_ROWS ||
      a->dtype != m->acc)
    lo_wrong(c, "rows of a chain are reduced by one reduction with terms to #%d", TC_MM_ROWS);
  else if (of[a->value.id] & ~INNER || of[a->term.id] & ~(INNER | FIRST))
    lo_wrong(c, "rows of a chain are reduced of what comes later");
  else if (of[m->a.id] & ~(INNER | FIRST) ||
           count_terms(c->k, m->a, a->term, of) != (of[m->a.id] & FIRST ? 1 : 0))
    lo_wrong(c, "operand a is no multiple of a term of its rows");
}

static unsigned inner_results(const tc_mm_loop *m) {
  unsigned results = 0;
  for (int i = 0; i < m->inner.n; i++) results |= 1u << tc_mm_inner_result(i);
  return results;
}

/* Stores of a row: of its accumulators, at places of the row. */
static void check_finish(lo_checker *c, const tc_mm_loop *m, const uint8_t *of) {
  enum { ROWS = 3 << TC_MM_ROWS };
  for (uint32_t i = 0; i < m->inner.finish.naction; i++) {
    const tc_action *a = &m->inner.finish.action[i];
    bool along = a->address.nterm > 0;
    for (int axis = m->nbatch + 1; axis < tc_mm_axes(m); axis++)
      along |= !tc_dim_is(a->address.coef[axis], 0);
    if (a->kind != TC_ACT_STORE || a->guard.id || along)
      lo_wrong(c, "a row of a chain ends with stores of it");
    else if (of[a->value.id] & ~ROWS) lo_wrong(c, "a row of a chain ends with its accumulators");
  }
}

static void check_beside(lo_checker *c, const tc_mm_loop *m, const uint8_t *of) {
  if (m->inner.n != TC_MM_INNERS || m->inner.rows.naction)
    lo_wrong(c, "a second product of a chain that has one inner product, or reduces rows");
  else if (of[m->beside.b.id]) lo_wrong(c, "operands of a chain are made of its results");
  else if (of[m->beside.a.id] & ~inner_results(m))
    lo_wrong(c, "operand a is made of rows that are not reduced");
}

/* Do the axes that are marked move what the stage stores? */
static bool stored_along(const tc_kernel *k, const tc_stage *s, uint32_t axes) {
  bool along = false;
  for (uint32_t i = 0; i < s->naction; i++)
    for (int axis = 0; axis < tc_mm_axes(&k->mm); axis++)
      along |= axes >> axis & 1 && !tc_dim_is(s->action[i].address.coef[axis], 0);
  return along;
}

/* Its stores are of sums along m, at places that do not know m. */
static void check_across(lo_checker *c, const tc_mm_loop *m, const uint8_t *of) {
  const tc_stage *s = &m->across.epilogue;
  if (m->inner.n != TC_MM_INNERS || m->inner.rows.naction)
    lo_wrong(c, "sums along m of a chain that has one inner product, or reduces rows");
  else if (of[m->across.b.id]) lo_wrong(c, "operands of a chain are made of its results");
  else if (!s->naction || stored_along(c->k, s, 1u << m->nbatch))
    lo_wrong(c, "sums along m are stored along m, or not at all");
  for (uint32_t i = 0; i < s->naction; i++)
    if (of[s->action[i].value.id] & ~(1u << TC_MM_ACROSS))
      lo_wrong(c, "a store of sums along m is of other results");
}

void lo_check_chain(lo_checker *c, const tc_mm_loop *m) {
  uint8_t *of = calloc(c->k->nexpr + 1u, 1);
  if (!of) {
    lo_wrong(c, "out of memory");
    return;
  }
  find_results(c->k, of);
  unsigned operands = of[m->b.id];
  for (int i = 0; i < m->inner.n; i++) operands |= of[m->inner.a[i].id] | of[m->inner.b[i].id];
  if (operands) lo_wrong(c, "operands of a chain are made of its results");
  else if (m->inner.rows.naction) check_reduction(c, m, of);
  else if (m->inner.finish.naction)
    lo_wrong(c, "rows of a chain are finished that are not reduced");
  else if (of[m->a.id] & ~inner_results(m))
    lo_wrong(c, "operand a is made of rows that are not reduced");
  if (c->ok && tc_mm_has_beside(m)) check_beside(c, m, of);
  if (c->ok && tc_mm_has_across(m)) check_across(c, m, of);
  if (c->ok) check_finish(c, m, of);
  free(of);
}

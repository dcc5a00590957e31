/* deinterleave.c - bf16 rows as vectors of even and of odd elements.
 *
 * Two neighbouring vectors of bf16 are loaded as one vector of 32-bit words: a shift gives the even
 * elements as f32, a mask the odd ones.  That is one instruction each, where widening half a vector
 * takes two.  It pays wherever it is possible: where lanes meet bf16 rows only, for then it does
 * not matter which element is in which lane. */
#include "backends/openmp/schedule/plan.h"

static bool is_bf16(const tc_omp_facts *f, uint32_t buffer) {
  return tc_omp_buffer(f, buffer)->dtype == TC_BF16;
}

static bool in_order(const tc_omp_facts *f, const tc_address *a) {
  return !a->nterm && tc_dim_is(a->coef[f->vector], 1);
}

/* Is expression id, and all it needs along the lanes, made of bf16 rows?  *rows: some are. */
static bool of_rows(const tc_omp_facts *f, const tc_stage *st, uint32_t id, bool *rows) {
  const tc_expr *e = &f->k->expr[id];
  if (!id || !(f->depends[id] >> f->vector & 1)) return true;
  switch (e->kind) {
  case TC_EX_LOAD:
    *rows = true;
    return is_bf16(f, e->buffer) && !e->guard.id &&
           (in_order(f, &e->address) || tc_omp_may_pack(f, st, e));
  case TC_EX_OP:
  case TC_EX_CAST:
  case TC_EX_ROUND:
    for (int i = 0; i < 3; ++i)
      if (!of_rows(f, st, e->in[i].id, rows)) return false;
    return true;
  default:
    return false;
  }
}

bool tc_omp_may_deinterleave(const tc_omp_facts *f, const tc_stage *st) {
  bool rows = false;
  if (f->vector < 0) return false;
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_REDUCE && a->kind != TC_ACT_STORE) return false;
    if ((a->further[0].id && !a->term.id) || a->guard.id || !of_rows(f, st, a->value.id, &rows))
      return false;
    if (a->kind == TC_ACT_STORE && (!is_bf16(f, a->buffer) || !in_order(f, &a->address)))
      return false;
  }
  return rows;
}

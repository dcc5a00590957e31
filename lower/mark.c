/* mark.c - which values of a kernel an action needs, or need another one, and which are 0.  Operands have smaller
 * indices, so one pass backwards over the pool reaches them all. */
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

void tc_mark_stage(const tc_stage *s, uint8_t *marked) {
  for (uint32_t i = 0; i < s->naction; i++) {
    tc_mark_action(&s->action[i], marked);
    if (s->if_skipped) tc_mark_action(&s->if_skipped[i], marked);
  }
  marked[s->skip_if.id] = marked[s->skip_value.id] = 1;
  marked[0] = 0;
}

void tc_mark_operands_of(const tc_expr *e, uint8_t *marked) {
  for (int i = 0; i < 3; i++) marked[e->in[i].id] = 1;
  marked[e->guard.id] = 1;
  mark_terms(&e->address, marked);
  marked[0] = 0;
}

void tc_mark_operands(const tc_kernel *k, uint8_t *marked) {
  for (uint32_t id = k->nexpr; id-- > 1;)
    if (marked[id]) tc_mark_operands_of(&k->expr[id], marked);
  marked[0] = 0;
}

bool tc_is_zero(const tc_kernel *k, tc_val v) {
  const tc_expr *e = &k->expr[v.id];
  if (e->kind == TC_EX_ROUND) return tc_is_zero(k, e->in[0]);
  return e->kind == TC_EX_CONST && tc_dtype_is_float(e->dtype) && e->f == 0;
}

int tc_zero_operand(const tc_kernel *k, const tc_expr *e) {
  if (e->kind != TC_EX_OP || e->op != OP_WHERE) return 0;
  return tc_is_zero(k, e->in[1]) ? 1 : tc_is_zero(k, e->in[2]) ? 2 : 0;
}

bool tc_costly_epilogue(const tc_kernel *k, uint8_t *of_product) {
  bool costly = false;
  of_product[0] = 0;
  for (uint32_t id = 1; id < k->nexpr; id++) {
    const tc_expr *e = &k->expr[id];
    of_product[id] = e->kind == TC_EX_RESULT;
    for (int i = 0; i < 3; i++) of_product[id] |= of_product[e->in[i].id];
    costly |= of_product[id] && e->kind == TC_EX_OP && tc_op_get(e->op)->transcendental;
  }
  return costly;
}

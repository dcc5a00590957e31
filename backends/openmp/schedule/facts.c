/* facts.c - see facts.h. */
#include "backends/openmp/schedule/facts.h"

#include <stdlib.h>
#include <string.h>

/* Expressions of the other nests name results, too. */
static uint32_t most_results(const tc_kernel *k) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < k->nnest; ++i)
    if (k->nest[i].nresult > most) most = k->nest[i].nresult;
  return most;
}

/* A LOCAL row is that of an outer point: with lanes along these, what is read from it differs from
 * lane to lane. */
static void mark_local_rows(const tc_omp_facts *f) {
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (e->kind == TC_EX_LOAD && tc_omp_buffer(f, e->buffer)->kind == TC_BUF_LOCAL)
      f->depends[id] |= f->parallel;
    f->depends[id] |= f->depends[e->guard.id];
    for (int j = 0; j < 3; ++j) f->depends[id] |= f->depends[e->in[j].id];
  }
}

bool tc_omp_open_facts(tc_omp_facts *f, const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       int vector) {
  *f = (tc_omp_facts){
      .k = k, .p = p, .nest = n, .vector = vector, .parallel = (1u << n->nparallel) - 1};
  f->result_axes = calloc(most_results(k) + 1, sizeof *f->result_axes);
  f->depends = calloc(k->nexpr + 1, sizeof *f->depends);
  f->need = calloc(k->nexpr + 1, 1);
  if (!f->result_axes || !f->depends || !f->need) return false;
  tc_print_result_axes(n, f->result_axes);
  tc_print_depends(k, f->result_axes, f->depends);
  if (tc_omp_lanes_are_points(f)) mark_local_rows(f);
  return true;
}

void tc_omp_close_facts(tc_omp_facts *f) {
  free(f->result_axes);
  free(f->depends);
  free(f->need);
}

const tc_buffer *tc_omp_buffer(const tc_omp_facts *f, uint32_t buffer) {
  return &f->p->buffer[f->k->buffer[buffer]];
}

bool tc_omp_lanes_are_points(const tc_omp_facts *f) {
  return f->vector >= 0 && f->vector < f->nest->nparallel;
}

bool tc_omp_along(const tc_omp_facts *f, const tc_stage *st) {
  return f->vector >= f->nest->nparallel && (st->axes >> f->vector & 1);
}

bool tc_omp_has_kind(const tc_stage *st, tc_act_kind kind) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == kind) return true;
  return false;
}

bool tc_omp_is_half(tc_dtype d) { return d == TC_BF16 || d == TC_F16; }

const uint8_t *tc_omp_needs(const tc_omp_facts *f, const tc_stage *st) {
  memset(f->need, 0, f->k->nexpr + 1);
  for (uint32_t i = 0; i < st->naction; ++i) tc_mark_action(&st->action[i], f->need);
  tc_mark_operands(f->k, f->need);
  return f->need;
}

bool tc_omp_list_loads(const tc_omp_facts *f, const tc_stage *st,
                       bool (*may)(const tc_omp_facts *f, const tc_stage *st, const tc_expr *e), tc_schedule_list *loads) {
  const uint8_t *need = tc_omp_needs(f, st);
  loads->at = tc_arena_alloc(f->p->arena, f->k->nexpr * sizeof *loads->at);
  if (!loads->at) return false;
  for (uint32_t id = 1; id < f->k->nexpr; ++id)
    if (need[id] && may(f, st, &f->k->expr[id])) loads->at[loads->n++] = id;
  return true;
}

bool tc_omp_only(const tc_omp_facts *f, tc_act_kind kind) {
  const tc_nest *n = f->nest;
  bool found = false;
  int ops = 0;
  if (n->naxis == n->nparallel || n->serial) return false;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == kind) found = true;
      else if (a->kind != TC_ACT_STORE || (n->stage[i].axes && kind != TC_ACT_SCAN)) return false;
    }
  for (uint32_t id = 1; id < f->k->nexpr; ++id) ops += f->k->expr[id].kind == TC_EX_OP;
  return found && ops <= TC_OMP_LIGHT;
}

bool tc_omp_only_reduces(const tc_omp_facts *f) { return tc_omp_only(f, TC_ACT_REDUCE); }

bool tc_omp_keeps_rows(const tc_omp_facts *f) {
  for (uint32_t i = 0; i < f->nest->nstage; ++i)
    for (uint32_t j = 0; j < f->nest->stage[i].naction; ++j) {
      const tc_action *a = &f->nest->stage[i].action[j];
      if (a->kind == TC_ACT_STORE && tc_omp_buffer(f, a->buffer)->kind == TC_BUF_LOCAL) return true;
    }
  return false;
}

int64_t tc_omp_short_width(const tc_nest *n, const tc_schedule_variant *v) {
  if (!n->naxis) return 0;
  for (uint32_t i = 0; i < v->nwhen; ++i)
    if (v->when[i].axis == n->naxis - 1 && v->when[i].less && !v->when[i].vectors)
      return v->when[i].bound;
  const tc_dim length = n->axis[n->naxis - 1].extent;
  return tc_dim_is_const(length) ? tc_dim_value(length) + 1 : 0;
}

bool tc_omp_has_parts(const tc_omp_facts *f) {
  for (int i = 0; i < f->nest->naxis; ++i)
    if (f->nest->axis[i].of >= 0) return true;
  return tc_omp_has_intervals(f->nest);
}

bool tc_omp_has_intervals(const tc_nest *n) {
  for (uint32_t i = 0; i < n->nstage; ++i)
    if (n->stage[i].interval) return true;
  return false;
}

bool tc_omp_stores_in_order(const tc_omp_facts *f, const tc_action *a) {
  return a->kind == TC_ACT_STORE && !a->guard.id && !a->address.nterm && f->vector >= 0 &&
         tc_dim_is(a->address.coef[f->vector], 1);
}

bool tc_omp_stores_outputs_in_order(const tc_omp_facts *f, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (!tc_omp_stores_in_order(f, &st->action[i]) ||
        tc_omp_buffer(f, st->action[i].buffer)->kind != TC_BUF_OUTPUT)
      return false;
  return true;
}

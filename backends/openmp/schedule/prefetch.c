/* prefetch.c - software prefetch of the rows of later outer points.
 *
 * A nest that reads a row in several stages waits for memory in the first of them and for
 * arithmetic in the others.  The last stage that reads a row prefetches the row of the outer point
 * after the next one into the second-level cache: memory works all the time, and a row has the time
 * of a whole point to arrive.  Rows that are written through the caches are prefetched too, for
 * their lines are read before they are written. */
#include "backends/openmp/schedule/plan.h"

#include <stdlib.h>

/* Elements in order, of which every outer point has its own. */
static bool is_row(const tc_omp_facts *f, const tc_address *a) {
  if (!f->nest->nparallel || f->vector < f->nest->nparallel) return false;
  const tc_dim next = a->coef[f->nest->nparallel - 1];
  return !a->nterm && tc_dim_is(a->coef[f->vector], 1) && !tc_dim_is(next, 0) && !tc_dim_bad(next);
}

bool tc_omp_may_prefetch(const tc_omp_facts *f, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id) return false;
  const tc_buf_kind kind = tc_omp_buffer(f, e->buffer)->kind;
  return (kind == TC_BUF_INPUT || kind == TC_BUF_ARENA) && is_row(f, &e->address);
}

bool tc_omp_may_prefetch_store(const tc_omp_facts *f, const tc_stage *st, const tc_action *a) {
  if (a->kind != TC_ACT_STORE || a->guard.id) return false;
  const tc_buf_kind kind = tc_omp_buffer(f, a->buffer)->kind;
  return (kind == TC_BUF_OUTPUT || kind == TC_BUF_ARENA) && tc_omp_along(f, st) &&
         is_row(f, &a->address);
}

static bool pays(const tc_omp_facts *f) {
  int stages = 0;
  bool intervals = false; /* all of which are one pass over the rows */
  for (uint32_t i = 0; i < f->nest->nstage; ++i) {
    stages += f->nest->stage[i].axes != 0 && !(intervals && f->nest->stage[i].interval);
    intervals |= f->nest->stage[i].interval;
  }
  return stages > 1 && !f->nest->serial;
}

/* last[id]: 1 + the last stage that reads this row, or 0. */
static void find_readers(const tc_omp_facts *f, uint32_t *last) {
  for (uint32_t i = 0; i < f->nest->nstage; ++i) {
    if (!tc_omp_along(f, &f->nest->stage[i])) continue;
    const uint8_t *need = tc_omp_needs(f, &f->nest->stage[i]);
    for (uint32_t id = 1; id < f->k->nexpr; ++id)
      if (need[id] && tc_omp_may_prefetch(f, &f->k->expr[id])) last[id] = i + 1;
  }
}

/* Room for numbers below n. */
static bool open_list(const tc_omp_facts *f, tc_schedule_list *l, uint32_t n) {
  l->n = 0;
  l->at = tc_arena_alloc(f->p->arena, (n + 1) * sizeof *l->at);
  return l->at;
}

/* The loads that stage number i is the last to need, and its stores. */
static bool plan_stage(tc_omp_choice *c, uint32_t i, const uint32_t *last) {
  const tc_omp_facts *f = &c->f;
  const tc_stage *st = &f->nest->stage[i];
  tc_schedule_list *loads = &c->stage[i].prefetch, *stores = &c->stage[i].prefetch_store;
  uint32_t n = 0;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) n += last[id] == i + 1;
  if (!open_list(f, loads, n) || !open_list(f, stores, st->naction)) return false;
  for (uint32_t id = 1; id < f->k->nexpr; ++id)
    if (last[id] == i + 1) loads->at[loads->n++] = id;
  for (uint32_t a = 0; a < st->naction; ++a)
    if (tc_omp_may_prefetch_store(f, st, &st->action[a])) stores->at[stores->n++] = a;
  return true;
}

bool tc_omp_plan_prefetch(tc_omp_choice *c) {
  const tc_omp_facts *f = &c->f;
  uint32_t *last = calloc(f->k->nexpr + 1, sizeof *last);
  bool ok = last;
  if (ok && pays(f)) {
    find_readers(f, last);
    for (uint32_t i = 0; ok && i < f->nest->nstage; ++i) ok = plan_stage(c, i, last);
  }
  free(last);
  return ok;
}

/* pipeline.c - the last stage of an outer point runs in the loop of a stage of the next point.
 *
 * softmax keeps a row of exponentials on chip, and its last stage only scales and stores that row:
 * it waits for memory, which is idle while the exponentials of the next row are computed.  Where
 * stores are nontemporal the two run in one loop: at each place an element of the old row is
 * stored, then the new one takes its place on chip.  The vectors of the old row may be aligned to
 * whole lines; what lies in front of the first and behind the last is stored before the loop. */
#include "backends/openmp/schedule/plan.h"

/* One element of a row of this kernel's own at each place of the vector axis. */
static bool is_place(const tc_omp_facts *f, const tc_address *a) {
  for (int i = 0; i < f->nest->naxis; ++i)
    if (!tc_dim_is(a->coef[i], i == f->vector)) return false;
  return !a->nterm;
}

/* Does the last stage do without what memory holds of this outer point, but for single values?
 * *rows: it reads LOCAL rows. */
static bool is_on_chip(const tc_omp_facts *f, const uint8_t *need, bool *rows) {
  const uint32_t lanes = 1u << f->vector;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id]) continue;
    if (e->kind == TC_EX_RANDOM || e->guard.id || e->address.nterm) return false;
    if (e->kind != TC_EX_LOAD) continue;
    const bool local = tc_omp_buffer(f, e->buffer)->kind == TC_BUF_LOCAL;
    if (local ? !is_place(f, &e->address)
              : (f->depends[id] & lanes) && (f->depends[id] & f->parallel))
      return false;
    *rows |= local;
  }
  return *rows;
}

static bool stores_results(const tc_omp_facts *f, const tc_stage *st) {
  return st->axes == 1u << f->vector && tc_omp_stores_outputs_in_order(f, st);
}

static bool is_read(const tc_omp_facts *f, const uint8_t *need, uint32_t buffer) {
  for (uint32_t id = 1; id < f->k->nexpr; ++id)
    if (need[id] && f->k->expr[id].kind == TC_EX_LOAD && f->k->expr[id].buffer == buffer)
      return true;
  return false;
}

/* The one stage that makes all LOCAL rows which the last one reads, place by place, or -1. */
static int producer(const tc_omp_facts *f, const uint8_t *need) {
  const tc_nest *n = f->nest;
  int stage = -1;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == TC_ACT_SCAN) return -1;
      if (a->kind != TC_ACT_STORE || !is_read(f, need, a->buffer)) continue;
      if ((stage >= 0 && stage != (int)i) || !is_place(f, &a->address)) return -1;
      stage = (int)i;
    }
  return stage < 0 || n->stage[stage].axes != 1u << f->vector ? -1 : stage;
}

int tc_omp_pipeline_stage(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  bool rows = false;
  if (n->nstage < 2 || n->serial || f->vector < n->nparallel || tc_omp_has_parts(f)) return -1;
  const tc_stage *last = &n->stage[n->nstage - 1];
  const uint8_t *need = tc_omp_needs(f, last);
  return stores_results(f, last) && is_on_chip(f, need, &rows) ? producer(f, need) : -1;
}

int tc_omp_plan_pipeline(const tc_omp_choice *c) {
  if (!c->nest->nontemporal || c->nest->group) return -1;
  const int stage = tc_omp_pipeline_stage(&c->f);
  return stage >= 0 && !tc_omp_may_deinterleave(&c->f, &c->f.nest->stage[stage]) ? stage : -1;
}

/* Lines of 16-bit elements take so much more arithmetic that the edges cost more than they save. */
static bool stores_words(const tc_omp_facts *f, const tc_stage *last) {
  return tc_dtype_bytes(tc_omp_buffer(f, last->action[0].buffer)->dtype) >= 4;
}

bool tc_omp_plan_align(const tc_omp_choice *c) {
  const tc_stage *last = &c->f.nest->stage[c->f.nest->nstage - 1];
  return c->nest->pipeline >= 0 && tc_omp_plan_peel(c, last) && stores_words(&c->f, last);
}

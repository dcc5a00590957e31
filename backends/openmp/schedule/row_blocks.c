/* row_blocks.c - blocks of neighbouring short rows, whose elements are apart where lanes are along
 * the rows.
 *
 * Of as many rows as a vector has lanes, what lies in each row is loaded in pieces of four
 * elements, which are transposed in registers into a tile that has a vector for each place of the
 * rows.  Stages load from it; what they store goes to such a tile, too, and from there to the rows.
 * That takes a third of the time of gathers, and less of stores one by one. */
#include "backends/openmp/schedule/plan.h"

enum { WORD = 4 /* bytes of an element */ };

/* Are places of a row those of an axis of their own, or of its only chunk, which rows below the width have? */
static bool is_whole_row(const tc_omp_choice *c) {
  const tc_nest *n = c->f.nest;
  if (tc_omp_has_intervals(n)) return false;
  for (int i = 0; i < n->nparallel; ++i)
    if (n->axis[i].of >= 0) return false;
  const tc_axis *row = &n->axis[n->nparallel];
  return row->of < 0 || (tc_dim_is_const(row->extent) && tc_dim_value(row->extent) >= c->width);
}

bool tc_omp_has_row_blocks(const tc_omp_choice *c, const tc_stage *st) {
  const tc_nest *n = c->f.nest;
  return c->width && c->width <= TC_OMP_WIDE && tc_omp_lanes_are_points(&c->f) &&
         n->naxis == n->nparallel + 1 && !n->serial && (st->axes >> n->nparallel & 1) &&
         !st->if_skipped && is_whole_row(c) && !c->nest->interchange;
}

/* Is it a row, apart from those of the other lanes? */
static bool is_row(const tc_omp_choice *c, const tc_address *a, uint32_t buffer) {
  const tc_buffer *b = tc_omp_buffer(&c->f, buffer);
  return !a->nterm && b->kind != TC_BUF_LOCAL && tc_dtype_bytes(b->dtype) == WORD &&
         tc_dim_is(a->coef[c->f.nest->nparallel], 1) && tc_omp_is_apart(a->coef[c->f.vector]);
}

/* Does a stage in front of the last one write to it?  Later ones may read that. */
static bool changes(const tc_omp_choice *c, uint32_t buffer) {
  const tc_nest *n = c->f.nest;
  for (uint32_t i = 0; i + 1 < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      const bool writes = a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD;
      if (writes && c->f.k->buffer[a->buffer] == c->f.k->buffer[buffer]) return true;
    }
  return false;
}

/* Elements at small known distances are loaded by shuffles of few vectors. */
static bool is_near(const tc_omp_choice *c, const tc_address *a) {
  const tc_dim step = a->coef[c->f.vector];
  return tc_dim_is_const(step) && tc_dim_value(step) > 0 && tc_dim_value(step) <= TC_OMP_INTERLEAVE;
}

bool tc_omp_may_block_rows(const tc_omp_choice *c, const tc_stage *st, const tc_expr *e) {
  return tc_omp_has_row_blocks(c, st) && e->kind == TC_EX_LOAD && !e->guard.id &&
         is_row(c, &e->address, e->buffer) && !is_near(c, &e->address) && !changes(c, e->buffer);
}

bool tc_omp_may_block_stores(const tc_omp_choice *c, const tc_stage *st, const tc_action *a) {
  return tc_omp_has_row_blocks(c, st) && a->kind == TC_ACT_STORE && !a->guard.id &&
         is_row(c, &a->address, a->buffer);
}

static bool plan_stage(tc_omp_choice *c, uint32_t i) {
  const tc_stage *st = &c->f.nest->stage[i];
  tc_schedule_list *loads = &c->stage[i].transpose, *stores = &c->stage[i].transpose_store;
  if (!tc_omp_has_row_blocks(c, st)) return true;
  loads->at = tc_arena_alloc(c->f.p->arena, c->f.k->nexpr * sizeof *loads->at);
  stores->at = tc_arena_alloc(c->f.p->arena, (st->naction + 1) * sizeof *stores->at);
  if (!loads->at || !stores->at) return false;
  const uint8_t *need = tc_omp_needs(&c->f, st);
  for (uint32_t id = 1; id < c->f.k->nexpr; ++id)
    if (need[id] && tc_omp_may_block_rows(c, st, &c->f.k->expr[id])) loads->at[loads->n++] = id;
  for (uint32_t j = 0; j < st->naction; ++j)
    if (tc_omp_may_block_stores(c, st, &st->action[j])) stores->at[stores->n++] = j;
  return true;
}

bool tc_omp_plan_row_blocks(tc_omp_choice *c) {
  for (uint32_t i = 0; i < c->f.nest->nstage; ++i)
    if (!plan_stage(c, i)) return false;
  return true;
}

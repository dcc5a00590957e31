/* nontemporal.c - nontemporal stores of results that are too large for the caches, in whole lines.
 *
 * A vector that crosses the border of a cache line is stored through the caches, which read both
 * lines first.  Rows of a result may begin within a line: the loop over such a row has a peeled
 * head, up to the first border, then whole vectors, then a tail.  The line that two rows share waits
 * for memory, which nothing hides where the lines beside it do not come through the caches: rows
 * have to be long for that. */
#include "backends/openmp/schedule/plan.h"

enum {
  LINE = 64,      /* bytes of a cache line */
  LEAST = 1 << 20 /* bytes that the caches hold in any case */
};

/* Only an output that no kernel reads may bypass the caches. */
static bool is_never_read(const tc_omp_facts *f, uint32_t buffer) {
  const tc_program *p = f->p;
  const uint32_t id = f->k->buffer[buffer];
  for (uint32_t i = 0; i < p->nkernel; ++i)
    for (uint32_t b = 0; b < p->kernel[i].nbuffer; ++b)
      if (p->kernel[i].buffer[b] == id && tc_print_reads(&p->kernel[i], b)) return false;
  return true;
}

/* Does the action of stage i fill vectors, in memory, of an output?  Blocks of rows do, where the
 * rows follow one another (row_blocks.c). */
static bool is_whole_store(const tc_omp_facts *f, const tc_omp_stage_schedule *stage, uint32_t i,
                           uint32_t action) {
  const tc_stage *st = &f->nest->stage[i];
  const tc_action *a = &st->action[action];
  bool first;
  return a->kind == TC_ACT_STORE && tc_omp_buffer(f, a->buffer)->kind == TC_BUF_OUTPUT &&
         (tc_schedule_has(&stage[i].transpose_store, action) ||
          tc_omp_is_interleaved(f, st, a, &first) || tc_omp_stores_in_order(f, a));
}

/* Does an earlier stage store to another interval of the array? */
static bool is_counted(const tc_omp_facts *f, uint32_t stage, uint32_t buffer) {
  const tc_stage *all = f->nest->stage;
  for (uint32_t i = 0; all[stage].interval && i < stage; ++i)
    for (uint32_t j = 0; all[i].interval && j < all[i].naction; ++j)
      if (all[i].action[j].buffer == buffer) return true;
  return false;
}

tc_dim tc_omp_nontemporal_bytes(const tc_omp_facts *f, const tc_omp_stage_schedule *stage) {
  tc_dims *c = tc_graph_dims(f->p->graph);
  tc_dim bytes = tc_dim_const(0);
  for (uint32_t i = 0; i < f->nest->nstage; ++i)
    for (uint32_t j = 0; j < f->nest->stage[i].naction; ++j) {
      const tc_action *a = &f->nest->stage[i].action[j];
      if (!is_whole_store(f, stage, i, j) || is_counted(f, i, a->buffer)) continue;
      const tc_buffer *b = tc_omp_buffer(f, a->buffer);
      const tc_dim numel = tc_kernel_size(f->k, f->p, b->numel);
      bytes = tc_dim_add(c, bytes,
                         tc_dim_mul(c, numel, tc_dim_const((int64_t)tc_dtype_bytes(b->dtype))));
    }
  return bytes;
}

bool tc_omp_may_nontemporal(const tc_omp_choice *c) {
  const tc_omp_facts *f = &c->f;
  for (uint32_t i = 0; i < f->nest->nstage; ++i)
    for (uint32_t j = 0; j < f->nest->stage[i].naction; ++j)
      if (is_whole_store(f, c->stage, i, j) &&
          !is_never_read(f, f->nest->stage[i].action[j].buffer))
        return false;
  const tc_dim bytes = tc_omp_nontemporal_bytes(f, c->stage);
  return !tc_dim_is(bytes, 0) && !tc_dim_bad(bytes);
}

bool tc_omp_plan_nontemporal(const tc_omp_choice *c) {
  if (!tc_omp_may_nontemporal(c)) return false;
  const tc_dim bytes = tc_omp_nontemporal_bytes(&c->f, c->stage);
  return !tc_dim_is_const(bytes) || tc_dim_value(bytes) >= LEAST;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Is so many elements of the stored dtype known to be a number of lines? */
static bool is_lines(const tc_omp_facts *f, const tc_action *a, tc_dim elements) {
  const int64_t multiple = tc_dim_multiple(tc_graph_dims(f->p->graph), elements);
  return tc_dim_is(elements, 0) ||
         multiple * (int64_t)tc_dtype_bytes(tc_omp_buffer(f, a->buffer)->dtype) % LINE == 0;
}

/* Do all rows of the result begin at a line when the first one does? */
static bool rows_are_lines(const tc_omp_facts *f, const tc_action *a) {
  if (!is_lines(f, a, f->k->base[a->buffer]) || !is_lines(f, a, a->address.offset)) return false;
  for (int i = 0; i < f->nest->naxis; ++i)
    if (i != f->vector && !is_lines(f, a, a->address.coef[i])) return false;
  return true;
}

bool tc_omp_has_borders(const tc_omp_facts *f, const tc_action *a) {
  bool rows = false;
  if (!tc_omp_stores_in_order(f, a) || tc_omp_buffer(f, a->buffer)->kind != TC_BUF_OUTPUT)
    return false;
  for (int i = 0; i < f->nest->naxis; ++i)
    rows |= i != f->vector && !tc_dim_is(a->address.coef[i], 0);
  return rows && !rows_are_lines(f, a);
}

/* Does the stage consist of nontemporal stores, along the vector axis?  A stage that reduces is not
 * peeled: which lane sums what must not depend on where an array lies. */
bool tc_omp_may_peel(const tc_omp_choice *c, const tc_stage *st) {
  const tc_nest *n = c->f.nest;
  const bool pointwise = n->nstage == 1 && n->naxis == n->nparallel;
  if (!c->nest->nontemporal || c->f.vector < 0 || !st->naction) return false;
  if (tc_omp_lanes_are_points(&c->f) ? !pointwise : !tc_omp_along(&c->f, st)) return false;
  return tc_omp_stores_outputs_in_order(&c->f, st);
}

/* Are rows of the result known to have hardly a whole line? */
static bool rows_are_short(const tc_omp_facts *f, const tc_action *a) {
  const tc_axis *row = &f->nest->axis[f->vector];
  return row->of < 0 && tc_dim_is_const(row->extent) &&
         tc_dim_value(row->extent) * (int64_t)tc_dtype_bytes(tc_omp_buffer(f, a->buffer)->dtype) < 2 * LINE;
}

bool tc_omp_plan_peel(const tc_omp_choice *c, const tc_stage *st) {
  return tc_omp_may_peel(c, st) && (st->interval || !(rows_are_lines(&c->f, st->action) || rows_are_short(&c->f, st->action)));
}

/* packed_rows.c - rows that may lie apart, read by a nest that goes through all of them in chunks.
 *
 * The elements of a chunk are copied, row by row, into the first-level cache, and the loop along
 * the chunk is one of whole vectors, whose stores are aligned, however short the rows are.  Where
 * rows follow one another they are read as they lie: the code is that of the chunk either way. */
#include "backends/openmp/schedule/plan.h"
#include "lower/flat_rows.h"

bool tc_omp_may_pack(const tc_omp_facts *f, const tc_stage *st, const tc_expr *e) {
  enum { MOST = TC_OMP_TILE * sizeof(double) };
  const int v = f->vector;
  const tc_address *a = &e->address;
  if (f->nest->serial || st->interval || st->if_skipped || !tc_omp_along(f, st) || st->axes != 1u << v)
    return false;
  if (!tc_flat_row_width(f->k, e)) return false;
  const tc_dim chunk = f->nest->axis[v].extent;
  const size_t bytes = tc_dtype_bytes(tc_omp_buffer(f, e->buffer)->dtype);
  return f->nest->axis[v].of >= 0 && tc_dim_is_const(chunk) && (size_t)tc_dim_value(chunk) <= MOST / bytes &&
         tc_dim_is(a->coef[v], 1);
}

bool tc_omp_plan_packed_rows(tc_omp_choice *c) {
  for (uint32_t i = 0; i < c->f.nest->nstage; ++i)
    if (!tc_omp_list_loads(&c->f, &c->f.nest->stage[i], tc_omp_may_pack, &c->stage[i].pack)) return false;
  return true;
}

/* interchange.c - columns of matrices that are reduced, with the loop over rows outside of the one
 * over columns.
 *
 * Where the accumulators of some columns are in registers while all rows go by, short pieces of
 * rows are read that are far apart: hardware prefetchers stop at the end of each, and a page is
 * used for some lines only.  With all accumulators of a wide tile in the first-level cache, rows
 * are read in long pieces, some of them side by side, so that an accumulator is loaded and stored
 * once for all of these: streams as memory likes them, at any width. */
#include "backends/openmp/schedule/plan.h"

/* The one axis that the stage reduces along, -1: there are none or several. */
static int reduced_axis(const tc_omp_facts *f, const tc_stage *st) {
  const uint32_t axes = st->axes & ~f->parallel;
  return axes && !(axes & (axes - 1)) ? __builtin_ctz(axes) : -1;
}

bool tc_omp_may_interchange(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  if (!tc_omp_lanes_are_points(f) || n->serial) return false;
  for (uint32_t i = 0; i < n->nstage; ++i) {
    const tc_stage *st = &n->stage[i];
    if (st->axes && reduced_axis(f, st) < 0) return false;
    if (st->skip_if.id || st->if_skipped) return false;
    for (uint32_t j = 0; j < st->naction; ++j)
      if (st->action[j].kind != (st->axes ? TC_ACT_REDUCE : TC_ACT_STORE) || st->action[j].term.id)
        return false;
  }
  return true;
}

/* May the axis have so many points? */
static bool may_reach(const tc_omp_facts *f, int axis, int64_t points) {
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(f->p->graph), f->nest->axis[axis].extent, &lo, &hi);
  return hi < 0 || hi >= points;
}

/* Does the stage read a matrix whose columns are in the lanes, of as many rows as this is for, as
 * far as is known? */
static bool reads_rows(const tc_omp_facts *f, const tc_stage *st) {
  const int axis = reduced_axis(f, st);
  const uint8_t *need = tc_omp_needs(f, st);
  if (axis < 0) return false;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (need[id] && e->kind == TC_EX_LOAD && tc_dim_is(e->address.coef[f->vector], 1) &&
        !tc_dim_is(e->address.coef[axis], 0))
      return may_reach(f, axis, TC_OMP_LEAST_ROWS);
  }
  return false;
}

int tc_omp_plan_interchange(const tc_omp_choice *c) {
  const tc_omp_facts *f = &c->f;
  enum { WIDEST = 16 }; /* lanes */
  int rows = -1;
  if (!tc_omp_may_interchange(f) || !tc_omp_only_reduces(f) || !tc_omp_plan_jam_vectors(c))
    return -1;
  if (!may_reach(f, f->vector, TC_OMP_LEAST_COLUMNS * WIDEST)) return -1;
  for (uint32_t i = 0; i < f->nest->nstage; ++i) {
    const tc_stage *st = &f->nest->stage[i];
    if (!st->axes) continue;
    if (!reads_rows(f, st)) return -1;
    rows = reduced_axis(f, st);
  }
  return rows;
}

/* Does the stage read rows that are the same along the axis, and something that is not? */
static bool shares_rows(const tc_omp_facts *f, const tc_stage *st, int axis) {
  const int reduced = reduced_axis(f, st);
  const uint8_t *need = tc_omp_needs(f, st);
  bool shared = false, own = false;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id] || e->kind != TC_EX_LOAD) continue;
    if (f->depends[id] >> axis & 1) own = true;
    else shared |= tc_dim_is(e->address.coef[f->vector], 1) && !tc_dim_is(e->address.coef[reduced], 0);
  }
  return shared && own;
}

int tc_omp_plan_outer(const tc_omp_facts *f) {
  for (int i = f->nest->nparallel - 1; i >= 0; --i) {
    const tc_axis *a = &f->nest->axis[i];
    if (i == f->vector || a->of >= 0 || tc_dim_is(a->extent, 1)) continue;
    if (shares_rows(f, &f->nest->stage[0], i)) return i;
  }
  return -1;
}

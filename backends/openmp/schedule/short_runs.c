/* short_runs.c - reductions along several axes, of which the inner ones have few points.
 *
 * A vector axis shorter than the vectors that have accumulators of their own would use the first of
 * them only, which each operation waits for: accumulators are of neighbouring points of the
 * outermost axis then. */
#include "backends/openmp/schedule/plan.h"

int64_t tc_omp_run_points(const tc_omp_facts *f, const tc_stage *st) {
  enum { MOST = 256 };
  int64_t points = 1;
  bool outermost = true;
  for (int i = f->nest->nparallel; i < f->nest->naxis; ++i) {
    const tc_axis *a = &f->nest->axis[i];
    if (!(st->axes >> i & 1)) continue;
    if (outermost && i != f->vector) {
      outermost = false;
      continue;
    }
    const int64_t extent = a->of < 0 && tc_dim_is_const(a->extent) ? tc_dim_value(a->extent) : 0;
    if (extent > MOST) return 0;
    points *= extent;
    if (points > MOST) return 0;
  }
  return outermost ? 0 : points;
}

/* The outermost axis of the stage beside the vector axis. */
static int outermost_axis(const tc_omp_facts *f, const tc_stage *st) {
  for (int i = f->nest->nparallel; i < f->nest->naxis; ++i)
    if ((st->axes >> i & 1) && i != f->vector) return i;
  return -1;
}

bool tc_omp_may_have_short_runs(const tc_omp_facts *f, const tc_stage *st) {
  const int outer = outermost_axis(f, st);
  if (!tc_omp_along(f, st) || st->interval || outer < 0 || f->nest->axis[outer].of >= 0)
    return false;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind != TC_ACT_REDUCE || st->action[i].term.id) return false;
  return tc_omp_run_points(f, st) > 0;
}

bool tc_omp_plan_short_runs(const tc_omp_choice *c, uint32_t stage) {
  const tc_omp_stage_schedule *s = &c->stage[stage];
  if (!tc_omp_may_have_short_runs(&c->f, &c->f.nest->stage[stage])) return false;
  return s->unroll > 1 && !s->deinterleave && !s->prefetch.n && !s->prefetch_store.n &&
         c->nest->pipeline != (int)stage;
}

/* stage.h - how a stage is run: loops.c prints its loops, actions.c what it does at a point,
 * accumulate.c what reductions and scans keep while they run. */
#ifndef TC_OMP_STAGE_H
#define TC_OMP_STAGE_H

#include "backends/openmp/nest/nest.h"

typedef struct tc_omp_run {
  const tc_stage *st;
  uint32_t index;
  bool along;                   /* the vector axis is one of the stage's: reductions cross lanes */
  int unroll;                   /* accumulators */
  char count[16];               /* the same as text; `jam` where vectors of points are jammed */
  int loop[TC_MAX_AXES], nloop; /* the stage's axes in loop order, the vector axis last */
  /* The innermost loop, of known length, is: jammed points load the same rows there.  Those around it are not: their points
   * load numbers that registers would not hold. */
  bool unrolled;
  bool deinterleave;            /* vectors of even and of odd bf16 elements */
  int64_t block;                /* f32 sums are folded into f64 totals after so many points, or 0 */
  bool one; /* ... but for the last block, so that few points need no f64 at all */
  const char *acc; /* of a vector where the loop along them is not unrolled: which accumulator */
} tc_omp_run;

/* actions.c: what the stage does at a point; u: the accumulator. */
void tc_omp_put_actions(tc_omp_nest *x, const tc_omp_run *r, const char *u);
/* The loop over blocks of f32 sums, whose first point is `block`. */
void tc_omp_open_block(tc_omp_nest *x, const tc_omp_run *r, const char *extent);

/* loops.c: the loops from the level-th axis of the stage inwards; mask: axes that are fixed
 * here. */
void tc_omp_put_loops(tc_omp_nest *x, const tc_omp_run *r, int level, uint32_t mask);

/* short_runs.c: the same of all axes. */
void tc_omp_put_short_runs(tc_omp_nest *x, const tc_omp_run *r, uint32_t mask);

/* interchange.c: the loop over the innermost axis of the stage, and, where it has none, what it
 * does at each vector. */
void tc_omp_put_interchanged_loop(tc_omp_nest *x, const tc_omp_run *r, int axis,
                                  const char *extent);
void tc_omp_put_each_vector(tc_omp_nest *x, const tc_omp_run *r);

/* in_order.c: may an element take the place of those in front of it without a comparison of positions?  acc<i> in front of
 * all elements, `each` being a loop over u. */
bool tc_omp_is_in_order(const tc_omp_nest *x, const tc_omp_run *r, const tc_action *a);
void tc_omp_put_first_place(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *each);

/* In front of the loops: acc<i>, total<i> (f64), carry<i>. */
void tc_omp_put_accumulators(tc_omp_nest *x, const tc_omp_run *r);
void tc_omp_put_carries(tc_omp_nest *x, const tc_omp_run *r);
/* acc<i>[spare], a spare accumulator of vector u: begins, and joins it. */
void tc_omp_put_spare(tc_omp_nest *x, const tc_omp_run *r, const char *spare);
void tc_omp_join_spare(tc_omp_nest *x, const tc_omp_run *r, const char *spare);
/* At the beginning of a block, and at its end, which is the last where the text `last` holds. */
void tc_omp_put_fresh(tc_omp_nest *x, const tc_omp_run *r);
void tc_omp_put_fold(tc_omp_nest *x, const tc_omp_run *r, const char *last);
/* At a point, value printed; u: which accumulator. */
void tc_omp_put_reduce(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *u);
void tc_omp_put_scan(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a);
/* Behind the loops: r<i>, of every jammed vector. */
void tc_omp_put_results(tc_omp_nest *x, const tc_omp_run *r);

/* term_sums.c: does the stage sum terms of a reduction here, many vectors at a time?  The same of
 * it, and one round of the loop along the vector axis. */
bool tc_omp_sums_terms(const tc_omp_nest *x, const tc_omp_run *r);
void tc_omp_put_term_accumulators(tc_omp_nest *x, const tc_omp_run *r);
void tc_omp_put_fresh_terms(tc_omp_nest *x, const tc_omp_run *r);
void tc_omp_put_term_fold(tc_omp_nest *x, const tc_omp_run *r);
void tc_omp_put_term_results(tc_omp_nest *x, const tc_omp_run *r);
void tc_omp_put_term_round(tc_omp_nest *x, const tc_omp_run *r, int vectors);

#endif

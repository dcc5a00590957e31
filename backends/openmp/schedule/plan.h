/* plan.h - the decisions about a nest, each with its conditions and what it is for.
 *
 * A `may` function says whether the nest allows a technique: what the verifier asks.  A `plan`
 * function says whether it is taken, which is so where it is allowed and pays. */
#ifndef TC_OMP_PLAN_H
#define TC_OMP_PLAN_H

#include "backends/openmp/schedule/facts.h"
#include "backends/openmp/schedule/schedule.h"

enum {
  TC_OMP_UNROLL = 4,   /* independent accumulators of a reduction along the vector axis */
  TC_OMP_BLOCK = 4096, /* points that one f32 accumulator set sums before it joins an f64 total */
  TC_OMP_FOLD = 256,   /* the same where each lane sums points of its own */
  TC_OMP_TILE = 4096,  /* points of a vectorised parallel axis in one task of a pointwise nest */
  TC_OMP_STRIP = 256,  /* the same when every point has inner loops */
  /* the same where all its accumulators are in the first-level cache at a time */
  TC_OMP_RESIDENT = 512,
  TC_OMP_SHORT = 16,   /* rows from here on always fill lanes by themselves */
  /* rows that nothing else reduces many at a time: by blocks up to here, then each by itself */
  TC_OMP_BLOCK_ROWS = 64,
  TC_OMP_WIDE = 128, /* rows up to here whose blocks, transposed, are in the first-level cache */
  /* points from so many vectors on, of any number, fill four fifths of their lanes or more */
  TC_OMP_FULL_VECTORS = 4,
  /* rows from here on take so long that combining lanes row by row costs little */
  TC_OMP_COLLECT = 128,
  /* Columns, in vectors, and rows of them from which on loops are interchanged: of less,
   * accumulators in registers are faster than any order of reading. */
  TC_OMP_LEAST_COLUMNS = 8,
  TC_OMP_LEAST_ROWS = 256,
  TC_OMP_PAIR = 8, /* registers for each of two jammed vectors of the widest */
  TC_OMP_JAM_OUTER = 8, /* outer points in one loop: as many sums as additions are under way at a time */
  TC_OMP_JAM_ROWS = 4, /* rows that are reduced in one loop, with the loads that they share */
  TC_OMP_GROUP = 4,    /* most outer points that go through the stages together */
  /* most outer points that share the rows of a matrix where its loop is interchanged */
  TC_OMP_OUTER = 4,
  TC_OMP_DISTANCE = 2, /* outer points from a row to the one that is prefetched */
  TC_OMP_PARALLEL_WORK = 80000 /* scalar operations that pay for starting threads: about 3 us */
};

/* A nest, and a variant of its schedule while it is made: decisions that come later see those
 * before. */
typedef struct tc_omp_choice {
  tc_omp_facts f;
  tc_omp_nest_schedule *nest;
  tc_omp_stage_schedule *stage; /* one for each */
  int64_t width;                /* that rows stay below (tc_omp_short_width) */
} tc_omp_choice;

/* All decisions about a program: packing (gemm/packing.c), and the schedule of each kernel of
 * nests.  false: out of memory. */
bool tc_omp_plan(tc_program *p);
/* tc_schedule_words.other_plan */
bool tc_omp_other_plan(tc_program *p, const tc_kernel *k, uint32_t n, uint32_t i,
                       tc_schedule_variant *v, bool *more);

/* jam.c */
bool tc_omp_plan_jam_vectors(const tc_omp_choice *c);
int tc_omp_accumulators(const tc_omp_facts *f);
/* interchange.c */
bool tc_omp_may_interchange(const tc_omp_facts *f);
int tc_omp_plan_interchange(const tc_omp_choice *c); /* the axis of the rows; -1: no */
/* The parallel axis beside the lanes' whose points share the rows that the nest reads, -1: none. */
int tc_omp_plan_outer(const tc_omp_facts *f);
bool tc_omp_plan_jam_rows(const tc_omp_choice *c);
/* jam.c.  The parallel axis whose points, each with the lanes' vectors, are jammed; -1: none. */
int tc_omp_plan_jam_outer(const tc_omp_choice *c);
bool tc_omp_may_group(const tc_omp_choice *c);
bool tc_omp_may_pair(const tc_omp_facts *f, const tc_stage *st);
bool tc_omp_plan_pairs(const tc_omp_choice *c, const tc_stage *st);

/* collect.c: may as many rows as a vector has lanes be reduced together?  plan: the width below
 * which that pays; 0: it does not. */
bool tc_omp_may_collect(const tc_omp_facts *f);
int64_t tc_omp_plan_collect(const tc_omp_facts *f);

/* transpose.c.  may: the load is of a block with neighbours along the other axis of the stage.
 * plan: sets the lists of all stages.  false: out of memory. */
bool tc_omp_may_transpose(const tc_omp_facts *f, const tc_stage *st, const tc_expr *e);
bool tc_omp_plan_transpose(tc_omp_choice *c);
/* The axis that lanes of a transpose are better along than along its stores, -1: none. */
int tc_omp_plan_transposed(const tc_omp_facts *f);

/* packed_rows.c.  may: is the load of elements through all rows of an array that may lie apart?
 * plan: sets the lists of all stages.  false: out of memory. */
bool tc_omp_may_pack(const tc_omp_facts *f, const tc_stage *st, const tc_expr *e);
bool tc_omp_plan_packed_rows(tc_omp_choice *c);

/* row_blocks.c: is the stage one at points in the lanes, along rows that are short?  may: are rows
 * of the load, or of the store, moved as transposed blocks?  plan: sets the lists of all stages.
 * false: out of memory. */
bool tc_omp_has_row_blocks(const tc_omp_choice *c, const tc_stage *st);
bool tc_omp_may_block_rows(const tc_omp_choice *c, const tc_stage *st, const tc_expr *e);
bool tc_omp_may_block_stores(const tc_omp_choice *c, const tc_stage *st, const tc_action *a);
bool tc_omp_plan_row_blocks(tc_omp_choice *c);

/* short_rows.c: the width below which a nest of reduced rows of unknown length has lanes along its
 * rows; 0: none. */
int64_t tc_omp_plan_short_rows(const tc_omp_facts *f);
/* The same for rows whose points are stored alone. */
int64_t tc_omp_plan_short_points(const tc_omp_facts *f);
/* The axis that lanes of transposed blocks run along where the vector axis is shorter than
 * TC_OMP_SHORT; -1: none. */
int tc_omp_plan_short_columns(const tc_omp_facts *f);
/* The axis that lanes run along where the last parallel axis has one point, and what is reduced is
 * a matrix times that one column; -1: the vector axis does. */
int tc_omp_plan_one_column(const tc_omp_facts *f);

/* unroll.c */
int64_t tc_omp_plan_unroll(const tc_omp_choice *c, const tc_stage *st);
bool tc_omp_has_f64_total(const tc_stage *st); /* f32 sums, whose totals may be f64 */
/* Points that one f32 accumulator set sums before it joins its total, 0: it sums all.  set: what it
 * may sum, along the vector axis. */
int64_t tc_omp_plan_block(const tc_omp_choice *c, const tc_stage *st, int64_t set);

/* short_runs.c */
bool tc_omp_may_have_short_runs(const tc_omp_facts *f, const tc_stage *st);
bool tc_omp_plan_short_runs(const tc_omp_choice *c, uint32_t stage);

/* deinterleave.c */
bool tc_omp_may_deinterleave(const tc_omp_facts *f, const tc_stage *st);

/* prefetch.c.  plan: sets the lists of all stages.  false: out of memory. */
bool tc_omp_may_prefetch(const tc_omp_facts *f, const tc_expr *e);
bool tc_omp_may_prefetch_store(const tc_omp_facts *f, const tc_stage *st, const tc_action *a);
bool tc_omp_plan_prefetch(tc_omp_choice *c);

/* reduced_precision.c: marks, of a whole kernel (nexpr + 1), the values that need no more digits
 * than 16 bits hold. */
void tc_omp_find_reduced_precision(const tc_kernel *k, const tc_program *p, uint8_t *marked);
bool tc_omp_is_approximated(const tc_expr *e); /* there is a function of 17 bits for the op */

/* pipeline.c.  stage: the one whose loop may contain the last one of the outer point before, or
 * -1. */
int tc_omp_pipeline_stage(const tc_omp_facts *f);
int tc_omp_plan_pipeline(const tc_omp_choice *c);
bool tc_omp_plan_align(const tc_omp_choice *c);

/* nontemporal.c */
bool tc_omp_may_nontemporal(const tc_omp_choice *c);
bool tc_omp_plan_nontemporal(const tc_omp_choice *c);
bool tc_omp_may_peel(const tc_omp_choice *c, const tc_stage *st);
bool tc_omp_plan_peel(const tc_omp_choice *c, const tc_stage *st);

#endif

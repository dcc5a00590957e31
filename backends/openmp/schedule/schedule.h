/* schedule.h - how a nest runs on a CPU: what tc_omp_plan decides and the printers of nest/ read
 * (backends/schedule/schedule.h holds it together). */
#ifndef TC_OMP_SCHEDULE_H
#define TC_OMP_SCHEDULE_H

#include "backends/schedule/schedule.h"

/* Of a kernel. */
typedef struct tc_omp_kernel_schedule {
  /* scalar operations from which on a team of threads runs it; 0: one thread does */
  int64_t threads;
  /* Points of the fused outer loop that pass each nest before the next one begins; 0: no groups.  Where sizes of their arrays
   * are unknown: at most so many, and more than one of TC_OMP_GROUP_BYTES. */
  int64_t group;
} tc_omp_kernel_schedule;

enum { TC_OMP_GROUP_BYTES = 8192 }; /* of the arrays of a group: a quarter of a first-level cache */

/* Points of k's fused outer loop whose arrays a thread has at a time. */
static inline int64_t tc_omp_group_of(const tc_kernel *k) {
  const tc_omp_kernel_schedule *s = k->outer.fused && k->schedule ? k->schedule->kernel : NULL;
  return s && s->group > 1 ? s->group : 1;
}

/* Of a nest. */
typedef struct tc_omp_nest_schedule {
  int vector; /* axis in the vector lanes, -1: none.  A parallel one: outer points are the lanes */
  int64_t tile; /* points of a parallel vector axis in one task */
  /* Unroll-and-jam over outer points.  jam_rows: so many of a parallel axis (tc_omp_jam_axis) run in one loop.
   * jam_vectors: so many vectors of a parallel vector axis do as registers hold that take r each,
   * for each r of the list in turn. */
  int64_t jam_rows;
  tc_schedule_list jam_vectors;
  /* Loop interchange, where outer points are the lanes: the loop over a stage's innermost axis is
   * outside of that over the vectors of a tile, whose accumulators are in memory.  As many of its
   * points as registers hold that take so many each are jammed.  0: no. */
  int64_t interchange;
  /* So many points of this parallel axis, -1: none, are a task together: what is read that they
   * share is read once.  Where loops are not interchanged they run in one loop (unroll-and-jam). */
  int outer;
  int64_t outer_tile;
  /* a reduction of TC_L rows is combined across lanes at once, and the last stage has them in its
   * lanes */
  bool collect;
  int64_t group; /* outer points that pass each stage before the next one begins; 0: no groups */
  bool nontemporal; /* vector stores to outputs go past the caches where these are large */
  /* Software pipeline: the stage whose loop contains the last stage of the outer point before, -1:
   * none; align: vectors of the latter begin at whole lines. */
  int pipeline;
  bool align;
  int64_t distance;             /* outer points from a row to the one that is prefetched */
  tc_schedule_list approximate; /* expressions that are computed to 17 bits */
} tc_omp_nest_schedule;

/* Of a stage. */
typedef struct tc_omp_stage_schedule {
  int64_t unroll;    /* vectors of a round of the loop, with accumulators of their own */
  bool short_runs;   /* they are of neighbouring points of the outermost axis in place of vectors */
  /* in turn, one has the even elements of bf16 rows, the next one the odd ones */
  bool deinterleave;
  bool interleave; /* stores at small distances that fill whole vectors are one store */
  bool peel;  /* rows of nontemporal stores may begin within a line: a head and a tail are peeled */
  bool pairs; /* two points of a group are jammed */
  /* f32 sums join an f64 total after so many points, 0: never; the same where rows are jammed */
  int64_t block, jam_block;
  int64_t skip; /* the stage is skipped (tc_stage.skip_if) from so many points on; 0: never */
  tc_schedule_list prefetch;       /* loads whose rows are prefetched for later outer points, */
  tc_schedule_list prefetch_store; /* and actions whose rows are */
  /* loads of blocks, apart in the lanes, that are transposed in front of the stage's loops */
  tc_schedule_list transpose;
  /* actions that store such blocks, transposed behind the stage's loops */
  tc_schedule_list transpose_store;
  tc_schedule_list pack; /* loads of rows that may lie apart, which are copied in front of the stage's loop then */
} tc_omp_stage_schedule;

/* The parallel axis whose rows are jammed: that of the rows of a product of two matrices, or the only one. */
static inline int tc_omp_jam_axis(const tc_nest *n) { return n->nparallel > 1 ? n->nparallel - 2 : 0; }

#endif

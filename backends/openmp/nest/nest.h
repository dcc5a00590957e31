/* nest.h - a nest being printed: nest.c prints the loops over outer points, stage.c and accumulate.c
 * what happens at a point. */
#ifndef TC_OMP_NEST_H
#define TC_OMP_NEST_H

#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

enum {
  TC_OMP_UNROLL = 4,     /* independent accumulators of a reduction along the vector axis */
  TC_OMP_LIGHT = 8,      /* operations of a nest whose vectors of points are jammed, at most */
  TC_OMP_BLOCK = 4096,   /* points that one f32 accumulator set sums before it joins an f64 total */
  TC_OMP_FOLD = 256,     /* the same where each lane sums points of its own */
  TC_OMP_TILE = 4096,    /* points of a vectorised parallel axis in one task of a pointwise nest */
  TC_OMP_STRIP = 256,    /* the same when every point has inner loops */
  TC_OMP_SHORT = 16,     /* rows from here on fill lanes by themselves */
  TC_OMP_JAM_ROWS = 4,   /* rows that are reduced in one loop, with the loads that they share */
  TC_OMP_GROUP = 4,      /* most outer points that go through the stages together */
  TC_OMP_JAM_POINTS = 2, /* of these, points that are jammed in one stage */
  TC_OMP_PAGE = 4096,    /* bytes: accesses so far apart, or */
  TC_OMP_NEAR = 256,     /* so much more or less, are taken for accesses to the same place */
  TC_OMP_PARALLEL_WORK = 80000 /* scalar operations that pay for starting threads: about 3 us */
};

typedef struct tc_omp_nest {
  tc_print_scope s;
  const tc_nest *nest;
  bool lanes_are_points; /* the vector axis is a parallel axis */
  uint32_t parallel;     /* mask of the parallel axes */
  bool grouped;          /* short rows: `group` outer points, number q of them, pass a stage before
                          * the next stage begins; results are arrays */
  char axis_text[TC_MAX_AXES][16];
  char (*result_text)[16];
  const char **result;
  uint32_t *result_axes;
  /* Software pipeline: the stage whose loop contains the last stage of the outer point before, or -1;
   * shifted: vectors of that one begin `shift` elements later, at whole lines. */
  int pipeline_stage;
  bool shifted;
  /* Unroll-and-jam.  jammed: stages run for `jam` vectors of points, number u of them, in one loop, and
   * results are arrays; jam_rows: with it, for single points whose lanes run along a sequential axis.
   * can_jam_points: grouped, and some stages may run for several points of a group in one loop;
   * jam_points: at hand is such a stage, for points `first` + p, and per expression `hoisted` says
   * whether k<i>[p] has its value for them. */
  bool jammed, jam_rows, can_jam_points, jam_points;
  uint8_t *hoisted;
  /* Prefetch of later rows: some stage does it; per expression: 1 + the last stage that reads this row,
   * which prefetches another one, or 0. */
  bool prefetches;
  uint32_t *prefetch_stage;
  uint8_t *reduced_precision; /* per expression: only 16 bits of it are ever stored */
} tc_omp_nest;

/* What the kernel's buffer is. */
const tc_buffer *tc_omp_buffer(const tc_omp_nest *x, uint32_t buffer);

/* All stages of the nest at one outer point (or TC_L of them, or the first `lanes` of TC_L). */
void tc_omp_point(tc_omp_nest *x);
/* The same in two parts: all stages but the last; the last. */
void tc_omp_put_front_stages(tc_omp_nest *x);
void tc_omp_put_last_stage(tc_omp_nest *x);
/* The same of outer points `task` .. `task + count`, stage by stage. */
void tc_omp_group(tc_omp_nest *x);

/* Variables <name><i> for the results of a reduction; rest: behind their names. */
void tc_omp_declare_results(tc_omp_nest *x, const tc_action *a, const char *name, const char *rest);

/* The stage's values that depend on no other axes than those in mask. */
void tc_omp_hoist(tc_omp_nest *x, const tc_stage *st, uint32_t mask);

/* prefetch.c.  plan: which stage prefetches a later row of a load or of its own stores (once a nest;
 * false: out of memory); the bytes of one outer point's rows, nothing where there are none; the
 * distance (once in the stage), and the prefetch at the point of the scope, for so many vectors. */
bool tc_omp_plan_prefetch(tc_omp_nest *x);
void tc_omp_row_bytes(const tc_omp_nest *x, tc_buf *out);
void tc_omp_put_prefetch_distance(tc_omp_nest *x, uint32_t stage);
void tc_omp_put_prefetch(tc_omp_nest *x, uint32_t stage, int vectors);

/* unroll_and_jam.c.  shares_loads: among the marked expressions are loads that differ between outer
 * points and loads that all points share (halves: the latter of 16-bit floats).  can_jam_points: the
 * stage may run for several points of a group in one loop; begin, end: the loop over these points.
 * hoist_points prints, in front of the stage's loops, what is equal along them, as k<i>[p];
 * use_hoisted takes it from there, inside a loop over the points. */
bool tc_omp_shares_loads(const tc_omp_nest *x, const uint8_t *need, bool halves);
bool tc_omp_can_jam_points(const tc_omp_nest *x, const tc_stage *st);
void tc_omp_begin_points(tc_omp_nest *x);
void tc_omp_end_points(tc_omp_nest *x);
void tc_omp_hoist_points(tc_omp_nest *x, const tc_stage *st);
void tc_omp_use_hoisted(tc_omp_nest *x);

/* nontemporal.c: prints `const int nontemporal = ...;` where the nest's vector stores may be nontemporal. */
void tc_omp_put_nontemporal(tc_omp_nest *x);
/* Around a loop along the vector axis, `from` to `end`, of a stage with nontemporal stores whose rows
 * may begin within a line: true, and a loop is open in which the vectors come if their axis is >=
 * `head`, then head or tail. */
bool tc_omp_begin_peeled(tc_omp_nest *x, const tc_stage *st, const char *from, const char *end);
/* The vectors of fewer than all lanes from i on; peeled: what begin_peeled gave. */
void tc_omp_begin_tail(tc_omp_nest *x, bool peeled, const char *i, const char *end);
void tc_omp_end_tail(tc_omp_nest *x, bool peeled, const char *i);
/* Prints the number of elements between `from` and the first whole line of such a stage's row; false:
 * it is no such stage, or all its rows begin at lines. */
bool tc_omp_put_head_length(tc_omp_nest *x, const tc_stage *st, const char *from, tc_buf *out);

/* Marks the expressions that a stage computes. */
void tc_omp_mark_stage(const tc_omp_nest *x, const tc_stage *st, uint8_t *need);

/* software_pipeline.c: chooses pipeline_stage (false: out of memory); prints the state that passes from
 * one outer point to the next, in front of the tasks, and its update behind each task whose last stage
 * is left to the next. */
bool tc_omp_plan_pipeline(tc_omp_nest *x);
void tc_omp_declare_pipeline(tc_omp_nest *x);
void tc_omp_carry_pipeline(tc_omp_nest *x);

/* bf16_deinterleave.c: may the lanes of the stage be the even, or the odd, elements of two vectors?  What
 * is printed between begin and end is for the unrolled vector `u`. */
bool tc_omp_can_deinterleave(const tc_omp_nest *x, const tc_stage *st);
void tc_omp_begin_deinterleave(tc_omp_nest *x, const tc_stage *st);
void tc_omp_end_deinterleave(tc_omp_nest *x);
/* Is this, between begin and end, a sum that loads its elements itself?  Prints it. */
bool tc_omp_is_deinterleaved_sum(const tc_omp_nest *x, const tc_stage *st, const tc_action *a);
void tc_omp_put_deinterleaved_sum(tc_omp_nest *x, const tc_action *a, const char *u);

/* single_pass_variance.c.  may_skip: are stages skipped in this way of running the nest?
 * put_skip_pays: the condition on the length of rows under which it pays to skip the stage, if there is
 * one.  put_skip: the value that the result has then, down to the `if` that the stage is the body of.
 * served_stage: the later stage that this one's sums serve, or NULL. */
bool tc_omp_may_skip(const tc_omp_nest *x);
bool tc_omp_put_skip_pays(tc_omp_nest *x, const tc_stage *st, tc_buf *out);
void tc_omp_put_skip(tc_omp_nest *x, const tc_stage *st);
void tc_omp_skipped(const tc_omp_nest *x, uint32_t result, char text[24]); /* of the variable */
const tc_stage *tc_omp_served_stage(const tc_omp_nest *x, const tc_stage *st);

/* reduced_precision.c: which values need no more digits than 16 bits hold (false: out of memory). */
bool tc_omp_plan_precision(tc_omp_nest *x);

/* interleaved_store.c: is the action one of several stores that together fill whole vectors, and the
 * first of them?  Prints them all, their values printed, where no lane is idle. */
bool tc_omp_is_interleaved(const tc_omp_nest *x, const tc_stage *st, const tc_action *a,
                           bool *first);
void tc_omp_put_interleaved(tc_omp_nest *x, const tc_stage *st, const tc_action *first);

#endif

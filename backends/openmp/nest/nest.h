/* nest.h - a nest being printed by its schedule: nest.c prints the loops over outer points,
 * stage.c, loops.c and accumulate.c what happens at a point. */
#ifndef TC_OMP_NEST_H
#define TC_OMP_NEST_H

#include "backends/openmp/emit.h"
#include "backends/openmp/schedule/facts.h"
#include "backends/openmp/schedule/schedule.h"
#include "backends/openmp/unit.h"

enum { TC_OMP_PAIR = 2 }; /* points of a group that are jammed in one stage */

/* What is printed (nest, plan, stage), and where the text is. */
typedef struct tc_omp_nest {
  tc_print_scope s;
  tc_omp_facts f;
  const tc_nest *nest;
  const tc_omp_nest_schedule *plan;
  const tc_omp_stage_schedule *stage; /* one for each */
  uint8_t *approximate;               /* per expression, or NULL */
  char axis_text[TC_MAX_AXES][16];
  char (*result_text)
      [16]; /* arrays in groups, of points q; and in jammed loops, of vectors or rows u */
  const char **result;
  bool collecting;       /* within a loop over rows `q` whose accumulators become each<i>[q] */
  /* within a loop over `jam` vectors of points; over `jam` rows; over `jam` points of the plan's outer axis */
  bool jammed, jam_rows, jam_outer;
  bool interchanged;     /* jammed, and the `jam` vectors are those of a tile */
  /* Within a loop over the points `first` + p of a group; per expression `hoisted` says whether
   * k<i>[p] has its value for them. */
  bool jam_points;
  uint8_t *hoisted;
  uint32_t tiled; /* the stage whose loads are from tiles, or whose stores are to tiles */
  bool (*loads)(const tc_print_scope *s, uint32_t id, tc_buf *out); /* how loads are printed where vectors are not deinterleaved */
} tc_omp_nest;

/* All stages of the nest at one outer point (or TC_L of them, or the first `lanes` of TC_L). */
void tc_omp_point(tc_omp_nest *x);
/* The same in two parts: all stages but the last; the last. */
void tc_omp_put_front_stages(tc_omp_nest *x);
void tc_omp_put_last_stage(tc_omp_nest *x);
/* The same of outer points `task` .. `task + count`, stage by stage. */
void tc_omp_group(tc_omp_nest *x);

/* tasks.c.  The loop over the tasks of this thread; without a team: over all of them. */
void tc_omp_put_task_loop(tc_omp_nest *x, bool team, const char *step);
/* The same with the variables of the parallel axes, of which tasks have tiles or points. */
void tc_omp_open_tasks(tc_omp_nest *x, bool team);
long long tc_omp_tile_of(const tc_omp_nest *x, int axis); /* points in a task, 0: one */
const char *tc_omp_task_variable(const tc_omp_nest *x, int axis);
void tc_omp_put_task_count(const tc_omp_nest *x, tc_buf *out);
/* collect.c: all of a nest whose rows are collected. */
void tc_omp_put_collected(tc_omp_nest *x, bool team);

/* Variables <name><i> for the results of a reduction; rest: behind their names. */
void tc_omp_declare_results(tc_omp_nest *x, const tc_action *a, const char *name, const char *rest);

/* prefetch.c: the bytes of one outer point's rows, nothing where there are none; the distance (once
 * in the stage), and the prefetch at the point of the scope, for so many vectors. */
void tc_omp_row_bytes(const tc_omp_nest *x, tc_buf *out);
void tc_omp_put_prefetch_distance(tc_omp_nest *x, uint32_t stage);
void tc_omp_put_prefetch(tc_omp_nest *x, uint32_t stage, int vectors);

/* unroll_and_jam.c.  begin, end: the loop over two points of a group.  hoist_points prints, in
 * front of the stage's loops, what is equal along them, as k<i>[p]; use_hoisted takes it from
 * there, inside a loop over the points. */
void tc_omp_begin_points(tc_omp_nest *x);
void tc_omp_end_points(tc_omp_nest *x);
void tc_omp_hoist_points(tc_omp_nest *x, const tc_stage *st);
void tc_omp_use_hoisted(tc_omp_nest *x);

/* nontemporal.c: prints `const int nontemporal = ...;`.  flag: the text that says whether stores to
 * that buffer are nontemporal. */
void tc_omp_put_nontemporal(tc_omp_nest *x);
const char *tc_omp_nontemporal_flag(const tc_omp_nest *x, uint32_t buffer);
/* Around a loop along the vector axis, `from` to `end`, of a stage that is peeled here: true, and a
 * loop is open in which the vectors come if their axis is >= `head`, then head or tail. */
bool tc_omp_begin_peeled(tc_omp_nest *x, uint32_t stage, const char *from, const char *end);
/* Prefetches the line that a later row of a nontemporal store, from the column `from` on, shares
 * with the one in front of it: it is stored through the caches. */
void tc_omp_put_border_prefetch(tc_omp_nest *x, uint32_t stage, const char *from);
/* The vectors of fewer than all lanes from i on; peeled: what begin_peeled gave. */
void tc_omp_begin_tail(tc_omp_nest *x, bool peeled, const char *i, const char *end);
void tc_omp_end_tail(tc_omp_nest *x, bool peeled, const char *i);
/* Prints the number of elements between `from` and the first whole line of the row that is
 * stored. */
void tc_omp_put_head_length(tc_omp_nest *x, const tc_action *store, const char *from, tc_buf *out);

/* software_pipeline.c prints the state that passes from one outer point to the next, in front of
 * the tasks, and its update behind each task whose last stage is left to the next. */
void tc_omp_declare_pipeline(tc_omp_nest *x);
void tc_omp_carry_pipeline(tc_omp_nest *x);

/* bf16_deinterleave.c.  What is printed between begin and end is for the unrolled vector `u`. */
void tc_omp_begin_deinterleave(tc_omp_nest *x, const tc_stage *st);
void tc_omp_end_deinterleave(tc_omp_nest *x);
/* Is this, between begin and end, a sum that loads its elements itself?  Prints it. */
bool tc_omp_is_deinterleaved_sum(const tc_omp_nest *x, const tc_stage *st, const tc_action *a);
void tc_omp_put_deinterleaved_sum(tc_omp_nest *x, const tc_action *a, const char *u);

/* single_pass_variance.c.  may_skip: may the stage be skipped here?  skips_result: may the one of
 * that result?  put_skip_pays: the condition on the length of rows under which it pays to skip the
 * stage, if there is one.  put_skip: the value that the result has then, down to the `if` that the
 * stage is the body of.  served_stage: the later stage that this one's sums serve, or -1. */
bool tc_omp_may_skip(const tc_omp_nest *x, uint32_t stage);
bool tc_omp_skips_result(const tc_omp_nest *x, uint32_t result);
bool tc_omp_put_skip_pays(tc_omp_nest *x, uint32_t stage, tc_buf *out);
void tc_omp_put_skip(tc_omp_nest *x, uint32_t stage);
void tc_omp_skipped(const tc_omp_nest *x, uint32_t result, char text[24]); /* of the variable */
int tc_omp_served_stage(const tc_omp_nest *x, const tc_stage *st);

/* transpose.c.  begin prints the tiles of the stage, in front of its loops, which load from them
 * down to end; false: there are none. */
bool tc_omp_begin_tiles(tc_omp_nest *x, uint32_t stage);
void tc_omp_end_tiles(tc_omp_nest *x);
/* In front of a nest's tasks: what its tiles ask of the sizes. */
void tc_omp_declare_tiles(tc_omp_nest *x);

/* packed_rows.c.  begin opens, of a stage with rows that may lie apart, a loop over pieces of its points `from` to `end`,
 * which become those of the piece; end closes it.  false: the stage has none. */
bool tc_omp_begin_packed_rows(tc_omp_nest *x, uint32_t stage, char from[16], char end[16]);
void tc_omp_end_packed_rows(tc_omp_nest *x);
/* Where the load's element at the point of the scope lies in packed rows; false: it is not from there. */
bool tc_omp_put_packed(const tc_print_scope *s, uint32_t id, tc_buf *out);

/* row_blocks.c.  declare: the tiles of a variant whose rows are shorter than `width`; fill: of all
 * loads, in front of the stages at a point; empty: behind the loops of a stage.  load_row,
 * store_row: in their place; false: it has no tile. */
bool tc_omp_has_tiled_rows(const tc_omp_nest *x);
void tc_omp_declare_row_tiles(tc_omp_nest *x, int64_t width);
void tc_omp_fill_row_tiles(tc_omp_nest *x);
void tc_omp_empty_row_tiles(tc_omp_nest *x, uint32_t stage);
bool tc_omp_load_row(const tc_omp_nest *x, uint32_t id, tc_buf *out);
bool tc_omp_store_row(tc_omp_nest *x, const tc_action *a);

/* interleaved_store.c prints all stores that the first one is interleaved with, their values
 * printed, where no lane is idle. */
void tc_omp_put_interleaved(tc_omp_nest *x, const tc_stage *st, const tc_action *first);

#endif

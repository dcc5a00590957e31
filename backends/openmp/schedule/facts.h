/* facts.h - what decisions and printers of a nest ask of it. */
#ifndef TC_OMP_FACTS_H
#define TC_OMP_FACTS_H

#include "backends/openmp/emit.h"
#include "backends/openmp/schedule/schedule.h"

enum { TC_OMP_LIGHT = 8 /* operations of a nest that is said to have few */ };

typedef struct tc_omp_facts {
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *nest;
  int vector;            /* axis in the lanes, or -1 */
  uint32_t parallel;     /* mask of the parallel axes */
  uint32_t *result_axes; /* tc_print_result_axes, of the results of every nest of the kernel */
  uint32_t *depends;     /* tc_print_depends */
  uint8_t *need;         /* of tc_omp_needs */
} tc_omp_facts;

/* false: out of memory.  To be closed in either case. */
bool tc_omp_open_facts(tc_omp_facts *f, const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       int vector);
void tc_omp_close_facts(tc_omp_facts *f);

/* What the kernel's buffer is. */
const tc_buffer *tc_omp_buffer(const tc_omp_facts *f, uint32_t buffer);
bool tc_omp_lanes_are_points(const tc_omp_facts *f); /* the vector axis is a parallel one */
bool tc_omp_along(const tc_omp_facts *f, const tc_stage *st); /* it loops over the vector axis */
/* Are elements so far from each other, from lane to lane, neither one nor neighbours? */
static inline bool tc_omp_is_apart(tc_dim step) {
  return !tc_dim_is(step, 0) && !tc_dim_is(step, 1);
}
bool tc_omp_has_kind(const tc_stage *st, tc_act_kind kind);
bool tc_omp_is_half(tc_dtype d);
/* Marks the expressions that the stage computes; there until the next call. */
const uint8_t *tc_omp_needs(const tc_omp_facts *f, const tc_stage *st);
/* Sets an empty list to the loads that the stage computes and that `may` is true of, allocated in the arena.  false: out
 * of memory. */
bool tc_omp_list_loads(const tc_omp_facts *f, const tc_stage *st,
                       bool (*may)(const tc_omp_facts *f, const tc_stage *st, const tc_expr *e), tc_schedule_list *loads);
/* Does the nest do this along its sequential axes, and nothing else, with few operations? */
bool tc_omp_only(const tc_omp_facts *f, tc_act_kind kind);
bool tc_omp_only_reduces(const tc_omp_facts *f);
/* Does the nest keep rows of an outer point (LOCAL buffers), of which a thread has one each? */
bool tc_omp_keeps_rows(const tc_omp_facts *f);
/* The width that rows along the last axis stay below in the variant; 0: they may have any. */
int64_t tc_omp_short_width(const tc_nest *n, const tc_schedule_variant *v);
/* Some axis is a part of another one, or a stage takes an interval of an axis. */
bool tc_omp_has_parts(const tc_omp_facts *f);
bool tc_omp_has_intervals(const tc_nest *n); /* some stage does, of the nest's vector axis */

/* Does the action store neighbouring elements from neighbouring lanes, whatever else holds? */
bool tc_omp_stores_in_order(const tc_omp_facts *f, const tc_action *a);
/* Do all actions store so, each to an output? */
bool tc_omp_stores_outputs_in_order(const tc_omp_facts *f, const tc_stage *st);
/* interleave.c: stores at distances of 2 to TC_OMP_INTERLEAVE elements that together fill whole
 * vectors, of which `first` is the first: their number, and each in its order; 0: it is none. */
int64_t tc_omp_channels(const tc_omp_facts *f, const tc_stage *st, const tc_action *first,
                        const tc_action *channel[TC_OMP_INTERLEAVE]);
/* Is the action one of such stores?  *first: the first of them. */
bool tc_omp_is_interleaved(const tc_omp_facts *f, const tc_stage *st, const tc_action *a,
                           bool *first);
/* short_runs.c: points inside of one of the stage's outermost axis beside the vector axis, where
 * they are known and few; else
 * 0. */
int64_t tc_omp_run_points(const tc_omp_facts *f, const tc_stage *st);
/* transpose.c: the axis beside the vector axis of a stage that goes over blocks of a few points
 * along both, and only stores; -1: it is no such stage. */
int tc_omp_block_axis(const tc_omp_facts *f, const tc_stage *st);
/* nontemporal.c: does the action store vectors along rows of an output that may share lines? */
bool tc_omp_has_borders(const tc_omp_facts *f, const tc_action *a);
/* nontemporal.c: bytes of the outputs that whole vectors are stored to.  stage: one for each. */
tc_dim tc_omp_nontemporal_bytes(const tc_omp_facts *f, const tc_omp_stage_schedule *stage);

#endif

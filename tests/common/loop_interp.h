/* loop_interp.h - runs a loop-IR program on small arrays, one scalar at a time, and checks what a
 * backend relies on: accesses in bounds, nothing read before it is written, outer points that do not
 * depend on each other, workspace regions that do not overlap while they live.
 *
 * Floating values are doubles and are never rounded, as interp.h without `round`. */
#ifndef TC_TEST_LOOP_INTERP_H
#define TC_TEST_LOOP_INTERP_H

#include "lower/loop.h"
#include "tests/common/interp.h"

/* KEPT buffers of a program between its runs.  Begins as zeros. */
typedef struct loop_kept {
  uint32_t n; /* of the program's buffers */
  struct loop_memory *memory;
} loop_kept;

typedef struct loop_run {
  /* in */
  const tc_program *p;
  const interp_array *const *input;
  const tc_value *scalar;
  const uint64_t *version; /* with `kept`: of each graph input; changes when it is written to */
  loop_kept *kept;         /* NULL: the program keeps nothing */
  /* out: results in order, and the value of each graph input afterwards; freed by loop_run_free */
  interp_array **output, **after;
  bool bad_index; /* an index operand was out of range: the outputs mean nothing */
  char message[200];
} loop_run;

bool loop_program(loop_run *run); /* false: message says which rule was broken */
void loop_run_free(loop_run *run);
void loop_kept_free(loop_kept *kept);

#endif

/* loop_interp.h - runs a loop-IR program on small arrays, one scalar at a time, and checks what a
 * backend relies on: accesses in bounds, nothing read before it is written, outer points that do not
 * depend on each other, workspace regions that do not overlap while they live.
 *
 * Floating values are doubles and are never rounded, as interp.h without `round`. */
#ifndef TC_TEST_LOOP_INTERP_H
#define TC_TEST_LOOP_INTERP_H

#include "lower/loop.h"
#include "tests/common/interp.h"

typedef struct loop_run {
  /* in */
  const tc_program *p;
  const interp_array *const *input;
  const tc_value *scalar;
  /* out: results in order, and the value of each graph input afterwards; freed by loop_run_free */
  interp_array **output, **after;
  bool bad_index; /* an index operand was out of range: the outputs mean nothing */
  char message[200];
} loop_run;

bool loop_program(loop_run *run); /* false: message says which rule was broken */
void loop_run_free(loop_run *run);

#endif

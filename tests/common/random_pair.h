/* random_pair.h - a random graph twice, for the interpreter and for a compiler, which may change
 * its own, and what their results may differ by: a tolerance of the coarsest dtype plus what a tiny
 * change of the arguments does. */
#ifndef TC_TEST_RANDOM_PAIR_H
#define TC_TEST_RANDOM_PAIR_H

#include "tests/common/allowance.h"
#include "tests/common/random_graph.h"

typedef struct random_pair {
  random_graph r;      /* for the interpreter */
  tc_graph *copy;      /* for the compiler, whose it is */
  interp_array **near; /* r.input, changed a little */
  allowance t;
} random_pair;

/* false: the op asked for could not be placed. */
bool random_pair_make(const random_options *o, tc_diag *diag, random_pair *p);
/* No results where the interpreter refuses. */
interp_run random_pair_interpret(const random_pair *p, interp_array **input);
/* All but the copy. */
void random_pair_free(random_pair *p);

#endif

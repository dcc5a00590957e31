/* allowance.h - how far compiled random graphs may be from the interpreter: a tolerance of the
 * coarsest dtype plus what a tiny change of the arguments does to the same result. */
#ifndef TC_TEST_ALLOWANCE_H
#define TC_TEST_ALLOWANCE_H

#include "tests/common/interp.h"

/* |a-b| <= atol + rtol |a| + gain * (effect of arguments changed by `change`) */
typedef struct allowance {
  double rtol, atol, change, gain;
  bool round; /* the interpreter rounds every result to its dtype */
} allowance;

allowance allowance_of(tc_dtype coarsest);
/* Element of want and got that differ too much, or -1; near: the results of changed arguments. */
int64_t allowance_mismatch(const interp_array *want, const interp_array *near,
                           const interp_array *got, allowance t);

#endif

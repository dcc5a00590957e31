/* agree.h - when two outcomes of a random program are the same.
 *
 * Two results agree when they differ by no more than the tolerance of the coarsest dtype and what a
 * change of the operands and of the results of its ops by about one rounding does to the original
 * body, as it is and in double (where a program magnifies rounding errors, so may its kernels), or
 * when against the body run in double the kernels' error is at most twice the body's.  An element
 * that overflowed in the body (16-bit values that kernels keep in f32 do not) may be the one of the
 * body run in double instead, with all that it makes in double, too. */
#ifndef TC_FUZZ_AGREE_H
#define TC_FUZZ_AGREE_H

#include "driver.h"

enum { FUZZ_SAMPLES = 16 }; /* changes that are tried */

typedef struct outcome {
  const char *name; /* of the function */
  tc_tensor *result;
  tc_tensor *output[FUZZ_OUTPUTS];   /* stored through a parameter; NULL: not */
  tc_tensor *operand[FUZZ_OPERANDS]; /* as they are afterwards */
  double
      before[FUZZ_OPERANDS]; /* largest magnitude of those that are written, in front of the call */
  int n;
  uint64_t trace;
  int raised;   /* floating-point exceptions that the calling thread raised */
  size_t bytes; /* that were live behind the call, and not in front of it */
  char error[200];
} outcome;

/* The largest finite magnitude. */
double fuzz_largest(const tc_tensor *x);

/* The original body, over the operands and over changed ones (no result: not run). */
typedef struct body_runs {
  outcome as_is, changed[FUZZ_SAMPLES];
} body_runs;

/* wide: with operands in f64; boundless: with everything in f64; NULL: not run. */
bool fuzz_agree(const fuzz_case *c, const outcome *got, const body_runs *body,
                const body_runs *wide, const outcome *boundless, char why[200]);

/* Whether the outcomes are equal in every bit, but for the bits of NaNs. */
bool fuzz_equal(const outcome *a, const outcome *b, char why[200]);

/* Whether results and outputs are in the memory of operands in both outcomes or in none. */
bool fuzz_same_sharing(const outcome *got, const outcome *want, char why[200]);

#endif

#include "rounding.h"

#include "operands.h"
#include "wrappers.h" /* of the ops, written by runner.py */

static uint64_t next; /* seed of the next change; 0: none */

void fuzz_change_roundings(uint64_t seed) { next = seed; }

tc_tensor *fuzz_rounded(tc_tensor *x, double least) {
  const uint64_t seed = next;
  if (!seed || !x || !fuzz_floating(tc_dtype_of(x))) return x;
  next = 0; /* for the ops of the change */
  TC_SCOPE tc_copy_(x, fuzz_changed(x, least, seed));
  next = seed + 1;
  return x;
}

/* operands.h - operands of random programs: values, changed values, and ways to store them. */
#ifndef TC_FUZZ_OPERANDS_H
#define TC_FUZZ_OPERANDS_H

#include "driver.h"

typedef enum layout {
  AS_IS,
  TRANSPOSED,
  STEPPED,
  NEGATIVE,
  INNER,   /* an offset, and room around it */
  SHIFTED, /* contiguous, one element behind where allocations begin */
  LAYOUTS
} layout;

/* Together as flags. */
typedef enum variation {
  PLAIN = 0,
  CHANGED = 1, /* by about one rounding, up or down */
  SPECIAL = 2, /* every 7th element is NaN, an infinity, a zero or one */
  DOUBLE = 4,  /* in f64 */
  REPEATED = 8 /* with stride 0 along the first axis (changed: each element by itself) */
} variation;

bool fuzz_floating(tc_dtype d);
double fuzz_unit(tc_dtype d); /* about one rounding of 1 */
tc_ints fuzz_sizes(const tc_tensor *x);
tc_tensor *fuzz_stored(tc_tensor *x, layout l); /* equal values, stored so */
/* A copy, each element about one rounding of itself off, or of `least` where it is smaller. */
tc_tensor *fuzz_changed(const tc_tensor *x, double least, uint64_t seed);
tc_tensor *fuzz_tensor(const fuzz_operand *o, tc_ints dims, int run, int number, unsigned v,
                       int sample);
/* Operand `number` of a case in this run; sample: which of the changes. */
tc_tensor *fuzz_operand_of(const fuzz_operand *o, int run, int number, unsigned v, layout l,
                           int sample);

#endif

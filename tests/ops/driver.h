/* driver.h - runs generated op cases: every data set in every layout, eager and compiled, against
 * the expected values of the .safetensors file that the generator wrote beside the source. */
#ifndef TC_TESTS_OPS_DRIVER_H
#define TC_TESTS_OPS_DRIVER_H

#include <tcompile.h>

enum {
  OP_SUM_LIKE = 1,  /* a long sum: error relative to the largest result, or to eager's error */
  OP_PURE_VIEW = 2, /* returns a view of its operand: eager by design */
  OP_ZEROS = 4      /* the sign of a zero counts */
};

typedef struct op_case {
  const char *number, *symbol, *text; /* "12", "f12", "f32: tc_add(a, b)" */
  tc_tensor *(*run)(tc_tensor *const *operands);
  int operands;
  tc_dtype dtype[3], result;
  const char *sets; /* names of its data sets */
  int flags;
} op_case;

/* argv[1]: the data file.  0 when everything passed; prints each failure and the counts. */
int run_op_cases(const op_case *c, size_t n, int argc, char **argv);

#endif

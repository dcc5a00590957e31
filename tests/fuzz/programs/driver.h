/* driver.h - what a file of random programs (tools/fuzz) hands to the driver. */
#ifndef TC_FUZZ_DRIVER_H
#define TC_FUZZ_DRIVER_H

#include <tcompile.h>

enum { FUZZ_OPERANDS = 4, FUZZ_RUNS = 3 }; /* runs: usual sizes, other sizes, sizes 0 and 1 */

typedef enum fuzz_values { FUZZ_NORMAL, FUZZ_POSITIVE, FUZZ_INDEX } fuzz_values;

typedef struct fuzz_operand {
  tc_dtype dtype;
  fuzz_values values;
  int64_t bound; /* INDEX: below this */
  int rank;
  int64_t dim[FUZZ_RUNS][TC_MAX_RANK];
} fuzz_operand;

typedef struct fuzz_case {
  const char *name;
  tc_tensor *(*run)(tc_tensor *const *x, double s);
  tc_dtype coarsest; /* of all floating values in it */
  bool writes;       /* operand 0 is written */
  int n;
  fuzz_operand in[FUZZ_OPERANDS];
} fuzz_case;

/* Runs all cases, or the one named by argv[1].  Prints one line for each failure and one with the
 * counts; returns 0 when nothing failed. */
int fuzz_main(const fuzz_case *c, size_t n, int argc, char **argv);

#endif

/* driver.h - runs cases of ONNX, eagerly and compiled, beside the results that its files have. */
#ifndef TC_TESTS_ONNX_DRIVER_H
#define TC_TESTS_ONNX_DRIVER_H

#include <tcompile.h>

enum { ONNX_MOST = 16 }; /* operands, and results */

typedef struct onnx_case {
  const char *name, *symbol; /* of the case, and of its function */
  void (*call)(tc_tensor *const *x, tc_tensor **y);
  int operands, results;
  double error; /* that is allowed beside the tolerance of the dtype */
  bool is_sum;  /* errors are relative to the largest result */
} onnx_case;

/* argv[1]: a .safetensors file with NAME.x0, ... and NAME.y0, ... of each case; argv[2...]: cases to run, or none: all.
 * Prints "FAIL NAME how: why" for what fails, and the counts at the end.  0: everything passed. */
int run_onnx_cases(const onnx_case *c, size_t n, int argc, char **argv);

#endif

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
  /* A function of two examples, or NULL; for each operand the axis that counts them, or TC_UNMAPPED: one for both. */
  void (*batched)(tc_tensor *const *x, tc_tensor **y);
  int axes[ONNX_MOST];
  int gradients; /* that call gives behind the first result, of the floating operands; 0: it gives all results */
} onnx_case;

/* A case with its data, and why it failed. */
typedef struct onnx_run {
  const onnx_case *c;
  tc_tensor *x[ONNX_MOST], *want[ONNX_MOST], *y[ONNX_MOST];
  int raised; /* exceptions of the body */
  char why[256];
} onnx_run;

/* Is y[k], or one of its examples, want?  `example` < 0: all of it. */
bool onnx_compare(onnx_run *r, int k, const tc_tensor *want, int example);

/* Calls c->batched of the case and of its floating operands with their elements in reverse order: the first of the results is r->want,
 * the second what c->call gives for these. */
bool onnx_run_batched(onnx_run *r);

/* argv[1]: a .safetensors file with NAME.x0, ... and NAME.y0, ... of each case; argv[2...]: cases to run, or none: all.
 * Prints "FAIL NAME how: why" for what fails, and the counts at the end.  0: everything passed. */
int run_onnx_cases(const onnx_case *c, size_t n, int argc, char **argv);

/* Gradients by kernels are those of the body, as far as roundings let them: errors are relative to the largest. */
bool onnx_run_gradients(onnx_run *r, bool *one_graph);

bool onnx_is_floating(const tc_tensor *x);

#endif

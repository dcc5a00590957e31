/* scalar.h - the value of an elementwise op on constants, by the formulas that the runtime applies to
 * elements (graph/formulas.def).
 *
 * Floating values are computed in double and rounded to the dtype, integers in int64 and wrapped. */
#ifndef TC_SCALAR_H
#define TC_SCALAR_H

#include "graph/graph.h"

/* One constant: f for floating dtypes, i for integers and bool. */
typedef struct tc_scalar_value {
  tc_dtype dtype;
  double f;
  int64_t i;
} tc_scalar_value;

tc_scalar_value tc_scalar_convert(tc_scalar_value v, tc_dtype dtype);
/* Is the conversion one that C defines?  (A NaN or a large value is no integer.) */
bool tc_scalar_converts(tc_scalar_value v, tc_dtype dtype);
/* `dtype` is that of the result, `common` what an op with a bool result converts its operands to.
 * false: the op has no value here (it is not elementwise, or C leaves the conversion undefined). */
bool tc_scalar_eval(tc_op op, tc_dtype dtype, tc_dtype common, int n, const tc_scalar_value *in,
                    tc_scalar_value *out);

#endif

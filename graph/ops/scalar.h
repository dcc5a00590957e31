/* scalar.h - the value of an elementwise op on constants, by the formulas that the runtime applies
 * to elements (graph/ops/formulas.def).
 *
 * Floating values are computed in double and rounded to the dtype, integers in int64 and
 * wrapped. */
#ifndef TC_SCALAR_H
#define TC_SCALAR_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One constant: f for floating dtypes, i for integers and bool. */
typedef struct tc_scalar_value {
  tc_dtype dtype;
  double f;
  int64_t i;
} tc_scalar_value;

tc_scalar_value tc_scalar_convert(tc_scalar_value v, tc_dtype dtype);
/* `dtype` is that of the result, `common` what an op with a bool result converts its operands to.
 * false: the op has no value here (it is not elementwise). */
bool tc_scalar_eval(tc_op op, tc_dtype dtype, tc_dtype common, int n, const tc_scalar_value *in,
                    tc_scalar_value *out);

/* ---- C scalars beside tensors -----------------------------------------------------------------
 *
 * The number of an *_s form takes the dtype of its tensor.  What an integer dtype does not hold of
 * it is up to the op: */
typedef enum tc_scalar_use {
  TC_SCALAR_VALUE,    /* an operand like the others: truncated; an error where that is outside */
  TC_SCALAR_BOUND,    /* minimum, maximum, clamp: truncated, or the nearest end of the dtype */
  TC_SCALAR_COMPARED, /* compared as the number that it is */
  TC_SCALAR_REAL      /* the op computes floating numbers, also of integers: it stays one */
} tc_scalar_use;
tc_scalar_use tc_scalar_use_of(tc_op op);
/* The operand that stands for the number v of *op beside a tensor of dtype `like`.  A comparison
 * may become another one, which means the same of every x.  false: v does not fit; `why`, of
 * TC_SCALAR_TEXT bytes, says so. */
enum { TC_SCALAR_TEXT = 128 };
bool tc_scalar_fit(tc_op *op, tc_dtype like, double v, tc_scalar_value *out, char *why);
/* Is an integer a value of a dtype that an op computes in?  As above. */
bool tc_scalar_int_fits(int64_t v, tc_dtype dtype, char *why);

#ifdef __cplusplus
}
#endif
#endif

/* autocast.h - operands of ops inside of TC_AUTOCAST: which are converted, and to what.
 *
 * A scope has a dtype, f16 or bf16.  Eager calls and capture ask here in front of each op of the
 * API, so that bodies and kernels convert the same operands; ops that passes, decompositions and
 * derivatives make are not asked for.  The column `cast` of graph/ops/ops.def has the decision for
 * each op.
 *
 * The lists are PyTorch's for CUDA (aten/src/ATen/autocast_mode.h), on every device, and what they
 * have no word for: see docs/autocast.md. */
#ifndef TC_GRAPH_AUTOCAST_H
#define TC_GRAPH_AUTOCAST_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TC_NO_AUTOCAST_DTYPE TC_DTYPE_COUNT /* outside of all scopes */

/* Can a scope have this dtype? */
static inline bool tc_autocast_is_dtype(tc_dtype d) { return d == TC_F16 || d == TC_BF16; }

/* The dtype that operand i of `nin` is converted to in a scope of dtype `scope`: its own where it
 * stays as it is.  f64, integers, bool and C scalars always do; products with such operands as
 * well. */
tc_dtype tc_autocast_operand(tc_op op, tc_dtype scope, int nin, const tc_type *const *in, int i);

/* Scopes as a set: bit d for that of dtype d, bit TC_NO_AUTOCAST_DTYPE for none. */
#define TC_AUTOCAST_ANY (1u << TC_F16 | 1u << TC_BF16 | 1u << TC_NO_AUTOCAST_DTYPE)

/* Those in which the operands become what they become in `scope`. */
uint32_t tc_autocast_alike(tc_op op, tc_dtype scope, int nin, const tc_type *const *in);

#ifdef __cplusplus
}
#endif

#endif

/* The decomposition column of the op table.  Apart from graph/ops/ops.c, so that a program that
 * only infers types (the runtime) does not link the decompositions. */
#include "graph/decomp/rules.h"

#include <stddef.h>

#define tc_0 NULL /* primitives */
static tc_decomp_fn *const rule[OP_COUNT] = {
#define TC_OP(id, text, lo, hi, cls, cast, attrs, infer, decomp, ...) [OP_##id] = tc_##decomp,
#include "graph/ops/ops.def"
};

tc_decomp_fn *tc_op_decomp(tc_op op) { return op > OP_NONE && op < OP_COUNT ? rule[op] : NULL; }

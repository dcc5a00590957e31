/* decomp_table.c - which rule decomposes an op: the decomp column of the op table. */
#include "graph/decomp_rules.h"

static tc_decomp_fn *const decomps[OP_COUNT] = {
#define TC_OP(id, text, lo, hi, cls, attrs, infer, decomp, ...) [OP_##id] = decomp,
#include "graph/ops.def"
};

tc_decomp_fn *tc_op_decomp(tc_op op) { return (unsigned)op < OP_COUNT ? decomps[op] : NULL; }

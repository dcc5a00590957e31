/* rules.h - the functions of the decomp column of the op table, with tc_ in front. */
#ifndef TC_DECOMP_RULES_H
#define TC_DECOMP_RULES_H

#include "graph/graph.h"

#define TC_OP(id, text, lo, hi, cls, cast, attrs, infer, decomp, ...) tc_decomp_fn tc_##decomp;
#include "graph/ops/ops.def"

#endif

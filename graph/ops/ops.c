/* The op table, as far as inference needs it: everything but decompositions and eager functions. */
#include "graph/infer/infer_impl.h"

#include <string.h>

static const tc_op_info table[OP_COUNT] = {
#define TC_OP(id, text, lo, hi, cls, attrs, infer, decomp, eager, expr)                            \
  [OP_##id] = {#id, text, lo, hi, TC_CLASS_##cls, attrs, infer, expr},
#include "graph/ops/ops.def"
};

const tc_op_info *tc_op_get(tc_op op) { return op > OP_NONE && op < OP_COUNT ? &table[op] : NULL; }

tc_op tc_op_find(const char *text) {
  for (int op = OP_NONE + 1; op < OP_COUNT; op++)
    if (!strcmp(table[op].text, text)) return (tc_op)op;
  return OP_NONE;
}

uint32_t tc_op_optional(tc_op op) {
  switch (op) {
  case OP_LINEAR:
    return 1u << 2; /* bias */
  case OP_LAYER_NORM:
    return 1u << 1 | 1u << 2; /* weight, bias */
  case OP_RMS_NORM:
    return 1u << 1; /* weight */
  case OP_BATCH_NORM:
    return 1u << 3 | 1u << 4; /* weight, bias */
  default:
    return 0;
  }
}

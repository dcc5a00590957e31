/* The op table, as far as inference needs it: everything but decompositions and eager functions. */
#include "graph/infer/infer_impl.h"

#include <string.h>

#define IN(i) (1 << (i))

static const tc_op_info table[OP_COUNT] = {
#define TC_OP(id_, text_, lo, hi, cls_, cast_, attrs_, infer_, decomp, eager, ...)                 \
  [OP_##id_] = {.id = #id_,                                                                        \
                .text = text_,                                                                     \
                .min_in = lo,                                                                      \
                .max_in = hi,                                                                      \
                .cls = TC_CLASS_##cls_,                                                            \
                .autocast = TC_AUTOCAST_##cast_,                                                   \
                .attrs = attrs_,                                                                   \
                .infer = infer_,                                                                   \
                .expr = __VA_ARGS__},
#include "graph/ops/ops.def"
};

const tc_op_info *tc_op_get(tc_op op) { return op > OP_NONE && op < OP_COUNT ? &table[op] : NULL; }

tc_op tc_op_find(const char *text) {
  for (int op = OP_NONE + 1; op < OP_COUNT; op++)
    if (!strcmp(table[op].text, text)) return (tc_op)op;
  return OP_NONE;
}

bool tc_op_is_pointwise(tc_op op) { return table[op].cls == TC_CLASS_EW && !table[op].positional; }

/* reductions.c - the table of reductions. */
#include "graph/reduction.h"

#define KEEP(type_, identity_, lift_, ...)                                                                             \
  {.type = TC_ACCUMULATES_##type_, .identity = TC_IDENTITY_##identity_, .lift = lift_, .combine = __VA_ARGS__}

static const tc_reducer_info table[TC_REDUCE_COUNT] = {
#define TC_REDUCER(id, text_, result_, ...)                                                                            \
  [TC_REDUCE_##id] = {.text = text_,                                                                                   \
                      .result = result_,                                                                               \
                      .keep = {__VA_ARGS__},                                                                           \
                      .n = sizeof((tc_accumulator[]){__VA_ARGS__}) / sizeof(tc_accumulator)},
#include "graph/ops/reductions.def"
};

const tc_reducer_info *tc_reducer_get(tc_reducer r) { return &table[r]; }

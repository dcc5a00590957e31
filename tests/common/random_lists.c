/* random_lists.c - lists of random graphs. */
#include "tests/common/random_graph.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t few = 1u << TC_F32 | 1u << TC_I64 | 1u << TC_BOOL;
static const uint32_t wide =
    1u << TC_F64 | 1u << TC_I64 | 1u << TC_I32 | 1u << TC_U8 | 1u << TC_BOOL;

static random_options setting(tc_op op, int k) {
  const uint32_t dtypes[] = {few, wide, 1u << TC_BF16 | 1u << TC_I32,
                             1u << TC_F16 | 1u << TC_I16 | 1u << TC_I8 | 1u << TC_I64};
  return (random_options){.seed = (uint64_t)op * 100 + (uint64_t)k,
                          .always = op,
                          .symbolic = k & 1,
                          .specials = k % 4 == 3,
                          .dtypes = dtypes[k / 2]};
}

random_options *random_every_op(int settings, int *n) {
  const char *only = getenv("TC_TEST_OP"), *seeds = getenv("TC_TEST_SEEDS");
  const int count = seeds ? atoi(seeds) : only ? 8 : settings;
  random_options *o = calloc(OP_COUNT * 8, sizeof *o);
  *n = 0;
  for (int op = 1; o && op < OP_COUNT; op++)
    for (int k = 0; k < 8; k++) {
      if ((k + op) % 8 >= count) continue;
      if (only && strcmp(only, tc_op_get((tc_op)op)->text)) continue;
      o[(*n)++] = setting((tc_op)op, k);
    }
  return o;
}

random_options *random_many_ops(uint64_t seed, int *n) {
  const char *count = getenv("TC_TEST_GRAPHS");
  if (count) *n = atoi(count);
  random_options *o = calloc((size_t)*n + 1, sizeof *o);
  for (int k = 0; o && k < *n; k++)
    o[k] = (random_options){.seed = seed + (uint64_t)k,
                            .nodes = 4 + k % 30,
                            .symbolic = k & 1,
                            .specials = k % 8 == 7,
                            .dtypes = k % 3 ? wide : few};
  return o;
}

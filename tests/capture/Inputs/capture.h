/* capture.h - what the programs of this folder share: numbers to print, and the counters. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tcompile.h>

static inline void show(const tc_tensor *x) {
  if (!x) {
    printf("NULL\n");
    return;
  }
  printf("[");
  for (int i = 0; i < tc_rank(x); i++) printf("%s%d", i ? "," : "", (int)tc_size(x, i));
  tc_tensor *weighted = tc_mul(tc_flatten(tc_cast(x, TC_F64), 0, -1), tc_arange(tc_numel(x), 1, 0.5, TC_F64));
  printf("] %.3f\n", tc_item(tc_sum(weighted, TC_ALL, false)));
}

static inline int finish(void) {
  printf("%s\n", tc_error() ? tc_error() : "no error");
  tc_stats_print();
  return 0;
}

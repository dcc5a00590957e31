/* statistics.c - see tune.h. */
#include <math.h>
#include <stdlib.h>

#include "tools/tune/tune.h"

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double tune_median(double *value, size_t n) {
  qsort(value, n, sizeof *value, compare);
  return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

double tune_notch(const double *sorted, size_t n) {
  return 1.57 * (sorted[n - 1 - n / 4] - sorted[n / 4]) / sqrt((double)n);
}

bool tune_is_faster(const tune_times *t, double noise) {
  const double least = 0.01; /* what is not worth another schedule */
  return t->ratio + t->noise < 1 - (noise > least ? noise : least);
}

/* rows.c - see rows.h. */
#include "runtime/libtcrt/src/eager/rows.h"

double tc_row_extremum(const tc_rows *x, tc_dtype dtype, int64_t row, tc_extremum which) {
  const bool largest = which != TC_SMALLEST_SIZE, of_size = which != TC_LARGEST;
  double v[TC_BLOCK], best = largest ? -INFINITY : INFINITY;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_as_f(&x->seq, dtype, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) {
      double e = of_size ? fabs(v[i]) : v[i];
      best = largest ? tc_f_max(best, e) : tc_f_min(best, e);
    }
  }
  return best;
}

/* rows.h - what several ops ask about a row, in double.  Sums are inline: the loops take the
 * function in. */
#ifndef TC_EAGER_ROWS_H
#define TC_EAGER_ROWS_H

#include "runtime/libtcrt/src/eager/eager.h"
#include "graph/ops/formulas.h"

/* Sum of f(element, parameter) over a row, which is read as values of dtype. */
static inline double tc_row_sum(const tc_rows *x, tc_dtype dtype, int64_t row,
                                double (*f)(double, double), double parameter) {
  double v[TC_BLOCK], sum = 0;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_as_f(&x->seq, dtype, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) sum += f(v[i], parameter);
  }
  return sum;
}

static inline double tc_exp_distance(double x, double centre) { return exp(x - centre); }

/* Sum of exp(element - centre). */
static inline double tc_row_exp_sum(const tc_rows *x, tc_dtype dtype, int64_t row, double centre) {
  return tc_row_sum(x, dtype, row, tc_exp_distance, centre);
}

/* The largest element, or the largest or smallest magnitude; NaN where the row has one. */
typedef enum tc_extremum { TC_LARGEST, TC_LARGEST_SIZE, TC_SMALLEST_SIZE } tc_extremum;

double tc_row_extremum(const tc_rows *x, tc_dtype dtype, int64_t row, tc_extremum which);

#endif

/* places.h - what the programs here compare, and where operands lie. */
#ifndef TC_TESTS_GPU_PLACES_H
#define TC_TESTS_GPU_PLACES_H

#include <math.h>
#include <tcompile.h>

static int checks, failures;

static bool agree(const tc_tensor *got, const tc_tensor *want) {
  if (!got || !want) return false;
  const tc_tensor *y = tc_cast(tc_to(got, TC_CPU), TC_F64), *x = tc_cast(want, TC_F64);
  const double most = tc_item(tc_max(tc_abs(x), TC_ALL, false));
  const double rtol = tc_dtype_of(want) == TC_BF16 ? 1.6e-2 : 1e-5;
  return tc_max_abs_diff(y, x) <= 1e-5 + rtol * most;
}

/* Where matrices, and batches of them, lie on the GPU: alone, as rows of a larger array (addresses are
 * odd where rows are), or as the inside of one (rows are apart, too). */
typedef enum place { ALONE, BETWEEN, INSIDE, PLACES } place;
static const char *const place_text[PLACES] = {"", ", between rows", ", inside"};

static const tc_tensor *placed(const tc_tensor *x, place where) {
  const int rank = tc_rank(x), last = rank - 1;
  if (where == ALONE || rank < 2 || tc_dtype_of(x) == TC_I64) return tc_to(x, TC_CUDA);
  const int64_t side = where == INSIDE;
  const double around = tc_dtype_of(x) == TC_I8 ? 99 : NAN;
  tc_ints before = {rank, {1}}, after = {rank, {1}};
  before.v[last] = side, after.v[last] = 2 * side;
  const tc_tensor *all = tc_pad(x, before, after, around);
  const tc_tensor *rows = tc_slice(tc_to(all, TC_CUDA), 0, 1, 1 + tc_size(x, 0), 1);
  return tc_slice(rows, last, side, side + tc_size(x, last), 1);
}

#endif

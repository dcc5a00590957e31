#include "layouts.h"

#include <math.h>

const char *const layout_name[LAYOUT_COUNT] = {"row-major", "transposed", "stepped", "flipped",
                                               "broadcast"};

/* The OpenMP runtime keeps memory of its threads to the end. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp\nleak:libgomp\n"; }

static bool floating(tc_dtype d) { return d >= TC_F16; }

double layout_value(tc_dtype dtype, uint64_t seed, int64_t k) {
  uint64_t h = ((uint64_t)k + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1B54A32D192ED03u;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9u;
  h ^= h >> 32;
  if (dtype == TC_BOOL) return (double)(h % 2);
  if (dtype == TC_U8) return (double)(h % 12);
  return floating(dtype) ? ((double)(h % 97) - 48) / 8 : (double)(h % 23) - 11;
}

/* tc_empty has no values: a one-element tensor of the value is copied to each place. */
static void set(tc_tensor *x, tc_ints index, double v) {
  tc_tensor *at = x;
  for (int i = 0; i < index.n; i++) at = tc_select(at, 0, index.v[i]);
  tc_fill_(at, v);
}

tc_ints first_index(const tc_tensor *shape) { return (tc_ints){.n = tc_rank(shape)}; }

bool next_index(tc_ints *index, const tc_tensor *shape) {
  for (int i = index->n - 1; i >= 0; i--) {
    if (++index->v[i] < tc_size(shape, i)) return true;
    index->v[i] = 0;
  }
  return false;
}

static void fill(tc_tensor *x, uint64_t seed) {
  if (tc_numel(x) == 0) return;
  tc_ints index = first_index(x);
  int64_t k = 0;
  do {
    TC_SCOPE { set(x, index, layout_value(tc_dtype_of(x), seed, k++)); }
  } while (next_index(&index, x));
}

/* A view of fresh memory with the sizes and the layout. */
static tc_tensor *blank(tc_dtype dtype, tc_ints dims, layout l) {
  tc_ints sizes = dims, axes = {.n = dims.n};
  for (int i = 0; i < dims.n; i++) {
    axes.v[i] = l == LAYOUT_TRANSPOSED ? dims.n - 1 - i : i;
    sizes.v[i] = l == LAYOUT_TRANSPOSED ? dims.v[dims.n - 1 - i] : dims.v[i];
    if (l == LAYOUT_STEPPED) sizes.v[i] = 2 * dims.v[i] + 1;
  }
  tc_tensor *x = tc_zeros(sizes, dtype);
  if (l == LAYOUT_TRANSPOSED) return tc_permute(x, axes);
  if (l == LAYOUT_FLIPPED) return tc_flip(x, axes);
  for (int i = 0; i < dims.n && l == LAYOUT_STEPPED; i++)
    x = tc_slice(x, i, 1, 2 * dims.v[i] + 1, 2);
  return x;
}

tc_tensor *layout_make(tc_dtype dtype, tc_ints dims, layout l, uint64_t seed) {
  tc_ints stored = dims;
  if (l == LAYOUT_BROADCAST && dims.n > 0) stored.v[0] = 1;
  tc_tensor *x = blank(dtype, stored, l);
  fill(x, seed);
  return l == LAYOUT_BROADCAST ? tc_expand(x, dims) : x;
}

bool rounds_to(tc_dtype dtype, double exact, double got) {
  if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got);
  if (dtype == TC_F32) return (double)(float)exact == got;
  if (dtype == TC_F64) return fabs(exact - got) <= 2e-14 * fabs(exact); /* two formulas */
  if (dtype != TC_F16 && dtype != TC_BF16) return exact == got;
  double unit = ldexp(fabs(exact), dtype == TC_F16 ? -11 : -8),
         least = ldexp(1, dtype == TC_F16 ? -25 : -134);
  return exact == got || fabs(exact - got) <= fmax(unit, least);
}

#include "tests/common/allowance.h"

#include <math.h>

allowance allowance_of(tc_dtype coarsest) {
  switch (coarsest) {
  case TC_BF16:
    return (allowance){3.2e-2, 8e-3, 4e-3, 8, true};
  case TC_F16:
    return (allowance){4e-3, 1e-3, 5e-4, 8, true};
  case TC_F32:
    return (allowance){4e-6, 4e-6, 6e-8, 100, false};
  default:
    return (allowance){1e-9, 1e-9, 1e-12, 1e4, false};
  }
}

int64_t allowance_mismatch(const interp_array *want, const interp_array *near,
                           const interp_array *got, allowance t) {
  if (want->dtype != got->dtype || want->rank != got->rank || want->count != got->count) return 0;
  for (int64_t k = 0; k < want->count; k++) {
    const double a = interp_get(want, k), b = interp_get(got, k), c = interp_get(near, k);
    if (a == b || (isnan(a) && isnan(b))) continue;
    if (isnan(a) != isnan(c) || isinf(a) != isinf(c) || fabs(a) > (t.round ? 1e30 : 1e200))
      continue;
    if (t.rtol > 1e-8 && fabs(a) > 1e30)
      continue; /* intermediate values may leave the range of f32 */
    if (!(fabs(a - b) <= t.atol + t.rtol * fabs(a) + t.gain * fabs(a - c))) return k;
  }
  return -1;
}

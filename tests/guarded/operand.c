#include "operand.h"

#include <stdlib.h>
#include <string.h>

#include "pages.h"

bool guarded_wanted(void) {
  static int known;
  if (!known) known = getenv("TC_GUARDED") ? 2 : 1;
  return known == 2;
}

/* An empty tensor lies where nothing may be touched. */
tc_tensor *guarded_operand(tc_tensor *x, bool writable) {
  uintptr_t lo = 0, hi = 0;
  if (!x || tc_device_of(x) != TC_CPU) return x;
  const char *data = tc_cdata(x);
  const bool any = tcrt_extent(x, &lo, &hi);
  const size_t size = tc_dtype_size(tc_dtype_of(x)), bytes = any ? hi - lo + 1 : 0;
  char *block = guarded_new(bytes, size);
  if (!block) return NULL;
  if (any) memcpy(block, (const char *)lo, bytes);
  if (!writable) guarded_seal(block);
  tc_ints dims = {tc_rank(x), {0}};
  int64_t strides[TC_MAX_RANK];
  for (int i = 0; i < dims.n; i++) dims.v[i] = tc_size(x, i), strides[i] = tc_stride(x, i);
  return tc_wrap(dims, strides, any ? block + ((uintptr_t)data - lo) : block, tc_dtype_of(x),
                 guarded_free, block);
}

/* sort.h - the decision about a sort: the room that its numbers have in shared memory. */
#ifndef TC_CUDA_SORT_H
#define TC_CUDA_SORT_H

#include "backends/cuda/schedule/schedule.h"

/* Of a number, which is a key and a place. */
static inline int tc_cuda_sort_number_bytes(const tc_sort_loop *s) {
  return tc_dtype_bytes(s->dtype) == 8 ? 16 : 8;
}

/* The most numbers that a block has room for: a power of 2. */
static inline int64_t tc_cuda_sort_most(const tc_sort_loop *s) {
  enum { BYTES = 128 << 10 }; /* without an eighth of them between banks */
  return BYTES / tc_cuda_sort_number_bytes(s);
}

#endif

/* strided.h - copies between two layouts: what the ways of doing it share. */
#ifndef TC_CUDA_STRIDED_H
#define TC_CUDA_STRIDED_H

#include "graph/graph.h"
#include "runtime/libtcrt/src/cuda/device.h"

enum { TC_CUDA_AXES = TC_MAX_RANK };

/* Both layouts over one shape, innermost axis first, sizes of 1 gone, merged where both step
 * alike. */
typedef struct tc_cuda_layout {
  int rank;
  int64_t dim[TC_CUDA_AXES], to[TC_CUDA_AXES], from[TC_CUDA_AXES]; /* steps in elements */
} tc_cuda_layout;

/* transpose.c.  false: not for this layout; *result is untouched. */
bool tc_cuda_transpose(const tcrt_cuda_call *c, const tc_cuda_layout *l, uint64_t to, uint64_t from,
                  size_t size, cu_result *result);

#endif

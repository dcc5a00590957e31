/* unpack.h - images are stored compressed; see tcrt_cuda_blob. */
#ifndef TC_CUDA_UNPACK_H
#define TC_CUDA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the `size` bytes that `packed` bytes in the format of packed.h stand for.  false: they do
 * not stand for exactly that many, or no memory; nothing outside of both ranges is touched. */
bool tcrt_unpack(const void *from, size_t packed, void *to, size_t size);

#endif

/* unpack.h - images are stored compressed; see tcrt_cuda_blob. */
#ifndef TC_CUDA_UNPACK_H
#define TC_CUDA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the `size` bytes that `packed` bytes of .xz stand for, by liblzma, which is opened when it
 * is first needed.  NULL; or why not: they do not stand for exactly that many, no memory, no
 * liblzma. Nothing outside of both ranges is touched. */
const char *tcrt_decompress(const void *from, size_t packed, void *to, size_t size);

#endif

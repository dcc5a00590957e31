/* pack.h - images in the object are packed: device code is two thirds padding and repetition. */
#ifndef TC_CUDA_PACK_H
#define TC_CUDA_PACK_H

#include <stddef.h>

/* In the format of runtime/libtcrt/src/cuda/packed.h.  The result is malloc'ed; NULL: out of memory,
 * or not smaller. */
unsigned char *tc_image_pack(const unsigned char *bytes, size_t size, size_t *packed);

#endif

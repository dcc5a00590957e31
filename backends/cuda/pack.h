/* pack.h - images in the object are packed: device code is two thirds padding and repetition. */
#ifndef TC_CUDA_PACK_H
#define TC_CUDA_PACK_H

#include <stddef.h>

/* As .xz.  The result is malloc'ed and smaller than `size`; NULL: out of memory,
 * or there is no such thing. */
unsigned char *tc_image_pack(const unsigned char *bytes, size_t size, size_t *packed);

#endif

/* pack.h - images in the object are packed: device code is two thirds padding and repetition. */
#ifndef TC_CUDA_PACK_H
#define TC_CUDA_PACK_H

#include <stddef.h>

#include "backends/cache/cache.h"
#include "graph/support/support.h"

/* As .xz.  The result is malloc'ed and smaller than `size`; NULL: out of memory,
 * or there is no such thing. */
unsigned char *tc_image_pack(const unsigned char *bytes, size_t size, size_t *packed);
/* The same, from the cache where that has it. */
unsigned char *tc_image_pack_once(tc_cache *c, const unsigned char *bytes, size_t size,
                                  size_t *packed);

/* ptx.c: appends the text, its zero byte too, with the registers of every function numbered
 * anew. */
void tc_ptx_renumber(const char *text, tc_buf *out);

#endif

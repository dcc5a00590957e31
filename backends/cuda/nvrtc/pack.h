/* pack.h - images in the object are packed: device code is two thirds padding and repetition. */
#ifndef TC_CUDA_PACK_H
#define TC_CUDA_PACK_H

#include <stddef.h>

#include "backends/cache/cache.h"
#include "graph/support/support.h"

/* As .xz.  The result is malloc'ed and smaller than `size`; NULL: out of memory,
 * or there is no such thing. */
unsigned char *tc_image_pack(const unsigned char *bytes, size_t size, size_t *packed);

/* What is to be packed, and what became of it. */
typedef struct tc_pack {
  tc_buf bytes;
  unsigned char *packed; /* NULL: as tc_image_pack's */
  size_t size;           /* of these */
} tc_pack;
/* Packs n of them, `jobs` at once (0: tc_jobs_take's), or takes them from the cache. */
void tc_image_pack_all(tc_cache *c, tc_pack *pack, size_t n, uint32_t jobs);

/* ptx.c: appends the text, its zero byte too, with the registers of every function numbered
 * anew. */
void tc_ptx_renumber(const char *text, tc_buf *out);

#endif

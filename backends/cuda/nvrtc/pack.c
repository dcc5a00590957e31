/* pack.c - .xz by liblzma, with contexts for instructions of 16 bytes, or for text (PTX). */
#include "backends/cuda/nvrtc/pack.h"

#include <lzma.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/jobs.h"

/* Contexts by the position in 16 bytes, in text by the letter in front; a window that holds the
 * whole image, and no more memory. */
static bool options(lzma_options_lzma *o, const unsigned char *bytes, size_t size) {
  if (lzma_lzma_preset(o, 9 | LZMA_PRESET_EXTREME)) return false;
  const bool code = size >= 4 && memcmp(bytes, "\177ELF", 4) == 0;
  o->lc = code ? 0 : 3;
  o->lp = o->pb = code ? 4 : 0;
  if (size < o->dict_size)
    o->dict_size = size > LZMA_DICT_SIZE_MIN ? (uint32_t)size : LZMA_DICT_SIZE_MIN;
  return true;
}

unsigned char *tc_image_pack(const unsigned char *bytes, size_t size, size_t *packed) {
  lzma_options_lzma o;
  if (!options(&o, bytes, size)) return NULL;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &o}, {LZMA_VLI_UNKNOWN, NULL}};
  unsigned char *out = malloc(size + 1);
  *packed = 0;
  const size_t most = size ? size - 1 : 0;
  if (out && lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, bytes, size, out, packed,
                                       most) == LZMA_OK)
    return out;
  free(out); /* LZMA_BUF_ERROR: not smaller */
  return NULL;
}

/* The same, from the cache where that has it. */
static unsigned char *pack_once(tc_cache *c, const unsigned char *bytes, size_t size,
                                size_t *packed) {
  static const char what[] = "xz 1"; /* counts changes of `options` */
  tc_sha256 h;
  tc_sha256_begin(&h);
  tc_sha256_add_field(&h, what, sizeof what);
  tc_sha256_add_field(&h, lzma_version_string(), strlen(lzma_version_string()));
  tc_sha256_add_field(&h, bytes, size);
  const tc_digest key = tc_sha256_end(&h);
  tc_buf kept = {0};
  if (tc_cache_get(c, &key, &kept)) {
    *packed = kept.len;
    return (unsigned char *)kept.text;
  }
  unsigned char *out = tc_image_pack(bytes, size, packed);
  if (out) tc_cache_put(c, &key, out, *packed);
  return out;
}

/* ---- several at once ------------------------------------------------------------------------- */

typedef struct packing {
  tc_cache *cache;
  tc_pack *pack;
  size_t n, next;
} packing;

static void *pack_next(void *all) {
  packing *p = all;
  for (size_t i; (i = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED)) < p->n;) {
    tc_pack *x = &p->pack[i];
    if (!x->bytes.failed && x->bytes.len)
      x->packed =
          pack_once(p->cache, (const unsigned char *)x->bytes.text, x->bytes.len, &x->size);
  }
  return NULL;
}

void tc_image_pack_all(tc_cache *c, tc_pack *pack, size_t n, uint32_t jobs) {
  packing p = {.cache = c, .pack = pack, .n = n};
  pthread_t other[TC_MOST_JOBS];
  uint32_t others = 0;
  tc_jobs held = tc_jobs_take(jobs);
  while (others + 1 < held.n && others + 1 < n && others < TC_MOST_JOBS &&
         pthread_create(&other[others], NULL, pack_next, &p) == 0)
    ++others;
  pack_next(&p);
  while (others) pthread_join(other[--others], NULL);
  tc_jobs_give_back(&held);
}

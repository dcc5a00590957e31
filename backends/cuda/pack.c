/* pack.c - .xz by liblzma, with contexts for instructions of 16 bytes, or for text (PTX). */
#include "backends/cuda/pack.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Contexts by the position in 16 bytes, in text by the letter in front; a window that holds the whole
 * image, and no more memory. */
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

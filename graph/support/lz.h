/* lz.h - text that repeats itself, packed (J. Ziv, A. Lempel, A universal algorithm for sequential
 * data compression, 1977), for what few read and every object carries. */
#ifndef TC_LZ_H
#define TC_LZ_H

#include "graph/support/support.h"

/* Appends n bytes, packed; out->failed: out of memory. */
void tc_lz_pack(const void *bytes, size_t n, tc_buf *out);

/* Appends what n packed bytes were.  false: they are damaged, or come to other than `size` bytes,
 * or out->failed. */
bool tc_lz_unpack(const void *packed, size_t n, size_t size, tc_buf *out);

#endif

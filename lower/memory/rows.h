/* rows.h - accesses of a row-major array by rows.
 *
 * An element of rows of C elements is number q C + r, 0 <= r < C.  Where every address says so, by
 * steps that are multiples of C and others that stay within a row, the same kernels serve an array
 * whose rows lie P >= C elements apart: P stands for C in the former. */
#ifndef TC_LOWER_ROWS_H
#define TC_LOWER_ROWS_H

#include "lower/lowering.h"

typedef struct lo_rows {
  lo *L;
  uint32_t buffer; /* of the program */
  tc_dim width;    /* C */
} lo_rows;

/* Does the kernel name the array? */
bool lo_names(const tc_kernel *k, uint32_t buffer);
/* Is it by rows that k loads its elements and stores them? */
bool lo_is_by_rows(const lo_rows *r, const tc_kernel *k);
/* The rows of the kernel lie `pitch` elements apart.  requires: it is by rows */
void lo_set_pitch(const lo_rows *r, tc_kernel *k, tc_dim pitch);
/* flat_rows.c: does k load its elements, all in order, as if there were no rows?  The same then. */
bool lo_is_flat(const lo_rows *r, const tc_kernel *k);
void lo_skip_gaps(const lo_rows *r, tc_kernel *k, tc_dim pitch);

#endif

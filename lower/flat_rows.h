/* flat_rows.h - elements that are counted through rows which lie apart (memory/flat_rows.c). */
#ifndef TC_LOWER_FLAT_ROWS_H
#define TC_LOWER_FLAT_ROWS_H

#include "lower/loop.h"

/* The elements of a row, where the load's address counts the elements of an array and its one term skips what lies
 * between rows: element e is `stride` elements further for each row in front of it, e / width.  NULL: it is none. */
const tc_expr *tc_flat_row_width(const tc_kernel *k, const tc_expr *load);

#endif

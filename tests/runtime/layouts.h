/* layouts.h - the same values in every kind of memory layout. */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include <tcompile.h>

typedef enum layout {
  LAYOUT_ROW_MAJOR,
  LAYOUT_TRANSPOSED, /* axes stored in the opposite order */
  LAYOUT_STEPPED,    /* every second element of a larger tensor, along every axis */
  LAYOUT_FLIPPED,    /* negative strides along every axis */
  LAYOUT_BROADCAST,  /* stride 0 along the first axis: the values of index 0 there everywhere */
  LAYOUT_COUNT
} layout;

extern const char *const layout_name[LAYOUT_COUNT];

/* Value number k of a sequence: eighths in [-6, 6] for floating dtypes, small integers (not
 * negative for u8), 0 and 1 for bool; exact in every dtype. */
double layout_value(tc_dtype dtype, uint64_t seed, int64_t k);

/* Element number k (row-major) is layout_value(dtype, seed, k); under LAYOUT_BROADCAST k counts
 * without the first axis. */
tc_tensor *layout_make(tc_dtype dtype, tc_ints dims, layout l, uint64_t seed);

/* Steps index to the next in row-major order; false after the last (or if there is none). */
bool next_index(tc_ints *index, const tc_tensor *shape);
tc_ints first_index(const tc_tensor *shape);

/* v rounded to the dtype, or NaN-safe equality within half a unit of its last place. */
bool rounds_to(tc_dtype dtype, double exact, double got);

#endif

/* convert.h - elements of any dtype to and from the two types that eager kernels compute in: double
 * for floating dtypes, int64_t for integers and bool. */
#ifndef TC_CONVERT_H
#define TC_CONVERT_H

#include "runtime/libtcrt/src/internal.h"

/* n elements from src, `stride` elements apart.  Exact, but for i64 to double, which rounds. */
void tc_load_f(double *dst, tc_dtype dtype, const void *src, int64_t stride, int64_t n);
/* Integers and bool; floating elements become i64 as a cast makes them. */
void tc_load_i(int64_t *dst, tc_dtype dtype, const void *src, int64_t stride, int64_t n);

/* Rounds once to nearest even.  Into integers and bool as a cast does (tc_dtype_truncate). */
void tc_store_f(void *dst, tc_dtype dtype, int64_t stride, const double *src, int64_t n);
void tc_store_i(void *dst, tc_dtype dtype, int64_t stride, const int64_t *src, int64_t n);

/* Every v becomes the nearest value of the dtype. */
void tc_round_f(double *v, tc_dtype dtype, int64_t n);
/* Integers to the nearest value of a floating dtype, rounding once. */
void tc_int_to_f(double *dst, tc_dtype dtype, const int64_t *src, int64_t n);

/* Every v becomes what an integer dtype (or bool) would store. */
void tc_wrap_i(int64_t *v, tc_dtype dtype, int64_t n);

/* n elements of `size` bytes, unchanged. */
void tc_copy_elements(void *dst, int64_t dst_stride, const void *src, int64_t src_stride,
                      size_t size, int64_t n);

static inline bool tc_is_float(tc_dtype d) { return d >= TC_F16; }

#endif

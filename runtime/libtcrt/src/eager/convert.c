/* Element conversion: one row per dtype, expanded into the loops below. */
#include "runtime/libtcrt/src/eager/convert.h"

#include <string.h>

#include "graph/ops/formulas.h"
#include "runtime/libtcrt/src/eager/half.h"

/* X(dtype, C type, element to double, element from double) */
#define FLOATS(X)                                                                                  \
  X(TC_F16, uint16_t, tc_f16_to_double, tc_f16_from_double)                                        \
  X(TC_BF16, uint16_t, tc_bf16_to_double, tc_bf16_from_double)                                     \
  X(TC_F32, float, (double), (float))                                                              \
  X(TC_F64, double, (double), (double))

/* X(dtype, C type, element from int64_t, element from double); conversion of integers to a narrower
 * type keeps the low bits */
#define INTS(X)                                                                                    \
  X(TC_BOOL, uint8_t, 0 !=, 0 !=)                                                                  \
  X(TC_U8, uint8_t, (uint8_t), u8_of)                                                              \
  X(TC_I8, int8_t, (int8_t), i8_of)                                                                \
  X(TC_I16, int16_t, (int16_t), i16_of)                                                            \
  X(TC_I32, int32_t, (int32_t), i32_of)                                                            \
  X(TC_I64, int64_t, (int64_t), i64_of)

static uint8_t u8_of(double v) { return (uint8_t)tc_f_to_int(v, 0, UINT8_MAX); }
static int8_t i8_of(double v) { return (int8_t)tc_f_to_int(v, INT8_MIN, INT8_MAX); }
static int16_t i16_of(double v) { return (int16_t)tc_f_to_int(v, INT16_MIN, INT16_MAX); }
static int32_t i32_of(double v) { return (int32_t)tc_f_to_int(v, INT32_MIN, INT32_MAX); }
static int64_t i64_of(double v) { return tc_f_to_int(v, INT64_MIN, INT64_MAX); }

/* Integers past 53 bits keep a sticky lowest bit, so that rounding the double again to a narrower
 * format gives what rounding the integer would. */
static double sticky_double(int64_t v) {
  if (v > -(1ll << 53) && v < 1ll << 53) return (double)v;
  int64_t kept = v & ~(int64_t)0xFFF;
  return (double)(kept | (kept != v ? 0x800 : 0));
}

void tc_load_f(double *dst, tc_dtype dtype, const void *src, int64_t stride, int64_t n) {
  switch (dtype) {
#define FLOAT(D, T, to, from)                                                                      \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) dst[i] = to(((const T *)src)[i * stride]);                     \
    break;
#define INT(D, T, of_int, of_double)                                                               \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) dst[i] = (double)((const T *)src)[i * stride];                 \
    break;
    FLOATS(FLOAT)
    INTS(INT)
#undef FLOAT
#undef INT
  case TC_DTYPE_COUNT:
    break;
  }
}

void tc_load_i(int64_t *dst, tc_dtype dtype, const void *src, int64_t stride, int64_t n) {
  switch (dtype) {
#define FLOAT(D, T, to, from)                                                                      \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) dst[i] = i64_of(to(((const T *)src)[i * stride]));             \
    break;
#define INT(D, T, of_int, of_double)                                                               \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) dst[i] = (int64_t)((const T *)src)[i * stride];                \
    break;
    FLOATS(FLOAT)
    INTS(INT)
#undef FLOAT
#undef INT
  case TC_DTYPE_COUNT:
    break;
  }
}

void tc_store_f(void *dst, tc_dtype dtype, int64_t stride, const double *src, int64_t n) {
  switch (dtype) {
#define FLOAT(D, T, to, from)                                                                      \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) ((T *)dst)[i * stride] = from(src[i]);                         \
    break;
#define INT(D, T, of_int, of_double)                                                               \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) ((T *)dst)[i * stride] = of_double(src[i]);                    \
    break;
    FLOATS(FLOAT)
    INTS(INT)
#undef FLOAT
#undef INT
  case TC_DTYPE_COUNT:
    break;
  }
}

void tc_store_i(void *dst, tc_dtype dtype, int64_t stride, const int64_t *src, int64_t n) {
  switch (dtype) {
#define INT(D, T, of_int, of_double)                                                               \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) ((T *)dst)[i * stride] = of_int(src[i]);                       \
    break;
    INTS(INT)
#undef INT
  case TC_F32:
    for (int64_t i = 0; i < n; i++) ((float *)dst)[i * stride] = (float)src[i];
    break;
  case TC_F64:
    for (int64_t i = 0; i < n; i++) ((double *)dst)[i * stride] = (double)src[i];
    break;
  default: /* f16, bf16 */
    for (int64_t i = 0; i < n; i++) {
      double v = sticky_double(src[i]);
      tc_store_f((uint16_t *)dst + i * stride, dtype, 1, &v, 1);
    }
  }
}

void tc_round_f(double *v, tc_dtype dtype, int64_t n) {
  switch (dtype) {
#define FLOAT(D, T, to, from)                                                                      \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) v[i] = to(from(v[i]));                                         \
    break;
    FLOATS(FLOAT)
#undef FLOAT
  default:
    break;
  }
}

void tc_wrap_i(int64_t *v, tc_dtype dtype, int64_t n) {
  switch (dtype) {
#define INT(D, T, of_int, of_double)                                                               \
  case D:                                                                                          \
    for (int64_t i = 0; i < n; i++) v[i] = (int64_t)(T)(of_int(v[i]));                             \
    break;
    INTS(INT)
#undef INT
  default:
    break;
  }
}

void tc_int_to_f(double *dst, tc_dtype dtype, const int64_t *src, int64_t n) {
  if (dtype == TC_F64)
    for (int64_t i = 0; i < n; i++) dst[i] = (double)src[i];
  else
    for (int64_t i = 0; i < n; i++) dst[i] = sticky_double(src[i]);
  if (dtype != TC_F64) tc_round_f(dst, dtype, n);
}

void tc_copy_elements(void *dst, int64_t dst_stride, const void *src, int64_t src_stride,
                      size_t size, int64_t n) {
  if (dst_stride == 1 && src_stride == 1) {
    if (n > 0) memcpy(dst, src, (size_t)n * size);
    return;
  }
  switch (size) {
#define WORD(bytes, T)                                                                             \
  case bytes:                                                                                      \
    for (int64_t i = 0; i < n; i++) ((T *)dst)[i * dst_stride] = ((const T *)src)[i * src_stride]; \
    break;
    WORD(1, uint8_t)
    WORD(2, uint16_t)
    WORD(4, uint32_t)
    WORD(8, uint64_t)
#undef WORD
  }
}

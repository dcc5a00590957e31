/* half.h - binary16 and bfloat16 to and from double, in integer arithmetic.
 *
 * Widening is exact.  Narrowing rounds once, to nearest even, through subnormals to zero and past
 * the largest value to infinity; every NaN becomes the quiet one.  Independent of the rounding mode
 * and of CPU features, so results are the same everywhere. */
#ifndef TC_HALF_H
#define TC_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t tc_double_bits(double v) {
  uint64_t u;
  memcpy(&u, &v, sizeof u);
  return u;
}

/* A finite |v| (as binary64 bits) in a format with m mantissa bits and the given exponent bias. The
 * caller maps results at or above its infinity to infinity. */
static inline uint32_t tc_narrow_bits(uint64_t magnitude, int m, int bias) {
  int exponent = (int)(magnitude >> 52) - 1023 + bias; /* of the result; below 1: subnormal */
  int drop = exponent < 1 ? 52 - m + 1 - exponent : 52 - m;
  if (drop > 54) return 0; /* below half of the smallest subnormal, or a binary64 subnormal */
  uint64_t mantissa = (magnitude & 0xFFFFFFFFFFFFFu) | 1ull << 52;
  uint64_t kept = mantissa >> drop, rest = mantissa & ((1ull << drop) - 1),
           half = 1ull << (drop - 1);
  kept += rest > half || (rest == half && (kept & 1));
  /* kept has the leading one at bit m, which adds one to the exponent field */
  return (uint32_t)(exponent < 1 ? kept : kept + ((uint64_t)(exponent - 1) << m));
}

/* Where v and the result are normal numbers, or the result is the infinity behind the largest, the
 * fields of v are rounded as one number, whose carry goes into the exponent. */
static inline uint16_t tc_narrow(double v, int m, int bias, uint32_t infinity, uint32_t nan) {
  uint64_t u = tc_double_bits(v), magnitude = u & ~(1ull << 63);
  uint32_t sign = (uint32_t)(u >> 48) & 0x8000u, r = infinity;
  const uint64_t exponent = (magnitude >> 52) + (uint64_t)bias - 1024; /* of the result, less 1 */
  if (exponent < (infinity >> m) - 1) {
    magnitude += (1ull << (51 - m)) - 1 + (magnitude >> (52 - m) & 1);
    return (uint16_t)(sign | (uint32_t)((magnitude >> (52 - m)) - ((uint64_t)(1023 - bias) << m)));
  }
  if (magnitude > 0x7FFull << 52) return (uint16_t)(sign | nan);
  if (magnitude < 0x7FFull << 52) r = tc_narrow_bits(magnitude, m, bias);
  return (uint16_t)(sign | (r < infinity ? r : infinity));
}

static inline uint16_t tc_f16_from_double(double v) { return tc_narrow(v, 10, 15, 0x7C00, 0x7E00); }
static inline uint16_t tc_bf16_from_double(double v) {
  return tc_narrow(v, 7, 127, 0x7F80, 0x7FC0);
}

static inline double tc_bf16_to_double(uint16_t h) {
  uint32_t u = (uint32_t)h << 16;
  float f;
  memcpy(&f, &u, sizeof f);
  return (double)f;
}

/* Normal numbers by moving the fields to binary32, with the exponent rebased by a multiplication
 * that is exact; the fields of subnormals come out right by the same multiplication. */
static inline double tc_f16_to_double(uint16_t h) {
  uint32_t u = (uint32_t)(h & 0x8000) << 16 | (uint32_t)(h & 0x7FFF) << 13;
  float f;
  if ((h & 0x7C00) == 0x7C00) u |= 0x7F800000u;
  memcpy(&f, &u, sizeof f);
  return (h & 0x7C00) == 0x7C00 ? (double)f : (double)f * 0x1p112;
}

#endif

/* binary16 and bfloat16 conversions, all values. */
#include <criterion/criterion.h>
#include <math.h>

#include "runtime/libtcrt/src/eager/half.h"

/* Value of a bit pattern, from the definition of the format. */
static double value_of(unsigned h, int mantissa, int bias) {
  unsigned field = (h & 0x7FFF) >> mantissa, fraction = h & ((1u << mantissa) - 1),
           top = 0x7FFF >> mantissa;
  double sign = h & 0x8000 ? -1 : 1;
  if (field == top) return fraction ? (double)NAN : sign * (double)INFINITY;
  if (field == 0) return sign * ldexp(fraction, 1 - bias - mantissa);
  return sign * ldexp((double)fraction + (1u << mantissa), (int)field - bias - mantissa);
}

static bool same(double a, double b) {
  return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

Test(half, every_value_widens_and_comes_back) {
  for (unsigned h = 0; h < 0x10000; h++) {
    double f = tc_f16_to_double((uint16_t)h), b = tc_bf16_to_double((uint16_t)h);
    cr_assert(same(f, value_of(h, 10, 15)), "f16 %04x", h);
    cr_assert(same(b, value_of(h, 7, 127)), "bf16 %04x", h);
    if (f == f) cr_assert_eq(tc_f16_from_double(f), h);
    else cr_assert_eq(tc_f16_from_double(f) & 0x7FFF, 0x7E00);
    if (b == b) cr_assert_eq(tc_bf16_from_double(b), h);
    else cr_assert_eq(tc_bf16_from_double(b) & 0x7FFF, 0x7FC0);
  }
}

/* Between neighbours: the middle goes to the even one, a hair to either side to the nearer one. */
static void check_rounding(int mantissa, int bias, unsigned infinity, uint16_t (*narrow)(double)) {
  for (unsigned h = 0; h < infinity; h++) {
    double low = value_of(h, mantissa, bias);
    double high = h + 1 == infinity ? ldexp(1, bias + 1) : value_of(h + 1, mantissa, bias);
    double middle = low + (high - low) / 2;
    cr_assert_eq(narrow(middle), h + (h & 1), "middle above %04x", h);
    cr_assert_eq(narrow(nextafter(middle, 0)), h);
    cr_assert_eq(narrow(nextafter(middle, (double)INFINITY)), h + 1);
    cr_assert_eq(narrow(-middle), 0x8000 + h + (h & 1));
  }
}

Test(half, rounds_to_nearest_even) {
  check_rounding(10, 15, 0x7C00, tc_f16_from_double);
  check_rounding(7, 127, 0x7F80, tc_bf16_from_double);
}

Test(half, extremes) {
  cr_expect_eq(tc_f16_from_double(1e300), 0x7C00);
  cr_expect_eq(tc_bf16_from_double(-1e300), 0xFF80);
  cr_expect_eq(tc_f16_from_double(5e-324), 0);
  cr_expect_eq(tc_bf16_from_double(-5e-324), 0x8000);
}

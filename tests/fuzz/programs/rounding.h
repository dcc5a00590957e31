/* rounding.h - how much a body magnifies rounding errors: each result of its ops, and not just its
 * operands, is changed by about one rounding (Monte Carlo arithmetic, Stott Parker 1997). */
#ifndef TC_FUZZ_ROUNDING_H
#define TC_FUZZ_ROUNDING_H

#include <tcompile.h>

/* From now on the floating results of ops that round are changed, in a way that seed chooses; 0:
 * they stay as they are. */
void fuzz_change_roundings(uint64_t seed);

/* From now on what ops make of a floating dtype that they are told is f64, random numbers the same: nothing
 * overflows in 16 bits. */
void fuzz_widen(bool on);
tc_dtype fuzz_dtype(tc_dtype d);
tc_tensor *fuzz_widened(tc_tensor *x);

/* What an op has to return whose result is x, made of numbers of the size of `least` at least; x is
 * changed in its memory. */
tc_tensor *fuzz_rounded(tc_tensor *x, double least);

/* Likewise of y, a layer norm of x: each row, as if its mean were off by one rounding of the row's
 * largest element.  No change of x does that: the row of a norm sums to 0. */
tc_tensor *fuzz_mean_rounded(tc_tensor *y, const tc_tensor *x, int naxes, const tc_tensor *weight,
                             double eps);

/* Likewise of y = x f(x), where f is a difference that may cancel (GELU far below 0): each element is
 * off by a rounding of x. */
tc_tensor *fuzz_factor_rounded(tc_tensor *y, const tc_tensor *x);

/* A copy of x for that, where y goes into the memory of x; NULL where nothing is changed. */
tc_tensor *fuzz_before(const tc_tensor *x);

/* Where gradients of x are recorded, a tensor of the same numbers whose gradient is changed by about one rounding on
 * its way to x: what derivatives compute cannot be changed by itself. */
tc_tensor *fuzz_cotangent_rounded(tc_tensor *x);

/* y is the standard deviation of x (squared: the variance) along these axes: what is no more than a rounding of the
 * mean may be anything less. */
tc_tensor *fuzz_deviation_rounded(tc_tensor *y, const tc_tensor *x, tc_ints axes, bool squared);

/* y is the product of x along these axes (scan: products of all that lies in front): where it is by the order of
 * factors whether it leaves the range on the way, at either end, it may be anything. */
tc_tensor *fuzz_product_rounded(tc_tensor *y, const tc_tensor *x, tc_ints axes, bool scan);

/* x, or a tensor like it each element of which is changed by about one rounding; rows along these axes that differ by
 * no more may become equal, and as large as makes their mean be rounded in another way. */
const tc_tensor *fuzz_near(const tc_tensor *x, tc_ints axes);

#endif

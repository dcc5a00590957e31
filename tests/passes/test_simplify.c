/* Simplification: each rule, and what it must leave alone. */
#include "tests/passes/pass_test.h"

#define X "graph g\n%1 = param f32[B,4] \"x\"\n"
#define I "graph g\n%1 = param i32[B,4] \"x\"\n"
#define RULE(name, title, before, after)                                                           \
  T_PASS(simplify, name, title, tc_pass_simplify, before, after)
#define KEPT(name, title, text) RULE(name, title, text, text)

RULE(add_minus_zero, "x + -0 is x", X "%2 = const f32 -0.0\n%3 = add %1 %2\nret %3\n", X "ret %1\n")
KEPT(add_zero, "x + 0 turns -0 into 0", X "%2 = const f32 0.0\n%3 = add %1 %2\nret %3\n")
RULE(sub_zero, "x - 0 is x", X "%2 = const f32 0.0\n%3 = sub %1 %2\nret %3\n", X "ret %1\n")
KEPT(sub_self, "x - x is NaN for infinite x", X "%2 = sub %1 %1\nret %2\n")
RULE(add_zero_int, "integers: x + 0 is x", I "%2 = const i32 0\n%3 = add %1 %2\nret %3\n",
     I "ret %1\n")
RULE(add_neg, "x + -y is x - y",
     X "%2 = param f32[B,4] \"y\"\n%3 = neg %2\n%4 = add %1 %3\nret %4\n",
     X "%2 = param f32[B,4] \"y\"\n%3 = neg %2\n%4 = sub %1 %2\nret %4\n")
RULE(mul_one, "x * 1 is x", X "%2 = const f32 1.0\n%3 = mul %2 %1\nret %3\n", X "ret %1\n")
KEPT(mul_zero, "x * 0 is NaN for infinite x", X "%2 = const f32 0.0\n%3 = mul %1 %2\nret %3\n")
RULE(mul_zero_int, "integers: x * 0 is 0", I "%2 = const i32 0\n%3 = mul %1 %2\nret %3\n",
     I "%2 = const i32 0\n%3 = full %2 dims=[B,4] dtype=i32\nret %3\n")
RULE(mul_self, "x * x is a square", X "%2 = mul %1 %1\nret %2\n", X "%2 = square %1\nret %2\n")
RULE(neg_neg, "--x is x", X "%2 = neg %1\n%3 = neg %2\nret %3\n", X "%2 = neg %1\nret %1\n")
KEPT(abs_neg_unsigned, "|-x| of unsigned numbers",
     "graph g\n%1 = param u8[4] \"x\"\n%2 = neg %1\n%3 = abs %2\nret %3\n")
RULE(abs_neg, "|-x| is |x|", X "%2 = neg %1\n%3 = abs %2\nret %3\n",
     X "%2 = neg %1\n%3 = abs %1\nret %3\n")
RULE(div_power_of_two, "x / 8 is x * 0.125, exactly",
     X "%2 = const f32 8.0\n%3 = div %1 %2\nret %3\n",
     X "%2 = const f32 8.0\n%3 = const f32 0.125\n%4 = mul %1 %3\nret %4\n")
KEPT(div_by_three, "1/3 is not exact", X "%2 = const f32 3.0\n%3 = div %1 %2\nret %3\n")
RULE(one_over_sqrt, "1 / sqrt(x) is rsqrt",
     X "%2 = sqrt %1\n%3 = const f32 1.0\n%4 = div %3 %2\nret %4\n",
     X "%2 = sqrt %1\n%3 = const f32 1.0\n%4 = rsqrt %1\nret %4\n")
RULE(pow_two, "x^2", X "%2 = const f32 2.0\n%3 = pow %1 %2\nret %3\n",
     X "%2 = const f32 2.0\n%3 = square %1\nret %3\n")
RULE(pow_three, "x^3", X "%2 = const f32 3.0\n%3 = pow %1 %2\nret %3\n",
     X "%2 = const f32 3.0\n%3 = square %1\n%4 = mul %3 %1\nret %4\n")
RULE(pow_zero, "x^0 is 1, also for NaN", X "%2 = const f32 0.0\n%3 = pow %1 %2\nret %3\n",
     X "%2 = const f32 0.0\n%3 = const f32 1.0\n%4 = full %3 dims=[B,4] dtype=f32\nret %4\n")
RULE(pow_half, "x^0.5 is a root but for -0 and -inf",
     X "%2 = const f32 0.5\n%3 = pow %1 %2\nret %3\n",
     X "%2 = const f32 0.5\n%3 = const f32 -inf\n%4 = full %3 dims=[B,4] dtype=f32\n"
       "%5 = eq %1 %4\n%6 = const f32 inf\n%7 = full %6 dims=[B,4] dtype=f32\n"
       "%8 = where %5 %7 %1\n%9 = sqrt %8\n%10 = abs %9\nret %10\n")
KEPT(pow_half_bf16, "bf16 would round the root",
     "graph g\n%1 = param bf16[B,4] \"x\"\n%2 = const bf16 1.5\n%3 = pow %1 %2\nret %3\n")
RULE(maximum_twice, "max(max(x, c), c)",
     X "%2 = const f32 0.0\n%3 = maximum %1 %2\n%4 = maximum %3 %2\nret %4\n",
     X "%2 = const f32 0.0\n%3 = maximum %1 %2\nret %3\n")
RULE(cast_same, "cast to what it is", X "%2 = cast %1 dtype=f32\nret %2\n", X "ret %1\n")
RULE(cast_wider_and_back, "f32 through f64",
     X "%2 = cast %1 dtype=f64\n%3 = cast %2 dtype=f32\nret %3\n",
     X "%2 = cast %1 dtype=f64\nret %1\n")
KEPT(cast_narrower, "f32 through bf16 rounds",
     X "%2 = cast %1 dtype=bf16\n%3 = cast %2 dtype=f32\nret %3\n")
KEPT(cast_wrap, "i32 through f64 to u8 does not wrap",
     I "%2 = cast %1 dtype=f64\n%3 = cast %2 dtype=u8\nret %3\n")
RULE(cast_int, "i32 through i64 to u8 wraps the same",
     I "%2 = cast %1 dtype=i64\n%3 = cast %2 dtype=u8\nret %3\n",
     I "%2 = cast %1 dtype=i64\n%3 = cast %1 dtype=u8\nret %3\n")
RULE(where_same, "both branches equal",
     X "%2 = param bool[B,4] \"c\"\n%3 = where %2 %1 %1\nret %3\n",
     X "%2 = param bool[B,4] \"c\"\nret %1\n")
RULE(where_not, "where(not c, a, b)",
     X "%2 = param bool[B,4] \"c\"\n%3 = const f32 0.0\n%4 = logical_not %2\n%5 = where %4 %1 "
       "%3\nret %5\n",
     X "%2 = param bool[B,4] \"c\"\n%3 = const f32 0.0\n%4 = logical_not %2\n%5 = where %2 %3 "
       "%1\nret %5\n")
RULE(isnan_int, "an integer is not NaN", I "%2 = isnan %1\nret %2\n",
     I "%2 = const bool 0\n%3 = full %2 dims=[B,4] dtype=bool\nret %3\n")
KEPT(equal_self, "x == x is false for NaN", X "%2 = eq %1 %1\nret %2\n")
RULE(max_of_one, "the maximum of one element",
     "graph g\n%1 = param f32[B,1] \"x\"\n%2 = max %1 axes=[1] keep=0\nret %2\n",
     "graph g\n%1 = param f32[B,1] \"x\"\n%2 = reshape %1 dims=[B]\nret %2\n")
RULE(concat_one, "one piece", X "%2 = concat %1 axis=0\nret %2\n", X "ret %1\n")
#define PUT_TWICE                                                                                  \
  X "%2 = param f32[1,4] \"a\"\n%3 = param f32[1,4] \"b\"\n"                                       \
    "%4 = put %1 %2 first=[0,0] step=[1,1]\n%5 = put %4 %3 first=[2,0] step=[1,1]\n"
RULE(windows_of_one, "windows of one element are every third element",
     "%1 = param f32[B,7] \"x\"\n%2 = unfold %1 axis=1 size=1 step=3\nret %2\n",
     "%1 = param f32[B,7] \"x\"\n%2 = slice %1 axis=1 start=0 stop=7 step=3\n%3 = reshape %2 dims=[B,3,1]\nret %3\n")
RULE(one_window, "one window of all is the axis as the last one",
     "%1 = param f32[B,7,2] \"x\"\n%2 = unfold %1 axis=0 size=B step=3\nret %2\n",
     "%1 = param f32[B,7,2] \"x\"\n%2 = permute %1 axes=[1,2,0]\n%3 = reshape %2 dims=[1,7,2,B]\nret %3\n")
KEPT(windows, "windows", "%1 = param f32[B,7] \"x\"\n%2 = unfold %1 axis=1 size=2 step=1\nret %2\n")
RULE(slice_of_put, "a slice of what was put before something else",
     PUT_TWICE "%6 = slice %5 axis=0 start=0 stop=1 step=1\nret %6\n", PUT_TWICE "ret %2\n")
KEPT(slice_beside_put, "a slice of more than one part",
     PUT_TWICE "%6 = slice %5 axis=0 start=1 stop=3 step=1\nret %6\n")
KEPT(slice_of_overwritten, "a slice of what was written over in part",
     X "%2 = param f32[2,4] \"a\"\n%3 = param f32[2,4] \"b\"\n"
       "%4 = put %1 %2 first=[0,0] step=[1,1]\n%5 = put %4 %3 first=[1,0] step=[1,1]\n"
       "%6 = slice %5 axis=0 start=0 stop=2 step=1\nret %6\n")
RULE(pad_nothing, "no padding",
     X "%2 = const f32 0.0\n%3 = pad %1 %2 before=[0,0] after=[0,0]\nret %3\n",
     X "%2 = const f32 0.0\nret %1\n")
RULE(pad_nothing_of_an_assumed_size, "no padding, where the operand's sizes are known by what is assumed",
     "graph g\n%1 = param f32[B,C] \"x\"\nassume C = 4\n%2 = const f32 0.0\n%3 = pad %1 %2 before=[0,0] after=[0,0]\nret %3\n",
     "graph g\n%1 = param f32[B,C] \"x\"\nassume C = 4\n%2 = const f32 0.0\nret %1\n")
RULE(tril_all, "a triangle that covers everything",
     "graph g\n%1 = param f32[3,4] \"x\"\n%2 = tril %1 k=3\nret %2\n",
     "graph g\n%1 = param f32[3,4] \"x\"\nret %1\n")

/* Constant folding. */
#include "tests/passes/pass_test.h"

#define X "graph g\n%1 = param f32[B,4] \"x\"\n"
#define RULE(name, title, before, after) T_PASS(fold, name, title, tc_pass_fold, before, after)

RULE(sum, "2 + 3",
     X "%2 = const f32 2.0\n%3 = const f32 3.0\n%4 = add %2 %3\n%5 = mul %1 %4\nret %5\n",
     X "%2 = const f32 2.0\n%3 = const f32 3.0\n%4 = const f32 5.0\n%5 = mul %1 %4\nret %5\n")
RULE(rounding, "1/3 in f32",
     X "%2 = const f32 1.0\n%3 = const f32 3.0\n%4 = div %2 %3\n%5 = mul %1 %4\nret %5\n",
     X "%2 = const f32 1.0\n%3 = const f32 3.0\n%4 = const f32 0.3333333432674408\n%5 = mul %1 "
       "%4\nret %5\n")
RULE(wrap, "u8 arithmetic wraps",
     "graph g\n%1 = const u8 200\n%2 = const u8 100\n%3 = add %1 %2\nret %3\n",
     "graph g\n%1 = const u8 200\n%2 = const u8 100\n%3 = const u8 44\nret %3\n")
RULE(divide_by_zero, "integer division by zero is 0",
     "graph g\n%1 = const i32 7\n%2 = const i32 0\n%3 = floor_div %1 %2\nret %3\n",
     "graph g\n%1 = const i32 7\n%2 = const i32 0\nret %2\n")
RULE(floor_division, "rounds down",
     "graph g\n%1 = const i32 -7\n%2 = const i32 2\n%3 = floor_div %1 %2\nret %3\n",
     "graph g\n%1 = const i32 -7\n%2 = const i32 2\n%3 = const i32 -4\nret %3\n")
RULE(exact_quotient, "1 // 0.1 is 9: f32 0.1 is more than a tenth, though 1/0.1 rounds to 10",
     "graph g\n%1 = const f32 1.0\n%2 = const f32 0.10000000149011612\n%3 = floor_div %1 %2\n"
     "ret %3\n",
     "graph g\n%1 = const f32 1.0\n%2 = const f32 0.10000000149011612\n%3 = const f32 9.0\n"
     "ret %3\n")
RULE(cast_of_nan, "NaN as an integer is 0",
     "graph g\n%1 = const f32 NAN\n%2 = cast %1 dtype=i32\nret %2\n",
     "graph g\n%1 = const f32 NAN\n%2 = const i32 0\nret %2\n")
RULE(cast_to_truth, "NaN is true", "graph g\n%1 = const f32 NAN\n%2 = cast %1 dtype=bool\nret %2\n",
     "graph g\n%1 = const f32 NAN\n%2 = const bool 1\nret %2\n")
RULE(cast_too_large, "a cast saturates in the dtype that it is to",
     "graph g\n%1 = const f32 3e9\n%2 = cast %1 dtype=i32\nret %2\n",
     "graph g\n%1 = const f32 3e9\n%2 = const i32 2147483647\nret %2\n")
RULE(cast_to_narrow, "also in a narrow one",
     "graph g\n%1 = const f64 -300.5\n%2 = cast %1 dtype=i8\nret %2\n",
     "graph g\n%1 = const f64 -300.5\n%2 = const i8 -128\nret %2\n")
RULE(cast_of_infinity, "infinity is the greatest i64",
     "graph g\n%1 = const f64 INFINITY\n%2 = cast %1 dtype=i64\nret %2\n",
     "graph g\n%1 = const f64 INFINITY\n%2 = const i64 9223372036854775807\nret %2\n")
RULE(full, "of full arrays",
     "graph g\n%1 = const f32 2.0\n%2 = full %1 dims=[3] dtype=f32\n%3 = exp2 %2\nret %3\n",
     "graph g\n%1 = const f32 2.0\n%2 = full %1 dims=[3] dtype=f32\n%3 = const f32 4.0\n"
     "%4 = full %3 dims=[3] dtype=f32\nret %4\n")
RULE(full_as_scalar, "a full array against one of its shape",
     X "%2 = const f32 2.0\n%3 = full %2 dims=[B,4] dtype=f32\n%4 = add %1 %3\nret %4\n",
     X "%2 = const f32 2.0\n%3 = full %2 dims=[B,4] dtype=f32\n%4 = add %1 %2\nret %4\n")
RULE(full_that_widens, "an f64 array widens, a scalar would not",
     X "%2 = const f64 2.0\n%3 = full %2 dims=[B,4] dtype=f64\n%4 = add %1 %3\nret %4\n",
     X "%2 = const f64 2.0\n%3 = full %2 dims=[B,4] dtype=f64\n%4 = add %1 %3\nret %4\n")
RULE(full_that_broadcasts, "the only operand with the shape stays",
     "graph g\n%1 = param f32[4] \"x\"\n%2 = const f32 2.0\n%3 = full %2 dims=[3,4] dtype=f32\n%4 "
     "= add %1 %3\nret %4\n",
     "graph g\n%1 = param f32[4] \"x\"\n%2 = const f32 2.0\n%3 = full %2 dims=[3,4] dtype=f32\n%4 "
     "= add %1 %3\nret %4\n")
RULE(view_of_full, "a view of equal elements",
     "graph g\n%1 = const f32 2.0\n%2 = full %1 dims=[3,4] dtype=f32\n%3 = permute %2 "
     "axes=[1,0]\nret %3\n",
     "graph g\n%1 = const f32 2.0\n%2 = full %1 dims=[3,4] dtype=f32\n%3 = full %1 dims=[4,3] "
     "dtype=f32\nret %3\n")

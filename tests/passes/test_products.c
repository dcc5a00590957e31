/* test_products.c - sums of a product's rows: the identity, its factors, and where it does not hold. */
#include "pass_test.h"

#define RULE(name, title, before, after) T_PASS(products, name, title, tc_pass_products, before, after)
#define KEPT(name, title, text) T_PASS(products, name, title, tc_pass_products, text, text)

/* P[B,T,S] V[B,S,D], and dP = dO V' */
#define BOTH(dtype)                                                                                                    \
  "graph g\n%1 = param " dtype "[B,T,S] \"p\"\n%2 = param " dtype "[B,S,D] \"v\"\n%3 = param " dtype                   \
  "[B,T,D] \"g\"\n%4 = matmul %1 %2\n%5 = permute %2 axes=[0,2,1]\n%6 = matmul %3 %5\n"

RULE(plain, "the sum of weights times their cotangents is over channels", BOTH("f32")
     "%7 = mul %6 %1\n%8 = sum %7 axes=[2] keep=1\n%9 = sub %6 %8\nret %4 %9\n",
     BOTH("f32") "%7 = mul %3 %4\n%8 = sum %7 axes=[2] keep=1\n%9 = sub %6 %8\nret %4 %9\n")
RULE(narrow, "of bf16, summed in f32", BOTH("bf16")
     "%7 = cast %1 dtype=f32\n%8 = cast %6 dtype=f32\n%9 = mul %7 %8\n%10 = sum %9 axes=[2] keep=0\nret %4 %6 %10\n",
     BOTH("bf16")
     "%7 = cast %3 dtype=f32\n%8 = cast %4 dtype=f32\n%9 = mul %7 %8\n%10 = sum %9 axes=[2] keep=0\nret %4 %6 %10\n")
#define DROPOUT                                                                                                        \
  "graph g\n%1 = param f32[T,S] \"p\"\n%2 = param f32[S,D] \"v\"\n%3 = param f32[T,D] \"g\"\n%4 = param f32[T,S] "     \
  "\"kept\"\n%5 = mul %1 %4\n%6 = matmul %5 %2\n%7 = permute %2 axes=[1,0]\n%8 = matmul %3 %7\n%9 = mul %8 %4\n"
RULE(dropout, "weights are multiplied in front of the product", DROPOUT
     "%10 = mul %9 %1\n%11 = sum %10 axes=[1] keep=1\nret %6 %9 %11\n",
     DROPOUT "%10 = mul %3 %6\n%11 = sum %10 axes=[1] keep=1\nret %6 %9 %11\n")
KEPT(other_factors, "the sum is of other weights than the product",
     DROPOUT "%10 = mul %8 %1\n%11 = sum %10 axes=[1] keep=1\nret %6 %9 %11\n")
/* Weights are selected, or 0; and so are their cotangents, by `other`. */
#define SELECTED(other)                                                                                                \
  "graph g\n%1 = param f32[T,S] \"p\"\n%2 = param f32[S,D] \"v\"\n%3 = param f32[T,D] \"g\"\n%4 = param bool[T,S] " \
  "\"kept\"\n%5 = param bool[T,S] \"other\"\n%6 = const f32 0\n%7 = where %4 %1 %6\n%8 = matmul %7 %2\n"             \
  "%9 = permute %2 axes=[1,0]\n%10 = matmul %3 %9\n%11 = where " other "\n%12 = mul %1 %11\n"
RULE(selected, "a select of 0 is a factor", SELECTED("%4 %10 %6") "%13 = sum %12 axes=[1] keep=1\nret %8 %11 %13\n",
     "graph g\n%1 = param f32[T,S] \"p\"\n%2 = param f32[S,D] \"v\"\n%3 = param f32[T,D] \"g\"\n%4 = param bool[T,S] "
     "\"kept\"\n%5 = param bool[T,S] \"other\"\n%6 = const f32 0\n%7 = where %4 %1 %6\n%8 = matmul %7 %2\n"
     "%9 = permute %2 axes=[1,0]\n%10 = matmul %3 %9\n%11 = where %4 %10 %6\n%12 = mul %3 %8\n"
     "%13 = sum %12 axes=[1] keep=1\nret %8 %11 %13\n")
KEPT(other_select, "another condition selects", SELECTED("%5 %10 %6") "%13 = sum %12 axes=[1] keep=1\nret %8 %11 %13\n")
KEPT(opposite, "the others are 0", SELECTED("%4 %6 %10") "%13 = sum %12 axes=[1] keep=1\nret %8 %11 %13\n")
#define HEADS                                                                                                          \
  "graph g\n%1 = param f32[B,H,T,S] \"p\"\n%2 = param f32[B,S,H,D] \"v\"\n%3 = param f32[B,H,T,D] \"g\"\n%4 = permute " \
  "%2 axes=[0,2,1,3]\n%5 = matmul %1 %4\n%6 = permute %2 axes=[0,2,3,1]\n%7 = matmul %3 %6\n"
RULE(heads, "both operands are permutations of one array", HEADS
     "%8 = mul %1 %7\n%9 = sum %8 axes=[3] keep=1\nret %5 %7 %9\n",
     HEADS "%8 = mul %3 %5\n%9 = sum %8 axes=[3] keep=1\nret %5 %7 %9\n")
KEPT(missing, "nobody multiplies the weights",
     "graph g\n%1 = param f32[T,S] \"p\"\n%2 = param f32[S,D] \"v\"\n%3 = param f32[T,D] \"g\"\n%4 = permute %2 "
     "axes=[1,0]\n%5 = matmul %3 %4\n%6 = mul %5 %1\n%7 = sum %6 axes=[1] keep=1\nret %7\n")
/* P = e^(x - max x) of x = Q V' */
#define WEIGHTS                                                                                                        \
  "graph g\n%1 = param f32[T,D] \"q\"\n%2 = param f32[S,D] \"v\"\n%3 = param f32[T,D] \"g\"\n%4 = permute %2 "        \
  "axes=[1,0]\n%5 = matmul %1 %4\n%6 = max %5 axes=[1] keep=1\n%7 = sub %5 %6\n%8 = exp %7\n"
RULE(made, "weights of a softmax of a product that nobody multiplies are multiplied",
     WEIGHTS "%9 = matmul %3 %4\n%10 = mul %8 %9\n%11 = sum %10 axes=[1] keep=1\nret %11\n",
     WEIGHTS "%9 = matmul %8 %2\n%10 = mul %3 %9\n%11 = sum %10 axes=[1] keep=1\nret %11\n")
KEPT(columns, "a sum of columns",
     BOTH("f32") "%7 = mul %6 %1\n%8 = sum %7 axes=[1] keep=1\nret %4 %8\n")
KEPT(both_axes, "a sum of whole matrices",
     BOTH("f32") "%7 = mul %6 %1\n%8 = sum %7 axes=[1,2] keep=1\nret %4 %8\n")
KEPT(spread, "weights that all batches share are fewer",
     "graph g\n%1 = param f32[T,S] \"p\"\n%2 = param f32[B,S,D] \"v\"\n%3 = param f32[B,T,D] \"g\"\n%4 = matmul %1 %2\n"
     "%5 = permute %2 axes=[0,2,1]\n%6 = matmul %3 %5\n%7 = mul %6 %1\n%8 = sum %7 axes=[2] keep=1\nret %4 %8\n")
KEPT(earlier, "the other product comes later, and may need the sum",
     "graph g\n%1 = param f32[T,S] \"p\"\n%2 = param f32[S,D] \"v\"\n%3 = param f32[T,D] \"g\"\n%4 = permute %2 "
     "axes=[1,0]\n%5 = matmul %3 %4\n%6 = mul %5 %1\n%7 = sum %6 axes=[1] keep=1\n%8 = matmul %1 %2\nret %7 %8\n")
KEPT(replaced, "what the rule makes is not turned back", BOTH("f32")
     "%7 = mul %3 %4\n%8 = sum %7 axes=[2] keep=1\n%9 = sub %6 %8\nret %4 %9\n")

/* Scales of dequantised operands behind the product. */
#include "tests/passes/pass_test.h"

#define RULE(name, title, before, after) T_PASS(scales, name, title, tc_pass_scales, before, after)
#define KEPT(name, title, text) RULE(name, title, text, text)

#define OPERANDS                                                                                   \
  "graph g\n%1 = param f32[B,T,K] \"x\"\n%2 = param i8[K,N] \"w\"\n%3 = param f32[N] \"s\"\n"      \
  "%4 = param f32[K,1] \"z\"\n%5 = cast %2 dtype=f32\n"

RULE(of_columns, "the scale of each column",
     OPERANDS "%6 = mul %5 %3\n%7 = matmul %1 %6\nret %7\n",
     OPERANDS "%6 = matmul %1 %5\n%7 = mul %6 %3\nret %7\n")
RULE(of_all, "a number", OPERANDS "%6 = const weak f32 0.5\n%7 = mul %5 %6\n%8 = matmul %1 %7\nret %8\n",
     OPERANDS "%6 = const weak f32 0.5\n%7 = matmul %1 %5\n%8 = mul %7 %6\nret %8\n")
RULE(from_a_zero_point, "the zero point stays",
     OPERANDS "%6 = sub %5 %4\n%7 = mul %6 %3\n%8 = matmul %1 %7\nret %8\n",
     OPERANDS "%6 = sub %5 %4\n%7 = matmul %1 %6\n%8 = mul %7 %3\nret %8\n")
KEPT(along_k, "a scale that varies along k", OPERANDS "%6 = mul %5 %4\n%7 = matmul %1 %6\nret %7\n")
KEPT(of_floats, "numbers that are no integers may be of any size",
     "graph g\n%1 = param f32[T,K] \"x\"\n%2 = param f32[K,N] \"w\"\n%3 = param f32[N] \"s\"\n%4 = mul %2 %3\n%5 = matmul %1 %4\nret %5\n")

#define ROWS                                                                                       \
  "graph g\n%1 = param i8[T,K] \"x\"\n%2 = param f32[T,1] \"t\"\n%3 = param i8[G,N,K] \"w\"\n"     \
  "%4 = param f32[G,1,N] \"s\"\n%5 = cast %1 dtype=f32\n%6 = cast %3 dtype=f32\n%7 = permute %6 axes=[0,2,1]\n"
RULE(of_both, "rows of the left, columns of the right, in batches",
     ROWS "%8 = mul %2 %5\n%9 = mul %7 %4\n%10 = matmul %8 %9\nret %10\n",
     ROWS "%8 = matmul %5 %7\n%9 = mul %8 %2\n%10 = mul %9 %4\nret %10\n")

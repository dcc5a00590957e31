/* View folding: composition, moving up to arguments, moving down past heavy ops. */
#include "tests/passes/pass_test.h"

#define RULE(name, title, before, after) T_PASS(views, name, title, tc_pass_views, before, after)
#define KEPT(name, title, text) RULE(name, title, text, text)
#define X "graph g\n%1 = param f32[B,4,6] \"x\"\n"

/* ---- composition */

RULE(reshape_twice, "reshape of reshape",
     X "%2 = reshape %1 dims=[B,24]\n%3 = reshape %2 dims=[B,6,4]\nret %3\n",
     X "%2 = reshape %1 dims=[B,24]\n%3 = reshape %1 dims=[B,6,4]\nret %3\n")
RULE(reshape_back, "reshape and back",
     X "%2 = reshape %1 dims=[B,24]\n%3 = reshape %2 dims=[B,4,6]\nret %3\n",
     X "%2 = reshape %1 dims=[B,24]\nret %1\n")
RULE(permute_twice, "permute of permute",
     X "%2 = permute %1 axes=[2,0,1]\n%3 = permute %2 axes=[2,0,1]\nret %3\n",
     X "%2 = permute %1 axes=[2,0,1]\n%3 = permute %1 axes=[1,2,0]\nret %3\n")
RULE(permute_back, "permute and back",
     X "%2 = permute %1 axes=[2,0,1]\n%3 = permute %2 axes=[1,2,0]\nret %3\n",
     X "%2 = permute %1 axes=[2,0,1]\nret %1\n")
RULE(permute_of_ones, "moving only axes of size 1 is a reshape",
     "graph g\n%1 = param f32[B,1,6] \"x\"\n%2 = permute %1 axes=[1,0,2]\nret %2\n",
     "graph g\n%1 = param f32[B,1,6] \"x\"\n%2 = reshape %1 dims=[1,B,6]\nret %2\n")
RULE(slice_of_slice, "slice of slice",
     X "%2 = slice %1 axis=2 start=1 stop=6 step=2\n%3 = slice %2 axis=2 start=1 stop=3 "
       "step=1\nret %3\n",
     X "%2 = slice %1 axis=2 start=1 stop=6 step=2\n%3 = slice %1 axis=2 start=3 stop=6 "
       "step=2\nret %3\n")
RULE(slice_of_all, "the whole axis", X "%2 = slice %1 axis=0 start=0 stop=B step=1\nret %2\n",
     X "ret %1\n")
RULE(flip_twice, "flip and back", X "%2 = flip %1 axes=[0,1]\n%3 = flip %2 axes=[1,2]\nret %3\n",
     X "%2 = flip %1 axes=[0,1]\n%3 = flip %1 axes=[0,2]\nret %3\n")
RULE(expand_twice, "expand of expand",
     "graph g\n%1 = param f32[1,6] \"x\"\n%2 = expand %1 dims=[4,6]\n%3 = expand %2 "
     "dims=[3,4,6]\nret %3\n",
     "graph g\n%1 = param f32[1,6] \"x\"\n%2 = expand %1 dims=[4,6]\n%3 = expand %1 "
     "dims=[3,4,6]\nret %3\n")

/* ---- products that share a matrix */

#define SHARED                                                                                     \
  "graph g\n%1 = param f32[B,6,1,8] \"q\"\n%2 = param f32[B,2,T,8] \"k\"\n"                        \
  "%3 = reshape %2 dims=[B,2,1,T,8]\n%4 = expand %3 dims=[B,2,3,T,8]\n"                            \
  "%5 = reshape %4 dims=[B,6,T,8]\n"
RULE(one_row_each, "rows that share a matrix, transposed",
     SHARED "%6 = permute %5 axes=[0,1,3,2]\n%7 = matmul %1 %6\nret %7\n",
     SHARED "%6 = permute %5 axes=[0,1,3,2]\n%7 = reshape %1 dims=[B,2,3,8]\n"
            "%8 = permute %2 axes=[0,1,3,2]\n%9 = matmul %7 %8\n%10 = reshape %9 "
            "dims=[B,6,1,T]\nret %10\n")
KEPT(one_column_each, "another axis repeats",
     "graph g\n%1 = param f32[B,6,1,6] \"q\"\n%2 = param f32[B,6,2,8] \"k\"\n"
     "%3 = reshape %2 dims=[B,6,2,1,8]\n%4 = expand %3 dims=[B,6,2,3,8]\n"
     "%5 = reshape %4 dims=[B,6,6,8]\n%6 = matmul %1 %5\nret %6\n")

/* ---- up */

#define SCALAR "graph g\n%1 = param i8[] \"x\"\n%2 = abs %1\n%3 = reshape %2 dims=[1]\nret %3\n"
KEPT(up_from_scalars, "an axis that only the view makes stays where it is", SCALAR)

RULE(up_reshape, "reshape moves to the argument, the scalar stays",
     X "%2 = const f32 2.0\n%3 = mul %1 %2\n%4 = exp %3\n%5 = reshape %4 dims=[B,24]\nret %5\n",
     X "%2 = const f32 2.0\n%3 = reshape %1 dims=[B,24]\n%4 = mul %3 %2\n%5 = exp %4\nret %5\n")
RULE(up_broadcast, "permute of an operand of lower rank",
     X "%2 = param f32[6] \"b\"\n%3 = add %1 %2\n%4 = permute %3 axes=[0,2,1]\nret %4\n",
     X "%2 = param f32[6] \"b\"\n%3 = permute %1 axes=[0,2,1]\n%4 = reshape %2 dims=[1,6,1]\n%5 = "
       "add %3 %4\nret %5\n")
RULE(up_split, "a split axis of a broadcast operand",
     X "%2 = param f32[6] \"b\"\n%3 = add %1 %2\n%4 = reshape %3 dims=[B,4,2,3]\nret %4\n",
     X "%2 = param f32[6] \"b\"\n%3 = reshape %1 dims=[B,4,2,3]\n%4 = reshape %2 dims=[2,3]\n%5 = "
       "add %3 %4\nret %5\n")
KEPT(up_merge, "merging a broadcast axis with another is not possible",
     X "%2 = param f32[6] \"b\"\n%3 = add %1 %2\n%4 = reshape %3 dims=[B,24]\nret %4\n")
RULE(up_slice, "slice of a broadcast axis leaves that operand",
     X "%2 = param f32[4,1] \"b\"\n%3 = add %1 %2\n%4 = slice %3 axis=2 start=0 stop=2 step=1\nret "
       "%4\n",
     X "%2 = param f32[4,1] \"b\"\n%3 = slice %1 axis=2 start=0 stop=2 step=1\n%4 = add %3 %2\nret "
       "%4\n")
KEPT(up_shared, "what is used twice is not computed twice",
     X "%2 = exp %1\n%3 = reshape %2 dims=[B,24]\nret %3 %2\n")
KEPT(up_triangle, "a triangle depends on the index",
     X "%2 = tril %1 k=0\n%3 = permute %2 axes=[0,2,1]\nret %3\n")

/* ---- down */

#define MM "graph g\n%1 = param f32[B,8] \"x\"\n%2 = param f32[8,24] \"w\"\n"
RULE(down_reshape, "ops behind a matmul keep its shape",
     MM "%3 = param f32[B,4,6] \"r\"\n%4 = matmul %1 %2\n%5 = reshape %4 dims=[B,4,6]\n%6 = add %5 "
        "%3\nret %6\n",
     MM "%3 = param f32[B,4,6] \"r\"\n%4 = matmul %1 %2\n%5 = reshape %4 dims=[B,4,6]\n"
        "%6 = reshape %3 dims=[B,24]\n%7 = add %4 %6\n%8 = reshape %7 dims=[B,4,6]\nret %8\n")
RULE(down_permute, "through a chain",
     MM "%3 = matmul %1 %2\n%4 = permute %3 axes=[1,0]\n%5 = exp %4\n%6 = neg %5\nret %6\n",
     MM "%3 = matmul %1 %2\n%4 = permute %3 axes=[1,0]\n%5 = exp %3\n%6 = permute %5 "
        "axes=[1,0]\n%7 = neg %5\n"
        "%8 = permute %7 axes=[1,0]\nret %8\n")
#define MM3 "graph g\n%1 = param f32[4,4,4] \"x\"\n%2 = param f32[4,4] \"w\"\n"
RULE(down_cycle, "the other operand takes the inverse of a cycle",
     MM3
     "%3 = param f32[4,4,4] \"r\"\n%4 = matmul %1 %2\n%5 = permute %4 axes=[2,0,1]\n%6 = add %5 "
     "%3\nret %6\n",
     MM3
     "%3 = param f32[4,4,4] \"r\"\n%4 = matmul %1 %2\n%5 = permute %3 axes=[1,2,0]\n%6 = add %4 "
     "%5\n%7 = permute %6 axes=[2,0,1]\nret %7\n")
KEPT(down_differently, "two heavy operands through different views of one shape",
     MM3
     "%3 = matmul %1 %2\n%4 = permute %3 axes=[2,0,1]\n%5 = max %1 axes=[0] keep=0\n%6 = matmul %1 "
     "%5\n%7 = permute %6 axes=[1,2,0]\n%8 = add %4 %7\nret %8\n")
KEPT(down_widening, "a widening cast stays behind the view: what is stored there is narrow",
     "graph g\n%1 = param bf16[4,4] \"x\"\n%2 = matmul %1 %1\n%3 = permute %2 axes=[1,0]\n%4 = "
     "cast %3 "
     "dtype=f32\nret %4\n")
RULE(down_both, "both operands through the same view",
     MM
     "%3 = matmul %1 %2\n%4 = sum %1 axes=[1] keep=1\n%5 = add %3 %4\n%6 = max %1 axes=[1] keep=1\n"
     "%7 = mul %3 %6\n%8 = reshape %5 dims=[B,4,6]\n%9 = reshape %7 dims=[B,4,6]\n%10 = sub %8 "
     "%9\nret %10\n",
     MM
     "%3 = matmul %1 %2\n%4 = sum %1 axes=[1] keep=1\n%5 = add %3 %4\n%6 = max %1 axes=[1] keep=1\n"
     "%7 = mul %3 %6\n%8 = reshape %5 dims=[B,4,6]\n%9 = reshape %7 dims=[B,4,6]\n%10 = sub %5 %7\n"
     "%11 = reshape %10 dims=[B,4,6]\nret %11\n")
KEPT(down_heavy, "the other operand is heavy and cannot be viewed for free",
     MM "%3 = param f32[B,4,6] \"r\"\n%4 = softmax %3 axis=2\n%5 = matmul %1 %2\n%6 = reshape %5 "
        "dims=[B,4,6]\n"
        "%7 = add %4 %6\nret %7\n")

KEPT(down_dtype, "an array's dtype would win over that of rank 0",
     "graph g\n%1 = param f32[4] \"x\"\n%2 = param f64[] \"y\"\n%3 = sum %1 axes=[0] keep=1\n"
     "%4 = reshape %3 dims=[]\n%5 = mul %2 %4\nret %5\n")

/* ---- expands */

RULE(expand_implied, "broadcasting says the same",
     X "%2 = param f32[1,6] \"b\"\n%3 = expand %2 dims=[4,6]\n%4 = add %1 %3\nret %4\n",
     X "%2 = param f32[1,6] \"b\"\n%3 = expand %2 dims=[4,6]\n%4 = add %1 %2\nret %4\n")
RULE(expand_outer, "two expands that cover each other",
     "graph g\n%1 = param f32[4,1] \"x\"\n%2 = param f32[1,6] \"y\"\n%3 = expand %1 dims=[4,6]\n"
     "%4 = expand %2 dims=[4,6]\n%5 = mul %3 %4\nret %5\n",
     "graph g\n%1 = param f32[4,1] \"x\"\n%2 = param f32[1,6] \"y\"\n%3 = expand %1 dims=[4,6]\n"
     "%4 = expand %2 dims=[4,6]\n%5 = mul %1 %2\nret %5\n")
KEPT(expand_rank, "the only one with the rank",
     "graph g\n%1 = param f32[6] \"x\"\n%2 = expand %1 dims=[1,6]\n%3 = exp %2\nret %3\n")
KEPT(expand_needed, "the only one with the shape",
     "graph g\n%1 = param f32[1,6] \"x\"\n%2 = expand %1 dims=[4,6]\n%3 = exp %2\nret %3\n")

/* Decompositions whose form matters: stability, one rounding, and what lowering looks for. */
#include "tests/passes/pass_test.h"

#define RULE(name, title, before, after)                                                           \
  T_PASS(decompose, name, title, tc_pass_decompose, before, after)
#define X "graph g\n%1 = param f32[B,4] \"x\"\n"
#define H "graph g\n%1 = param bf16[B,4] \"x\"\n"

RULE(relu, "a maximum, which keeps NaN", X "%2 = relu %1\nret %2\n",
     X "%2 = const f32 0.0\n%3 = maximum %1 %2\nret %3\n")
RULE(softmax, "shifted by the maximum", X "%2 = softmax %1 axis=-1\nret %2\n",
     X "%2 = max %1 axes=[1] keep=1\n%3 = sub %1 %2\n%4 = exp %3\n%5 = sum %4 axes=[1] keep=1\n%6 "
       "= reciprocal %5\n%7 = mul %4 %6\nret %7\n")
RULE(half, "bf16 computes in f32 and rounds once", H "%2 = softmax %1 axis=-1\nret %2\n",
     H "%2 = cast %1 dtype=f32\n%3 = max %2 axes=[1] keep=1\n%4 = sub %2 %3\n%5 = exp %4\n"
       "%6 = sum %5 axes=[1] keep=1\n%7 = reciprocal %6\n%8 = mul %5 %7\n"
       "%9 = cast %8 dtype=bf16\nret %9\n")
RULE(clamp_half, "chooses: nothing is rounded",
     H "%2 = const weak bf16 -1.0\n%3 = clamp %1 %2 %2\nret %3\n",
     H "%2 = const weak bf16 -1.0\n%3 = maximum %1 %2\n%4 = minimum %3 %2\nret %4\n")
RULE(relu6_half, "likewise", H "%2 = relu6 %1\nret %2\n",
     H "%2 = const bf16 0.0\n%3 = maximum %1 %2\n%4 = const bf16 6.0\n%5 = minimum %3 %4\nret %5\n")
RULE(
    norm_3, "powers and their sum are f64",
    X "%2 = const f64 3.0\n%3 = norm %1 %2 axes=[1] keep=0\nret %3\n",
    X
    "%2 = const f64 3.0\n%3 = abs %1\n%4 = const f64 0.33333333333333331\n%5 = cast %3 dtype=f64\n"
    "%6 = pow %5 %2\n%7 = sum %6 axes=[1] keep=0\n%8 = pow %7 %4\n%9 = cast %8 dtype=f32\nret %9\n")
RULE(mean, "divides by a symbolic size",
     "graph g\n%1 = param f32[B,4] \"x\"\n%2 = mean %1 axes=[0] keep=0\nret %2\n",
     "graph g\n%1 = param f32[B,4] \"x\"\n%2 = sum %1 axes=[0] keep=0\n%3 = dim B\n%4 = cast %3 "
     "dtype=f32\n"
     "%5 = div %2 %4\nret %5\n")
RULE(mean_of_bool, "counts exactly",
     "graph g\n%1 = param bool[7] \"x\"\n%2 = mean %1 axes=[] keep=0\nret %2\n",
     "graph g\n%1 = param bool[7] \"x\"\n%2 = cast %1 dtype=f64\n%3 = sum %2 axes=[0] keep=0\n%4 = "
     "const f64 7.0\n"
     "%5 = div %3 %4\n%6 = cast %5 dtype=f32\nret %6\n")
RULE(logsumexp, "an infinite maximum is not subtracted",
     X "%2 = logsumexp %1 axes=[1] keep=0\nret %2\n",
     X "%2 = max %1 axes=[1] keep=1\n%3 = isfinite %2\n%4 = const f32 0.0\n%5 = where %3 %2 %4\n%6 "
       "= sub %1 %5\n"
       "%7 = exp %6\n%8 = sum %7 axes=[1] keep=1\n%9 = log %8\n%10 = add %9 %5\n%11 = reshape %10 "
       "dims=[B]\nret %11\n")
RULE(cross_entropy, "no row of log probabilities",
     X "%2 = param i64[B] \"t\"\n%3 = cross_entropy %1 %2 reduction=0\nret %3\n",
     X "%2 = param i64[B] \"t\"\n%3 = max %1 axes=[1] keep=1\n%4 = sub %1 %3\n%5 = exp %4\n%6 = "
       "sum %5 axes=[1] keep=1\n"
       "%7 = reshape %2 dims=[B,1]\n%8 = gather %1 %7 axis=1\n%9 = sub %8 %3\n%10 = log %6\n%11 = "
       "sub %10 %9\n"
       "%12 = reshape %11 dims=[B]\nret %12\n")
RULE(linear_half, "the bias is added before rounding",
     H "%2 = param bf16[3,4] \"w\"\n%3 = param bf16[3] \"b\"\n%4 = linear %1 %2 %3\nret %4\n",
     H "%2 = param bf16[3,4] \"w\"\n%3 = param bf16[3] \"b\"\n%4 = permute %2 axes=[1,0]\n%5 = "
       "cast %1 dtype=f32\n"
       "%6 = cast %4 dtype=f32\n%7 = matmul %5 %6\n%8 = cast %3 dtype=f32\n%9 = add %7 %8\n%10 = "
       "cast %9 dtype=bf16\nret %10\n")
RULE(einsum_batch, "groups of labels become one matmul",
     "graph g\n%1 = param f32[2,B,3,5] \"a\"\n%2 = param f32[2,5,7] \"b\"\n%3 = einsum %1 %2 "
     "spec=\"nhik,nkj->nhij\"\nret %3\n",
     "graph g\n%1 = param f32[2,B,3,5] \"a\"\n%2 = param f32[2,5,7] \"b\"\n%3 = reshape %1 "
     "dims=[2,3*B,5]\n"
     "%4 = matmul %3 %2\n%5 = reshape %4 dims=[2,B,3,7]\nret %5\n")
RULE(einsum_dot, "a dot product is a sum, not a matmul",
     X "%2 = param f32[B,4] \"y\"\n%3 = einsum %1 %2 spec=\"bi,bi->b\"\nret %3\n",
     X "%2 = param f32[B,4] \"y\"\n%3 = mul %1 %2\n%4 = sum %3 axes=[1] keep=0\nret %4\n")
RULE(roll, "two slices", "graph g\n%1 = param f32[5] \"x\"\n%2 = roll %1 shift=-1 axis=0\nret %2\n",
     "graph g\n%1 = param f32[5] \"x\"\n%2 = slice %1 axis=0 start=1 stop=5 step=1\n"
     "%3 = slice %1 axis=0 start=0 stop=1 step=1\n%4 = concat %2 %3 axis=0\nret %4\n")
RULE(empty_logsumexp, "of nothing",
     "graph g\n%1 = param f32[3,0] \"x\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n",
     "graph g\n%1 = param f32[3,0] \"x\"\n%2 = const f32 -INFINITY\n%3 = full %2 dims=[3] "
     "dtype=f32\nret %3\n")

/* The bounds of the issue that the graph decides: one matmul a layer, one reduction pair a softmax.
 */
Test(decompose, mlp_ops) {
  const char *mlp =
      "graph g\n%1 = param f32[B,8] \"x\"\n%2 = param f32[8,6] \"w\"\n%3 = param f32[6] \"b\"\n"
      "%4 = matmul %1 %2\n%5 = add %4 %3\n%6 = relu %5\n%7 = softmax %6 axis=1\nret %7\n";
  cr_expect_eq(count_after(mlp, OP_MATMUL), 1);
  cr_expect_eq(count_after(mlp, OP_AMAX), 1);
  cr_expect_eq(count_after(mlp, OP_SUM), 1);
  cr_expect_eq(count_after(mlp, OP_EXP), 1);
}

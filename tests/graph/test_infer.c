/* Every inference rule, right and wrong.  A row is a line of a graph over the operands below; it
 * gives a type, or exactly this message. */
#include "check.h"

static const char operands[] = "sym S -inf..inf\n"
                               "%1 = param f32[3,4] \"m\"\n"
                               "%2 = param f32[4] \"v\"\n"
                               "%3 = param i64[3,4] \"i\"\n"
                               "%4 = param bool[3,4] \"p\"\n"
                               "%5 = param f16[3,1] \"h\"\n"
                               "%6 = param f32[B,784] \"x\"\n"
                               "%7 = param f32[N,784] \"y\"\n"
                               "%8 = param u8[3,4] \"u\"\n"
                               "%9 = param i8[4] \"c\"\n"
                               "%10 = param bf16[4] \"b\"\n"
                               "%11 = param f64[] \"d\"\n"
                               "%12 = param i32[5] \"k\"\n"
                               "%13 = param f32[2,3,4,5] \"q\"\n"
                               "%14 = param f32[3,0] \"e\"\n"
                               "%15 = param f32[1099511627776,1] \"r\"\n"
                               "%16 = param f32[1099511627776] \"t\"\n"
                               "%17 = param i64[B] \"target\"\n"
                               "%18 = param bool[] \"z\"\n"
                               "%19 = param i32[] \"j\"\n"
                               "%20 = scalar f64 \"s\"\n"
                               "%21 = scalar i64 \"n\"\n"
                               "%22 = const weak f64 2.5\n"
                               "%23 = const weak i64 3\n";

typedef struct {
  const char *line, *gives;
} row;

static void check(const row *r, size_t n) {
  for (size_t i = 0; i < n; i++) {
    messages m;
    tc_buf text = {0}, type = {0};
    tc_putf(&text, "%s%%24 = %s\n", operands, r[i].line);
    tc_graph *g = tc_graph_parse(text.text, listen(&m));
    const char *got = g ? last_type(g, &type) : strchr(m.last, ':') + 2;
    cr_expect_str_eq(got, r[i].gives, "%s\n  gives  %s\n  not    %s", r[i].line, got, r[i].gives);
    char why[400];
    if (g) cr_expect(tc_graph_verify(g, why, sizeof why), "%s: %s", r[i].line, why);
    tc_graph_free(g);
    tc_buf_free(&text);
    tc_buf_free(&type);
  }
}

#define ROWS(name, ...)                                                                            \
  Test(infer, name) {                                                                              \
    static const row rows[] = {__VA_ARGS__};                                                       \
    check(rows, sizeof rows / sizeof *rows);                                                       \
  }

ROWS(creation, {"full %22 dims=[2,B] dtype=i32", "i32[2,B]"},
     {"full %1 dims=[2] dtype=f32", "full: value must be a scalar, not [3,4]"},
     {"full %22 dims=[-2] dtype=f32", "full: a size must not be negative: -2"},
     {"full %22 dims=[4294967296,4294967296] dtype=f32",
      "full: size product exceeds 64 bits: [4294967296,4294967296]"},
     {"full %22 dims=[4294967296,0,4294967296] dtype=f32", "f32[4294967296,0,4294967296]"},
     {"arange %22 %23 n=B dtype=f64", "f64[B]"},
     {"arange %22 %2 n=B dtype=f64", "arange: step must be a scalar, not [4]"},
     {"eye n=3 m=4 dtype=bool", "bool[3,4]"}, {"rand %21 dims=[2,3] dtype=bf16", "bf16[2,3]"},
     {"rand %20 dims=[2,3] dtype=f32", "rand: the seed must be an integer"},
     {"randn %21 dims=[2,3] dtype=i32", "randn: gives floating numbers, not i32"})

ROWS(promotion, {"add %1 %3", "f32[3,4]"}, {"add %3 %8", "i64[3,4]"}, {"add %8 %9", "i16[3,4]"},
     {"add %5 %10", "f32[3,4]"}, {"add %5 %3", "f16[3,4]"}, {"add %1 %11", "f32[3,4]"},
     {"add %3 %11", "f64[3,4]"}, {"add %8 %19", "u8[3,4]"}, {"add %4 %19", "i32[3,4]"},
     {"add %5 %20", "f16[3,1]"}, {"add %3 %20", "f32[3,4]"}, {"add %19 %20", "f32[]"},
     {"add %18 %21", "i64[]"}, {"add %11 %20", "f64[]"}, {"add %20 %22", "weak f64[]"},
     {"add %21 %23", "weak i64[]"}, {"fma %5 %22 %23", "f16[3,1]"}, {"mul %20 %21", "weak f64[]"})

ROWS(elementwise, {"neg %3", "i64[3,4]"},
     {"neg %4", "neg: not defined for bool; use logical_not, or cast first"}, {"abs %8", "u8[3,4]"},
     {"floor %3", "i64[3,4]"}, {"exp %3", "f32[3,4]"}, {"exp %5", "f16[3,1]"},
     {"exp %21", "weak f64[]"}, {"isnan %1", "bool[3,4]"}, {"logical_not %3", "bool[3,4]"},
     {"bit_not %4", "bool[3,4]"}, {"bit_not %1", "bit_not: defined for integers and bool, not f32"},
     {"cast %1 dtype=i8", "i8[3,4]"}, {"cast %20 dtype=f16", "weak f16[]"},
     {"square %4", "bool[3,4]"}, {"add %4 %4", "bool[3,4]"},
     {"sub %4 %4", "sub: not defined for bool; use logical_xor, or cast first"},
     {"pow %4 %4", "pow: not defined for bool; cast first"}, {"maximum %4 %4", "bool[3,4]"},
     {"div %3 %3", "f32[3,4]"}, {"lt %1 %3", "bool[3,4]"}, {"logical_and %1 %4", "bool[3,4]"},
     {"bit_and %3 %8", "i64[3,4]"}, {"shl %8 %9", "i16[3,4]"},
     {"shl %4 %9", "shl: defined for integers, not bool"}, {"add %1 %2", "f32[3,4]"},
     {"add %2 %5", "f32[3,4]"},
     {"add %1 %12", "add: [3,4] and [5] do not broadcast: 4 != 5 at axis 1"},
     {"add %13 %1", "add: [2,3,4,5] and [3,4] do not broadcast: 4 != 3 at axis 2"},
     {"add %6 %7", "f32[B,784]"},
     {"add %6 %1", "add: [B,784] and [3,4] do not broadcast: 784 != 4 at axis 1"},
     {"add %15 %16", "add: size product exceeds 64 bits: [1099511627776,1099511627776]"},
     {"where %4 %1 %3", "f32[3,4]"},
     {"where %1 %1 %3", "where: the condition must be bool, not f32"},
     {"clamp %3 %23 %23", "i64[3,4]"}, {"lerp %1 %2 %22", "f32[3,4]"},
     {"masked_fill %3 %4 %22", "i64[3,4]"},
     {"masked_fill %3 %1 %22", "masked_fill: the mask must be bool, not f32"},
     {"masked_fill %3 %4 %2", "masked_fill: value must be a scalar, not [4]"},
     {"relu %3", "i64[3,4]"}, {"gelu %3", "f32[3,4]"}, {"leaky_relu %1 %22", "f32[3,4]"},
     {"leaky_relu %1 %2", "leaky_relu: slope must be a scalar, not [4]"},
     {"elu %1 %2", "elu: alpha must be a scalar, not [4]"}, {"tril %13 k=-1", "f32[2,3,4,5]"},
     {"triu %2 k=0", "triu: takes a tensor of at least 2 axes, not [4]"},
     {"add %1", "add: takes 2 operands, not 1"}, {"add %1 _", "an operand is missing"})

ROWS(reductions, {"sum %1 axes=[] keep=0", "f32[]"}, {"sum %1 axes=[] keep=1", "f32[1,1]"},
     {"sum %8 axes=[0] keep=0", "i64[4]"}, {"prod %4 axes=[-1] keep=1", "i64[3,1]"},
     {"sum %13 axes=[-1,1] keep=0", "f32[2,4]"},
     {"sum %1 axes=[2] keep=0", "sum: axis 2 is out of range for [3,4]"},
     {"sum %1 axes=[0,-2] keep=0", "sum: axis 0 appears twice"},
     {"sum %1 axes=[0] keep=2", "sum: keep must be 0 or 1"}, {"sum %14 axes=[1] keep=0", "f32[3]"},
     {"max %3 axes=[0] keep=0", "i64[4]"},
     {"max %14 axes=[1] keep=0", "max: axis 1 of [3,0] is empty"},
     {"max %14 axes=[0] keep=0", "f32[0]"}, {"min %6 axes=[0] keep=0", "f32[784]"},
     {"any %1 axes=[0] keep=0", "bool[4]"}, {"mean %3 axes=[0] keep=0", "f32[4]"},
     {"var %5 axes=[0] correction=1 keep=0", "f16[1]"},
     {"logsumexp %1 axes=[1] keep=1", "f32[3,1]"}, {"norm %5 %22 axes=[0] keep=0", "f16[1]"},
     {"norm %1 %2 axes=[0] keep=0", "norm: p must be a scalar, not [4]"},
     {"argmax %1 axes=[0] keep=0", "i64[4]"}, {"argmax %1 axes=[] keep=1", "i64[1,1]"},
     {"argmin %1 axes=[0,1] keep=0", "argmin: takes one axis, or none for all"},
     {"cumsum %8 axis=0", "i64[3,4]"},
     {"cumprod %1 axis=2", "cumprod: axis 2 is out of range for [3,4]"},
     {"softmax %3 axis=-1", "f32[3,4]"},
     {"softmax %11 axis=0", "f64[]"}, {"softmax %11 axis=1", "softmax: axis 1 is out of range for []"},
     {"sum %11 axes=[-1] keep=1", "f64[]"}, {"argmax %19 axes=[0] keep=0", "i64[]"},
     {"sum %11 axes=[0,-1] keep=0", "sum: axis 0 appears twice"},
     {"max %11 axes=[-2] keep=0", "max: axis -2 is out of range for []"},
     {"cumsum %11 axis=0", "f64[]"}, {"cumprod %19 axis=-1", "i64[]"},
     {"running_max %8 axis=0", "u8[3,4]"}, {"running_argmax %1 axis=-1", "i64[3,4]"}, {"running_min %11 axis=0", "f64[]"},
     {"order %1 k=2 axis=1 descending=0", "i64[3,2]"}, {"argsort %8 axis=-1 descending=1", "i64[3,4]"},
     {"order %1 k=5 axis=1 descending=0", "order: k is 5, and axis 1 of [3,4] has 4 elements"},
     {"order %11 k=B axis=0 descending=0", "order: k is B, and a number is one element"},
     {"running_argmin %1 axis=2", "running_argmin: axis 2 is out of range for [3,4]"},
     {"cumsum %11 axis=1", "cumsum: axis 1 is out of range for []"})

ROWS(views, {"reshape %1 dims=[2,-1]", "f32[2,6]"},
     {"reshape %1 dims=[]", "reshape: cannot reshape [3,4] to []: 12 elements are not 1"},
     {"reshape %1 dims=[5,-1]",
      "reshape: cannot reshape [3,4] to [5,-1]: 12 elements are not a multiple of 5"},
     {"reshape %1 dims=[-1,-1]", "reshape: only one size may be -1"},
     {"reshape %14 dims=[0,-1]", "reshape: cannot reshape [3,0] to [0,-1]: -1 is not determined"},
     {"reshape %14 dims=[7,-1]", "f32[7,0]"}, {"reshape %6 dims=[-1,28,28]", "f32[B,28,28]"},
     {"reshape %6 dims=[-1]", "f32[784*B]"}, {"reshape %6 dims=[B,7,-1]", "f32[B,7,112]"},
     {"reshape %6 dims=[-1,B]", "f32[784,B]"}, {"reshape %6 dims=[-1,5]", "f32[156*B+((4*B)/5),5]"},
     {"reshape %11 dims=[1,1]", "f64[1,1]"}, {"permute %13 axes=[3,0,-2,1]", "f32[5,2,4,3]"},
     {"permute %1 axes=[0]", "permute: 1 axes given for [3,4]"},
     {"permute %1 axes=[0,0]", "permute: axis 0 appears twice"},
     {"transpose %13 a=0 b=-1", "f32[5,3,4,2]"},
     {"transpose %1 a=0 b=2", "transpose: axis 2 is out of range for [3,4]"},
     {"expand %5 dims=[2,-1,7]", "f16[2,3,7]"},
     {"expand %1 dims=[3,5]", "expand: cannot expand [3,4]: size 4 at axis 1 does not become 5"},
     {"expand %1 dims=[4]", "expand: cannot expand [3,4] to 1 axes"},
     {"expand %2 dims=[-1,4]", "expand: size -1 at axis 0 keeps a size that [4] does not have"},
     {"flip %1 axes=[0,1]", "f32[3,4]"},
     {"flip %1 axes=[]", "f32[3,4]"}, {"flip %11 axes=[0]", "f64[]"},
     {"flip %1 axes=[5]", "flip: axis 5 is out of range for [3,4]"},
     {"squeeze %5 axis=-1", "f16[3]"},
     {"squeeze %1 axis=0", "squeeze: axis 0 of [3,4] has size 3, not 1"},
     {"unsqueeze %1 axis=-1", "f32[3,4,1]"},
     {"unsqueeze %1 axis=3", "unsqueeze: axis 3 is out of range for [3,4]"},
     {"flatten %13 first=1 last=2", "f32[2,12,5]"}, {"flatten %11 first=0 last=-1", "f64[1]"},
     {"flatten %13 first=2 last=1", "flatten: first axis 2 lies behind last axis 1"},
     {"contiguous %1", "f32[3,4]"}, {"select %1 axis=0 index=-1", "f32[4]"},
     {"select %1 axis=0 index=3", "select: index 3 is out of range for axis 0 of [3,4]"},
     {"select %1 axis=1 index=-5", "select: index -5 is out of range for axis 1 of [3,4]"},
     {"select %6 axis=0 index=2", "f32[784]"})

ROWS(windows, {"unfold %1 axis=1 size=2 step=1", "f32[3,3,2]"},
     {"unfold %1 axis=-2 size=3 step=2", "f32[1,4,3]"},
     {"unfold %1 axis=1 size=0 step=3", "f32[3,2,0]"},
     {"unfold %1 axis=1 size=2 step=0", "unfold: step must be positive"},
     {"unfold %1 axis=1 size=-1 step=1", "unfold: size must not be negative: -1"},
     {"unfold %1 axis=1 size=5 step=1", "unfold: windows of 5 are larger than axis 1 of [3,4]"},
     {"unfold %6 axis=1 size=3 step=1", "f32[B,782,3]"},
     {"unfold %6 axis=0 size=B step=1", "f32[1,784,B]"})

ROWS(slices, {"slice %1 axis=1 start=1 stop=3 step=1", "f32[3,2]"},
     {"slice %1 axis=1 start=-2 stop=100 step=1", "f32[3,2]"},
     {"slice %1 axis=1 start=3 stop=1 step=1", "f32[3,0]"},
     {"slice %1 axis=1 start=0 stop=4 step=3", "f32[3,2]"},
     {"slice %1 axis=1 start=-1 stop=-100 step=-1", "f32[3,4]"},
     {"slice %1 axis=1 start=100 stop=0 step=-2", "f32[3,2]"},
     {"slice %1 axis=1 start=0 stop=4 step=0", "slice: step must not be 0"},
     {"slice %1 axis=2 start=0 stop=4 step=1", "slice: axis 2 is out of range for [3,4]"},
     {"slice %6 axis=0 start=0 stop=2305843009213693951 step=1", "f32[B,784]"},
     {"slice %6 axis=0 start=0 stop=B step=2", "f32[((B+1)/2),784]"},
     {"slice %6 axis=0 start=0 stop=5 step=1", "f32[min(B, 5),784]"},
     {"slice %6 axis=0 start=1 stop=-1 step=1", "f32[max(-min(B, 1)+max(B-1, 0), 0),784]"},
     {"slice %6 axis=0 start=B stop=-2305843009213693951 step=-1", "f32[B,784]"},
     {"slice %1 axis=0 start=0 stop=3 step=B", "slice: step must be a constant, not B"})

ROWS(joining, {"concat %1 %3 axis=0", "f32[6,4]"}, {"concat %6 %7 axis=0", "f32[B+N,784]"},
     {"concat %6 %7 axis=1", "f32[B,1568]"},
     {"concat %1 %13 axis=0", "concat: [3,4] and [2,3,4,5] have different numbers of axes"},
     {"concat %1 %5 axis=0", "concat: [3,4] and [3,1] differ at axis 1: 4 != 1"},
     {"stack %1 %3 %8 axis=-1", "f32[3,4,3]"},
     {"stack %1 %5 axis=0", "stack: [3,4] and [3,1] differ at axis 1: 4 != 1"},
     {"pad %1 %22 before=[1,0] after=[0,B]", "f32[4,B+4]"},
     {"pad %1 %22 before=[1] after=[0,2]",
      "pad: needs one amount before and after each axis of [3,4]; 1 and 2 are given"},
     {"pad %1 %22 before=[1,-1] after=[0,2]", "pad: an amount must not be negative: -1"},
     {"put %1 %5 first=[0,3] step=[1,1]", "put: [3,1] is no part of [3,4]"},
     {"put %1 %1 first=[0,0] step=[1,1]", "f32[3,4]"},
     {"put %1 %1 first=[0,1] step=[1,1]", "put: [3,4] from 1 on does not lie in [3,4] at axis 1"},
     {"put %1 %1 first=[0,0] step=[1,0]", "put: step 0 is less than 1"},
     {"put %6 %6 first=[N,0] step=[1,1]", "f32[B,784]"}, {"repeat %1 times=[2,1,3]", "f32[2,3,12]"},
     {"repeat %1 times=[2]", "repeat: 1 counts are too few for [3,4]"},
     {"roll %1 shift=-7 axis=1", "f32[3,4]"},
     {"roll %1 shift=1 axis=-3", "roll: axis -3 is out of range for [3,4]"})

ROWS(indexing, {"gather %1 %3 axis=0", "f32[3,4]"},
     {"gather %1 %1 axis=0", "gather: indices must be i32 or i64, not f32"},
     {"gather %1 %12 axis=0", "gather: [5] and [3,4] have different numbers of axes"},
     {"gather %5 %3 axis=0", "gather: [3,4] does not fit in [3,1] at axis 1: 4 > 1"},
     {"gather %5 %3 axis=1", "f16[3,4]"}, {"index_select %13 %12 axis=2", "f32[2,3,5,5]"},
     {"index_select %13 %3 axis=2", "index_select: the index must have one axis, not [3,4]"},
     {"embedding %6 %3", "f32[3,4,784]"},
     {"embedding %13 %3", "embedding: the weight must be [V,D], not [2,3,4,5]"},
     {"one_hot %12 classes=10", "i64[5,10]"},
     {"one_hot %1 classes=10", "one_hot: indices must be i32 or i64, not f32"},
     {"one_hot %12 classes=-1", "one_hot: the number of classes must not be negative: -1"},
     {"scatter %1 %3 %1 axis=0", "f32[3,4]"},
     {"scatter_add %1 %3 %8 axis=0", "scatter_add: the source is u8, but the target is f32"},
     {"scatter %5 %3 %5 axis=1", "scatter: [3,4] does not fit in [3,1] at axis 1: 4 > 1"})

ROWS(linear_algebra, {"matmul %1 %2", "f32[3]"}, {"matmul %2 %2", "f32[]"},
     {"matmul %2 %13", "f32[2,3,5]"},
     {"matmul %1 %1", "matmul: [3,4] x [3,4]: inner sizes differ: 4 != 3"},
     {"matmul %1 %11", "matmul: [3,4] x []: a scalar has no axis to multiply over; use mul"},
     {"matmul %4 %4", "matmul: not defined for bool; cast first"}, {"linear %1 %1 _", "f32[3,3]"},
     {"linear %1 %1", "f32[3,3]"}, {"linear %1 %1 %2", "linear: the bias must be [3], not [4]"},
     {"linear %1 %2 _", "linear: the weight must be [O,I], not [4]"},
     {"linear %1 %5", "linear: x is [3,4], the weight [3,1]: 4 != 1"}, {"outer %2 %12", "f32[4,5]"},
     {"outer %1 %2", "outer: takes vectors, not [3,4] and [4]"})

ROWS(einsum, {"einsum %1 %3 spec=\"ij,kj->ki\"", "f32[3,3]"},
     {"einsum %1 %2 spec=\"ij, j\"", "f32[3]"}, {"einsum %1 spec=\"ji\"", "f32[4,3]"},
     {"einsum %5 spec=\"ii->\"", "einsum: \"ii->\": axis 1 of operand 1 has size 1, but 'i' is 3 elsewhere"},
     {"einsum %5 %1 spec=\"ij,ik->jk\"", "f32[1,4]"},
     {"einsum %13 %1 spec=\"...ab,cb\"",
      "einsum: \"...ab,cb\": axis 1 of operand 2 has size 4, but 'b' is 5 elsewhere"},
     {"einsum %13 %1 spec=\"a...b,c...->c...a\"", "f32[3,3,4,2]"},
     {"einsum %13 spec=\"ab...->...b\"", "f32[4,5,3]"},
     {"einsum %13 %2 spec=\"ab...c,d->...d\"", "f32[4,4]"},
     {"einsum %13 %8 spec=\"a...,...a->a\"",
      "einsum: \"a...,...a->a\": axis 0 of operand 2 has size 3, but '.' is 5 elsewhere"},
     {"einsum %1 spec=\"ij,jk->ik\"", "einsum: \"ij,jk->ik\" has more operands than the 1 given"},
     {"einsum %1 %1 spec=\"ij->i\"", "einsum: \"ij->i\" has 1 operand, but 2 are given"},
     {"einsum %1 spec=\"ijk->i\"", "einsum: \"ijk->i\": operand 1 has 3 labels, but is [3,4]"},
     {"einsum %1 spec=\"ij->k\"", "einsum: \"ij->k\": 'k' is in no operand"},
     {"einsum %1 spec=\"ij->ii\"", "einsum: \"ij->ii\": 'i' appears twice in the result"},
     {"einsum %1 spec=\"i1->i\"", "einsum: \"i1->i\": unexpected '1'"},
     {"einsum %13 spec=\"a...->a\"", "einsum: \"a...->a\": the result lacks '...'"},
     {"einsum %4 spec=\"ij->i\"", "einsum: not defined for bool; cast first"})

ROWS(neural, {"layer_norm %1 %2 %2 %22 naxes=1", "f32[3,4]"},
     {"layer_norm %1 %12 _ %22 naxes=1", "layer_norm: the weight must be [4], not [5]"},
     {"layer_norm %1 _ %1 %22 naxes=1", "layer_norm: the bias must be [4], not [3,4]"},
     {"layer_norm %1 _ _ %22 naxes=3", "layer_norm: naxes must be 1 to 2 for [3,4], not 3"},
     {"layer_norm %1 _ _ %2 naxes=1", "layer_norm: eps must be a scalar, not [4]"},
     {"rms_norm %10 %2 %22 naxes=1", "f32[4]"}, {"rms_norm %1 %1 %22 naxes=2", "f32[3,4]"},
     {"batch_norm %1 %2 %2 _ %2 %22", "f32[3,4]"},
     {"batch_norm %1 %2 %12 _ _ %22", "batch_norm: the variance must be [4], not [5]"},
     {"batch_norm %2 %2 %2 _ _ %22", "batch_norm: x must be [N,C,...], not [4]"},
     {"cross_entropy %6 %17 reduction=1", "f32[]"}, {"nll %6 %17 reduction=0", "f32[B]"},
     {"nll %2 %19 reduction=2", "f32[]"},
     {"nll %1 %12 reduction=1", "nll: the target [5] does not fit [3,4]"},
     {"nll %13 %12 reduction=1", "nll: takes [N,C] or [C], not [2,3,4,5]"},
     {"nll %1 %1 reduction=1", "nll: indices must be i32 or i64, not f32"},
     {"nll %1 %12 reduction=3", "nll: the target [5] does not fit [3,4]"},
     {"mse %1 %2 reduction=0", "f32[3,4]"},
     {"mse %1 %2 reduction=3", "mse: reduction must be 0 (none), 1 (mean) or 2 (sum), not 3"},
     {"bce_with_logits %3 %4 reduction=2", "f32[]"})

/* The eager runtime's way: no context, no allocation, and every message gets its op's name. */
Test(infer, constants_without_a_context) {
  tc_type a = {TC_F32, 2, false, {tc_dim_const(3), tc_dim_const(4)}},
          b = {TC_F32, 1, false, {tc_dim_const(5)}}, out;
  const tc_type *in[] = {&a, &b};
  char why[200];
  tc_infer c = {.op = OP_ADD, .nin = 2, .in = in, .message = why, .message_size = sizeof why};
  cr_expect(!tc_infer_type(&c, &out));
  cr_expect_str_eq(why, "add: [3,4] and [5] do not broadcast: 4 != 5 at axis 1");
  in[1] = &a;
  cr_expect(tc_infer_type(&c, &out) && tc_type_same(&out, &a));
  c.message_size = 20;
  in[1] = &b;
  cr_expect(!tc_infer_type(&c, &out));
  cr_expect_eq(strlen(why), 19, "a short buffer is filled and terminated");
}

/* Whatever the attributes are, a rule answers. */
Test(infer, attributes_are_checked) {
  tc_type x = {TC_F32, 2, false, {tc_dim_const(3), tc_dim_const(4)}}, out;
  const tc_type *in[] = {&x};
  char why[200];
  tc_dim attr[4] = {tc_dim_const(2), tc_dim_const(0), tc_dim_const(1), tc_dim_const(0)};
  tc_infer c = {
      .op = OP_SUM, .nin = 1, .in = in, .attr = attr, .message = why, .message_size = sizeof why};
  static const char *const expected[] = {"sum: too few attributes", "sum: too few attributes",
                                         "sum: too few attributes", "sum: too few attributes"};
  for (c.nattr = 0; c.nattr < 4; c.nattr++) {
    cr_expect(!tc_infer_type(&c, &out));
    cr_expect_str_eq(why, expected[c.nattr]);
  }
  c.nattr = 4;
  cr_expect(tc_infer_type(&c, &out));
  attr[0] = tc_dim_const(1);
  cr_expect(!tc_infer_type(&c, &out));
  cr_expect_str_eq(why, "sum: too many attributes");
  attr[0] = tc_dim_const(9);
  cr_expect(!tc_infer_type(&c, &out));
  cr_expect_str_eq(why, "sum: axes has more than 8 entries");
}

/* Shapes that random graphs are too small for: rows over several warps, rows that registers do not
 * hold, squares of transposes, columns that are cut, products of several tiles; at sizes beside the
 * multiples of everything. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/emit.h"
#include "backends/cuda/schedule/product.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/cuda/program.h"

enum { PLACES = 37 /* that integers are less than, from 0 on: indices */ };

typedef struct shape {
  const char *text;
  int64_t r, c; /* symbols R and C */
} shape;

static const char softmax[] = "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n";
static const char norm[] = "%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"w\"\n"
                           "%3 = param f32[C] \"b\"\n%4 = const weak f64 1e-5\n"
                           "%5 = layer_norm %1 %2 %3 %4 naxes=1\nret %5\n";
/* softmax step by step: the interpreter's own takes a time that grows with the square of a row */
#define SOFTMAX(from)                                                                              \
  "%11 = max " from " axes=[1] keep=1\n%12 = sub " from " %11\n%13 = exp %12\n"                    \
  "%14 = sum %13 axes=[1] keep=1\n%15 = div %13 %14\nret %15\n"
static const char long_rows[] = "%1 = param f32[R,C] \"x\"\n" SOFTMAX("%1");
static const char long_halves[] = "%1 = param bf16[R,C] \"x\"\n" SOFTMAX("%1");
static const char long_doubles[] = "%1 = param f64[R,C] \"x\"\n" SOFTMAX("%1");
/* rows of two operands that wait in shared memory together, of different widths */
static const char two_rows[] = "%1 = param bf16[R,C] \"x\"\n%2 = param f32[R,C] \"y\"\n"
                               "%3 = cast %1 dtype=f32\n%4 = add %3 %2\n" SOFTMAX("%4");
/* four rows between the stages: threads keep fewer items of each */
static const char many_rows[] =
    "%1 = param f32[R,C] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = exp %1\n"
    "%4 = sum %3 axes=[1] keep=1\n%5 = div %3 %4\n%6 = exp %2\n%7 = sum %6 axes=[1] keep=1\n"
    "%8 = div %6 %7\n%9 = mul %5 %8\n%10 = tanh %9\n%11 = sum %10 axes=[1] keep=1\n"
    "%12 = div %10 %11\n%13 = mul %12 %3\n%14 = sigmoid %13\n%15 = sum %14 axes=[1] keep=1\n"
    "%16 = div %14 %15\n%17 = add %16 %6\nret %17\n";
static const char columns[] =
    "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=0\n%3 = max %1 axes=[0] keep=0\n"
    "ret %2 %3\n";
static const char columns_short[] =
    "%1 = param bf16[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=0\nret %2\n";
static const char columns_soft[] =
    "%1 = param f32[R,C] \"x\"\n%2 = exp %1\n%3 = sum %2 axes=[0] keep=1\n%4 = div %2 %3\nret %4\n";
static const char few_long_rows[] = "%1 = param bf16[3,C] \"x\"\n%2 = cast %1 dtype=f32\n%3 = mean %2 axes=[1] keep=1\n%4 = sub %2 %3\n"
                                    "%5 = square %4\n%6 = mean %5 axes=[1] keep=1\n%7 = const weak f32 0.1\n%8 = add %6 %7\n%9 = rsqrt %8\n"
                                    "%10 = mul %4 %9\n%11 = cast %10 dtype=bf16\n%12 = neg %6\nret %11 %12\n";
/* Rows read once: of odd widths from where they are aligned. */
static const char unaligned[] =
    "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\n%3 = max %1 axes=[1] keep=0\n"
    "%4 = logsumexp %1 axes=[1] keep=0\n%5 = prod %1 axes=[1] keep=0\nret %2 %3 %4 %5\n";
static const char logsumexp[] = "%1 = param f32[R,C] \"x\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n";
/* The same of rows with infinities and NaN. */
static const char special_rows[] = "%1 = param f32[R,C] \"special\"\n" SOFTMAX("%1");
static const char special_sums[] = "%1 = param f32[R,C] \"special\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n";
static const char double_sums[] = "%1 = param f64[R,C] \"special\"\n%2 = logsumexp %1 axes=[1] keep=0\nret %2\n";
/* Loads that begin anywhere beside aligned stores: rows, columns and points of halves, rows of constant length. */
static const char halves_anywhere[] = "%1 = param bf16[R,C] \"x\"\n%2 = param bf16[R,1] \"s\"\n%3 = mul %1 %2\n%4 = cast %1 dtype=f32\n"
                                      "%5 = softmax %4 axis=1\n%6 = cast %5 dtype=bf16\n%7 = sum %4 axes=[0] keep=0\n"
                                      "%8 = cast %7 dtype=bf16\nret %3 %6 %8\n";
static const char constant_anywhere[] = "%1 = param f32[R,64] \"x\"\n%2 = softmax %1 axis=1\nret %2\n";
static const char bytes_anywhere[] = "%1 = param i8[R,C] \"x\"\n%2 = param f16[R,C] \"y\"\n%3 = param f16[R,1] \"s\"\n%4 = cast %1 dtype=f16\n"
                                     "%5 = mul %2 %4\n%6 = mul %5 %3\nret %6\n";
/* Products on tensor cores whose tiles producers bring, where there are any: of large, middle and small tiles, results whose rows
 * begin anywhere beside bias and residual, operands of all three orders, and sums left as they are. */
static const char multiplied[] = "%1 = param bf16[R,640] \"multiplied\"\n%2 = param bf16[640,C] \"w\"\n%3 = param bf16[C] \"b\"\n%4 = param bf16[R,C] \"r\"\n"
                                 "%5 = matmul %1 %2\n%6 = add %5 %3\n%7 = tanh %6\n%8 = add %7 %4\nret %8\n";
static const char multiplied_nt[] = "%1 = param f16[2,R,72] \"multiplied\"\n%2 = param f16[2,C,72] \"w\"\n%3 = permute %2 axes=[0,2,1]\n"
                                    "%4 = matmul %1 %3\nret %4\n";
static const char multiplied_tn[] = "%1 = param bf16[72,R] \"multiplied\"\n%2 = param bf16[72,C] \"w\"\n%3 = permute %1 axes=[1,0]\n"
                                    "%4 = matmul %3 %2\n%5 = cast %4 dtype=f32\n%6 = const weak f32 0.5\n%7 = mul %5 %6\nret %7\n";
/* Columns whose last item begins earlier. */
static const char overlapping[] = "%1 = param bf16[R,C] \"x\"\n%2 = param i8[R,C] \"y\"\n%3 = max %1 axes=[0] keep=0\n%4 = cast %1 dtype=f32\n"
                                  "%5 = sum %4 axes=[0] keep=0\n%6 = cast %2 dtype=f32\n%7 = argmin %6 axes=[0] keep=0\nret %3 %5 %7\n";
static const char overlapping_known[] = "%1 = param f16[R,203] \"x\"\n%2 = max %1 axes=[0] keep=0\n%3 = cumsum %1 axis=0\nret %2 %3\n";
/* Few tiles of a long k, which blocks share out: rows of results that begin anywhere, or at 16 bytes, and batches. */
#define SHARED_OUT(type, batch, k, n)                                                                                             \
  "%1 = param " type "[" batch "R," k "] \"x\"\n%2 = param " type "[" batch k "," n "] \"w\"\n%3 = param " type "[" n "] \"b\"\n" \
  "%4 = relu %1\n%5 = matmul %4 %2\n%6 = add %5 %3\n%7 = tanh %6\nret %7\n"
static const char shared_out[] = SHARED_OUT("bf16", "", "2560", "48"), shared_out_odd[] = SHARED_OUT("f16", "", "2568", "41"),
                  shared_out_batches[] = SHARED_OUT("bf16", "2,", "1704", "72"), shared_out_single[] = SHARED_OUT("f32", "2,", "1001", "24"),
                  shared_out_double[] = SHARED_OUT("f64", "", "900", "5");
/* Elements that are counted through rows which lie apart, and as a value, too: of four lanes and eight, which end with rows or do
 * not; beside an operand that has no rows. */
static const char rows_counted[] = "%1 = param f32[R,C] \"apart\"\n%2 = param bf16[R,C] \"y\"\n%3 = param bf16[3,R,C] \"z\"\n%4 = cast %2 dtype=f32\n"
                                   "%5 = exp %1\n%6 = mul %5 %4\n%7 = relu %3\nret %6 %7\n";
/* Lanes that go on from row to row: beside what rows or columns share, of rows that may lie apart, of channels with an odd number
 * of pixels, of rows shorter than an item, of rows that indices name. */
static const char dense_rows[] = "%1 = param bf16[R,C] \"apart\"\n%2 = param bf16[C] \"b\"\n%3 = param bf16[R,1] \"s\"\n%4 = add %1 %2\n"
                                 "%5 = mul %4 %3\n%6 = relu %5\nret %6\n";
#define CHANNELS(pixels)                                                                                        \
  "%1 = param f16[R,C," pixels "] \"x\"\n%2 = param f32[C,1] \"s\"\n%3 = param f32[R,1," pixels "] \"y\"\n" \
  "%4 = cast %1 dtype=f32\n%5 = mul %4 %2\n%6 = add %5 %3\n%7 = relu %6\n%8 = cast %7 dtype=f16\nret %8\n"
static const char dense_channels[] = CHANNELS("49"), dense_colours[] = CHANNELS("3");
static const char dense_lookup[] = "%1 = param bf16[37,C] \"w\"\n%2 = param i64[R] \"i\"\n%3 = embedding %1 %2\nret %3\n";
static const char dense_lookup_known[] = "%1 = param i8[37,21] \"w\"\n%2 = param i32[R,C] \"i\"\n%3 = embedding %1 %2\nret %3\n";
static const char known_rows_counted[] = "%1 = param f16[R,24] \"apart\"\n%2 = param bool[R,24] \"y\"\n%3 = param f16[R,24] \"z\"\n"
                                         "%4 = param f64[R,9] \"w\"\n%5 = where %2 %1 %3\n%6 = exp %4\nret %5 %6\n";
/* A loss of halves and its gradient, of rows that have a function for each length, and may be odd and longer than all of them. */
static const char loss_of_halves[] = "%1 = param bf16[R,C] \"x\"\n%2 = cast %1 dtype=f32\n%3 = log_softmax %2 axis=1\n%4 = exp %3\n"
                                     "%5 = cast %4 dtype=bf16\n%6 = max %2 axes=[1] keep=0\nret %5 %6\n";
/* Narrow rows, of one piece of memory for each block: kept, with weights, only reduced, and of doubles. */
static const char narrow_softmax[] = "%1 = param f32[R,9] \"x\"\n%2 = softmax %1 axis=1\nret %2\n";
static const char narrow_halves[] = "%1 = param bf16[R,43] \"x\"\n" SOFTMAX("%1");
static const char narrow_norm[] = "%1 = param bf16[R,12] \"x\"\n%2 = param f32[12] \"w\"\n%3 = param bf16[12] \"b\"\n"
                                  "%4 = const weak f64 1e-5\n%5 = cast %1 dtype=f32\n%6 = cast %3 dtype=f32\n"
                                  "%7 = layer_norm %5 %2 %6 %4 naxes=1\n%8 = cast %7 dtype=bf16\nret %8\n";
static const char narrow_sums[] = "%1 = param f32[R,5] \"x\"\n%2 = param f32[R] \"y\"\n%3 = sum %1 axes=[1] keep=0\n"
                                  "%4 = add %3 %2\n%5 = argmax %1 axes=[1] keep=0\nret %4 %5\n";
static const char narrow_doubles[] = "%1 = param f64[R,C] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = cast %2 dtype=f64\n"
                                     "%4 = mul %1 %3\n%5 = exp %4\n%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n"
                                     "%8 = cast %7 dtype=f32\nret %7 %8\n";
static const char wide_attention[] = "%1 = param bf16[R,192] \"q\"\n%2 = param bf16[C,192] \"k\"\n"
                                     "%3 = param bf16[C,144] \"v\"\n%4 = permute %2 axes=[1,0]\n%5 = matmul %1 %4\n"
                                     "%6 = softmax %5 axis=1\n%7 = matmul %6 %3\nret %7\n";
static const char any_width[] = "%1 = param bf16[C,R] \"q\"\n%2 = param bf16[C,R] \"k\"\n%3 = param bf16[C,R] \"v\"\n"
                                "%4 = permute %2 axes=[1,0]\n%5 = matmul %1 %4\n%6 = softmax %5 axis=1\n%7 = matmul %6 %3\nret %7\n";
/* Attention with a mask of places and its gradients, of which those of keys and values are one kernel; widths of which sums take
 * few registers, and most, and of which four warps have a part of the columns. */
#define TRAINED(q, t, wide, d) \
  "%1 = param " t "[R," d "] \"" q "\"\n%2 = param " t "[C," d "] \"k\"\n%3 = param " t "[C," d "] \"v\"\n%4 = param " t "[R," d "] \"g\"\n" \
  "%5 = permute %2 axes=[1,0]\n%6 = matmul %1 %5\n%7 = const weak " t " 0.125\n%8 = mul %6 %7\n"                           \
  "%9 = const weak " t " -INFINITY\n%10 = full %9 dims=[R,C] dtype=" t "\n%11 = triu %10 k=-R+C+1\n%12 = add %8 %11\n"      \
  "%13 = softmax %12 axis=1\n%14 = matmul %13 %3\n%15 = permute %3 axes=[1,0]\n%16 = matmul %4 %15\n"                     \
  "%17 = permute %13 axes=[1,0]\n%18 = matmul %17 %4\n%19 = cast %13 dtype=" wide "\n%20 = cast %16 dtype=" wide "\n"               \
  "%21 = mul %20 %19\n%22 = sum %21 axes=[1] keep=1\n%23 = sub %20 %22\n%24 = mul %19 %23\n%25 = cast %24 dtype=" t "\n"   \
  "%26 = mul %25 %7\n%27 = matmul %26 %2\n%28 = permute %1 axes=[1,0]\n%29 = matmul %28 %26\n"                            \
  "%30 = permute %29 axes=[1,0]\nret %14 %18 %27 %30\n"
static const char trained_attention[] = TRAINED("q", "bf16", "f32", "64"), trained_wide_attention[] = TRAINED("q", "bf16", "f32", "128"),
                  trained_broad_attention[] = TRAINED("q", "f16", "f32", "232"),
                  trained_three_panels[] = TRAINED("q", "bf16", "f32", "192");
/* Weights are dropped by uniforms, which are numbered as weights are: four lanes share a block where rows have a multiple of
 * four keys.  By a factor, or by a select of 0. */
#define DROPPED(random, kept, dropped, weights, cotangents)                                                                                  \
  "%1 = param bf16[R,64] \"q\"\n%2 = param bf16[C,64] \"k\"\n%3 = param bf16[C,64] \"v\"\n%4 = param bf16[R,64] \"g\"\n"       \
  "%5 = permute %2 axes=[1,0]\n%6 = matmul %1 %5\n%7 = const weak bf16 0.125\n%8 = mul %6 %7\n%9 = softmax %8 axis=1\n"        \
  "%10 = const i64 7\n%11 = rand %10 dims=[R,C] dtype=" random "\n%12 = const weak " random " 0.25\n%13 = " kept "\n%14 = " dropped "\n"    \
  "%15 = " weights "\n%16 = matmul %15 %3\n%17 = permute %3 axes=[1,0]\n%18 = matmul %4 %17\n%19 = permute %15 axes=[1,0]\n"   \
  "%20 = matmul %19 %4\n%21 = " cotangents "\n%22 = cast %9 dtype=f32\n%23 = cast %21 dtype=f32\n%24 = mul %23 %22\n"          \
  "%25 = sum %24 axes=[1] keep=1\n%26 = sub %23 %25\n%27 = mul %22 %26\n%28 = cast %27 dtype=bf16\n%29 = mul %28 %7\n"         \
  "%30 = matmul %29 %2\n%31 = permute %1 axes=[1,0]\n%32 = matmul %31 %29\n%33 = permute %32 axes=[1,0]\nret %16 %20 %30 %33\n"
static const char dropped_attention[] = DROPPED("f32", "gt %11 %12", "cast %13 dtype=bf16", "mul %9 %14", "mul %18 %14"),
                  selected_attention[] = DROPPED("f32", "le %12 %11", "const weak bf16 0", "where %13 %9 %14", "where %13 %18 %14"),
                  coarsely_dropped[] = DROPPED("bf16", "le %11 %12", "const weak bf16 0", "where %13 %14 %9", "where %13 %14 %18"),
                  added_uniforms[] = DROPPED("f16", "lt %11 %12", "where %13 %9 %11", "mul %9 %14", "mul %18 %14");
/* Of widths that the kernels learn at run time; and of what tensor cores do not multiply: of more than registers hold there are
 * chains where a target asks for them. */
static const char trained_any_attention[] = TRAINED("q", "bf16", "f32", "R"), trained_single_attention[] = TRAINED("query", "f32", "f32", "R"),
                  trained_double_attention[] = TRAINED("query", "f64", "f64", "R"), trained_widest_attention[] = TRAINED("query", "f32", "f32", "300"),
                  trained_single_64[] = TRAINED("query", "f32", "f32", "64"), trained_single_256[] = TRAINED("query", "f32", "f32", "256"),
                  trained_single_18[] = TRAINED("query", "f32", "f32", "18"), trained_double_40[] = TRAINED("query", "f64", "f64", "40"),
                  trained_double_128[] = TRAINED("query", "f64", "f64", "128");
/* Operands that are computed while tiles are filled, that lie the other way round, and of widths of their own; a score of biases and
 * of numbers of rows and of keys, and a mask; and the rows' logsumexp. */
static const char single_attention[] =
    "%1 = param f32[R,40] \"query\"\n%2 = param f32[40,C] \"k\"\n%3 = param bf16[C,72] \"v\"\n%4 = param f32[R,C] \"bias\"\n"
    "%5 = param f32[C] \"w\"\n%6 = param i64[R] \"i\"\n%7 = cast %3 dtype=f32\n%8 = matmul %1 %2\n%9 = add %8 %4\n%10 = tanh %9\n"
    "%11 = mul %10 %5\n%12 = const weak i64 0\n%13 = const weak i64 1\n%14 = arange %12 %13 n=C dtype=i64\n"
    "%15 = unsqueeze %6 axis=1\n%16 = le %14 %15\n%17 = const weak f32 -INFINITY\n%18 = where %16 %11 %17\n%19 = softmax %18 axis=1\n"
    "%20 = matmul %19 %7\n%21 = logsumexp %18 axes=[1] keep=0\nret %20 %21\n";
/* Six heads of queries share two of keys. */
#define GROUPS(t) \
  "%1 = param " t "[6,R,32] \"query\"\n%2 = param " t "[2,C,32] \"k\"\n%3 = param " t "[2,C,32] \"v\"\n%4 = param " t "[6,R,32] \"g\"\n" \
  "%5 = reshape %2 dims=[2,1,C,32]\n%6 = expand %5 dims=[2,3,C,32]\n%7 = reshape %6 dims=[6,C,32]\n%8 = reshape %3 dims=[2,1,C,32]\n" \
  "%9 = expand %8 dims=[2,3,C,32]\n%10 = reshape %9 dims=[6,C,32]\n%11 = permute %7 axes=[0,2,1]\n%12 = matmul %1 %11\n"   \
  "%13 = softmax %12 axis=2\n%14 = matmul %13 %10\n%15 = permute %10 axes=[0,2,1]\n%16 = matmul %4 %15\n"                 \
  "%17 = permute %13 axes=[0,2,1]\n%18 = matmul %17 %4\n%19 = mul %13 %16\n%20 = sum %19 axes=[2] keep=1\n"             \
  "%21 = sub %16 %20\n%22 = mul %13 %21\n%23 = matmul %22 %7\n%24 = permute %22 axes=[0,2,1]\n%25 = matmul %24 %1\n"     \
  "%26 = reshape %18 dims=[2,3,C,32]\n%27 = sum %26 axes=[1] keep=0\n%28 = reshape %25 dims=[2,3,C,32]\n"                \
  "%29 = sum %28 axes=[1] keep=0\nret %14 %23 %27 %29\n"
static const char trained_groups[] = GROUPS("f32"), trained_groups_short[] = GROUPS("bf16");
/* Scans that are cut into chunks: of rows and columns, between others, with positions, in f64 and of integers. */
static const char cut_scans[] = "%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=0\n%3 = running_argmax %1 axis=1\n"
                                "%4 = cast %1 dtype=f64\n%5 = cumsum %4 axis=1\nret %2 %3 %5\n";
static const char cut_middle[] = "%1 = param f32[3,R,C] \"x\"\n%2 = param i64[R] \"i\"\n%3 = cumsum %1 axis=1\n"
                                 "%4 = cumsum %2 axis=0\n%5 = cumprod %1 axis=1\nret %3 %4 %5\n";
static const char cut_known[] = "%1 = param f32[2,32800] \"x\"\n%2 = param f32[2100,3] \"y\"\n%3 = exp %1\n"
                                "%4 = cumsum %3 axis=1\n%5 = cumsum %2 axis=0\nret %4 %5\n";
/* Slices and elements at computed places, in order; and columns each of which has its own. */
#define TO_PLACES "%1 = param f32[37,C] \"x\"\n%2 = param i64[R] \"i\"\n%3 = param "
#define EACH_COLUMN "[R,C] \"s\"\n%4 = unsqueeze %2 axis=1\n%5 = expand %4 dims=[R,C]\n"
static const char scatter[] = TO_PLACES "f32" EACH_COLUMN "%6 = exp %3\n%7 = scatter %1 %5 %6 axis=0\nret %7\n";
static const char scatter_add[] = TO_PLACES "bf16" EACH_COLUMN "%6 = cast %3 dtype=f32\n"
                                  "%7 = scatter_add %1 %5 %6 axis=0\nret %7\n";
static const char scatter_elements[] = "%1 = param f64[37] \"x\"\n%2 = param i32[R] \"i\"\n%3 = param f64[R] \"s\"\n"
                                       "%4 = scatter_add %1 %2 %3 axis=0\nret %4\n";
static const char scatter_inner[] = "%1 = param f32[C,37] \"x\"\n%2 = param i64[R] \"i\"\n%3 = param f32[C,R] \"s\"\n"
                                    "%4 = unsqueeze %2 axis=0\n%5 = expand %4 dims=[C,R]\n"
                                    "%6 = scatter_add %1 %5 %3 axis=1\nret %6\n";
static const char scatter_columns[] = "%1 = param f32[37,C] \"x\"\n%2 = param i64[R,C] \"i\"\n%3 = param f32[R,C] \"s\"\n"
                                      "%4 = scatter_add %1 %2 %3 axis=0\nret %4\n";
static const char scatter_both[] = "%1 = param f32[37,C,3] \"x\"\n%2 = param i64[R,C] \"i\"\n%3 = param f32[R,C,3] \"s\"\n"
                                   "%4 = unsqueeze %2 axis=2\n%5 = expand %4 dims=[R,C,3]\n"
                                   "%6 = scatter_add %1 %5 %3 axis=0\nret %6\n";
static const char all[] = "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[] keep=0\nret %2\n";
static const char argmax[] = "%1 = param f32[R,C] \"x\"\n%2 = argmax %1 axes=[1] keep=0\n%3 = "
                             "argmax %1 axes=[0] keep=0\nret %2 %3\n";
/* Of infinities, NaN and equals. */
static const char places[] = "%1 = param f32[R,C] \"special\"\n%2 = argmax %1 axes=[1] keep=0\n%3 = argmin %1 axes=[1] keep=0\n"
                             "%4 = argmax %1 axes=[0] keep=0\nret %2 %3 %4\n";
static const char places_of_halves[] = "%1 = param bf16[R,C] \"special\"\n%2 = argmax %1 axes=[1] keep=0\nret %2\n";
static const char sorted[] = "%1 = param f32[R,C] \"special\"\n%2 = order %1 k=C axis=1 descending=0\n"
                             "%3 = order %1 k=R axis=0 descending=1\nret %2 %3\n";
static const char sorted_bytes[] = "%1 = param i8[R,C] \"x\"\n%2 = order %1 k=C axis=1 descending=1\nret %2\n";
static const char sorted_doubles[] = "%1 = param f64[R,C] \"x\"\n%2 = order %1 k=C axis=1 descending=1\nret %2\n";
static const char first_of_row[] = "%1 = param bf16[R,C] \"x\"\n%2 = order %1 k=3 axis=1 descending=1\nret %2\n";
/* Windows of more than one axis, of a product of one row, and of it in halves. */
#define SIZES "sym R 1..inf\nsym C 1..inf\n"
static const char pooled[] = SIZES "%1 = param f32[2,3,R,C] \"x\"\n%2 = const weak f32 -INFINITY\n"
                             "%3 = pad %1 %2 before=[0,0,1,1] after=[0,0,1,1]\n%4 = unfold %3 axis=3 size=3 step=2\n"
                             "%5 = max %4 axes=[4] keep=0\n%6 = unfold %5 axis=2 size=3 step=2\n"
                             "%7 = max %6 axes=[4] keep=0\nret %7\n";
#define DEPTHWISE(dtype)                                                                                               \
  SIZES "%1 = param " dtype "[2,4,R,C] \"x\"\n%2 = param " dtype "[4,1,3,3] \"w\"\n%3 = const weak f32 0.0\n"           \
        "%4 = pad %1 %3 before=[0,0,1,1] after=[0,0,1,1]\n%5 = unfold %4 axis=2 size=3 step=1\n"                      \
        "%6 = unfold %5 axis=3 size=3 step=1\n%7 = permute %6 axes=[0,1,4,5,2,3]\n"                                   \
        "%8 = reshape %7 dims=[2,4,9,R*C]\n%9 = reshape %2 dims=[4,1,9]\n%10 = matmul %9 %8\n"                        \
        "%11 = reshape %10 dims=[2,4,R,C]\nret %11\n"
static const char depthwise[] = DEPTHWISE("f32");
static const char depthwise_halves[] = DEPTHWISE("bf16");
static const char scan[] =
    "%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=1\n%3 = cumsum %1 axis=0\nret %2 %3\n";
static const char transposed[] =
    "%1 = param f32[R,C] \"x\"\n%2 = param f32[C,R] \"y\"\n%3 = permute %1 axes=[1,0]\n"
    "%4 = add %3 %2\nret %4\n";
/* Copies as they are: of halves, of bytes, of doubles; and computed ones of mixed widths. */
static const char turned[] =
    "%1 = param bf16[R,C] \"x\"\n%2 = permute %1 axes=[1,0]\n%3 = contiguous %2\nret %3\n";
static const char turned_bytes[] = "%1 = param f32[R,C] \"x\"\n%2 = const weak f64 0\n"
                                   "%3 = gt %1 %2\n%4 = permute %3 axes=[1,0]\n"
                                   "%5 = contiguous %4\n%6 = contiguous %3\nret %5 %6\n";
static const char turned_doubles[] =
    "%1 = param f64[3,R,C] \"x\"\n%2 = permute %1 axes=[0,2,1]\n%3 = contiguous %2\nret %3\n";
static const char turned_mixed[] =
    "%1 = param bf16[R,C] \"x\"\n%2 = param f32[C,R] \"y\"\n%3 = param f32[R,C] \"z\"\n"
    "%4 = permute %1 axes=[1,0]\n%5 = cast %4 dtype=f32\n%6 = add %5 %2\n"
    "%7 = permute %3 axes=[1,0]\n%8 = mul %6 %7\nret %8\n";
/* Short columns of many outer points: several of them in a block. */
static const char many_columns[] = "%1 = param f32[R,3,C] \"x\"\n%2 = max %1 axes=[1] keep=0\nret %2\n";
static const char short_rows[] = "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n";
static const char product[] =
    "%1 = param f32[R,C] \"x\"\n%2 = param f32[C,R] \"y\"\n%3 = param f32[R] \"b\"\n"
    "%4 = matmul %1 %2\n%5 = add %4 %3\n%6 = tanh %5\nret %6\n";
static const char transposed_product[] =
    "%1 = param f32[C,R] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = permute %1 axes=[1,0]\n"
    "%4 = permute %2 axes=[1,0]\n%5 = matmul %3 %4\nret %5\n";

static const char doubles[] =
    "%1 = param f64[R,C] \"x\"\n%2 = param f64[C,R] \"y\"\n%3 = matmul %1 %2\n%4 = tanh %3\n"
    "ret %4\n";

/* halves: tiles of tensor cores; A and B along k or across it, a prologue, an epilogue that reads
 */
static const char halves[] =
    "%1 = param bf16[R,C] \"x\"\n%2 = param bf16[C,R] \"y\"\n%3 = param bf16[R] \"b\"\n"
    "%4 = matmul %1 %2\n%5 = add %4 %3\n%6 = tanh %5\nret %6\n";
/* Of which operands are aligned and results are not, where C is odd. */
static const char halves_odd[] = "%1 = param bf16[R,64] \"a\"\n%2 = param bf16[C,64] \"b\"\n%3 = permute %2 axes=[1,0]\n"
                                 "%4 = matmul %1 %3\n%5 = relu %4\nret %5\n";
/* An intermediate of odd width, whose rows are padded: a product makes it, and two read it, by rows and by columns. */
static const char padded_halves[] = "%1 = param bf16[R,40] \"x\"\n%2 = param bf16[40,C] \"w\"\n%3 = param bf16[C,24] \"v\"\n"
                                    "%4 = param bf16[R,16] \"g\"\n%5 = matmul %1 %2\n%6 = relu %5\n%7 = matmul %6 %3\n"
                                    "%8 = permute %6 axes=[1,0]\n%9 = matmul %8 %4\nret %7 %9\n";
static const char halves_turned[] =
    "%1 = param f16[C,R] \"x\"\n%2 = param f16[R,C] \"y\"\n%3 = permute %1 axes=[1,0]\n"
    "%4 = permute %2 axes=[1,0]\n%5 = matmul %3 %4\nret %5\n";
static const char halves_computed[] =
    "%1 = param bf16[R,C] \"x\"\n%2 = param bf16[C] \"s\"\n%3 = param bf16[C,R] \"y\"\n"
    "%4 = param bf16[R,R] \"z\"\n%5 = mul %1 %2\n%6 = tanh %5\n%7 = matmul %6 %3\n"
    "%8 = add %7 %4\nret %8\n";
static const char halves_batched[] =
    "%1 = param bf16[R,3,C] \"x\"\n%2 = param bf16[R,C,5] \"y\"\n%3 = matmul %1 %2\nret %3\n";

/* Heads that share keys; parts at other positions, scaled by other numbers. */
static const char repeated[] =
    "%1 = param f32[6,R,C] \"q\"\n%2 = param f32[2,R,C] \"k\"\n%3 = reshape %2 dims=[2,1,R,C]\n"
    "%4 = expand %3 dims=[2,3,R,C]\n%5 = reshape %4 dims=[6,R,C]\n%6 = permute %5 axes=[0,2,1]\n"
    "%7 = matmul %1 %6\n%8 = add %5 %1\nret %7 %8\n";
static const char steps[] =
    "%1 = param f32[R,3,C] \"x\"\n%2 = param f32[C,C] \"w\"\n%3 = param f32[R,C] \"h\"\n"
    "%4 = const weak f64 0.25\n%5 = const weak f64 0.125\n%6 = const weak f64 0.375\n"
    "%7 = select %1 axis=1 index=0\n%8 = matmul %7 %2\n%9 = mul %8 %4\n%10 = add %9 %3\n"
    "%11 = select %1 axis=1 index=1\n%12 = matmul %11 %2\n%13 = mul %12 %5\n%14 = add %13 %10\n"
    "%15 = select %1 axis=1 index=2\n%16 = matmul %15 %2\n%17 = mul %16 %6\n%18 = add %17 %14\n"
    "ret %18\n";

/* Windows of two axes: k over (c, r, s) on the right, over (r, s, c) on the left, m and n over rows and columns. */
static const char windows[] =
    "%1 = param f32[3,2,R,C] \"x\"\n%2 = param f32[37,12] \"w\"\n%3 = unfold %1 axis=2 size=3 step=1\n"
    "%4 = unfold %3 axis=3 size=2 step=1\n%5 = permute %4 axes=[0,1,4,5,2,3]\n%6 = reshape %5 dims=[3,12,-1]\n"
    "%7 = matmul %2 %6\n%8 = tanh %7\nret %8\n";
static const char windows_of_halves[] =
    "%1 = param bf16[3,R,C,8] \"x\"\n%2 = param bf16[48,40] \"w\"\n%3 = unfold %1 axis=1 size=3 step=2\n"
    "%4 = unfold %3 axis=2 size=2 step=1\n%5 = permute %4 axes=[0,1,2,4,5,3]\n%6 = reshape %5 dims=[-1,48]\n"
    "%7 = matmul %6 %2\n%8 = tanh %7\nret %8\n";

/* Of padded images: loads have guards. */
static const char windows_of_padded[] =
    "%1 = param f32[3,2,R,C] \"x\"\n%2 = param f32[37,12] \"w\"\n%3 = const weak f64 0\n"
    "%4 = pad %1 %3 before=[0,0,1,0] after=[0,0,1,1]\n%5 = unfold %4 axis=2 size=3 step=1\n"
    "%6 = unfold %5 axis=3 size=2 step=1\n%7 = permute %6 axes=[0,1,4,5,2,3]\n%8 = reshape %7 dims=[3,12,-1]\n"
    "%9 = matmul %2 %8\n%10 = tanh %9\nret %10\n";
static const char windows_of_padded_halves[] =
    "%1 = param bf16[3,R,C,8] \"x\"\n%2 = param bf16[48,40] \"w\"\n%3 = const weak f64 2\n%4 = relu %1\n"
    "%5 = pad %4 %3 before=[0,0,1,0] after=[0,2,0,0]\n%6 = unfold %5 axis=1 size=3 step=2\n"
    "%7 = unfold %6 axis=2 size=2 step=1\n%8 = permute %7 axes=[0,1,2,4,5,3]\n%9 = reshape %8 dims=[-1,48]\n"
    "%10 = matmul %9 %2\n%11 = tanh %10\nret %11\n";

/* tc_conv: images with the channels first.  With zeros around them, a bias and a residual behind; every second point of
 * dilated windows; channels in groups; few channels, in one axis. */
static const char convolution[] =
    "%1 = param bf16[3,16,R,C] \"x\"\n%2 = param bf16[24,144] \"w\"\n%3 = param bf16[24,1] \"b\"\n%4 = const weak bf16 0\n"
    "%5 = pad %1 %4 before=[0,0,1,1] after=[0,0,1,1]\n%6 = unfold %5 axis=2 size=3 step=1\n"
    "%7 = permute %6 axes=[0,1,4,2,3]\n%8 = reshape %7 dims=[3,48,R,2+C]\n%9 = unfold %8 axis=3 size=3 step=1\n"
    "%10 = permute %9 axes=[0,1,4,2,3]\n%11 = reshape %10 dims=[3,144,-1]\n%12 = matmul %2 %11\n%13 = add %12 %3\n"
    "%14 = relu %13\n%15 = reshape %14 dims=[3,24,R,C]\n%16 = permute %15 axes=[0,2,3,1]\nret %15 %16\n";
static const char dilated_convolution[] =
    "%1 = param bf16[2,8,10,18] \"x\"\n%2 = param bf16[70,72] \"w\"\n%3 = unfold %1 axis=2 size=5 step=2\n"
    "%4 = slice %3 axis=-1 start=0 stop=5 step=2\n%5 = permute %4 axes=[0,1,4,2,3]\n%6 = reshape %5 dims=[2,24,3,18]\n"
    "%7 = unfold %6 axis=3 size=5 step=2\n%8 = slice %7 axis=-1 start=0 stop=5 step=2\n"
    "%9 = permute %8 axes=[0,1,4,2,3]\n%10 = reshape %9 dims=[2,72,-1]\n%11 = matmul %2 %10\nret %11\n";
static const char grouped_convolution[] =
    "%1 = param bf16[3,32,R,C] \"x\"\n%2 = param bf16[2,12,144] \"w\"\n%3 = const weak bf16 0\n"
    "%4 = pad %1 %3 before=[0,0,1,1] after=[0,0,1,1]\n%5 = reshape %4 dims=[3,2,16,R+2,C+2]\n"
    "%6 = unfold %5 axis=3 size=3 step=1\n%7 = permute %6 axes=[0,1,2,5,3,4]\n%8 = reshape %7 dims=[3,2,48,R,C+2]\n"
    "%9 = unfold %8 axis=4 size=3 step=1\n%10 = permute %9 axes=[0,1,2,5,3,4]\n%11 = reshape %10 dims=[3,2,144,-1]\n"
    "%12 = matmul %2 %11\n%13 = reshape %12 dims=[3,24,R,C]\n%14 = relu %13\nret %14\n";
static const char line_convolution[] =
    "%1 = param f32[R,3,C] \"x\"\n%2 = param f32[5,9] \"w\"\n%3 = const weak f32 0\n"
    "%4 = pad %1 %3 before=[0,0,2] after=[0,0,0]\n%5 = unfold %4 axis=2 size=3 step=1\n"
    "%6 = permute %5 axes=[0,1,3,2]\n%7 = reshape %6 dims=[R,9,C]\n%8 = matmul %2 %7\n%9 = tanh %8\nret %9\n";

/* Two convolutions, the second one of single points, and every second one of those. */
static const char convolutions[] =
    "%1 = param bf16[3,8,8,10] \"x\"\n%2 = param bf16[16,72] \"w\"\n%3 = param bf16[8,16] \"v\"\n%4 = const weak bf16 0\n"
    "%5 = pad %1 %4 before=[0,0,1,1] after=[0,0,1,1]\n%6 = unfold %5 axis=2 size=3 step=1\n"
    "%7 = permute %6 axes=[0,1,4,2,3]\n%8 = reshape %7 dims=[3,24,8,12]\n%9 = unfold %8 axis=3 size=3 step=1\n"
    "%10 = permute %9 axes=[0,1,4,2,3]\n%11 = reshape %10 dims=[3,72,-1]\n%12 = matmul %2 %11\n%13 = relu %12\n"
    "%14 = matmul %3 %13\n%15 = reshape %13 dims=[3,16,8,10]\n%16 = slice %15 axis=2 start=0 stop=8 step=2\n"
    "%17 = slice %16 axis=3 start=0 stop=10 step=2\n%18 = reshape %17 dims=[3,16,-1]\n%19 = matmul %3 %18\n"
    "ret %14 %19\n";

/* Gradients of a convolution in one axis, by its image and its weights. */
static const char gradients_of_convolution[] =
    "%1 = param bf16[4,8,C] \"x\"\n%2 = param bf16[16,24] \"w\"\n%3 = param bf16[4,16,C] \"dy\"\n%4 = const bf16 0\n"
    "%5 = pad %1 %4 before=[0,0,1] after=[0,0,1]\n%6 = unfold %5 axis=2 size=3 step=1\n"
    "%7 = permute %6 axes=[0,1,3,2]\n%8 = reshape %7 dims=[4,24,C]\n%9 = permute %8 axes=[0,2,1]\n"
    "%10 = matmul %3 %9\n%11 = sum %10 axes=[0] keep=0\n%12 = permute %2 axes=[1,0]\n%13 = matmul %12 %3\n"
    "%14 = reshape %13 dims=[4,8,3,C]\n%15 = permute %14 axes=[0,1,3,2]\n"
    "%16 = slice %15 axis=3 start=0 stop=1 step=1\n%17 = reshape %16 dims=[4,8,C]\n"
    "%18 = pad %17 %4 before=[0,0,0] after=[0,0,2]\n"
    "%19 = slice %15 axis=3 start=1 stop=2 step=1\n%20 = reshape %19 dims=[4,8,C]\n"
    "%21 = pad %20 %4 before=[0,0,1] after=[0,0,1]\n%22 = add %18 %21\n"
    "%23 = slice %15 axis=3 start=2 stop=3 step=1\n%24 = reshape %23 dims=[4,8,C]\n"
    "%25 = pad %24 %4 before=[0,0,2] after=[0,0,0]\n%26 = add %22 %25\n"
    "%27 = slice %26 axis=2 start=1 stop=C+1 step=1\nret %11 %27\n";

/* Places decide which element, or which array, is loaded: rows and columns of a torus, a roll of a roll, and edges. */
static const char torus[] =
    "%1 = param f32[R,C] \"x\"\n%2 = roll %1 shift=1 axis=0\n%3 = roll %2 shift=-1 axis=1\n%4 = roll %1 shift=1 axis=1\n"
    "%5 = roll %1 shift=-2 axis=0\n%6 = add %3 %4\n%7 = sub %6 %5\nret %7\n";
static const char torus_of_halves[] =
    "%1 = param bf16[R,C] \"x\"\n%2 = roll %1 shift=1 axis=0\n%3 = roll %1 shift=-1 axis=1\n%4 = mul %2 %3\n"
    "%5 = sum %4 axes=[1] keep=0\nret %4 %5\n";
static const char joined[] =
    "%1 = param f32[R,C] \"x\"\n%2 = param f32[R,3] \"y\"\n%3 = neg %2\n%4 = concat %3 %1 %2 axis=1\n%5 = concat %4 %4 axis=0\n"
    "%6 = const weak f64 0.5\n%7 = pad %5 %6 before=[1,2] after=[0,1]\n%8 = tanh %7\nret %8\n";

/* One launch for many: more than its table holds, aligned ones and others. */
#define UPDATED(n, size)                                                                           \
  "%1" n "1 = param f32[" size "] \"p" n "\"\n%1" n "2 = param f32[" size "] \"g" n "\"\n"
#define UPDATE(n, size) "%2" n "1 = mul %1" n "1 %1" n "2\n%2" n "2 = sub %2" n "1 %1" n "2\n"
#define WRITE(n, size) "write %2" n "2 -> %1" n "1\n"
#define TEN(f, n, size)                                                                            \
  f(n "0", size) f(n "1", "C") f(n "2", "R,C") f(n "3", size) f(n "4", "3") f(n "5", size)         \
  f(n "6", "C,8") f(n "7", "R") f(n "8", size) f(n "9", size ",2")
#define MANY(f)                                                                                    \
  TEN(f, "10", "R") TEN(f, "11", "16") TEN(f, "12", "R,R") TEN(f, "13", "C,4") TEN(f, "14", "C,R") \
  TEN(f, "15", "R,4") TEN(f, "16", "2,C") TEN(f, "17", "C") TEN(f, "18", "64") TEN(f, "19", "R,9") \
  TEN(f, "20", "R") TEN(f, "21", "32") TEN(f, "22", "C,C")
static const char siblings[] = MANY(UPDATED) MANY(UPDATE) MANY(WRITE);
/* Siblings of a form that is launched one by one. */
#define TURNED(n, a, b)                                                                            \
  "%1" n "1 = param f32[" a "," b "] \"x" n "\"\n%1" n "2 = param f32[" b "," a "] \"y" n "\"\n"
#define TURN(n, a, b) "%2" n "1 = permute %1" n "1 axes=[1,0]\n%2" n "2 = add %2" n "1 %1" n "2\n"
#define FOUR(f) f("1", "R", "C") f("2", "C", "R") f("3", "R", "R") f("4", "C", "C")
#define TURN_RESULT(n, a, b) " %2" n "2"
static const char turned_siblings[] = FOUR(TURNED) FOUR(TURN) "ret" FOUR(TURN_RESULT) "\n";
static const shape shapes[] = {{siblings, 3, 8},
                               {siblings, 37, 500},
                               {siblings, 0, 5},
                               {turned_siblings, 64, 65},
                               {turned_siblings, 5, 132},
                               {softmax, 3, 8},
                               {softmax, 3, 300},
                               {softmax, 2, 1300},
                               {softmax, 2, 1301},
                               {softmax, 2, 17000},
                               {long_rows, 2, 50000}, /* more than shared memory holds */
                               {special_rows, 6, 17000},
                               {special_rows, 6, 17001},
                               {special_sums, 6, 70},
                               {special_sums, 6, 5003},
                               {special_sums, 6, 20000},
                               {double_sums, 6, 5003},
                               {double_sums, 6, 20000},
                               {logsumexp, 2, 50003}, /* few: 1024 threads for each */
                               {logsumexp, 257, 5003},
                               {logsumexp, 256, 16388},
                               {two_rows, 2, 20003},
                               {long_doubles, 256, 2052}, /* many: three on a multiprocessor */
                               {long_doubles, 683, 768},  /* many: three full warps */
                               {long_halves, 3, 33008},
                               {norm, 5, 64},
                               {norm, 3, 2052},
                               {norm, 2, 777},
                               {norm, 2, 1604}, /* few items a thread */
                               {norm, 2, 5124},
                               {many_rows, 2, 1000},
                               {many_rows, 2, 9000},
                               {unaligned, 3, 5},
                               {unaligned, 6, 777},
                               {unaligned, 2, 5003},
                               {columns, 700, 36},
                               {columns, 1500, 5},
                               {columns, 2500, 20},
                               {columns_short, 2500, 264},
                               {columns_short, 600, 1032},
                               {columns_short, 2100, 7},
                               {columns_soft, 300, 260},
                               {columns_soft, 33, 9},
                               {columns_soft, 8700, 3}, /* parts of columns and rows */
                               {columns_soft, 8201, 9},
                               {few_long_rows, 0, 131501},
                               {all, 130, 260},
                               {all, 5, 260}, /* whole */
                               {all, 1, 33333},
                               {argmax, 70, 520},
                               {places, 70, 520},
                               {places, 6, 777},
                               {places, 16500, 36},
                               {places_of_halves, 6, 5003},
                               {sorted, 6, 40},
                               {sorted, 9, 300},
                               {sorted_bytes, 700, 7},
                               {sorted_doubles, 2, 9001},
                               {first_of_row, 600, 64},
                               {first_of_row, 2, 20003},
                               {pooled, 17, 30},
                               {pooled, 1, 2},
                               {depthwise, 9, 21},
                               {depthwise_halves, 6, 40},
                               {scan, 40, 1100},
                               {scan, 9, 33},
                               {transposed, 130, 68},
                               {transposed, 64, 65},
                               {transposed, 31, 200},
                               {transposed, 300, 1}, /* narrow: no tile */
                               {transposed, 600, 7},
                               {transposed, 257, 16},
                               {turned, 600, 5},
                               {turned, 300, 24},
                               {turned, 300, 25},
                               {turned_doubles, 90, 8},
                               {turned_mixed, 300, 3},
                               {turned, 64, 128},
                               {turned, 131, 250},
                               {turned, 77, 16},
                               {turned_bytes, 100, 263},
                               {turned_doubles, 67, 70},
                               {turned_mixed, 130, 67},
                               {short_rows, 16500, 36},
                               {many_columns, 1500, 9},
                               {many_columns, 4100, 20},
                               {product, 70, 40},
                               {product, 131, 20},
                               {product, 64, 16},
                               {product, 16, 300},
                               {transposed_product, 68, 33},
                               {transposed_product, 20, 300},
                               {doubles, 72, 40},
                               {doubles, 36, 36},
                               {doubles, 16, 150},
                               {halves, 72, 200},
                               {halves, 131, 20},
                               {halves, 3, 264},
                               {halves, 136, 64},
                               {halves, 264, 72},
                               {halves_odd, 70, 131},
                               {halves_odd, 300, 257},
                               {padded_halves, 70, 131},
                               {padded_halves, 130, 3},
                               {padded_halves, 24, 72},
                               {padded_halves, 9, 0},
                               {halves_turned, 72, 80},
                               {halves_turned, 33, 70},
                               {halves_computed, 24, 136},
                               {halves_computed, 65, 9},
                               {halves_batched, 2, 72},
                               {halves, 16, 0},
                               {softmax, 0, 8},
                               {all, 0, 8},
                               {product, 8, 0},
                               {windows, 9, 21},
                               {windows, 3, 70},
                               {windows_of_halves, 9, 21},
                               {windows_of_halves, 17, 8},
                               {windows_of_padded, 9, 21},
                               {windows_of_padded, 1, 70},
                               {windows_of_padded_halves, 9, 21},
                               {windows_of_padded_halves, 16, 3},
                               {convolution, 9, 13},
                               {convolution, 1, 2},
                               {dilated_convolution, 3, 7},
                               {grouped_convolution, 5, 6},
                               {line_convolution, 3, 37},
                               {convolutions, 4, 5},
                               {gradients_of_convolution, 1, 40},
                               {torus, 9, 21},
                               {torus, 16, 64},
                               {torus, 1, 3},
                               {torus, 2, 1},
                               {torus_of_halves, 17, 9},
                               {torus_of_halves, 8, 72},
                               {joined, 9, 21},
                               {joined, 2, 64},
                               {joined, 0, 1},
                               {repeated, 33, 40},
                               {repeated, 70, 64},
                               {steps, 37, 29},
                               {steps, 64, 128},
                               {wide_attention, 70, 131},
                               {trained_attention, 70, 131},
                               {trained_attention, 200, 200},
                               {trained_attention, 1, 65},
                               {trained_attention, 0, 3},
                               {dropped_attention, 72, 140},
                               {dropped_attention, 70, 131},
                               {selected_attention, 72, 140},
                               {selected_attention, 70, 131},
                               {coarsely_dropped, 66, 129},
                               {added_uniforms, 67, 130},
                               {trained_wide_attention, 67, 130},
                               {trained_wide_attention, 200, 450},
                               {trained_wide_attention, 264, 300},
                               {trained_broad_attention, 67, 130},
                               {trained_three_panels, 67, 130},
                               {trained_any_attention, 72, 131},
                               {trained_any_attention, 33, 70},
                               {trained_any_attention, 37, 70},
                               {any_width, 109, 131},
                               {any_width, 261, 66},
                               {trained_single_attention, 69, 70},
                               {trained_any_attention, 196, 200},
                               {trained_any_attention, 128, 300},
                               {trained_any_attention, 136, 136},
                               {trained_any_attention, 1, 65},
                               {trained_single_attention, 70, 131},
                               {trained_single_attention, 132, 140},
                               {trained_single_attention, 0, 3},
                               {trained_double_attention, 35, 70},
                               {trained_double_attention, 66, 67},
                               {trained_widest_attention, 17, 70},
                               {halves_anywhere, 5, 40},
                               {halves_anywhere, 3, 264},
                               {halves_anywhere, 70, 1064},
                               {halves_anywhere, 2, 4096},
                               {halves_anywhere, 2, 20000},
                               {halves_anywhere, 9, 41},
                               {constant_anywhere, 7, 1},
                               {bytes_anywhere, 11, 48},
                               {multiplied, 190, 251}, {multiplied, 33, 48}, {multiplied_nt, 70, 131}, {multiplied_nt, 130, 256},
                               {multiplied_nt, 192, 253}, {multiplied_tn, 72, 136}, {multiplied_tn, 88, 61},
                               {multiplied_tn, 184, 248}, {multiplied_tn, 190, 251},
                               {shared_out, 33, 0}, {shared_out, 130, 0}, {shared_out, 0, 0}, {shared_out_odd, 70, 0}, {shared_out_batches, 5, 0}, {shared_out_single, 19, 0}, {shared_out_double, 3, 0},
                               {overlapping, 70, 139}, {overlapping, 300, 40}, {overlapping, 2300, 9}, {overlapping, 5, 257}, {overlapping, 900, 131}, {overlapping_known, 77, 0},
                               {dense_rows, 23, 41}, {dense_rows, 9, 8}, {dense_rows, 300, 9}, {dense_rows, 40, 3}, {dense_rows, 1, 1001},
                               {dense_rows, 0, 9}, {dense_rows, 33, 7}, {dense_channels, 3, 11}, {dense_channels, 1, 1}, {dense_colours, 5, 17},
                               {dense_colours, 2, 1}, {dense_lookup, 70, 13}, {dense_lookup, 5, 9}, {dense_lookup, 900, 5},
                               {dense_lookup_known, 13, 3},
                               {rows_counted, 40, 72}, {rows_counted, 33, 41}, {rows_counted, 29, 12}, {known_rows_counted, 77, 1},
                               {trained_single_64, 70, 131},
                               {trained_single_64, 200, 200},
                               {trained_single_64, 1, 65},
                               {trained_single_64, 0, 3},
                               {trained_single_256, 33, 70},
                               {trained_single_18, 70, 140},
                               {trained_double_40, 35, 70},
                               {trained_double_128, 35, 41},
                               {wide_attention, 3, 1100}, /* keys are shared out */
                               {trained_attention, 3, 1100},
                               {trained_any_attention, 5, 700},
                               {trained_single_64, 3, 300},
                               {trained_double_40, 2, 280},
                               {single_attention, 3, 400},
                               {trained_groups, 2, 300},
                               {single_attention, 70, 132},
                               {single_attention, 67, 35},
                               {trained_groups, 70, 67},
                               {trained_groups, 200, 197}, /* of more blocks than are at work at once */
                               {trained_groups_short, 70, 72},
                               {loss_of_halves, 1, 49153},
                               {narrow_softmax, 1901, 0},
                               {narrow_softmax, 5, 0},
                               {narrow_softmax, 0, 0},
                               {narrow_halves, 401, 0},
                               {narrow_norm, 1403, 0},
                               {narrow_sums, 17001, 0},
                               {narrow_doubles, 2411, 7},
                               {narrow_doubles, 5501, 3},
                               {narrow_doubles, 501, 33},
                               {cut_scans, 2100, 3},
                               {cut_scans, 3, 16385},
                               {cut_scans, 4, 5},
                               {cut_scans, 0, 9},
                               {cut_middle, 2049, 5},
                               {cut_middle, 16400, 1},
                               {cut_known, 1, 1},
                               {scatter, 5000, 1},
                               {scatter, 70, 33},
                               {scatter, 2049, 5},
                               {scatter_add, 1, 300},
                               {scatter_add, 4100, 17},
                               {scatter_add, 0, 8},
                               {scatter_elements, 4500, 0},
                               {scatter_inner, 300, 70},
                               {scatter_columns, 90, 40},
                               {scatter_columns, 900, 9},
                               {scatter_both, 7, 130}};

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)loc;
  if (s >= TC_MISSED) fprintf(stderr, "%s\n", text);
}
static tc_diag diag = {report, NULL};

static tc_graph *parse(const char *text) {
  tc_buf whole = {0};
  tc_putf(&whole, "graph g\n%s", text);
  tc_graph *g = tc_graph_parse(whole.text, &diag);
  tc_buf_free(&whole);
  cr_assert_not_null(g);
  return g;
}

/* Of six rows: one of -inf, one of -inf and a number, one with inf, one with NaN, one that begins with -inf, and
 * one of finite numbers. */
static void make_special(interp_array *x, int64_t c) {
  for (int64_t k = 0; k < c; k++) x->f[k] = x->f[c + k] = -INFINITY;
  x->f[2 * c - 1] = 5;
  x->f[2 * c + c / 2] = INFINITY;
  x->f[3 * c + c / 3] = NAN;
  for (int64_t k = 0; k < c / 2; k++) x->f[4 * c + k] = -INFINITY;
}

static interp_array **arguments(tc_graph *g, const shape *s) {
  const uint32_t n = tc_graph_input_count(g);
  interp_array **input = calloc(n + 1u, sizeof *input);
  uint64_t state = 99;
  for (uint32_t i = 0; i < n; i++) {
    const tc_type *t = &tc_graph_input_at(g, i)->type;
    int64_t dim[TC_MAX_RANK];
    for (int a = 0; a < t->rank; a++) {
      uint32_t sym;
      if (tc_dim_is_const(t->dim[a])) {
        dim[a] = tc_dim_value(t->dim[a]);
        continue;
      }
      cr_assert(tc_dim_is_sym(tc_graph_dims(g), t->dim[a], &sym));
      dim[a] = tc_dims_sym(tc_graph_dims(g), sym)->name[0] == 'R' ? s->r : s->c;
    }
    input[i] = interp_new((tc_dtype)t->dtype, t->rank, dim);
    for (int64_t k = 0; k < input[i]->count; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if (tc_dtype_is_float((tc_dtype)t->dtype))
        input[i]->f[k] = tc_dtype_round((tc_dtype)t->dtype, (float)((double)(state >> 40) / (1 << 23) - 1));
      else input[i]->i[k] = (int64_t)(state >> 40) * PLACES >> 24;
    }
    if (!strcmp(tc_graph_input_at(g, i)->name, "special")) make_special(input[i], s->c);
  }
  return input;
}

static int differs(int i, cuda_layout layout, const char *what, uint32_t number, const interp_array *got,
                   const interp_array *want) {
  const bool half = strstr(shapes[i].text, "f16[") != NULL;
  const double relative = half ? 1.6e-2 : 2e-5, absolute = half ? 5e-2 : 2e-5; /* a step of sums */
  const double d = got ? interp_distance(got, want, relative, absolute) : INFINITY;
  if (!(d > 0)) return 0;
  fprintf(stderr, "R=%lld C=%lld%s, %s %u is off by %g of\n%s\n", (long long)shapes[i].r, (long long)shapes[i].c,
          layout == CUDA_SHIFTED ? " (not aligned)" : layout == CUDA_APART ? " (rows apart)" : layout == CUDA_PADDED ? " (padded rows)" : "", what, number, d, shapes[i].text);
  return 1;
}

/* Graph `at` of the unit, of shape i. */
static int check(const cuda_unit *u, int at, int i, const interp_run *want, cuda_layout layout, bool alone) {
  cuda_run got = {.input = want->input, .layout = layout, .alone = alone};
  const bool ran = cuda_program(u, at, &got);
  int bad = !ran;
  for (uint32_t o = 0; ran && o < want->noutput; o++)
    bad += differs(i, layout, "result", o, got.output[o], want->output[o]);
  for (uint32_t w = 0; ran && w < want->nwrite; w++) {
    uint32_t written;
    tc_graph_write_at(want->g, w, &written);
    bad += differs(i, layout, "write", w, got.after[written], want->write[w]);
  }
  cuda_run_free(&got);
  return bad;
}

enum { N = sizeof shapes / sizeof *shapes };
#ifdef TC_SANITIZED /* what plans and prints is seen by them, what runs is not */
enum { EVERY = 8 };
#else
enum { EVERY = 1 };
#endif

/* Those whose text has the word. */
static void check_all(const char *word) {
  tc_graph *g[N], *optimised[N];
  cuda_unit u;
  int bad = 0, n = 0;
  int number[N];
  for (int k = 0; k < N; k++)
    if (strstr(shapes[k].text, word)) number[n++] = k;
  for (int k = 0; k < n; k++) {
    const int i = number[k];
    g[k] = parse(shapes[i].text);
    optimised[k] = tc_graph_optimize(parse(shapes[i].text));
  }
  cr_assert(cuda_unit_build(&u, optimised, n));
  for (int k = 0; k < n; k += EVERY) {
    const int i = number[k];
    interp_array **input = arguments(g[k], &shapes[i]);
    interp_run want = {.g = g[k], .input = (const interp_array *const *)input};
    cr_assert(interp_graph(&want), "%s", want.message);
    const bool product = strstr(shapes[i].text, "matmul"), padded = product || strstr(shapes[i].text, "\"apart\"");
    for (cuda_layout layout = 0; layout < CUDA_LAYOUTS; layout++)
      if (layout != CUDA_PADDED || padded) bad += check(&u, k, i, &want, layout, false);
    if (product) bad += check(&u, k, i, &want, CUDA_ALIGNED, true);
    interp_run_free(&want);
    for (uint32_t j = 0; j < tc_graph_input_count(g[k]); j++) interp_free(input[j]);
    free(input);
  }
  cuda_unit_free(&u);
  for (int k = 0; k < n; k++) {
    tc_graph_free(g[k]);
    tc_graph_free(optimised[k]);
  }
  cr_expect_eq(bad, 0);
}

/* Chains wherever there is a template for one, those that products of arrays are faster than, too. */
Test(shapes, agree, .timeout = 3000) {
  tc_target target = tc_cuda_target;
  target.chain = tc_cuda_may_chain;
  cuda_unit_target = &target;
  check_all("");
}

/* Windows that are read by the products themselves. */
Test(shapes, parts, .timeout = 3000) {
  tc_target target = tc_cuda_target;
  target.product_parts = TC_PARTS_ALL;
  cuda_unit_target = &target;
  check_all("unfold");
}

/* Tiles that warps of their own bring to others, for which any number of rows is enough. */
Test(shapes, producers, .timeout = 3000) {
  tc_target target = tc_cuda_target;
  target.chain = tc_cuda_may_chain;
  cuda_unit_target = &target;
  cuda_unit_arch = 90;
  cuda_unit_sms = 0;
  check_all("\"q\"");
  check_all("\"multiplied\"");
}

static uint32_t launches_of(const char *text) {
  tc_graph *g = tc_graph_optimize(parse(text));
  tc_program *p = tc_lower(g, &tc_cuda_target);
  cr_assert_not_null(p);
  const uint32_t n = tc_launch_count(p);
  tc_program_free(p);
  tc_graph_free(g);
  return n;
}

Test(shapes, windows_are_no_arrays) {
  cr_expect_eq(launches_of(pooled), 1);
  cr_expect_eq(launches_of(depthwise), 1);
  cr_expect_eq(launches_of(depthwise_halves), 1);
}

/* Attention, forward and backward: no array has the scores, or what is made of them, whatever the dtype. */
Test(shapes, attention_has_no_scores) {
  tc_target target = tc_cuda_target;
  target.chain = tc_cuda_may_chain;
  static const char *const texts[] = {trained_attention, trained_single_64, trained_single_256, trained_single_18,
                                      trained_double_40, trained_double_128, trained_groups,    trained_groups_short};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tc_graph *g = tc_graph_optimize(parse(texts[i]));
    tc_program *p = tc_lower(g, &target);
    cr_assert_not_null(p);
    const tc_dim rows = tc_dim_sym(tc_graph_dims(g), "R", 0, INT64_MAX, 1), keys = tc_dim_sym(tc_graph_dims(g), "C", 0, INT64_MAX, 1);
    for (uint32_t k = 0; k < p->nbuffer; k++) {
      const tc_type *t = &p->buffer[k].type;
      bool has_rows = false, has_keys = false;
      for (uint32_t r = 0; r < t->rank; r++) has_rows |= tc_dim_same(t->dim[r], rows), has_keys |= tc_dim_same(t->dim[r], keys);
      cr_expect(!has_rows || !has_keys, "text %zu, buffer %u", i, k);
    }
    tc_program_free(p);
    tc_graph_free(g);
  }
}

Test(shapes, siblings_are_one_launch) {
  cr_expect_eq(launches_of(siblings), 1, "%u", launches_of(siblings));
  cr_expect_eq(launches_of(turned_siblings), 1);
}

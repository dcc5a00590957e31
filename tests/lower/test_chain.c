/* Attention becomes one kernel where it can, on every target that takes chains; and which keys count. */
#include "backends/registry.h"
#include "tests/lower/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADS_OF(wide) "%1 = param @[B,H,T,16] \"q\"\n%2 = param @[B,H,S,16] \"k\"\n%3 = param @[B,H,S," wide "] \"v\"\n"
#define HEADS HEADS_OF("8")
#define SCORES HEADS "%4 = permute %2 axes=[0,1,3,2]\n%5 = matmul %1 %4\n"
/* y %8; dv %12, dq %17, dk %19 where dy is g */
#define TRAINED_OF(wide)                                                                                               \
  HEADS_OF(wide)                                                                                                       \
  "%4 = param @[B,H,T," wide "] \"g\"\n%5 = permute %2 axes=[0,1,3,2]\n%6 = matmul %1 %5\n%7 = softmax %6 axis=3\n"    \
  "%8 = matmul %7 %3\n%9 = permute %3 axes=[0,1,3,2]\n%10 = matmul %4 %9\n%11 = permute %7 axes=[0,1,3,2]\n"           \
  "%12 = matmul %11 %4\n%13 = mul %7 %10\n%14 = sum %13 axes=[3] keep=1\n%15 = sub %10 %14\n%16 = mul %7 %15\n"        \
  "%17 = matmul %16 %2\n%18 = permute %16 axes=[0,1,3,2]\n%19 = matmul %18 %1\n"
#define TRAINED TRAINED_OF("8")
#define TRAINED_ALIKE TRAINED_OF("16") /* keys as wide as values */
/* the same, of keys that are fewer than 3 places from the query's */
#define WINDOW                                                                                                         \
  HEADS_OF("16")                                                                                                       \
  "%4 = param @[B,H,T,16] \"g\"\n%5 = permute %2 axes=[0,1,3,2]\n%6 = matmul %1 %5\n%7 = const weak i64 0\n"        \
  "%8 = const weak i64 1\n%9 = arange %7 %8 n=T dtype=i64\n%10 = unsqueeze %9 axis=1\n"                          \
  "%11 = arange %7 %8 n=S dtype=i64\n%12 = const weak i64 3\n%13 = sub %10 %12\n%14 = add %10 %12\n"                \
  "%15 = lt %13 %11\n%16 = lt %11 %14\n%17 = logical_and %15 %16\n%18 = const weak f64 -INFINITY\n"                  \
  "%19 = where %17 %6 %18\n%20 = softmax %19 axis=3\n%21 = matmul %20 %3\n%22 = permute %3 axes=[0,1,3,2]\n"             \
  "%23 = matmul %4 %22\n%24 = permute %20 axes=[0,1,3,2]\n%25 = matmul %24 %4\n%26 = mul %20 %23\n"                     \
  "%27 = sum %26 axes=[3] keep=1\n%28 = sub %23 %27\n%29 = mul %20 %28\n%30 = const weak f64 0\n"                     \
  "%31 = where %17 %29 %30\n%32 = matmul %31 %2\n%33 = permute %31 axes=[0,1,3,2]\n%34 = matmul %33 %1\n"
/* six heads of queries, two of keys */
#define SHARED_KEYS                                                                                                    \
  "%1 = param @[B,6,T,16] \"q\"\n%2 = param @[B,2,S,16] \"k\"\n%3 = param @[B,2,S,8] \"v\"\n%4 = param @[B,6,T,8] \"g\"\n" \
  "%5 = reshape %2 dims=[B,2,1,S,16]\n%6 = expand %5 dims=[B,2,3,S,16]\n%7 = reshape %6 dims=[B,6,S,16]\n"            \
  "%8 = reshape %3 dims=[B,2,1,S,8]\n%9 = expand %8 dims=[B,2,3,S,8]\n%10 = reshape %9 dims=[B,6,S,8]\n"              \
  "%11 = permute %7 axes=[0,1,3,2]\n%12 = matmul %1 %11\n%13 = softmax %12 axis=3\n%14 = matmul %13 %10\n"           \
  "%15 = permute %10 axes=[0,1,3,2]\n%16 = matmul %4 %15\n%17 = permute %13 axes=[0,1,3,2]\n%18 = matmul %17 %4\n"   \
  "%19 = mul %13 %16\n%20 = sum %19 axes=[3] keep=1\n%21 = sub %16 %20\n%22 = mul %13 %21\n%23 = matmul %22 %7\n"   \
  "%24 = permute %22 axes=[0,1,3,2]\n%25 = matmul %24 %1\n%26 = reshape %18 dims=[B,2,3,S,8]\n"                      \
  "%27 = sum %26 axes=[2] keep=0\n%28 = reshape %25 dims=[B,2,3,S,16]\n%29 = sum %28 axes=[2] keep=0\n"
/* a backward part that is called for itself: weights, of what the forward part left of each row */
#define CALLED                                                                                                         \
  HEADS_OF("16")                                                                                                       \
  "%4 = param @[B,H,T,16] \"g\"\n%5 = param @[B,H,T,1] \"max\"\n%6 = param @[B,H,T,1] \"r\"\n%7 = param @[B,H,T,1] \"d\"\n" \
  "%8 = permute %2 axes=[0,1,3,2]\n%9 = matmul %1 %8\n%10 = sub %9 %5\n%11 = exp %10\n%12 = mul %11 %6\n"              \
  "%13 = permute %3 axes=[0,1,3,2]\n%14 = matmul %4 %13\n%15 = sub %14 %7\n%16 = mul %12 %15\n"                        \
  "%17 = permute %12 axes=[0,1,3,2]\n%18 = matmul %17 %4\n%19 = matmul %16 %2\n%20 = permute %16 axes=[0,1,3,2]\n"      \
  "%21 = matmul %20 %1\n"
/* gradients of a sum over keys, weighted by a function of their distance */
#define COLUMN                                                                                                         \
  "%1 = param @[T,16] \"q\"\n%2 = param @[S,16] \"k\"\n%3 = param @[S,1] \"v\"\n%4 = param @[T,1] \"g\"\n"             \
  "%5 = permute %2 axes=[1,0]\n%6 = matmul %1 %5\n%7 = exp %6\n%8 = permute %3 axes=[1,0]\n%9 = matmul %4 %8\n"        \
  "%10 = permute %7 axes=[1,0]\n%11 = matmul %10 %4\n%12 = mul %7 %9\n%13 = matmul %12 %2\n"
/* weights %11 of scores that a mask %4 hides; another mask %5, and zero %9 */
#define HIDDEN(other)                                                                                                  \
  HEADS                                                                                                                \
  "%4 = param bool[T,S] \"mask\"\n%5 = param bool[" other "] \"other\"\n%6 = permute %2 axes=[0,1,3,2]\n"             \
  "%7 = matmul %1 %6\n%8 = const weak f64 -INFINITY\n%9 = const weak f64 0\n%10 = where %4 %7 %8\n%11 = softmax %10 axis=3\n"
#define WEIGHTED(scores) "%20 = softmax " scores " axis=3\n%21 = matmul %20 %3\nret %21\n"

typedef struct form {
  const char *what, *text;
  uint32_t kernels, halves; /* of numbers that are computed as they are stored, and that are not; 0: any number */
  uint32_t others;          /* on targets where sums along m are kernels of their own; 0: as many */
} form;

static const form forms[] = {
    {"plain", SCORES WEIGHTED("%5"), 1, 1, 0},
    {"scaled and masked",
     "%1 = param @[B,H,T,16] \"q\"\n%2 = param @[B,H,S,16] \"k\"\n%3 = param @[B,H,S,8] \"v\"\n%4 = param @[T,S] \"mask\"\n"
     "%5 = permute %2 axes=[0,1,3,2]\n%6 = matmul %1 %5\n%7 = const weak f64 0.25\n%8 = mul %6 %7\n%9 = add %8 %4\n"
     "%10 = softmax %9 axis=3\n%11 = matmul %10 %3\nret %11\n",
     1, 1, 0},
    {"heads of one array, merged again: batches are known in front of the last product alone",
     "%1 = param @[B,T,2,16] \"q\"\n%2 = param @[B,S,2,16] \"k\"\n%3 = param @[2*B,S,8] \"v\"\n%4 = permute %1 axes=[0,2,1,3]\n"
     "%5 = permute %2 axes=[0,2,3,1]\n%6 = matmul %4 %5\n%7 = softmax %6 axis=3\n%8 = reshape %7 dims=[2*B,T,S]\n"
     "%9 = matmul %8 %3\nret %9\n",
     1, 1, 0},
    {"scores lie the other way round",
     HEADS "%4 = permute %1 axes=[0,1,3,2]\n%5 = matmul %2 %4\n%6 = permute %5 axes=[0,1,3,2]\n" WEIGHTED("%6"), 1, 1, 0},
    {"weights are scaled by keys",
     "%1 = param @[B,H,T,16] \"q\"\n%2 = param @[B,H,S,16] \"k\"\n%3 = param @[B,H,S,8] \"v\"\n%4 = param @[S] \"w\"\n"
     "%5 = permute %2 axes=[0,1,3,2]\n%6 = matmul %1 %5\n%7 = softmax %6 axis=3\n%8 = mul %7 %4\n%9 = matmul %8 %3\nret %9\n",
     1, 1, 0}, /* though their array would have rounded weights in between */
    {"weights are a result", SCORES "%6 = softmax %5 axis=3\n%7 = matmul %6 %3\nret %7 %6\n", 3, 3, 0},
    {"scores are a result", SCORES "%6 = softmax %5 axis=3\n%7 = matmul %6 %3\nret %7 %5\n", 3, 3, 0},
    {"a softmax along queries", SCORES "%6 = softmax %5 axis=2\n%7 = matmul %6 %3\nret %7\n", 0, 0, 0},
    {"in training: weights, and what their cotangents make of them, are made again",
     TRAINED "ret %8 %12 %17 %19\n", 4, 4, 5},
    {"in training, the other way round", TRAINED "%20 = permute %1 axes=[0,1,3,2]\n%21 = matmul %20 %16\nret %8 %12 %17 %21\n", 4, 4, 5},
    {"in training, keys as wide as values: one kernel has all gradients", TRAINED_ALIKE "ret %8 %12 %17 %19\n", 3, 3, 4},
    {"the same, with the gradient of keys the other way round",
     TRAINED_ALIKE "%20 = permute %1 axes=[0,1,3,2]\n%21 = matmul %20 %16\nret %8 %12 %17 %21\n", 3, 3, 4},
    {"the same, of all gradients in one array", TRAINED_ALIKE "%20 = concat %17 %19 %12 axis=2\nret %8 %20\n", 3, 3, 4},
    {"the same, of a gradient that is added to what is there: what one product stores may lie where the other reads",
     TRAINED_ALIKE "%20 = add %12 %3\nret %8 %20 %17 %19\n", 4, 4, 0},
    {"in training, something reads the gradient of values in between",
     TRAINED_ALIKE "%20 = mul %19 %12\nret %8 %17 %20\n", 5, 5, 0},
    {"in training, with a window on both sides: no array has the mask", WINDOW "ret %21 %25 %32 %34\n", 3, 3, 4},
    {"in training, heads that share keys: sums over them are kernels of their own", SHARED_KEYS "ret %14 %23 %27 %29\n", 7, 7, 0},
    {"in training, of queries alone", TRAINED "ret %8 %17\n", 3, 3, 0},
    {"in training, weights are a result", TRAINED "ret %8 %12 %17 %19 %7\n", 8, 8, 0},
    {"in training, the derivatives of scores are a result", TRAINED "ret %8 %12 %17 %19 %16\n", 8, 8, 0},
    {"rows leave their maximum and what their weights are multiplied with",
     SCORES "%6 = max %5 axes=[3] keep=1\n%7 = sub %5 %6\n%8 = exp %7\n%9 = sum %8 axes=[3] keep=1\n%10 = reciprocal %9\n"
            "%11 = mul %8 %10\n%12 = matmul %11 %3\nret %12 %6 %10\n",
     1, 0, 0},
    {"a backward part that is called for itself", CALLED "ret %18 %19 %21\n", 1, 0, 2},
    {"the same, of queries alone: nothing stores weights", CALLED "ret %19\n", 1, 0, 0},
    {"the same, of values alone", CALLED "ret %18\n", 2, 0, 0},
    {"the same, of one column: weights are read sooner than made", COLUMN "ret %11 %13\n", 4, 0, 0},
    {"the same, of weights that are a result", CALLED "ret %18 %19 %21 %12\n", 5, 0, 0},
    {"weights are dropped at random", SCORES "%6 = softmax %5 axis=3\n%7 = const i64 5\n%8 = rand %7 dims=[B,H,T,S] dtype=f32\n"
     "%9 = const weak f32 0.3\n%10 = lt %8 %9\n%11 = const weak f64 0\n%12 = const weak f64 1.25\n%13 = mul %6 %12\n"
     "%14 = where %10 %11 %13\n%15 = matmul %14 %3\nret %15\n", 1, 1, 0},
    {"weights are 0 where scores are hidden", HIDDEN("T,S") "%12 = where %4 %11 %9\n%13 = matmul %12 %3\nret %13\n", 1, 1, 0},
    {"weights are 0 where something else says: of a row without keys those that are left are NaN",
     HIDDEN("T,S") "%12 = where %5 %11 %9\n%13 = matmul %12 %3\nret %13\n", 3, 3, 0},
    {"weights of some rows are 0", HIDDEN("T,1") "%12 = where %5 %11 %9\n%13 = matmul %12 %3\nret %13\n", 1, 1, 0},
    {"weights plus something", SCORES "%6 = softmax %5 axis=3\n%7 = const weak f64 0.5\n%8 = add %6 %7\n%9 = matmul %8 %3\nret %9\n", 3, 3, 0},
};

/* square: of as many keys as queries. */
static tc_graph *graph_with(const char *text, const char *dtype, bool square) {
  tc_buf out = {0};
  tc_put(&out, "graph g\n");
  for (; *text; text++)
    if (*text == '@') tc_put(&out, dtype);
    else if (*text == 'S' && square) tc_put(&out, "T");
    else tc_putn(&out, text, 1);
  tc_graph *g = graph_of(out.text);
  tc_buf_free(&out);
  return g;
}

static void check(const tc_target *target, const form *f, const char *dtype) {
  /* GPUs leave f32 and f64 of few queries beside many keys, such as in decoding, to products of arrays */
  const bool square = target != &tc_target_cores && strcmp(dtype, "bf16") != 0;
  tc_graph *g = graph_with(f->text, dtype, square);
  interp_array **input = arguments_of(g, 5);
  const uint32_t kernels = check_lowering_for(target, g, input, NULL, NULL);
  const uint32_t one = strcmp(dtype, "bf16") ? f->kernels : f->halves;
  const bool more_rows = square && strstr(f->text, "expand"); /* of heads that share keys */
  const uint32_t want = more_rows ? 0 : target != &tc_target_cores && f->others ? f->others : one;
  if (want) cr_expect_eq(kernels, want, "%s of %s on %s: %u kernels", f->what, dtype, target->name, kernels);
  free_arguments(g, input);
  tc_graph_free(g);
}

Test(chain, forms) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    static const char *const dtypes[] = {"f32", "f64", "bf16"};
    const tc_backend *b;
    for (uint32_t k = 0; (b = tc_backend_of_build(k)); k++)
      for (int t = 0; t < 3 && b->target->chain; t++) check(b->target, &forms[i], dtypes[t]);
  }
}

/* ---- which keys count -------------------------------------------------------------------------- */

/* Row m's keys are from m + first to before m + end, by a score %19 made of %3 and the places of key and row. */
static const struct {
  const char *score;
  bool has_first, has_end;
  int64_t first, end;
} masks[] = {
    {"%6 = le %5 %4 : bool\n%19 = where %6 %3 %7 : f32", false, true, 0, 1},
    {"%6 = lt %5 %4 : bool\n%19 = where %6 %3 %7 : f32", false, true, 0, 0},
    {"%6 = lt %4 %5 : bool\n%19 = where %6 %7 %3 : f32", false, true, 0, 1},
    {"%6 = gt %4 %5 : bool\n%10 = logical_not %6 : bool\n%19 = where %10 %7 %3 : f32", false, true, 0, 0},
    {"%6 = index k - m : i64\n%10 = 1 : i64\n%11 = ge %6 %10 : bool\n%12 = 0.0 : f32\n%13 = where %11 %7 %12 : f32\n"
     "%19 = add %3 %13 : f32",
     false, true, 0, 1},
    {"%6 = le %5 %4 : bool\n%10 = 5 : i64\n%11 = sub %4 %10 : i64\n%12 = gt %5 %11 : bool\n"
     "%13 = logical_and %6 %12 : bool\n%19 = where %13 %3 %7 : f32",
     true, true, -4, 1},
    {"%6 = gt %5 %4 : bool\n%10 = index m - 3 : i64\n%11 = lt %5 %10 : bool\n%12 = logical_or %6 %11 : bool\n"
     "%13 = where %12 %7 %3 : f32\n%14 = 2.0 : f32\n%19 = mul %13 %14 : f32",
     true, true, -3, 1},
    {"%6 = gt %5 %4 : bool\n%10 = lt %5 %4 : bool\n%11 = logical_and %6 %10 : bool\n%19 = where %11 %7 %3 : f32", false,
     false, 0, 0},
    {"%6 = le %5 %4 : bool\n%10 = where %6 %3 %7 : f32\n%11 = -2.0 : f32\n%19 = mul %10 %11 : f32", false, false, 0, 0},
    {"%6 = eq %5 %4 : bool\n%19 = where %6 %3 %7 : f32", false, false, 0, 0},
    {"%6 = index 2*k - m : i64\n%10 = 0 : i64\n%11 = gt %6 %10 : bool\n%19 = where %11 %7 %3 : f32", false, false, 0, 0},
    {"%19 = exp %3 : f32", false, false, 0, 0},
};

static void keep_text(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)s, (void)loc;
  snprintf(self, 300, "%s", text);
}

/* The program that the text says, which is freed; NULL, and why not in `said`. */
static tc_program *read_text(tc_buf *text, char said[300]) {
  tc_diag diag = {keep_text, said};
  tc_program *p = tc_program_read(text->text, &diag);
  if (p) tc_graph_diag(p->graph)->self = NULL;
  tc_buf_free(text);
  return p;
}

static tc_program *chain_of(const char *score, char said[300]) {
  tc_buf text = {0};
  tc_putf(&text,
          "program p\nbuffer 0 output 0 y f32[M,8]\nbuffer 1 input 0 q f32[M,16]\nbuffer 2 input 1 k f32[K,16]\n"
          "buffer 3 input 2 v f32[K,8]\nkernel attention\nmatmul f32 m < M n < 8 k < K inner d < 16\ninner\na %%1 b %%2\n"
          "%%1 = load q[16*m + d] : f32\n%%2 = load k[16*k + d] : f32\nrows\n%%3 = #1 : f32\n%%4 = index m : i64\n"
          "%%5 = index k : i64\n%%7 = -INFINITY : f32\n%s\n%%20 = 1.0 : f32\n%%21 = #2 : f32\n%%22 = sub %%19 %%21 : f32\n"
          "%%23 = exp %%22 : f32\n#2, #3 = online_softmax %%19, %%20 of terms %%23 : f32\nouter\na %%23 b %%24\n"
          "%%24 = load v[8*k + n] : f32\nepilogue\n%%25 = #0 : f32\n%%26 = #3 : f32\n%%27 = div %%25 %%26 : f32\n"
          "store y.0[8*m + n] %%27\n",
          score);
  return read_text(&text, said);
}

Test(chain, keys) {
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
    char said[300] = "";
    tc_program *p = chain_of(masks[i].score, said);
    cr_assert_not_null(p, "%s: %s", masks[i].score, said);
    const tc_mm_keys keys = tc_mm_find_keys(&p->kernel[0], tc_graph_dims(p->graph));
    cr_expect(keys.has_first == masks[i].has_first && keys.has_end == masks[i].has_end, "%d %d: %s", keys.has_first,
              keys.has_end, masks[i].score);
    if (keys.has_first) cr_expect_eq(tc_dim_value(keys.first.offset), masks[i].first, "%s", masks[i].score);
    if (keys.has_end) cr_expect_eq(tc_dim_value(keys.end.offset), masks[i].end, "%s", masks[i].score);
    for (int end = 0; end < 2; end++) { /* what says so is a comparison */
      const tc_val test = end ? keys.end_test : keys.first_test;
      cr_expect((test.id != 0) == (end ? keys.has_end : keys.has_first), "%s", masks[i].score);
      if (test.id) cr_expect(p->kernel[0].expr[test.id].dtype == TC_BOOL, "%s", masks[i].score);
    }
    if (keys.has_end) cr_expect(tc_dim_is(keys.end.coef[0], 1), "%s", masks[i].score);
    free_read(p);
  }
}

/* ---- what is refused --------------------------------------------------------------------------- */

/* A chain whose rows, operand and what stands in front of them are these. */
static void expect_refused(const char *rows, const char *a, const char *why) {
  char said[300] = "";
  tc_buf text = {0};
  tc_putf(&text,
          "program p\nbuffer 0 output 0 y f32[M,8]\nbuffer 1 input 0 q f32[M,16]\nbuffer 2 input 1 v f32[K,8]\n"
          "kernel k\nmatmul f32 m < M n < 8 k < K inner d < 16\ninner\na %%1 b %%1\n%%1 = load q[16*m + d] : f32\n"
          "rows\n%%3 = #1 : f32\n%%4 = 1.0 : f32\n%%5 = #2 : f32\n%%6 = sub %%3 %%5 : f32\n%%7 = exp %%6 : f32\n"
          "%%8 = add %%7 %%4 : f32\n%%9 = #3 : f32\n%s\nouter\na %s b %%10\n%%10 = load v[8*k + n] : f32\n"
          "epilogue\n%%11 = #0 : f32\nstore y.0[8*m + n] %%11\n",
          rows, a);
  tc_program *p = read_text(&text, said);
  cr_expect_null(p, "%s", why);
  cr_expect(strstr(said, why), "%s: %s", why, said);
  if (p) free_read(p);
}

Test(chain, wrong_ones_are_refused) {
  static const char online[] = "#2, #3 = online_softmax %3, %4 of terms %7 : f32";
  expect_refused(online, "%8", "no multiple of a term");
  expect_refused(online, "%9", "no multiple of a term");
  expect_refused("#2, #3 = online_softmax %7, %4 of terms %7 : f32", "%7", "reduced of what comes later");
  expect_refused("#2, #3 = online_softmax %3, %4 : f32", "%7", "reduction with terms");
  expect_refused("#2 = max %3 : f32", "%3", "reduction with terms");
  expect_refused("#2, #3 = online_softmax %3, %4 of terms %7 : f32\nfinish\nstore y.0[8*m] %3", "%7", "with its accumulators");
  expect_refused("#2, #3 = online_softmax %3, %4 of terms %7 : f32\nfinish\nstore y.0[8*m + n] %5", "%7", "with stores of it");
}

/* ---- sums along m ------------------------------------------------------------------------------ */

/* Gradients of keys and of queries, of scores %3 and their cotangents %6; what is summed along m is `across`. */
static tc_program *sums_of(const char *across, char said[300]) {
  tc_buf text = {0};
  tc_putf(&text,
          "program p\nbuffer 0 output 0 dk f32[M,8]\nbuffer 1 output 1 dq f32[K,8]\nbuffer 2 input 0 q f32[K,8]\n"
          "buffer 3 input 1 k f32[M,8]\nbuffer 4 input 2 v f32[M,16]\nbuffer 5 input 3 g f32[K,16]\nkernel gradients\n"
          "matmul f32 m < M n < 8 k < K inner d < 8 l < 16\ninner\na %%1 b %%2\n%%1 = load k[8*m + d] : f32\n"
          "%%2 = load q[8*k + d] : f32\ninner\na %%4 b %%5\n%%4 = load v[16*m + l] : f32\n%%5 = load g[16*k + l] : f32\n"
          "outer\na %%8 b %%9\n%%3 = #1 : f32\n%%6 = #4 : f32\n%%7 = exp %%3 : f32\n%%8 = mul %%7 %%6 : f32\n"
          "%%9 = load q[8*k + n] : f32\nepilogue\n%%10 = #0 : f32\nstore dk.0[8*m + n] %%10\n%s",
          across);
  return read_text(&text, said);
}

Test(chain, sums_along_m) {
  char said[300] = "";
  tc_program *p = sums_of("across b %11\n%11 = load k[8*m + n] : f32\n%12 = #6 : f32\nstore dq.1[8*k + n] %12\n", said);
  cr_assert_not_null(p, "%s", said);
  cr_expect(tc_mm_has_across(&p->kernel[0].mm) && tc_kernel_writes(&p->kernel[0], p->kernel[0].mm.across.epilogue.action->buffer));
  tc_buf text = {0};
  tc_program_print(p, &text);
  cr_expect_not_null(strstr(text.text, "across b %"), "%s", text.text);
  tc_buf_free(&text);
  free_read(p);
}

Test(chain, wrong_sums_along_m_are_refused) {
  static const struct {
    const char *across, *why;
  } wrong[] = {
      {"across b %11\n%11 = load k[8*m + n] : f32\n%12 = #6 : f32\nstore dq.1[8*m + n] %12\n", "stored along m"},
      {"across b %11\n%11 = load k[8*m + n] : f32\n%12 = #0 : f32\nstore dq.1[8*k + n] %12\n", "is of other results"},
      {"across b %3\n%12 = #6 : f32\nstore dq.1[8*k + n] %12\n", "made of its results"},
      {"across b %11\n%12 = #6 : f32\nstore dq.1[8*k + n] %12\n", "not defined"},
      {"across b %11\n%11 = load k[8*m + n] : f32\n", "does nothing"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char said[300] = "";
    tc_program *p = sums_of(wrong[i].across, said);
    cr_expect_null(p, "%s", wrong[i].why);
    cr_expect(strstr(said, wrong[i].why), "%s: %s", wrong[i].why, said);
    if (p) free_read(p);
  }
}

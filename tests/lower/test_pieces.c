/* Concatenations and padded arrays that are computed where they are read: of how many kernels, and that the values are
 * right at all sizes, axes shorter than a shift among them. */
#include "tests/lower/check.h"

#include <string.h>

static const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 17, 40};

/* The first size: a remainder by 0 is none, and nothing has no maximum. */
static size_t first_size(const char *text) {
  return strstr(text, "shift=2") || strstr(text, "shift=-2") || strstr(text, "shift=-7") ||
         strstr(text, "max");
}

static uint32_t kernels_for(const tc_target *target, const char *text) {
  uint32_t most = 0;
  for (size_t i = first_size(text); i < sizeof sizes / sizeof *sizes; i++) {
    tc_graph *g = graph_of(text);
    interp_array **input = arguments_of(g, sizes[i]);
    tc_value scalar[4] = {{.f = 0.5}, {.f = 0.25}, {.f = 0.75}, {.f = 2}};
    const uint32_t n = check_lowering_for(target, g, input, NULL, scalar);
    most = n > most ? n : most;
    free_arguments(g, input);
    tc_graph_free(g);
  }
  return most;
}

/* Stages of intervals; chunks that end within them; no such stages, but comparisons at each point. */
static uint32_t with_intervals(const char *text) { return kernels_for(&tc_target_cores, text); }

static uint32_t with_chunks(const char *text) {
  tc_target target = tc_target_cores;
  target.chunk = 8;
  return kernels_for(&target, text);
}

static uint32_t with_choices(const char *text) {
  const tc_target target = {.name = "wide",
                            .split = 4,
                            .least_part = 2,
                            .most_parts = 4,
                            .cut_unknown = true,
                            .guards = true};
  return kernels_for(&target, text);
}

/* intervals, choices: kernels there are at most */
#define PIECES(name, intervals, choices, text)                                                     \
  Test(pieces, name) {                                                                             \
    cr_expect_leq(with_intervals("graph g\n" text), intervals);                                    \
    cr_expect_leq(with_chunks("graph g\n" text), intervals);                                       \
    cr_expect_leq(with_choices("graph g\n" text), choices);                                        \
  }

#define U "%1 = param f32[N,M] \"u\"\n"
#define ROLL(to, from, shift, axis) to " = roll " from " shift=" shift " axis=" axis "\n"

/* ---- stencils -------------------------------------------------------------------------------- */

PIECES(five_points, 1, 1,
       U ROLL("%2", "%1", "1", "0") ROLL("%3", "%1", "-1", "0") ROLL("%4", "%1", "1", "1")
           ROLL("%5", "%1", "-1",
                "1") "%6 = add %2 %3\n%7 = add %4 %5\n%8 = add %6 %7\n%9 = sub %8 %1\nret %9\n")
PIECES(diagonals, 1, 1, /* a roll of a roll */
       U ROLL("%2", "%1", "1", "0") ROLL("%3", "%2", "1", "1")
           ROLL("%4", "%2", "-1", "1") "%5 = add %3 %4\n%6 = add %5 %1\nret %6\n")
PIECES(diagonals_of_lanes_first, 1, 1,
       U ROLL("%2", "%1", "1", "1") ROLL("%3", "%2", "1", "0")
           ROLL("%4", "%2", "-1", "0") "%5 = add %3 %4\n%6 = add %5 %1\nret %6\n")
PIECES(both_ways_along_lanes, 1, 1, /* a cut within a cut */
       U ROLL("%2", "%1", "1", "1") ROLL("%3", "%2", "-2", "1") "%4 = add %3 %1\nret %4\n")
PIECES(second_neighbours, 1, 1, /* the order of the places is not known */
       U ROLL("%2", "%1", "2", "1") ROLL("%3", "%1", "-2", "1")
           ROLL("%4", "%1", "1", "1") "%5 = add %2 %3\n%6 = add %5 %4\nret %6\n")
PIECES(seven_points, 1, 1,
       "%1 = param f64[A,B,C] \"u\"\n" ROLL("%2", "%1", "1", "0") ROLL("%3", "%1", "-1", "0")
           ROLL("%4", "%1", "1", "1") ROLL("%5", "%1", "-1", "1") ROLL("%6", "%1", "1", "2")
               ROLL("%7", "%1", "-1", "2") "%8 = add %2 %3\n%9 = add %4 %5\n%10 = add %6 %7\n%11 = "
                                           "add %8 %9\n%12 = add %10 %11\nret %12\n")
PIECES(difference_of_neighbours, 1, 1,
       "%1 = param f32[N] \"u\"\n" ROLL("%2", "%1", "1", "0") "%3 = sub %1 %2\nret %3\n")
PIECES(long_shift, 1, 1,
       "%1 = param f32[N] \"u\"\n" ROLL("%2", "%1", "-7", "0") "%3 = sub %1 %2\nret %3\n")
PIECES(known_size, 1, 1,
       "%1 = param f32[20,33] \"u\"\n" ROLL("%2", "%1", "3", "1")
           ROLL("%3", "%1", "-2", "0") "%4 = mul %3 %2\nret %4\n")
PIECES(transposed_reader, 1, 1,
       U ROLL("%2", "%1", "1", "0") "%3 = permute %2 axes=[1,0]\n%4 = exp %3\nret %4\n")
PIECES(two_steps, 2, 2, /* what is read at several places, and costs, is an array between them */
       U ROLL("%2", "%1", "1", "1")
           ROLL("%3", "%1", "-1", "1") "%4 = add %2 %3\n%5 = exp %4\n" ROLL("%6", "%5", "1", "1")
               ROLL("%7", "%5", "-1", "1") "%8 = add %6 %7\nret %8\n")
PIECES(two_results, 1, 1,
       U ROLL("%2", "%1", "1", "1") "%3 = add %2 %1\n%4 = sub %2 %1\nret %3 %4\n")
PIECES(result_too, 2, 2, /* it is stored, and loaded again */
       U ROLL("%2", "%1", "1", "1") "%3 = exp %2\nret %2 %3\n")
PIECES(written_in_place, 2, 2, /* what others read is overwritten behind them */
       U ROLL("%2", "%1", "1", "0")
           ROLL("%3", "%1", "-1", "1") "%4 = add %2 %3\n%5 = sub %4 %1\nwrite %5 -> %1\n")

PIECES(written_beside_its_neighbours, 1, 1, /* what is overwritten is read in its place */
       U "%2 = param f32[N,M] \"v\"\n" ROLL("%3", "%1", "1", "1") ROLL("%4", "%1", "-1", "1")
           ROLL("%5", "%1", "1",
                "0") "%6 = add %3 %4\n%7 = add %6 %5\n%8 = sub %7 %2\nwrite %8 -> %2\n")

/* ---- concatenations -------------------------------------------------------------------------- */

PIECES(rotated_halves, 1, 1,
       "%1 = param f32[R,64] \"x\"\n%2 = slice %1 axis=1 start=0 stop=32 step=1\n"
       "%3 = slice %1 axis=1 start=32 stop=64 step=1\n%4 = neg %3\n%5 = concat %4 %2 axis=1\n%6 = "
       "mul %5 %1\nret %6\n")
PIECES(of_rows, 1, 1,
       "%1 = param f32[N,M] \"x\"\n%2 = param f32[K,M] \"y\"\n%3 = concat %1 %2 axis=0\n%4 = exp "
       "%3\nret %4\n")
PIECES(of_columns, 1, 1,
       "%1 = param f32[N,M] \"x\"\n%2 = param f32[N,K] \"y\"\n%3 = concat %1 %2 axis=1\n%4 = exp "
       "%3\nret %4\n")
PIECES(
    of_values, 1,
    3, /* where nothing is computed but what is chosen; else they are arrays, or their concatenation */
    "%1 = param f32[N,M] \"x\"\n%2 = param f32[N,K] \"y\"\n%3 = exp %1\n%4 = log %2\n%5 = concat "
    "%3 %4 axis=1\n"
    "%6 = mul %5 %5\nret %6\n")
PIECES(stacked, 1, 1,
       "%1 = param f32[M] \"x\"\n%2 = param f32[M] \"y\"\n%3 = stack %1 %2 axis=0\n%4 = exp "
       "%3\nret %4\n")
PIECES(of_bf16, 1, 1,
       "%1 = param bf16[N,M] \"x\"\n%2 = param bf16[N,K] \"y\"\n%3 = concat %1 %2 axis=1\n%4 = mul "
       "%3 %3\nret %4\n")
PIECES(of_integers, 1, 1,
       "%1 = param i32[N,M] \"x\"\n%2 = param i32[N,K] \"y\"\n%3 = concat %1 %2 axis=1\n%4 = mul "
       "%3 %3\nret %4\n")
PIECES(one_element_in_front, 1, 1, /* of an axis of one element the index is 0 */
       "%1 = param f32[N,1] \"x\"\n%2 = param f32[N,M] \"y\"\n%3 = concat %1 %2 axis=1\n%4 = exp "
       "%3\nret %4\n")
PIECES(of_a_concatenation, 1, 1,
       "%1 = param f32[N,M] \"x\"\n%2 = param f32[K,M] \"y\"\n%3 = concat %1 %2 axis=0\n%4 = "
       "concat %3 %3 axis=1\n"
       "%5 = exp %4\nret %5\n")

/* ---- padded arrays --------------------------------------------------------------------------- */

#define PAD U "%2 = const weak f64 0.5\n%3 = pad %1 %2 before=[1,1] after=[1,2]\n"
#define PART(to, from, axis, start, stop)                                                          \
  to " = slice " from " axis=" axis " start=" start " stop=" stop " step=1\n"
PIECES(neighbours_of_edges, 1, 1,
       PAD PART("%4", "%3", "0", "0", "N") PART("%5", "%4", "1", "1", "M+1")
           PART("%6", "%3", "0", "1", "N+1")
               PART("%7", "%6", "1", "2", "M+2") "%8 = add %5 %7\nret %8\n")
PIECES(padded_rows, 1, 1,
       U "%2 = const weak f64 0\n%3 = pad %1 %2 before=[2,0] after=[0,0]\n%4 = exp %3\nret %4\n")
PIECES(padded_columns, 1, 1,
       U "%2 = const weak f64 0\n%3 = pad %1 %2 before=[0,3] after=[0,1]\n%4 = exp %3\nret %4\n")

/* Row sums of so many shifted slices of a padded array, and sums of as many shifted slices of these. */
static uint32_t kernels_of_box(int taps) {
  tc_buf t = {0};
  tc_put(&t, "graph g\n" U);
  tc_putf(&t, "%%2 = const weak f64 0\n%%3 = pad %%1 %%2 before=[%d,%d] after=[%d,%d]\n", taps / 2, taps / 2, taps / 2, taps / 2);
  int n = 3, of = 3;
  for (int axis = 0; axis < 2; axis++) {
    int sum = 0;
    for (int i = 0; i < taps; i++) {
      tc_putf(&t, "%%%d = slice %%%d axis=%d start=%d stop=%s+%d step=1\n", n + 1, of, axis, i, axis ? "M" : "N", i);
      const int slice = ++n;
      if (sum) tc_putf(&t, "%%%d = add %%%d %%%d\n", n + 1, sum, slice), n++;
      sum = n;
    }
    of = sum;
  }
  tc_putf(&t, "ret %%%d\n", of);
  const uint32_t kernels = with_intervals(t.text);
  tc_buf_free(&t);
  return kernels;
}

/* What many slices are read of is computed once where adding it up again for each of them costs more than an array. */
Test(pieces, sums_of_shifted_slices) {
  cr_expect_eq(kernels_of_box(3), 1);
  cr_expect_eq(kernels_of_box(5), 2);
}

/* ---- readers --------------------------------------------------------------------------------- */

PIECES(sum_of_rolled_rows, 1, 1, /* lanes along the rows, which roll as a whole */
       U ROLL("%2", "%1", "1", "0") "%3 = mul %2 %1\n%4 = sum %3 axes=[1] keep=0\nret %4\n")
PIECES(sum_along_lanes, 1, 1, /* one for each interval, which are added up */
       U ROLL("%2", "%1", "1", "1") "%3 = mul %2 %1\n%4 = sum %3 axes=[1] keep=0\nret %4\n")
PIECES(sum_of_all, 1, 1,
       U ROLL("%2", "%1", "1", "0")
           ROLL("%3", "%1", "-1", "1") "%4 = mul %2 %3\n%5 = sum %4 axes=[] keep=0\nret %5\n")
PIECES(largest_and_where, 1, 1,
       U ROLL("%2", "%1", "1", "1") "%3 = sub %2 %1\n%4 = argmax %3 axes=[1] keep=0\n%5 = max %3 "
                                    "axes=[1] keep=0\nret %4 %5\n")
PIECES(norm_of_what_is_stored, 1, 2,
       U ROLL("%2", "%1", "1", "1")
           ROLL("%3", "%1", "1",
                "0") "%4 = add %2 %3\n%5 = abs %4\n%6 = max %5 axes=[1] keep=0\nret %4 %6\n")
PIECES(sum_of_columns, 2, 2,
       U ROLL("%2", "%1", "1", "1") "%3 = mul %2 %1\n%4 = sum %3 axes=[0] keep=0\nret %4\n")
PIECES(sum_of_columns_of_rolled_rows, 1, 1,
       U ROLL("%2", "%1", "1", "0") "%3 = mul %2 %1\n%4 = sum %3 axes=[0] keep=0\nret %4\n")
PIECES(softmax_of_rolled, 2, 1, U ROLL("%2", "%1", "1", "1") "%3 = softmax %2 axis=1\nret %3\n")
PIECES(mean_of_padded, 1, 1,
       U "%2 = const weak f64 0.5\n%3 = pad %1 %2 before=[1,1] after=[1,2]\n%4 = mean %3 axes=[1] "
         "keep=0\nret %4\n")
PIECES(beside_a_softmax, 2, 1,
       U ROLL("%2", "%1", "1", "1") "%3 = softmax %1 axis=1\n%4 = mul %3 %2\nret %4\n")
PIECES(one_element, 1, 1,
       U ROLL("%2", "%1", "1", "1") PART("%3", "%2", "1", "0", "1") "%4 = exp %3\nret %4\n")
PIECES(gathered, 2, 2,
       U "%2 = param i64[K] \"i\"\n" ROLL(
           "%3", "%1", "1", "0") "%4 = index_select %3 %2 axis=1\n%5 = exp %4\nret %5\n")
PIECES(flipped, 2, 1,
       U ROLL("%2", "%1", "1", "1") "%3 = flip %2 axes=[1]\n%4 = add %3 %1\nret %4\n")

/* Places whose order is not known make more intervals with each roll, and each computes all that is read there: values
 * become arrays before kernels grow with them. */
Test(pieces, size_of_kernels) {
  const char *text =
      "graph g\n%1 = param i32[N] \"x\"\n%2 = param i32[N] \"y\"\n"
      "%3 = neg %1\n%4 = sub %3 %1\n%5 = sub %4 %2\n%6 = abs %5\n" ROLL(
          "%7", "%6", "2",
          "0") "%8 = minimum %6 %7\n" ROLL("%9", "%7", "-3",
                                           "0") "%10 = minimum %8 %9\n" ROLL("%11", "%9", "-1",
                                                                             "0") "%12 = add %10 "
                                                                                  "%11\n" ROLL("%1"
                                                                                               "3",
                                                                                               "%1"
                                                                                               "2",
                                                                                               "-3",
                                                                                               "0") "%14 = abs %13\nret %14 %6\n";
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  for (uint32_t k = 0; k < p->nkernel; k++) cr_expect_leq(p->kernel[k].nest[0].nstage, 16);
  tc_program_free(p);
  tc_graph_free(g);
}

/* ---- the loops ------------------------------------------------------------------------------- */

/* A row of a stencil is its first element, what lies between, and its last; rows in front and behind are chosen. */
Test(pieces, text) {
  tc_graph *g = graph_of("graph g\n" U ROLL("%2", "%1", "1", "0") ROLL("%3", "%1", "1", "1") ROLL(
      "%4", "%1", "-1", "1") "%5 = add %3 %4\n%6 = sub %5 %2\nret %6\n");
  tc_program *p = tc_lower(g, &tc_target_cores);
  tc_buf text = {0};
  cr_assert_not_null(p);
  tc_program_print(p, &text);
  static const char *const lines[] = {"stage { k from 0 to max(min(M-1, 1), 0) }",
                                      "stage { k from max(min(M-1, 1), 0) to max(M-1, 0) }",
                                      "stage { k from max(M-1, 0) to M }"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    cr_expect(strstr(text.text, lines[i]), "%s", text.text);
  cr_expect_eq(p->kernel[0].nest[0].nstage, 3);
  tc_program *again = read_back(p);
  cr_expect_not_null(again);
  free_read(again);
  tc_buf_free(&text);
  tc_program_free(p);
  tc_graph_free(g);
}

/* Windows of padded planes whose rows are short, reduced for neighbouring places: along which axis the lanes are, of how many
 * points, and that the values are right. */
#include "tests/lower/check.h"

/* Points along the lanes of the nest that reduces windows; 0: there is none of a fused loop, or more than one.  *sums: there is
 * an array of what it reduces. */
static int64_t lanes_of(const char *text, bool *sums) {
  static const int64_t sizes[] = {1, 3};
  int64_t points = 0;
  check_sizes(text, sizes, sizeof sizes / sizeof *sizes);
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  *sums = false;
  for (uint32_t i = 0; i < p->nbuffer; i++)
    *sums |= p->buffer[i].kind == TC_BUF_PRIVATE && strcmp(p->buffer[i].name, "sums") == 0;
  const tc_kernel *k = &p->kernel[0];
  for (uint32_t i = 0; k->outer.fused && i < k->nnest; i++) {
    const tc_nest *n = &k->nest[i];
    if (n->nresult) points = points ? 0 : tc_dim_value(n->axis[n->vector].extent);
  }
  tc_program_free(p);
  tc_graph_free(g);
  return points;
}

#define FLAT(name, points, own, text)                      \
  Test(flat_windows, name) {                               \
    bool sums;                                             \
    cr_expect_eq(lanes_of("graph g\n" text, &sums), points); \
    cr_expect_eq(sums, own);                               \
  }

/* %3: x[N,C,h,w], with a border of that width. */
#define PADDED(dtype, h, w, border)                                                                \
  "%1 = param " dtype "[N,C," h "," w "] \"x\"\n%2 = const " dtype " 0.0\n"                        \
  "%3 = pad %1 %2 before=[0,0," border "," border "] after=[0,0," border "," border "]\n"
/* %5: windows of it. */
#define WINDOWS(size, step) \
  "%4 = unfold %3 axis=2 size=" size " step=" step "\n%5 = unfold %4 axis=3 size=" size " step=" step "\n"
#define SUM WINDOWS("3", "1") "%6 = sum %5 axes=[4,5] keep=0\nret %6\n"

FLAT(rows_of_7, 61, true, PADDED("f32", "7", "7", "1") SUM)
FLAT(rows_of_7_in_f64, 61, true, PADDED("f64", "7", "7", "1") SUM)
FLAT(rows_of_7_in_bf16, 61, true, PADDED("bf16", "7", "7", "1") SUM)
FLAT(few_rows, 16, true, PADDED("f32", "2", "7", "1") SUM)
FLAT(rows_of_64, 64, false, PADDED("f32", "8", "64", "1") SUM) /* they fill vectors by themselves */
FLAT(their_maxima, 61, true, PADDED("f32", "7", "7", "1") WINDOWS("3", "1") "%6 = max %5 axes=[4,5] keep=0\nret %6\n")

/* A depthwise convolution, and what is made of its results together with an operand that they index, too. */
#define WEIGHTED(size, step)                                                                              \
  "%1 = param f32[N,C," size "," size "] \"x\"\n%2 = param f32[C,1,3,3] \"w\"\n%3 = const f32 0.0\n"       \
  "%4 = pad %1 %3 before=[0,0,1,1] after=[0,0,1,1]\n%5 = unfold %4 axis=2 size=3 step=" step "\n"         \
  "%6 = unfold %5 axis=3 size=3 step=" step "\n%7 = reshape %2 dims=[1,C,1,1,3,3]\n%8 = mul %6 %7\n"            \
  "%9 = sum %8 axes=[4,5] keep=0\n"
FLAT(weights, 61, true, WEIGHTED("7", "1") "ret %9\n")
FLAT(what_is_made_of_the_results, 61, true, WEIGHTED("7", "1") "%10 = add %9 %1\n%11 = maximum %10 %3\nret %11\n")

/* Every second window: of halves all are reduced, of f32 those that are wanted. */
#define EVERY_SECOND(dtype) PADDED(dtype, "14", "14", "1") WINDOWS("3", "2") "%6 = sum %5 axes=[4,5] keep=0\nret %6\n"
FLAT(every_second_window_of_halves, 205, true, EVERY_SECOND("bf16"))
FLAT(every_second_window, 7, false, EVERY_SECOND("f32"))
FLAT(every_second_window_with_weights, 7, false, WEIGHTED("14", "2") "ret %9\n") /* and not along images */
FLAT(every_second_window_of_rows_far_apart, 13, true, /* rows are an axis of their own */
     PADDED("bf16", "14", "14", "1") "%4 = unfold %3 axis=2 size=3 step=4\n%5 = unfold %4 axis=3 size=3 step=2\n"
     "%6 = sum %5 axes=[4,5] keep=0\nret %6\n")

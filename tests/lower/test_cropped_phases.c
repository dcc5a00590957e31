/* Slices of interleaved arrays are made of slices of these, whose padding goes with what is cut; and values are right. */
#include "tests/lower/check.h"

#include <string.h>

static const int64_t sizes[] = {1, 2, 3, 5, 8};

/* Has the program an array that is longer by what is cut off? */
static bool has_longer(const char *text, const char *longer) {
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  bool found = false;
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    const tc_buffer *b = &p->buffer[i];
    for (int a = 0; b->kind != TC_BUF_INPUT && a < b->type.rank; a++) {
      tc_buf out = {0};
      tc_dim_print(tc_graph_dims(p->graph), b->type.dim[a], "", &out);
      found |= strcmp(out.text, longer) == 0;
      tc_buf_free(&out);
    }
  }
  tc_program_free(p);
  tc_graph_free(g);
  return found;
}

static void check_values(const char *text) { check_sizes(text, sizes, sizeof sizes / sizeof *sizes); }

#define CROPPED(name, longer, text)                                                                                    \
  Test(cropped_phases, name) {                                                                                         \
    cr_expect(!has_longer("graph g\n" text, longer));                                                                  \
    check_values("graph g\n" text);                                                                                    \
  }
/* Another part, which phases have no equal shares of. */
#define OTHER(name, text) \
  Test(cropped_phases, name) { check_values("graph g\n" text); }

/* Sums of N elements each, with one of zeros: what windows of three, two apart, give back.  %12: of both phases in turn,
 * 2 N + 2. */
#define PHASES                                                                                                         \
  "%1 = param f32[R,N] \"a\"\n%2 = param f32[R,N] \"b\"\n%3 = param f32[R,N] \"c\"\n%4 = const f32 0.0\n"                 \
  "%5 = pad %1 %4 before=[0,0] after=[0,1]\n%6 = pad %2 %4 before=[0,1] after=[0,0]\n%7 = add %5 %6\n"                 \
  "%8 = pad %3 %4 before=[0,0] after=[0,1]\n%9 = reshape %7 dims=[R,1,N+1]\n%10 = reshape %8 dims=[R,1,N+1]\n"         \
  "%11 = concat %9 %10 axis=1\n%12 = permute %11 axes=[0,2,1]\n%13 = reshape %12 dims=[R,2*N+2]\n"

CROPPED(both_ends, "N+1", PHASES "%14 = slice %13 axis=1 start=1 stop=2*N+1 step=1\nret %14\n")
CROPPED(one_end, "2*N+2", PHASES "%14 = slice %13 axis=1 start=0 stop=2*N step=1\nret %14\n")
CROPPED(along_both_axes, "N+1",
        PHASES "%14 = slice %13 axis=0 start=1 stop=R step=1\n%15 = slice %14 axis=1 start=1 stop=2*N+1 step=1\nret %15\n")
OTHER(part_of_a_phase_more, PHASES "%14 = slice %13 axis=1 start=1 stop=2*N+2 step=1\nret %14\n")
OTHER(every_third, PHASES "%14 = slice %13 axis=1 start=1 stop=2*N+1 step=3\nret %14\n")

/* Gradients of overlapping windows of a padded image: no array is longer than the image. */
CROPPED(gradients_of_windows, "2*H+2",
        "%1 = param f32[C,H,W] \"dy\"\n%2 = param f32[C,H,W] \"at\"\n%3 = const f32 0.0\n%4 = eq %2 %3\n"
        "%5 = where %4 %1 %3\n%6 = pad %5 %3 before=[0,0,0] after=[0,1,0]\n%7 = pad %1 %3 before=[0,1,0] after=[0,0,0]\n"
        "%8 = add %6 %7\n%9 = reshape %8 dims=[C,1,H+1,W]\n%10 = reshape %7 dims=[C,1,H+1,W]\n"
        "%11 = concat %9 %10 axis=1\n%12 = permute %11 axes=[0,2,1,3]\n%13 = reshape %12 dims=[C,2*H+2,W]\n"
        "%14 = eq %13 %3\n%15 = where %14 %13 %3\n%16 = pad %13 %3 before=[0,0,0] after=[0,0,1]\n"
        "%17 = pad %15 %3 before=[0,0,1] after=[0,0,0]\n%18 = add %16 %17\n%19 = reshape %18 dims=[C,2*H+2,1,W+1]\n"
        "%20 = reshape %17 dims=[C,2*H+2,1,W+1]\n%21 = concat %19 %20 axis=2\n%22 = permute %21 axes=[0,1,3,2]\n"
        "%23 = reshape %22 dims=[C,2*H+2,2*W+2]\n%24 = slice %23 axis=1 start=1 stop=2*H+1 step=1\n"
        "%25 = slice %24 axis=2 start=1 stop=2*W+1 step=1\nret %25\n")

/* Of sums that are their own operands' sums, each is read once for every reader: there is an end to that. */
Test(cropped_phases, sums_of_sums) {
  tc_buf text = {0};
  tc_put(&text, "graph g\n%1 = param f32[R,1,N+2] \"a\"\n");
  for (int i = 1; i < 64; i++) tc_putf(&text, "%%%d = add %%%d %%%d\n", i + 1, i, i);
  tc_put(&text, "%65 = concat %64 %64 axis=1\n%66 = permute %65 axes=[0,2,1]\n%67 = reshape %66 dims=[R,2*N+4]\n"
                "%68 = slice %67 axis=1 start=1 stop=2*N+3 step=1\nret %68\n");
  tc_graph *g = graph_of(text.text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_expect_not_null(p);
  tc_program_free(p);
  tc_graph_free(g);
  tc_buf_free(&text);
}

/* Products whose rows, columns and summed axis run over several axes, at every level, against the
 * interpreter. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/unit.h"
#include "graph/text.h"
#include "tests/common/allowance.h"
#include "tests/openmp/tensors.h"
#include "tests/openmp/unit.h"

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

/* Text with @T as the dtype and @1 to @9 as sizes. */
static char *with(const char *text, const char *dtype, const char *const *size) {
  tc_buf out = {0};
  for (; *text; ++text) {
    if (*text != '@') tc_putn(&out, text, 1);
    else if (*++text == 'T') tc_put(&out, dtype);
    else tc_put(&out, size[*text - '1']);
  }
  return out.text;
}

static tc_graph *graph_of(const char *text, const char *dtype, const char *const *size) {
  char *t = with(text, dtype, size);
  tc_graph *g = tc_graph_parse(t, &diag);
  cr_assert_not_null(g, "%s", t);
  free(t);
  return g;
}

enum { INPUTS = 4 };

static interp_array *input_of(tc_graph *g, uint32_t i) {
  const tc_type *t = &tc_graph_node(g, tc_graph_input_at(g, i)->node)->type;
  int64_t dim[TC_MAX_RANK];
  for (int k = 0; k < t->rank; k++) dim[k] = tc_dim_value(t->dim[k]);
  interp_array *a = interp_new((tc_dtype)t->dtype, t->rank, dim);
  for (int64_t k = 0; k < a->count; k++) interp_set(a, k, (double)((k * 7919 + i * 31) % 17) / 8 - 1);
  return a;
}

/* One kernel.  known: with its sizes, for the interpreter. */
typedef struct axes_case {
  tc_graph *known;
  interp_array *input[INPUTS];
  interp_run want;
  char what[200];
} axes_case;

enum { MOST = 100 };
static axes_case cases[MOST];
static tc_graph *graphs[MOST]; /* taken over by the unit */
static int ncases;

static void compare(const omp_unit *u, int i, bool strided) {
  const axes_case *c = &cases[i];
  const struct tc_tensor *in[INPUTS];
  struct tc_tensor *out[1];
  for (uint32_t k = 0; k < tc_graph_input_count(c->known); k++) in[k] = omp_tensor(c->input[k], strided);
  cr_assert(u->entry[i](in, NULL, out), "%s", c->what);
  interp_array *got = omp_array(out[0]);
  const allowance t = allowance_of(got->dtype);
  const int64_t k = allowance_mismatch(c->want.output[0], c->want.output[0], got, t);
  cr_assert(k < 0, "%s, level %d, element %lld: %g, not %g", c->what, (int)tcrt_isa, (long long)k, interp_get(got, k),
            interp_get(c->want.output[0], k));
  interp_free(got);
  omp_tensors_free();
}

/* name: symbols in place of the sizes. */
static void add(const char *text, const char *dtype, const char *const *size, const char *const *name, const char *of) {
  cr_assert_lt(ncases, MOST);
  graphs[ncases] = graph_of(text, dtype, name ? name : size);
  axes_case *c = &cases[ncases++];
  c->known = graph_of(text, dtype, size);
  const uint32_t n = tc_graph_input_count(c->known);
  cr_assert_leq(n, INPUTS);
  for (uint32_t i = 0; i < n; i++) c->input[i] = input_of(c->known, i);
  c->want = (interp_run){.g = c->known, .input = (const interp_array *const *)c->input, .round = true};
  cr_assert(interp_graph(&c->want), "%s", c->want.message);
  snprintf(c->what, sizeof c->what, "%s of %s, sizes %s %s %s%s", of, dtype, size[0], size[1], size[2],
           name ? ", symbolic" : "");
}

/* All that were added, built together. */
static void check_cases(void) {
  omp_unit u;
  tc_target target = *tc_backend_openmp.target;
  tc_backend b = tc_backend_openmp;
  target.guards = true; /* one kernel, where windows are of a padded array too */
  b.target = &target;
  cr_assert(omp_unit_build_by(&u, graphs, ncases, ~0u, &b));
  for (int i = 0; i < ncases; i++) {
    cr_assert(u.result[i].compiled, "%s", cases[i].what);
    cr_assert_eq(u.result[i].kernels, 1, "%s: %d kernels", cases[i].what, (int)u.result[i].kernels);
    for (int level = 0; level < TC_ISA_COUNT; level++) {
      if (!(omp_levels_here() >> level & 1)) continue;
      tcrt_isa = level;
      compare(&u, i, false);
      compare(&u, i, true);
    }
  }
  omp_unit_free(&u);
  for (; ncases; ncases--) {
    axes_case *c = &cases[ncases - 1];
    interp_run_free(&c->want);
    for (uint32_t i = 0; i < tc_graph_input_count(c->known); i++) interp_free(c->input[i]);
    tc_graph_free(c->known);
  }
}

enum { DTYPES = 6 };
static const char *const dtypes[DTYPES] = {"f32", "bf16", "f64", "f16", "i32", "u8"};

static void add_all(const char *text, const char *const (*size)[6], int nsize, const char *const *name,
                    const char *of) {
  for (int s = 0; s < nsize; s++)
    for (int d = 0; d < (s ? 2 : DTYPES); d++) {
      add(text, dtypes[d], size[s], NULL, of);
      if (name && d < 2) add(text, dtypes[d], size[s], name, of);
    }
}

#define ADD_ALL(text, name, of, ...)                                                                             \
  do {                                                                                                                \
    static const char *const size[][6] = {__VA_ARGS__};                                                               \
    add_all(text, size, sizeof size / sizeof *size, name, of);                                                        \
  } while (0)

/* Convolutions as views.  Sizes: N, C, H, W, and the step down the image. */
static const char *const images[] = {"N", "3", "H", "W", "1"};
#define IMAGES                                                                                                        \
  {"2", "3", "9", "21", "1"}, {"1", "3", "5", "4", "1"}, {"3", "3", "4", "70", "1"}, {"1", "3", "3", "3", "1"}
#define STRIDED {"2", "3", "9", "21", "2"}, {"1", "3", "12", "40", "3"}

/* 3 x 2 windows of N x C x H x W on the right: k over (c, r, s), n over (h, w). */
static const char channels_first[] =
    "graph g\n%1 = param @T[@1,@2,@3,@4] \"x\"\n%2 = param @T[7,@2*6] \"w\"\n%3 = unfold %1 axis=2 size=3 step=@5\n"
    "%4 = unfold %3 axis=3 size=2 step=1\n%5 = permute %4 axes=[0,1,4,5,2,3]\n%6 = reshape %5 dims=[@1,@2*6,-1]\n"
    "%7 = matmul %2 %6\n%8 = relu %7\nret %8\n";
/* The same with a single row on the left, a nest that reduces: k over (r, s) of one channel. */
static const char one_row[] =
    "graph g\n%1 = param @T[@1,1,@3,@4] \"x\"\n%2 = param @T[1,6] \"w\"\n%3 = unfold %1 axis=2 size=3 step=@5\n"
    "%4 = unfold %3 axis=3 size=2 step=1\n%5 = permute %4 axes=[0,1,4,5,2,3]\n%6 = reshape %5 dims=[@1,6,-1]\n"
    "%7 = matmul %2 %6\n%8 = relu %7\nret %8\n";
/* 2 x 3 windows of N x H x W x C on the left: m over (n, h, w), k over (r, s, c). */
static const char channels_last[] =
    "graph g\n%1 = param @T[@1,@3,@4,@2] \"x\"\n%2 = param @T[@2*6,19] \"w\"\n%3 = param @T[19] \"b\"\n"
    "%4 = unfold %1 axis=1 size=2 step=@5\n%5 = unfold %4 axis=2 size=3 step=1\n%6 = permute %5 axes=[0,1,2,4,5,3]\n"
    "%7 = reshape %6 dims=[-1,6*@2]\n%8 = matmul %7 %2\n%9 = add %8 %3\nret %9\n";
/* The same with channels first: runs along k are as short as a window is wide. */
static const char short_runs[] =
    "graph g\n%1 = param @T[@1,@2,@3,@4] \"x\"\n%2 = param @T[@2*6,19] \"w\"\n%3 = unfold %1 axis=2 size=2 step=@5\n"
    "%4 = unfold %3 axis=3 size=3 step=2\n%5 = permute %4 axes=[0,2,3,1,4,5]\n%6 = reshape %5 dims=[-1,6*@2]\n"
    "%7 = matmul %6 %2\nret %7\n";
/* Windows of rows with every second of their elements; k is longer than a block. */
static const char dilated[] =
    "graph g\n%1 = param @T[@1*40,@3*@4] \"x\"\n%2 = param @T[@1*200,5] \"w\"\n%3 = unfold %1 axis=1 size=9 step=@5\n"
    "%4 = slice %3 axis=2 start=0 stop=9 step=2\n%5 = permute %4 axes=[1,0,2]\n%6 = reshape %5 dims=[-1,@1*200]\n"
    "%7 = matmul %6 %2\nret %7\n";

/* The same of padded images, by 0 and by another number. */
static const char padded_first[] =
    "graph g\n%1 = param @T[@1,@2,@3,@4] \"x\"\n%2 = param @T[7,@2*6] \"w\"\n%3 = const weak f64 0\n"
    "%4 = pad %1 %3 before=[0,0,1,1] after=[0,0,2,0]\n%5 = unfold %4 axis=2 size=3 step=@5\n"
    "%6 = unfold %5 axis=3 size=2 step=1\n%7 = permute %6 axes=[0,1,4,5,2,3]\n%8 = reshape %7 dims=[@1,@2*6,-1]\n"
    "%9 = matmul %2 %8\n%10 = relu %9\nret %10\n";
static const char padded_last[] =
    "graph g\n%1 = param @T[@1,@3,@4,@2] \"x\"\n%2 = param @T[@2*6,19] \"w\"\n%3 = const weak f64 3\n%4 = relu %1\n"
    "%5 = pad %4 %3 before=[0,0,2,0] after=[0,1,1,0]\n%6 = unfold %5 axis=1 size=2 step=@5\n"
    "%7 = unfold %6 axis=2 size=3 step=1\n%8 = permute %7 axes=[0,1,2,4,5,3]\n%9 = reshape %8 dims=[-1,6*@2]\n"
    "%10 = matmul %9 %2\nret %10\n";

Test(product_axes, windows_of_padded, .timeout = 600) {
  ADD_ALL(padded_first, images, "padded, channels first", {"2", "3", "9", "21", "1"}, {"1", "3", "2", "4", "1"});
  ADD_ALL(padded_first, NULL, "padded, channels first", STRIDED);
  ADD_ALL(padded_last, images, "padded, channels last", {"2", "3", "9", "21", "1"}, {"1", "3", "1", "2", "1"});
  ADD_ALL(padded_last, NULL, "padded, channels last", STRIDED);
  check_cases();
}

Test(product_axes, windows, .timeout = 600) {
  ADD_ALL(channels_first, images, "channels first", IMAGES);
  ADD_ALL(channels_first, NULL, "channels first", STRIDED);
  ADD_ALL(one_row, images, "one row", {"2", "3", "9", "21", "1"}, {"3", "3", "4", "70", "1"});
  ADD_ALL(one_row, NULL, "one row", STRIDED);
  ADD_ALL(channels_last, images, "channels last", IMAGES);
  ADD_ALL(channels_last, NULL, "channels last", STRIDED);
  ADD_ALL(short_runs, NULL, "short runs", {"2", "7", "9", "21", "2"}, {"1", "11", "12", "40", "1"});
  ADD_ALL(dilated, NULL, "dilated rows", {"2", "3", "9", "21", "1"}, {"1", "3", "5", "4", "1"}, STRIDED);
  check_cases();
}

/* Columns that are one, two or three elements apart; an odd k, and of so many rows on the left. */
static const char apart[] =
    "graph g\n%1 = param @T[@1,@2,@3,@4] \"x\"\n%2 = param @T[@6,@2*9] \"w\"\n%3 = unfold %1 axis=2 size=3 step=1\n"
    "%4 = unfold %3 axis=3 size=3 step=@5\n%5 = permute %4 axes=[0,1,4,5,2,3]\n%6 = reshape %5 dims=[@1,@2*9,-1]\n"
    "%7 = matmul %2 %6\n%8 = relu %7\nret %8\n";

Test(product_axes, columns_apart, .timeout = 600) {
  static const char *const names[] = {"N", "3", "H", "W", "2", "5"};
  ADD_ALL(apart, NULL, "columns side by side", {"2", "3", "9", "30", "1", "5"}, {"1", "3", "4", "70", "1", "2"},
          {"1", "1", "12", "5", "1", "16"});
  ADD_ALL(apart, names, "columns two apart", {"2", "3", "9", "21", "2", "5"}, {"1", "3", "5", "64", "2", "5"});
  ADD_ALL(apart, NULL, "columns two apart", {"1", "3", "4", "150", "2", "2"}, {"2", "1", "6", "9", "2", "16"});
  ADD_ALL(apart, NULL, "columns three apart", {"2", "3", "9", "40", "3", "5"}, {"1", "1", "5", "200", "3", "2"});
  check_cases();
}

/* The epilogue sees an image where packing sees its rows of 20 points; where rows of B begin is found once. */
Test(product_axes, points_of_an_image_are_one_run) {
  static const char *const size[] = {"2", "3", "9", "21", "1"};
  tc_graph *g = graph_of(channels_first, "f32", size);
  omp_unit u;
  cr_assert(omp_unit_print(&u, &g, 1, ~0u));
  const char *const text = u.texts.kernels->text.text, *const epilogue = strstr(text, "_epilogue(const tc_mm *g");
  cr_assert(epilogue);
  const char *const image = strstr(epilogue, "TC_MIN(n0 + cols - n, (140) - n_");
  cr_expect(image && image < strstr(epilogue, "\n}\n"));
  cr_expect(strstr(text, "TC_MIN(n0 + cols - n, (20) - n_"));
  cr_expect(strstr(text, "_b_rows(&g, 0);"));
  omp_unit_free(&u);
}

/* k twice over the same elements, and over none. */
static const char twice[] = "graph g\n%1 = param @T[4,@1] \"x\"\n%2 = param @T[2*@2,7] \"w\"\n%3 = reshape %1 dims=[4,1,@2]\n"
                            "%4 = expand %3 dims=[4,2,@2]\n%5 = reshape %4 dims=[4,2*@2]\n%6 = matmul %5 %2\nret %6\n";

Test(product_axes, elements_of_k_again, .timeout = 600) {
  static const char *const names[] = {"0<=N<=64", "N"};
  ADD_ALL(twice, names, "k again", {"19", "19"}, {"40", "40"});
  static const char *const none[6] = {"0", "0"};
  for (int d = 0; d < 2; d++) add(twice, dtypes[d], none, names, "no k");
  check_cases();
}

/* Columns that are stored head by head.  Sizes B, heads, T, their width, K. */
static const char *const symbols[] = {"B", "4", "T", "24", "K"};
static const char split[] =
    "graph g\n%1 = param @T[@1,@3,@5] \"x\"\n%2 = param @T[@5,@2*@4] \"w\"\n%3 = matmul %1 %2\n"
    "%4 = reshape %3 dims=[@1,@3,@2,@4]\n%5 = permute %4 axes=[0,2,1,3]\nret %5\n";
static const char split_biased[] =
    "graph g\n%1 = param @T[@1,@3,@5] \"x\"\n%2 = param @T[@5,@2*@4] \"w\"\n%3 = param @T[@1,@2,@4] \"b\"\n"
    "%4 = matmul %1 %2\n%5 = reshape %4 dims=[@1,@3,@2,@4]\n%6 = permute %5 axes=[0,2,1,3]\n"
    "%7 = reshape %3 dims=[@1,@2,1,@4]\n%8 = add %6 %7\nret %8\n";
#define HEADS {"2", "4", "19", "24", "50"}, {"1", "4", "7", "24", "1"}, {"3", "4", "1", "24", "33"}

Test(product_axes, columns, .timeout = 600) {
  ADD_ALL(split, symbols, "heads", HEADS);
  ADD_ALL(split_biased, symbols, "biased heads", HEADS);
  check_cases();
}

/* Rows of several matrices, stored by columns, times one matrix that they share: m over (b, m).  Sizes B, M, K, N. */
static const char shared[] =
    "graph g\n%1 = param @T[@1,@3,@2] \"x\"\n%2 = param @T[@3,@4] \"w\"\n%3 = param @T[@1,@2,@4] \"c\"\n"
    "%4 = permute %1 axes=[0,2,1]\n%5 = matmul %4 %2\n%6 = add %5 %3\nret %6\n";

Test(product_axes, one_column_shared, .timeout = 600) {
  static const char *const names[] = {"B", "M", "K", "N"}, *const one[] = {"B", "M", "K", "1"};
  ADD_ALL(shared, names, "shared", {"2", "15", "40", "1"}, {"3", "70", "300", "1"}, {"1", "1", "5", "1"}, {"4", "9", "33", "3"});
  ADD_ALL(shared, one, "shared column", {"2", "15", "40", "1"}, {"3", "70", "300", "1"}, {"5", "1", "33", "1"});
  check_cases();
}

/* For one column there is a nest, which packs nothing. */
Test(product_axes, one_column_shared_is_a_nest) {
  static const char *const size[] = {"B", "M", "K", "N"};
  tc_graph *g = graph_of(shared, "f32", size);
  omp_unit u;
  cr_assert(omp_unit_print(&u, &g, 1, ~0u));
  const char *const text = u.texts.kernels->text.text;
  cr_expect(strstr(text, "|| s_N <= 1 ||") && strstr(text, ") return TC_NAME(") && strstr(text, "_row)(buf, sym, scalar);"));
  omp_unit_free(&u);
}

/* The same without c: of few terms, whole rows are written one after the other where they are wide and B stays near. */
static const char shared_bare[] =
    "graph g\n%1 = param @T[@1,@3,@2] \"x\"\n%2 = param @T[@3,@4] \"w\"\n%3 = permute %1 axes=[0,2,1]\n%4 = matmul %3 %2\nret %4\n";

Test(product_axes, few_terms_shared, .timeout = 600) {
  static const char *const names[] = {"B", "M", "K", "N"};
  ADD_ALL(shared_bare, names, "few terms", {"2", "20", "3", "130"}, {"3", "40", "4", "300"}, {"1", "33", "1", "128"},
          {"2", "17", "4", "127"}, {"2", "18", "2", "140"}, {"2", "19", "2", "5000"}, {"3", "9", "0", "140"});
  check_cases();
}

Test(product_axes, few_terms_of_wide_rows_are_a_nest) {
  static const char *const size[] = {"B", "M", "K", "N"}, *const known[] = {"3", "40", "2", "300"}, *const narrow[] = {"3", "40", "2", "100"};
  tc_graph *g[] = {graph_of(shared_bare, "f32", size), graph_of(shared_bare, "f32", known), graph_of(shared_bare, "f32", narrow)};
  static const char *const want[] = {"(s_N >= 128 && s_K <= 2 && (s_K + 1) * (s_N) <= 8192)", NULL, "tc_mm_run(&g"};
  for (int i = 0; i < 3; i++) {
    omp_unit u;
    cr_assert(omp_unit_print(&u, &g[i], 1, ~0u));
    const char *const text = u.texts.kernels->text.text;
    cr_expect(want[i] ? strstr(text, want[i]) != NULL : !strstr(text, "tc_mm_run(&g"), "%d", i);
    omp_unit_free(&u);
  }
}

/* A bias is read once for some rows of a tile; where rows have a value of their own, that is. */
static const char biased[] = "graph g\n%1 = param @T[@1,@2] \"x\"\n%2 = param @T[@2,@3] \"w\"\n%3 = param @T[@3] \"b\"\n"
                             "%4 = matmul %1 %2\n%5 = add %4 %3\n%6 = relu %5\nret %6\n";
static const char scaled_rows[] = "graph g\n%1 = param @T[@1,@2] \"x\"\n%2 = param @T[@2,@3] \"w\"\n%3 = param @T[@3] \"b\"\n"
                                  "%4 = param @T[@1,1] \"s\"\n%5 = matmul %1 %2\n%6 = mul %5 %4\n%7 = add %6 %3\nret %7\n";

Test(product_axes, values_of_columns, .timeout = 600) {
  static const char *const names[] = {"M", "K", "N"};
  ADD_ALL(biased, names, "a bias", {"37", "20", "83"}, {"70", "9", "64"}, {"9", "33", "17"});
  ADD_ALL(scaled_rows, names, "scaled rows", {"37", "20", "83"}, {"70", "9", "64"}, {"9", "33", "17"});
  check_cases();
}

Test(product_axes, values_of_columns_are_outside_of_rows) {
  static const char *const size[] = {"M", "K", "N"};
  tc_graph *g[] = {graph_of(biased, "bf16", size), graph_of(scaled_rows, "bf16", size)};
  for (int i = 0; i < 2; i++) {
    omp_unit u;
    cr_assert(omp_unit_print(&u, &g[i], 1, ~0u));
    const char *const epilogue = strstr(u.texts.kernels->text.text, "_epilogue(const tc_mm *g");
    cr_assert(epilogue);
    const char *const columns = strstr(epilogue, "n += TC_L"), *const rows = strstr(epilogue, "++m"), *const bias = strstr(epilogue, "tc_loadn_bf16");
    cr_assert(columns && rows && bias);
    cr_expect_eq(columns < rows, i == 0);
    if (i == 0) cr_expect(columns < bias && bias < rows);
    omp_unit_free(&u);
  }
}

/* Layouts of buffers: sizes, addresses, and that programs compute the same in any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/layouts.h"
#include "tests/common/random_graph.h"
#include "tests/lower/check.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

typedef struct layout_case {
  const char *type, *axis[3]; /* stride, or "stride block within" */
  const char *numel;          /* NULL: elements share places */
} layout_case;

static const layout_case cases[] = {
    {"f32[R,C]", {"C", "1"}, "R*C"},
    {"f32[R,C]", {"1", "R"}, "R*C"},
    {"f32[R,C]", {"C+8", "1"}, "R*C+8*R"},
    {"f32[R,C]", {"2*C", "2"}, "2*R*C"},
    {"f32[R,C]", {"16", "16*R 16 1"}, "16*R*((C+15)/16)"},
    {"f32[K,48]", {"16", "16*K 16 1"}, "48*K"},
    {"f32[5,40]", {"16", "80 16 1"}, "240"},
    {"f32[5,1,7]", {"8", "0", "1"}, "40"},
    {"f32[R,0]", {"4", "1"}, "4*R"},
    {"f32[3,4]", {"3", "1"}, NULL},
    {"f32[3,4]", {"1", "1"}, NULL},
    {"f32[3,4]", {"0", "1"}, NULL},
    {"f32[R,C]", {"R", "1"}, NULL},
    {"f32[8,6]", {"6", "24 4 2"}, NULL},
};

static tc_dim dim_of(tc_dims *c, const char *text) {
  const char *end, *error = NULL;
  tc_dim d = tc_dim_parse(c, text, &end, &error);
  cr_assert(!tc_dim_bad(d), "%s", text);
  return d;
}

static tc_buf_axis axis_of(tc_dims *c, const char *text) {
  char stride[32], within[32];
  long long block;
  if (sscanf(text, "%31s %lld %31s", stride, &block, within) < 3)
    return (tc_buf_axis){.stride = dim_of(c, text)};
  return (tc_buf_axis){dim_of(c, stride), block, dim_of(c, within)};
}

Test(layouts, numel) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tc_dims *c = tc_dims_new();
    tc_type t;
    const char *error;
    size_t at;
    tc_buf_layout l = {.strided = true};
    cr_assert(tc_type_parse(c, cases[i].type, &t, &error, &at));
    for (int a = 0; a < t.rank; a++) l.axis[a] = axis_of(c, cases[i].axis[a]);
    const tc_dim n = tc_layout_numel(c, &t, &l);
    if (cases[i].numel) cr_expect(tc_dim_same(n, dim_of(c, cases[i].numel)), "case %zu", i);
    else cr_expect(tc_dim_bad(n), "case %zu", i);
    cr_expect(tc_layout_same(&l, &l, t.rank));
    l.strided = false;
    cr_expect(tc_dim_same(tc_layout_numel(c, &t, &l), tc_type_numel(c, &t)), "case %zu", i);
    tc_dims_free(c);
  }
}

/* ---- programs -------------------------------------------------------------------------------- */

static tc_buf_layout chosen; /* of buffers of that rank */
static int chosen_rank;

static bool choose(const tc_program *p, uint32_t i, tc_buf_layout *out) {
  *out = chosen;
  return p->buffer[i].type.rank == chosen_rank;
}

static tc_target target_with(bool (*layout)(const tc_program *, uint32_t, tc_buf_layout *)) {
  tc_target t = tc_target_cores;
  t.layout = layout;
  return t;
}

/* The program of a graph whose arrays of that rank have a layout, if they can. */
static tc_program *lower_with(tc_graph *g, const char *const *axis, int rank) {
  const tc_target target = target_with(choose);
  chosen = (tc_buf_layout){.strided = true};
  chosen_rank = rank;
  for (int i = 0; i < rank; i++) chosen.axis[i] = axis_of(tc_graph_dims(g), axis[i]);
  tc_program *p = tc_lower(g, &target);
  cr_assert_not_null(p);
  return p;
}

/* ... which a run of it has shown to compute what the graph does. */
static tc_program *run_with(tc_graph *g, const char *const *axis, int rank) {
  tc_program *p = lower_with(g, axis, rank);
  const tc_target target = target_with(choose);
  interp_array **input = arguments_of(g, 5);
  check_lowering_for(&target, g, input, NULL, NULL);
  free_arguments(g, input);
  return p;
}

#define ROWS(stride) ((const char *[]){stride, "1"}), 2
#define COLUMNS(stride) ((const char *[]){"1", stride}), 2

static void expect_text(const tc_program *p, const char *part, bool there) {
  tc_buf text = {0};
  tc_program_print(p, &text);
  cr_expect_eq(strstr(text.text, part) != NULL, there, "%s in\n%s", part, text.text);
  tc_buf_free(&text);
}

/* Of columns, and then of rows of these: an array between two kernels. */
#define SCANNED(type)                                                                              \
  "graph g\n%1 = param " type                                                                      \
  " \"x\"\n%2 = exp %1\n%3 = cumsum %2 axis=0\n%4 = cumsum %3 axis=1\nret %4\n"

Test(layouts, padded) {
  tc_graph *g = graph_of(SCANNED("f32[R,C]"));
  tc_program *p = run_with(g, ROWS("C+8"));
  expect_text(p, "layout [C+8, 1]", true);
  expect_text(p, "store cumsum.1[i + (C+8)*j]", true);
  expect_text(p, "load cumsum.1[(C+8)*i + j]", true);
  cr_expect_eq(count_layouts(p), 1);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(layouts, permuted) {
  tc_graph *g = graph_of(SCANNED("f32[R,C]"));
  tc_program *p = run_with(g, COLUMNS("R"));
  expect_text(p, "layout [1, R]", true);
  tc_program_free(p);
  tc_graph_free(g);
}

#define PRODUCTS                                                                                   \
  "graph g\n%1 = param f32[5,48] \"x\"\n%2 = param f32[48,48] \"w\"\n%3 = param f32[48,7] \"u\"\n" \
  "%4 = sub %1 %1\n%5 = matmul %1 %2\n%6 = softmax %5 axis=1\n%7 = matmul %6 %3\nret %7\n"

/* Panels of 16 rows: loops are cut where panels end. */
Test(layouts, packed) {
  tc_graph *g = graph_of("graph g\n%1 = param f32[32,3,20] \"x\"\n%2 = softmax %1 axis=2\n"
                         "%3 = max %2 axes=[1] keep=0\nret %3\n");
  tc_program *p = run_with(g, (const char *[]){"960 16 1", "320", "16"}, 3);
  expect_text(p, "layout [960 per 16 by 1, 320, 16]", true);
  expect_text(p, "[960*", true);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(layouts, of_products) {
  tc_graph *g = graph_of(PRODUCTS);
  tc_program *p = run_with(g, ROWS("64"));
  expect_text(p, "layout [64, 1]", true);
  tc_program_free(p);
  tc_graph_free(g);
}

/* ---- where there is none --------------------------------------------------------------------- */

static void expect_rows(const char *text, const char *const *axis, int rank) {
  tc_graph *g = graph_of(text);
  tc_program *p = lower_with(g, axis, rank);
  char message[256];
  cr_expect_eq(count_layouts(p), 0);
  expect_text(p, "layout", false);
  cr_expect(tc_program_verify(p, message, sizeof message), "%s", message);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(layouts, elements_share_places) { expect_rows(SCANNED("f32[R,C]"), ROWS("R")); }
Test(layouts, blocks_in_a_scan) { /* whose loops are not cut */
  expect_rows(SCANNED("f32[5,30]"), (const char *[]){"16", "80 16 1"}, 2);
}
Test(layouts, new_value_of_an_operand) {
  expect_rows("graph g\n%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=0\nwrite %2 -> %1\n",
              ROWS("C+8"));
}
Test(layouts, read_by_number) {
  expect_rows("graph g\n%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=0\n"
              "%3 = reshape %2 dims=[C,R]\n%4 = cumsum %3 axis=0\nret %4\n",
              ROWS("C+8"));
}
#define CALLED "graph g\n%1 = param f32[R,C] \"x\"\n%2 = scalar i64 \"f\"\n"
Test(layouts, taken_by_a_function) {
  expect_rows(CALLED "%3 = cumsum %1 axis=0\n"
                     "%4 = effect %2 _ %3 types=\", const struct tc_tensor *\"\n"
                     "%5 = cumsum %3 axis=1\nret %5\neffects %4\n",
              ROWS("C+8"));
}

Test(layouts, made_by_a_function) {
  expect_rows(CALLED "%3 = call %2 %1 dims=[R,C] dtype=f32 types=\", const struct tc_tensor *\"\n"
                     "%4 = cumsum %3 axis=1\nret %4\n",
              ROWS("C+8"));
}

/* ---- padded rows ----------------------------------------------------------------------------- */

/* Rows of halves that a product makes and another reads by columns, and an element of each. */
#define LOSS(width)                                                                                            \
  "graph g\n%1 = param bf16[R,40] \"x\"\n%2 = param bf16[40," width "] \"w\"\n%3 = param i64[R,1] \"i\"\n" \
  "%4 = matmul %1 %2\n%5 = gather %4 %3 axis=1\n%6 = permute %4 axes=[1,0]\n%7 = matmul %6 %1\nret %5 %7\n"

/* What is stored by the first product, of rows of so many columns; the program computes what the graph does. */
static void expect_padding(const char *text, const char *store) {
  tc_graph *g = graph_of(text);
  tc_target target = tc_target_cores;
  target.row_bytes = 16;
  tc_program *p = tc_lower(g, &target);
  interp_array **input = arguments_of(g, 5);
  cr_assert_not_null(p);
  expect_text(p, store, true);
  check_lowering_for(&target, g, input, NULL, NULL);
  free_arguments(g, input);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(layouts, padded_rows_of_products) {
  expect_padding(LOSS("131"), "store matmul.2[136*m + n]");
  expect_padding(LOSS("V"), "store matmul.2[(8*((V+7)/8))*m + n]");
  expect_padding(LOSS("128"), "store matmul.2[128*m + n]");
  expect_padding(LOSS("9"), "store matmul.2[9*m + n]");
}

/* Who reads it in one piece wants no padding. */
Test(layouts, rows_in_one_piece) {
  expect_padding("graph g\n%1 = param bf16[R,40] \"x\"\n%2 = param bf16[40,131] \"w\"\n%3 = matmul %1 %2\n"
                 "%4 = reshape %3 dims=[131*R]\n%5 = cumsum %4 axis=0\nret %5\n",
                 "store matmul.1[131*m + n]");
}

/* ---- rules ----------------------------------------------------------------------------------- */

typedef void edit(tc_program *p, tc_buffer *array); /* the ARENA buffer with a layout */

static void expect_wrong(edit *f, const char *why) {
  tc_graph *g = graph_of(SCANNED("f32[5,12]"));
  tc_program *p = lower_with(g, ROWS("20"));
  char message[256] = "";
  for (uint32_t i = 0; i < p->nbuffer; i++)
    if (p->buffer[i].layout.strided) f(p, &p->buffer[i]);
  cr_expect_not(tc_program_verify(p, message, sizeof message), "%s", why);
  cr_expect(strstr(message, why), "%s, not %s", message, why);
  tc_program_free(p);
  tc_graph_free(g);
}

static void wider(tc_program *p, tc_buffer *b) {
  (void)p;
  b->layout.axis[0].stride = tc_dim_const(32);
}
static void narrow(tc_program *p, tc_buffer *b) {
  (void)p;
  b->layout.axis[0].stride = tc_dim_const(11);
}
static void rows(tc_program *p, tc_buffer *b) { /* and addresses as they were */
  b->layout.strided = false;
  b->numel = tc_type_numel(tc_graph_dims(p->graph), &b->type);
}
static void of_result(tc_program *p, tc_buffer *b) {
  p->buffer[p->output[0]].layout = b->layout;
  p->buffer[p->output[0]].numel = b->numel;
}
static void outside(tc_program *p, tc_buffer *b) {
  (void)p;
  b->offset = tc_dim_const(64);
}
static void unaligned(tc_program *p, tc_buffer *b) {
  (void)p;
  b->offset = tc_dim_const(32);
}
static void kept_in_workspace(tc_program *p, tc_buffer *b) {
  (void)p;
  b->kind = TC_BUF_KEPT;
  b->offset = tc_dim_const(64);
}
static void kept_of_nothing(tc_program *p, tc_buffer *b) {
  (void)p;
  b->kind = TC_BUF_KEPT;
  b->version = 1;
}

Test(rules, layouts) {
  expect_wrong(wider, "another size than its layout");
  expect_wrong(narrow, "share places");
  expect_wrong(rows, "an access leaves buffer");
  expect_wrong(of_result, "a layout of its own");
  expect_wrong(outside, "leaves the workspace");
  expect_wrong(unaligned, "not aligned");
  expect_wrong(kept_in_workspace, "place in the workspace");
  expect_wrong(kept_of_nothing, "depends on operand 1");
}

/* ---- any program ----------------------------------------------------------------------------- */

static void quiet(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}

static uint32_t check_random(const random_options *o, uint32_t number) {
  static tc_diag diag = {quiet, NULL};
  const tc_target target = target_with(test_layouts);
  random_graph r;
  cr_assert(random_graph_make(o, &diag, &r), "seed %llu", (unsigned long long)o->seed);
  interp_array **near = random_graph_perturbed(&r, 1e-12);
  r.g = tc_graph_optimize(r.g);
  cr_assert_not_null(r.g);
  test_layouts_from = number;
  check_lowering_for(&target, r.g, r.input, near, r.scalar);
  tc_program *p = tc_lower(r.g, &target);
  const uint32_t n = count_layouts(p);
  tc_program_free(p);
  random_graph_free_input(&r, near);
  random_graph_free_input(&r, r.input);
  tc_graph_free(r.g);
  return n;
}

Test(layouts, random, .timeout = 600) {
  const uint32_t types = 1u << TC_F64 | 1u << TC_I64 | 1u << TC_I32 | 1u << TC_U8 | 1u << TC_BOOL;
  uint32_t layouts = 0, graphs = 0;
  for (int op = 1; op < OP_COUNT; op++)
    for (uint64_t k = 0; k < 4; k++, graphs++) {
      const random_options o = {.seed = (uint64_t)op * 100 + k,
                                .always = (tc_op)op,
                                .nodes = 12,
                                .symbolic = k & 1,
                                .dtypes = types};
      layouts += check_random(&o, (uint32_t)(op + (int)k));
    }
  for (uint64_t k = 0; k < 300; k++, graphs++) {
    const random_options o = {
        .seed = 88000 + k, .nodes = 10 + (int)(k % 40), .symbolic = k & 1, .dtypes = types};
    layouts += check_random(&o, (uint32_t)k);
  }
  printf("%u layouts in %u random graphs\n", layouts, graphs);
  cr_expect_gt(layouts, graphs / 4);
}

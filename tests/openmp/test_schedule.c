/* Schedules: those that are planned are allowed and read back as they are printed; others that are
 * stated compute the same; what a nest does not allow is refused, with the line. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/schedule/plan.h"
#include "backends/openmp/unit.h"
#include "backends/schedule/words.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/allowance.h"
#include "tests/common/schedules.h"
#include "tests/openmp/tensors.h"
#include "tests/openmp/unit.h"

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

static const tc_schedule_words *const words = &tc_omp_schedule_words;

static tc_program *planned(tc_graph *g) {
  tc_program *p = tc_lower(g, tc_backend_openmp.target);
  cr_assert_not_null(p);
  cr_assert(tc_backend_openmp.plan(p));
  return p;
}

/* ---- planned schedules ----------------------------------------------------------------------- */

Test(schedule, of_every_op) {
  int n = 0;
  random_options *o = random_every_op(2, &n);
  int wrong;
  cr_expect_gt(schedules_check_random(&tc_backend_openmp, o, n, &wrong), 200);
  cr_expect_eq(wrong, 0);
}

Test(schedule, of_random_graphs) {
  int n = 200;
  random_options *o = random_many_ops(993000, &n);
  int wrong;
  cr_expect_gt(schedules_check_random(&tc_backend_openmp, o, n, &wrong), 150);
  cr_expect_eq(wrong, 0);
}

/* Rows of points, whose axis is cut into chunks of a known size: lanes run along rows where all of a row is short; along those
 * that take many operations for a vector, too, where a second one has hardly any lanes. */
Test(schedule, of_points_of_short_rows) {
  tc_graph *g = tc_graph_parse(
      "graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[R,1] \"y\"\n%3 = mul %1 %2\nret %3\n", &diag);
  tc_program *p = planned(g);
  const tc_schedule_nest *s = &p->kernel[0].schedule->nest[0];
  cr_assert_eq(s->nvariant, 2);
  cr_assert_eq(s->variant[0].nwhen, 2);
  cr_expect(s->variant[0].when[0].less && s->variant[0].when[0].bound <= 16);
  const tc_omp_stage_schedule *stage = s->variant[0].stage;
  cr_expect(stage->transpose.n == 1 && stage->transpose_store.n == 1); /* of the only chunk, which holds the row */
  cr_expect_eq(s->variant[1].nwhen, 0);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(schedule, of_costly_points_of_rows) {
  tc_graph *g = tc_graph_parse("graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"y\"\n%3 = mul %1 %2\n%4 = tanh %3\n"
                               "%5 = erf %4\n%6 = exp %5\nret %6\n", &diag);
  tc_program *p = planned(g);
  const tc_schedule_nest *s = &p->kernel[0].schedule->nest[0];
  cr_assert_eq(s->nvariant, 2);
  cr_expect(s->variant[0].when[0].bound > 16 && s->variant[0].when[0].bound <= 32);
  tc_program_free(p);
  tc_graph_free(g);
}

/* Sums over pairs of rows of unknown length: where rows are short, lanes are along the axes of the pairs; along the inner
 * one where it fills several vectors, else rather along the outer one. */
Test(schedule, of_pairs_of_short_rows) {
  tc_graph *g = tc_graph_parse("graph g\n%1 = param f32[R,1,C] \"x\"\n%2 = param f32[1,K,C] \"y\"\n%3 = mul %1 %2\n"
                               "%4 = exp %3\n%5 = sum %4 axes=[2] keep=0\nret %5\n",
                               &diag);
  tc_program *p = planned(g);
  const tc_schedule_nest *s = &p->kernel[0].schedule->nest[0];
  const int lanes[] = {1, 0, 1, 2}, vectors[] = {TC_OMP_FULL_VECTORS, 1, 1};
  for (uint32_t i = 0; i < 4; i++) {
    cr_assert(i < s->nvariant);
    cr_expect_eq(((const tc_omp_nest_schedule *)s->variant[i].nest)->vector, lanes[i]);
    cr_assert_eq(s->variant[i].nwhen, i < 3 ? 2 : 0);
    if (i == 3) continue;
    const tc_schedule_compare *fills = &s->variant[i].when[1];
    cr_expect(fills->axis == lanes[i] && fills->vectors && !fills->less && fills->bound == vectors[i]);
  }
  tc_program_free(p);
  tc_graph_free(g);
}

/* Blocks of short rows are transposed: what is loaded of them, and what is stored; elements of two bytes are not. */
Test(schedule, of_blocks_of_rows) {
  static const char *const text[] = {"graph g\n%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=1\nret %2\n",
                                     "graph g\n%1 = param f32[R,C] \"x\"\n%2 = max %1 axes=[1] keep=1\n%3 = sub %1 %2\nret %3\n",
                                     "graph g\n%1 = param bf16[R,C] \"x\"\n%2 = cumsum %1 axis=1\nret %2\n"};
  for (int i = 0; i < 3; i++) {
    tc_graph *g = tc_graph_parse(text[i], &diag);
    tc_program *p = planned(g);
    const tc_nest *n = &p->kernel[0].nest[0];
    const tc_schedule_nest *s = &p->kernel[0].schedule->nest[0];
    const tc_omp_stage_schedule *stage = s->variant[0].stage;
    uint32_t stores = 0;
    for (uint32_t j = 0; j < n->nstage; j++) stores += stage[j].transpose_store.n;
    cr_assert_eq(s->nvariant, 2);
    cr_expect_eq(((const tc_omp_nest_schedule *)s->variant[0].nest)->vector, 0);
    cr_expect_eq(s->variant[0].when[0].bound, i == 0 ? TC_OMP_WIDE : s->variant[0].when[0].bound);
    cr_expect_eq(stage[0].transpose.n, i < 2);
    cr_expect_eq(stores, i < 2);
    cr_expect_eq(((const tc_omp_stage_schedule *)s->variant[1].stage)[0].transpose.n, 0);
    tc_program_free(p);
    tc_graph_free(g);
  }
}

/* Elements are read through all rows, which may lie apart: of four operands; a fifth is as the entry packs it.  Halves come as
 * even and odd ones all the same. */
Test(schedule, of_rows_apart) {
  tc_graph *g = tc_graph_parse("graph g\n%1 = param bf16[R,C] \"a\"\n%2 = param bf16[R,C] \"b\"\n%3 = param bf16[R,C] \"c\"\n"
                               "%4 = param bf16[R,C] \"d\"\n%5 = param bf16[R,C] \"e\"\n%6 = mul %1 %2\n%7 = mul %3 %4\n"
                               "%8 = add %6 %7\n%9 = add %8 %5\nret %9\n",
                               &diag);
  tc_program *p = planned(g);
  const tc_omp_stage_schedule *stage = p->kernel[0].schedule->nest[0].variant[0].stage;
  cr_expect_eq(stage->pack.n, 4);
  cr_expect(stage->deinterleave);
  tc_program_free(p);
  tc_graph_free(g);
}

/* A product of one column: short rows are blocks, longer ones are reduced one by one. */
Test(schedule, of_one_column_of_short_rows) {
  tc_graph *g = tc_graph_parse("graph g\n%1 = param f32[B,R,C] \"x\"\n%2 = param f32[B,C,N] \"y\"\n%3 = matmul %1 %2\nret %3\n", &diag);
  tc_program *p = planned(g);
  const tc_schedule_nest *s = &p->kernel[0].schedule->product->schedule->nest[0];
  const tc_omp_nest_schedule *blocks = s->variant[0].nest, *rows = s->variant[1].nest;
  cr_assert_geq(s->nvariant, 3);
  cr_expect_eq(s->variant[0].nwhen, 4);
  cr_expect_eq(blocks->vector, 1);
  cr_expect_eq(((const tc_omp_stage_schedule *)s->variant[0].stage)[0].transpose.n, 1);
  cr_expect_eq(s->variant[1].nwhen, 2);
  cr_expect_eq(rows->vector, 3);
  tc_program_free(p);
  tc_graph_free(g);
}

/* Columns of a matrix, and one row times a matrix, read whole rows where these are long and many. */
Test(schedule, of_columns) {
  static const char *const text[] = {
      "graph g\n%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=0\nret %2\n",
      "graph g\n%1 = param bf16[R,C] \"x\"\n%2 = param bf16[1,R] \"y\"\n%3 = matmul %2 %1\nret %3\n"};
  for (int i = 0; i < 2; i++) {
    tc_graph *g = tc_graph_parse(text[i], &diag);
    tc_program *p = planned(g);
    const tc_schedule *s = p->kernel[0].schedule;
    const tc_schedule_nest *nest = &(s->product ? s->product->schedule : s)->nest[0];
    cr_assert_geq(nest->nvariant, 2);
    const tc_schedule_variant *many = &nest->variant[nest->nvariant - 2];
    const tc_omp_nest_schedule *plan = many->nest, *few = many[1].nest;
    cr_assert_eq(many->nwhen, 2);
    cr_expect(!many->when[0].less && many->when[0].vectors && !many->when[1].less);
    cr_expect_eq(plan->interchange, 1);
    cr_expect_eq(plan->jam_vectors.n, 0);
    cr_expect_eq(few->interchange, 0);
    cr_expect_eq(few->jam_vectors.n, 3);
    tc_program_free(p);
    tc_graph_free(g);
  }
}

/* A product that may have one row or one column has lanes along what is contiguous in the matrix then. */
Test(schedule, of_one_row_or_column) {
  tc_graph *g = tc_graph_parse(
      "graph g\n%1 = param f32[M,K] \"x\"\n%2 = param f32[K,N] \"y\"\n%3 = matmul %1 %2\nret %3\n", &diag);
  tc_program *p = planned(g);
  const tc_schedule_nest *s = &p->kernel[0].schedule->product->schedule->nest[0];
  const tc_nest *n = &p->kernel[0].schedule->product->nest[0];
  static const char *const lanes[] = {"m", "k", "n", "n"};
  cr_assert_eq(s->nvariant, 4); /* one column, of short rows and of others; columns and rows that are many; others */
  cr_expect_str_eq(n->axis[s->variant[0].when[0].axis].name, "n");
  cr_expect_str_eq(n->axis[s->variant[1].when[0].axis].name, "n");
  for (int i = 0; i < 4; i++)
    cr_expect_str_eq(n->axis[((const tc_omp_nest_schedule *)s->variant[i].nest)->vector].name, lanes[i], "%d", i);
  tc_program_free(p);
  tc_graph_free(g);
}

/* Lanes of a transpose are along its stores: what they load is transposed in registers.  But for bytes, whose rows are a power of
 * two apart: where those that are stored are not. */
Test(schedule, of_transposes) {
  static const struct {
    const char *dtype;
    int rows, columns;
    bool along_stores;
  } row[] = {{"f32", 1000, 1000, true}, {"f32", 1000, 1024, true}, {"bf16", 64, 12288, true}, {"i8", 1000, 1000, true},
             {"i8", 1000, 4096, false}, {"i8", 4096, 1000, true},  {"i8", 4096, 4096, false}, {"i8", 16384, 2048, true},
             {"i8", 64, 49152, false}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    char text[160];
    snprintf(text, sizeof text, "graph g\n%%1 = param %s[%d,%d] \"x\"\n%%2 = permute %%1 axes=[1,0]\nret %%2\n", row[i].dtype,
             row[i].rows, row[i].columns);
    tc_graph *g = tc_graph_parse(text, &diag);
    tc_program *p = planned(g);
    const tc_nest *n = &p->kernel[0].nest[0];
    const tc_schedule_nest *s = &p->kernel[0].schedule->nest[0];
    const tc_schedule_variant *v = &s->variant[s->nvariant - 1];
    const int lanes = ((const tc_omp_nest_schedule *)v->nest)->vector;
    cr_expect_eq(tc_dim_is(n->stage[0].action[0].address.coef[lanes], 1), row[i].along_stores, "%zu", i);
    cr_expect_eq(((const tc_omp_stage_schedule *)v->stage)[0].transpose.n, row[i].dtype[0] != 'i', "%zu", i);
    tc_program_free(p);
    tc_graph_free(g);
  }
}

/* Accumulators are of neighbouring runs where these are few vectors long, and known to be. */
Test(schedule, of_short_runs) {
  static const char *const text[] = {
      "graph g\n%1 = param f32[N,C,49] \"x\"\n%2 = sum %1 axes=[0,2] keep=0\nret %2\n",
      "graph g\n%1 = param f32[N,C,490] \"x\"\n%2 = sum %1 axes=[0,2] keep=0\nret %2\n"};
  for (int i = 0; i < 2; i++) {
    tc_graph *g = tc_graph_parse(text[i], &diag);
    tc_program *p = planned(g);
    const tc_schedule_nest *nest = &p->kernel[0].schedule->nest[0];
    const tc_omp_stage_schedule *stage = nest->variant[nest->nvariant - 1].stage;
    cr_expect_eq(stage[0].short_runs, i == 0);
    tc_program_free(p);
    tc_graph_free(g);
  }
}

/* Is the store of the last variant's first stage peeled? */
static bool is_peeled(const char *text) {
  tc_graph *g = tc_graph_parse(text, &diag);
  cr_assert_not_null(g);
  tc_program *p = planned(g);
  const tc_schedule_nest *s = &p->kernel[0].schedule->nest[0];
  const bool peeled = ((const tc_omp_stage_schedule *)s->variant[s->nvariant - 1].stage)[0].peel;
  tc_program_free(p);
  tc_graph_free(g);
  return peeled;
}

#define ROWS_OF(columns) "graph g\n%1 = param f32[R," columns "] \"x\"\n%2 = param f32[" columns "] \"y\"\n%3 = add %1 %2\nret %3\n"
Test(schedule, rows_of_less_than_two_lines_are_not_peeled) {
  cr_expect(is_peeled(ROWS_OF("257")));
  cr_expect_not(is_peeled(ROWS_OF("31")));
}

/* ---- stated schedules ------------------------------------------------------------------------ */

static const char *stated; /* of "program g"; NULL: the planned one */

static bool plan_stated(tc_program *p) {
  tc_buf why = {0};
  const bool ok = schedules_plan(&tc_backend_openmp, p, stated, &why);
  cr_expect(ok, "%s", why.text);
  tc_buf_free(&why);
  return ok;
}

static interp_array *values(tc_graph *g, uint32_t input, int64_t rows, int64_t columns) {
  const tc_type *t = &tc_graph_input_at(g, input)->type;
  int64_t dim[TC_MAX_RANK];
  for (int i = 0; i < t->rank; i++) {
    dim[i] = i + 1 == t->rank ? columns : rows;
    if (tc_dim_is_const(t->dim[i])) dim[i] = tc_dim_value(t->dim[i]);
  }
  interp_array *a = interp_new((tc_dtype)t->dtype, t->rank, dim);
  schedules_fill(a, input);
  return a;
}

static void check_level(const omp_unit *u, interp_array **in, uint32_t n, const interp_run *want,
                        allowance t) {
  const struct tc_tensor *tensor[4];
  struct tc_tensor *out[4];
  for (uint32_t i = 0; i < n; i++) tensor[i] = omp_tensor(in[i], false);
  cr_assert(u->entry[0](tensor, NULL, out));
  for (uint32_t i = 0; i < want->noutput; i++) {
    interp_array *got = omp_array(out[i]);
    const int64_t k = allowance_mismatch(want->output[i], want->output[i], got, t);
    cr_expect_lt(k, 0, "[%lld, ..., %lld] by\n%s: element %lld is %.9g, not %.9g",
                 (long long)in[0]->dim[0], (long long)in[0]->dim[in[0]->rank - 1], stated,
                 (long long)k, k < 0 ? 0 : interp_get(got, k),
                 k < 0 ? 0 : interp_get(want->output[i], k));
    interp_free(got);
  }
  omp_tensors_free();
}

static void check_sizes(const omp_unit *u, tc_graph *g, int64_t rows, int64_t columns) {
  const uint32_t n = tc_graph_input_count(g);
  interp_array *in[4];
  const allowance t = allowance_of(random_coarsest_dtype(g));
  for (uint32_t i = 0; i < n; i++) in[i] = values(g, i, rows, columns);
  interp_run want = {.g = g, .input = (const interp_array *const *)in, .round = t.round};
  cr_assert(interp_graph(&want), "%s", want.message);
  for (int level = 0; level < TC_ISA_COUNT; level++) {
    if (!(omp_levels_here() >> level & 1)) continue;
    tcrt_isa = level;
    check_level(u, in, n, &want, t);
  }
  interp_run_free(&want);
  for (uint32_t i = 0; i < n; i++) interp_free(in[i]);
}

/* The graph by the schedule gives what the interpreter does, for rows and columns of many sizes; `says`
 * stands in its kernels, and in none by the planned schedule. */
static void check_stated(const char *graph, const char *schedule, const char *says) {
  static const int64_t sizes[] = {1, 3, 7, 16, 33, 100, 515};
  tc_backend b = tc_backend_openmp;
  b.plan = plan_stated;
  for (int by = 0; by < 2; by++) {
    omp_unit u;
    tc_graph *g = tc_graph_parse(graph, &diag), *copy = tc_graph_parse(graph, &diag);
    cr_assert(g && copy);
    stated = by ? schedule : NULL;
    cr_assert(omp_unit_build_by(&u, &copy, 1, ~0u, &b));
    cr_assert(u.result[0].compiled);
    cr_expect_eq(strstr(u.texts.kernels->text.text, says) != NULL, by, "'%s' by %s", says,
                 by ? schedule : "the plan");
    for (size_t i = 0; i < 7; i++)
      for (size_t j = 0; j < 7; j++) check_sizes(&u, g, sizes[i], sizes[j]);
    check_sizes(&u, g, 3, 20000);
    check_sizes(&u, g, 20000, 3);
    omp_unit_free(&u);
    tc_graph_free(g);
  }
}

/* Without any decision there are no vectors. */
Test(stated, scalar_pointwise) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = exp %1\n%3 = mul %2 %1\nret %3\n",
               "program g\nkernel exp_mul_1\n  nest 0\n", "; ++i1) {");
}

/* Rows whose lanes are rows, several vectors of them in one loop, whatever their length. */
Test(stated, sum_of_rows_by_points) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n",
               "program g\nkernel sum_1\n  threads 1\n  nest 0\n"
               "    vector i\n    tile 64\n    jam-vectors 4 8\n    stage 0 block 48\n",
               "TC_CEILDIV(s_R, 64)");
}

/* Three variants; rows by themselves or five in one loop, with other blocks and numbers of accumulators. */
Test(stated, sum_of_jammed_rows) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n",
               "program g\nkernel sum_1\n  nest 0\n"
               "    when i < 4, j >= 2 vectors ; few rows\n"
               "    vector j\n    stage 0 unroll 8\n    stage 0 block 256\n"
               "    when j >= 40\n"
               "    vector j\n    jam-rows 5\n    stage 0 jam-block 128\n"
               "    else\n    vector i\n    tile 16\n",
               "enum { jam = 5 };");
}

/* A column of each lane's own, and one that all lanes share. */
Test(stated, maximum_of_columns_along_them) {
  check_stated("graph g\n%1 = param f32[20,C] \"x\"\n%2 = max %1 axes=[0] keep=0\nret %2\n",
               "program g\nkernel max_1\n  nest 0\n    vector j\n    stage 0 unroll 2\n",
               "acc0[0] = tc_max_f32(acc0[0], acc0[1]);");
}

/* Columns of several tiles, each with all its accumulators in memory. */
Test(stated, sum_of_columns_interchanged) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=0\nret %2\n",
               "program g\nkernel sum_1\n  threads 1\n  nest 0\n"
               "    vector i\n    tile 64\n    interchange 2\n    stage 0 block 48\n",
               "most = 64 / TC_L");
}

/* Planes of a fused loop in groups: of few and of many planes. */
#define PLANES                                                                                                     \
  "graph g\n%1 = param f32[R,5,7] \"x\"\n%2 = const f32 0.0\n%3 = pad %1 %2 before=[0,1,1] after=[0,1,1]\n"        \
  "%4 = unfold %3 axis=2 size=3 step=1\n%5 = unfold %4 axis=1 size=3 step=1\n%6 = sum %5 axes=[3,4] keep=0\nret %6\n"
Test(stated, planes_in_groups) {
  check_stated(PLANES, "program g\nkernel pad_sum_1\n  group 3\n  nest 0\n  nest 1\n  nest 2\n    vector i\n    tile 64\n  nest 3\n",
               "const int64_t group = 3;");
}

/* Of any width: as many as a cache holds, at most five; three rows in one loop. */
#define SYMBOLIC_PLANES                                                                                            \
  "graph g\n%1 = param f32[R,9,C] \"x\"\n%2 = param f32[3,3] \"w\"\n%3 = const f32 0.0\n"                          \
  "%4 = pad %1 %3 before=[0,1,1] after=[0,1,1]\n%5 = unfold %4 axis=2 size=3 step=1\n"                            \
  "%6 = unfold %5 axis=1 size=3 step=1\n%7 = mul %6 %2\n%8 = sum %7 axes=[3,4] keep=0\nret %8\n"
Test(stated, planes_of_unknown_size_in_groups) {
  check_stated(SYMBOLIC_PLANES, "program g\nkernel pad_sum_mul_1\n  group 5\n  nest 0\n  nest 1\n  nest 2\n    vector j\n    tile 64\n"
               "    outer i\n    outer-tile 3\n    nontemporal\n",
               "const int64_t group = TC_MAX(1, TC_MIN(5, 8192 / ");
}

/* Windows times the numbers of a filter, of several rows in one loop, which goes along the windows' rows innermost: the rows
 * that they share are loaded once. */
#define WINDOWS                                                                                                    \
  "graph g\n%1 = param f32[23,39] \"x\"\n%2 = param f32[3,3] \"w\"\n%3 = unfold %1 axis=1 size=3 step=1\n"            \
  "%4 = unfold %3 axis=0 size=3 step=1\n%5 = mul %4 %2\n%6 = sum %5 axes=[2,3] keep=0\nret %6\n"
Test(stated, rows_of_windows_in_one_loop) {
  check_stated(WINDOWS, "program g\nkernel sum_mul_1\n  nest 0\n    vector j\n    tile 32\n    outer i\n    outer-tile 6\n",
               "enum { jam = 3 };");
}

Test(schedule, of_windows) {
  tc_graph *g = tc_graph_parse(WINDOWS, &diag);
  tc_program *p = planned(g);
  const tc_omp_nest_schedule *s = p->kernel[0].schedule->nest[0].variant[0].nest;
  cr_expect(s->vector == 1 && s->outer == 0 && s->outer_tile == TC_OMP_JAM_OUTER);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(stated, positions_in_columns_interchanged) {
  check_stated("graph g\n%1 = param bf16[R,C] \"x\"\n%2 = argmax %1 axes=[0] keep=0\nret %2\n",
               "program g\nkernel argmax_1\n  nest 0\n    vector i\n    tile 16\n    interchange 4\n",
               "most = 16 / TC_L");
}

Test(stated, product_of_one_row_by_columns) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[R,1] \"v\"\n"
               "%3 = permute %2 axes=[1,0]\n%4 = matmul %3 %1\nret %4\n",
               "program g\nkernel matmul_1\n  nest 0\n    vector i\n    tile 32\n    jam-vectors 8\n    stage 0 block 64\n",
               "TC_CEILDIV(s_C, 32)");
}

/* Runs of 35 elements, each with one accumulator of two in turn; the plan has four. */
Test(stated, sum_of_short_runs) {
  check_stated("graph g\n%1 = param f32[9,C,35] \"x\"\n%2 = sum %1 axes=[0,2] keep=0\nret %2\n",
               "program g\nkernel sum_1\n  nest 0\n    vector k\n    stage 0 unroll 2\n    stage 0 short-runs\n"
               "    stage 0 block 64\n",
               "acc0[2]; /* sum */");
}

/* The last stage by itself; other unrolling. */
Test(stated, softmax_without_pipeline) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n",
               "program g\nkernel max_exp_sum_sub_1\n  threads 1\n  nest 0\n    vector j\n"
               "    nontemporal\n    distance 5\n    stage 0 unroll 8\n    stage 1 unroll 2\n"
               "    stage 1 block 1024\n    stage 0 prefetch %1\n    stage 2 unroll 4\n",
               "? 5 * step1");
}

/* Lanes that are points cannot skip a stage, and larger groups can. */
#define NORM                                                                                       \
  "graph g\n%1 = param bf16[R,C] \"x\"\n%2 = param bf16[C] \"w\"\n%3 = const weak f64 1e-5\n"      \
  "%4 = layer_norm %1 %2 _ %3 naxes=1\nret %4\n"

Test(stated, norm_of_larger_groups) {
  check_stated(NORM,
               "program g\nkernel sum_div_sub_square_1\n  threads 1\n  nest 0\n    vector j\n"
               "    group 7\n    stage 0 unroll 2\n    stage 1 unroll 8\n    stage 1 skip 20\n"
               "    stage 2 pairs\n    stage 2 prefetch %1\n",
               "tc_vf32 r0[7];");
}

Test(stated, norm_by_points) {
  check_stated(NORM,
               "program g\nkernel sum_div_sub_square_1\n  nest 0\n    vector i\n    tile 32\n"
               "    jam-vectors 8\n    stage 0 block 64\n",
               "TC_CEILDIV(s_R, 32)");
}

Test(stated, scan_of_jammed_columns) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=1\nret %2\n",
               "program g\nkernel cumsum_1\n  nest 0\n    vector i\n    tile 32\n"
               "    jam-vectors 4 16\n",
               "carry0[jam]");
}

/* Rows by blocks where they are short, and else one by one. */
Test(stated, scan_of_blocks_of_rows) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=1\nret %2\n",
               "program g\nkernel cumsum_1\n  nest 0\n    when j < 35\n    vector i\n    tile 32\n    stage 0 transpose %1\n"
               "    stage 0 transpose-store 1\n    else\n    vector j\n",
               "tile1[36][TC_L]");
}

/* Elements of short rows are stored one by one where they are not stated to be transposed. */
Test(stated, points_of_short_rows) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[R,1] \"y\"\n%3 = mul %1 %2\nret %3\n",
               "program g\nkernel mul_1\n  nest 0\n    when k < 9, i >= 1 vectors\n    vector i\n    tile 256\n    else\n    vector k\n",
               "tc_storeapart_f32(");
}

/* Element by element, from where the row of each begins. */
Test(stated, rows_apart_that_are_not_packed) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = exp %1\nret %2\n", "program g\nkernel exp_1\n  nest 0\n    vector j\n",
               "tc_gather_f32(b0");
}

Test(stated, rows_apart) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = exp %1\nret %2\n",
               "program g\nkernel exp_1\n  nest 0\n    vector j\n    stage 0 unroll 2\n    stage 0 pack %4\n", "rows4 + (j1 - first)");
}

Test(stated, product_of_one_row) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[1,C] \"v\"\n"
               "%3 = permute %2 axes=[1,0]\n%4 = matmul %1 %3\nret %4\n",
               "program g\nkernel matmul_1\n  nest 0\n    vector j\n    jam-rows 2\n"
               "    stage 0 unroll 8\n    stage 0 block 1024\n    stage 0 jam-block 512\n",
               "enum { jam = 2 };");
}

/* ---- wrong ones ------------------------------------------------------------------------------ */

static void check_refused(const char *graph, const char *schedule, const char *want) {
  tc_graph *g = tc_graph_parse(graph, &diag);
  tc_buf why = {0};
  bool made = false;
  cr_assert_not_null(g);
  cr_expect_not(schedules_are_allowed(&tc_backend_openmp, g, schedule, &made, &why), "not refused:\n%s", schedule);
  cr_expect(made);
  cr_expect_str_eq(why.text ? why.text : "", want, "%s: %s", schedule, why.text);
  tc_buf_free(&why);
}

#define REFUSED(name, graph, kernel, text, want)                                                   \
  Test(refused, name) {                                                                            \
    check_refused("graph g\n" graph, "program g\nkernel " kernel "\nnest 0\n" text, want);         \
  }

#define SUM "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n"
#define SOFTMAX "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n"
#define SCAN "%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=1\nret %2\n"
#define SCATTER                                                                                    \
  "%1 = param f32[V,D] \"x\"\n%2 = param i64[N,D] \"i\"\n%3 = param f32[N,D] \"u\"\n"              \
  "%4 = scatter_add %1 %2 %3 axis=0\nret %4\n"

REFUSED(unknown_word, SUM, "sum_1", "vector j\nstage 0 unrol 4\n",
        "line 5: 'unrol' is not understood here")
REFUSED(unknown_axis, SUM, "sum_1", "vector k\n", "line 4: the nest has no axis 'k'")
REFUSED(unknown_stage, SUM, "sum_1", "vector j\nstage 2 unroll 4\n", "line 5: '2' is no stage")
REFUSED(unknown_value, SUM, "sum_1", "vector j\nstage 0 prefetch %9\n",
        "line 5: the kernel has no value '%9'")
REFUSED(unknown_nest, SUM, "sum_1", "vector j\nnest 1\n", "line 5: '1' is no nest of the kernel")
Test(refused, group_without_a_fused_loop) {
  check_refused("graph g\n" SUM, "program g\nkernel sum_1\ngroup 4\nnest 0\nvector j\n", "line 3: group 4: the nests are not in one loop");
}
REFUSED(unknown_kernel, SUM, "sum_1", "kernel sum_2\n",
        "line 4: the program has no nests of a kernel 'sum_2'")
REFUSED(said_twice, SUM, "sum_1", "vector j\nvector i\n", "line 5: 'vector' was said in line 4")
REFUSED(too_much, SUM, "sum_1", "vector j i\n", "line 4: 'i' is more than there is to say")
REFUSED(no_else, SUM, "sum_1", "when j < 8\nvector i\ntile 16\n",
        "line 7: the nest in front of this line has no 'else'")
REFUSED(no_tile, SUM, "sum_1", "vector i\n",
        "line 4: vector i: it is parallel, and no 'tile' says how much of it is a task")
REFUSED(part_of_vector, SUM, "sum_1", "vector i\ntile 24\n",
        "line 5: tile 24: it is no number of whole vectors, of 16 lanes")
REFUSED(odd_accumulators, SUM, "sum_1", "vector j\nstage 0 unroll 3\n",
        "line 5: stage 0 unroll 3: accumulators are combined in pairs: it is no power of two")
REFUSED(part_of_round, SUM, "sum_1", "vector j\nstage 0 unroll 4\nstage 0 block 96\n",
        "line 6: stage 0 block 96: it is no number of whole rounds of the loop")
REFUSED(shared_rows, SOFTMAX, "max_exp_sum_sub_1", "vector j\njam-rows 4\n",
        "line 5: jam-rows 4: its points share the rows that are kept")
REFUSED(shared_rows_of_lanes, SOFTMAX, "max_exp_sum_sub_1", "vector i\ntile 16\n",
        "line 4: vector i: its points share the rows that are kept")
REFUSED(pipeline_of_other_stage, SOFTMAX, "max_exp_sum_sub_1",
        "vector j\nnontemporal\npipeline 0\n",
        "line 6: pipeline 0: the last stage does not follow this one place by place")
REFUSED(approximate_f32, SOFTMAX, "max_exp_sum_sub_1", "approximate %4\n",
        "line 4: approximate %4: more than 16 bits of it are seen")
REFUSED(jammed_scan, SCAN, "cumsum_1", "vector j\njam-rows 4\n",
        "line 5: jam-rows 4: a scan has one running value")
REFUSED(collected_rows_of_softmax, SOFTMAX, "max_exp_sum_sub_1", "vector j\ncollect\n",
        "line 5: collect: the nest does more than to reduce rows and to store what becomes of that")
REFUSED(collected_blocks, SUM, "sum_1", "vector j\ncollect\nstage 0 block 256\n",
        "line 6: stage 0 block 256: rows that are collected have no totals")
REFUSED(interchanged_rows, SUM, "sum_1", "vector j\ninterchange 1\n",
        "line 5: interchange 1: no parallel axis is the vector axis")
REFUSED(interchanged_scan, SCAN, "cumsum_1", "vector i\ntile 16\ninterchange 1\n",
        "line 6: interchange 1: the nest does more than to reduce along one axis and to store what becomes of that")
REFUSED(outer_without_lanes, SUM, "sum_1", "vector j\nouter i\nouter-tile 4\n",
        "line 5: outer i: no parallel axis is the vector axis")
REFUSED(outer_of_jammed_lanes, SUM, "sum_1", "vector i\ntile 16\nouter i\nouter-tile 4\n",
        "line 6: outer i: it is no parallel axis beside the lanes'")
REFUSED(outer_lanes, SUM, "sum_1", "vector i\ntile 16\ninterchange 1\nouter i\nouter-tile 4\n",
        "line 7: outer i: it is no parallel axis beside the lanes'")
REFUSED(transposed_rows, SUM, "sum_1", "vector j\nstage 0 transpose %1\n",
        "line 5: stage 0 transpose %1: it has no neighbours along the other axis of a block")
REFUSED(packed_rows, SUM, "sum_1", "vector j\nstage 0 pack %1\n",
        "line 5: stage 0 pack %1: it does not go through rows that may lie apart")
REFUSED(transposed_long_rows, SCAN, "cumsum_1", "vector i\ntile 16\nstage 0 transpose-store 1\n",
        "line 6: stage 0 transpose-store 1: it stores no short rows")
REFUSED(transposed_jammed_rows, SCAN, "cumsum_1", "when j < 20\nvector i\ntile 16\njam-vectors 2\nstage 0 transpose %1\nelse\nvector j\n",
        "line 8: stage 0 transpose %1: vectors are jammed")
REFUSED(interchanged_vectors, SUM, "sum_1", "vector i\ntile 16\njam-vectors 1\ninterchange 1\n",
        "line 7: interchange 1: vectors are jammed")
REFUSED(short_runs_of_one_axis, SUM, "sum_1", "vector j\nstage 0 unroll 4\nstage 0 short-runs\n",
        "line 6: stage 0 short-runs: the stage does not reduce along several axes, the inner ones of few known points")
REFUSED(other_rows, SUM, "sum_1", "vector j\ngroup 4\n",
        "line 5: group 4: groups are of one parallel axis whose rows are prefetched")

/* Outer points of a scatter add to one place. */
Test(refused, dependent_points) {
  tc_graph *g = tc_graph_optimize(tc_graph_parse("graph g\n" SCATTER, &diag));
  cr_assert_not_null(g);
  tc_program *p = planned(g);
  int refused = 0;
  for (uint32_t i = 0; i < p->nkernel; i++)
    for (uint32_t n = 0; n < p->kernel[i].nnest; n++) {
      const tc_nest *nest = &p->kernel[i].nest[n];
      if (!nest->serial) continue;
      for (int a = 0; a < nest->naxis; a++) {
        tc_buf text = {0}, why = {0};
        tc_putf(&text, "program g\nkernel %s\nnest %u\nvector %s\ntile 16\njam-vectors 1\n",
                p->kernel[i].name, n, nest->axis[a].name);
        cr_expect_not(tc_schedule_read(words, text.text, p, "g", &why), "%s", text.text);
        cr_expect(why.text && !strncmp(why.text, "line ", 5), "%s", why.text);
        refused += strstr(why.text, "may write to one place") || strstr(why.text, "depend");
        tc_buf_free(&text);
        tc_buf_free(&why);
      }
    }
  cr_expect_gt(refused, 0);
  tc_program_free(p);
  tc_graph_free(g);
}

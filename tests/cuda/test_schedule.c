/* Schedules for GPUs: those that are planned are allowed and read back as they are printed; others that are
 * stated say so in their texts, which NVRTC takes where it is at hand and which compute the same on the CPU;
 * what a nest does not allow is refused, with the line. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/unit.h"
#include "backends/schedule/words.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/allowance.h"
#include "tests/common/schedules.h"
#include "tests/cuda/program.h"

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

static const tc_schedule_words *const words = &tc_cuda_schedule_words;

static tc_graph *parse(const char *text) {
  tc_graph *g = tc_graph_parse(text, &diag);
  cr_assert_not_null(g);
  return g;
}

/* ---- planned schedules ----------------------------------------------------------------------- */

Test(schedule, of_every_op) {
  int n = 0, wrong;
  random_options *o = random_every_op(2, &n);
  cr_expect_gt(schedules_check_random(&tc_backend_cuda, o, n, &wrong), 200);
  cr_expect_eq(wrong, 0);
}

Test(schedule, of_random_graphs) {
  int n = 200, wrong;
  random_options *o = random_many_ops(994000, &n);
  cr_expect_gt(schedules_check_random(&tc_backend_cuda, o, n, &wrong), 150);
  cr_expect_eq(wrong, 0);
}

/* ---- stated schedules ------------------------------------------------------------------------ */

static const char *stated; /* of "program g"; NULL: the planned one */

static bool plan_stated(tc_program *p) {
  tc_buf why = {0};
  const bool ok = schedules_plan(&tc_backend_cuda, p, stated, &why);
  cr_expect(ok, "%s", why.text);
  tc_buf_free(&why);
  return ok;
}

static interp_array *values(tc_graph *g, uint32_t input, int64_t rows, int64_t columns) {
  const tc_type *t = &tc_graph_input_at(g, input)->type;
  int64_t dim[TC_MAX_RANK];
  for (int i = 0; i < t->rank; i++) {
    uint32_t sym;
    cr_assert(tc_dim_is_sym(tc_graph_dims(g), t->dim[i], &sym));
    dim[i] = tc_dims_sym(tc_graph_dims(g), sym)->name[0] == 'R' ? rows : columns;
  }
  interp_array *a = interp_new((tc_dtype)t->dtype, t->rank, dim);
  schedules_fill(a, input);
  return a;
}

static void check_run(const cuda_unit *u, interp_array **in, const interp_run *want, allowance t,
                      bool shifted) {
  cuda_run got = {.input = (const interp_array *const *)in, .layout = shifted ? CUDA_SHIFTED : CUDA_ALIGNED};
  cr_assert(cuda_program(u, 0, &got));
  for (uint32_t i = 0; i < want->noutput; i++) {
    const int64_t k = allowance_mismatch(want->output[i], want->output[i], got.output[i], t);
    cr_expect_lt(k, 0, "[%lld, ..., %lld]%s by\n%s: element %lld is %.9g, not %.9g",
                 (long long)in[0]->dim[0], (long long)in[0]->dim[in[0]->rank - 1],
                 shifted ? ", not aligned," : "", stated, (long long)k,
                 k < 0 ? 0 : interp_get(got.output[i], k),
                 k < 0 ? 0 : interp_get(want->output[i], k));
  }
  cuda_run_free(&got);
}

static void check_sizes(const cuda_unit *u, tc_graph *g, int64_t rows, int64_t columns) {
  const uint32_t n = tc_graph_input_count(g);
  interp_array *in[4];
  const allowance t = allowance_of(random_coarsest_dtype(g));
  for (uint32_t i = 0; i < n; i++) in[i] = values(g, i, rows, columns);
  interp_run want = {.g = g, .input = (const interp_array *const *)in, .round = t.round};
  cr_assert(interp_graph(&want), "%s", want.message);
  check_run(u, in, &want, t, false);
  check_run(u, in, &want, t, true);
  interp_run_free(&want);
  for (uint32_t i = 0; i < n; i++) interp_free(in[i]);
}

#ifndef TC_SANITIZED /* they do not see NVRTC */
static bool compile(const char *name, const char *text, void *arg) {
  const tc_cuda_options options = {.narch = 2, .arch = {80, 90}};
  tc_nvrtc_job job = {.name = name, .text = text};
  tc_buf why = {0};
  (void)arg;
  if (tc_nvrtc_compile(&options, &job, 1, &why)) {
    cr_expect_null(job.error, "%s: %.2000s", name, job.error);
    tc_nvrtc_job_free(&job);
  }
  tc_buf_free(&why);
  return true;
}
#endif

static void check_planned(const char *graph, const char *says) {
  tc_graph *g = tc_graph_optimize(parse(graph));
  tc_program *p = tc_lower(g, cuda_unit_target);
  stated = NULL;
  cr_assert(p && plan_stated(p));
  char *text = schedules_kernels(&tc_backend_cuda, p);
  cr_expect_null(strstr(text, says), "'%s' by the plan", says);
  free(text);
  tc_program_free(p);
  tc_graph_free(g);
}

/* The graph by the schedule gives what the interpreter does; `says` stands in its kernels, and in none by the
 * planned schedule. */
static void check_stated(const char *graph, const char *schedule, const char *says) {
  static const int64_t sizes[][2] = {{1, 1},   {3, 5},    {33, 100}, {64, 384},
                                     {7, 512}, {515, 96}, {2, 4100}, {130, 131}};
  cuda_unit u;
  check_planned(graph, says);
  tc_graph *g = parse(graph), *optimised = tc_graph_optimize(parse(graph));
  stated = schedule;
  cr_assert(cuda_unit_build_by(&u, &optimised, 1, plan_stated));
  char *text = schedules_kernels(&tc_backend_cuda, u.program[0]);
  cr_expect_not_null(strstr(text, says), "'%s' by %s", says, schedule);
  free(text);
#ifndef TC_SANITIZED
  cuda_each_text(u.program[0], compile, NULL);
#endif
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_sizes(&u, g, sizes[i][0], sizes[i][1]);
  cuda_unit_free(&u);
  tc_graph_free(g);
  tc_graph_free(optimised);
}

#define SUM "graph g\n%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n"
#define SOFTMAX "graph g\n%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n"
#define NORM                                                                                       \
  "graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"w\"\n%3 = param f32[C] \"b\"\n"         \
  "%4 = const weak f64 1e-5\n%5 = layer_norm %1 %2 %3 %4 naxes=1\nret %5\n"
#define COLUMNS "graph g\n%1 = param f32[R,C] \"x\"\n%2 = max %1 axes=[0] keep=0\nret %2\n"
#define SCATTER                                                                                    \
  "graph g\n%1 = param f32[C,R] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = param f32[R,R] \"s\"\n"         \
  "%4 = argmax %2 axes=[1] keep=1\n%5 = expand %4 dims=[R,R]\n%6 = scatter_add %1 %5 %3 axis=0\nret %6\n"
#define TRANSPOSE                                                                                  \
  "graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[C,R] \"y\"\n%3 = permute %1 axes=[1,0]\n"    \
  "%4 = add %3 %2\nret %4\n"

/* Of the least there is to say: accesses of one element, 64-bit indices. */
Test(stated, scalar_pointwise) {
  check_stated("graph g\n%1 = param f32[R,C] \"x\"\n%2 = exp %1\n%3 = mul %2 %1\nret %3\n",
               "program g for cuda\nkernel exp_mul_1\n  nest 0\n    form flat\n", "<1, 1, tc_i64>");
}

Test(stated, narrow_halves) {
  check_stated("graph g\n%1 = param bf16[R,C] \"x\"\n%2 = exp %1\n%3 = mul %2 %1\nret %3\n",
               "program g\nkernel exp_mul_1\n  nest 0\n    form flat\n    width 4\n"
               "    when aligned, index32\n    lanes 4\n    unroll 3\n    threads 96\n"
               "    else\n    unroll 2\n",
               "<4, 3, int>");
}

/* Keys in one part are not shared out: there is nothing to put together. */
Test(stated, keys_in_one_part) {
  check_stated("graph g\n%1 = param f32[R,R] \"q\"\n%2 = param f32[C,R] \"k\"\n%3 = param f32[C,R] \"v\"\n"
               "%4 = permute %2 axes=[1,0]\n%5 = matmul %1 %4\n%6 = const weak f32 0.001\n%7 = mul %5 %6\n"
               "%8 = softmax %7 axis=1\n%9 = matmul %8 %3\nret %9\n",
               "program g for cuda\nkernel matmul_max_exp_sum_1\n  template simt\n  along-b n\n  along-inner-a d\n"
               "  along-inner-b d\n  sides 64\n  k-parts 1\n",
               "for (tc_int tile = blockIdx.x;");
}

/* Rows that no registers hold, in shared memory or not. */
Test(stated, softmax_in_shared_memory) {
  check_stated(SOFTMAX,
               "program g\nkernel max_exp_sum_sub_1\n  nest 0\n    form rows\n    width 4\n"
               "    cache %1\n    f64-totals 1\n"
               "    when aligned, index32\n    shared\n    lanes 4\n    unroll 2\n    group 96\n"
               "    most 96\n    else\n    shared\n    unroll 2\n    group 64\n    most 64\n",
               "<4, 2, int, 96>");
}

Test(stated, softmax_without_cache) {
  check_stated(SOFTMAX,
               "program g\nkernel max_exp_sum_sub_1\n  nest 0\n    form rows\n    width 2\n"
               "    when aligned, index32\n    lanes 2\n    unroll 3\n    else\n    unroll 2\n",
               "<2, 3, int>");
}

/* Short rows in registers of 160 threads, whose weights are not prefetched. */
Test(stated, norm_in_registers) {
  check_stated(NORM,
               "program g\nkernel sum_div_sub_square_1\n  nest 0\n    form rows\n    width 4\n"
               "    f64-totals 0 1\n"
               "    when aligned, index32, longest 480\n    registers\n    lanes 4\n    unroll 3\n"
               "    group 160\n    most 160\n    else\n    unroll 2\n",
               "<4, 3, int, 160>");
}

/* Every load has a place in a tile, or none has. */
Test(stated, transpose_point_by_point) {
  check_stated(TRANSPOSE,
               "program g\nkernel add_1\n  nest 0\n    form flat\n    width 4\n"
               "    when aligned, index32\n    lanes 4\n    unroll 2\n    else\n    unroll 2\n",
               "/* nest 0: flat */");
}

Test(stated, transpose_of_aligned_tiles) {
  check_stated(TRANSPOSE,
               "program g\nkernel add_1\n  nest 0\n    form transpose\n    width 2\n    along j\n"
               "    across i\n    tile %2\n    when aligned, index32\n    lanes 2\n    unroll 4\n"
               "    else\n    unroll 4\n",
               "nest0<2, 4, int>");
}

Test(stated, transpose_of_few_columns) {
  check_stated(TRANSPOSE,
               "program g\nkernel add_1\n  nest 0\n    form transpose\n    along j\n    across i\n"
               "    when index32, longest 6\n    narrow\n    unroll 3\n    else\n    unroll 4\n",
               "nest0_narrow<1, 3, int>");
}

/* Columns that are cut at another length: all nests of the reduction say so. */
#define NEST(n)                                                                                    \
  "  nest " n "\n    form columns\n    width 2\n    whole 64\n    many-results 200\n"              \
  "    when aligned, index32\n    lanes 2\n    unroll 3\n    else\n    unroll 3\n"

Test(stated, columns_cut_early) {
  check_stated(COLUMNS, "program g\nkernel max_1\n" NEST("0") NEST("1") NEST("2"), " <= 64 || ");
}

#define PRODUCT(dtype)                                                                             \
  "graph g\n%1 = param " dtype "[R,C] \"x\"\n%2 = param " dtype                                    \
  "[R,C] \"y\"\n%3 = permute %2 axes=[1,0]\n%4 = matmul %1 %3\n%5 = tanh %4\nret %5\n"

/* By the template alone, with tiles of two sizes. */
Test(stated, product_without_library) {
  check_stated(PRODUCT("f32"),
               "program g\nkernel matmul_tanh_1\n  template simt\n  along-a k\n  along-b k\n"
               "  width-a 2\n  width-b 4\n  sides 64 16\n",
               "_product<64, 8, 8, 2, 4, 1, int>");
}

/* Beside tiles, functions for skinny products. */
Test(stated, product_of_few_columns) {
  check_stated(PRODUCT("f32"),
               "program g\nkernel matmul_tanh_1\n  template simt\n  along-a k\n  along-b k\n"
               "  width-a 2\n  width-b 4\n  sides 64 16\n  skinny\n",
               "_product<64, 8, 8, 2, 4, 1, int>");
}

/* Products of halves that threads multiply. */
Test(stated, product_without_tensor_cores) {
  check_stated(PRODUCT("bf16"),
               "program g\nkernel matmul_tanh_1\n  template simt\n  along-a k\n  along-b k\n"
               "  width-a 4\n  width-b 4\n  width-c 4\n  sides 32\n  library\n  short-side 16\n"
               "  short-depth 200\n",
               "tc_cuda_is_short(c, &mm, 16, 200)");
}

/* A sort of rows of which shared memory has room for a part. */
#define SORT "graph g\n%1 = param f32[R,C] \"x\"\n%2 = order %1 k=C axis=1 descending=1\nret %2\n"
Test(stated, sort_in_little_room) {
  check_stated(SORT, "program g\nkernel order_1\n  room 256\n", "tc_cuda_sort(c, points, n, k, 256,");
}

/* Rows that begin anywhere by one function, aligned or not. */
Test(stated, sum_of_unaligned_rows) {
  check_stated(SUM,
               "program g\nkernel sum_1\n  nest 0\n    form rows\n    width 4\n    f64-totals 0\n"
               "    when index32\n    unaligned\n    lanes 2\n    unroll 3\n    group 32\n"
               "    most 32\n    else\n    unroll 2\n",
               "<2, 3, int, 32>");
}

/* Rows that are read in two passes and written, by items that begin at aligned addresses. */
Test(stated, softmax_of_rows_in_phase) {
  check_stated(SOFTMAX,
               "program g\nkernel max_exp_sum_sub_1\n  nest 0\n    form rows\n    width 4\n"
               "    when in-phase, index32, longest 96\n    registers\n    lanes 4\n    unroll 3\n    group 32\n    items 3\n    most 32\n"
               "    when in-phase-stores, index32\n    lanes 4\n    unroll 2\n    group 64\n    most 64\n    else\n    unroll 2\n",
               "<4, 3, int, 32>");
}

/* A scatter whose threads visit all points. */
Test(stated, serial_scatter) {
  check_stated(SCATTER, "program g\nkernel scatter_add_2\n  nest 0\n    form flat\n  nest 1\n    form serial\n",
               "tc_cuda_owners(slices)");
}

/* ---- wrong ones ------------------------------------------------------------------------------ */

static void check_refused(const char *graph, const char *schedule, const char *want) {
  tc_graph *g = parse(graph);
  tc_buf why = {0};
  bool made = false;
  cr_assert_not_null(g);
  cr_expect_not(schedules_are_allowed(&tc_backend_cuda, g, schedule, &made, &why), "not refused:\n%s", schedule);
  cr_expect(made);
  cr_expect_str_eq(why.text ? why.text : "", want, "%s: %s", schedule, why.text);
  tc_buf_free(&why);
}

#define REFUSED(name, graph, kernel, text, want)                                                   \
  Test(refused, name) { check_refused(graph, "program g\nkernel " kernel "\nnest 0\n" text, want); }

REFUSED(unknown_form, SUM, "sum_1", "form round\n", "line 4: 'round' is not understood here")
REFUSED(no_form, SUM, "sum_1", "unroll 4\n", "line 4: no 'form' is said")
REFUSED(flat_reduction, SUM, "sum_1", "form flat\n",
        "line 4: form flat: it is a form of one stage that only stores")
REFUSED(serial_rows, SUM, "sum_1", "form serial\n",
        "line 4: form serial: the points of the nest do not depend on each other")
REFUSED(scatter_of_rows, SUM, "sum_1", "form scatter\n",
        "line 4: form scatter: the nest does not only store at computed destinations")
REFUSED(columns_of_rows, SUM, "sum_1", "form columns\n",
        "line 4: form columns: it is a form of stages that run lanes along a parallel axis")
REFUSED(wide, SUM, "sum_1", "form rows\nwidth 8\n",
        "line 5: width 8: sizes or 16-byte accesses do not allow so many elements")
REFUSED(common_in_variant, SUM, "sum_1", "form rows\nunroll 4\nwidth 4\n",
        "line 6: 'width' is not understood here")
REFUSED(no_else, SUM, "sum_1", "form rows\nwhen aligned\nlanes 1\n",
        "line 7: the nest in front of this line has no 'else'")
REFUSED(condition_twice, SUM, "sum_1", "form rows\nwhen aligned, aligned\n",
        "line 5: 'aligned' was said in line 5")
REFUSED(cut_of_rows, SUM, "sum_1", "form rows\nwhole 8\n",
        "line 5: whole 8: the reduction has nests for one way only")
REFUSED(cut_of_one_nest, COLUMNS, "max_1", "form columns\nwhole 8\nunroll 4\n",
        "line 6: other nests of the reduction say otherwise where it is cut")
REFUSED(lanes_of_any, SUM, "sum_1", "form rows\nwidth 4\nlanes 4\n",
        "line 6: lanes 4: accesses of several elements want 'aligned', 'aligned-stores', 'in-phase', 'dense', 'overlapping' or 'unaligned'")
REFUSED(stores_of_aligned, SUM, "sum_1", "form rows\nwidth 4\nwhen aligned, aligned-stores\nlanes 4\nelse\n",
        "line 6: aligned-stores: 'aligned' says more")
REFUSED(dense_rows, SUM, "sum_1", "form rows\nwidth 4\nwhen dense\nlanes 4\nelse\n",
        "line 6: dense: stored elements of all points do not follow one another")
REFUSED(overlapping_rows, SUM, "sum_1", "form rows\nwidth 4\nwhen overlapping\nlanes 4\nelse\n",
        "line 6: overlapping: the nest has no columns that may be computed twice")
REFUSED(full_anywhere, SUM, "sum_1", "form rows\nwidth 4\nwhen aligned-stores, full, longest 32\nregisters\nlanes 4\nunroll 1\ngroup 32\nmost 32\nitems 1\nelse\n",
        "line 6: aligned-stores: rows that fill a group begin at aligned addresses")
REFUSED(more_lanes, SUM, "sum_1", "form rows\nwidth 2\nwhen aligned\nlanes 4\n",
        "line 8: the nest in front of this line has no 'else'")
REFUSED(lanes_beyond_width, SUM, "sum_1", "form rows\nwidth 2\nwhen aligned\nlanes 4\nelse\n",
        "line 7: lanes 4: it is more than 'width'")
REFUSED(group_of_parts, SUM, "sum_1", "form rows\ngroup 48\nmost 64\n",
        "line 5: group 48: it is neither a power of two up to 32 nor a number of whole warps")
REFUSED(group_of_columns, COLUMNS, "max_1",
        "form columns\nwhole 2048\nmany-results 65536\ngroup 32\n",
        "line 7: group 32: a column has one thread, or as many as the launcher says")
REFUSED(registers_of_any, SOFTMAX, "max_exp_sum_sub_1", "form rows\nregisters\nunroll 4\n",
        "line 5: registers: 'longest' is not said, or more than 'unroll' items of each thread")
REFUSED(registers_of_long, SOFTMAX, "max_exp_sum_sub_1",
        "form rows\nwhen longest 257\nregisters\nunroll 4\ngroup 64\nmost 64\nelse\n",
        "line 6: registers: 'longest' is not said, or more than 'unroll' items of each thread")
REFUSED(more_registers, SOFTMAX, "max_exp_sum_sub_1",
        "form rows\nwidth 4\nwhen aligned, longest 64\nregisters\nlanes 4\nunroll 64\ngroup 64\n"
        "most 64\nelse\n",
        "line 7: registers: registers do not hold so many")
REFUSED(full_of_any, SOFTMAX, "max_exp_sum_sub_1",
        "form rows\nwhen full, longest 100\nregisters\nunroll 4\ngroup 64\nmost 64\nelse\n",
        "line 5: full: 'longest' is not 'unroll' times 'group'")
REFUSED(cache_of_one_pass, SUM, "sum_1", "form rows\ncache %1\n",
        "line 5: cache %1: it is no row that more than one pass reads")
REFUSED(shared_without_cache, SOFTMAX, "max_exp_sum_sub_1", "form rows\nshared\n",
        "line 5: shared: no 'cache' says which rows")
REFUSED(prefetch_of_rows, NORM, "sum_div_sub_square_1", "form rows\nprefetch %1\n",
        "line 5: prefetch %1: it is no load of a later pass that all rows share")
REFUSED(load_once_of_rows, NORM, "sum_div_sub_square_1", "form rows\nload-once %1\n",
        "line 5: load-once %1: it is no load that all rows share")
REFUSED(totals_of_maximum, SOFTMAX, "max_exp_sum_sub_1", "form rows\nf64-totals 0\n",
        "line 5: f64-totals 0: the stage has no f32 sums")
REFUSED(order_of_sums, SUM, "sum_1", "form rows\nin-order 0\n",
        "line 5: in-order 0: the stage does not find places of elements along one axis")
Test(refused, room_of_sort) {
  check_refused(SORT, "program g\nkernel order_1\nroom 48\n", "line 3: room 48: it is no power of two from 64 on");
  check_refused(SORT, "program g\nkernel order_1\nroom 32768\n",
                "line 3: room 32768: shared memory has no room for so many numbers");
  check_refused(SUM, "program g\nkernel sum_1\nroom 64\n", "line 3: room 64: the kernel is no sort");
}
REFUSED(unaligned_softmax, SOFTMAX, "max_exp_sum_sub_1", "form rows\nwidth 4\nunaligned\nlanes 4\n",
        "line 6: unaligned: the nest does more than to reduce rows of one load in one pass")
REFUSED(few_threads_in_phase, SOFTMAX, "max_exp_sum_sub_1",
        "form rows\nwidth 4\nwhen in-phase, longest 16\nregisters\nlanes 4\nunroll 2\ngroup 8\nitems 2\nelse\nunroll 4\n",
        "line 6: in-phase: there is no thread for each peeled element")
REFUSED(columns_in_phase, SCATTER, "scatter_add_2", "form flat\nwidth 4\nwhen in-phase\nlanes 4\nelse\nunroll 4\n",
        "line 6: in-phase: the nest has no rows of which all can be peeled alike")
REFUSED(phase_of_aligned_rows, SOFTMAX, "max_exp_sum_sub_1", "form rows\nwidth 4\nwhen aligned, in-phase\nlanes 4\nelse\nunroll 4\n",
        "line 6: in-phase: other words say where its rows begin")
REFUSED(tiles_of_rows, SUM, "sum_1", "form rows\nalong i\n",
        "line 5: along i: the form is no transpose")
REFUSED(transpose_without_axes, TRANSPOSE, "add_1", "form transpose\nunroll 4\n",
        "line 5: a transpose wants 'along' and 'across'")
REFUSED(narrow_rows, SOFTMAX, "max_exp_sum_sub_1", "form rows\nwhen longest 6\nnarrow\nelse\nunroll 4\n",
        "line 6: narrow: the form is no transpose")
REFUSED(narrow_of_any_length, TRANSPOSE, "add_1", "form transpose\nalong j\nacross i\nwhen index32\nnarrow\nelse\nunroll 4\n",
        "line 8: narrow: 'longest' is not said")
REFUSED(stores_across, TRANSPOSE, "add_1", "form transpose\nalong i\nacross j\n",
        "line 5: along i: stores are not of neighbours along it")
REFUSED(tile_of_other, TRANSPOSE, "add_1", "form transpose\nalong j\nacross i\ntile %1\n",
        "line 7: tile %1: it is no load across the stores")
#define REFUSED_PRODUCT(name, dtype, text, want)                                                   \
  Test(refused, name) {                                                                            \
    check_refused(PRODUCT(dtype), "program g\nkernel matmul_tanh_1\n" text, want);                 \
  }

REFUSED_PRODUCT(sides_of_none, "f32", "template simt\nsides 96\n",
                "line 4: sides 96: the template has no tiles of that side")
Test(refused, skinny_of_many_columns) {
  check_refused("graph g\n%1 = param f32[R,32] \"x\"\n%2 = param f32[32,64] \"y\"\n%3 = matmul %1 %2\nret %3\n",
                "program g\nkernel matmul_1\ntemplate simt\nalong-a k\nalong-b n\nsides 64\nskinny\n",
                "line 7: skinny: neither columns nor rows may be few, or their operands do not lie along k");
}

REFUSED_PRODUCT(product_by_nothing, "f32", "library\n", "matmul_tanh_1: no 'template' is said")
REFUSED_PRODUCT(tensor_cores_of_f32, "f32", "template mma\n",
                "line 3: template mma: tensor cores multiply f16 and bf16")
REFUSED_PRODUCT(ascending_sides, "f32", "template simt\nsides 16 64\n",
                "line 4: sides 16 64: they descend")
REFUSED_PRODUCT(one_tile, "bf16", "template mma\nalong-a k\nalong-b k\nsides 128\n",
                "matmul_tanh_1: the template for tensor cores has tiles of 256, 128 and 64")
REFUSED_PRODUCT(axis_of_b, "f32", "template simt\nalong-a n\n",
                "line 4: along-a n: A has no such axis")
REFUSED_PRODUCT(wide_operand, "f32", "template simt\nalong-a k\nalong-b k\nwidth-a 8\n",
                "line 6: width-a 8: sizes or 16-byte accesses do not allow so many elements")
REFUSED(template_of_nests, SUM, "sum_1", "kernel sum_1\ntemplate simt\n",
        "line 5: template simt: the kernel is no product")
REFUSED(approximate_f32, SUM, "sum_1", "kernel sum_1\napproximate\n",
        "line 5: approximate: more than 16 bits of its results are seen")

/* What is said for another machine is not read. */
Test(schedule, of_other_backends) {
  tc_graph *g = tc_graph_optimize(parse(SUM));
  tc_program *p = tc_lower(g, tc_backend_cuda.target);
  tc_buf why = {0};
  cr_assert(p && tc_backend_cuda.plan(p));
  cr_expect(
      tc_schedule_read(words, "program g for openmp\nkernel sum_1\n  threads 1\n", p, "g", &why));
  cr_expect_not(tc_schedule_read(words, "program g\nkernel sum_1\n  threads 1\n", p, "g", &why));
  tc_buf_free(&why);
  tc_program_free(p);
  tc_graph_free(g);
}

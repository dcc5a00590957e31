/* Entries: what the guards let through, what they count, and that threads do not change results. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/unit.h"
#include "graph/text.h"
#include "tests/openmp/tensors.h"
#include "tests/openmp/unit.h"

void omp_set_num_threads(int n);

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

static omp_unit unit_of(const char *text) {
  omp_unit u;
  tc_graph *g = tc_graph_parse(text, &diag);
  cr_assert_not_null(g);
  cr_assert(omp_unit_build(&u, &g, 1, ~0u, &diag));
  cr_assert(u.result[0].compiled);
  omp_tensors_free();
  return u;
}

/* rank 2 of f32: element k is f(k) */
static struct tc_tensor *matrix(int64_t rows, int64_t cols, double scale, bool strided) {
  interp_array *a = interp_new(TC_F32, 2, (int64_t[]){rows, cols});
  for (int64_t k = 0; k < a->count; k++)
    interp_set(a, k, scale * (double)((k * 7919) % 1009) - 0.3);
  struct tc_tensor *t = omp_tensor(a, strided);
  interp_free(a);
  return t;
}

static struct tc_tensor *indices(int64_t n, int64_t step) {
  interp_array *a = interp_new(TC_I64, 1, (int64_t[]){n});
  for (int64_t k = 0; k < n; k++) interp_set(a, k, (double)(k * step));
  struct tc_tensor *t = omp_tensor(a, false);
  interp_free(a);
  return t;
}

static const char chain[] =
    "graph chain\n%1 = param f32[B,C] \"x\"\n%2 = param f32[C,8] \"w\"\n%3 = exp %1\n"
    "%4 = softmax %3 axis=1\n%5 = matmul %4 %2\nret %4\nret %5\n";

Test(entry, guards) {
  omp_unit u = unit_of(chain);
  struct tc_tensor *out[2];
  const struct tc_tensor *x = matrix(33, 70, 1e-3, false), *w = matrix(70, 8, 1e-3, false);
  const struct tc_tensor *other = matrix(71, 8, 1e-3, false), *index = indices(70, 1);
  cr_expect(u.entry[0]((const struct tc_tensor *[]){x, w}, NULL, out));
  cr_expect_not(u.entry[0]((const struct tc_tensor *[]){x, other}, NULL, out), "another size");
  cr_expect_not(u.entry[0]((const struct tc_tensor *[]){NULL, w}, NULL, out), "NULL");
  cr_expect_not(u.entry[0]((const struct tc_tensor *[]){index, w}, NULL, out),
                "another rank and dtype");
  tcrt_enabled = 0;
  cr_expect_not(u.entry[0]((const struct tc_tensor *[]){x, w}, NULL, out), "disabled");
  tcrt_enabled = 1;
  omp_unit_free(&u);
}

static bool keep_arrays(tc_program *p) {
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    if (p->buffer[i].kind != TC_BUF_ARENA) continue;
    p->buffer[i].kind = TC_BUF_KEPT;
    p->buffer[i].version = TC_STATE;
    p->buffer[i].offset = tc_dim_const(0);
  }
  return true;
}

/* Entries have no memory that outlives a call: the function stays as written. */
Test(entry, kept_arrays) {
  tc_backend b = tc_backend_openmp;
  b.plan = keep_arrays;
  omp_unit u;
  tc_graph *g = tc_graph_parse(
      "graph g\n%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=0\n%3 = cumsum %2 axis=1\nret %3\n",
      &diag);
  cr_assert(omp_unit_build_by(&u, &g, 1, ~0u, &b));
  cr_expect_not(u.result[0].compiled);
  omp_unit_free(&u);
}

/* Results of 1, 2 and 7 threads, contiguous and strided operands: the same bits. */
Test(entry, threads_and_strides) {
  omp_unit u = unit_of(
      "graph rows\n%1 = param f32[B,C] \"x\"\n%2 = softmax %1 axis=1\n%3 = sum %1 axes=[] keep=0\n"
      "%4 = sum %1 axes=[0] keep=0\n%5 = cumsum %1 axis=1\nret %2\nret %3\nret %4\nret %5\n");
  interp_array *want[4];
  struct tc_tensor *out[4];
  const int threads[] = {1, 2, 7};
  for (int run = 0; run < 6; run++) {
    omp_set_num_threads(threads[run % 3]);
    const struct tc_tensor *x = matrix(300, 517, 1e-3, run > 2);
    cr_assert(u.entry[0](&x, NULL, out));
    for (int i = 0; i < 4; i++) {
      interp_array *got = omp_array(out[i]);
      if (run == 0) want[i] = got;
      else {
        cr_expect_eq(memcmp(got->f, want[i]->f, (size_t)got->count * sizeof *got->f), 0,
                     "result %d of run %d", i, run);
        interp_free(got);
      }
    }
  }
  for (int i = 0; i < 4; i++) interp_free(want[i]);
  omp_unit_free(&u);
}

/* A total is made of parts when all of them are there: of more threads than cores some come late.  What the call
 * before left in their place is of another operand. */
Test(entry, totals_wait_for_parts) {
  enum { RUNS = 40 };
  omp_unit u = unit_of("graph total\n%1 = param f32[B,C] \"x\"\n%2 = exp %1\n%3 = sum %2 axes=[] keep=0\nret %3\n");
  const struct tc_tensor *x[2] = {matrix(2000, 1003, 1e-4, false), matrix(2000, 1003, 1e-3, false)};
  double want[2];
  for (int run = 0; run < RUNS; run++) {
    struct tc_tensor *out[1];
    omp_set_num_threads(run < 2 ? 1 : 7);
    cr_assert(u.entry[0](&x[run % 2], NULL, out));
    interp_array *got = omp_array(out[0]);
    if (run < 2) want[run] = got->f[0];
    cr_expect_eq(got->f[0], want[run % 2], "run %d: %.9g, not %.9g", run, got->f[0], want[run % 2]);
    interp_free(got);
  }
  omp_tensors_free();
  omp_unit_free(&u);
}

static double softmax_error(const interp_array *x, const interp_array *y, int64_t rows) {
  const int64_t n = x->count / rows;
  double worst = 0;
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += exp(x->f[i * n + k]);
    for (int64_t k = 0; k < n; k++)
      worst = fmax(worst, fabs(y->f[i * n + k] * sum / exp(x->f[i * n + k]) - 1));
  }
  return worst;
}

static void check_softmax(const omp_unit *u, int64_t rows, int64_t columns) {
  const struct tc_tensor *x = matrix(rows, columns, 1e-3, false);
  interp_array *in = omp_array(x), *want = NULL;
  for (int level = 0; level < TC_ISA_COUNT; level++, interp_free(want), want = NULL)
    for (int threads = 1; threads <= 11; threads += 5) {
      struct tc_tensor *out[1];
      if (!(omp_levels_here() >> level & 1)) continue;
      tcrt_isa = level;
      omp_set_num_threads(threads);
      cr_assert(u->entry[0](&x, NULL, out));
      interp_array *got = omp_array(out[0]);
      cr_expect_lt(softmax_error(in, got, rows), 2e-6, "%d columns, level %d, %d threads",
                   (int)columns, level, threads);
      if (want)
        cr_expect_eq(memcmp(got->f, want->f, (size_t)got->count * sizeof *got->f), 0,
                     "%d columns, level %d, %d threads", (int)columns, level, threads);
      if (want) interp_free(got);
      else want = got;
    }
  interp_free(in);
}

/* Where stores are nontemporal (at some levels of these units they all are), a row is stored in the loop
 * of the next, in whole lines: with many rows a thread, and with one; rows that are lines, that begin
 * within one, that are shorter than one. */
Test(entry, software_pipeline) {
  const int64_t columns[] = {1, 5, 16, 17, 64, 77, 128, 200, 1003, 4096, 4113};
  omp_unit u = unit_of("graph rows\n%1 = param f32[B,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n");
  cr_assert_not_null(strstr(u.texts.kernels->text.text, "pending = "));
  cr_expect_not_null(strstr(u.texts.kernels->text.text, " && TC_NONTEMPORAL_ROWS((s_C) * 4, (s_C) * 4)"));
  cr_expect_not_null(strstr(u.texts.kernels->text.text, "if (nontemporal) tc_prefetch_store("));
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) check_softmax(&u, 11, columns[i]);
  omp_unit_free(&u);
}

/* Rows shorter than a vector share one with their neighbours, and keep a vector at each place: more rows than lanes, and
 * a part of a vector left.  Blocks of them, which follow one another, are stored nontemporally as vectors are. */
Test(entry, short_rows) {
  omp_unit u = unit_of("graph rows\n%1 = param f32[B,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n");
  cr_assert_not_null(strstr(u.texts.kernels->text.text, "* TC_L];"));
  cr_expect_not_null(strstr(u.texts.kernels->text.text, " && TC_NONTEMPORAL_BLOCKS((s_C) * 4)"));
  cr_expect_not_null(strstr(u.texts.kernels->text.text, "tc_tolines_u32(b1 + "));
  for (int64_t columns = 1; columns < 50; columns++) check_softmax(&u, 37, columns);
  omp_unit_free(&u);
}

/* So is the first line of a later row, where lanes are points of rows, that waits for memory. */
Test(entry, shared_lines_of_points) {
  omp_unit u = unit_of("graph rows\n%1 = param f32[B,C] \"x\"\n%2 = param f32[C] \"y\"\n%3 = add %1 %2\nret %3\n");
  cr_expect_not_null(strstr(u.texts.kernels->text.text, "if (nontemporal) tc_prefetch_store(b2, ((s_C) * (i0 + 2)"));
  omp_unit_free(&u);
}

/* An index out of range: the entry gives up, so that the body reports it. */
Test(entry, index_out_of_range) {
  omp_unit u = unit_of("graph rows\n%1 = param f32[V,D] \"table\"\n%2 = param i64[N] \"index\"\n"
                       "%3 = embedding %1 %2\nret %3\n");
  struct tc_tensor *out[1];
  const struct tc_tensor *table = matrix(50, 20, 1, false), *good = indices(40, 1),
                         *bad = indices(40, 2);
  cr_expect(u.entry[0]((const struct tc_tensor *[]){table, good}, NULL, out));
  cr_expect_not(u.entry[0]((const struct tc_tensor *[]){table, bad}, NULL, out));
  omp_unit_free(&u);
}

/* The same where kernels write an operand: nothing is written before the check. */
static void check_written(const char *text) {
  omp_unit u = unit_of(text);
  struct tc_tensor *out[1];
  const struct tc_tensor *table = matrix(50, 20, 1, false), *x = matrix(9, 9, 1e-3, false),
                         *good = indices(40, 1), *bad = indices(40, 2);
  interp_array *before = omp_array(x);
  cr_expect_eq(u.result[0].kernels, 2);
  cr_expect_not(u.entry[0]((const struct tc_tensor *[]){table, bad, x}, NULL, out));
  interp_array *after = omp_array(x);
  cr_expect_arr_eq(after->f, before->f, 81 * sizeof *after->f);
  cr_assert(u.entry[0]((const struct tc_tensor *[]){table, good, x}, NULL, out));
  interp_array *written = omp_array(x);
  cr_expect_arr_neq(written->f, before->f, 81 * sizeof *written->f);
  interp_free(before);
  interp_free(after);
  interp_free(written);
  omp_unit_free(&u);
}

#define PICKED                                                                                     \
  "graph rows\n%1 = param f32[V,D] \"table\"\n%2 = param i64[N] \"index\"\n"                       \
  "%3 = param f32[M,K] \"x\"\n"

Test(entry, index_out_of_range_before_write) {
  check_written(PICKED "%4 = embedding %1 %2\n%5 = exp %3\nwrite %5 -> %3\nret %4\n");
}

Test(entry, index_out_of_range_behind_write) {
  check_written(PICKED "%4 = exp %3\nwrite %4 -> %3\n%5 = embedding %1 %2\nret %5\n");
}

/* A product that is added to an operand in place gives what it gives apart, to the bit. */
static void check_product_in_place(const omp_unit *apart, const omp_unit *there, const int64_t *n) {
  struct tc_tensor *x = matrix(n[0], n[2], 1e-2, false), *out[1];
  const struct tc_tensor *in[] = {x, matrix(n[0], n[1], 1e-3, false),
                                  matrix(n[1], n[2], 2e-3, false)};
  cr_assert(apart->entry[0](in, NULL, out));
  interp_array *want = omp_array(out[0]);
  cr_assert(there->entry[0](in, NULL, out));
  interp_array *got = omp_array(x);
  cr_expect_arr_eq(got->f, want->f, (size_t)want->count * sizeof *want->f, "%lld %lld %lld",
                   (long long)n[0], (long long)n[1], (long long)n[2]);
  interp_free(want);
  interp_free(got);
}

Test(entry, product_in_place) {
#define ADDED                                                                                      \
  "graph added\n%1 = param f32[M,N] \"x\"\n%2 = param f32[M,K] \"a\"\n%3 = param f32[K,N] \"b\"\n" \
  "%4 = matmul %2 %3\n%5 = add %1 %4\n"
  static const int64_t sizes[][3] = {{1, 1, 1},      {5, 3, 7},      {33, 700, 257},
                                     {64, 1500, 64}, {300, 33, 129}, {2, 2000, 2}};
  omp_unit apart = unit_of(ADDED "ret %5\n"), there = unit_of(ADDED "write %5 -> %1\n");
  cr_expect_eq(there.result[0].kernels, 1);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int level = 0; level < TC_ISA_COUNT; level++) {
      if (!(omp_levels_here() >> level & 1)) continue;
      tcrt_isa = level;
      check_product_in_place(&apart, &there, sizes[i]);
      omp_tensors_free();
    }
  omp_unit_free(&apart);
  omp_unit_free(&there);
}

/* A sum of 3 million f32 is as good as one in f64 rounded once. */
Test(entry, long_sum) {
  omp_unit u =
      unit_of("graph total\n%1 = param f32[B,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n");
  struct tc_tensor *out[1];
  const struct tc_tensor *x = matrix(1, 3000001, 1e-3, false);
  cr_assert(u.entry[0](&x, NULL, out));
  interp_array *all = omp_array(x), *got = omp_array(out[0]);
  double want = 0;
  for (int64_t k = 0; k < all->count; k++) want += all->f[k];
  cr_expect_lt((got->f[0] - want) / want, 2e-7);
  cr_expect_gt((got->f[0] - want) / want, -2e-7);
  interp_free(all);
  interp_free(got);
  omp_unit_free(&u);
}

/* The last part of a sum in parts is shorter, also where no operand says so. */
Test(entry, sum_of_a_number) {
  omp_unit u = unit_of("graph total\n%1 = param f32[B,C] \"x\"\n%2 = const f32 2.5\n"
                       "%3 = full %2 dims=[B,C] dtype=f32\n%4 = sum %3 axes=[] keep=0\n"
                       "%5 = exp %1\nret %4\nret %5\n");
  struct tc_tensor *out[2];
  const struct tc_tensor *x = matrix(19, 1031, 1e-3, false);
  cr_assert(u.entry[0](&x, NULL, out));
  interp_array *got = omp_array(out[0]);
  cr_expect_eq(got->f[0], 2.5 * 19 * 1031);
  interp_free(got);
  omp_unit_free(&u);
}

/* bf16 rows are taken two vectors at a time, even and odd elements: each result is in its place,
 * for rows of every remainder.  All values are small integers, so that all sums are exact. */
Test(entry, bf16_pairs) {
  omp_unit u = unit_of("graph pairs\n%1 = param bf16[B,C] \"x\"\n%2 = param bf16[C] \"w\"\n"
                       "%3 = sum %1 axes=[1] keep=1\n%4 = sub %1 %3\n%5 = mul %4 %2\nret %5\n");
  for (int64_t cols = 1; cols < 200; cols += 13) {
    interp_array *x = interp_new(TC_BF16, 2, (int64_t[]){3, cols});
    interp_array *w = interp_new(TC_BF16, 1, (int64_t[]){cols});
    for (int64_t k = 0; k < x->count; k++) interp_set(x, k, (double)(k % 3 - 1));
    for (int64_t k = 0; k < cols; k++) interp_set(w, k, (double)(k * 5 % 31));
    const struct tc_tensor *in[] = {omp_tensor(x, false), omp_tensor(w, false)};
    struct tc_tensor *out;
    cr_assert(u.entry[0](in, NULL, &out));
    interp_array *y = omp_array(out);
    for (int64_t r = 0; r < 3; r++) {
      double sum = 0;
      for (int64_t c = 0; c < cols; c++) sum += x->f[r * cols + c];
      for (int64_t c = 0; c < cols; c++)
        cr_expect_eq(y->f[r * cols + c], (x->f[r * cols + c] - sum) * w->f[c],
                     "row %d of %d, column %d", (int)r, (int)cols, (int)c);
    }
    interp_free(x);
    interp_free(w);
    interp_free(y);
    omp_tensors_free();
  }
  omp_unit_free(&u);
}

/* Columns are reduced many at a time, then few, then one vector and what is left: for every
 * remainder the sum, the largest and its row are the column's.  Small integers: sums are exact. */
Test(entry, columns) {
  omp_unit u = unit_of("graph columns\n%1 = param f32[B,C] \"x\"\n%2 = sum %1 axes=[0] keep=0\n"
                       "%3 = max %1 axes=[0] keep=0\n%4 = argmax %1 axes=[0] keep=0\n"
                       "ret %2\nret %3\nret %4\n");
  enum { ROWS = 70 };
  for (int64_t cols = 1; cols < 800; cols += 71) {
    interp_array *x = interp_new(TC_F32, 2, (int64_t[]){ROWS, cols});
    for (int64_t k = 0; k < x->count; k++) interp_set(x, k, (double)((k * 7919) % 1009) - 500);
    const struct tc_tensor *in[] = {omp_tensor(x, false)};
    struct tc_tensor *out[3];
    cr_assert(u.entry[0](in, NULL, out));
    interp_array *y[3];
    for (int i = 0; i < 3; i++) y[i] = omp_array(out[i]);
    for (int64_t c = 0; c < cols; c++) {
      double sum = 0;
      int64_t top = 0;
      for (int64_t r = 0; r < ROWS; r++) {
        sum += x->f[r * cols + c];
        if (x->f[r * cols + c] > x->f[top * cols + c]) top = r;
      }
      cr_expect_eq(y[0]->f[c], sum, "sum of column %d of %d", (int)c, (int)cols);
      cr_expect_eq(y[1]->f[c], x->f[top * cols + c], "column %d of %d", (int)c, (int)cols);
      cr_expect_eq(interp_int(y[2], c), top, "row of column %d of %d", (int)c, (int)cols);
    }
    for (int i = 0; i < 3; i++) interp_free(y[i]);
    interp_free(x);
    omp_tensors_free();
  }
  omp_unit_free(&u);
}

/* Without those that a product calls where it has one row. */
static int kernels_in(const char *text) {
  static const char definition[] = "TC_KERNEL int TC_NAME(", row[] = "_row";
  int n = 0;
  for (const char *at = text; at && (at = strstr(at, definition)); at += sizeof definition)
    n += strncmp(strchr(at + sizeof definition, ')') - (sizeof row - 1), row, sizeof row - 1) != 0;
  return n;
}

/* Steps of an unrolled loop differ in a position and a number alone: they share their kernel.
 * h += x[:, t] w (t + 2); all values are small integers. */
Test(entry, positions) {
  enum { STEPS = 6, B = 3, I = 5, O = 4 };
  tc_buf text = {0};
  tc_put(&text, "graph steps\n%1 = param f32[B,6,I] \"x\"\n%2 = param f32[I,O] \"w\"\n"
                "%3 = param f32[B,O] \"h\"\n");
  for (int t = 0, n = 3; t < STEPS; t++, n += 5)
    tc_putf(&text,
            "%%%d = select %%1 axis=1 index=%d\n%%%d = matmul %%%d %%2\n%%%d = const weak f64 %d\n"
            "%%%d = mul %%%d %%%d\n%%%d = add %%%d %%%d\n",
            n + 1, t, n + 2, n + 1, n + 3, t + 2, n + 4, n + 2, n + 3, n + 5, n + 4, n);
  tc_putf(&text, "ret %%%d\n", 3 + 5 * STEPS);
  omp_unit u = unit_of(text.text);
  tc_buf_free(&text);
  cr_expect_leq(kernels_in(u.texts.kernels->text.text), 2); /* the last returns */
  interp_array *x = interp_new(TC_F32, 3, (int64_t[]){B, STEPS, I});
  interp_array *w = interp_new(TC_F32, 2, (int64_t[]){I, O});
  interp_array *h = interp_new(TC_F32, 2, (int64_t[]){B, O});
  for (int64_t k = 0; k < x->count; k++) interp_set(x, k, (double)(k * 7 % 11));
  for (int64_t k = 0; k < w->count; k++) interp_set(w, k, (double)(k * 5 % 13 - 6));
  for (int64_t k = 0; k < h->count; k++) interp_set(h, k, (double)k);
  struct tc_tensor *out;
  cr_assert(u.entry[0]((const struct tc_tensor *[]){omp_tensor(x, false), omp_tensor(w, false),
                                                    omp_tensor(h, false)},
                       NULL, &out));
  interp_array *y = omp_array(out);
  for (int b = 0; b < B; b++)
    for (int o = 0; o < O; o++) {
      double sum = h->f[b * O + o];
      for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < I; i++)
          sum += x->f[(b * STEPS + t) * I + i] * w->f[i * O + o] * (t + 2);
      cr_expect_eq(y->f[b * O + o], sum, "row %d, column %d", b, o);
    }
  interp_array *all[] = {x, w, h, y};
  for (int i = 0; i < 4; i++) interp_free(all[i]);
  omp_tensors_free();
  omp_unit_free(&u);
}

/* ---- many operands, which are rows of a table -------------------------------------------------- */

enum { MANY = 40, MANY_ROWS = 5, MANY_COLS = 21, WRITTEN = 3, CHANGED = 17 };

/* The first one becomes twice the sum of all, the one WRITTEN its negative; each is f32[B,C] but for the one CHANGED, i64[C]. */
static omp_unit many_unit(void) {
  tc_buf text = {0};
  tc_put(&text, "graph many\n");
  for (int i = 1; i <= MANY; i++)
    tc_putf(&text, "%%%d = param %s \"x%d\"\n", i, i - 1 == CHANGED ? "i64[C]" : "f32[B,C]", i);
  tc_putf(&text, "%%%d = add %%1 %%2\n", MANY + 1);
  for (int i = 3; i <= MANY; i++) tc_putf(&text, "%%%d = add %%%d %%%d\n", MANY + i - 1, MANY + i - 2, i);
  const int sum = 2 * MANY - 1;
  tc_putf(&text, "%%%d = add %%%d %%%d\nwrite %%%d -> %%1\n", sum + 1, sum, sum, sum + 1);
  tc_putf(&text, "%%%d = neg %%%d\nwrite %%%d -> %%%d\nret %%%d\n", sum + 2, sum, sum + 2, WRITTEN + 1, sum);
  omp_unit u = unit_of(text.text);
  tc_buf_free(&text);
  return u;
}

static interp_array *many_array(int i) {
  interp_array *a = i == CHANGED ? interp_new(TC_I64, 1, (int64_t[]){MANY_COLS})
                                 : interp_new(TC_F32, 2, (int64_t[]){MANY_ROWS, MANY_COLS});
  for (int64_t k = 0; k < a->count; k++) interp_set(a, k, (double)((k * 7 + i) % 11));
  return a;
}

static void many_operands(struct tc_tensor *t[MANY], bool strided) {
  omp_tensors_free();
  for (int i = 0; i < MANY; i++) {
    interp_array *a = many_array(i);
    t[i] = omp_tensor(a, strided && i % 3 == 0);
    interp_free(a);
  }
}

static void expect_elements(const struct tc_tensor *t, const double *want, double factor, const char *what) {
  interp_array *got = omp_array(t);
  for (int k = 0; k < MANY_ROWS * MANY_COLS; k++) cr_expect_eq(got->f[k], factor * want[k], "%s, element %d", what, k);
  interp_free(got);
}

Test(entry, many_operands) {
  omp_unit u = many_unit();
  double sum[MANY_ROWS * MANY_COLS] = {0};
  for (int i = 0; i < MANY; i++) {
    interp_array *a = many_array(i);
    for (int k = 0; k < MANY_ROWS * MANY_COLS; k++) sum[k] += interp_get(a, i == CHANGED ? k % MANY_COLS : k);
    interp_free(a);
  }
  for (int strided = 0; strided < 2; strided++) {
    struct tc_tensor *t[MANY], *out;
    many_operands(t, strided);
    cr_assert(u.entry[0]((const struct tc_tensor *const *)t, NULL, &out));
    expect_elements(out, sum, 1, strided ? "strided result" : "result");
    expect_elements(t[0], sum, 2, strided ? "first of strided operands" : "first operand");
    expect_elements(t[WRITTEN], sum, -1, "other written operand");
  }
  omp_tensors_free();
  omp_unit_free(&u);
}

/* What is wrong with one of them is seen, whichever it is. */
Test(entry, many_operands_guards) {
  omp_unit u = many_unit();
  struct tc_tensor *t[MANY], *out;
  many_operands(t, false);
  const struct tc_tensor **in = (const struct tc_tensor **)t;
  for (int i = 0; i < MANY; i++) {
    struct tc_tensor *const right = t[i], wrong = *right;
    struct tc_tensor x = wrong;
    t[i] = NULL;
    cr_expect_not(u.entry[0](in, NULL, &out), "operand %d is NULL", i);
    t[i] = &x;
    x.key.dtype = TC_F64;
    cr_expect_not(u.entry[0](in, NULL, &out), "dtype of operand %d", i);
    x = wrong, x.key.rank++;
    cr_expect_not(u.entry[0](in, NULL, &out), "rank of operand %d", i);
    x = wrong, x.key.device = TC_CUDA;
    cr_expect_not(u.entry[0](in, NULL, &out), "device of operand %d", i);
    x = wrong, x.key.flags |= TC_FLAG_WEAK;
    cr_expect_not(u.entry[0](in, NULL, &out), "operand %d is weak", i);
    x = wrong, x.autograd = &x;
    cr_expect_not(u.entry[0](in, NULL, &out), "operand %d is tracked", i);
    for (int a = 0; a < right->key.rank; a++) {
      x = wrong, x.dim[a]--;
      cr_expect_not(u.entry[0](in, NULL, &out), "size %d of operand %d", a, i);
    }
    if (i == 0 || i == WRITTEN) {
      x = wrong, x.key.flags |= TC_FLAG_READONLY;
      cr_expect_not(u.entry[0](in, NULL, &out), "operand %d cannot be written", i);
    }
    x = wrong, x.data = t[i ? 0 : WRITTEN]->data;
    cr_expect_not(u.entry[0](in, NULL, &out), "operand %d overlaps a written one", i);
    t[i] = right;
  }
  cr_expect(u.entry[0](in, NULL, &out));
  omp_tensors_free();
  omp_unit_free(&u);
}

/* bench_gemm.c - generated matrix products against the peak of the multipliers: shapes x layouts x
 * dtypes, on 1 and on 2 threads.
 *
 *   bench_gemm [dtype [level [threads [seconds per row [layers]]]]]    e.g. bench_gemm bf16 amx 2 1
 *
 * One row: what was multiplied, best and median time, GFLOP/s, peak, share of the peak.  The peak
 * is measured between any two runs, because the clock falls with the load and with what neighbours
 * do: a run's share is that of the peaks around it.  With `layers` a second line says how fast the
 * largest tile alone is, and what part of the threads' time goes where. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "layers.h"
#include "mm_case.h"
#include "peaks.h"

enum { RUNS = 4000, HUGE_PAGE = 2 << 20 };

static mm_case cases[] = {
    {.m = 512, .n = 512, .k = 512},
    {.m = 1024, .n = 1024, .k = 1024},
    {.m = 2048, .n = 2048, .k = 2048},
    {.m = 1024, .n = 1024, .k = 1024, .b = MM_COLS},
    {.m = 1024, .n = 1024, .k = 1024, .a = MM_COLS},
    {.m = 256, .n = 256, .k = 256},
    {.m = 128, .n = 128, .k = 128},
    {.m = 64, .n = 64, .k = 64},
    {.m = 100, .n = 77, .k = 333},
    {.m = 100, .n = 77, .k = 333, .b = MM_COLS},
    {.m = 1000, .n = 1000, .k = 1000, .symbolic = true},
    {.m = 512, .n = 3072, .k = 768, .epilogue = true},
    {.m = 512, .n = 3072, .k = 768, .b = MM_COLS, .epilogue = true},
    {.m = 512, .n = 768, .k = 3072, .b = MM_COLS, .epilogue = true},
    {.m = 64, .n = 1024, .k = 784},
    {.m = 64, .n = 10, .k = 1024},
    {.m = 1, .n = 3072, .k = 768, .b = MM_COLS},
    {.m = 1, .n = 3072, .k = 768},
    {.m = 4, .n = 3072, .k = 768, .b = MM_COLS},
    {.m = 12, .n = 3072, .k = 768, .b = MM_COLS, .symbolic = true},
    {.m = 64, .n = 512, .k = 784, .b = MM_COLS, .symbolic = true},
    {.m = 333, .n = 777, .k = 1000, .b = MM_COLS, .symbolic = true},
    {.m = 3072, .n = 1, .k = 768},
    {.m = 512, .n = 512, .k = 64, .nbatch = 1, .batch = {12}, .b_batched = true, .b = MM_COLS},
    {.m = 512, .n = 64, .k = 512, .nbatch = 1, .batch = {12}, .b_batched = true},
};
enum { CASES = sizeof cases / sizeof *cases };

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* As libtcrt allocates: huge pages for what is large. */
static void *allocate(size_t bytes) {
  const size_t unit = bytes < 2 * (size_t)HUGE_PAGE ? 64 : HUGE_PAGE;
  const size_t whole = (bytes + unit - 1) / unit * unit;
  void *p = aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
  if (p && unit == HUGE_PAGE) madvise(p, whole, MADV_HUGEPAGE);
#endif
  return p;
}

/* What runs take, and their shares of the peak (of a flop per second); how many. */
typedef struct runs {
  double time[RUNS], share[RUNS], peak[RUNS];
  int n;
} runs;

static void time_runs(mm_function *f, void *const *buf, const int64_t *sym, tc_isa level, int bf16,
                      int threads, double seconds, runs *r) {
  double before = peak_of(level, bf16, threads);
  r->n = 0;
  for (double start = now(); r->n < RUNS && (r->n < 5 || now() - start < seconds); ++r->n) {
    const double from = now();
    f(buf, sym, NULL);
    const double t = now() - from, after = peak_of(level, bf16, threads);
    r->time[r->n] = t;
    r->peak[r->n] = (before + after) / 2;
    r->share[r->n] = 1 / (t * r->peak[r->n]);
    before = after;
  }
  qsort(r->time, (size_t)r->n, sizeof *r->time, by_value);
  qsort(r->share, (size_t)r->n, sizeof *r->share, by_value);
  qsort(r->peak, (size_t)r->n, sizeof *r->peak, by_value);
}

static void put_layers(const layers *l, double peak, double share) {
  const double rest = 1 - l->tiles - l->a - l->b - l->epilogue;
  printf("       tile alone %5.1f %% of the peak, in the product %5.1f %%; time: tiles %5.1f %%, "
         "packing of A %4.1f %%, of B %4.1f %%, epilogue %4.1f %%, rest %4.1f %%\n",
         100 * l->alone / peak, 100 * share / l->tiles, 100 * l->tiles, 100 * l->a, 100 * l->b,
         100 * l->epilogue, 100 * rest);
}

static void measure(const mm_case *c, void *library, mm_function *f, tc_isa level, int threads,
                    double seconds, bool with_layers) {
  static runs r;
  void *buf[MM_BUFFERS + 2];
  int64_t shared, own, sym[3] = {c->m, c->n, c->k};
  for (int i = 0; i < MM_BUFFERS; ++i) {
    const int64_t n = mm_numel(c, i);
    buf[i] = allocate((size_t)n * tc_dtype_bytes(mm_dtype(c, i)));
    for (int64_t j = 0; j < n; ++j) mm_set(buf[i], mm_dtype(c, i), j, (double)(j % 251) / 125 - 1);
  }
  mm_scratch(c, &shared, &own);
  own = (own + 63) / 64 * 64;
  buf[MM_BUFFERS] = allocate((size_t)shared + 64);
  buf[MM_BUFFERS + 1] = allocate((size_t)own * (size_t)threads + 64);
  omp_set_num_threads(threads);
  time_runs(f, buf, sym, level, c->operand == TC_BF16, threads, seconds, &r);
  const double unit = c->operand == TC_F64 ? 0.5 : 1, top = r.peak[r.n / 2] * unit;
  const double flops = 2e-9 * (double)(mm_batches(c) * c->m * c->n * c->k);
  const double share = r.share[r.n / 2] * flops / unit;
  printf("%-4s %s %d thr  %5lldx%5lldx%5lld%s%s%s%s  best %9.4f ms  median %9.4f ms  %7.1f of "
         "%7.1f GFLOP/s  %5.1f %% (p10 %5.1f, p90 %5.1f)\n",
         mm_level(level), tc_dtype_text(c->operand), threads, (long long)c->m, (long long)c->n,
         (long long)c->k, c->a ? " A^T" : "    ", c->b ? " B^T" : "    ",
         c->epilogue ? " +ep" : "    ", c->nbatch ? " x12" : "    ", r.time[0] * 1e3,
         r.time[r.n / 2] * 1e3, flops / r.time[r.n / 2], top, 100 * share,
         100 * r.share[r.n / 10] * flops / unit, 100 * r.share[r.n * 9 / 10] * flops / unit);
  layers l;
  if (with_layers && layers_measure(library, f, buf, sym, threads, &l))
    put_layers(&l, top / threads, share);
  fflush(stdout);
  for (int i = 0; i < MM_BUFFERS + 2; ++i) free(buf[i]);
}

int main(int argc, char **argv) {
  tc_dtype d = TC_F32;
  tc_isa level = TC_ISA_V2;
  if (argc > 1 && !tc_dtype_parse(argv[1], strlen(argv[1]), &d)) return 2;
  for (tc_isa i = TC_ISA_V2; i < TC_ISA_COUNT; ++i)
    if (mm_runs(i) && (i <= TC_ISA_V4 || d == TC_BF16)) level = i;
  for (tc_isa i = TC_ISA_V2; argc > 2 && i < TC_ISA_COUNT; ++i)
    if (!strcmp(argv[2], mm_level(i))) level = i;
  const int only = argc > 3 ? atoi(argv[3]) : 0;
  const double seconds = argc > 4 ? atof(argv[4]) : 0.3;
  const bool with_layers = argc > 5 && !strcmp(argv[5], "layers");
  tc_buf text = {0};
  tc_put(&text, layers_text);
  for (int i = 0; i < CASES; ++i) {
    cases[i].operand = cases[i].out = d;
    if (!mm_emit(&cases[i], i, &text)) return 1;
  }
  void *library = mm_load(text.text, level, "-O3");
  if (!library) return 1;
  for (int threads = 1; threads <= 2; ++threads)
    for (int i = 0; i < CASES && (!only || only == threads); ++i)
      measure(&cases[i], library, mm_find(library, i), level, threads, seconds, with_layers);
  tc_buf_free(&text);
  return 0;
}

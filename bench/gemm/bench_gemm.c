/* bench_gemm.c - generated matrix products against the peak of the multipliers, measured between
 * the runs: shapes x layouts x dtypes, on 1 and on 2 threads.
 *
 *   bench_gemm [dtype [level [threads [seconds per row]]]]      e.g. bench_gemm bf16 amx 2 0.3
 *
 * One row: what was multiplied, best and median time, GFLOP/s, peak, share of the peak. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mm_case.h"
#include "peaks.h"

enum { RUNS = 4000 };

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

static void measure(const mm_case *c, mm_function *f, tc_isa level, int threads, double seconds) {
  static double t[RUNS];
  void *buf[MM_BUFFERS + 2];
  int64_t shared, own, sym[3] = {c->m, c->n, c->k};
  for (int i = 0; i < MM_BUFFERS; ++i) {
    const int64_t n = mm_numel(c, i);
    buf[i] = aligned_alloc(64, ((size_t)n * 8 + 63) / 64 * 64);
    for (int64_t j = 0; j < n; ++j) mm_set(buf[i], mm_dtype(c, i), j, (double)(j % 251) / 125 - 1);
  }
  mm_scratch(c, &shared, &own);
  own = (own + 63) / 64 * 64;
  buf[MM_BUFFERS] = aligned_alloc(64, ((size_t)shared + 127) / 64 * 64);
  buf[MM_BUFFERS + 1] = aligned_alloc(64, (size_t)own * (size_t)threads);
  omp_set_num_threads(threads);
  const int bf16 = c->operand == TC_BF16;
  double top = peak(level, bf16);
  int n = 0;
  for (double start = now(); n < RUNS && (n < 5 || now() - start < seconds); ++n) {
    t[n] = now();
    f(buf, sym, NULL);
    t[n] = now() - t[n];
  }
  const double again = peak(level, bf16);
  top = (again > top ? again : top) * threads * (c->operand == TC_F64 ? 0.5 : 1);
  qsort(t, (size_t)n, sizeof *t, by_value);
  const double flops = 2e-9 * (double)(mm_batches(c) * c->m * c->n * c->k);
  printf("%-4s %s %d thr  %5lldx%5lldx%5lld%s%s%s%s  best %9.4f ms  median %9.4f ms  %7.1f of "
         "%7.1f GFLOP/s  %5.1f %%  (median %5.1f %%)\n",
         mm_level(level), tc_dtype_text(c->operand), threads, (long long)c->m, (long long)c->n,
         (long long)c->k, c->a ? " A^T" : "    ", c->b ? " B^T" : "    ",
         c->epilogue ? " +ep" : "    ", c->nbatch ? " x12" : "    ", t[0] * 1e3, t[n / 2] * 1e3,
         flops / t[0], top, 100 * flops / t[0] / top, 100 * flops / t[n / 2] / top);
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
  tc_buf text = {0};
  for (int i = 0; i < CASES; ++i) {
    cases[i].operand = cases[i].out = d;
    if (!mm_emit(&cases[i], i, &text)) return 1;
  }
  void *library = mm_load(text.text, level, "-O3");
  if (!library) return 1;
  for (int threads = 1; threads <= 2; ++threads)
    for (int i = 0; i < CASES && (!only || only == threads); ++i)
      measure(&cases[i], mm_find(library, i), level, threads, seconds);
  tc_buf_free(&text);
  return 0;
}

/* ceilings.c - arithmetic peaks by independent chains of multiply-adds in registers, bandwidth by
 * streams far larger than the caches; every one of several short runs, for the harness to say
 * their best and their median. */
#include "ceilings.h"

#include <immintrin.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tcompile/abi.h>

enum { CHAINS = 14, ROUNDS = 200000, TRIES = 7 };
static const size_t stream_floats = (size_t)32 << 20; /* 128 MiB a stream */

/* Each peak function runs ROUNDS rounds of CHAINS independent operations and gives the flops done. */
typedef double peak_fn(float *sink);

#define PEAK_BODY(vector, init, step, flops)                                                       \
  vector acc[CHAINS];                                                                              \
  for (int i = 0; i < CHAINS; i++) acc[i] = init;                                                  \
  for (int r = 0; r < ROUNDS; r++) {                                                               \
    _Pragma("clang loop unroll(full)") for (int i = 0; i < CHAINS; i++) {                          \
      acc[i] = step;                                                                               \
      __asm__ volatile("" : "+v"(acc[i]));                                                         \
    }                                                                                              \
  }                                                                                                \
  for (int i = 0; i < CHAINS; i++) *sink += (float)((float *)&acc[i])[0];                          \
  return (double)(flops) * CHAINS * ROUNDS;

__attribute__((target("avx512f"))) static double fma_f32_512(float *sink) {
  __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
  PEAK_BODY(__m512, a, _mm512_fmadd_ps(acc[i], a, b), 32)
}
__attribute__((target("avx512f"))) static double fma_f64_512(float *sink) {
  __m512d a = _mm512_set1_pd(0.999), b = _mm512_set1_pd(1e-3);
  PEAK_BODY(__m512d, a, _mm512_fmadd_pd(acc[i], a, b), 16)
}
__attribute__((target("avx2,fma"))) static double fma_f32_256(float *sink) {
  __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
  PEAK_BODY(__m256, a, _mm256_fmadd_ps(acc[i], a, b), 16)
}
__attribute__((target("avx2,fma"))) static double fma_f64_256(float *sink) {
  __m256d a = _mm256_set1_pd(0.999), b = _mm256_set1_pd(1e-3);
  PEAK_BODY(__m256d, a, _mm256_fmadd_pd(acc[i], a, b), 8)
}
__attribute__((target("avx512f,avx512bf16"))) static double dot_bf16_512(float *sink) {
  __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1e-3f), _mm512_set1_ps(1e-3f));
  PEAK_BODY(__m512, _mm512_setzero_ps(), _mm512_dpbf16_ps(acc[i], a, a), 64)
}

/* Four result tiles fed by two and two operand tiles: the shape of a GEMM's inner loop. */
__attribute__((target("amx-tile,amx-bf16"))) static double amx_bf16(float *sink) {
  struct { uint8_t palette, row, pad[14]; uint16_t bytes[16]; uint8_t rows[16]; } config = {.palette = 1};
  for (int i = 0; i < 8; i++) config.bytes[i] = 64, config.rows[i] = 16;
  _tile_loadconfig(&config);
  _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
  _tile_zero(4); _tile_zero(5); _tile_zero(6); _tile_zero(7);
  for (int r = 0; r < ROUNDS / 4; r++) {
    _tile_dpbf16ps(0, 4, 6); _tile_dpbf16ps(1, 4, 7); _tile_dpbf16ps(2, 5, 6); _tile_dpbf16ps(3, 5, 7);
  }
  float out[256];
  _tile_stored(0, out, 64);
  *sink += out[0];
  _tile_release();
  return 2.0 * 16 * 16 * 32 * 4 * (ROUNDS / 4); /* 16x16 results, 32 products each */
}

static double no_such_unit(float *sink) { (void)sink; return 0; }

static int amx_permitted(void) {
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

static unsigned cpuid7(unsigned leaf, int reg) {
  unsigned r[4];
  __asm__("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(7), "c"(leaf));
  return r[reg];
}

static peak_fn *peak_of(const char *name) {
  int wide = __builtin_cpu_supports("avx512f");
  if (strcmp(name, "fma_f32") == 0) return wide ? fma_f32_512 : fma_f32_256;
  if (strcmp(name, "fma_f64") == 0) return wide ? fma_f64_512 : fma_f64_256;
  if (strcmp(name, "dot_bf16") == 0) return wide && (cpuid7(1, 0) >> 5 & 1) ? dot_bf16_512 : no_such_unit;
  if (strcmp(name, "amx_bf16") == 0) /* not where TC_ISA forbids it to the measured kernels */
    return tcrt_isa == TC_ISA_AMX && amx_permitted() ? amx_bf16 : no_such_unit;
  return NULL;
}

static void measure_peak(peak_fn *peak, double rate[TRIES]) {
  for (int t = 0; t < TRIES; t++) {
    double flops = 0, start = omp_get_wtime();
#pragma omp parallel reduction(+ : flops)
    {
      float sink = 0;
      flops += peak(&sink);
      __asm__ volatile("" ::"x"(sink));
    }
    rate[t] = flops > 0 ? flops / (omp_get_wtime() - start) * 1e-9 : 0; /* 0: no such unit */
  }
}

/* One stream operation over [begin, end) floats; the bytes it moves per float. */
typedef void stream_fn(float *a, const float *b, const float *c, size_t begin, size_t end);

__attribute__((target("avx2"))) static void stream_read(float *a, const float *b, const float *c,
                                                        size_t begin, size_t end) {
  (void)c;
  __m256 s[4] = {0};
  for (size_t i = begin; i < end; i += 32)
    for (int j = 0; j < 4; j++) s[j] = _mm256_add_ps(s[j], _mm256_load_ps(b + i + 8 * j));
  __m256 sum = _mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3]));
  a[begin] = _mm256_cvtss_f32(sum);
}
__attribute__((target("avx2"))) static void stream_copy(float *a, const float *b, const float *c,
                                                        size_t begin, size_t end) {
  (void)c;
  for (size_t i = begin; i < end; i += 8) _mm256_stream_ps(a + i, _mm256_load_ps(b + i));
}
__attribute__((target("avx2"))) static void stream_triad(float *a, const float *b, const float *c,
                                                         size_t begin, size_t end) {
  __m256 k = _mm256_set1_ps(3.0f);
  for (size_t i = begin; i < end; i += 8)
    _mm256_stream_ps(a + i, _mm256_add_ps(_mm256_load_ps(b + i), _mm256_mul_ps(k, _mm256_load_ps(c + i))));
}

static bool measure_stream(stream_fn *stream, int streams, double rate[TRIES]) {
  const size_t bytes = stream_floats * sizeof(float) * 3;
  float *p = aligned_alloc(2 << 20, bytes);
  if (!p) return false;
  madvise(p, bytes, MADV_HUGEPAGE); /* as large tensors are */
  memset(p, 0, bytes);
  for (int t = 0; t < TRIES; t++) {
    double start = omp_get_wtime();
#pragma omp parallel
    {
      size_t n = (size_t)omp_get_num_threads(), i = (size_t)omp_get_thread_num();
      size_t share = stream_floats / n / 32 * 32;
      stream(p, p + stream_floats, p + 2 * stream_floats, share * i, share * (i + 1));
      _mm_sfence();
    }
    rate[t] = (double)(stream_floats * sizeof(float)) * streams / (omp_get_wtime() - start) * 1e-9;
  }
  free(p);
  return true;
}

void bench_ceiling(const char *name) {
  double rate[TRIES];
  bool done = true;
  if (strcmp(name, "read") == 0) done = measure_stream(stream_read, 1, rate);
  else if (strcmp(name, "copy") == 0) done = measure_stream(stream_copy, 2, rate);
  else if (strcmp(name, "triad") == 0) done = measure_stream(stream_triad, 3, rate);
  else {
    peak_fn *peak = peak_of(name);
    if (!peak) {
      puts("error no such ceiling");
      return;
    }
    measure_peak(peak, rate);
  }
  if (!done) {
    puts("error out of memory");
    return;
  }
  printf("ok");
  for (int t = 0; t < TRIES; t++) printf(" %.2f", rate[t]);
  puts("");
}

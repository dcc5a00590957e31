/* peaks.c - what the multipliers of this machine do in a loop without memory: the ceiling of a
 * matrix product, in GFLOP/s of one thread. */
#define _POSIX_C_SOURCE 200809L
#include "peaks.h"

#include <omp.h>
#include <stdint.h>
#include <time.h>

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__x86_64__) && defined(__clang__)
enum { CHAINS = 12, TURNS = 4000, TILES = 500 };
typedef float vec16 __attribute__((vector_size(64)));
typedef float vec8 __attribute__((vector_size(32)));
typedef __bf16 pairs __attribute__((vector_size(64)));

#define CHAIN(name, isa, T, step)                                                                  \
  __attribute__((target(isa))) static void name(void) {                                            \
    T s[CHAINS];                                                                                   \
    for (int i = 0; i < CHAINS; ++i) s[i] = (T){0} + (float)i;                                     \
    for (int64_t n = 0; n < TURNS; ++n) {                                                          \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < CHAINS; ++i) { step; }                \
      __asm__ volatile(""                                                                          \
                       : "+v"(s[0]), "+v"(s[1]), "+v"(s[2]), "+v"(s[3]), "+v"(s[4]), "+v"(s[5]),   \
                         "+v"(s[6]), "+v"(s[7]), "+v"(s[8]), "+v"(s[9]), "+v"(s[10]),              \
                         "+v"(s[11]));                                                             \
    }                                                                                              \
  }
#pragma clang fp contract(fast)
CHAIN(fma512, "avx512f", vec16, s[i] = s[i] * 0.5f + 1.0f)
CHAIN(fma256, "avx2,fma", vec8, s[i] = s[i] * 0.5f + 1.0f)
CHAIN(dot512, "avx512f,avx512bf16", vec16,
      s[i] = __builtin_ia32_dpbf16ps_512(s[i], (pairs)s[i], (pairs)s[i]))

__attribute__((target("amx-tile,amx-bf16"))) static void tiles(void) {
  struct {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } config = {.palette = 1};
  for (int i = 0; i < 8; ++i) config.bytes[i] = 64, config.rows[i] = 16;
  __builtin_ia32_tile_loadconfig(&config);
  for (int n = 0; n < TILES; ++n) {
    __builtin_ia32_tdpbf16ps(0, 4, 6);
    __builtin_ia32_tdpbf16ps(1, 4, 7);
    __builtin_ia32_tdpbf16ps(2, 5, 6);
    __builtin_ia32_tdpbf16ps(3, 5, 7);
  }
  __builtin_ia32_tilerelease();
}

static double best_of(void (*f)(void), double flops) {
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double t = now();
    f();
    const double g = flops / (now() - t) * 1e-9;
    best = g > best ? g : best;
  }
  return best;
}

double peak(tc_isa level, int bf16) {
  const double chain = (double)CHAINS * TURNS;
  if (bf16 && level == TC_ISA_AMX) return best_of(tiles, TILES * 4.0 * 16 * 16 * 64);
  if (bf16 && level == TC_ISA_BF16) return best_of(dot512, chain * 64);
  if (level >= TC_ISA_V4) return best_of(fma512, chain * 32);
  return level == TC_ISA_V3 ? best_of(fma256, chain * 16) : 0;
}
#else
double peak(tc_isa level, int bf16) {
  (void)level, (void)bf16;
  return 0;
}
#endif

double peak_of(tc_isa level, int bf16, int threads) {
  double all = 0;
#pragma omp parallel num_threads(threads) reduction(+ : all)
  all += peak(level, bf16);
  return all;
}

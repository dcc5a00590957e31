/* mm_load.c - compiles emitted kernels for a level and loads them; elements as double. */
#define _GNU_SOURCE
#include "mm_case.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/openmp/unit.h"

static const char *const name[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};
static const char *const flags[TC_ISA_COUNT] = {
    "-march=x86-64-v2", "-march=x86-64-v3", "-march=x86-64-v4",
    "-march=x86-64-v4 -mavx512bf16 -mavx512vnni", "-march=sapphirerapids"};

const char *mm_level(tc_isa level) { return name[level]; }

/* AMX: the instructions, and the kernel's permission to use tile registers. */
#if defined(__x86_64__)
static bool has_amx(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 22 & 1) || !(d >> 24 & 1)) return false;
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#endif

bool mm_runs(tc_isa level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (level) {
  case TC_ISA_V2:
    return __builtin_cpu_supports("sse4.2");
  case TC_ISA_V3:
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  case TC_ISA_V4:
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  case TC_ISA_BF16:
    return __builtin_cpu_supports("avx512bf16");
  default:
    return has_amx();
  }
#else
  return level == TC_ISA_V2;
#endif
}

static bool write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  const bool ok = fputs(text, f) >= 0;
  return fclose(f) == 0 && ok;
}

void *mm_load(const char *kernels, tc_isa level, const char *options) {
  char folder[] = "/tmp/tc-gemm-XXXXXX", source[64], object[64], library[64], command[600];
  if (!mkdtemp(folder)) return NULL;
  snprintf(source, sizeof source, "%s/k.c", folder);
  snprintf(object, sizeof object, "%s/k.o", folder);
  snprintf(library, sizeof library, "%s/k.so", folder);
  tc_buf text = {0};
  void *handle = NULL;
  tc_omp_put_prelude(kernels, &text);
  tc_put(&text, kernels);
  snprintf(command, sizeof command,
           "cd %s && %s %s %s -DTC_LEVEL=%s -DTC_ALONE -fPIC -w -c -o k.o k.c && %s %s -shared -o k.so k.o", folder, MM_COMPILER,
           options, flags[level], name[level], MM_COMPILER, options);
  if (!text.failed && write_file(source, text.text) && system(command) == 0)
    handle = dlopen(library, RTLD_NOW);
  if (!handle) fprintf(stderr, "cannot build %s: see %s\n", name[level], source);
  else unlink(source), unlink(object), unlink(library), rmdir(folder);
  tc_buf_free(&text);
  return handle;
}

mm_function *mm_find(void *library, int number) {
  char symbol[32];
  snprintf(symbol, sizeof symbol, "mm_%d", number);
  void *p = dlsym(library, symbol);
  mm_function *f;
  memcpy(&f, &p, sizeof f);
  return f;
}

/* ---- elements -------------------------------------------------------------------------------- */

static float f16_value(uint16_t h) {
  const int e = h >> 10 & 31;
  const float m = (float)(h & 1023), s = h >> 15 ? -1.0f : 1.0f;
  if (e == 31) return m ? NAN : s * INFINITY;
  return s * (e ? ldexpf(1024 + m, e - 25) : ldexpf(m, -24));
}

/* Round to nearest even on the grid of 11 significant bits (halves above 2^-14, else 2^-24). */
static uint16_t f16_bits(double v) {
  const uint16_t s = signbit(v) ? 0x8000 : 0;
  const double a = fabs(v);
  if (a != a) return 0x7e00;
  int e = 0;
  frexp(a, &e);
  const int grid = a == 0 || e < -13 ? -24 : e - 11;
  const double r = nearbyint(ldexp(a, -grid));
  if (ldexp(r, grid) > 65504) return s | 0x7c00;
  if (grid == -24) return s | (uint16_t)r;
  return (uint16_t)(s + ((grid + 25 - 1) << 10) + (int)r);
}

static uint16_t bf16_bits(double v) {
  const float f = (float)v;
  uint32_t u;
  memcpy(&u, &f, 4);
  if (f != f) return (uint16_t)(u >> 16 | 0x40);
  return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

double mm_get(const void *p, tc_dtype d, int64_t i) {
  uint32_t u;
  float f;
  switch (d) {
  case TC_BOOL:
  case TC_U8:
    return ((const uint8_t *)p)[i];
  case TC_I8:
    return ((const int8_t *)p)[i];
  case TC_I16:
    return ((const int16_t *)p)[i];
  case TC_I32:
    return ((const int32_t *)p)[i];
  case TC_I64:
    return (double)((const int64_t *)p)[i];
  case TC_F16:
    return f16_value(((const uint16_t *)p)[i]);
  case TC_BF16:
    u = (uint32_t)((const uint16_t *)p)[i] << 16;
    memcpy(&f, &u, 4);
    return f;
  case TC_F32:
    return ((const float *)p)[i];
  default:
    return ((const double *)p)[i];
  }
}

void mm_set(void *p, tc_dtype d, int64_t i, double v) {
  switch (d) {
  case TC_BOOL:
  case TC_U8:
    ((uint8_t *)p)[i] = (uint8_t)(int64_t)v;
    break;
  case TC_I8:
    ((int8_t *)p)[i] = (int8_t)(int64_t)v;
    break;
  case TC_I16:
    ((int16_t *)p)[i] = (int16_t)(int64_t)v;
    break;
  case TC_I32:
    ((int32_t *)p)[i] = (int32_t)(int64_t)v;
    break;
  case TC_I64:
    ((int64_t *)p)[i] = (int64_t)v;
    break;
  case TC_F16:
    ((uint16_t *)p)[i] = f16_bits(v);
    break;
  case TC_BF16:
    ((uint16_t *)p)[i] = bf16_bits(v);
    break;
  case TC_F32:
    ((float *)p)[i] = (float)v;
    break;
  default:
    ((double *)p)[i] = v;
    break;
  }
}

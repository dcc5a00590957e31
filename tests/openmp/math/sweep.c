/* sweep - measures the prelude's vector functions against libm, in units of the last place.
 *
 *   sweep [step [first [count [name]]]]
 *
 * Every step-th of the 2^32 floats for the f32 functions, from the first on (step 1: all of them;
 * steps of 16 from 0 to 15: all of them, by 16 processes), and count pseudorandom arguments, others
 * for each first, with all special values for f64, against long double; of one function where it is
 * named.  Prints the largest error of each at the level it was built for (-DTC_LEVEL=...), and fails
 * where one exceeds its stated bound or a special value differs.  Exit status 77: this machine lacks
 * the level. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the prelude declares these itself */
#define int32_t tc_int32
#define uint32_t tc_uint32
#define int64_t tc_int64
#define uint64_t tc_uint64
#define uintptr_t tc_uintptr
#include "sweep_prelude.h"

typedef tc_vf32 unary32(tc_vf32);
typedef tc_vf64 unary64(tc_vf64);
typedef tc_vf32 binary32(tc_vf32, tc_vf32);
typedef tc_vf64 binary64(tc_vf64, tc_vf64);

/* ---- references ------------------------------------------------------------------------------ */

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static long double sigmoidl(long double x) { return 1 / (1 + expl(-x)); }
static long double rsqrtl(long double x) { return 1 / sqrtl(x); }
static double remainder_(double a, double b) {
  const double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static long double remainder_l(long double a, long double b) {
  const long double r = fmodl(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* name, reference, bound in ulp for f32 and for f64 */
#define UNARY(X)                                                                                   \
  X(exp, exp, expl, 1.1, 1.2)                                                                      \
  X(exp2, exp2, exp2l, 1.2, 1.2)                                                                   \
  X(expm1, expm1, expm1l, 2, 2) X(log, log, logl, 1.1, 1.1) X(log2, log2, log2l, 2.2, 2)           \
      X(log10, log10, log10l, 2.2, 2) X(log1p, log1p, log1pl, 2, 2)                                \
          X(sigmoid, sigmoid, sigmoidl, 3, 3) X(tanh, tanh, tanhl, 3, 3) X(erf, erf, erfl, 5.1, 2) \
              X(erfc, erfc, erfcl, 1, 6) X(sin, sin, sinl, 2, 1.5) X(cos, cos, cosl, 2, 1.5)       \
                  X(tan, tan, tanl, 1, 3) X(asin, asin, asinl, 1, 2.5) X(acos, acos, acosl, 1, 2)  \
                      X(atan, atan, atanl, 1, 2.5) X(sinh, sinh, sinhl, 1, 3)                      \
                          X(cosh, cosh, coshl, 1, 3) X(asinh, asinh, asinhl, 1, 3)                 \
                              X(acosh, acosh, acoshl, 1, 3) X(atanh, atanh, atanhl, 1, 3)          \
                                  X(sqrt, sqrt, sqrtl, 0.51, 0.51)                                 \
                                      X(rsqrt, rsqrt, rsqrtl, 1.6, 1.6)
#define BINARY(X)                                                                                  \
  X(pow, pow, powl, 1, 2)                                                                          \
  X(atan2, atan2, atan2l, 1, 3)                                                                    \
  X(hypot, hypot, hypotl, 1, 1.5) X(fmod, fmod, fmodl, 0, 0)                                       \
      X(remainder, remainder_, remainder_l, 1, 1)

#define WRAP1(name, ...)                                                                           \
  static TC_VECTOR_WIDTH tc_vf32 name##_32(tc_vf32 x) { return tc_##name##_f32(x); }                       \
  static TC_VECTOR_WIDTH tc_vf64 name##_64(tc_vf64 x) { return tc_##name##_f64(x); }
#define WRAP2(name, ...)                                                                           \
  static TC_VECTOR_WIDTH tc_vf32 name##_32(tc_vf32 x, tc_vf32 y) { return tc_##name##_f32(x, y); }         \
  static TC_VECTOR_WIDTH tc_vf64 name##_64(tc_vf64 x, tc_vf64 y) { return tc_##name##_f64(x, y); }
UNARY(WRAP1)
BINARY(WRAP2)
static TC_VECTOR_WIDTH tc_vf32 expapprox_32(tc_vf32 x) { return tc_expapprox_f32(x); }
static TC_VECTOR_WIDTH tc_vf32 sigmoidapprox_32(tc_vf32 x) { return tc_sigmoidapprox_f32(x); }

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct worst {
  double ulp, x, y;
  int wrong; /* special values that differ */
  double wrong_x, wrong_y, wrong_got;
} worst;

static int same_class(long double want, double got, int infinite) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (infinite || isinf(got)) return infinite && isinf(got) && (want > 0) == (got > 0);
  return want != 0 || got != 0 || !signbit(want) == !signbit(got);
}

/* bits: of the significand; least: exponent of the smallest normal number, as frexp gives it */
static void judge(worst *w, double x, double y, long double want, double got, int bits, int least,
                  double largest) {
  int e;
  frexpl(want, &e);
  const long double unit = ldexpl(1, (e < least ? least : e) - bits);
  const int infinite = fabsl(want) >= largest + ldexpl(1, least == -125 ? 103 : 970) || isinf(want);
  const int edge = !infinite && isinf(got) && fabsl(want) > largest - 4 * unit;
  if (!edge && !same_class(want, got, infinite) && !(infinite && fabs(got) >= largest)) {
    if (!w->wrong++) w->wrong_x = x, w->wrong_y = y, w->wrong_got = got;
    return;
  }
  if (isnan(want) || infinite || isinf(got)) return;
  const double ulp = (double)(fabsl(got - want) / unit);
  if (ulp > w->ulp) w->ulp = ulp, w->x = x, w->y = y;
}

static int report(const char *name, const char *type, const worst *w, double bound) {
  const int bad = w->wrong || w->ulp > bound;
  printf("%-10s %s  %7.3f ulp (bound %.2f) at %a %a%s", name, type, w->ulp, bound, w->x, w->y,
         bad ? "  FAILED" : "");
  if (w->wrong)
    printf("  %d special values, first %a %a -> %a", w->wrong, w->wrong_x, w->wrong_y,
           w->wrong_got);
  printf("\n");
  return bad;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static unsigned long long state = 88172645463325252ull;
static unsigned long long next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static const double special[] = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 -0.5,
                                 2,
                                 -2,
                                 3,
                                 -3,
                                 1e-300,
                                 -1e-300,
                                 1e300,
                                 -1e300,
                                 5e-324,
                                 1e-40,
                                 0x1p-126,
                                 0x1p-1022,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1.fffffffffffffp1023,
                                 0x1.fffffep127,
                                 709.78,
                                 -745.13,
                                 88.72,
                                 -103.9,
                                 1e5,
                                 1e10,
                                 1e22,
                                 0x1p52,
                                 0x1p53,
                                 1.5,
                                 -1.5};
enum { SPECIAL = sizeof special / sizeof *special };

/* Specials, then any bits, then moderate magnitudes. */
static double argument(unsigned long i) {
  if (i < SPECIAL) return special[i];
  unsigned long long b = next();
  double x;
  if (i % 2) {
    memcpy(&x, &b, 8);
    return x;
  }
  b = (b & 0x800fffffffffffffull) | (1023ull - 30 + next() % 40) << 52;
  memcpy(&x, &b, 8);
  return x;
}

static int sweep32(const char *name, unary32 *f, double (*ref)(double), unsigned step,
                   unsigned first, double bound) {
  worst w = {0};
  for (unsigned long b = first; b < 1ul << 32; b += (unsigned long)step * TC_L) {
    float x[TC_L], y[TC_L];
    for (int l = 0; l < TC_L; ++l) {
      const unsigned u = (unsigned)(b + (unsigned long)l * step);
      memcpy(&x[l], &u, 4);
    }
    tc_rawstore_f32(y, f(tc_rawload_f32(x)));
    for (int l = 0; l < TC_L; ++l) {
      const double want = ref(x[l]);
      const int rounded = y[l] != 0 && y[l] == (float)want; /* nothing to learn from */
      if (!rounded || w.ulp < 0.5) judge(&w, x[l], 0, want, y[l], 24, -125, 0x1.fffffep127);
    }
  }
  return report(name, "f32", &w, bound);
}

static int sweep64(const char *name, unary64 *f, long double (*ref)(long double), unsigned count,
                   double bound) {
  worst w = {0};
  for (unsigned long i = 0; i < count; i += TC_L) {
    double x[TC_L], y[TC_L];
    for (int l = 0; l < TC_L; ++l) x[l] = argument(i + (unsigned long)l);
    tc_rawstore_f64(y, f(tc_rawload_f64(x)));
    for (int l = 0; l < TC_L; ++l)
      judge(&w, x[l], 0, ref(x[l]), y[l], 53, -1021, 0x1.fffffffffffffp1023);
  }
  return report(name, "f64", &w, bound);
}

static int pairs32(const char *name, binary32 *f, double (*ref)(double, double), unsigned count,
                   double bound) {
  worst w = {0};
  for (unsigned long i = 0; i < count; i += TC_L) {
    float x[TC_L], y[TC_L], z[TC_L];
    for (int l = 0; l < TC_L; ++l) {
      const unsigned long at = i + (unsigned long)l;
      x[l] = (float)(at < SPECIAL * SPECIAL ? special[at / SPECIAL] : argument(at));
      y[l] = (float)(at < SPECIAL * SPECIAL ? special[at % SPECIAL] : argument(at / 2 + SPECIAL));
    }
    tc_rawstore_f32(z, f(tc_rawload_f32(x), tc_rawload_f32(y)));
    for (int l = 0; l < TC_L; ++l)
      judge(&w, x[l], y[l], ref(x[l], y[l]), z[l], 24, -125, 0x1.fffffep127);
  }
  return report(name, "f32", &w, bound);
}

static int pairs64(const char *name, binary64 *f, long double (*ref)(long double, long double),
                   unsigned count, double bound) {
  worst w = {0};
  for (unsigned long i = 0; i < count; i += TC_L) {
    double x[TC_L], y[TC_L], z[TC_L];
    for (int l = 0; l < TC_L; ++l) {
      const unsigned long at = i + (unsigned long)l;
      x[l] = at < SPECIAL * SPECIAL ? special[at / SPECIAL] : argument(at);
      y[l] = at < SPECIAL * SPECIAL ? special[at % SPECIAL] : argument(at / 2 + SPECIAL);
    }
    tc_rawstore_f64(z, f(tc_rawload_f64(x), tc_rawload_f64(y)));
    for (int l = 0; l < TC_L; ++l)
      judge(&w, x[l], y[l], ref(x[l], y[l]), z[l], 53, -1021, 0x1.fffffffffffffp1023);
  }
  return report(name, "f64", &w, bound);
}

static int supported(void) {
  if (TC_ISA == 0) return 1;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  return TC_ISA == 1 || (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
}

int main(int argc, char **argv) {
  if (!supported()) return 77;
  const unsigned step = argc > 1 ? (unsigned)strtoul(argv[1], 0, 10) : 1021,
                 first = argc > 2 ? (unsigned)strtoul(argv[2], 0, 10) : 0,
                 count = argc > 3 ? (unsigned)strtoul(argv[3], 0, 10) : 200000;
  const char *only = argc > 4 ? argv[4] : NULL;
  if (!step || first >= step)
    return fputs("sweep [step [first [count [name]]]], first < step\n", stderr), 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (unsigned i = 0; i < first; ++i)
    state = state * 6364136223846793005ull + 1442695040888963407ull;
  int failed = 0;
#define WANTED(name) (!only || strcmp(only, #name) == 0)
#define RUN1(name, ref, refl, b32, b64)                                                            \
  if (WANTED(name)) {                                                                              \
    failed += sweep32(#name, name##_32, ref, step, first, b32);                                    \
    failed += sweep64(#name, name##_64, refl, count, b64);                                         \
  }
  UNARY(RUN1)
  if (WANTED(expapprox)) failed += sweep32("expapprox", expapprox_32, exp, step, first, 128);
  if (WANTED(sigmoidapprox)) failed += sweep32("sigmoidapprox", sigmoidapprox_32, sigmoid, step, first, 128);
#define RUN2(name, ref, refl, b32, b64)                                                            \
  if (WANTED(name)) {                                                                              \
    failed += pairs32(#name, name##_32, ref, count, b32);                                          \
    failed += pairs64(#name, name##_64, refl, count, b64);                                         \
  }
  BINARY(RUN2)
  printf("%d of the bounds do not hold\n", failed);
  return failed != 0;
}

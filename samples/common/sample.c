#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "common/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_OPTIONS = 8 };

/* ---- options --------------------------------------------------------------------------------- */

static struct { const char *key, *value; } option[MOST_OPTIONS];
static int options;

static bool known(const char *usage, const char *key) {
  const char *at = strstr(usage, key);
  return !strncmp(key, "--", 2) && at && at[strlen(key)] == ' ';
}

void sample_begin(int argc, char **argv, const char *usage) {
  for (int i = 1; i < argc; i += 2) {
    bool ok = known(usage, argv[i]) || !strcmp(argv[i], "--demo");
    if (!ok || i + 1 == argc || options == MOST_OPTIONS) {
      fprintf(stderr, "usage: %s [--demo FILE] %s\n", argv[0], usage);
      exit(2);
    }
    option[options].key = argv[i];
    option[options++].value = argv[i + 1];
  }
}

const char *sample_option(const char *key, const char *otherwise) {
  for (int i = 0; i < options; i++)
    if (!strcmp(option[i].key, key)) return option[i].value;
  return otherwise;
}

bool sample_is_demo(void) { return sample_option("--demo", NULL) != NULL; }

/* ---- answers --------------------------------------------------------------------------------- */

tc_tensor *sample_check(tc_tensor *t) {
  if (t) return t;
  fprintf(stderr, "%s\n", tc_error() ? tc_error() : "no result");
  exit(1);
}

int64_t sample_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(*seed >> 33);
}

void sample_print(const char *what, const tc_tensor *vector) {
  printf("%s:", what);
  for (int64_t i = 0; i < tc_numel(vector); i++) printf(" %.3f", tc_at(vector, TC_INTS(i)));
  putchar('\n');
}

void sample_print_close(const char *what, double tolerance, const double *v, int n) {
  printf("~%g %s:", tolerance, what);
  for (int i = 0; i < n; i++) printf(" %.9g", v[i]);
  putchar('\n');
}

void sample_print_accuracy(const char *what, const tc_tensor *predicted, const tc_tensor *truth) {
  TC_SCOPE {
    double share = tc_item(sample_check(tc_mean(tc_eq(predicted, truth), TC_ALL, false)));
    printf("%s: accuracy %.0f %%\n# %s: accuracy %.2f %%\n", what, 100 * share, what, 100 * share);
  }
}

/* ---- comparison ------------------------------------------------------------------------------ */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

sample_run sample_run_begin(const char *name, const tc_tensor *terms) {
  sample_run r = {.name = name, .terms = terms, .before = tc_stats_of(name)};
  r.compiled = r.before.functions > 0;
  return r;
}

static double total(const sample_run *r, int way) {
  double sum = 0;
  for (int i = 0; i < r->calls[way]; i++) sum += r->seconds[way][i];
  return sum;
}

/* One call each way; for a demo up to a second more each way. */
static bool wants_more(const sample_run *r, sample_way way) {
  if (way != SAMPLE_BODY && !r->compiled) return false;
  if (r->calls[way] == 0) return true;
  if (way == SAMPLE_WIDE) return false;
  return sample_is_demo() && r->compiled && r->calls[way] < 32 && total(r, way) < 1;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_ms(sample_run *r, int way) {
  int n = r->calls[way];
  qsort(r->seconds[way], (size_t)n, sizeof(double), by_value);
  return 1e3 * r->seconds[way][n / 2];
}

tc_tensor *sample_widen_tensor(const tc_tensor *t) {
  return sample_check(tc_cast(t, tc_dtype_of(t) >= TC_F16 ? TC_F64 : tc_dtype_of(t)));
}

/* Row-major, on the CPU. */
static const double *values_of(const tc_tensor *t) {
  return tc_cdata(sample_check(tc_contiguous(tc_cast(tc_to(t, TC_CPU), TC_F64))));
}

/* Of a result against the wide one.  Floating results: the largest |a - b| / (atol + rtol |b|) with
 * the tolerances of a's dtype, 1 being the limit; where b is a difference of larger terms, rtol is of
 * these.  Integers: how many differ (a class may, where two are equally likely). */
static double error_of(const tc_tensor *a, const tc_tensor *wide, const tc_tensor *terms) {
  static const double rtol[TC_DTYPE_COUNT] = {
      [TC_F16] = 1e-3, [TC_BF16] = 1.6e-2, [TC_F32] = 1.3e-6, [TC_F64] = 1e-7};
  tc_dtype d = tc_dtype_of(a);
  double atol = d == TC_F64 ? 1e-7 : 1e-5, worst = 0, differ = 0;
  TC_SCOPE {
    const double *p = values_of(a), *q = values_of(wide), *of = terms ? values_of(terms) : q;
    for (int64_t i = 0, n = tc_numel(a); i < n; i++) {
      if (p[i] == q[i] || (isnan(p[i]) && isnan(q[i]))) continue;
      double e = fabs(p[i] - q[i]) / (atol + rtol[d] * fmax(fabs(q[i]), fabs(of[i])));
      if (!(e <= worst)) worst = isnan(e) ? INFINITY : e;
      differ++;
    }
  }
  return d >= TC_F16 ? worst : differ;
}

/* "0.21 (0.25) tol": of the kernels and, in brackets, of the body. */
static void describe_error(char *out, size_t cap, const sample_run *r) {
  double kernels = error_of(r->first[SAMPLE_KERNELS], r->first[SAMPLE_WIDE], r->terms);
  double body = error_of(r->first[SAMPLE_BODY], r->first[SAMPLE_WIDE], r->terms);
  if (r->terms && !(kernels <= 1)) {
    fprintf(stderr, "%s: an error of %.2g tolerances\n", r->name, kernels);
    exit(1);
  }
  bool floating = tc_dtype_of(r->first[SAMPLE_BODY]) >= TC_F16;
  snprintf(out, cap, floating ? "%.2g (%.2g) tol" : "%.0f (%.0f) differ", kernels, body);
}

static void append_row(const char *row) {
  if (!sample_is_demo()) return;
  FILE *f = fopen(sample_option("--demo", NULL), "a");
  if (f) fprintf(f, "%s\n", row);
  if (!f || fclose(f) != 0) {
    perror(sample_option("--demo", NULL));
    exit(1);
  }
}

static void report(sample_run *r) {
  char row[256];
  double eager = median_ms(r, SAMPLE_BODY);
  if (!r->compiled) {
    printf("# %s: not compiled, %.3f ms\n", r->name, eager);
    snprintf(row, sizeof row, "%s\t-\t-\t%.3f\t-\t-\t-\t-\t-", r->name, eager);
    append_row(row);
    return;
  }
  double compiled = median_ms(r, SAMPLE_KERNELS);
  char error[48];
  describe_error(error, sizeof error, r);
  const tc_stats s = r->after;
  unsigned long long hits = s.hits - r->before.hits, misses = s.fallbacks - r->before.fallbacks;
  printf("# %s: %d ops, %d kernels, eager %.3f ms, compiled %.3f ms, ratio %.1f, error %s, %llu "
         "hits, %llu "
         "fallbacks\n",
         r->name, (int)s.ops, (int)s.kernels, eager, compiled, eager / compiled, error, hits,
         misses);
  snprintf(row, sizeof row, "%s\t%d\t%d\t%.3f\t%.3f\t%.1f\t%s\t%llu\t%llu", r->name, (int)s.ops,
           (int)s.kernels, eager, compiled, eager / compiled, error, hits, misses);
  append_row(row);
}

bool sample_run_next(sample_run *r) {
  r->way = SAMPLE_BODY;
  while (r->way < SAMPLE_WAYS && !wants_more(r, r->way)) r->way++;
  if (r->way == SAMPLE_WAYS) {
    report(r);
    for (int way = 0; way < SAMPLE_WAYS; way++) tc_free(r->first[way]);
    return false;
  }
  if (r->way == SAMPLE_WIDE) r->after = tc_stats_of(r->name);
  tc_set_enabled(r->way == SAMPLE_KERNELS);
  tc_scope_begin(&r->scope);
  r->started = now();
  return true;
}

void sample_run_done(sample_run *r, tc_tensor *result) {
  tc_synchronize();
  double seconds = now() - r->started;
  tc_set_enabled(true);
  sample_check(result);
  if (r->calls[r->way] == 0) r->first[r->way] = tc_keep(result);
  tc_scope_end(&r->scope);
  if (r->way != SAMPLE_WIDE) r->seconds[r->way][r->calls[r->way]] = seconds;
  r->calls[r->way]++;
}

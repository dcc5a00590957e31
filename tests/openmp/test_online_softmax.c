/* Rows whose maximum and sum of exponentials are one reduction (online_softmax): of all lengths beside those of
 * vectors and blocks, at every level, and with infinities and NaN, against sums in f64. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/unit.h"
#include "graph/text.h"
#include "tests/openmp/tensors.h"
#include "tests/openmp/unit.h"

enum { ROWS = 8 };

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

/* `op` of rows of that length, of which those of `from` elements on take one pass. */
static omp_unit unit_of(const char *op, const char *dtype, int64_t length, int64_t from, bool online) {
  tc_target target = *tc_backend_openmp.target;
  tc_backend b = tc_backend_openmp;
  tc_buf text = {0};
  omp_unit u;
  target.online_from = from;
  b.target = &target;
  tc_putf(&text, "graph g\n%%1 = param %s[R,%lld] \"x\"\n%%2 = %s\nret %%2\n", dtype, (long long)length, op);
  tc_graph *g = tc_graph_parse(text.text, &diag);
  cr_assert_not_null(g);
  cr_assert(omp_unit_build_by(&u, &g, 1, ~0u, &b));
  cr_assert(u.result[0].compiled);
  cr_expect_eq(strstr(u.texts.kernels->text.text, "online_softmax") != NULL, online, "%s of %s[%lld]", op, dtype,
               (long long)length);
  tc_buf_free(&text);
  return u;
}

/* Rows: finite ones; one of equal numbers; of -inf; -inf and a number; with inf; with NaN; that begins with -inf, and
 * whose maxima grow all along; of numbers far apart. */
static interp_array *rows_of(tc_dtype d, int64_t length) {
  interp_array *a = interp_new(d, 2, (int64_t[]){ROWS, length});
  for (int64_t k = 0; k < a->count; k++) {
    const int64_t row = k / length, i = k % length;
    double v = (double)((k * 7919) % 1009) / 128 - 4;
    if (row == 1) v = -2;
    if (row == 2 || (row == 3 && i != length / 2) || (row == 6 && i < length / 3)) v = -INFINITY;
    else if (row == 6) v = floor((double)(16 * i) / (double)length);
    if (row == 4 && i == length - 1) v = INFINITY;
    if (row == 5 && i == length / 3) v = NAN;
    if (row == 7) v = i == length / 4 ? 1e30 : -1e30;
    interp_set(a, k, v);
  }
  return a;
}

static double logsumexp(const double *x, int64_t n) {
  double most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) most = x[i] > most || isnan(x[i]) ? x[i] : most;
  if (!isfinite(most)) return most;
  for (int64_t i = 0; i < n; i++) sum += exp(x[i] - most);
  return most + log(sum);
}

static bool is_close(double got, double want, double digits) {
  return got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= digits * (1 + fabs(want));
}

static void check(const char *op, const char *dtype, int64_t length, int64_t from, bool online) {
  const bool half = strcmp(dtype, "f32") != 0, sums = !strncmp(op, "logsumexp", 9);
  const double digits = half ? 8e-3 : 2e-6;
  omp_unit u = unit_of(op, dtype, length, from, online);
  interp_array *x = rows_of(half ? TC_BF16 : TC_F32, length);
  for (int level = 0; level < TC_ISA_COUNT; level++) {
    if (!(omp_levels_here() >> level & 1)) continue;
    const struct tc_tensor *in = omp_tensor(x, false);
    struct tc_tensor *out[1];
    tcrt_isa = level;
    cr_assert(u.entry[0](&in, NULL, out));
    interp_array *y = omp_array(out[0]);
    for (int64_t row = 0; row < ROWS; row++) {
      const double all = logsumexp(x->f + row * length, length);
      for (int64_t i = 0; i < (sums ? 1 : length); i++) {
        const int64_t k = sums ? row : row * length + i;
        /* where the maximum is infinite, log_softmax subtracts it from itself */
        const double want = sums ? all : isfinite(all) ? x->f[k] - all : NAN;
        cr_assert(is_close(y->f[k], want, digits) || (!sums && row == 4 && i < length - 1),
                  "%s of %s[%lld], level %d: row %d, element %d: %g, not %g", op, dtype, (long long)length, level,
                  (int)row, (int)i, y->f[k], want);
      }
    }
    interp_free(y);
    omp_tensors_free();
  }
  interp_free(x);
  omp_unit_free(&u);
}

static const int64_t lengths[] = {64, 77, 83, 200, 4096, 4113};

Test(online_softmax, lengths, .timeout = 300) {
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    check("logsumexp %1 axes=[1] keep=0", "f32", lengths[i], 1, true);
    check("logsumexp %1 axes=[1] keep=0", "bf16", lengths[i], 1, true);
    check("log_softmax %1 axis=1", "f32", lengths[i], 1, true);
  }
}

/* As it is: of long rows, where nothing else needs the exponentials. */
Test(online_softmax, long_rows, .timeout = 300) {
  const int64_t from = tc_backend_openmp.target->online_from;
  check("logsumexp %1 axes=[1] keep=0", "f32", 100003, from, true);
  check("logsumexp %1 axes=[1] keep=0", "bf16", 100003, from, true);
  check("logsumexp %1 axes=[1] keep=0", "f32", 1003, from, false);
  omp_unit u = unit_of("softmax %1 axis=1", "f32", 100003, from, false);
  omp_unit_free(&u);
}

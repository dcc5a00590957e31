/* Updates of many parameters, which one launch runs: their bits are those of updates one by one, and of bodies, for
 * mixed sizes and dtypes, none and all; what depends on each other is not mixed up.  Prints a hash of the bits: it is the
 * same for any number of threads. */
#include "check.h"

#include <string.h>
#include <tcompile/optim.h>

enum { MANY = 24 };

/* Sizes of any kind: those that the type says, and those that calls bring. */
typedef struct list {
  tc_tensor *a[4] TC_SHAPE("f32[A,B]"), *b[4] TC_SHAPE("f32[B]"), *c[4] TC_SHAPE("f32[3,A]"), *d[4] TC_SHAPE("f32[5]");
  tc_tensor *e[4] TC_SHAPE("bf16[A]"), *f[4] TC_SHAPE("f64[B,2]");
} list;

static inline void all_of(const list *l, tc_tensor *out[MANY]) {
  for (int i = 0; i < 4; i++) {
    out[6 * i] = l->a[i], out[6 * i + 1] = l->b[i], out[6 * i + 2] = l->c[i];
    out[6 * i + 3] = l->d[i], out[6 * i + 4] = l->e[i], out[6 * i + 5] = l->f[i];
  }
}

static inline tc_adam_options options(void) {
  tc_adam_options o = tc_adam_defaults(1e-2);
  o.weight_decay = 0.1;
  return o;
}

TC_COMPILE static bool together(const list *p, const list *g, const list *m, const list *v, int64_t step) {
  tc_tensor *list_p[MANY], *list_g[MANY], *list_m[MANY], *list_v[MANY];
  all_of(p, list_p);
  all_of(g, list_g);
  all_of(m, list_m);
  all_of(v, list_v);
  return tc_adamw(MANY, list_p, list_g, list_m, list_v, step, options());
}

TC_COMPILE static bool alone_f32(tc_tensor *p TC_SHAPE("f32[N]"), tc_tensor *g TC_SHAPE("f32[N]"),
                                 tc_tensor *m TC_SHAPE("f32[N]"), tc_tensor *v TC_SHAPE("f32[N]"), int64_t step) {
  return tc_adamw(1, &p, &g, &m, &v, step, options());
}
TC_COMPILE static bool alone_f64(tc_tensor *p TC_SHAPE("f64[N]"), tc_tensor *g TC_SHAPE("f64[N]"),
                                 tc_tensor *m TC_SHAPE("f64[N]"), tc_tensor *v TC_SHAPE("f64[N]"), int64_t step) {
  return tc_adamw(1, &p, &g, &m, &v, step, options());
}
TC_COMPILE static bool alone_bf16(tc_tensor *p TC_SHAPE("bf16[N]"), tc_tensor *g TC_SHAPE("bf16[N]"),
                                  tc_tensor *m TC_SHAPE("bf16[N]"), tc_tensor *v TC_SHAPE("bf16[N]"), int64_t step) {
  return tc_adamw(1, &p, &g, &m, &v, step, options());
}

static bool one_by_one(tc_tensor *const *p, tc_tensor *const *g, tc_tensor *const *m, tc_tensor *const *v) {
  for (int i = 0; i < MANY; i++) {
    tc_tensor *x[4] = {p[i], g[i], m[i], v[i]};
    const tc_dtype d = tc_dtype_of(p[i]);
    for (int k = 0; k < 4; k++) x[k] = tc_reshape(x[k], TC_DIMS(tc_numel(p[i])));
    const bool ok = d == TC_F32   ? alone_f32(x[0], x[1], x[2], x[3], 3)
                    : d == TC_F64 ? alone_f64(x[0], x[1], x[2], x[3], 3)
                                  : alone_bf16(x[0], x[1], x[2], x[3], 3);
    if (!ok) return false;
  }
  return true;
}

static uint64_t hash = 1469598103934665603u;

static bool same_bits(const tc_tensor *x, const tc_tensor *y) {
  const size_t n = (size_t)tc_numel(x) * tc_dtype_size(tc_dtype_of(x));
  const unsigned char *bytes = tc_cdata(x);
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  return n == 0 || memcmp(bytes, tc_cdata(y), n) == 0;
}

static tc_tensor *numbers(tc_dtype d, tc_ints shape, uint64_t seed, bool positive) {
  tc_tensor *x = positive ? tc_rand(shape, seed, TC_F32) : tc_randn(shape, seed, TC_F32);
  return tc_clone(tc_cast(x, d));
}

static list make(int64_t a, int64_t b, uint64_t seed, bool positive) {
  list l;
  for (uint64_t i = 0; i < 4; i++) {
    const uint64_t s = seed + 10 * i;
    l.a[i] = numbers(TC_F32, TC_DIMS(a, b), s, positive), l.b[i] = numbers(TC_F32, TC_DIMS(b), s + 1, positive);
    l.c[i] = numbers(TC_F32, TC_DIMS(3, a), s + 2, positive), l.d[i] = numbers(TC_F32, TC_DIMS(5), s + 3, positive);
    l.e[i] = numbers(TC_BF16, TC_DIMS(a), s + 4, positive), l.f[i] = numbers(TC_F64, TC_DIMS(b, 2), s + 5, positive);
  }
  return l;
}

static void check_sizes(int64_t a, int64_t b) {
  list l[2][4];
  tc_tensor *x[2][4][MANY];
  for (int way = 0; way < 2; way++)
    for (int k = 0; k < 4; k++) {
      l[way][k] = make(a, b, (uint64_t)(100 * k + 1), k == 3);
      all_of(&l[way][k], x[way][k]);
    }
  const uint64_t before = hits_of("together");
  CHECK(together(&l[0][0], &l[0][1], &l[0][2], &l[0][3], 3) && hits_of("together") == before + 1);
  CHECK(one_by_one(x[1][0], x[1][1], x[1][2], x[1][3]));
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < MANY; i++) CHECK(same_bits(x[0][k][i], x[1][k][i]));
}

/* ---- what waits for each other ---------------------------------------------------------------- */

/* Each update reads what the one in front has written; what the next one writes. */
TC_COMPILE static bool chained(tc_tensor *const x[6] TC_SHAPE("f32[N,N]")) {
  for (int i = 1; i < 6; i++)
    if (!tc_add_(x[i], tc_cumsum(x[i - 1], 0))) return false;
  return true;
}

TC_COMPILE static bool shifted(tc_tensor *const x[6] TC_SHAPE("f32[N,N]")) {
  for (int i = 1; i < 6; i++)
    if (!tc_add_(x[i - 1], tc_cumsum(x[i], 0))) return false;
  return true;
}

static void check_shifted(int64_t n) {
  tc_tensor *x[6], *y[6];
  for (int i = 0; i < 6; i++) x[i] = numbers(TC_F32, TC_DIMS(n, n), (uint64_t)i + 1, false), y[i] = tc_clone(x[i]);
  const uint64_t before = hits_of("shifted");
  CHECK(shifted(x) && hits_of("shifted") == before + 1);
  for (int i = 1; i < 6; i++) {
    CHECK(tc_add_(y[i - 1], tc_cumsum(y[i], 0)));
    CHECK(tc_allclose(x[i - 1], y[i - 1], 1e-5, 1e-4));
  }
}

static void check_chained(int64_t n) {
  tc_tensor *x[6], *y[6];
  for (int i = 0; i < 6; i++) x[i] = numbers(TC_F32, TC_DIMS(n, n), (uint64_t)i + 1, false), y[i] = tc_clone(x[i]);
  const uint64_t before = hits_of("chained");
  CHECK(chained(x) && hits_of("chained") == before + 1);
  for (int i = 1; i < 6; i++) {
    CHECK(tc_add_(y[i], tc_cumsum(y[i - 1], 0)));
    CHECK(tc_allclose(x[i], y[i], 1e-4, 1e-2));
  }
}

/* ---- operands that are the same array --------------------------------------------------------- */

static void check_aliased(void) {
  list l[4];
  for (int k = 0; k < 4; k++) l[k] = make(7, 9, (uint64_t)(100 * k + 1), k == 3);
  l[0].a[1] = l[0].a[0]; /* updated twice: by the body */
  const uint64_t before = fallbacks_of("together");
  CHECK(together(&l[0], &l[1], &l[2], &l[3], 3) && fallbacks_of("together") == before + 1);
}

int main(void) {
  static const int64_t size[][2] = {{7, 9}, {1, 1}, {0, 5}, {5, 0}, {0, 0}, {64, 129}, {300, 517}, {4096, 3}};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    TC_SCOPE check_sizes(size[i][0], size[i][1]);
  TC_SCOPE {
    check_chained(9);
    check_chained(33);
    check_shifted(9);
    check_shifted(130);
    check_aliased();
  }
  CHECK(tc_stats_of("together").kernels <= 8);
  printf("%016llx\n", (unsigned long long)hash);
  return 0;
}

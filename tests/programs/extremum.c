/* Gradients through maxima and minima of values that kernels compute: in each loop that computes them they have the same
 * bits, or the element that is the maximum is not found again.  The shares of a line add up to its cotangent.  And values
 * compared with, or less, one of their own. */
#include "check.h"

#define FUNCTIONS(NAME, DTYPE)                                                                                            \
  TC_COMPILE static tc_tensor *most_##NAME(                                                                               \
      const tc_tensor *x TC_SHAPE(DTYPE "[B,C,N]"), const tc_tensor *w TC_SHAPE(DTYPE "[C]"),                             \
      const tc_tensor *dy TC_SHAPE(DTYPE "[B,N]"), tc_tensor **dw) {                                                      \
    tc_tensor *g[2];                                                                                                      \
    const tc_tensor *wrt[] = {x, w}, *h = tc_batch_norm(x, w, w, NULL, w, 1e-3);                                          \
    if (!tc_vjp(tc_max(h, TC_AXES(1), false), dy, 2, wrt, g)) return NULL;                                                \
    *dw = g[1];                                                                                                           \
    return g[0];                                                                                                          \
  }                                                                                                                       \
  TC_COMPILE static tc_tensor *least_##NAME(                                                                              \
      const tc_tensor *x TC_SHAPE(DTYPE "[B,C,N]"), const tc_tensor *w TC_SHAPE(DTYPE "[C]"),                             \
      const tc_tensor *dy TC_SHAPE(DTYPE "[B,N]"), tc_tensor **dw) {                                                      \
    tc_tensor *g[2];                                                                                                      \
    const tc_tensor *wrt[] = {x, w}, *s = tc_reshape(w, TC_DIMS(-1, 1));                                                  \
    const tc_tensor *h = tc_sub(tc_exp(tc_add(tc_mul(x, s), s)), tc_mul(x, x));                                           \
    if (!tc_vjp(tc_min(h, TC_AXES(1), false), dy, 2, wrt, g)) return NULL;                                                \
    *dw = g[1];                                                                                                           \
    return g[0];                                                                                                          \
  }                                                                                                                       \
  /* Weights of attention as a softmax is written: one loop stores the maximum, another one computes the scores again. */ \
  TC_COMPILE static tc_tensor *weights_##NAME(                                                                            \
      const tc_tensor *x TC_SHAPE(DTYPE "[B,C,N]"), const tc_tensor *w TC_SHAPE(DTYPE "[C]"),                             \
      const tc_tensor *dy TC_SHAPE(DTYPE "[B,N]"), tc_tensor **dw) {                                                      \
    tc_tensor *g[2];                                                                                                      \
    const tc_tensor *wrt[] = {x, w}, *q = tc_mul(x, tc_reshape(w, TC_DIMS(-1, 1)));                                       \
    const tc_tensor *s = tc_mul_s(tc_matmul(q, tc_transpose(x, 1, 2)), 0.3);                                              \
    const tc_tensor *e = tc_exp(tc_sub(s, tc_max(s, TC_AXES(-1), true)));                                                 \
    const tc_tensor *p = tc_div(e, tc_sum(e, TC_AXES(-1), true));                                                         \
    if (!tc_vjp(tc_sum(tc_matmul(p, x), TC_AXES(1), false), dy, 2, wrt, g)) return NULL;                                  \
    *dw = g[1];                                                                                                           \
    return g[0];                                                                                                          \
  }

FUNCTIONS(f32, "f32")
FUNCTIONS(f64, "f64")
FUNCTIONS(bf16, "bf16")
FUNCTIONS(f16, "f16")

/* Values beside others of their own, as samplers keep the largest ones and as ranges are made 0 to 1: what holds in the body
 * holds in kernels. */
#define CHOICE(NAME, ...)                                                                          \
  TC_COMPILE static tc_tensor *NAME(const tc_tensor *x TC_SHAPE("D=f32|bf16[B,C,N]"),              \
                                    const tc_tensor *w TC_SHAPE("D=f32|bf16[C]")) {                \
    const tc_tensor *s = tc_reshape(w, TC_DIMS(-1, 1));                                            \
    const tc_tensor *h = tc_mul_s(tc_add(tc_mul(x, s), tc_mul_s(s, 0.37)), 1 / 0.7);               \
    return __VA_ARGS__;                                                                            \
  }
#define LEAST tc_min(h, TC_AXES(1), true)
#define MOST tc_max(h, TC_AXES(1), true)
CHOICE(largest, tc_ge(h, tc_slice(tc_topk(h, 2, 1, true, NULL), 1, 1, 2, 1)))
CHOICE(sorted, tc_lt(h, tc_slice(tc_sort(h, 1, false, NULL), 1, 1, 2, 1)))
CHOICE(running, tc_eq(h, tc_cummax(h, 1, NULL)))
CHOICE(taken, tc_eq(h, tc_gather(h, 1, tc_argmin(h, TC_AXES(1), true))))
CHOICE(equal, tc_eq(h, MOST))
CHOICE(above_least, tc_isnan(tc_sqrt(tc_div(tc_sub(h, LEAST), tc_sub(MOST, LEAST)))))
CHOICE(below_most, tc_isnan(tc_log(tc_sub(MOST, h))))
/* One loop finds it, and stores it; another one subtracts. */
CHOICE(above_all_least, tc_isnan(tc_sqrt(tc_sub(h, tc_min(h, TC_ALL, false)))))
CHOICE(below_all_most, tc_isnan(tc_sqrt(tc_sub(tc_max(h, TC_ALL, false), h))))

/* The same by the tape: the compiled forward part brings its backward part. */
TC_COMPILE static tc_tensor *most(const tc_tensor *x TC_SHAPE("f32|f64[B,C,N]"),
                                  const tc_tensor *w TC_SHAPE("f32|f64[C]")) {
  return tc_max(tc_batch_norm(x, w, w, NULL, w, 1e-3), TC_AXES(1), false);
}
static tc_tensor *most_by_tape(const tc_tensor *x, const tc_tensor *w, const tc_tensor *dy,
                               tc_tensor **dw) {
  tc_tensor *g[2], *wrt[] = {(tc_tensor *)x, (tc_tensor *)w};
  if (!tc_vjp(most(x, w), dy, 2, wrt, g)) return NULL;
  *dw = g[1];
  return g[0];
}

typedef tc_tensor *function(const tc_tensor *x, const tc_tensor *w, const tc_tensor *dy,
                            tc_tensor **dw);

static const struct {
  const char *name;
  function *run;
  tc_dtype dtype;
} functions[] = {{"most_f32", most_f32, TC_F32},          {"least_f32", least_f32, TC_F32},
                 {"most_f64", most_f64, TC_F64},          {"least_f64", least_f64, TC_F64},
                 {"most_bf16", most_bf16, TC_BF16},       {"least_bf16", least_bf16, TC_BF16},
                 {"most_f16", most_f16, TC_F16},          {"least_f16", least_f16, TC_F16},
                 {"weights_f32", weights_f32, TC_F32},    {"weights_f64", weights_f64, TC_F64},
                 {"weights_bf16", weights_bf16, TC_BF16}, {"weights_f16", weights_f16, TC_F16},
                 {"most", most_by_tape, TC_F32},          {"most", most_by_tape, TC_F64}};

static tc_tensor *leaf(tc_ints dims, uint64_t seed, tc_dtype dtype) {
  return tc_requires_grad_(tc_cast(tc_add_s(tc_rand(dims, seed, TC_F64), 0.25), dtype), true);
}

/* Elements of g that are not 0, of each line: as many as the line has extrema. */
static tc_tensor *hits(const tc_tensor *g) {
  return tc_sum(tc_cast(tc_ne_s(g, 0), TC_I64), TC_AXES(1), false);
}

static bool every_line_has_one(int k, int64_t b, int64_t c, int64_t n) {
  const tc_dtype dtype = functions[k].dtype;
  bool all = false;
  TC_SCOPE {
    tc_tensor *x = leaf(TC_DIMS(b, c, n), 1 + (uint64_t)c, dtype), *w = leaf(TC_DIMS(c), 2, dtype);
    tc_tensor *dw = NULL, *g = functions[k].run(x, w, tc_ones(TC_DIMS(b, n), dtype), &dw);
    all = g && dw && tc_item(tc_min(hits(g), TC_ALL, false)) >= 1 &&
          tc_item(tc_all(tc_isfinite(g), TC_ALL, false)) != 0 &&
          tc_item(tc_all(tc_isfinite(dw), TC_ALL, false)) != 0;
  }
  if (!all)
    fprintf(stderr, "%s of %dx%dx%d: a line lost its gradient\n", functions[k].name, (int)b, (int)c,
            (int)n);
  return all;
}

static const struct {
  const char *name;
  tc_tensor *(*run)(const tc_tensor *x, const tc_tensor *w);
} choices[] = {{"largest", largest},
               {"sorted", sorted},
               {"running", running},
               {"taken", taken},
               {"equal", equal},
               {"above_least", above_least},
               {"below_most", below_most},
               {"above_all_least", above_all_least},
               {"below_all_most", below_all_most}};

static bool is_as_in_body(int k, int64_t b, int64_t c, int64_t n, tc_dtype dtype) {
  bool same = false;
  TC_SCOPE {
    tc_tensor *x = tc_cast(tc_randn(TC_DIMS(b, c, n), 3 + (uint64_t)c, TC_F64), dtype);
    tc_tensor *w = tc_cast(tc_randn(TC_DIMS(c), 4, TC_F64), dtype);
    const tc_tensor *kernels = choices[k].run(x, w);
    tc_set_enabled(false);
    same = tc_allclose(kernels, choices[k].run(x, w), 0, 0);
    tc_set_enabled(true);
  }
  if (!same)
    fprintf(stderr, "%s of %s[%d,%d,%d] is not as in the body\n", choices[k].name,
            tc_dtype_name(dtype), (int)b, (int)c, (int)n);
  return same;
}

int main(void) {
  static const int64_t sizes[][3] = {{1, 2, 1}, {19, 8, 19}, {34, 16, 70}, {3, 300, 33}};
  for (int k = 0; k < (int)(sizeof functions / sizeof *functions); k++) {
    for (int i = 0; i < 4; i++) CHECK(every_line_has_one(k, sizes[i][0], sizes[i][1], sizes[i][2]));
#ifdef TC_HAS_PLUGIN
    CHECK(hits_of(functions[k].name) >= 4 && fallbacks_of(functions[k].name) == 0);
#endif
  }
  static const tc_dtype dtypes[] = {TC_F32, TC_BF16};
  for (int k = 0; k < (int)(sizeof choices / sizeof *choices); k++) {
    for (int i = 0; i < 8; i++) {
      const int64_t *size = sizes[i / 2];
      CHECK(is_as_in_body(k, size[0], size[1], size[2], dtypes[i % 2]));
    }
#ifdef TC_HAS_PLUGIN
    CHECK(hits_of(choices[k].name) == 8 && fallbacks_of(choices[k].name) == 0);
#endif
  }
  return 0;
}

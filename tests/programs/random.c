/* Random numbers in compiled functions: those of the body and of the eager library, bit for bit where no logarithm or sine
 * is part of them, from the same streams in the same order.  Prints hashes of the bits, to be the same for any number
 * of threads. */
#include "check.h"

#include <tcompile/init.h>

#define X const tc_tensor *x TC_SHAPE("f32|f64|f16|bf16[R,C]")

TC_COMPILE static tc_tensor *uniform(int64_t n, double low, double high, tc_generator *g) {
  return tc_uniform(TC_DIMS(n, 37), low, high, TC_F32, g);
}
TC_COMPILE static tc_tensor *uniform64(int64_t n, tc_generator *g) {
  return tc_uniform(TC_DIMS(n, 37), 0.1, 0.7, TC_F64, g);
}
TC_COMPILE static tc_tensor *uniform16(int64_t n, tc_generator *g) {
  return tc_uniform(TC_DIMS(n, 37), -1.3, 0.7, TC_F16, g);
}
TC_COMPILE static tc_tensor *uniform_bf(int64_t n, tc_generator *g) {
  return tc_uniform(TC_DIMS(n, 37), -1.3, 0.7, TC_BF16, g);
}
TC_COMPILE static tc_tensor *integers(int64_t n, int64_t high, tc_generator *g) {
  return tc_randint(TC_DIMS(n, 37), -5, high, TC_I32, g);
}
TC_COMPILE static tc_tensor *bytes(int64_t n, tc_generator *g) {
  return tc_randint(TC_DIMS(n, 37), 0, 256, TC_U8, g);
}
TC_COMPILE static tc_tensor *bernoulli(X, tc_generator *g) { return tc_bernoulli(tc_abs(x), g); }
TC_COMPILE static tc_tensor *dropout(X, double p, bool training, tc_generator *g) {
  return tc_dropout(x, p, training, g);
}
TC_COMPILE static tc_tensor *sparse(X, tc_generator *g) {
  return tc_mul(x, tc_bernoulli_(tc_zeros_like(x), 0.125, g));
}
TC_COMPILE static tc_tensor *picked(const tc_tensor *w TC_SHAPE("f32[R,C]"), tc_generator *g) {
  return tc_multinomial(w, 3, true, g);
}
TC_COMPILE static tc_tensor *distinct(const tc_tensor *w TC_SHAPE("f32[R,C]"), tc_generator *g) {
  return tc_multinomial(w, 3, false, g);
}
TC_COMPILE static tc_tensor *normal(int64_t n, double std, tc_generator *g) {
  return tc_normal(TC_DIMS(n, 37), 1, std, TC_F32, g);
}
TC_COMPILE static tc_tensor *normal16(int64_t n, tc_generator *g) {
  return tc_normal(TC_DIMS(n, 37), 1, 2, TC_F16, g);
}
TC_COMPILE static tc_tensor *normal64(int64_t n, tc_generator *g) {
  return tc_normal(TC_DIMS(n, 37), 1, 2, TC_F64, g);
}
TC_COMPILE static tc_tensor *weights(tc_tensor *w TC_SHAPE("f32[R,C]"), tc_generator *g) {
  return tc_xavier_uniform_(w, 1, g);
}
TC_COMPILE static tc_tensor *truncated(tc_tensor *w TC_SHAPE("f32[R,C]"), tc_generator *g) {
  return tc_trunc_normal_(w, 0, 0.02, -0.04, 0.04, g);
}

/* Four probabilities and a flag known at run time: checks of arguments are conditions in front of the call. */
TC_COMPILE static tc_tensor *layers(X, const double *p, bool training, tc_generator *g) {
  tc_tensor *h = tc_dropout(x, p[0], training, g);
  h = tc_dropout(tc_tanh(h), p[1], training, g);
  h = tc_dropout(tc_mul_s(h, 2), p[2], training, g);
  return tc_dropout(tc_add_s(h, 1), p[3], training, g);
}

/* A generator that the thread has, and one in a struct beside the weights. */
struct model {
  tc_tensor *w TC_SHAPE("f32[C,C]");
  tc_generator g;
  tc_tensor *v TC_SHAPE("f32[C,C]");
};
TC_COMPILE static tc_tensor *in_struct(struct model *m, const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  tc_tensor *h = tc_dropout(tc_matmul(x, m->w), 0.5, true, &m->g);
  return tc_dropout(tc_matmul(h, m->v), 0.5, true, &m->g);
}
TC_COMPILE static tc_tensor *by_default(X) { return tc_dropout(x, 0.5, true, NULL); }

/* A stream for each round of a loop of unknown count. */
TC_COMPILE static double rounds(X, int n, tc_generator *g) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    TC_SCOPE sum += tc_item(tc_sum(tc_cast(tc_dropout(x, 0.5, true, g), TC_F64), TC_ALL, false));
  return sum;
}

/* The mask is made again for the gradient, in the kernel that needs it. */
TC_COMPILE static tc_tensor *gradient(tc_tensor *w TC_SHAPE("f32[C,C]"),
                                      const tc_tensor *x TC_SHAPE("f32[R,C]"), double p,
                                      tc_generator *g) {
  tc_tensor *loss =
                tc_mean(tc_square(tc_dropout(tc_relu(tc_matmul(x, w)), p, true, g)), TC_ALL, false),
            *d;
  return tc_grad(loss, 1, &w, &d) ? d : NULL;
}

static const unsigned char *bits_of(const tc_tensor *x, size_t *n) {
  *n = (size_t)tc_numel(x) * tc_dtype_size(tc_dtype_of(x));
  return tc_cdata(tc_to(x, TC_CPU));
}

static bool same_bits(const tc_tensor *a, const tc_tensor *b) {
  size_t n, m;
  const unsigned char *at = bits_of(a, &n), *other = bits_of(b, &m);
  bool same = n == m;
  for (size_t i = 0; same && i < n; i++) same = at[i] == other[i];
  return same;
}

/* Behind # what is equal on other machines but for rounding. */
static void show(const char *name, bool exact, const tc_tensor *y) {
  uint64_t hash = 1469598103934665603u;
  size_t n;
  const unsigned char *bytes = bits_of(y, &n);
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  printf("%s%s %016llx\n", exact ? "" : "# ", name, (unsigned long long)hash);
}

/* By kernels, by the body, and again by kernels; each from streams 5 and on. */
#define COMPARE(name, tolerance, call)                                                             \
  TC_SCOPE {                                                                                       \
    tc_generator mine = {42, 5}, *g = &mine;                                                       \
    const uint64_t hits = hits_of(#name);                                                          \
    tc_tensor *kernels = tc_clone(call);                                                           \
    const uint64_t taken = mine.offset;                                                            \
    CHECK(kernels && (!COMPILED || hits_of(#name) == hits + 1));                                   \
    mine.offset = 5;                                                                               \
    tc_set_enabled(false);                                                                         \
    tc_tensor *body = tc_clone(call);                                                              \
    tc_set_enabled(true);                                                                          \
    CHECK(mine.offset == taken && tc_dtype_of(body) == tc_dtype_of(kernels));                      \
    if (tolerance == 0) CHECK(same_bits(kernels, body));                                           \
    CHECK(tc_allclose(kernels, body, tolerance, tolerance));                                       \
    CHECK(!same_bits(tc_clone(call), kernels) && mine.offset == 2 * taken - 5);                    \
    show(#name, tolerance == 0, kernels);                                                          \
  }

#ifdef TC_HAS_PLUGIN
enum { COMPILED = 1 };
#else
enum { COMPILED = 0 };
#endif

static void distributions(int64_t n) {
  tc_tensor *x = tc_rand(TC_DIMS(n, 37), 3, TC_F32);
  COMPARE(uniform, 0, uniform(n, -0.3, 1.7, g));
  COMPARE(uniform64, 0, uniform64(n, g));
  COMPARE(uniform16, 0, uniform16(n, g));
  COMPARE(uniform_bf, 0, uniform_bf(n, g));
  COMPARE(integers, 0, integers(n, 1000003, g));
  COMPARE(bytes, 0, bytes(n, g));
  COMPARE(picked, 0, picked(x, g));
  COMPARE(distinct, 0, distinct(x, g));
  COMPARE(normal, 1e-6, normal(n, 2, g));
  COMPARE(normal16, 1e-3, normal16(n, g));
  COMPARE(normal64, 1e-13, normal64(n, g));
  COMPARE(weights, 0, weights(tc_clone(x), g));
  COMPARE(truncated, 1e-6, truncated(tc_clone(x), g));
  for (int d = 0; d < 4; d++) TC_SCOPE {
      const tc_tensor *y = tc_cast(x, (tc_dtype[]){TC_F32, TC_F64, TC_F16, TC_BF16}[d]);
      const double p[] = {0.1, 0.2, 0.3, 0.4};
      COMPARE(bernoulli, 0, bernoulli(y, g));
      COMPARE(dropout, 0, dropout(y, 0.3, true, g));
      COMPARE(sparse, 0, sparse(y, g));
      COMPARE(layers, 1e-2, layers(y, p, true, g));
    }
}

static void models(void) {
  tc_tensor *w = tc_requires_grad_(tc_randn(TC_DIMS(37, 37), 1, TC_F32), true),
            *x = tc_randn(TC_DIMS(301, 37), 2, TC_F32);
  COMPARE(gradient, 1e-5, gradient(w, x, 0.4, g));
  TC_NO_GRAD {
    struct model m = {w, tc_generator_of(2), w};
    tc_tensor *y = in_struct(&m, x);
    CHECK(y && m.g.offset == 2 && (!COMPILED || hits_of("in_struct") == 1));
    m.g.offset = 0;
    tc_set_enabled(false);
    CHECK(tc_allclose(y, in_struct(&m, x), 1e-4, 1e-4) && m.g.offset == 2);
    tc_set_enabled(true);
  }
  tc_generator g = tc_generator_of(9), again = g;
  double sum = 0;
  for (int i = 0; i < 3; i++)
    sum += tc_item(tc_sum(tc_cast(tc_dropout(x, 0.5, true, &again), TC_F64), TC_ALL, false));
  const double other = rounds(x, 3, &g);
  CHECK(g.offset == 3 && other - sum < 1e-9 && sum - other < 1e-9);
  tc_manual_seed(9);
  again = tc_generator_of(9);
  CHECK(same_bits(by_default(x), dropout(x, 0.5, true, &again)) &&
        tc_default_generator.offset == 1);
}

/* Nothing is taken where nothing is drawn, or an argument is refused; what weights are wrong, the body says. */
static void refused(void) {
  tc_generator g = tc_generator_of(1);
  tc_tensor *x = tc_rand(TC_DIMS(4, 37), 3, TC_F32);
  CHECK(same_bits(dropout(x, 0.5, false, &g), x) && g.offset == 0);
  CHECK(!dropout(x, 1.5, true, &g) && tc_error() && g.offset == 0);
  tc_clear_error();
  CHECK(!integers(3, -5, &g) && tc_error() && g.offset == 0);
  tc_clear_error();
  if (tc_default_device() == TC_CPU) { /* kernels on a GPU say it later */
    CHECK(!picked(tc_neg(x), &g) && tc_error() && g.offset == 0);
    tc_clear_error();
    CHECK(!distinct(tc_triu(tc_ones(TC_DIMS(4, 37), TC_F32), 34), &g) && tc_error() &&
          g.offset == 0);
    tc_clear_error();
  }
  CHECK(tc_numel(uniform(0, 0, 1, &g)) == 0 && g.offset == 1);
}

int main(void) {
  TC_SCOPE {
    distributions(700);
    distributions(1);
    models();
    refused();
  }
  return 0;
}

/* random.h - random numbers; a part of tcompile.h.
 *
 *   tc_manual_seed(42);
 *   tc_tensor *w = tc_normal(TC_DIMS(784, 512), 0, 0.02, TC_F32, NULL);
 *   tc_tensor *h = tc_dropout(x, 0.1, training, NULL);
 *
 * A generator is a seed and how many streams of numbers were taken from it.  Each call of a function below takes
 * the next stream, whose elements are functions of the stream and of where they stand: the numbers are those of
 * the order of calls, whatever runs them, kernels or bodies, with any number of threads, on the CPU or a GPU.  These
 * functions are compiled like any that stands in the program; docs/random.md tells the rest.
 *
 * generator NULL is the default one of this thread.  Two threads must not use one generator at the same time. */
#ifndef TCOMPILE_RANDOM_H
#define TCOMPILE_RANDOM_H

/* ---- generators ------------------------------------------------------------------------------ */

/* A copy of it gives the same numbers again. */
typedef struct tc_generator {
  uint64_t seed, offset; /* offset: streams taken so far */
} tc_generator;

tc_generator *tcrt_default_generator(void); /* the address of that of this thread */
#ifdef __TINYC__ /* has no thread-local variables */
#define tc_default_generator (*tcrt_default_generator())
#else
__extension__ extern __thread tc_generator
    tc_default_generator; /* of this thread; seed 0 at first */
#endif

static inline tc_generator tc_generator_of(uint64_t seed) {
  tc_generator g = {seed, 0};
  return g;
}

/* The default generator of this thread begins again, with the seed. */
static inline void tc_manual_seed(uint64_t seed) {
  tc_default_generator.seed = seed;
  tc_default_generator.offset = 0;
}

/* Takes the next stream: the seed of it for tc_rand, tc_randn, tc_randperm.  The streams of a generator have
 * 2^64 different seeds in a row, from a place that the finalizer of SplitMix64 (Steele, Lea and Flood, Fast splittable
 * pseudorandom number generators, 2014; one to one) makes of the generator's seed. */
static inline uint64_t tc_next_seed(tc_generator *generator) {
  tc_generator *g = generator ? generator : &tc_default_generator;
  uint64_t z = g->seed + 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (z ^ z >> 31) + g->offset++;
}

/* A generator of its own, for another thread or a part of the program, from the next stream. */
static inline tc_generator tc_split_generator(tc_generator *generator) {
  return tc_generator_of(tc_next_seed(generator));
}

/* ---- what the functions share ---------------------------------------------------------------- */

static inline bool tc_random_is_finite(double v) { return v >= -DBL_MAX && v <= DBL_MAX; }

static inline bool tc_random_is_floating(tc_dtype d) {
  return d == TC_F32 || d == TC_F64 || d == TC_F16 || d == TC_BF16;
}

/* x scale + shift, of a dtype, rounded in the same places whether a compiler fuses product and sum or not: in f64 for
 * what is narrower, where the product with a number of 24 bits is exact. */
static inline tc_tensor *tc_random_scaled(const tc_tensor *x, double scale, double shift,
                                          tc_dtype dtype) {
  if (dtype == TC_F64) return tc_fma(x, tc_scalar(scale), tc_scalar(shift));
  return tc_cast(tc_add_s(tc_mul_s(tc_cast(x, TC_F64), (double)(float)scale), (double)(float)shift),
                 dtype);
}

#define TC_RANDOM_FAIL(...) (tc_tensor *)tc_fail_as(TC_ERROR_ARGUMENT, __VA_ARGS__)

/* ---- numbers --------------------------------------------------------------------------------- */

/* What numbers of the dtype are made from. */
static inline tc_dtype tc_random_source(tc_dtype d) {
  return d == TC_F16 || d == TC_BF16 ? TC_F32 : d;
}

/* Uniform in [low, high), of a floating dtype: low + (high - low) i / 2^24 (f64: 2^53) with each i from 0 on as often,
 * rounded to the dtype, which may give high.  low <= high, both finite. */
static inline tc_tensor *tc_uniform(tc_ints dims, double low, double high, tc_dtype dtype,
                                    tc_generator *generator) {
  tc_tensor *y = NULL;
  if (!(low <= high && tc_random_is_finite(high - low)))
    return TC_RANDOM_FAIL("tc_uniform: from %g to %g is no range", low, high);
  TC_SCOPE {
    const tc_tensor *u = tc_rand(dims, tc_next_seed(generator), tc_random_source(dtype));
    y = tc_keep(tc_random_scaled(u, high - low, low, dtype));
  }
  return y;
}

/* Normal, of a floating dtype.  std >= 0, both finite. */
static inline tc_tensor *tc_normal(tc_ints dims, double mean, double std, tc_dtype dtype,
                                   tc_generator *generator) {
  tc_tensor *y = NULL;
  if (!(std >= 0 && std <= DBL_MAX && tc_random_is_finite(mean)))
    return TC_RANDOM_FAIL("tc_normal: no distribution has mean %g and standard deviation %g", mean,
                          std);
  TC_SCOPE {
    const tc_tensor *z = tc_randn(dims, tc_next_seed(generator), tc_random_source(dtype));
    y = tc_keep(tc_random_scaled(z, std, mean, dtype));
  }
  return y;
}

/* The largest integer that the dtype holds, if it is less than 2^53 (bool: 1), or 2^53. */
static inline int64_t tc_random_most(tc_dtype d) {
  switch (d) {
  case TC_BOOL:
    return 1;
  case TC_I8:
    return INT8_MAX;
  case TC_U8:
    return UINT8_MAX;
  case TC_I16:
    return INT16_MAX;
  case TC_I32:
    return INT32_MAX;
  default:
    return (int64_t)1 << 53;
  }
}

/* Integers low, ..., high - 1, each as often (to 2^-53 (high - low)), of any dtype that holds them.  low < high, and
 * |low|, |high| and high - low are at most 2^53. */
static inline tc_tensor *tc_randint(tc_ints dims, int64_t low, int64_t high, tc_dtype dtype,
                                    tc_generator *generator) {
  tc_tensor *y = NULL;
  const int64_t far = (int64_t)1 << 53, most = tc_random_most(dtype);
  const int64_t least = dtype == TC_BOOL || dtype == TC_U8 ? 0 : -most - (most < far);
  if (!(least <= low && low < high && high - 1 <= most && high - low <= far))
    return TC_RANDOM_FAIL("tc_randint: from %lld up to, not with, %lld is no range of %s",
                          (long long)low, (long long)high, tc_dtype_name(dtype));
  TC_SCOPE {
    const tc_tensor *u = tc_rand(dims, tc_next_seed(generator), TC_F64);
    const tc_tensor *k = tc_cast(tc_floor(tc_mul_s(u, (double)(high - low))), TC_I64);
    y = tc_keep(tc_cast(tc_add(k, tc_scalar_int(low)), dtype));
  }
  return y;
}

/* 1 with the probability that is the element of p, else 0: of p's dtype, shape and device.  Below 0 is 0, above 1 is 1,
 * NaN is 0. */
static inline tc_tensor *tc_bernoulli(const tc_tensor *p, tc_generator *generator) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(p), wide = d == TC_F64 ? TC_F64 : TC_F32;
    y = tc_keep(tc_cast(tc_lt(tc_rand_like(p, tc_next_seed(generator), wide), p), d));
  }
  return y;
}

/* A permutation of 0, ..., n - 1, i64[n]: x in another order is tc_index_select(x, 0, tc_permutation(n, NULL)).  It is
 * made on the CPU, and in compiled code a graph break. */
static inline tc_tensor *tc_permutation(int64_t n, tc_generator *generator) {
  return tc_randperm(n, tc_next_seed(generator));
}

/* ---- dropout --------------------------------------------------------------------------------- */

/* training: x / (1 - p), but 0 with probability p, each element by itself; p in [0, 1].  Otherwise x, and no stream is
 * taken.  x is floating; the gradient is that of the elements that stay.
 * Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov, Dropout: a simple way to prevent neural networks from
 * overfitting, 2014. */
static inline tc_tensor *tc_dropout(const tc_tensor *x, double p, bool training,
                                    tc_generator *generator) {
  tc_tensor *y = NULL;
  if (!(p >= 0 && p <= 1)) return TC_RANDOM_FAIL("tc_dropout: %g is no probability", p);
  if (!x || !training) return tc_clone(x); /* which says that x is NULL */
  if (!tc_random_is_floating(tc_dtype_of(x)))
    return TC_RANDOM_FAIL("tc_dropout: of floating numbers, not %s", tc_dtype_name(tc_dtype_of(x)));
  TC_SCOPE {
    const tc_tensor *dropped = tc_lt_s(tc_rand_like(x, tc_next_seed(generator), TC_F32), p);
    y = tc_keep(tc_masked_fill(tc_mul_s(x, p < 1 ? 1 / (1 - p) : 0), dropped, 0));
  }
  return y;
}

/* ---- samples of categories ------------------------------------------------------------------- */

/* The shape of w with n in place of the last size. */
static inline tc_ints tc_random_samples(const tc_tensor *w, int64_t n) {
  tc_ints dims = tc_shape(w);
  dims.v[dims.n - 1] = n;
  return dims;
}

/* With u uniform in [0,1), the first category up to which the weights add up to more than u of all: [..., n]. */
static inline tc_tensor *tc_random_by_sums(const tc_tensor *w, int64_t n, uint64_t seed) {
  const int64_t last = tc_size(w, -1) - 1;
  const tc_tensor *sums = tc_cumsum(w, -1), *all = tc_slice(sums, -1, last, last + 1, 1);
  const tc_tensor *each = tc_expand(all, tc_random_samples(w, n));
  const tc_tensor *u = tc_mul(tc_rand_like(each, seed, TC_F64), all);
  return tc_sum(tc_le(tc_unsqueeze(sums, -2), tc_unsqueeze(u, -1)), TC_AXES(-1), false);
}

/* The n categories with the largest log(u) / w, of one u in (0,1) for each: [..., n]. */
static inline tc_tensor *tc_random_by_keys(const tc_tensor *w, int64_t n, uint64_t seed) {
  const double never = -DBL_MAX;
  const tc_tensor *u = tc_maximum_s(tc_rand_like(w, seed, TC_F64), DBL_EPSILON / 4);
  const tc_tensor *key = tc_clamp_min(tc_div(tc_log(u), w), never / 2);
  const tc_tensor *left = tc_where(tc_gt_s(w, 0), key, tc_full_like(w, never));
  const tc_tensor *each = tc_expand(tc_slice(w, -1, 0, 1, 1), tc_random_samples(w, n));
  tc_tensor *y = tc_cast(tc_zeros_like(each), TC_I64);
  for (int64_t i = 0; i < n; i++) {
    const tc_tensor *next = tc_argmax(left, TC_AXES(-1), true);
    if (!tc_copy_(tc_slice(y, -1, i, i + 1, 1), next)) return NULL;
    left = tc_scatter(left, -1, next, tc_full_like(tc_cast(next, TC_F64), never));
  }
  return y;
}

/* Where weights are not good, kernels look for the weight of category -1, which makes the body run; it says what is
 * wrong. */
static inline tc_tensor *tc_random_checked(const tc_tensor *w, const tc_tensor *index,
                                           const tc_tensor *good) {
  const tc_tensor *checked = tc_where(good, index, tc_full_like(index, -1));
  return tc_mul(checked, tc_ge_s(tc_gather(w, -1, checked), 0));
}

/* n categories for each row of weights[..., C], C >= 1, each with a probability in proportion to its weight: i64[..., n].
 * Without replacement no category comes twice (Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006;
 * n is at most C).  It is an error where weights are negative, infinite or NaN, or fewer than n (with replacement: none)
 * are positive.  Sums and logarithms are of f64: where u falls within their rounding, 2^-50 or so, of the border
 * between two categories, either may come. */
static inline tc_tensor *tc_multinomial(const tc_tensor *weights, int64_t n, bool replacement,
                                        tc_generator *generator) {
  tc_tensor *y = NULL;
  if (!(n >= 1)) return TC_RANDOM_FAIL("tc_multinomial: %lld samples", (long long)n);
  TC_SCOPE {
    const tc_tensor *w = tc_cast(weights, TC_F64);
    const tc_tensor *usable =
        tc_all(tc_logical_and(tc_ge_s(w, 0), tc_le_s(w, DBL_MAX)), TC_AXES(-1), true);
    const tc_tensor *positive = tc_sum(tc_gt_s(w, 0), TC_AXES(-1), true);
    const tc_tensor *good = tc_logical_and(usable, tc_ge_s(positive, replacement ? 1 : (double)n));
    if (!tc_is_compiling() && good && tc_item(tc_all(good, TC_ALL, false)) < 1)
      y = TC_RANDOM_FAIL(
          "tc_multinomial: weights are negative, infinite or NaN, or too few are positive");
    else if (replacement)
      y = tc_keep(tc_random_checked(w, tc_random_by_sums(w, n, tc_next_seed(generator)), good));
    else y = tc_keep(tc_random_checked(w, tc_random_by_keys(w, n, tc_next_seed(generator)), good));
  }
  return y;
}

/* ---- in place -------------------------------------------------------------------------------- */

/* x, floating, becomes uniform in [low, high), as of tc_uniform.  Returns x; it is written as by tc_copy_. */
static inline tc_tensor *tc_uniform_(tc_tensor *x, double low, double high,
                                     tc_generator *generator) {
  tc_tensor *done = NULL;
  if (!(low <= high && tc_random_is_finite(high - low)))
    return TC_RANDOM_FAIL("tc_uniform_: from %g to %g is no range", low, high);
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(x);
    const tc_tensor *u = tc_rand_like(x, tc_next_seed(generator), tc_random_source(d));
    done = tc_copy_(x, tc_random_scaled(u, high - low, low, d));
  }
  return done;
}

/* Likewise normal, as of tc_normal. */
static inline tc_tensor *tc_normal_(tc_tensor *x, double mean, double std,
                                    tc_generator *generator) {
  tc_tensor *done = NULL;
  if (!(std >= 0 && std <= DBL_MAX && tc_random_is_finite(mean)))
    return TC_RANDOM_FAIL("tc_normal_: no distribution has mean %g and standard deviation %g", mean,
                          std);
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(x);
    const tc_tensor *z = tc_randn_like(x, tc_next_seed(generator), tc_random_source(d));
    done = tc_copy_(x, tc_random_scaled(z, std, mean, d));
  }
  return done;
}

/* Likewise 1 with probability p in [0, 1], else 0; x of any dtype. */
static inline tc_tensor *tc_bernoulli_(tc_tensor *x, double p, tc_generator *generator) {
  tc_tensor *done = NULL;
  if (!(p >= 0 && p <= 1)) return TC_RANDOM_FAIL("tc_bernoulli_: %g is no probability", p);
  TC_SCOPE done = tc_copy_(x, tc_lt_s(tc_rand_like(x, tc_next_seed(generator), TC_F32), p));
  return done;
}

#endif

/* Every op on device tensors against the CPU: dtypes, layouts, broadcasting, axes, empty tensors.
 */
#include "tests/cuda_stub/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcompile/init.h>

static void begin(void) {
  setenv("TC_CUDA_OPS", TC_STUB_OPS_LIBRARY, 1);
  device_begin();
}

TestSuite(ops, .init = begin, .timeout = 300);

static int cases;

static void tolerance(tc_dtype d, double *rtol, double *atol) {
  *rtol = d == TC_BF16 ? 1.6e-2 : d == TC_F16 ? 1e-3 : d == TC_F32 ? 1.3e-6 : 1e-7;
  *atol = d == TC_F64 ? 1e-7 : 1e-5;
}

/* Both fail, or both give the same: shape, dtype, place, elements. */
static void compare(const char *call, const tc_tensor *want, const tc_tensor *got,
                    const char *want_error) {
  double rtol, atol;
  cases++;
  if (!want || !got) {
    cr_expect(!want && !got, "%s: the CPU says '%s', the device '%s'", call,
              want ? "nothing" : want_error, got ? "nothing" : tc_error());
    tc_clear_error();
    return;
  }
  tolerance(tc_dtype_of(want), &rtol, &atol);
  cr_expect_eq(tc_dtype_of(got), tc_dtype_of(want), "%s: %s", call,
               tc_dtype_name(tc_dtype_of(got)));
  cr_expect_eq(tc_device_of(got), TC_CUDA, "%s", call);
  bool close = tc_allclose(got, want, rtol, atol);
  cr_expect(close, "%s: differs by %g; %s", call, tc_max_abs_diff(got, want),
            tc_error() ? tc_error() : "");
  tc_clear_error();
}

/* The same values in the same layout on the CPU and on the device. */
typedef struct twins {
  const tc_tensor *at[2];
} twins;

/* Evaluates the call with operands x.at[on] in both places. */
#define SAME(...)                                                                                  \
  TC_SCOPE {                                                                                       \
    char error[512] = "";                                                                          \
    int on = 0;                                                                                    \
    const tc_tensor *want = (__VA_ARGS__);                                                         \
    if (tc_error()) snprintf(error, sizeof error, "%s", tc_error());                               \
    tc_clear_error();                                                                              \
    on = 1;                                                                                        \
    compare(#__VA_ARGS__, want, (__VA_ARGS__), error);                                             \
  }

static const tc_dtype all[] = {TC_BOOL, TC_U8,  TC_I8,   TC_I16, TC_I32,
                               TC_I64,  TC_F16, TC_BF16, TC_F32, TC_F64};
static const tc_dtype floats[] = {TC_F16, TC_BF16, TC_F32, TC_F64};
#define COUNT(list) (sizeof list / sizeof *list)

enum { PLAIN, TURNED, STEPPED, FLIPPED, REPEATED, LAYOUTS };

static tc_tensor *view(const tc_tensor *base, int layout, tc_ints dims) {
  switch (layout) {
  case TURNED:
    return tc_transpose(base, 0, -1);
  case STEPPED:
    return tc_slice(base, -1, 1, INT64_MAX / 8, 2);
  case FLIPPED:
    return tc_flip(base, TC_ALL);
  case REPEATED:
    return tc_expand(base, dims);
  default:
    return tc_reshape(base, dims);
  }
}

/* Small numbers of either sign, stored as the layout says. */
static twins make(tc_dtype d, tc_ints dims, int seed, int layout) {
  tc_ints stored = dims;
  int last = dims.n - 1;
  if (dims.n == 0) layout = PLAIN;
  if (layout == TURNED) stored.v[0] = dims.v[last], stored.v[last] = dims.v[0];
  if (layout == STEPPED) stored.v[last] = 2 * dims.v[last];
  if (layout == REPEATED) stored.v[0] = 1;
  tc_tensor *x = tc_randn(stored, (uint64_t)seed, TC_F64);
  if (d < TC_F16) x = tc_mul_s(x, 3);
  x = tc_cast(x, d);
  if (layout == REPEATED && dims.v[0] == 0) return make(d, dims, seed, PLAIN);
  return (twins){{view(x, layout, dims), view(tc_to(x, TC_CUDA), layout, dims)}};
}

static twins indices(tc_dtype d, tc_ints dims, int64_t below, int layout) {
  twins t = make(TC_I32, dims, 7, PLAIN);
  tc_tensor *x = tc_cast(tc_remainder_s(t.at[0], (double)below), d);
  if (layout != TURNED || dims.n < 2) return (twins){{x, tc_to(x, TC_CUDA)}};
  tc_tensor *turned = tc_clone(tc_transpose(x, 0, -1));
  return (twins){{tc_transpose(turned, 0, -1), tc_transpose(tc_to(turned, TC_CUDA), 0, -1)}};
}

typedef tc_tensor *unary(const tc_tensor *x);
typedef tc_tensor *binary(const tc_tensor *a, const tc_tensor *b);
typedef tc_tensor *with_scalar(const tc_tensor *x, double s);
typedef tc_tensor *reduction(const tc_tensor *x, tc_ints axes, bool keepdim);

static void same1(unary *f, twins x) { SAME(f(x.at[on])) }

static unary *const unaries[] = {
    tc_neg,        tc_abs,     tc_sign,      tc_square,      tc_sqrt,        tc_rsqrt,
    tc_reciprocal, tc_exp,     tc_exp2,      tc_expm1,       tc_log,         tc_log2,
    tc_log10,      tc_log1p,   tc_sin,       tc_cos,         tc_tan,         tc_asin,
    tc_acos,       tc_atan,    tc_sinh,      tc_cosh,        tc_tanh,        tc_asinh,
    tc_acosh,      tc_atanh,   tc_erf,       tc_erfc,        tc_sigmoid,     tc_floor,
    tc_ceil,       tc_round,   tc_trunc,     tc_isnan,       tc_isinf,       tc_isfinite,
    tc_relu,       tc_relu6,   tc_silu,      tc_gelu,        tc_gelu_tanh,   tc_softplus,
    tc_mish,       tc_bit_not, tc_hardswish, tc_logical_not, tc_hardsigmoid, tc_contiguous,
    tc_clone};

Test(ops, unary) {
  for (size_t d = 0; d < COUNT(all); d++)
    for (int layout = 0; layout < LAYOUTS; layout++) TC_SCOPE {
        twins x = make(all[d], TC_DIMS(3, 4), (int)d, layout);
        for (size_t k = 0; k < COUNT(unaries); k++) same1(unaries[k], x);
      }
  printf("%d cases\n", cases);
  device_end();
}

static binary *const binaries[] = {
    tc_add,         tc_sub,     tc_mul,     tc_div,     tc_floor_div,   tc_remainder,
    tc_fmod,        tc_pow,     tc_maximum, tc_minimum, tc_atan2,       tc_hypot,
    tc_copysign,    tc_eq,      tc_ne,      tc_lt,      tc_le,          tc_gt,
    tc_ge,          tc_bit_and, tc_bit_or,  tc_bit_xor, tc_logical_and, tc_logical_or,
    tc_logical_xor, tc_shl,     tc_shr};

static with_scalar *const scalars[] = {
    tc_add_s, tc_sub_s,       tc_rsub_s,    tc_mul_s,     tc_div_s,      tc_rdiv_s,
    tc_pow_s, tc_remainder_s, tc_maximum_s, tc_minimum_s, tc_eq_s,       tc_ne_s,
    tc_lt_s,  tc_le_s,        tc_gt_s,      tc_ge_s,      tc_leaky_relu, tc_elu};

/* Mixed dtypes, broadcasting, rank 0, C scalars on either side. */
Test(ops, binary) {
  for (size_t d = 0; d < COUNT(all); d++)
    for (size_t e = 0; e < COUNT(all); e++) TC_SCOPE {
        twins a = make(all[d], TC_DIMS(3, 4), 1, (int)(d + e) % LAYOUTS);
        twins b = make(all[e], TC_DIMS(2, 1, 4), 2, (int)(d + 2 * e) % LAYOUTS);
        twins zero = make(all[e], TC_ALL, 3, PLAIN);
        tc_tensor *weak = tc_scalar(2.5);
        for (size_t k = 0; k < COUNT(binaries); k++) {
          SAME(binaries[k](a.at[on], b.at[on]))
          if (k % 4) continue;
          SAME(binaries[k](a.at[on], zero.at[on]))
          SAME(binaries[k](weak, a.at[on]))
          SAME(binaries[k](b.at[on], weak))
        }
      }
  for (size_t d = 0; d < COUNT(all); d++) TC_SCOPE {
      twins a = make(all[d], TC_DIMS(3, 4), 1, TURNED);
      for (size_t k = 0; k < COUNT(scalars); k++) SAME(scalars[k](a.at[on], 2.5))
    }
  printf("%d cases\n", cases);
  device_end();
}

Test(ops, three_operands_and_casts) {
  for (size_t d = 0; d < COUNT(all); d++)
    for (size_t e = 0; e < COUNT(all); e++) TC_SCOPE {
        twins a = make(all[d], TC_DIMS(3, 4), 1, (int)e % LAYOUTS);
        twins b = make(all[e], TC_DIMS(4), 2, PLAIN), m = make(TC_BOOL, TC_DIMS(3, 1), 3, PLAIN);
        SAME(tc_where(m.at[on], a.at[on], b.at[on]))
        SAME(tc_where(m.at[on], a.at[on], tc_scalar(1.5)))
        SAME(tc_fma(a.at[on], b.at[on], a.at[on]))
        SAME(tc_lerp(a.at[on], b.at[on], 0.25))
        SAME(tc_masked_fill(a.at[on], m.at[on], 7))
        SAME(tc_clamp(a.at[on], -1.5, 2))
        SAME(tc_cast(a.at[on], all[e]))
      }
  printf("%d cases\n", cases);
  device_end();
}

static reduction *const reductions[] = {tc_sum,    tc_prod,   tc_mean, tc_max, tc_min,
                                        tc_argmax, tc_argmin, tc_any,  tc_all, tc_logsumexp};

Test(ops, reductions) {
  const tc_ints axes[] = {TC_ALL,        TC_AXES(0),    TC_AXES(1),       TC_AXES(-1),
                          TC_AXES(0, 2), TC_AXES(1, 2), TC_AXES(2, 0, 1), TC_AXES(0, 3)};
  for (size_t d = 0; d < COUNT(all); d++)
    for (size_t a = 0; a < COUNT(axes); a++) TC_SCOPE {
        twins x = make(all[d], TC_DIMS(3, 4, 2, 3), (int)a, (int)(a + d) % LAYOUTS);
        for (size_t k = 0; k < COUNT(reductions); k++) SAME(reductions[k](x.at[on], axes[a], k % 2))
        SAME(tc_var(x.at[on], axes[a], 1, true))
        SAME(tc_std(x.at[on], axes[a], 0, false))
        for (double p = 0; p < 4; p++) {
          SAME(tc_norm(x.at[on], p, axes[a], false))
        }
        SAME(tc_norm(x.at[on], INFINITY, axes[a], true))
      }
  for (size_t d = 0; d < COUNT(all); d++) TC_SCOPE {
      twins one = make(all[d], TC_ALL, 1, PLAIN), x = make(all[d], TC_DIMS(3, 4), 2, TURNED);
      SAME(tc_sum(one.at[on], TC_ALL, false))
      SAME(tc_argmax(one.at[on], TC_ALL, true))
      SAME(tc_cumsum(x.at[on], 0))
      SAME(tc_cumprod(x.at[on], -1))
      SAME(tc_softmax(x.at[on], 0))
      SAME(tc_log_softmax(x.at[on], 1))
    }
  printf("%d cases\n", cases);
  device_end();
}

Test(ops, empty_tensors) {
  for (size_t d = 0; d < COUNT(all); d++) TC_SCOPE {
      twins x = make(all[d], TC_DIMS(3, 0), 1, PLAIN), y = make(all[d], TC_DIMS(3, 1), 2, PLAIN);
      SAME(tc_add(x.at[on], y.at[on]))
      SAME(tc_exp(x.at[on]))
      SAME(tc_cast(x.at[on], TC_F64))
      SAME(tc_sum(x.at[on], TC_AXES(1), false))
      SAME(tc_max(x.at[on], TC_AXES(0), false))
      SAME(tc_max(x.at[on], TC_AXES(1), false))
      SAME(tc_softmax(x.at[on], 1))
      SAME(tc_cumsum(x.at[on], 1))
      SAME(tc_matmul(x.at[on], tc_transpose(x.at[on], 0, 1)))
      SAME(tc_matmul(tc_transpose(x.at[on], 0, 1), y.at[on]))
      SAME(tc_tril(x.at[on], 0))
      SAME(tc_concat((const tc_tensor *[]){x.at[on], y.at[on]}, 2, 1))
      SAME(tc_repeat(x.at[on], TC_INTS(2, 2)))
    }
  printf("%d cases\n", cases);
  device_end();
}

/* Products of 13 columns are those that the library refuses. */
Test(ops, products) {
  for (size_t d = 0; d < COUNT(all); d++)
    for (int layout = 0; layout < LAYOUTS; layout++) TC_SCOPE {
        twins a = make(all[d], TC_DIMS(4, 5), 1, layout);
        twins b = make(all[d], TC_DIMS(5, 3), 2, (layout + 1) % LAYOUTS);
        twins wide = make(all[d], TC_DIMS(5, 13), 2, layout),
              w = make(all[d], TC_DIMS(6, 5), 3, layout);
        twins p = make(all[d], TC_DIMS(2, 3, 4, 5), 4, layout),
              v = make(all[d], TC_DIMS(5), 5, layout);
        twins q = make(all[d], TC_DIMS(3, 5, 2), 6, layout),
              bias = make(all[d], TC_DIMS(6), 7, layout);
        twins one = make(all[d], TC_DIMS(2, 1, 5, 3), 8, layout);
        SAME(tc_matmul(a.at[on], b.at[on]))
        SAME(tc_matmul(a.at[on], wide.at[on]))
        SAME(tc_matmul(p.at[on], b.at[on]))
        SAME(tc_matmul(p.at[on], q.at[on]))
        SAME(tc_matmul(p.at[on], one.at[on]))
        SAME(tc_matmul(a.at[on], one.at[on]))
        SAME(tc_matmul(tc_transpose(q.at[on], 1, 2), tc_transpose(p.at[on], 2, 3)))
        SAME(tc_matmul(v.at[on], b.at[on]))
        SAME(tc_matmul(a.at[on], v.at[on]))
        SAME(tc_matmul(v.at[on], v.at[on]))
        SAME(tc_linear(p.at[on], w.at[on], bias.at[on]))
        SAME(tc_linear(a.at[on], w.at[on], NULL))
        SAME(tc_outer(v.at[on], bias.at[on]))
        SAME(tc_einsum("ij,jk->ki", (const tc_tensor *[]){a.at[on], b.at[on]}, 2))
        SAME(tc_einsum("abij,bjk->aik", (const tc_tensor *[]){p.at[on], q.at[on]}, 2))
        SAME(tc_einsum("ij->j", (const tc_tensor *[]){a.at[on]}, 1))
      }
  printf("%d cases\n", cases);
  device_end();
}

Test(ops, joins_and_moves) {
  for (size_t d = 0; d < COUNT(all); d++)
    for (int layout = 0; layout < LAYOUTS; layout++) TC_SCOPE {
        twins x = make(all[d], TC_DIMS(3, 4), 1, layout),
              y = make(TC_I32, TC_DIMS(3, 2), 2, layout);
        SAME(tc_concat((const tc_tensor *[]){x.at[on], y.at[on]}, 2, 1))
        SAME(tc_stack((const tc_tensor *[]){x.at[on], x.at[on]}, 2, 1))
        SAME(tc_pad(x.at[on], TC_INTS(1, 0), TC_INTS(0, 2), 2.5))
        SAME(tc_tril(x.at[on], -1))
        SAME(tc_triu(x.at[on], 1))
        SAME(tc_repeat(x.at[on], TC_INTS(2, 1, 3)))
        SAME(tc_roll(x.at[on], -1, 0))
        SAME(tc_reshape(x.at[on], TC_DIMS(2, -1)))
        SAME(tc_flatten(x.at[on], 0, -1))
        SAME(tc_expand(tc_unsqueeze(x.at[on], 0), TC_DIMS(2, -1, -1)))
      }
  printf("%d cases\n", cases);
  device_end();
}

Test(ops, indexing) {
  for (size_t d = 0; d < COUNT(all); d++)
    for (int layout = 0; layout < 2; layout++) TC_SCOPE {
        twins x = make(all[d], TC_DIMS(3, 4, 2), 1, layout),
              w = make(all[d], TC_DIMS(5, 3), 2, layout);
        tc_dtype index = d % 2 ? TC_I32 : TC_I64;
        twins i = indices(index, TC_DIMS(2, 3, 2), 3, layout),
              j = indices(index, TC_DIMS(6), 3, PLAIN);
        twins s = make(all[d], TC_DIMS(2, 3, 2), 3, layout),
              e = indices(index, TC_DIMS(2, 2), 5, layout);
        for (int axis = -1; axis < 2; axis++) {
          if (axis >= 0) SAME(tc_gather(x.at[on], axis, i.at[on]))
          if (axis >= 0) SAME(tc_index_select(x.at[on], axis, j.at[on]))
          if (axis >= 0) SAME(tc_scatter(x.at[on], axis, i.at[on], s.at[on]))
          if (axis >= 0) SAME(tc_scatter_add(x.at[on], axis, i.at[on], s.at[on]))
        }
        SAME(tc_embedding(w.at[on], e.at[on]))
        SAME(tc_one_hot(e.at[on], 6))
      }
  printf("%d cases\n", cases);
  device_end();
}

Test(ops, neural_networks) {
  for (size_t d = 0; d < COUNT(floats); d++)
    for (int layout = 0; layout < LAYOUTS; layout++) TC_SCOPE {
        tc_dtype f = floats[d];
        twins x = make(f, TC_DIMS(4, 3, 5), 1, layout), w = make(f, TC_DIMS(3, 5), 2, layout);
        twins v = make(f, TC_DIMS(3), 3, PLAIN), u = make(f, TC_DIMS(3), 4, layout);
        twins z = make(f, TC_DIMS(4, 5), 5, layout), y = make(f, TC_DIMS(4, 5), 6, PLAIN);
        twins t = indices(TC_I64, TC_DIMS(4), 5, PLAIN);
        SAME(tc_layer_norm(x.at[on], 2, w.at[on], NULL, 1e-5))
        SAME(tc_layer_norm(x.at[on], 1, NULL, NULL, 1e-5))
        SAME(tc_rms_norm(x.at[on], 2, w.at[on], 1e-5))
        SAME(tc_batch_norm(x.at[on], v.at[on], tc_square(u.at[on]), v.at[on], u.at[on], 1e-3))
        for (int r = TC_NONE; r <= TC_SUM; r++) {
          SAME(tc_cross_entropy(z.at[on], t.at[on], (tc_reduction)r))
          SAME(tc_nll(z.at[on], t.at[on], (tc_reduction)r))
          SAME(tc_mse(z.at[on], y.at[on], (tc_reduction)r))
          SAME(tc_bce_with_logits(z.at[on], y.at[on], (tc_reduction)r))
        }
      }
  printf("%d cases\n", cases);
  device_end();
}

Test(ops, creation_and_in_place) {
  for (size_t d = 0; d < COUNT(all); d++) TC_SCOPE {
      tc_dtype t = all[d];
      twins x = make(t, TC_DIMS(3, 4), 1, TURNED), y = make(TC_F32, TC_DIMS(4), 2, PLAIN);
#define CREATE(...) SAME(tc_set_default_device(on ? TC_CUDA : TC_CPU) ? (__VA_ARGS__) : NULL)
      CREATE(tc_arange(7, 1, 0.5, t))
      CREATE(tc_full(TC_DIMS(2, 3), -2.5, t))
      CREATE(tc_eye(3, 4, t))
      CREATE(tc_rand(TC_DIMS(3, 3), 5, t))
      CREATE(tc_randn(TC_DIMS(3, 3), 5, t))
      CREATE(tc_zeros(TC_DIMS(0, 3), t))
      tc_set_default_device(TC_CPU);
      SAME(tc_zeros_like(x.at[on]))
      SAME(tc_add_(tc_clone(x.at[on]), y.at[on]))
      SAME(tc_div_(tc_transpose(tc_clone(x.at[on]), 0, 1), x.at[on]))
      SAME(tc_mul_(tc_clone(x.at[on]), tc_scalar(2)))
      SAME(tc_copy_(tc_clone(x.at[on]), y.at[on]))
      SAME(tc_fill_(tc_clone(x.at[on]), 3.5))
    }
  printf("%d cases\n", cases);
  device_end();
}

/* Streams of a generator, on the device of the operand. */
Test(ops, random_numbers) {
  for (size_t d = 0; d < COUNT(floats); d++) TC_SCOPE {
      tc_dtype t = floats[d];
      twins x = make(t, TC_DIMS(3, 4), 1, TURNED), p = make(t, TC_DIMS(3, 4), 2, PLAIN);
      tc_generator g;
#define RANDOM(...) SAME((g = tc_generator_of(3), __VA_ARGS__))
      RANDOM(tc_rand_like(x.at[on], 5, t))
      RANDOM(tc_randn_like(x.at[on], 5, t))
      RANDOM(tc_dropout(x.at[on], 0.5, true, &g))
      RANDOM(tc_dropout(x.at[on], 0.5, false, &g))
      RANDOM(tc_bernoulli(tc_abs(x.at[on]), &g))
      RANDOM(tc_bernoulli_(tc_clone(x.at[on]), 0.3, &g))
      RANDOM(tc_uniform_(tc_clone(x.at[on]), -1, 2, &g))
      RANDOM(tc_normal_(tc_clone(x.at[on]), -1, 2, &g))
      RANDOM(tc_multinomial(tc_abs(p.at[on]), 5, true, &g))
      RANDOM(tc_multinomial(tc_abs(p.at[on]), 3, false, &g))
      RANDOM(tc_multinomial(p.at[on], 3, true, &g))
      RANDOM(tc_kaiming_uniform_(tc_clone(x.at[on]), 1, TC_FAN_IN, &g))
      RANDOM(tc_trunc_normal_(tc_clone(x.at[on]), 0, 1, -2, 2, &g))
    }
  printf("%d cases\n", cases);
  device_end();
}

Test(ops, misuse_is_an_error_of_the_op) {
  TC_SCOPE {
    twins x = make(TC_F32, TC_DIMS(3, 4), 1, PLAIN), y = make(TC_F32, TC_DIMS(5), 2, PLAIN);
    SAME(tc_add(x.at[on], y.at[on]))
    SAME(tc_matmul(x.at[on], y.at[on]))
    SAME(tc_bit_not(x.at[on]))
    cr_expect_null(tc_add(x.at[1], y.at[1]));
    device_expect_error("tc_add: [3,4] and [5] do not broadcast");
  }
  printf("%d cases\n", cases);
  device_end();
}

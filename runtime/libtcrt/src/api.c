/* The public functions that are one op each.  What an argument means is said in graph/ops/api.def;
 * here C arguments are only handed on, ints and bools as int64_t. */
#include "runtime/libtcrt/src/dispatch.h"

typedef const tc_tensor *in;

/* ---- one or two tensors: straight from the table --------------------------------------------- */

#define TC_API(function, op, arguments)
#define TC_API1(function, op)                                                                      \
  tc_tensor *function(in x) { return tc_call(TC_API_##function, x); }
#define TC_API2(function, op)                                                                      \
  tc_tensor *function(in a, in b) { return tc_call(TC_API_##function, a, b); }
#include "graph/ops/api.def"

/* ---- in place -------------------------------------------------------------------------------- */

#define TC_API(function, op, arguments)
#define TC_IN_PLACE1(function, op)                                                                 \
  tc_tensor *function(tc_tensor *x) { return tc_call_in_place(TC_IN_PLACE_##function, x); }
#define TC_IN_PLACE2(function, op)                                                                 \
  tc_tensor *function(tc_tensor *x, in y) { return tc_call_in_place(TC_IN_PLACE_##function, x, y); }
#define TC_IN_PLACE_S(function, op, arguments)                                                     \
  tc_tensor *function(tc_tensor *x, double s) {                                                    \
    return tc_call_in_place(TC_IN_PLACE_##function, x, s);                                         \
  }
#include "graph/ops/api.def"

tc_tensor *tc_fma_(tc_tensor *x, in b, in c) {
  return tc_call_in_place(TC_IN_PLACE_tc_fma_, x, b, c);
}

tc_tensor *tc_clamp_(tc_tensor *x, double lo, double hi) {
  return tc_call_in_place(TC_IN_PLACE_tc_clamp_, x, lo, hi);
}

tc_tensor *tc_lerp_(tc_tensor *x, in b, double weight) {
  return tc_call_in_place(TC_IN_PLACE_tc_lerp_, x, b, weight);
}

tc_tensor *tc_masked_fill_(tc_tensor *x, in mask, double value) {
  return tc_call_in_place(TC_IN_PLACE_tc_masked_fill_, x, mask, value);
}

/* ---- signatures that several functions share ------------------------------------------------- */

#define SCALAR(function)                                                                           \
  tc_tensor *function(in x, double s) { return tc_call(TC_API_##function, x, s); }
SCALAR(tc_add_s)
SCALAR(tc_sub_s)
SCALAR(tc_rsub_s)
SCALAR(tc_mul_s)
SCALAR(tc_div_s)
SCALAR(tc_rdiv_s)
SCALAR(tc_pow_s)
SCALAR(tc_remainder_s)
SCALAR(tc_maximum_s)
SCALAR(tc_minimum_s)
SCALAR(tc_clamp_min)
SCALAR(tc_clamp_max)
SCALAR(tc_eq_s)
SCALAR(tc_ne_s)
SCALAR(tc_lt_s)
SCALAR(tc_le_s)
SCALAR(tc_gt_s)
SCALAR(tc_ge_s)
SCALAR(tc_leaky_relu)
SCALAR(tc_elu)

#define REDUCTION(function)                                                                        \
  tc_tensor *function(in x, tc_ints axes, bool keepdim) {                                          \
    return tc_call(TC_API_##function, x, &axes, (int64_t)keepdim);                                 \
  }
REDUCTION(tc_sum)
REDUCTION(tc_prod)
REDUCTION(tc_mean)
REDUCTION(tc_max)
REDUCTION(tc_min)
REDUCTION(tc_argmax)
REDUCTION(tc_argmin)
REDUCTION(tc_any)
REDUCTION(tc_all)
REDUCTION(tc_logsumexp)

#define MOMENT(function)                                                                           \
  tc_tensor *function(in x, tc_ints axes, int correction, bool keepdim) {                          \
    return tc_call(TC_API_##function, x, &axes, (int64_t)correction, (int64_t)keepdim);            \
  }
MOMENT(tc_var)
MOMENT(tc_std)

#define ALONG(function)                                                                            \
  tc_tensor *function(in x, int axis) { return tc_call(TC_API_##function, x, (int64_t)axis); }
ALONG(tc_cumsum)
ALONG(tc_cumprod)
ALONG(tc_squeeze)
ALONG(tc_unsqueeze)
ALONG(tc_softmax)
ALONG(tc_log_softmax)

#define AXIS_PAIR(function)                                                                        \
  tc_tensor *function(in x, int a, int b) {                                                        \
    return tc_call(TC_API_##function, x, (int64_t)a, (int64_t)b);                                  \
  }
AXIS_PAIR(tc_transpose)
AXIS_PAIR(tc_flatten)

#define LIST(function)                                                                             \
  tc_tensor *function(in x, tc_ints list) { return tc_call(TC_API_##function, x, &list); }
LIST(tc_reshape)
LIST(tc_permute)
LIST(tc_expand)
LIST(tc_flip)
LIST(tc_repeat)

#define NUMBER(function)                                                                           \
  tc_tensor *function(in x, int64_t k) { return tc_call(TC_API_##function, x, k); }
NUMBER(tc_tril)
NUMBER(tc_triu)
NUMBER(tc_one_hot)

#define TENSORS(function)                                                                          \
  tc_tensor *function(const tc_tensor *const *x, int n, int axis) {                                \
    return tc_call(TC_API_##function, x, (int64_t)n, (int64_t)axis);                               \
  }
TENSORS(tc_concat)
TENSORS(tc_stack)

#define LOSS(function)                                                                             \
  tc_tensor *function(in a, in b, tc_reduction r) {                                                \
    return tc_call(TC_API_##function, a, b, (int64_t)r);                                           \
  }
LOSS(tc_cross_entropy)
LOSS(tc_nll)
LOSS(tc_mse)
LOSS(tc_bce_with_logits)

#define INDEXED(function)                                                                          \
  tc_tensor *function(in x, int axis, in index) {                                                  \
    return tc_call(TC_API_##function, x, (int64_t)axis, index);                                    \
  }
INDEXED(tc_gather)
INDEXED(tc_index_select)

#define WRITTEN(function)                                                                          \
  tc_tensor *function(in x, int axis, in index, in src) {                                          \
    return tc_call(TC_API_##function, x, (int64_t)axis, index, src);                               \
  }
WRITTEN(tc_scatter)
WRITTEN(tc_scatter_add)

#define RANDOM(function)                                                                           \
  tc_tensor *function(tc_ints dims, uint64_t seed, tc_dtype dtype) {                               \
    return tc_call(TC_API_##function, &dims, seed, (int64_t)dtype);                                \
  }
RANDOM(tc_rand)
RANDOM(tc_randn)

#define RANDOM_LIKE(function)                                                                      \
  tc_tensor *function(in x, uint64_t seed, tc_dtype dtype) {                                       \
    return tc_call(TC_API_##function, x, seed, (int64_t)dtype);                                    \
  }
RANDOM_LIKE(tc_rand_like)
RANDOM_LIKE(tc_randn_like)

/* ---- several results ------------------------------------------------------------------------- */

static tc_tensor **cleared(tc_tensor **result) {
  if (result) *result = NULL;
  return result;
}

tc_tensor *tc_var_mean(in x, tc_ints axes, int correction, bool keepdim, tc_tensor **mean) {
  return tc_call(TC_API_tc_var_mean, x, &axes, (int64_t)correction, (int64_t)keepdim,
                 cleared(mean));
}

#define WITH_INDEX(function)                                                                       \
  tc_tensor *function(in x, tc_ints axes, bool keepdim, tc_tensor **index) {                       \
    return tc_call(TC_API_##function, x, &axes, (int64_t)keepdim, cleared(index));                 \
  }
WITH_INDEX(tc_max_with_index)
WITH_INDEX(tc_min_with_index)

tc_tensor *tc_cummax(in x, int axis, tc_tensor **index) {
  return tc_call(TC_API_tc_cummax, x, (int64_t)axis, cleared(index));
}

tc_tensor *tc_cummin(in x, int axis, tc_tensor **index) {
  return tc_call(TC_API_tc_cummin, x, (int64_t)axis, cleared(index));
}

tc_tensor *tc_sort(in x, int axis, bool descending, tc_tensor **index) {
  return tc_call(TC_API_tc_sort, x, (int64_t)axis, (int64_t)descending, cleared(index));
}

tc_tensor *tc_argsort(in x, int axis, bool descending) {
  return tc_call(TC_API_tc_argsort, x, (int64_t)axis, (int64_t)descending);
}

tc_tensor *tc_topk(in x, int64_t k, int axis, bool largest, tc_tensor **index) {
  return tc_call(TC_API_tc_topk, x, k, (int64_t)axis, (int64_t)largest, cleared(index));
}

tc_tensor *tc_frexp(in x, tc_tensor **exponent) {
  return tc_call(TC_API_tc_frexp, x, cleared(exponent));
}

/* ---- the rest -------------------------------------------------------------------------------- */

tc_tensor *tc_full(tc_ints dims, double value, tc_dtype dtype) {
  return tc_call(TC_API_tc_full, &dims, value, (int64_t)dtype);
}

tc_tensor *tc_arange(int64_t n, double start, double step, tc_dtype dtype) {
  return tc_call(TC_API_tc_arange, n, start, step, (int64_t)dtype);
}

tc_tensor *tc_eye(int64_t n, int64_t m, tc_dtype dtype) {
  return tc_call(TC_API_tc_eye, n, m, (int64_t)dtype);
}

tc_tensor *tc_cast(in x, tc_dtype dtype) { return tc_call(TC_API_tc_cast, x, (int64_t)dtype); }

tc_tensor *tc_where(in condition, in a, in b) { return tc_call(TC_API_tc_where, condition, a, b); }

tc_tensor *tc_fma(in a, in b, in c) { return tc_call(TC_API_tc_fma, a, b, c); }

tc_tensor *tc_clamp(in x, double lo, double hi) { return tc_call(TC_API_tc_clamp, x, lo, hi); }

tc_tensor *tc_lerp(in a, in b, double weight) { return tc_call(TC_API_tc_lerp, a, b, weight); }

tc_tensor *tc_masked_fill(in x, in mask, double value) {
  return tc_call(TC_API_tc_masked_fill, x, mask, value);
}

tc_tensor *tc_norm(in x, double p, tc_ints axes, bool keepdim) {
  return tc_call(TC_API_tc_norm, x, p, &axes, (int64_t)keepdim);
}

tc_tensor *tc_unfold(in x, int axis, int64_t size, int64_t step) {
  return tc_call(TC_API_tc_unfold, x, (int64_t)axis, size, step);
}

tc_tensor *tc_slice(in x, int axis, int64_t start, int64_t stop, int64_t step) {
  return tc_call(TC_API_tc_slice, x, (int64_t)axis, start, stop, step);
}

tc_tensor *tc_select(in x, int axis, int64_t index) {
  return tc_call(TC_API_tc_select, x, (int64_t)axis, index);
}

tc_tensor *tc_pad(in x, tc_ints before, tc_ints after, double value) {
  return tc_call(TC_API_tc_pad, x, &before, &after, value);
}

tc_tensor *tc_roll(in x, int64_t shift, int axis) {
  return tc_call(TC_API_tc_roll, x, shift, (int64_t)axis);
}

tc_tensor *tc_linear(in x, in w, in bias) { return tc_call(TC_API_tc_linear, x, w, bias); }

tc_tensor *tc_einsum(const char *spec, const tc_tensor *const *x, int n) {
  return tc_call(TC_API_tc_einsum, spec, x, (int64_t)n);
}

tc_tensor *tc_layer_norm(in x, int naxes, in weight, in bias, double eps) {
  return tc_call(TC_API_tc_layer_norm, x, (int64_t)naxes, weight, bias, eps);
}

tc_tensor *tc_rms_norm(in x, int naxes, in weight, double eps) {
  return tc_call(TC_API_tc_rms_norm, x, (int64_t)naxes, weight, eps);
}

tc_tensor *tc_batch_norm(in x, in mean, in var, in weight, in bias, double eps) {
  return tc_call(TC_API_tc_batch_norm, x, mean, var, weight, bias, eps);
}

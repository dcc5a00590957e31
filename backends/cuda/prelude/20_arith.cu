/* Arithmetic, comparison, selection for every compute type.  Integers wrap; x/0 and x%0 are 0; NaN
 * wins in min and max; bool is 0 or 1 in a byte. */
/* @ TC_MAP1 TC_MAP2 */
/* f(i) in every lane i. */
template <class R, int N, class F> TC_FN tc_vec<R, N> tc_map(F f) {
  tc_vec<R, N> r;
  TC_FOR_EACH(N, r.l[i] = (R)f(i));
  return r;
}
/* name(x) and name(x, y) lane by lane, from scalar expressions over x and y. */
#define TC_MAP1(name, T, R, ...)                                                                   \
  template <int N> TC_FN tc_vec<R, N> name(const tc_vec<T, N> &a) {                                \
    return tc_map<R, N>([&](int i) {                                                               \
      const T x = a.l[i];                                                                          \
      return (R)(__VA_ARGS__);                                                                     \
    });                                                                                            \
  }
#define TC_MAP2(name, T, R, ...)                                                                   \
  template <int M, int N>                                                                          \
  TC_FN tc_vec<R, tc_most(M, N)> name(const tc_vec<T, M> &a, const tc_vec<T, N> &b) {              \
    return tc_map<R, tc_most(M, N)>([&](int i) {                                                   \
      const T x = TC_AT(a, i), y = TC_AT(b, i);                                                    \
      return (R)(__VA_ARGS__);                                                                     \
    });                                                                                            \
  }
/* @ TC_ARITH TC_COMPARE */
#define TC_COMPARE(T)                                                                              \
  TC_MAP2(tc_eq_##T, tc_##T, tc_b8, x == y)                                                        \
  TC_MAP2(tc_ne_##T, tc_##T, tc_b8, x != y)                                                        \
  TC_MAP2(tc_lt_##T, tc_##T, tc_b8, x < y)                                                         \
  TC_MAP2(tc_le_##T, tc_##T, tc_b8, x <= y)                                                        \
  TC_MAP2(tc_gt_##T, tc_##T, tc_b8, x > y)                                                         \
  TC_MAP2(tc_ge_##T, tc_##T, tc_b8, x >= y)                                                        \
  TC_MAP1(tc_not_##T, tc_##T, tc_b8, x == 0)                                                       \
  TC_MAP2(tc_and_##T, tc_##T, tc_b8, x != 0 && y != 0)                                             \
  TC_MAP2(tc_or_##T, tc_##T, tc_b8, x != 0 || y != 0)                                              \
  TC_MAP2(tc_xor_##T, tc_##T, tc_b8, (x != 0) != (y != 0))                                         \
  template <int K, int M, int N>                                                                   \
  TC_FN tc_vec<tc_##T, tc_most(K, tc_most(M, N))> tc_where_##T(                                    \
      const tc_vec<tc_b8, K> &c, const tc_vec<tc_##T, M> &a, const tc_vec<tc_##T, N> &b) {         \
    return tc_map<tc_##T, tc_most(K, tc_most(M, N))>(                                              \
        [&](int i) { return TC_AT(c, i) ? TC_AT(a, i) : TC_AT(b, i); });                           \
  }
#define TC_ARITH(T)                                                                                \
  TC_COMPARE(T)                                                                                    \
  TC_MAP2(tc_add_##T, tc_##T, tc_##T, (tc_wrap<tc_##T>::type)x + (tc_wrap<tc_##T>::type)y)         \
  TC_MAP2(tc_sub_##T, tc_##T, tc_##T, (tc_wrap<tc_##T>::type)x - (tc_wrap<tc_##T>::type)y)         \
  TC_MAP2(tc_mul_##T, tc_##T, tc_##T, (tc_wrap<tc_##T>::type)x *(tc_wrap<tc_##T>::type)y)          \
  TC_MAP1(tc_neg_##T, tc_##T, tc_##T, -(tc_wrap<tc_##T>::type)x)                                   \
  template <int K, int M, int N>                                                                   \
  TC_FN tc_vec<tc_##T, tc_most(K, tc_most(M, N))> tc_fma_##T(                                      \
      const tc_vec<tc_##T, K> &a, const tc_vec<tc_##T, M> &b, const tc_vec<tc_##T, N> &c) {        \
    return tc_map<tc_##T, tc_most(K, tc_most(M, N))>(                                              \
        [&](int i) { return tc_mad(TC_AT(a, i), TC_AT(b, i), TC_AT(c, i)); });                     \
  }
template <class T> TC_FN T tc_mad(T a, T b, T c) {
  typedef typename tc_wrap<T>::type W;
  return (T)((W)a * (W)b + (W)c);
}
TC_FN tc_f32 tc_mad(tc_f32 a, tc_f32 b, tc_f32 c) { return fmaf(a, b, c); }
TC_FN tc_f64 tc_mad(tc_f64 a, tc_f64 b, tc_f64 c) { return fma(a, b, c); }
/* @ TC_INTEGER */
/* Division towards zero without traps: by 0 gives 0, the least value by -1 wraps. */
template <class T> TC_FN T tc_quot(T a, T b) {
  if (b == 0) return 0;
  if ((T)-1 < 0 && b == (T)-1) return (T)(0 - (typename tc_wrap<T>::type)a);
  return (T)(a / b);
}
template <class T> TC_FN T tc_rest(T a, T b) {
  typedef typename tc_wrap<T>::type W;
  return b == 0 ? (T)0 : (T)((W)a - (W)tc_quot(a, b) * (W)b);
}
template <class T> TC_FN T tc_floored_rest(T a, T b) {
  const T r = tc_rest(a, b);
  return r != 0 && (T)(r ^ b) < 0 ? (T)(r + b) : r;
}
template <class T> TC_FN T tc_floored_quot(T a, T b) {
  const T q = tc_quot(a, b), r = tc_rest(a, b);
  return b != 0 && r != 0 && (T)(r ^ b) < 0 ? (T)(q - 1) : q;
}
/* By squaring; a negative exponent leaves 1, or a power of -1. */
template <class T> TC_FN T tc_power(T a, T b) {
  typedef typename tc_wrap<T>::type W;
  if (b < 0) return a == 1 ? (T)1 : a == (T)-1 ? ((b & 1) ? a : (T)1) : (T)0;
  W r = 1, base = (W)a;
  for (; b; b = (T)(b >> 1), base *= base)
    if (b & 1) r *= base;
  return (T)r;
}
#define TC_INTEGER(T, bits)                                                                        \
  TC_ARITH(T)                                                                                      \
  TC_MAP2(tc_max_##T, tc_##T, tc_##T, x > y ? x : y)                                               \
  TC_MAP2(tc_min_##T, tc_##T, tc_##T, x < y ? x : y)                                               \
  TC_MAP1(tc_floor_##T, tc_##T, tc_##T, x)                                                         \
  TC_MAP1(tc_ceil_##T, tc_##T, tc_##T, x)                                                          \
  TC_MAP1(tc_round_##T, tc_##T, tc_##T, x)                                                         \
  TC_MAP1(tc_trunc_##T, tc_##T, tc_##T, x)                                                         \
  TC_MAP1(tc_isnan_##T, tc_##T, tc_b8, x != x)                                                     \
  TC_MAP1(tc_isinf_##T, tc_##T, tc_b8, x != x)                                                     \
  TC_MAP1(tc_isfinite_##T, tc_##T, tc_b8, x == x)                                                  \
  TC_MAP1(tc_bitnot_##T, tc_##T, tc_##T, ~x)                                                       \
  TC_MAP1(tc_abs_##T, tc_##T, tc_##T, x < 0 ? 0 - (tc_wrap<tc_##T>::type)x : x)                    \
  TC_MAP1(tc_sign_##T, tc_##T, tc_##T, (x > 0) - (x < 0))                                          \
  TC_MAP2(tc_shl_##T, tc_##T, tc_##T, y >= 0 && y < bits ? (tc_wrap<tc_##T>::type)x << y : 0)      \
  TC_MAP2(tc_shr_##T, tc_##T, tc_##T, x >> (y >= 0 && y < bits ? (int)y : bits - 1) >>             \
                                          (y >= 0 && y < bits ? 0 : 1))                            \
  TC_MAP2(tc_fmod_##T, tc_##T, tc_##T, tc_rest(x, y))                                              \
  TC_MAP2(tc_remainder_##T, tc_##T, tc_##T, tc_floored_rest(x, y))                                 \
  TC_MAP2(tc_floordiv_##T, tc_##T, tc_##T, tc_floored_quot(x, y))                                  \
  TC_MAP2(tc_pow_##T, tc_##T, tc_##T, tc_power(x, y))
/* @ tc_*_i8 */
TC_INTEGER(i8, 8)
/* @ tc_*_u8 */
TC_INTEGER(u8, 8)
/* @ tc_*_i16 */
TC_INTEGER(i16, 16)
/* @ tc_*_i32 */
TC_INTEGER(i32, 32)
/* @ tc_*_i64 */
TC_INTEGER(i64, 64)
/* @ tc_*_b8 */
TC_COMPARE(b8)
TC_MAP2(tc_add_b8, tc_b8, tc_b8, x | y)
TC_MAP2(tc_mul_b8, tc_b8, tc_b8, x &y)
TC_MAP2(tc_sub_b8, tc_b8, tc_b8, x ^ y)
TC_MAP2(tc_max_b8, tc_b8, tc_b8, x | y)
TC_MAP2(tc_min_b8, tc_b8, tc_b8, x &y)
TC_MAP1(tc_bitnot_b8, tc_b8, tc_b8, x ^ 1)
TC_MAP1(tc_abs_b8, tc_b8, tc_b8, x)
TC_MAP1(tc_sign_b8, tc_b8, tc_b8, x)
TC_MAP1(tc_isnan_b8, tc_b8, tc_b8, 0)
TC_MAP1(tc_isinf_b8, tc_b8, tc_b8, 0)
TC_MAP1(tc_isfinite_b8, tc_b8, tc_b8, 1)
/* @ TC_FLOATING tc_larger tc_smaller tc_plus tc_minus */
/* NaN wins. */
TC_FN tc_f64 tc_larger(tc_f64 x, tc_f64 y) { return x > y || x != x ? x : y; }
TC_FN tc_f64 tc_smaller(tc_f64 x, tc_f64 y) { return x < y || x != x ? x : y; }
#ifndef TC_EMULATED
TC_FN tc_f32 tc_larger(tc_f32 x, tc_f32 y) {
  tc_f32 r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
TC_FN tc_f32 tc_smaller(tc_f32 x, tc_f32 y) {
  tc_f32 r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
/* Of what x and y are when they are rounded. */
TC_FN tc_f32 tc_plus(tc_f32 x, tc_f32 y) { return __fadd_rn(x, y); }
TC_FN tc_f64 tc_plus(tc_f64 x, tc_f64 y) { return __dadd_rn(x, y); }
TC_FN tc_f32 tc_minus(tc_f32 x, tc_f32 y) { return __fsub_rn(x, y); }
TC_FN tc_f64 tc_minus(tc_f64 x, tc_f64 y) { return __dsub_rn(x, y); }
#endif
#define TC_FLOATING(T)                                                                             \
  TC_ARITH(T)                                                                                      \
  TC_MAP2(tc_add_uncontracted_##T, tc_##T, tc_##T, tc_plus(x, y))                                  \
  TC_MAP2(tc_sub_uncontracted_##T, tc_##T, tc_##T, tc_minus(x, y))                                 \
  TC_MAP2(tc_max_##T, tc_##T, tc_##T, tc_larger(x, y))                                             \
  TC_MAP2(tc_min_##T, tc_##T, tc_##T, tc_smaller(x, y))                                            \
  TC_MAP1(tc_abs_##T, tc_##T, tc_##T, fabs(x))                                                     \
  TC_MAP2(tc_copysign_##T, tc_##T, tc_##T, copysign(x, y))                                         \
  TC_MAP1(tc_sign_##T, tc_##T, tc_##T, x > 0 ? 1 : x < 0 ? -1 : x != x ? x : 0)                    \
  TC_MAP1(tc_sqrt_##T, tc_##T, tc_##T, sqrt(x))                                                    \
  TC_MAP1(tc_rsqrt_##T, tc_##T, tc_##T, rsqrt(x))                                                  \
  TC_MAP1(tc_floor_##T, tc_##T, tc_##T, floor(x))                                                  \
  TC_MAP1(tc_ceil_##T, tc_##T, tc_##T, ceil(x))                                                    \
  TC_MAP1(tc_round_##T, tc_##T, tc_##T, rint(x))                                                   \
  TC_MAP1(tc_trunc_##T, tc_##T, tc_##T, trunc(x))                                                  \
  TC_MAP1(tc_isnan_##T, tc_##T, tc_b8, x != x)                                                     \
  TC_MAP1(tc_isinf_##T, tc_##T, tc_b8, fabs(x) == (tc_##T)TC_INF)                                  \
  TC_MAP1(tc_isfinite_##T, tc_##T, tc_b8, fabs(x) < (tc_##T)TC_INF)
/* @ tc_*_f32 */
TC_FLOATING(f32)
/* @ tc_*_f64 */
TC_FLOATING(f64)

/* Reductions over the lanes, always by the same tree, so that results repeat bit for bit.
 * tc_lanes_<op>_T(v): the combination of all lanes, in every lane. */
/* @ TC_TREE TC_LANES_OP */
#if TC_L == 16
#define TC_TREE(T, OP)                                                                             \
  v = OP(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));  \
  v = OP(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));  \
  v = OP(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));  \
  v = OP(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
#elif TC_L == 8
#define TC_TREE(T, OP)                                                                             \
  v = OP(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));                                \
  v = OP(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));                                \
  v = OP(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
#else
#define TC_TREE(T, OP)                                                                             \
  v = OP(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));                                            \
  v = OP(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
#endif
#define TC_LANES_OP(op, T)                                                                         \
  TC_FN tc_v##T tc_lanes_##op##_##T(tc_v##T v) {                                                   \
    TC_TREE(T, tc_##op##_##T)                                                                      \
    return v;                                                                                      \
  }
/* @ tc_lanes_*_f32 */
TC_LANES_OP(add, f32)
TC_LANES_OP(mul, f32)
TC_LANES_OP(max, f32)
TC_LANES_OP(min, f32)
/* @ tc_lanes_*_f64 */
TC_LANES_OP(add, f64)
TC_LANES_OP(mul, f64)
TC_LANES_OP(max, f64)
TC_LANES_OP(min, f64)
/* @ tc_lanes_*_i8 */
TC_LANES_OP(max, i8)
TC_LANES_OP(min, i8)
TC_LANES_OP(add, i8)
TC_LANES_OP(mul, i8)
/* @ tc_lanes_*_u8 */
TC_LANES_OP(max, u8)
TC_LANES_OP(min, u8)
TC_LANES_OP(add, u8)
TC_LANES_OP(mul, u8)
/* @ tc_lanes_*_i16 */
TC_LANES_OP(max, i16)
TC_LANES_OP(min, i16)
TC_LANES_OP(add, i16)
TC_LANES_OP(mul, i16)
/* @ tc_lanes_*_i32 */
TC_LANES_OP(max, i32)
TC_LANES_OP(min, i32)
TC_LANES_OP(add, i32)
TC_LANES_OP(mul, i32)
/* @ tc_lanes_*_i64 */
TC_LANES_OP(max, i64)
TC_LANES_OP(min, i64)
TC_LANES_OP(add, i64)
TC_LANES_OP(mul, i64)
/* @ tc_lanes_*_b8 */
TC_LANES_OP(max, b8)
TC_LANES_OP(min, b8)
TC_LANES_OP(add, b8)
TC_LANES_OP(mul, b8)
/* @ TC_ARG */
/* argmax, argmin: (value, position) pairs; the first of equals; the first NaN wins.  v, p join the
 * best so far where g. */
#define TC_ARG(name, T, CMP, LANES)                                                                \
  TC_FN void tc_##name##_##T(tc_v##T *best, tc_vi64 *at, tc_v##T v, tc_vi64 p, tc_vb8 g) {         \
    const tc_vb8 first = TC_TRUTH(p < *at), nan = TC_TRUTH(v != v),                                \
                 was = TC_TRUTH(*best != *best);                                                   \
    const tc_vb8 same = TC_TRUTH(v == *best) | (nan & was);                                        \
    const tc_vb8 take =                                                                            \
        g & ((TC_TRUTH(v CMP * best) & (was ^ 1)) | (nan & (was ^ 1)) | (same & first));           \
    *best = tc_where_##T(take, v, *best);                                                          \
    *at = TC_CAST(i64, take) != 0 ? p : *at;                                                       \
  }                                                                                                \
  /* The winner of all lanes, in every lane of *at: the least position among the best, which are   \
   * NaN where any is. */                                                                          \
  TC_FN void tc_lanes_##name##_##T(tc_v##T *best, tc_vi64 *at) {                                   \
    const tc_v##T b = LANES(*best);                                                                \
    const tc_vb8 win = TC_TRUTH(*best == b) | TC_TRUTH(*best != *best);                            \
    *at = tc_lanes_min_i64(TC_CAST(i64, win) != 0 ? *at : tc_set_i64(0x7fffffffffffffff));         \
    *best = b;                                                                                     \
  }
/* @ tc_argmax_f32 tc_argmin_f32 tc_lanes_argmax_f32 tc_lanes_argmin_f32 */
TC_ARG(argmax, f32, >, tc_lanes_max_f32)
TC_ARG(argmin, f32, <, tc_lanes_min_f32)
/* @ tc_argmax_f64 tc_argmin_f64 tc_lanes_argmax_f64 tc_lanes_argmin_f64 */
TC_ARG(argmax, f64, >, tc_lanes_max_f64)
TC_ARG(argmin, f64, <, tc_lanes_min_f64)
/* @ tc_argmax_i8 tc_argmin_i8 tc_lanes_argmax_i8 tc_lanes_argmin_i8 */
TC_ARG(argmax, i8, >, tc_lanes_max_i8)
TC_ARG(argmin, i8, <, tc_lanes_min_i8)
/* @ tc_argmax_u8 tc_argmin_u8 tc_lanes_argmax_u8 tc_lanes_argmin_u8 */
TC_ARG(argmax, u8, >, tc_lanes_max_u8)
TC_ARG(argmin, u8, <, tc_lanes_min_u8)
/* @ tc_argmax_b8 tc_argmin_b8 tc_lanes_argmax_b8 tc_lanes_argmin_b8 */
TC_ARG(argmax, b8, >, tc_lanes_max_b8)
TC_ARG(argmin, b8, <, tc_lanes_min_b8)
/* @ tc_argmax_i16 tc_argmin_i16 tc_lanes_argmax_i16 tc_lanes_argmin_i16 */
TC_ARG(argmax, i16, >, tc_lanes_max_i16)
TC_ARG(argmin, i16, <, tc_lanes_min_i16)
/* @ tc_argmax_i32 tc_argmin_i32 tc_lanes_argmax_i32 tc_lanes_argmin_i32 */
TC_ARG(argmax, i32, >, tc_lanes_max_i32)
TC_ARG(argmin, i32, <, tc_lanes_min_i32)
/* @ tc_argmax_i64 tc_argmin_i64 tc_lanes_argmax_i64 tc_lanes_argmin_i64 */
TC_ARG(argmax, i64, >, tc_lanes_max_i64)
TC_ARG(argmin, i64, <, tc_lanes_min_i64)
/* @ TC_PREFIX */
/* Running combination along the lanes, in log2(TC_L) steps: lane l takes up what stands 1, 2, 4, ..
 * lanes before it.  *carry, equal in all lanes, comes in and goes out; only it has to wait for the
 * vector before.  A: accumulator type; what lanes that count for nothing hold reaches none before
 * them. */
#define TC_BEHIND(l, s, u) ((l) >= (s) ? (l) - (s) : TC_L)
#define TC_LAST(l, s, u) (TC_L - 1)
#define TC_PREFIX(name, T, A, op, none)                                                            \
  TC_FN tc_v##T tc_prefix_##name##_##T(tc_v##A *carry, tc_v##T v) {                                \
    const tc_v##A id = (tc_v##A)(tc_##A)none, c = *carry;                                          \
    tc_v##A t = TC_CAST(A, v);                                                                     \
    t = t op __builtin_shufflevector(t, id, TC_EACH(TC_BEHIND, 1, 0));                             \
    t = t op __builtin_shufflevector(t, id, TC_EACH(TC_BEHIND, 2, 0));                             \
    if (TC_L > 4) t = t op __builtin_shufflevector(t, id, TC_EACH(TC_BEHIND, 4, 0));               \
    if (TC_L > 8) t = t op __builtin_shufflevector(t, id, TC_EACH(TC_BEHIND, 8, 0));               \
    *carry = c op __builtin_shufflevector(t, t, TC_EACH(TC_LAST, 0, 0));                           \
    return TC_CAST(T, c op t);                                                                     \
  }
/* @ tc_prefix_sum_f32 tc_prefix_prod_f32 */
TC_PREFIX(sum, f32, f64, +, 0)
TC_PREFIX(prod, f32, f64, *, 1)
/* @ tc_prefix_sum_f64 tc_prefix_prod_f64 */
TC_PREFIX(sum, f64, f64, +, 0)
TC_PREFIX(prod, f64, f64, *, 1)
/* @ tc_prefix_sum_i64 tc_prefix_prod_i64 */
TC_PREFIX(sum, i64, u64, +, 0)
TC_PREFIX(prod, i64, u64, *, 1)

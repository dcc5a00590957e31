/* Floating numbers as integers: towards zero; NaN is 0, and what T cannot hold is its nearest end
 * (graph/ops/formulas.h).  What the machine converts is always in range, so that no lane raises an exception. */
/* @ TC_TO_INTEGER TC_TO_WIDE */
/* Every end of T is a number of F.  W: the integers that the machine converts to. */
#define TC_TO_INTEGER(T, F, W, least, most)                                                        \
  TC_FN tc_v##T tc_##T##_of_##F(tc_v##F a) {                                                       \
    const tc_v##F lo = (tc_v##F)(tc_##F)(least), hi = (tc_v##F)(tc_##F)(most);                     \
    a = a == a ? a : (tc_v##F)(tc_##F)0;                                                           \
    a = a > lo ? a : lo;                                                                           \
    a = a < hi ? a : hi;                                                                           \
    return TC_CAST(T, TC_CAST(W, a));                                                              \
  }
/* The greatest of T lies between `below`, the greatest number of F in T, and the next one. */
#define TC_TO_WIDE(T, F, least, below, most)                                                       \
  TC_FN tc_v##T tc_##T##_of_##F(tc_v##F a) {                                                       \
    const tc_v##F lo = (tc_v##F)(tc_##F)(least), hi = (tc_v##F)(tc_##F)(below);                    \
    a = a == a ? a : (tc_v##F)(tc_##F)0;                                                           \
    a = a > lo ? a : lo;                                                                           \
    const tc_v##T v = TC_CAST(T, a < hi ? a : hi);                                                 \
    return TC_CAST(T, a > hi) != 0 ? (tc_v##T)(tc_##T)(most) : v;                                  \
  }
/* @ tc_i8_of_f32 tc_u8_of_f32 tc_i16_of_f32 tc_i32_of_f32 tc_i64_of_f32 */
TC_TO_INTEGER(i8, f32, i32, -0x1p7f, 0x1.fcp6f)
TC_TO_INTEGER(u8, f32, i32, 0, 0x1.fep7f)
TC_TO_INTEGER(i16, f32, i32, -0x1p15f, 0x1.fffcp14f)
TC_TO_WIDE(i32, f32, -0x1p31f, 0x1.fffffep30f, 0x7fffffff)
TC_TO_WIDE(i64, f32, -0x1p63f, 0x1.fffffep62f, 0x7fffffffffffffff)
/* @ tc_i8_of_f64 tc_u8_of_f64 tc_i16_of_f64 tc_i32_of_f64 tc_i64_of_f64 */
TC_TO_INTEGER(i8, f64, i32, -0x1p7, 0x1.fcp6)
TC_TO_INTEGER(u8, f64, i32, 0, 0x1.fep7)
TC_TO_INTEGER(i16, f64, i32, -0x1p15, 0x1.fffcp14)
TC_TO_INTEGER(i32, f64, i32, -0x1p31, 0x1.fffffffcp30)
TC_TO_WIDE(i64, f64, -0x1p63, 0x1.fffffffffffffp62, 0x7fffffffffffffff)

/* Floating numbers as integers: towards zero; NaN is 0, and what T cannot hold is its nearest end
 * (graph/ops/formulas.h). */
/* @ tc_*_of_f32 tc_*_of_f64 */
/* The machine's conversions saturate.  NaN is 0 in that of f32 to i32, the least integer in the others. */
TC_FN tc_i32 tc_whole(tc_f32 x) { return __float2int_rz(x); }
TC_FN tc_i32 tc_whole(tc_f64 x) { return x != x ? 0 : __double2int_rz(x); }
TC_FN tc_i64 tc_long_whole(tc_f32 x) { return x != x ? 0 : __float2ll_rz(x); }
TC_FN tc_i64 tc_long_whole(tc_f64 x) { return x != x ? 0 : __double2ll_rz(x); }
TC_FN tc_i32 tc_within(tc_i32 v, tc_i32 least, tc_i32 most) {
  return v < least ? least : v > most ? most : v;
}
#define TC_TO_INTEGER(F)                                                                           \
  TC_MAP1(tc_i8_of_##F, tc_##F, tc_i8, tc_within(tc_whole(x), -128, 127))                          \
  TC_MAP1(tc_u8_of_##F, tc_##F, tc_u8, tc_within(tc_whole(x), 0, 255))                             \
  TC_MAP1(tc_i16_of_##F, tc_##F, tc_i16, tc_within(tc_whole(x), -32768, 32767))                    \
  TC_MAP1(tc_i32_of_##F, tc_##F, tc_i32, tc_whole(x))                                              \
  TC_MAP1(tc_i64_of_##F, tc_##F, tc_i64, tc_long_whole(x))
TC_TO_INTEGER(f32)
TC_TO_INTEGER(f64)

/* Element types, promotion, and the reader of TC_SHAPE. */
#include "check.h"

#include <math.h>

Test(type, names_and_sizes) {
  for (int d = 0; d < TC_DTYPE_COUNT; d++) {
    tc_dtype back;
    const char *text = tc_dtype_text((tc_dtype)d);
    cr_expect(tc_dtype_parse(text, strlen(text), &back) && back == (tc_dtype)d);
    cr_expect_eq(tc_dtype_is_float((tc_dtype)d) + tc_dtype_is_int((tc_dtype)d), d != TC_BOOL);
  }
  tc_dtype d;
  cr_expect(!tc_dtype_parse("f3", 2, &d) && !tc_dtype_parse("f321", 4, &d) &&
            !tc_dtype_parse("", 0, &d));
  cr_expect_eq(tc_dtype_bytes(TC_BF16), 2);
  cr_expect_eq(tc_dtype_bytes(TC_DTYPE_COUNT), 0);
}

/* Within one level: the table of PyTorch (uint8 int8 int16 int32 int64 half bfloat16 float double).
 */
Test(type, promotes_as_documented) {
  enum { b = TC_BOOL, u8 = TC_U8, i8 = TC_I8, i16 = TC_I16, i32 = TC_I32, i64 = TC_I64 };
  enum { f16 = TC_F16, bf = TC_BF16, f32 = TC_F32, f64 = TC_F64 };
  static const uint8_t table[TC_DTYPE_COUNT][TC_DTYPE_COUNT] = {
      {b, u8, i8, i16, i32, i64, f16, bf, f32, f64},
      {u8, u8, i16, i16, i32, i64, f16, bf, f32, f64},
      {i8, i16, i8, i16, i32, i64, f16, bf, f32, f64},
      {i16, i16, i16, i16, i32, i64, f16, bf, f32, f64},
      {i32, i32, i32, i32, i32, i64, f16, bf, f32, f64},
      {i64, i64, i64, i64, i64, i64, f16, bf, f32, f64},
      {f16, f16, f16, f16, f16, f16, f16, f32, f32, f64},
      {bf, bf, bf, bf, bf, bf, f32, bf, f32, f64},
      {f32, f32, f32, f32, f32, f32, f32, f32, f32, f64},
      {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64}};
  for (int x = 0; x < TC_DTYPE_COUNT; x++)
    for (int y = 0; y < TC_DTYPE_COUNT; y++)
      for (uint8_t rank = 0; rank < 2; rank++) {
        tc_type s = {.dtype = (uint8_t)x, .rank = rank}, t = {.dtype = (uint8_t)y, .rank = rank};
        cr_expect_eq(tc_promote(&s, &t), (tc_dtype)table[x][y], "%s with %s",
                     tc_dtype_text((tc_dtype)x), tc_dtype_text((tc_dtype)y));
      }
}

/* Across levels: a lower one counts only if its category is higher. */
Test(type, scalars_do_not_widen_tensors) {
  static const struct {
    tc_type a, b;
    tc_dtype gives;
  } rows[] = {
      {{.dtype = TC_F16, .rank = 1}, {.dtype = TC_F64}, TC_F16},
      {{.dtype = TC_I8, .rank = 1}, {.dtype = TC_I64}, TC_I8},
      {{.dtype = TC_I8, .rank = 1}, {.dtype = TC_F64}, TC_F64},
      {{.dtype = TC_BOOL, .rank = 1}, {.dtype = TC_I16}, TC_I16},
      {{.dtype = TC_I8, .rank = 1}, {.dtype = TC_F64, .weak = true}, TC_F32},
      {{.dtype = TC_BF16, .rank = 1}, {.dtype = TC_F64, .weak = true}, TC_BF16},
      {{.dtype = TC_BF16}, {.dtype = TC_F64, .weak = true}, TC_BF16},
      {{.dtype = TC_I32}, {.dtype = TC_F64, .weak = true}, TC_F32},
      {{.dtype = TC_BOOL, .rank = 1}, {.dtype = TC_I64, .weak = true}, TC_I64},
      {{.dtype = TC_I64, .weak = true}, {.dtype = TC_F64, .weak = true}, TC_F64},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_expect_eq(tc_promote(&rows[i].a, &rows[i].b), rows[i].gives, "row %zu", i);
    cr_expect_eq(tc_promote(&rows[i].b, &rows[i].a), rows[i].gives, "row %zu, swapped", i);
  }
}

Test(type, rounds_to_nearest_even) {
  cr_expect_eq(tc_dtype_round(TC_F16, 2049), 2048);
  cr_expect_eq(tc_dtype_round(TC_F16, 2051), 2052);
  cr_expect_eq(tc_dtype_round(TC_F16, 65519), 65504);
  cr_expect(isinf(tc_dtype_round(TC_F16, -65520)));
  cr_expect_eq(tc_dtype_round(TC_F16, 0x1p-24), 0x1p-24, "smallest denormal");
  cr_expect_eq(tc_dtype_round(TC_F16, 0x1p-25), 0, "a tie goes to even");
  cr_expect_eq(tc_dtype_round(TC_F16, 0x1.8p-25), 0x1p-24);
  cr_expect_eq(tc_dtype_round(TC_BF16, 1 + 0x1p-8), 1);
  cr_expect_eq(tc_dtype_round(TC_BF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7,
               "rounded once, not through f32");
  cr_expect(isinf(tc_dtype_round(TC_BF16, 0x1.ffp127)));
  cr_expect_eq(tc_dtype_round(TC_BF16, 0x1p-133), 0x1p-133);
  cr_expect(isnan(tc_dtype_round(TC_BF16, NAN)));
  cr_expect(signbit(tc_dtype_round(TC_F16, -0.0)));
  cr_expect_eq(tc_dtype_wrap(TC_I8, 200), -56);
  cr_expect_eq(tc_dtype_wrap(TC_BOOL, -2), 1);
  cr_expect_eq(tc_dtype_wrap(TC_I32, INT64_C(1) << 31), INT32_MIN);
}

static const char *read(tc_dims *c, const char *text, tc_buf *b) {
  tc_type t;
  const char *error = NULL;
  size_t at = 0;
  tc_buf_clear(b);
  if (tc_type_parse(c, text, &t, &error, &at)) tc_type_print(c, &t, b);
  else tc_putf(b, "%zu: %s", at, error);
  return b->text;
}

Test(type, reads_shapes) {
  static const char *const rows[][2] = {
      {"f32[B,784]", "f32[B,784]"},
      {"f64[]", "f64[]"},
      {"i8", "i8[]"},
      {" bf16 [ B <= 64 , T % 8 , 768 ] ", "bf16[B,T,768]"},
      {"f32[2*N+1,(N%3)]", "f32[2*N+1,(N%3)]"},
      {"f32[1<=K<=9,0<L]", "f32[K,L]"},
      {"f32[0,1]", "f32[0,1]"},
      {"q32[3]", "0: unknown element type; known are bool u8 i8 i16 i32 i64 f16 bf16 f32 f64"},
      {"f32(3)", "3: expected '['"},
      {"f32[3", "5: expected ',' or ']'"},
      {"f32[3,]", "6: this is not a size"},
      {"f32[3,", "6: the text ends here"},
      {"f32[3]x", "6: unexpected text behind the shape"},
      {"f32[-3]", "4: a size must not be negative"},
      {"f32[B<=x]", "7: expected an integer"},
      {"f32[B%0]", "6: a multiple must be at least 1"},
      {"f32[T<=64%8,T>=65]", "12: this contradicts what is known of the size"},
      {"f32[1,2,3,4,5,6,7,8,9]", "20: more than 8 sizes"},
      {"f32[4294967296,4294967296]", "0: size product exceeds 64 bits"},
      {"f32[99999999999999999999]", "4: the number exceeds 64 bits"},
      {"f32[B%8+1]", "7: expected ',' or ']'"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tc_dims *c = tc_dims_new();
    tc_buf b = {0};
    const char *got = read(c, rows[i][0], &b);
    cr_expect_str_eq(got, rows[i][1], "%s\n  gives  %s\n  not    %s", rows[i][0], got, rows[i][1]);
    tc_buf_free(&b);
    tc_dims_free(c);
  }
}

Test(type, facts_about_sizes_are_kept) {
  tc_dims *c = tc_dims_new();
  tc_buf b = {0};
  read(c, "f32[2<B<64%4,B%6,N>=5]", &b);
  const tc_sym *B = tc_dims_sym(c, 0), *N = tc_dims_sym(c, 1);
  cr_expect(B->lo == 3 && B->hi == 63 && B->multiple == 12);
  cr_expect(N->lo == 5 && N->hi == INT64_MAX && N->multiple == 1);
  tc_buf_free(&b);
  tc_dims_free(c);
}

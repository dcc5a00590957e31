/* Rows that pass a kernel side by side give the bits that each gives alone: rows of any number and
 * length, some of which take another way than their neighbours.  Short rows are summed in another order where there
 * are enough of them to share vectors: they are as near as roundings. */
#include <string.h>

#include "check.h"

typedef const tc_tensor *operand;

#define NORMS(type)                                                                                \
  TC_COMPILE static tc_tensor *layer_##type(operand x TC_SHAPE(#type "[R,C]"),                     \
                                            operand w TC_SHAPE(#type "[C]"),                       \
                                            operand b TC_SHAPE(#type "[C]")) {                     \
    return tc_layer_norm(x, 1, w, b, 1e-5);                                                        \
  }                                                                                                \
  TC_COMPILE static tc_tensor *rms_##type(operand x TC_SHAPE(#type "[R,C]"),                       \
                                          operand w TC_SHAPE(#type "[C]"),                         \
                                          operand b TC_SHAPE(#type "[C]")) {                       \
    return tc_add(tc_rms_norm(x, 1, w, 1e-5), b);                                                  \
  }
NORMS(bf16)
NORMS(f16)
NORMS(f32)

/* Rows of one type, and what they share of another. */
TC_COMPILE static tc_tensor *mixed(operand x TC_SHAPE("f32[R,C]"), operand w TC_SHAPE("bf16[C]"),
                                   operand b TC_SHAPE("bf16[C]")) {
  tc_tensor *scale = tc_rsqrt(tc_add_s(tc_mean(tc_square(x), TC_AXES(1), true), 1e-5));
  return tc_add(tc_mul(tc_mul(x, scale), w), b);
}

typedef tc_tensor *norm(operand, operand, operand);

/* Every third row far from zero, every fifth constant: their variance takes a pass of its own. */
static tc_tensor *rows(int64_t count, int64_t length, tc_dtype d) {
  tc_tensor *x =
      tc_randn(TC_DIMS(count, length), 1000 * (uint64_t)count + (uint64_t)length, TC_F32);
  float *v = tc_data(x);
  for (int64_t i = 0; i < count * length; i++) {
    if (i / length % 3 == 2) v[i] += 1000;
    if (i / length % 5 == 3) v[i] = 0.25f;
  }
  return tc_cast(x, d);
}

enum { SHORT = 64 }; /* shorter ones may share vectors */

static double most(const tc_tensor *x) { return tc_item(tc_max(tc_abs(tc_cast(x, TC_F64)), TC_ALL, false)); }

/* Row i of y, which was made of x, and the same row alone. */
static bool agree(const tc_tensor *y, const tc_tensor *x, int64_t i, const tc_tensor *alone) {
  const int64_t length = tc_size(y, 1);
  const tc_tensor *row = tc_slice(y, 0, i, i + 1, 1);
  if (length >= SHORT) return !memcmp(tc_cdata(row), tc_cdata(alone), (size_t)length * tc_dtype_size(tc_dtype_of(y)));
  const double rounding = tc_dtype_of(y) == TC_BF16 ? 0x1p-8 : tc_dtype_of(y) == TC_F16 ? 0x1p-11 : 0;
  const double near = rounding * most(alone) + 0x1p-20 * (1 + most(tc_slice(x, 0, i, i + 1, 1)));
  return tc_max_abs_diff(tc_cast(row, TC_F64), tc_cast(alone, TC_F64)) <= near;
}

static void check_rows(norm *f, tc_dtype d, tc_dtype shared, int64_t count, int64_t length) {
  TC_SCOPE {
    tc_tensor *x = rows(count, length, d), *w = tc_randn(TC_DIMS(length), 7, shared),
              *b = tc_randn(TC_DIMS(length), 8, shared), *y = f(x, w, b);
    CHECK(y);
    for (int64_t i = 0; i < count; i++) {
      tc_tensor *alone = f(tc_slice(x, 0, i, i + 1, 1), w, b);
      CHECK(alone);
      CHECK(agree(y, x, i, alone));
    }
  }
}

int main(void) {
  static const int64_t length[] = {1,   5,   16,  31,  33,   100,  128,  255,  257,  383, 384,
                                   385, 512, 769, 800, 1000, 1023, 1536, 2000, 2048, 3000};
  for (size_t i = 0; i < sizeof length / sizeof *length; i++)
    for (int64_t count = 1; count < 20; count += count < 9 ? 1 : 5) {
      check_rows(layer_bf16, TC_BF16, TC_BF16, count, length[i]);
      check_rows(layer_f16, TC_F16, TC_F16, count, length[i]);
      check_rows(layer_f32, TC_F32, TC_F32, count, length[i]);
      check_rows(rms_bf16, TC_BF16, TC_BF16, count, length[i]);
      check_rows(rms_f16, TC_F16, TC_F16, count, length[i]);
      check_rows(rms_f32, TC_F32, TC_F32, count, length[i]);
      check_rows(mixed, TC_F32, TC_BF16, count, length[i]);
    }
  CHECK(hits_of("layer_bf16") && hits_of("layer_f16") && hits_of("layer_f32"));
  CHECK(hits_of("rms_bf16") && hits_of("rms_f16") && hits_of("rms_f32") && hits_of("mixed"));
  return 0;
}

/* Sorts and selections in every dtype, around the sizes at which kernels change their way, beside the original bodies: equal
 * to the bit, ties, NaN, infinities and both zeros included. */
#include <math.h>

#include "check.h"

typedef const tc_tensor *operand;

/* Values and positions of `call`, compiled and eager. */
#define SAME(name, call)                                                                           \
  TC_SCOPE {                                                                                       \
    const uint64_t before = hits_of(name);                                                         \
    tc_tensor *index = NULL, *wanted = NULL, **at = &index;                                        \
    tc_tensor *got = call;                                                                         \
    CHECK(got &&hits_of(name) == before + 1);                                                      \
    const tc_stance stance = tc_set_stance(TC_STANCE_EAGER);                                       \
    at = &wanted;                                                                                  \
    tc_tensor *want = call;                                                                        \
    tc_set_stance(stance);                                                                         \
    check_equal(name, got, want);                                                                  \
    check_equal(name, index, wanted);                                                              \
  }

static void check_equal(const char *name, operand got, operand want) {
  const tc_tensor *same = tc_logical_or(tc_eq(got, want), tc_logical_and(tc_ne(got, got), tc_ne(want, want)));
  if (tc_item(tc_all(same, TC_ALL, false))) return;
  fprintf(stderr, "%s: wrong order\n", name);
  tc_print(got);
  tc_print(want);
  exit(1);
}

#define FUNCTIONS(T)                                                                               \
  TC_COMPILE static tc_tensor *ascending_##T(operand x TC_SHAPE(#T "[N,M]"), tc_tensor **at) {     \
    return tc_sort(x, 1, false, at);                                                               \
  }                                                                                                \
  TC_COMPILE static tc_tensor *columns_##T(operand x TC_SHAPE(#T "[N,M]"), tc_tensor **at) {       \
    return tc_sort(x, 0, true, at);                                                                \
  }                                                                                                \
  TC_COMPILE static tc_tensor *one_##T(operand x TC_SHAPE(#T "[N,M]"), tc_tensor **at) {           \
    return tc_topk(x, 1, 1, true, at);                                                             \
  }                                                                                                \
  TC_COMPILE static tc_tensor *half_##T(operand x TC_SHAPE(#T "[N,M]"), tc_tensor **at) {          \
    return tc_topk(x, (tc_size(x, 1) + 1) / 2, -1, false, at);                                     \
  }                                                                                                \
  static void check_##T(operand x) {                                                               \
    SAME("ascending_" #T, ascending_##T(x, at));                                                   \
    SAME("columns_" #T, columns_##T(x, at));                                                       \
    SAME("one_" #T, one_##T(x, at));                                                               \
    SAME("half_" #T, half_##T(x, at));                                                             \
    SAME("ascending_" #T, ascending_##T(tc_slice(x, 1, 0, -1, 2), at));                            \
  }
FUNCTIONS(f32) FUNCTIONS(f64) FUNCTIONS(bf16) FUNCTIONS(f16) FUNCTIONS(bool)
FUNCTIONS(i8) FUNCTIONS(u8) FUNCTIONS(i16) FUNCTIONS(i32) FUNCTIONS(i64)

TC_COMPILE static tc_tensor *twelve(operand x TC_SHAPE("f32[N,64,M]"), tc_tensor **at) {
  return tc_topk(x, 12, 1, true, at);
}

/* Many ties; every seventh is one of what compares in a way of its own. */
static tc_tensor *values(int64_t n, int64_t m, double scale, uint64_t seed) {
  static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0, NAN};
  tc_tensor *x = tc_round(tc_mul_s(tc_randn(TC_DIMS(n, m), seed, TC_F64), scale));
  double *v = tc_data(x);
  for (int64_t i = 0; i < n * m; i += 7) v[i] = special[i / 7 % 6];
  return x;
}

static void check_all(int64_t n, int64_t m, double scale) {
  TC_SCOPE {
    tc_tensor *x = values(n, m, scale, (uint64_t)(n * m));
    check_f32(tc_cast(x, TC_F32)), check_f64(x), check_bf16(tc_cast(x, TC_BF16)), check_f16(tc_cast(x, TC_F16));
    check_bool(tc_cast(x, TC_BOOL)), check_i8(tc_cast(x, TC_I8)), check_u8(tc_cast(x, TC_U8));
    check_i16(tc_cast(x, TC_I16)), check_i32(tc_cast(x, TC_I32)), check_i64(tc_cast(x, TC_I64));
  }
}

int main(void) {
  static const int64_t sizes[] = {2, 3, 15, 16, 17, 48, 63, 64, 65, 66, 127, 129, 200, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_all(5, sizes[i], 20);
  check_all(70, 9, 1e4);
  check_all(3, 20000, 1e9);
  TC_SCOPE {
    tc_tensor *x = tc_reshape(values(40, 192, 30, 3), TC_DIMS(40, 64, 3));
    SAME("twelve", twelve(tc_cast(x, TC_F32), at));
  }
  printf("order: %zu sizes\n", sizeof sizes / sizeof *sizes);
  return 0;
}

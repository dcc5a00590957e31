/* Stencils over padded arrays and sums of shifted slices: dtypes, ranks, edges of 0 and of other numbers, sizes below the reach
 * of a stencil and around those of vectors, against the original bodies. */

#include "check.h"

typedef const tc_tensor *operand;

/* `call` compiled and eager, equal but for the rounding of sums of a few numbers near 1, which the body does more often. */
#define SAME(name, call) COMPARE_TO_BODY(name, call, CHECK(tc_allclose(got, want, near_of(want), near_of(want))))

static double near_of(operand x) { return tc_dtype_of(x) == TC_BF16 ? 4e-2 : 1e-5; }

static tc_tensor *part(operand x, int axis, int64_t from, int64_t size) { return tc_slice(x, axis, from, from + size, 1); }

static tc_tensor *neighbours(operand x, double edge) {
  const int64_t h = tc_size(x, 0), w = tc_size(x, 1);
  tc_tensor *p = tc_pad(x, TC_DIMS(1, 1), TC_DIMS(1, 1), edge);
  tc_tensor *rows = tc_add(part(part(p, 0, 0, h), 1, 1, w), part(part(p, 0, 2, h), 1, 1, w));
  return tc_add(rows, tc_add(part(part(p, 0, 1, h), 1, 0, w), part(part(p, 0, 1, h), 1, 2, w)));
}
static tc_tensor *box(operand x, int r) {
  tc_tensor *p = tc_pad(x, TC_DIMS(r, r), TC_DIMS(r, r), 0), *s = NULL, *q = NULL;
  for (int i = 0; i <= 2 * r; i++) {
    tc_tensor *v = part(p, 0, i, tc_size(x, 0));
    s = s ? tc_add(s, v) : v;
  }
  for (int j = 0; j <= 2 * r; j++) {
    tc_tensor *v = part(s, 1, j, tc_size(x, 1));
    q = q ? tc_add(q, v) : v;
  }
  return q;
}

TC_COMPILE static tc_tensor *cross(operand x TC_SHAPE("f32[H,W]")) { return neighbours(x, 0); }
TC_COMPILE static tc_tensor *cross_of_ones(operand x TC_SHAPE("f32[H,W]")) { return neighbours(x, 1); }
TC_COMPILE static tc_tensor *cross16(operand x TC_SHAPE("bf16[H,W]")) { return neighbours(x, 0); }
TC_COMPILE static tc_tensor *cross64(operand x TC_SHAPE("f64[H,W]")) { return neighbours(x, 0.5); }
TC_COMPILE static tc_tensor *cross_i32(operand x TC_SHAPE("i32[H,W]")) { return neighbours(x, 3); }
TC_COMPILE static tc_tensor *largest(operand x TC_SHAPE("f32[H,W]")) { return tc_max(tc_sub(neighbours(x, 0), x), TC_AXES(1), false); }
TC_COMPILE static tc_tensor *box3(operand x TC_SHAPE("f32[H,W]")) { return box(x, 1); }
TC_COMPILE static tc_tensor *box5(operand x TC_SHAPE("f32[H,W]")) { return box(x, 2); }
TC_COMPILE static tc_tensor *cube(operand x TC_SHAPE("f32[D,H,W]")) {
  const int64_t d = tc_size(x, 0), h = tc_size(x, 1), w = tc_size(x, 2);
  tc_tensor *p = tc_pad(x, TC_DIMS(1, 1, 1), TC_DIMS(1, 1, 1), 0);
  tc_tensor *front = part(part(part(p, 0, 0, d), 1, 0, h), 2, 1, w), *back = part(part(part(p, 0, 2, d), 1, 2, h), 2, 2, w);
  return tc_sub(tc_add(front, back), x);
}
TC_COMPILE static tc_tensor *differences(operand x TC_SHAPE("f32[H,W]"), operand y TC_SHAPE("f32[H,W]")) {
  operand pieces[] = {x, y, x}; /* of which one is there at a time */
  return tc_sub(part(tc_concat(pieces, 3, 0), 0, 1, 3 * tc_size(x, 0) - 1), part(tc_concat(pieces, 3, 0), 0, 0, 3 * tc_size(x, 0) - 1));
}

static void check(int64_t h, int64_t w) {
  tc_tensor *x = tc_randn(TC_DIMS(h, w), 1, TC_F32);
  SAME("cross", cross(x));
  SAME("cross_of_ones", cross_of_ones(x));
  SAME("cross16", cross16(tc_cast(x, TC_BF16)));
  SAME("cross64", cross64(tc_cast(x, TC_F64)));
  SAME("cross_i32", cross_i32(tc_cast(tc_mul_s(x, 100), TC_I32)));
  SAME("largest", largest(x));
  SAME("box3", box3(x));
  SAME("box5", box5(x));
  SAME("cube", cube(tc_randn(TC_DIMS(3, h, w), 2, TC_F32)));
  SAME("differences", differences(x, tc_add_s(x, 1)));
}

int main(void) {
  static const int64_t rows[] = {1, 2, 3, 5, 24}, columns[] = {1, 2, 3, 5, 15, 16, 17, 31, 33, 100};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) TC_SCOPE {
        check(rows[i], columns[j]);
      }
  puts("stencils: ok");
  return 0;
}

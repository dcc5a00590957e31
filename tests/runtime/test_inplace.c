/* In-place ops: targets of any strides, aliased operands, what may not be written. */
#include <criterion/criterion.h>
#include <string.h>

#include <tcompile.h>

#include "layouts.h"

Test(inplace, every_layout_and_dtype) {
  for (int d = TC_I16; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_BROADCAST; l++)
      for (int m = 0; m < LAYOUT_COUNT; m++) TC_SCOPE {
          tc_tensor *x = layout_make((tc_dtype)d, TC_DIMS(3, 4), (layout)l, 1),
                    *y = layout_make((tc_dtype)d, TC_DIMS(4), (layout)m, 2);
          tc_tensor *sum = tc_add(x, y), *product = tc_mul(sum, y),
                    *difference = tc_sub(product, y);
          cr_assert_eq(tc_add_(x, y), x);
          cr_assert_eq(tc_max_abs_diff(x, sum), 0);
          cr_assert_eq(tc_max_abs_diff(tc_mul_(x, y), product), 0);
          cr_assert_eq(tc_max_abs_diff(tc_sub_(x, y), difference), 0);
          cr_assert_eq(tc_max_abs_diff(tc_copy_(x, tc_expand(y, TC_DIMS(3, 4))),
                                       tc_expand(y, TC_DIMS(3, 4))),
                       0);
          cr_assert_eq(tc_item(tc_sum(tc_fill_(x, 2), TC_ALL, false)), 24);
        }
}

Test(inplace, stepped_targets_leave_the_gaps) {
  TC_SCOPE {
    tc_tensor *x = tc_zeros(TC_DIMS(7), TC_F32);
    tc_add_(tc_slice(x, 0, 1, 7, 2), tc_ones(TC_DIMS(1), TC_F32));
    for (int i = 0; i < 7; i++) cr_expect_eq(tc_at(x, TC_INTS(i)), i % 2);
  }
}

Test(inplace, overlapping_operands_are_read_first) {
  TC_SCOPE {
    tc_tensor *x = tc_arange(600, 0, 1, TC_F32), *want = tc_clone(x);
    want = tc_add(tc_slice(want, 0, 1, 600, 1), tc_slice(want, 0, 0, 599, 1));
    tc_add_(tc_slice(x, 0, 1, 600, 1), tc_slice(x, 0, 0, 599, 1));
    cr_expect_eq(tc_max_abs_diff(tc_slice(x, 0, 1, 600, 1), want), 0);
    tc_tensor *m = tc_reshape(tc_arange(9, 0, 1, TC_F32), TC_DIMS(3, 3)),
              *t = tc_clone(tc_transpose(m, 0, 1));
    tc_copy_(m, tc_transpose(m, 0, 1));
    cr_expect_eq(tc_max_abs_diff(m, t), 0);
    tc_mul_(m, m);
    cr_expect_eq(tc_max_abs_diff(m, tc_square(t)), 0);
    tc_copy_(tc_flip(m, TC_AXES(0)), m);
    cr_expect_eq(tc_at(m, TC_INTS(2, 0)), 0);
  }
}

Test(inplace, operands_convert_to_the_target) {
  TC_SCOPE {
    tc_tensor *i = tc_full(TC_DIMS(2), 7, TC_I32), *f = tc_full(TC_DIMS(2), 2.75, TC_F32);
    cr_expect_eq(tc_at(tc_add_(i, f), TC_INTS(0)), 9);
    cr_expect_eq(tc_at(tc_div_(i, f), TC_INTS(0)), 4); /* 9 / 2, truncated */
    cr_expect_eq(tc_at(tc_add_(f, i), TC_INTS(0)), 6.75);
    cr_expect_eq(tc_at(tc_div_(f, tc_scalar(2)), TC_INTS(1)), 3.375);
    cr_expect_null(tc_error());
  }
}

Test(inplace, what_may_not_be_written) {
  static const float data[4] = {0};
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(3), TC_F32), *r = tc_wrap_const(TC_DIMS(4), NULL, data, TC_F32);
    cr_expect_null(tc_add_(tc_expand(x, TC_DIMS(2, 3)), x));
    cr_expect(strstr(tc_error(), "share memory"));
    tc_clear_error();
    cr_expect_null(tc_fill_(tc_slice(r, 0, 0, 2, 1), 1));
    cr_expect(strstr(tc_error(), "read-only"));
    tc_clear_error();
    cr_expect_null(tc_add_(x, tc_ones(TC_DIMS(2, 3), TC_F32)));
    cr_expect(strstr(tc_error(), "f32[2,3] does not broadcast to f32[3]"), "%s", tc_error());
    tc_clear_error();
    cr_expect_null(tc_sub_(x, NULL));
    cr_expect_null(tc_copy_(NULL, x));
    tc_clear_error();
    cr_expect_null(tc_sub_(tc_zeros(TC_DIMS(2), TC_BOOL), tc_zeros(TC_DIMS(2), TC_BOOL)));
    cr_expect_not_null(tc_error());
  }
}

Test(inplace, empty_and_rank_0) {
  TC_SCOPE {
    tc_tensor *e = tc_zeros(TC_DIMS(0, 3), TC_F32), *s = tc_full(TC_SCALAR_SHAPE, 2, TC_F64);
    cr_expect_eq(tc_add_(e, tc_ones(TC_DIMS(3), TC_F32)), e);
    cr_expect_eq(tc_item(tc_mul_(s, s)), 4);
    cr_expect_null(tc_error());
  }
}

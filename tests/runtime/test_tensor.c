/* Tensors: making, wrapping, sizes, views of memory, flags. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <string.h>

#include <tcompile.h>

#include "layouts.h"

const char *__asan_default_options(void);

/* An allocation that is too large is an error value here, not the end, also under ASan. */
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

static const float six[] = {1, 2, 3, 4, 5, 6};

Test(tensor, from_copies) {
  float data[6];
  memcpy(data, six, sizeof data);
  tc_tensor *x = tc_from(TC_DIMS(2, 3), data, TC_F32);
  data[0] = 9;
  cr_expect_eq(tc_at(x, TC_INTS(0, 0)), 1);
  cr_expect_eq(tc_at(x, TC_INTS(-1, -1)), 6);
  cr_expect(tc_rank(x) == 2 && tc_size(x, 0) == 2 && tc_size(x, -1) == 3 && tc_numel(x) == 6);
  cr_expect(tc_stride(x, 0) == 3 && tc_stride(x, 1) == 1 && tc_is_contiguous(x));
  cr_expect_eq((uintptr_t)tc_data(x) % 64, 0);
  cr_expect_eq(x->dim[5], 1);
  cr_expect_eq(x->stride[5], 0);
  tc_free(x);
  tc_free(NULL);
}

Test(tensor, rank_0_and_rank_8) {
  tc_tensor *s = tc_full(TC_SCALAR_SHAPE, 2.5, TC_F16),
            *x = tc_ones(TC_DIMS(1, 2, 1, 2, 1, 2, 1, 3), TC_I16);
  cr_expect(tc_rank(s) == 0 && tc_numel(s) == 1 && tc_item(s) == 2.5);
  cr_expect(tc_rank(x) == 8 && tc_numel(x) == 24);
  tc_tensor *sum = tc_sum(x, TC_ALL, false);
  cr_expect(tc_dtype_of(sum) == TC_I64 && tc_item_int(sum) == 24);
  tc_free(s);
  tc_free(x);
  tc_free(sum);
}

Test(tensor, the_shape_of_one_makes_others) {
  TC_SCOPE {
    tc_tensor *x = tc_zeros(TC_DIMS(2, 0, 3), TC_F32), *s = tc_scalar(1);
    tc_ints dims = tc_shape(x);
    cr_expect(dims.n == 3 && dims.v[0] == 2 && dims.v[1] == 0 && dims.v[2] == 3);
    cr_expect_eq(tc_shape(s).n, TC_SCALAR_SHAPE.n);
    cr_expect_eq(tc_rank(tc_ones(tc_shape(s), TC_I8)), 0);
    tc_tensor *flat = tc_arange(6, 0, 1, TC_F32),
              *turned = tc_transpose(tc_ones(TC_DIMS(3, 2), TC_F32), 0, 1);
    tc_tensor *y = tc_reshape(flat, tc_shape(turned));
    cr_expect(tc_size(y, 0) == 2 && tc_size(y, 1) == 3 && tc_at(y, TC_INTS(1, 0)) == 3);
    cr_expect_null(tc_error());
    cr_expect_null(tc_zeros(tc_shape(tc_neg(NULL)), TC_F32));
    cr_expect(strstr(tc_error(), "tc_neg: operand 1 is NULL"), "%s", tc_error());
    tc_clear_error();
    cr_expect_null(tc_reshape(flat, tc_shape(NULL)));
    cr_expect(strstr(tc_error(), "tc_shape: operand 1 is NULL"), "%s", tc_error());
    tc_clear_error();
  }
}

Test(tensor, empty_tensors_are_fine) {
  TC_SCOPE {
    tc_tensor *x = tc_zeros(TC_DIMS(3, 0, 2), TC_F32);
    cr_expect(tc_numel(x) == 0 && tc_is_contiguous(x));
    cr_expect_eq(tc_numel(tc_exp(x)), 0);
    cr_expect_eq(tc_item(tc_sum(x, TC_ALL, false)), 0);
    cr_expect_eq(tc_item(tc_prod(x, TC_ALL, false)), 1);
    cr_expect_eq(tc_numel(tc_sum(x, TC_AXES(1), false)), 6);
    cr_expect(isnan(tc_item(tc_mean(x, TC_ALL, false))));
    cr_expect_eq(tc_numel(tc_matmul(x, tc_zeros(TC_DIMS(3, 2, 5), TC_F32))), 0);
    tc_tensor *z = tc_matmul(tc_zeros(TC_DIMS(2, 0), TC_F32), tc_zeros(TC_DIMS(0, 2), TC_F32));
    cr_expect(tc_numel(z) == 4 && tc_at(z, TC_INTS(1, 1)) == 0);
    cr_expect_null(tc_error());
    cr_expect_null(tc_max(x, TC_ALL, false));
    cr_expect_not_null(tc_error());
  }
}

static void count_release(void *count) { ++*(int *)count; }

Test(tensor, wrap_shares_and_releases_with_the_last_view) {
  int released = 0;
  float data[6];
  memcpy(data, six, sizeof data);
  tc_tensor *x = tc_wrap(TC_DIMS(2, 3), NULL, data, TC_F32, count_release, &released);
  tc_tensor *row = tc_select(x, 0, 1);
  data[3] = 7;
  cr_expect_eq(tc_at(row, TC_INTS(0)), 7);
  tc_free(x);
  cr_expect_eq(released, 0);
  tc_free(row);
  cr_expect_eq(released, 1);
}

Test(tensor, wrap_with_strides) {
  int64_t down[] = {1, 2}, back[] = {-1};
  tc_tensor *x = tc_wrap_const(TC_DIMS(2, 3), down, six, TC_F32);
  cr_expect(!tc_is_contiguous(x) && tc_at(x, TC_INTS(1, 0)) == 2 && tc_at(x, TC_INTS(0, 2)) == 5);
  tc_tensor *y = tc_wrap_const(TC_DIMS(6), back, six + 5, TC_F32);
  cr_expect_eq(tc_at(y, TC_INTS(0)), 6);
  cr_expect_eq(tc_at(y, TC_INTS(5)), 1);
  cr_expect_null(tc_data(y));
  cr_expect(strstr(tc_error(), "read-only"));
  tc_free(x);
  tc_free(y);
}

Test(tensor, bad_arguments_are_errors) {
  struct {
    tc_tensor *x;
    const char *says;
  } bad[] = {
      {tc_empty(TC_DIMS(1), (tc_dtype)77), "dtype"},
      {(tc_clear_error(), tc_empty(TC_DIMS(2, -1), TC_F32)), "negative"},
      {(tc_clear_error(), tc_empty(TC_DIMS(1ll << 40, 1ll << 40), TC_F64)), "memory can hold"},
  };
  cr_expect(strstr(tc_error(), bad[2].says));
  for (int i = 0; i < 3; i++) cr_expect_null(bad[i].x);
  tc_clear_error();
  cr_expect_null(tc_from(TC_DIMS(2), NULL, TC_F32));
  tc_clear_error();
  cr_expect_null(tc_wrap_const(TC_DIMS(1), NULL, (const char *)six + 1, TC_F32));
  cr_expect(strstr(tc_error(), "aligned"));
  tc_clear_error();
  cr_expect_null(tc_wrap_const(TC_DIMS(3), (int64_t[]){INT64_MAX / 2}, six, TC_F32));
  cr_expect(strstr(tc_error(), "address space"));
  tc_clear_error();
  cr_expect_null(tc_empty((tc_ints){.n = 9}, TC_F32));
}

Test(tensor, a_size_no_memory_has) {
  cr_expect_null(tc_empty(TC_DIMS(1ll << 45, 4), TC_F32));
  cr_expect(strstr(tc_error(), "out of memory"), "%s", tc_error());
}

Test(tensor, pack_and_extent_of_every_layout) {
  for (int l = 0; l < LAYOUT_COUNT; l++) {
    for (int d = 0; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
        tc_tensor *x = layout_make((tc_dtype)d, TC_DIMS(3, 4, 5), (layout)l, 1);
        char packed[60 * 8];
        tcrt_pack(x, packed);
        tc_tensor *y = tc_wrap_const(TC_DIMS(3, 4, 5), NULL, packed, (tc_dtype)d);
        cr_expect_eq(tc_max_abs_diff(x, y), 0);
        uintptr_t lo, hi;
        cr_expect(tcrt_extent(x, &lo, &hi) && lo <= (uintptr_t)x->data && hi >= (uintptr_t)x->data);
        tc_tensor *one = tc_select(tc_select(tc_select(x, 0, 2), 0, 3), 0, 4);
        cr_expect((uintptr_t)one->data >= lo &&
                  (uintptr_t)one->data + tc_dtype_size((tc_dtype)d) - 1 <= hi);
      }
  }
}

/* Which sign a NaN has depends on the machine and says nothing. */
Test(tensor, print_of_special_values, .init = cr_redirect_stdout) {
  char text[256];
  double v[] = {(double)NAN, copysign((double)NAN, -1), -(double)INFINITY, -0.0};
  TC_SCOPE { tc_print(tc_from(TC_DIMS(4), v, TC_F64)); }
  fflush(stdout);
  size_t n = fread(text, 1, sizeof text - 1, cr_get_redirected_stdout());
  text[n] = 0;
  cr_expect_str_eq(text, "f64[4]\n[ nan,  nan, -inf,   -0]\n");
}

Test(tensor, pack_of_large_transposed) {
  TC_SCOPE {
    tc_tensor *x = tc_rand(TC_DIMS(3, 130, 77), 5, TC_F32), *t = tc_transpose(x, 1, 2);
    tc_tensor *y = tc_clone(t);
    cr_expect(tc_is_contiguous(y) && tc_max_abs_diff(y, t) == 0);
    cr_expect_eq(tc_at(y, TC_INTS(2, 76, 129)), tc_at(x, TC_INTS(2, 129, 76)));
  }
}

Test(tensor, allclose_and_special_values) {
  double a[] = {1, (double)INFINITY, (double)NAN, 0},
         b[] = {1.0625, (double)INFINITY, (double)NAN, -0.0};
  TC_SCOPE {
    tc_tensor *x = tc_from(TC_DIMS(4), a, TC_F64), *y = tc_from(TC_DIMS(4), b, TC_F64);
    cr_expect_eq(tc_max_abs_diff(x, y), 0.0625);
    cr_expect(tc_allclose(x, y, 0, 0.0625) && !tc_allclose(x, y, 0, 0.06) &&
              tc_allclose(x, y, 0.0625, 0));
    cr_expect_not(tc_allclose(x, tc_zeros_like(x), 1, 1e9));
    cr_expect_not(tc_allclose(x, tc_zeros(TC_DIMS(2, 2), TC_F64), 1, 1));
    cr_expect(strstr(tc_error(), "different shapes"));
  }
}

Test(tensor, item_wants_one_element) {
  TC_SCOPE {
    cr_expect(isnan(tc_item(tc_ones(TC_DIMS(2), TC_F32))));
    cr_expect(strstr(tc_error(), "tc_item: f32[2]"), "%s", tc_error());
    tc_clear_error();
    cr_expect_eq(tc_item_int(tc_full(TC_DIMS(1, 1), -7, TC_I8)), -7);
    cr_expect_eq(tc_item_int(tc_full(TC_SCALAR_SHAPE, 1, TC_F32)), 0);
    cr_expect_not_null(tc_error());
  }
}

/* tcompile/nn/pool.h: largest elements and means of windows, with and without padding, gaps and incomplete windows. */
#define NN_POOL
#include "nn.h"

#define X1 "f32[N,C,L]"
#define X2 "f32[N,C,H,W]"
#define X3 "f32[N,C,D,H,W]"

static inline tc_tensor *repeated(const tc_tensor *x) {
  tc_ints dims = tc_shape(x), one = dims;
  one.v[one.n++] = 1;
  tc_ints two = one;
  two.v[two.n - 1] = 2;
  dims.v[dims.n - 1] *= 2;
  return tc_reshape(tc_expand(tc_reshape(x, one), two), dims);
}
static inline tc_tensor *index_of(const tc_tensor *x, tc_ints size, tc_ints stride, tc_ints padding, tc_ints dilation,
                                  bool ceil_mode) {
  tc_tensor *index, *y = tc_max_pool_with_index(x, size, stride, padding, dilation, ceil_mode, &index);
  return y ? tc_cast(index, tc_dtype_of(x)) : NULL;
}
static inline tc_tensor *unpooled(const tc_tensor *x) {
  tc_tensor *index, *y = tc_max_pool_with_index(x, TC_INTS(2), TC_EMPTY_LIST, TC_INTS(0), TC_INTS(1), false, &index);
  return tc_max_unpool(y, index, TC_INTS(tc_size(x, 2), tc_size(x, 3)));
}

#define ONE TC_INTS(1)
NN1(max_image, 1, X2, tc_max_pool(a, TC_INTS(3), TC_INTS(2), ONE, ONE, false))
NN1(max_no_index, 1, X2, tc_max_pool_with_index(a, TC_INTS(3), TC_INTS(2), ONE, ONE, false, NULL))
NN1(max_ties, 1, X2, tc_max_pool(repeated(a), TC_INTS(3), ONE, ONE, ONE, false))
NN1(max_line, 1, X1, tc_max_pool(a, TC_INTS(3), TC_INTS(2), ONE, TC_INTS(2), false))
NN1(max_ceil, 1, X2, tc_max_pool(a, TC_INTS(3, 2), TC_INTS(2, 3), TC_INTS(1, 0), TC_INTS(2, 1), true))
NN1(max_volume, 1, X3, tc_max_pool(a, TC_INTS(2), TC_EMPTY_LIST, TC_INTS(0), ONE, false))
NN1(max_index, 0, X2, index_of(a, TC_INTS(3, 2), TC_INTS(2, 2), ONE, TC_INTS(1, 2), true))
NN1(max_index_volume, 0, X3, index_of(repeated(a), TC_INTS(2), ONE, ONE, ONE, false))
NN1(unpool, 1, X2, unpooled(a))
NN1(avg_image, 1, X2, tc_avg_pool(a, TC_INTS(3), TC_INTS(2), ONE, false, true))
NN1(avg_inside, 1, X2, tc_avg_pool(a, TC_INTS(3, 4), TC_INTS(2, 3), TC_INTS(1, 2), false, false))
NN1(avg_ceil, 1, X2, tc_avg_pool(a, TC_INTS(3, 2), TC_INTS(2, 3), TC_INTS(1, 1), true, true))
NN1(avg_ceil_inside, 1, X1, tc_avg_pool(a, TC_INTS(3), TC_INTS(4), ONE, true, false))
NN1(avg_volume, 1, X3, tc_avg_pool(a, TC_INTS(2), ONE, ONE, false, true))
NN1(lp_image, 1, X2, tc_lp_pool(a, 2, TC_INTS(2, 3), TC_INTS(2), false))
NN1(lp_line, 1, X1, tc_lp_pool(a, 3, TC_INTS(3), TC_INTS(2), true))
NN1(adaptive_avg, 1, X2, tc_adaptive_avg_pool(a, TC_INTS(3, 4)))
NN1(adaptive_one, 1, X2, tc_adaptive_avg_pool(a, ONE))
NN1(adaptive_line, 1, X1, tc_adaptive_avg_pool(a, TC_INTS(5)))
NN1(adaptive_max, 1, X2, tc_adaptive_max_pool(a, TC_INTS(3, 4)))

static const nn_function functions[] = {
    NN_ROW(max_image),    NN_ROW(max_ties),     NN_ROW(max_line),         NN_ROW(max_ceil),        NN_ROW(max_volume),
    NN_ROW(max_index),    NN_ROW(unpool),       NN_ROW(max_index_volume), NN_ROW(avg_image),       NN_ROW(avg_inside),
    NN_ROW(avg_ceil),     NN_ROW(avg_volume),   NN_ROW(avg_ceil_inside),  NN_ROW(lp_image),        NN_ROW(lp_line),
    NN_ROW(adaptive_avg), NN_ROW(adaptive_one), NN_ROW(adaptive_line),    NN_ROW(adaptive_max),
    NN_ROW(max_no_index),
};

#define LEAST(name, shape)                                                                                  \
  TC_COMPILE_WITH("fullgraph") static bool name(NN_OPERAND(x, shape), tc_tensor **y, tc_tensor **index) {    \
    *y = tc_max_pool_with_index(x, TC_INTS(3), TC_INTS(2), ONE, TC_INTS(1), false, index);                   \
    return *y != NULL;                                                                                       \
  }
LEAST(least_f32, "f32[N,C,H,W]")
LEAST(least_i8, "i8[N,C,H,W]")
LEAST(least_i64, "i64[N,C,H,W]")

/* What equals the padding: the place is of an element, not of the padding in front. */
static void check_places(bool pool(const tc_tensor *, tc_tensor **, tc_tensor **), double least, tc_dtype dtype) {
  TC_SCOPE {
    tc_tensor *y, *index;
    CHECK(pool(tc_full(TC_DIMS(1, 2, 4, 5), least, dtype), &y, &index) && tc_dtype_of(y) == dtype);
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++) {
        CHECK(tc_at(y, TC_INTS(0, 1, i, j)) == least);
        CHECK(tc_at(index, TC_INTS(0, 1, i, j)) == (i ? 5 : 0) + (j ? 2 * j - 1 : 0));
      }
  }
}

static void check_least(void) {
  for (int on = 0; on < 2; on++) {
    tc_set_enabled(on);
    check_places(least_f32, -INFINITY, TC_F32);
    check_places(least_i8, -128, TC_I8);
    check_places(least_i64, (double)INT64_MIN, TC_I64);
  }
  tc_set_enabled(true);
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(1, 2, 5, 5), TC_F32), *row = tc_ones(TC_DIMS(5, 5), TC_F32);
    const tc_ints none = TC_INTS(0);
    nn_refused(tc_max_pool(row, ONE, ONE, none, ONE, false), "tc_max_pool: x has 2 axes");
    nn_refused(tc_avg_pool(x, TC_INTS(1, 2, 3), ONE, none, false, true), "one number, or 2");
    nn_refused(tc_max_pool(x, TC_INTS(3), TC_INTS(0), none, ONE, false), "stride 0");
    nn_refused(tc_max_pool(x, TC_INTS(3), ONE, TC_INTS(2), ONE, false), "padding of 2 is more than half of a window of 3");
    nn_refused(tc_max_pool(x, TC_INTS(6), ONE, none, ONE, false), "windows of 6 are larger");
    nn_refused(tc_lp_pool(x, 0, TC_INTS(2), ONE, false), "no norm of p = 0");
    nn_refused(tc_adaptive_avg_pool(x, TC_INTS(0)), "0 windows of 5 elements");
    nn_refused(tc_max_unpool(x, x, TC_INTS(5)), "there are 1 sizes");
    nn_refused(tc_max_unpool(x, tc_zeros(TC_DIMS(1, 2, 5, 1), TC_I64), TC_INTS(5, 5)), "axis 3 of index has 1 elements, of x 5");
    CHECK(!tc_max_pool(NULL, ONE, ONE, none, ONE, false));
    tc_clear_error();
  }
}

int main(void) {
  NN_CHECK(pool, functions);
  check_least();
  check_refused();
  return 0;
}

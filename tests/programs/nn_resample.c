/* tcompile/nn/resample.h, fold.h and shuffle.h: padding, other sizes, computed places, columns, transposed convolutions. */
#define NN_RESAMPLE
#include "nn.h"

#define X1 "f32[N,C,L]"
#define X2 "f32[N,C,H,W]"
#define X3 "f32[N,C,D,H,W]"
#define ONE TC_INTS(1)

static inline tc_tensor *both_grids(const tc_tensor *theta) {
  const tc_tensor *grid[] = {tc_affine_grid(theta, 3, 4, false), tc_affine_grid(theta, 3, 4, true)};
  return tc_concat(grid, 2, 0);
}

#define NONE TC_INTS(0)

NN1(reflect, 1, X2, tc_pad_reflect(a, TC_INTS(0, 0, 2, 1), TC_INTS(0, 0, 1, 2)))
NN1(replicate, 1, X2, tc_pad_replicate(a, TC_INTS(0, 0, 4, 1), TC_INTS(0, 0, 1, 0)))
NN1(circular, 1, X2, tc_pad_circular(a, TC_INTS(0, 0, 2, 1), TC_INTS(0, 0, 0, 2)))
NN1(nearest, 1, X2, tc_interpolate(a, TC_INTS(7, 3), TC_NEAREST, false))
NN1(nearest_exact, 1, X2, tc_interpolate(a, TC_INTS(8, 3), TC_NEAREST_EXACT, false))
NN1(nearest_up, 1, X2, tc_upsample(a, TC_INTS(2), TC_NEAREST, false))
NN1(linear, 1, X2, tc_interpolate(a, TC_INTS(8, 3), TC_LINEAR, false))
NN1(linear_corners, 1, X2, tc_interpolate(a, TC_INTS(8, 1), TC_LINEAR, true))
NN1(linear_up, 1, X2, tc_upsample(a, TC_INTS(2), TC_LINEAR, false))
NN1(linear_line, 1, X1, tc_interpolate(a, TC_INTS(9), TC_LINEAR, true))
NN1(linear_volume, 1, X3, tc_interpolate(a, TC_INTS(3, 5, 6), TC_LINEAR, false))
NN1(cubic, 1, X2, tc_interpolate(a, TC_INTS(8, 4), TC_CUBIC, false))
NN1(cubic_corners, 1, X2, tc_interpolate(a, TC_INTS(3, 9), TC_CUBIC, true))
NN1(area, 1, X2, tc_interpolate(a, TC_INTS(3, 2), TC_AREA, false))
NN2(grid, 2, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 0.7), TC_LINEAR, TC_OUTSIDE_ZERO, false))
NN2(grid_border, 2, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 0.7), TC_LINEAR, TC_OUTSIDE_BORDER, true))
NN2(grid_nearest, 1, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 0.7), TC_NEAREST, TC_OUTSIDE_ZERO, false))
NN2(grid_volume, 2, X3, "f32[N,O,P,Q,3]", tc_grid_sample(a, tc_mul_s(b, 0.7), TC_LINEAR, TC_OUTSIDE_ZERO, false))
NN2(grid_reflect, 2, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 1.7), TC_LINEAR, TC_OUTSIDE_REFLECT, false))
NN2(grid_reflect_corners, 2, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 2.3), TC_LINEAR, TC_OUTSIDE_REFLECT, true))
NN2(grid_cubic, 2, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 0.7), TC_CUBIC, TC_OUTSIDE_ZERO, false))
NN2(grid_cubic_border, 2, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 0.7), TC_CUBIC, TC_OUTSIDE_BORDER, true))
NN2(grid_cubic_reflect, 2, X2, "f32[N,P,Q,2]", tc_grid_sample(a, tc_mul_s(b, 1.7), TC_CUBIC, TC_OUTSIDE_REFLECT, false))
NN1(affine, 1, "f32[N,2,3]", both_grids(a))
NN1(shuffle, 1, X2, tc_pixel_shuffle(a, 2))
NN1(unshuffle, 1, X2, tc_pixel_unshuffle(a, 2))
NN1(channels, 1, X2, tc_channel_shuffle(a, 3))
NN1(columns, 1, X2, tc_im2col(a, TC_INTS(3, 2), TC_INTS(2, 1), TC_INTS(1, 0), TC_INTS(1, 2)))
NN1(image, 1, X1, tc_col2im(a, TC_INTS(7, 6), TC_INTS(3, 2), TC_INTS(2, 1), TC_INTS(1, 0), TC_INTS(1, 2)))
NN1(image_gaps, 1, X1, tc_col2im(a, TC_INTS(9, 8), TC_INTS(2), TC_INTS(3), NONE, ONE))
NN1(image_dilated, 1, X1, tc_col2im(a, TC_INTS(9, 8), TC_INTS(3), TC_INTS(2), ONE, TC_INTS(2)))
NN3(transposed, 3, X2, "f32[C,O,3,3]", "f32[O]", tc_conv_transpose(a, b, tc_neg(c), TC_INTS(2), ONE, ONE, ONE, 1))
NN2(transposed_one, 2, X2, "f32[C,O,3,2]", tc_conv_transpose(a, b, NULL, ONE, ONE, NONE, TC_INTS(1, 2), 1))
NN2(transposed_groups, 2, "f32[N,6,H,W]", "f32[6,O,2,3]",
    tc_conv_transpose(a, b, NULL, TC_INTS(3, 2), TC_INTS(0, 1), TC_INTS(2, 1), ONE, 3))
NN2(transposed_dilated, 2, X1, "f32[C,O,3]", tc_conv_transpose(a, b, NULL, TC_INTS(2), NONE, ONE, TC_INTS(3), 1))
NN2(transposed_volume, 2, X3, "f32[C,O,2,2,2]", tc_conv_transpose(a, b, NULL, TC_INTS(2), NONE, NONE, ONE, 1))

static const nn_function functions[] = {
    NN_ROW(reflect),        NN_ROW(replicate),      NN_ROW(circular),          NN_ROW(nearest),
    NN_ROW(nearest_exact),  NN_ROW(nearest_up),     NN_ROW(linear),            NN_ROW(linear_corners),
    NN_ROW(linear_up),      NN_ROW(linear_line),    NN_ROW(linear_volume),     NN_ROW(cubic),
    NN_ROW(cubic_corners),  NN_ROW(area),           NN_ROW(grid),              NN_ROW(grid_border),
    NN_ROW(grid_reflect),   NN_ROW(grid_cubic),     NN_ROW(grid_reflect_corners), NN_ROW(grid_cubic_border),
    NN_ROW(grid_cubic_reflect),
    NN_ROW(grid_nearest),   NN_ROW(grid_volume),    NN_ROW(shuffle),           NN_ROW(unshuffle),
    NN_ROW(channels),       NN_ROW(columns),        NN_ROW(image),             NN_ROW(image_gaps),
    NN_ROW(image_dilated),  NN_ROW(transposed),     NN_ROW(transposed_one),    NN_ROW(transposed_groups),
    NN_ROW(transposed_dilated), NN_ROW(transposed_volume), NN_ROW(affine),
};

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(1, 4, 5, 6), TC_F32), *w = tc_ones(TC_DIMS(4, 2, 3, 3), TC_F32), *line = tc_select(x, 0, 0);
    const tc_ints none = TC_INTS(0, 0, 0, 0), row = TC_INTS(0, 0, 0, 6);
    nn_refused(tc_pad_reflect(x, row, none), "tc_pad_reflect: padding of 6 beside 6 elements");
    nn_refused(tc_pad_circular(x, none, TC_INTS(0, 0, 6, 0)), "tc_pad_circular: padding of 6 beside 5");
    nn_refused(tc_pad_replicate(x, ONE, none), "1 and 4 numbers for 4 axes");
    nn_refused(tc_interpolate(x, TC_INTS(1, 2, 3), TC_LINEAR, false), "there are 3 sizes");
    nn_refused(tc_interpolate(x, TC_INTS(0, 2), TC_LINEAR, false), "0 elements of 5");
    nn_refused(tc_upsample(x, TC_INTS(0), TC_NEAREST, false), "by 0");
    nn_refused(tc_grid_sample(x, x, TC_LINEAR, TC_OUTSIDE_ZERO, false), "x has 4 axes, the grid 4");
    nn_refused(tc_grid_sample(x, tc_ones(TC_DIMS(1, 2, 2, 2), TC_F32), TC_AREA, TC_OUTSIDE_ZERO, false), "TC_CUBIC of two axes");
    nn_refused(tc_affine_grid(x, 2, 2, false), "theta has 4 axes");
    nn_refused(tc_pixel_shuffle(x, 3), "tc_pixel_shuffle: by 3");
    nn_refused(tc_pixel_unshuffle(x, 2), "2 does not divide size 5");
    nn_refused(tc_channel_shuffle(x, 3), "3 groups");
    nn_refused(tc_im2col(x, TC_INTS(1, 2, 3), ONE, NONE, ONE), "tc_im2col: x has 4 axes");
    nn_refused(tc_im2col(x, TC_INTS(9), ONE, NONE, ONE), "windows of 9 are larger");
    nn_refused(tc_col2im(line, TC_INTS(5, 5), TC_INTS(2), ONE, NONE, ONE), "5 rows of 6 columns for windows of 4 at 16 places");
    nn_refused(tc_conv_transpose(x, w, NULL, ONE, NONE, ONE, ONE, 1), "output padding 1");
    nn_refused(tc_conv_transpose(x, w, NULL, ONE, NONE, NONE, ONE, 3), "4 channels and weights for 4, in 3 groups");
    nn_refused(tc_conv_transpose(x, line, NULL, ONE, NONE, NONE, ONE, 1), "x has 4 axes, the weight 3");
    CHECK(!tc_interpolate(NULL, ONE, TC_LINEAR, false) && !tc_conv_transpose(NULL, w, NULL, ONE, NONE, NONE, ONE, 1));
    tc_clear_error();
  }
}

int main(void) {
  NN_CHECK(resample, functions);
  check_refused();
  return 0;
}

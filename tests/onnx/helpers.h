/* helpers.h - what cases of ONNX use that is no function of tcompile.h or tcompile/nn.h. */
#ifndef TC_TESTS_ONNX_HELPERS_H
#define TC_TESTS_ONNX_HELPERS_H

#include <math.h>
#include <tcompile/nn.h>

/* Indices into an axis of `size` elements, of which negative ones count from its end, as those of tcompile.h. */
static inline tc_tensor *onnx_index(const tc_tensor *index, int64_t size) {
  return tc_where(tc_lt_s(index, 0), tc_add_s(index, (double)size), index);
}

/* Places [R,bins*samples] along one axis of regions from `first` [R] to `last` [R]. */
static inline tc_tensor *onnx_roi_places(const tc_tensor *first, const tc_tensor *last,
                                         int64_t bins, int64_t samples, bool half_pixel) {
  const double all = (double)(bins * samples);
  const tc_tensor *extent = tc_sub(last, first);
  if (!half_pixel) extent = tc_maximum_s(extent, 1);
  const tc_tensor *part = tc_mul_s(tc_arange(bins * samples, 0.5, 1, TC_F32), 1 / all);
  return tc_add(tc_mul(tc_unsqueeze(extent, 1), part), tc_unsqueeze(first, 1));
}

/* A place in an axis of `size` elements as tc_grid_sample has it with align_corners. */
static inline tc_tensor *onnx_roi_grid(const tc_tensor *place, int64_t size) {
  return tc_sub_s(tc_mul_s(place, 2 / (double)(size - 1)), 1);
}

/* The regions rois[R,4] (x1, y1, x2, y2) of images x[N,C,H,W], of image batch[R] each: [R,C,height,width], means of samples x
 * samples places read bilinearly.  He et al., Mask R-CNN, 2017. */
static inline tc_tensor *onnx_roi_align(const tc_tensor *x, const tc_tensor *rois,
                                        const tc_tensor *batch, int64_t height, int64_t width,
                                        int64_t samples, double scale, bool half_pixel) {
  const tc_tensor *edges = tc_sub_s(tc_mul_s(rois, scale), half_pixel ? 0.5 : 0), *edge[4];
  for (int i = 0; i < 4; i++) edge[i] = tc_select(edges, 1, i);
  const tc_tensor *across = onnx_roi_places(edge[0], edge[2], width, samples, half_pixel);
  const tc_tensor *down = onnx_roi_places(edge[1], edge[3], height, samples, half_pixel);
  const int64_t r = tc_size(rois, 0), h = height * samples, w = width * samples;
  const tc_tensor *of_rows[] = {
      tc_expand(tc_unsqueeze(onnx_roi_grid(across, tc_size(x, 3)), 1), TC_DIMS(r, h, w)),
      tc_expand(tc_unsqueeze(onnx_roi_grid(down, tc_size(x, 2)), 2), TC_DIMS(r, h, w))};
  const tc_tensor *samples_of = tc_grid_sample(
      tc_index_select(x, 0, batch), tc_stack(of_rows, 2, -1), TC_LINEAR, TC_OUTSIDE_BORDER, true);
  return tc_avg_pool(samples_of, TC_INTS(samples), TC_EMPTY_LIST, TC_INTS(0), false, true);
}

#endif

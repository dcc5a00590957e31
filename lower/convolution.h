/* convolution.h - products of windows of an image, on their way to products of images whose
 * channels are neighbours (convolution.c). */
#ifndef TC_LOWER_CONVOLUTION_H
#define TC_LOWER_CONVOLUTION_H

#include "graph/decomp/decomp.h"
#include "graph/passes/rewrite.h"
#include "lower/lowering.h"

enum { CV_SPACE = 3 /* most spatial axes */ };

/* The windows of an image [N, C, D1 .. Dd], and its channels in groups. */
typedef struct cv_conv {
  tc_ref image;                             /* of the old graph, without zeros around it */
  int space;                                /* d */
  bool grouped;                             /* [N, G, C / G, ...] is what windows are of */
  tc_dim groups, channels, points;          /* channels: of a group */
  tc_dim more;                              /* channels of zeros that operands are given */
  tc_dim before[CV_SPACE], after[CV_SPACE]; /* zeros around the image */
  bool windows[CV_SPACE]; /* there is an axis of them; else they have one element */
  tc_dim size[CV_SPACE], step[CV_SPACE], dilation[CV_SPACE], out[CV_SPACE];
} cv_conv;

/* convolution_find.c: is old node r a matrix of windows, [N, (G), (C, windows), points]?  Where
 * there is an unfold, or the image has its channels last already. */
bool cv_find_windows(const tc_rewrite *w, tc_ref r, cv_conv *c);

/* convolution_build.c: with the channels last. */

/* [N, D1 .., C] of which r is the view [N, C, D1 ..]; 0: it is none. */
tc_ref cv_shown_last(tc_graph *g, tc_ref r);
tc_ref cv_as_last(tc_graph *g, tc_ref r, tc_loc loc);
tc_ref cv_as_first(tc_graph *g, tc_ref r, tc_loc loc);
/* x by that order of its axes, in that shape; what undoes what x is made by gives the array that it
 * was made of. */
tc_ref cv_permuted_by(const dc *c, tc_ref x, int rank, const int *order);
tc_ref cv_reshaped_to(const dc *c, tc_ref x, int rank, const tc_dim *dims);
/* of zeros, for v->more; x: the image, in the graph g */
tc_dim cv_more_channels(tc_graph *g, const cv_conv *v, tc_ref x);
/* Windows of x[N, D1 .., C] as [G, (n, p), (windows, c)]; w[G, O / G, c, windows ..] as [G,
 * (windows, c), O / G]. */
tc_ref cv_left_operand(const dc *c, const cv_conv *v, tc_ref x);
tc_ref cv_right_operand(const dc *c, const cv_conv *v, tc_ref w);

/* convolution_weights.c: a node that is the gradient of a convolution by its weights; 0: it is
 * none. */
tc_ref cv_gradient(const tc_rewrite *w, const tc_node *n);

#endif

/* decomp.h - the vocabulary that decompositions are written in.
 *
 * A decomposition computes in one dtype, `dtype`: that of its result, with f16 and bf16 widened to
 * f32.  Operands are converted on the way in (dc_in), the result is rounded once on the way out
 * (dc_out).  Every function here gives ref 0 when an operand is ref 0, so a rule is a chain without
 * checks, and what failed has been reported where it failed. */
#ifndef TC_DECOMP_H
#define TC_DECOMP_H

#include "graph/graph.h"

typedef struct dc {
  tc_graph *g;
  tc_loc loc;
  tc_dtype dtype; /* what the rule computes in */
  bool weak;      /* the result is a C scalar, so constants are */
} dc;

/* The reduced axes of a node, normalised: an empty attribute is every axis. */
typedef struct dc_axes {
  int n;
  int at[TC_MAX_RANK];
} dc_axes;

dc dc_begin(tc_graph *g, const tc_node *n);
/* Like dc_begin for rules that choose one of their operands, which rounds nothing: they stay in the
 * dtype of the result, since a value that kernels keep in f32 must not be rounded half of the time
 * (clamp(x) - x is 0 where x is between the bounds). */
dc dc_begin_choice(tc_graph *g, const tc_node *n);
/* Like dc_begin for reductions: integers and bool add up in f64, so that sums stay exact. */
dc dc_begin_reduce(tc_graph *g, const tc_node *n, tc_ref x);
tc_ref dc_in(const dc *c, tc_ref x);                    /* x in the compute dtype */
tc_ref dc_out(const dc *c, const tc_node *n, tc_ref y); /* y in the dtype of n */

tc_ref dc_const(const dc *c, double v);
tc_ref dc_count(const dc *c, tc_dim d); /* a size as a number of the compute dtype */
tc_ref dc1(const dc *c, tc_op op, tc_ref a);
tc_ref dc2(const dc *c, tc_op op, tc_ref a, tc_ref b);
tc_ref dc3(const dc *c, tc_op op, tc_ref x, tc_ref y, tc_ref z);

tc_ref dc_reduce(const dc *c, tc_op op, tc_ref a, const dc_axes *axes, bool keep);
tc_ref dc_reshape(const dc *c, tc_ref a, int rank, const tc_dim *dims);
tc_ref dc_reshape_to(const dc *c, tc_ref a, const tc_node *n); /* the shape of n */
tc_ref dc_slice(const dc *c, tc_ref a, int axis, tc_dim start, tc_dim stop);
tc_ref dc_axis_op(const dc *c, tc_op op, int nin, const tc_ref *in,
                  int axis); /* ops with one axis:i */

int dc_axis(const tc_node *n, const char *name, int rank); /* attribute as an axis in [0, rank) */
dc_axes dc_reduced(const tc_node *n, int rank);
dc_axes dc_last(int naxes, int rank); /* the last naxes axes */
tc_dim dc_numel(const dc *c, tc_ref a, const dc_axes *axes);
bool dc_empty(const dc *c, tc_ref a, const dc_axes *axes); /* known to have no element along axes */

/* Shared by several rules; x is in the compute dtype. */
tc_ref dc_mean(const dc *c, tc_ref x, const dc_axes *axes, bool keep);
/* sum (x - mean)^2 / max(n - correction, 0): two passes, no cancellation. */
tc_ref dc_variance(const dc *c, tc_ref x, const dc_axes *axes, tc_dim correction, bool keep);

#endif

/* loss.c - losses with reduction none, mean or sum. */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

enum { LOSS_NONE, LOSS_MEAN, LOSS_SUM }; /* values of the attribute: tc_reduction */

/* Applies the node's reduction to one loss per element, already in the compute dtype. */
static tc_ref reduced(const dc *c, const tc_node *n, tc_ref loss) {
  int64_t how = tc_dim_value(tc_attr_int(n, "reduction"));
  if (how == LOSS_NONE || !loss.id) return dc_out(c, n, loss);
  int rank = tc_graph_type(c->g, loss)->rank;
  dc_axes all = dc_last(rank, rank);
  tc_ref y =
      how == LOSS_MEAN ? dc_mean(c, loss, &all, false) : dc_reduce(c, OP_SUM, loss, &all, false);
  return dc_out(c, n, y);
}

/* Classes are axis 1, or the only axis of one sample. */
static int class_axis(const dc *c, tc_ref x) { return tc_graph_type(c->g, x)->rank > 1; }

/* x[n, target[n]] as [N,1]: the values are picked before they are widened. */
static tc_ref picked(const dc *c, tc_ref x, tc_ref target) {
  int axis = class_axis(c, x);
  tc_type t = *tc_graph_type(c->g, x);
  t.dim[axis] = tc_dim_const(1);
  tc_ref in[2] = {x, dc_reshape(c, target, t.rank, t.dim)};
  return dc_in(c, dc_axis_op(c, OP_GATHER, 2, in, axis));
}

/* [N,1] to the shape of the targets */
static tc_ref per_sample(const dc *c, tc_ref loss, tc_ref target) {
  const tc_type *t = tc_graph_type(c->g, target);
  return dc_reshape(c, loss, t->rank, t->dim);
}

/* -log softmax(x)[target] = log sum exp(x - m) - (x[target] - m), m = max x: the row of log
 * probabilities is never formed. */
tc_ref tc_decomp_cross_entropy(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  dc_axes axis = {1, {class_axis(&c, in[0])}};
  tc_ref x = dc_in(&c, in[0]);
  tc_ref m = dc_reduce(&c, OP_AMAX, x, &axis, true);
  tc_ref sum = dc_reduce(&c, OP_SUM, dc1(&c, OP_EXP, dc2(&c, OP_SUB, x, m)), &axis, true);
  tc_ref hit = dc2(&c, OP_SUB, picked(&c, in[0], in[1]), m);
  tc_ref loss = dc2(&c, OP_SUB, dc1(&c, OP_LOG, sum), hit);
  return reduced(&c, n, per_sample(&c, loss, in[1]));
}

tc_ref tc_decomp_nll(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref loss = dc1(&c, OP_NEG, picked(&c, in[0], in[1]));
  return reduced(&c, n, per_sample(&c, loss, in[1]));
}

tc_ref tc_decomp_mse(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref d = dc2(&c, OP_SUB, dc_in(&c, in[0]), dc_in(&c, in[1]));
  return reduced(&c, n, dc1(&c, OP_SQUARE, d));
}

/* |x| (x > 0 ? 1 - t : t) + log1p(exp(-|x|)): no logarithm of a probability that rounded to 0, and
 * 0 where an infinite x is right */
tc_ref tc_decomp_bce_logits(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]), t = dc_in(&c, in[1]);
  tc_ref zero = dc_const(&c, 0), size = dc1(&c, OP_ABS, x);
  tc_ref off = dc3(&c, OP_WHERE, dc2(&c, OP_GT, x, zero), dc2(&c, OP_SUB, dc_const(&c, 1), t), t);
  tc_ref linear = dc3(&c, OP_WHERE, dc2(&c, OP_EQ, off, zero), zero, dc2(&c, OP_MUL, size, off));
  tc_ref decay = dc1(&c, OP_EXP, dc1(&c, OP_NEG, size));
  return reduced(&c, n, dc2(&c, OP_ADD, linear, dc1(&c, OP_LOG1P, decay)));
}

/* plan.h - one backward pass: which part of the tape it is about, cut into subgraphs. */
#ifndef TC_TAPE_PLAN_H
#define TC_TAPE_PLAN_H

#include "graph/support/table.h"
#include "runtime/libtcrt/src/autograd/tape.h"

/* A value whose gradient is wanted, or passed through on the way from one subgraph to another. */
typedef struct tape_grad {
  tape_value *value;
  bool wanted, seen; /* by the program; among what y depends on */
  tc_tensor *sum;    /* of what arrived so far; NULL: nothing */
} tape_grad;

typedef struct tape_plan {
  const char *name;     /* of the public function */
  bool all;             /* whatever wants a gradient gets it: tc_backward */
  TC_VEC(tape_op *) op; /* what leads from wanted values to y; held */
  tc_table op_index;    /* of op */
  TC_VEC(tape_grad) grad;
  tc_table grad_index;  /* of grad */
  const tape_op *freed; /* what y depends on, but an earlier pass dropped; NULL: none */
} tape_plan;

/* plan->grad holds what the program names.  Fills the rest for the gradients of y.  Ops are in the
 * order of their subgraphs, and operands first inside of one.  false with an error; tc_plan_free in
 * any case. */
bool tc_plan_make(tape_plan *p, tape_value *y);
void tc_plan_free(tape_plan *p);

/* The entry of v, new if need be; entries move.  NULL with an error. */
tape_grad *tc_plan_grad(tape_plan *p, tape_value *v);
tape_grad *tc_plan_find(const tape_plan *p, const tape_value *v); /* NULL: there is none */
/* Adds to the gradient of v; takes g.  false with an error. */
bool tc_plan_add(tape_plan *p, tape_value *v, tc_tensor *g);
/* Where in plan->op; UINT32_MAX: not. */
uint32_t tc_plan_position(const tape_plan *p, const tape_op *op);

/* A subgraph: ops on one device with no move or compiled function between them, which become one
 * graph; or one of those. */
typedef struct tape_subgraph {
  uint32_t first, n;
} tape_subgraph;
tape_subgraph tc_plan_subgraph(const tape_plan *p, uint32_t first);

/* Gradients travel through the subgraph: from those of its results to those of what it reads. */
bool tc_subgraph_run(tape_plan *p, tape_subgraph at);

#endif

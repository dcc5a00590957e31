/* subgraph.h - a subgraph of the tape as a tc_graph, and its evaluation. */
#ifndef TC_TAPE_SUBGRAPH_H
#define TC_TAPE_SUBGRAPH_H

#include "runtime/libtcrt/src/autograd/plan.h"

/* What a node of the graph is known to be. */
typedef struct tape_known {
  const tc_tensor *at; /* NULL: it is not known; without data: neither */
  uint32_t version;    /* of the memory, for which that holds */
} tape_known;

typedef struct tape_graph {
  tape_plan *plan;
  tape_subgraph of;
  tc_graph *g;
  tc_diag diag;
  bool told;                /* an error has been reported */
  uint32_t forward;         /* so many nodes are what the tape has, those behind are gradients */
  TC_VEC(tape_known) known; /* by node; those behind the end are not known */
} tape_graph;

/* The tensors of nodes ref[0 .. n), each of its own, in the current scope, as operations on what is
 * known; they are recorded unless tc_tape_off.  false with an error, and no tensors. */
bool tc_subgraph_evaluate(const tape_graph *i, uint32_t n, const tc_ref *ref, tc_tensor **out);

/* Gradients of a compiled function: from those of its results to those of its operands
 * (compiled.c). */
bool tc_compiled_run(tape_plan *p, const tape_op *op);

/* The gradient of op needs x, which was written since it was saved: false, with an error. */
bool tc_subgraph_written(const tape_plan *p, const tape_op *op, const tc_tensor *x);

/* The op that a node was made for, or whose gradient it is part of; NULL: of none. */
const tape_op *tc_subgraph_op(const tape_graph *i, tc_loc loc);

/* "tc_mul (model.c:12)" */
typedef struct tape_op_text {
  char text[160];
} tape_op_text;
tape_op_text tc_describe_op(const tape_op *op);

#endif

/* batching.h - from a function of one example to that of a batch: nodes that compute it for all
 * examples at once are appended to the same graph.
 *
 * Works on graphs as captured, before decomposition and behind derivatives, so that whole ops have
 * rules of their own (rules.def).  What is appended is made of ops of the table, and may be batched
 * or differentiated again.
 *
 * Convention: the value of all examples has the axis of the batch in front of the axes of one
 * example. */
#ifndef TC_BATCHING_H
#define TC_BATCHING_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_batching {
  tc_dim size; /* examples */
  uint32_t nmapped;
  /* [nmapped] values that stand for an operand of one example: of no other use in the graph */
  const tc_ref *one;
  /* [nmapped] the same operands of all examples: shape [size, shape of one], dtype of one */
  const tc_ref *all;
  uint32_t noutput;
  const tc_ref *output; /* [noutput] of one example; may repeat */
  tc_loc loc;           /* where it is asked for */
} tc_batching;

/* A value that no other node of the graph is, to stand for an operand of one example. */
tc_ref tc_batch_example(tc_graph *g, const tc_type *type, tc_loc loc);

/* out[k] = output[k] of all examples, [size, shape of output[k]]; a value that depends on no
 * operand of an example is the same for all.  batched, if not NULL, receives for each id up to the
 * graph's count before the call the value of all examples; ref 0: it is the same for all, or no
 * output depends on it.
 *
 * false after reporting (TC_MISSED), out[] is then undefined: some output depends on an op that has
 * no rule, at its place and with its name; more than TC_MAX_RANK axes.  Takes time linear in the
 * nodes. */
bool tc_batch(tc_graph *g, const tc_batching *b, tc_ref *out, tc_ref *batched);

/* May operand i of the op be of one example?  Why not, in words for a message (NULL: it may). */
const char *tc_batch_refusal(tc_op op, int operand);

#ifdef __cplusplus
}
#endif
#endif

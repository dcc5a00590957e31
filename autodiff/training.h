/* training.h - a graph as two calls, for programs that differentiate its results later: a forward
 * part that leaves tensors for a backward part (partition.h). */
#ifndef TC_TRAINING_H
#define TC_TRAINING_H

#include "autodiff/partition.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_training {
  tc_graph *joint; /* optimised: what part.saved and part.repeated are values of */
  tc_partition part;
  tc_graph *forward;  /* arguments of the graph; its results, then part.saved */
  tc_graph *backward; /* arguments; cotangents; results and saved values of `forward`.  Gradients */
  uint32_t nin, nout; /* of the graph */
  bool *gradient;     /* [nin] has a gradient; those of `backward` are in their order */
  bool *cotangent;    /* [nout] moves with some operand; likewise */
  uint32_t words;
  uint64_t *depends; /* [nout * words] bit i of a result: it moves with operand i */
} tc_training;

/* Of a captured graph, which stays.  What a tape would not record (integers, DETACH, functions of
 * the program's own) counts as constant, and so do operands that are written.  max_saved: see
 * partition.h; 0: no limit.  false: there are no such parts, why: because of what (""; no result
 * moves with an operand).  Reports nothing. */
bool tc_training_make(tc_graph *g, int64_t max_saved, tc_training *t, tc_buf *why);
/* All but forward and backward, if these are taken over (NULL). */
void tc_training_free(tc_training *t);

#ifdef __cplusplus
}
#endif
#endif

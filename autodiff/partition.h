/* partition.h - which values a backward part finds saved, and which it computes again.
 *
 * The joint graph has the results of the forward part as its first outputs, those of the backward
 * part behind them, and among its inputs some that only the backward part has (cotangents).  What
 * the backward part needs of values that do not depend on those is cut so that the cost is least:
 *
 *   saved            written and read: 2 bytes a byte; an input, a result of the forward part: read only
 *   computed again   operations, and bytes of reductions' and scatters' operands, which are another pass
 *   never again      contractions (unless asked), functions of the program's own; but scores of attention
 *                    cost nothing: the kernels that read its weights make them again (scores.h)
 *
 * Where a unit of work is bytes that move, an operation costs bytes_per_flop.  The least cut of the
 * graph in which each value is two vertices is exact for that cost (flow.h). */
#ifndef TC_PARTITION_H
#define TC_PARTITION_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_partition_options {
  uint32_t nforward; /* so many outputs are the forward part's */
  const bool *late;  /* [inputs]: only the backward part has it */
  /* [symbols] that costs are computed for; NULL: 128, or what its range has nearest */
  const int64_t *sizes;
  double bytes_per_flop; /* 0: 1/16 */
  bool repeat_contractions;
  int64_t max_saved; /* bytes, of what is saved beside inputs and results; 0: no limit */
  /* the forward part has its inputs and scalars, which the joint graph begins with; NULL: all */
  tc_graph *arguments;
} tc_partition_options;

typedef struct tc_partition {
  uint32_t nsaved;
  /* ascending; inputs and results of the forward part that are needed are not listed */
  tc_ref *saved;
  uint32_t nrepeated;
  tc_ref *repeated; /* values computed in both parts, ascending */
  int64_t bytes;    /* of saved[], for the sizes above */
  bool within;      /* bytes <= max_saved, or there is no limit */
} tc_partition;

/* Of a graph of primitives (decomposed).  Returns false after reporting (out of memory; an output
 * of the forward part, an effect or a write needs what only the backward part has). */
bool tc_partition_choose(tc_graph *joint, const tc_partition_options *o, tc_partition *out);
void tc_partition_free(tc_partition *p);
/* For people: "saved 2 tensors, 4096 bytes; 3 values computed again", then a line for each
 * tensor. */
void tc_partition_print(tc_graph *joint, const tc_partition *p, tc_buf *out);

/* The two parts as graphs of their own, which share the sizes with the joint graph.
 *   forward    all inputs, or those of `arguments`; results: the forward part's, then saved[]; all effects and writes
 *   backward   all inputs, then one for each result of `forward`, in order; results: the backward part's
 * false after reporting; then there is no part. */
bool tc_partition_split(tc_graph *joint, const tc_partition_options *o, const tc_partition *p,
                        tc_graph **forward, tc_graph **backward);

#ifdef __cplusplus
}
#endif
#endif

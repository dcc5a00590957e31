/* scores.h - products that make the scores of a softmax whose weights multiply another product: attention.
 *
 * Making scores again where weights are read is cheaper than the array of them, which has an element for each query and key
 * (Dao et al., FlashAttention, 2022): lowering makes a chain of such products (lower/chain.c). */
#ifndef TC_SCORES_H
#define TC_SCORES_H

#include "graph/graph.h"

/* mark[id] |= bit for each matmul that makes such scores, of a graph of primitives; softmax and product are among the values
 * that have `part` in mark[].  false: out of memory. */
bool tc_mark_scores(const tc_graph *g, uint8_t *mark, uint8_t part, uint8_t bit);

#endif

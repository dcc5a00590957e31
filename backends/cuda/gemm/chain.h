/* chain.h - what the two files of a chain share: chain.c has tiles and the loop over them, chain_scores.c what becomes of
 * a tile of scores. */
#ifndef TC_CUDA_CHAIN_H
#define TC_CUDA_CHAIN_H

#include "backends/cuda/gemm/matmul.h"

/* The reduction of rows; NULL: there is none. */
static inline const tc_action *tc_cuda_chain_rows(const tc_cuda_product *x) {
  return x->mm->inner.rows.naction ? x->mm->inner.rows.action : NULL;
}

/* Values of a key that are made of arrays, and of f32: a thread needs those of all keys of its tiles, so the block has them in
 * shared memory.  How many they are; v: NULL, or gets them. */
enum { TC_CUDA_CHAIN_COLUMNS = 8 };
int tc_cuda_chain_columns(const tc_cuda_product *x, tc_val *v);

/* C: score[] (and other[]), the inner products of keys key0 to key1, becomes A of the outer product; where rows are
 * reduced: most[] and total[] have these keys, too, and sums of those before want factor[], if any has `changed`. */
void tc_cuda_chain_put_scores(tc_cuda_product *x, const tc_mm_keys *keys);

#endif

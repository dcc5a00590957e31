/* skinny.h - products of few columns, or of few rows, beside functions of tiles, which would be empty for the most part: what reads
 * the other operand once is bound by memory. */
#ifndef TC_CUDA_SKINNY_H
#define TC_CUDA_SKINNY_H

#include "backends/cuda/gemm/matmul.h"

/* The body of the functions, if there may be so few columns or rows and the other operand lies along k; else nothing. */
void tc_cuda_skinny(tc_cuda_product *x, const tc_cuda_operand *o);
/* The functions, from `first` on, if `body` is not empty; the number behind them. */
uint32_t tc_cuda_put_skinny(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b, const char *body, uint32_t first,
                            tc_buf *out);
/* C, where the schedule says `skinny`: are the functions for m, n and k of so many batches?  Expressions of int64_t. */
void tc_cuda_put_is_skinny(const tc_cuda_product *x, const char *m, const char *n, const char *k,
                           const char *batches, tc_buf *out);
/* ... of the launcher: `outer`, are rows of B and of the results aligned, as functions of the shortest k have them? */
void tc_cuda_put_outer_aligned(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out);
/* ... and behind it, their launch, from m, n, batches and vectorized. */
void tc_cuda_put_skinny_launch(const tc_cuda_product *x, const tc_cuda_operand *o, const char *all, uint32_t first, tc_buf *out);

#endif

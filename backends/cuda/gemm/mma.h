/* mma.h - products of halves on tensor cores: mma.c is their text and their launcher, mma_producers.c the warps that bring
 * tiles to others, mma_epilogue.c what becomes of the sums. */
#ifndef TC_CUDA_MMA_H
#define TC_CUDA_MMA_H

#include "backends/cuda/gemm/matmul.h"

/* ---- mma_producers.c ------------------------------------------------------------------------- */

/* The tile of operand 'a' or 'b' from k0 on. */
tc_cuda_fill tc_cuda_mma_fill(const tc_cuda_product *x, const tc_cuda_operand *o, char name);
/* What follows is nothing where no function has producers. */
/* Have functions producers, where there may be any?  They bring arrays as they are. */
bool tc_cuda_mma_has_producers(const tc_cuda_product *x, const tc_cuda_operand *o);
/* In front of the loop over tiles. */
void tc_cuda_mma_put_mbarriers(tc_cuda_product *x, const tc_cuda_operand *o);
/* What producers do with the tile at hand; opens and closes what the other warps do. */
void tc_cuda_mma_put_producers(tc_cuda_product *x, const tc_cuda_operand *o);
void tc_cuda_mma_close_producers(tc_cuda_product *x, const tc_cuda_operand *o);
/* The sums of tiles that producers bring. */
void tc_cuda_mma_put_consumers(tc_cuda_product *x);

/* ---- mma_epilogue.c -------------------------------------------------------------------------- */

/* May rows of results begin anywhere?  Then there are functions which store what lies between boundaries of 16 bytes
 * together all the same, c_lanes elements. */
bool tc_cuda_mma_shifts(const tc_cuda_product *x, const tc_cuda_operand *o);
/* C: values and stores of the block's sums, `square`. */
void tc_cuda_mma_put_epilogue(tc_cuda_product *x, const tc_cuda_operand *o);

#endif

/* k_parts.h - products on tensor cores of few tiles and a long k: blocks have parts of k of their own, and one more function
 * adds what they leave (split-K; Osama et al., Stream-K, 2023, compare it with others).
 *
 * Scratch memory: for each part and each batch, sums of all tiles, in rows. */
#ifndef TC_CUDA_K_PARTS_H
#define TC_CUDA_K_PARTS_H

#include "backends/cuda/gemm/matmul.h"

/* What follows is nothing where k is not shared out (tc_cuda_has_k_parts). */
/* In the loop over tiles, of which one is at hand and part `share`: k_first, and k_end, of the part. */
void tc_cuda_put_part_of_k(tc_cuda_product *x);
/* Behind the sums, rows of `LONG` in shared memory: they are left in k_sums, or, where there is one part, what `put` prints. */
void tc_cuda_put_leave_sums(tc_cuda_product *x, const tc_cuda_operand *o, void (*put)(tc_cuda_product *x, const tc_cuda_operand *o));
/* Of the launcher, behind its choice of `at` of tiles that take `time`, ns: k_parts, for which the smallest tile is chosen, and
 * k_sums. */
void tc_cuda_put_k_parts(const tc_cuda_product *x, int smallest, tc_buf *out);
/* The body of the function that adds the parts; the functions, from number `first` on, of wide results and of any; their launch,
 * where the product's own has left `status`, and results are `wide` (C). */
void tc_cuda_gather(tc_cuda_product *x, const tc_cuda_operand *o);
uint32_t tc_cuda_put_gather(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b, const char *body,
                            uint32_t first, tc_buf *out);
void tc_cuda_put_gather_launch(const tc_cuda_operand *o, uint32_t first, const char *wide, tc_buf *out);

#endif

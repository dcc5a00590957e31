/* mma.h - products of halves, and of f32, on tensor cores: mma.c is their text and their launcher, mma_producers.c the warps that bring
 * tiles to others, mma_epilogue.c what becomes of the sums. */
#ifndef TC_CUDA_MMA_H
#define TC_CUDA_MMA_H

#include "backends/cuda/gemm/matmul.h"

/* How many of k a tile has: rows of 128 bytes. */
static inline int tc_cuda_mma_deep(const tc_cuda_product *x) { return 128 / (int)tc_dtype_bytes(x->mm->operand); }
/* Elements between rows of k, of f32 (tc_place_f32). */
static inline int tc_cuda_mma_pad(const tc_cuda_product *x) { return x->mm->operand == TC_F32 ? 8 : 0; }
/* The body of a function template, of which M, N, THREADS, PRODUCERS, BLOCKS, SLOTS, a_lanes, b_lanes, c_lanes, any_rows and tc_int
 * are parameters. */
extern const char tc_cuda_mma_parameters[];
void tc_cuda_mma_body(tc_cuda_product *x, const tc_cuda_operand *o);

/* ---- mma_f32.c: beside what every thread sums by itself (simt.c) ------------------------------ */

bool tc_cuda_has_mma_f32(const tc_cuda_product *x); /* are there such functions of the product? */
void tc_cuda_mma_f32_body(tc_cuda_product *x, const tc_cuda_operand *o);
/* The functions, from number `first` on.  The next number. */
uint32_t tc_cuda_put_mma_f32(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b, uint32_t first, tc_buf *out);
/* Of the launcher, nothing where there are none.  Their tiles, `wide`: */
void tc_cuda_put_mma_f32_tiles(const tc_cuda_product *x, tc_buf *out);
/* ... " || " and whether they take less time than the library would for `mm`; */
void tc_cuda_put_beats_library(const tc_cuda_product *x, tc_buf *out);
/* ... and where there is work for all multiprocessors, their `function`, `high`, `broad`, `block` and `shared` instead of those at
 * hand. */
void tc_cuda_put_mma_f32_launch(const tc_cuda_product *x, uint32_t first, tc_buf *out);

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

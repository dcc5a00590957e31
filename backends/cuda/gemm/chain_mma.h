/* chain_mma.h - chains on tensor cores: chain_mma.c is their text and their launcher, chain_blocks.c sizes
 * of blocks, chain_producers.c what brings tiles. */
#ifndef TC_CUDA_CHAIN_MMA_H
#define TC_CUDA_CHAIN_MMA_H

#include "backends/cuda/gemm/chain.h"

/* Keys of a tile, elements of a panel, rows of a block, and what aligns its first place. */
enum {
  TC_CUDA_KEYS = 64,
  TC_CUDA_PANEL = 64,
  TC_CUDA_FEW_ROWS = 64,
  TC_CUDA_MANY_ROWS = 128,
  TC_CUDA_UNIT = 1024
};
enum { TC_CUDA_FEW_REGISTERS = 40 /* of a thread that brings tiles */ };
/* Bytes of a block of Hopper's, but for mbarriers; and of all that have tensor cores for halves. */
enum { TC_CUDA_MOST_SHARED = 227 * 1024 - 128, TC_CUDA_LEAST_SHARED = 99 * 1024 };

/* ---- chain_blocks.c -------------------------------------------------------------------------- */

/* Widths of a function's blocks, in whole panels; e: 0 where there is no second inner product; part: columns
 * of a group of four warps. */
typedef struct tc_cuda_block {
  int d, e, n, part;
} tc_cuda_block;

/* The i-th, from the narrowest on; false: there are no more. */
bool tc_cuda_block_widths(const tc_cuda_product *x, int i, tc_cuda_block *w);
/* Wide products are bound by reading B, which blocks of 64 rows do twice as often. */
bool tc_cuda_block_is_narrow(const tc_cuda_block *w);
/* Of a block of so many rows: its threads, without producers; how many a multiprocessor holds; keys of a tile;
 * places for tiles of so many keys; and bytes of shared memory. */
int tc_cuda_block_threads(const tc_cuda_block *w, int rows);
int tc_cuda_blocks_held(const tc_cuda_product *x, const tc_cuda_block *w, int rows);
int tc_cuda_block_keys(const tc_cuda_product *x, const tc_cuda_block *w, int rows);
int tc_cuda_block_slots(const tc_cuda_product *x, const tc_cuda_block *w, int rows, int keys);
int tc_cuda_block_shared(const tc_cuda_product *x, const tc_cuda_block *w, int rows);
/* Are there blocks of 128 rows? */
bool tc_cuda_block_has_many(const tc_cuda_product *x, const tc_cuda_block *w);

/* The operands whose tiles of keys are in shared memory. */
typedef struct tc_cuda_chain_tiles {
  int n, which[3];
} tc_cuda_chain_tiles;
tc_cuda_chain_tiles tc_cuda_chain_tiles_of(const tc_cuda_product *x);
/* Threads that bring an operand's tiles. */
int tc_cuda_chain_copiers(const tc_cuda_product *x);
/* Do blocks of 128 rows of these widths, or of any, have producers, where there may be any? */
bool tc_cuda_block_has_producers(const tc_cuda_product *x, const tc_cuda_operand *o,
                                 const tc_cuda_block *w);
bool tc_cuda_chain_has_producers(const tc_cuda_product *x, const tc_cuda_operand *o);

/* ---- chain_producers.c: C -------------------------------------------------------------------- */

/* The width of an operand's tiles, which goes on in its place; its fill; and opens the scope of one at `tile`. */
const char *tc_cuda_tile_width(int which);
tc_cuda_fill tc_cuda_tile_fill(const tc_cuda_product *x, const tc_cuda_operand *o, int which,
                               const char *key);
void tc_cuda_open_tile(tc_cuda_product *x, const tc_cuda_fill *f, const char *tile);

/* All that follows is nothing where no block has producers.  mbarriers, and their start for a block's rows. */
void tc_cuda_put_mbarriers(tc_cuda_product *x, const tc_cuda_operand *o);
void tc_cuda_put_mbarrier_inits(tc_cuda_product *x, const tc_cuda_operand *o);
/* What producers do; opens and closes what the other warps do. */
void tc_cuda_put_producers(tc_cuda_product *x, const tc_cuda_operand *o);
void tc_cuda_close_producers(tc_cuda_product *x, const tc_cuda_operand *o);
/* Waits until tiles are there that inner products read, or, inner: false, those that outer ones alone do. */
void tc_cuda_put_waits(tc_cuda_product *x, const tc_cuda_operand *o, bool inner, const char *at,
                       const char *phase);
/* The warp has read the tiles that outer products read, or that none does. */
void tc_cuda_put_releases(tc_cuda_product *x, const tc_cuda_operand *o, bool outer, const char *at,
                        const char *condition);
/* Opens and closes what is done where the block has no producers. */
void tc_cuda_open_alone(tc_cuda_product *x, const tc_cuda_operand *o);
void tc_cuda_close_alone(tc_cuda_product *x, const tc_cuda_operand *o);

#endif

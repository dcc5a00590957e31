/* chain_blocks.c - blocks of chains on tensor cores: how wide they are, how many keys their tiles have, what
 * registers and shared memory they take, and which of them have producers. */
#include "backends/cuda/gemm/chain_mma.h"

/* of a thread that sums, scores and A may take: a few spill, if any */
enum { MOST_REGISTERS = 224 };

/* ---- widths ---------------------------------------------------------------------------------- */

/* Registers of a thread of four warps with 64 rows that sums of n columns, scores of so many keys,
 * and A take. */
static int registers_of(const tc_mm_loop *mm, int n, int keys) {
  const int outers = 1 + tc_mm_has_beside(mm);
  return n / 2 * outers + keys * (2 * mm->inner.n + outers) / 4;
}

/* All columns, or the largest equal part of them that a thread has registers for. */
static int part_of(const tc_mm_loop *mm, int n) {
  int parts = 1;
  while (n % (parts * TC_CUDA_PANEL) ||
         (n > parts * TC_CUDA_PANEL && registers_of(mm, n / parts, TC_CUDA_KEYS) > MOST_REGISTERS))
    ++parts;
  return n / parts;
}

/* The i-th, from the narrowest on; false: there are no more. */
bool tc_cuda_block_widths(const tc_cuda_product *x, int i, tc_cuda_block *w) {
  tc_cuda_chain_widths of;
  if (!tc_cuda_chain_widths_of(x, i, TC_CUDA_PANEL, &of)) return false;
  *w = (tc_cuda_block){.d = of.d, .e = of.e, .n = of.n, .part = part_of(x->mm, of.n)};
  return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Halves of so many places for tiles of so many keys, and of what a block has of its own. */
static int halves_of(const tc_cuda_product *x, const tc_cuda_block *w, int rows, int keys, int slots) {
  const int deep = w->d + w->e, own = tc_cuda_chain_has_own_b(x) ? w->n : 0;
  const int columns = 2 * tc_cuda_chain_columns(x, NULL); /* as halves */
  return rows * deep + slots * keys * (deep + own + columns);
}

int tc_cuda_block_slots(const tc_cuda_product *x, const tc_cuda_block *w, int rows, int keys) {
  const bool fit = halves_of(x, w, rows, keys, 3) * 2 + TC_CUDA_UNIT <= TC_CUDA_MOST_SHARED;
  return !tc_cuda_chain_has_own_b(x) && fit ? 3 : 2;
}

static int places_of(const tc_cuda_product *x, const tc_cuda_block *w, int rows, int keys) {
  return halves_of(x, w, rows, keys, tc_cuda_block_slots(x, w, rows, keys));
}

int tc_cuda_block_threads(const tc_cuda_block *w, int rows) { return rows * 2 * (w->n / w->part); }

/* Blocks of so many rows that a multiprocessor holds, whose warps multiply while others do the
 * rest: sums, scores and A are two thirds of a thread's registers. */
int tc_cuda_blocks_held(const tc_cuda_product *x, const tc_cuda_block *w, int rows) {
  const int by_registers =
      TC_CUDA_REGISTERS / (tc_cuda_block_threads(w, rows) * registers_of(x->mm, w->part, TC_CUDA_KEYS) * 3 / 2);
  const int by_places = TC_CUDA_MOST_SHARED / (2 * places_of(x, w, rows, TC_CUDA_KEYS) + TC_CUDA_UNIT);
  const int blocks = by_registers < by_places ? by_registers : by_places;
  return blocks > 0 ? blocks : 1;
}

/* Keys of a tile: 64, or twice as many where a block's threads have registers for their products
 * and A, and shared memory. */
int tc_cuda_block_keys(const tc_cuda_product *x, const tc_cuda_block *w, int rows) {
  const int held = registers_of(x->mm, w->part, 2 * TC_CUDA_KEYS);
  const int most = TC_CUDA_REGISTERS / (tc_cuda_block_threads(w, rows) * tc_cuda_blocks_held(x, w, rows));
  const bool fit = places_of(x, w, rows, 2 * TC_CUDA_KEYS) * 2 + TC_CUDA_UNIT <= TC_CUDA_MOST_SHARED;
  return rows > TC_CUDA_FEW_ROWS && fit && held * 3 <= (most < 255 ? most : 255) * 2 ? 2 * TC_CUDA_KEYS : TC_CUDA_KEYS;
}

/* Bytes of shared memory of a block of so many rows: places, or sums; and what aligns the first. */
int tc_cuda_block_shared(const tc_cuda_product *x, const tc_cuda_block *w, int rows) {
  const int places = places_of(x, w, rows, tc_cuda_block_keys(x, w, rows)) * 2;
  const int sums = rows * (tc_cuda_chain_outers(x) * (w->n + TC_CUDA_CHAIN_PAD) + 2) * 4;
  return (places > sums ? places : sums) + TC_CUDA_UNIT;
}

/* Wide products are bound by reading B, which blocks of 64 rows do twice as often. */
bool tc_cuda_block_is_narrow(const tc_cuda_block *w) { return w->d + w->e + w->n <= 4 * TC_CUDA_PANEL; }

/* Does a multiprocessor hold one block of 128 rows? */
static bool is_alone(const tc_cuda_product *x, const tc_cuda_block *w) {
  return tc_cuda_blocks_held(x, w, TC_CUDA_MANY_ROWS) == 1;
}

/* Do blocks of 64 rows pay, whatever the sizes?  A multiprocessor holds several then, and those of
 * 128 rows alone. */
static bool is_small(const tc_cuda_product *x, const tc_cuda_block *w) {
  return tc_cuda_chain_has_second(x) && tc_cuda_blocks_held(x, w, TC_CUDA_FEW_ROWS) > 1 && is_alone(x, w) &&
         tc_cuda_block_is_narrow(w);
}

bool tc_cuda_block_has_many(const tc_cuda_product *x, const tc_cuda_block *w) {
  return w->part == w->n && !is_small(x, w) && tc_cuda_block_shared(x, w, TC_CUDA_MANY_ROWS) <= TC_CUDA_MOST_SHARED;
}

tc_cuda_chain_tiles tc_cuda_chain_tiles_of(const tc_cuda_product *x) {
  tc_cuda_chain_tiles t = {.n = 1, .which = {TC_CUDA_INNER_B}};
  if (tc_cuda_chain_has_second(x)) t.which[t.n++] = TC_CUDA_SECOND_B;
  if (tc_cuda_chain_has_own_b(x)) t.which[t.n++] = TC_CUDA_B;
  return t;
}

int tc_cuda_chain_copiers(const tc_cuda_product *x) {
  const int tiles = tc_cuda_chain_tiles_of(x).n;
  return TC_CUDA_PRODUCERS / (tiles > 2 ? 4 : tiles);
}

/* Can they step from copy to copy of the operand's tiles? */
static bool is_brought(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_block *w, int which) {
  const tc_cuda_fill f = tc_cuda_chain_fill(x, o, which, "0");
  const int width = which == TC_CUDA_B ? w->n : which == TC_CUDA_INNER_B ? w->d : w->e;
  const int along = o[which].along == x->kk ? tc_cuda_block_keys(x, w, TC_CUDA_MANY_ROWS) : width;
  return tc_cuda_has_steps(x, &f) && tc_cuda_chain_copiers(x) * 8 % along == 0;
}

/* Do blocks of 128 rows have producers, where there may be any?  They bring arrays as they are, and leave
 * other warps the registers that those need. */
bool tc_cuda_block_has_producers(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_block *w) {
  const tc_cuda_chain_tiles t = tc_cuda_chain_tiles_of(x);
  const int threads = tc_cuda_block_threads(w, TC_CUDA_MANY_ROWS), all = threads + TC_CUDA_PRODUCERS;
  const int each = TC_CUDA_REGISTERS / all / 8 * 8; /* registers of a thread, at first */
  const int left = (each * all - TC_CUDA_PRODUCERS * TC_CUDA_FEW_REGISTERS) / threads;
  bool brought = true;
  for (int i = 0; i < t.n; ++i) brought = brought && is_brought(x, o, w, t.which[i]);
  return brought && !tc_cuda_chain_columns(x, NULL) && tc_cuda_block_has_many(x, w) && is_alone(x, w) &&
         registers_of(x->mm, w->part, tc_cuda_block_keys(x, w, TC_CUDA_MANY_ROWS)) * 4 <= left * 3;
}

bool tc_cuda_chain_has_producers(const tc_cuda_product *x, const tc_cuda_operand *o) {
  tc_cuda_block w;
  bool any = false;
  for (int i = 0; tc_cuda_block_widths(x, i, &w); ++i) any |= tc_cuda_block_has_producers(x, o, &w);
  return any;
}

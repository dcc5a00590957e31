/* mma_f32.c - products of f32 on tensor cores (mma.c), where there are tiles for all multiprocessors: functions beside those of
 * simt.c, which has smaller tiles and shares k out among the threads of a block. */
#include "backends/cuda/gemm/mma.h"

#include <stdio.h>

enum { THREADS = 128, SIDE = TC_CUDA_MMA_F32_SIDE, LEAST_K = 16 /* shorter sums are more exact by every thread */ };

bool tc_cuda_has_mma_f32(const tc_cuda_product *x) {
  return tc_cuda_may_mma_f32(x->mm) && x->plan->sides.n > 0 && x->plan->sides.at[0] >= SIDE;
}

void tc_cuda_mma_f32_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (tc_cuda_has_mma_f32(x)) tc_cuda_mma_body(x, o);
}

/* Tiles, blocks of a multiprocessor, and what 64 of k take, ns, where a multiprocessor has all of them and where it has one, and
 * what a tile takes beside (H200). */
typedef struct tile {
  int m, n, blocks, step, alone, rest;
} tile;
static const tile tiles[] = {{128, 64, 2, 4600, 2700, 3000}, {64, SIDE, 3, 3930, 1850, 1800}};
enum { TILES = sizeof tiles / sizeof *tiles };

static void put_function(const tc_cuda_product *x, const tc_cuda_bodies *b, uint32_t number, const tile *t, const int *lanes, const char *index, tc_buf *out) {
  char arguments[96];
  snprintf(arguments, sizeof arguments, "%d, %d, %d, 0, %d, 0, %d, %d, %d, false, %s", t->m, t->n, THREADS, t->blocks, lanes[0], lanes[1], lanes[2], index);
  tc_cuda_put_instance(x, b, "tensor", (int)number, THREADS, false, t->blocks, arguments, out);
}

/* Of 16-byte accesses, and one, of the smallest tiles, without conditions. */
uint32_t tc_cuda_put_mma_f32(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b, uint32_t first, tc_buf *out) {
  const int wide[] = {(int)o[0].plan.width, (int)o[1].plan.width, (int)o[2].plan.width}, one[] = {1, 1, 1};
  if (!tc_cuda_has_mma_f32(x)) return first;
  tc_putf(out, "%sTC_FN void @NAME@_tensor(\n    ", tc_cuda_mma_parameters);
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", b->tensor);
  for (int i = 0; i < TILES; ++i) put_function(x, b, first++, &tiles[i], wide, x->plan->index64 ? "tc_i64" : "int", out);
  put_function(x, b, first++, &tiles[TILES - 1], one, "tc_i64", out);
  return first;
}

/* Three places, and what aligns the first. */
static int shared_of(const tc_cuda_product *x, const tile *t) {
  return 3 * 128 * (t->m + t->n + 2 * tc_cuda_mma_pad(x)) + 1024;
}

/* Is there work for all multiprocessors, and enough of k?  C: of numbers that are called so. */
static void put_fills(const char *batches, const char *m, const char *n, const char *k, tc_buf *out) {
  tc_putf(out, "%s >= %d && %s * tc_cuda_ceildiv(%s, %d) * tc_cuda_ceildiv(%s, %d) >= c->info->sms", k, LEAST_K, batches, m, SIDE, n, SIDE);
}

void tc_cuda_put_mma_f32_tiles(const tc_cuda_product *x, tc_buf *out) {
  if (!tc_cuda_has_mma_f32(x)) return;
  tc_put(out, "  static const tc_cuda_tile wide[] = {");
  for (int i = 0; i < TILES; ++i)
    tc_putf(out, "%s{%d, %d, %d, %d, %d, %d, %d, %d}", i ? ", " : "", tiles[i].m, tiles[i].n, THREADS, shared_of(x, &tiles[i]),
            tiles[i].blocks, tiles[i].step, tiles[i].alone, tiles[i].rest);
  tc_put(out, "};\n");
}

void tc_cuda_put_beats_library(const tc_cuda_product *x, tc_buf *out) {
  if (!tc_cuda_has_mma_f32(x) || x->plan->tf32) return;
  tc_put(out, " || (vectorized && ");
  put_fills("mm.batch", "mm.m", "mm.n", "mm.k", out);
  tc_putf(out, " && tc_cuda_beats_library(c, wide, %d, &mm, %d))", TILES, x->k->schedule->product != NULL);
}

void tc_cuda_put_mma_f32_launch(const tc_cuda_product *x, uint32_t first, tc_buf *out) {
  if (!tc_cuda_has_mma_f32(x)) return;
  tc_buf k = {0};
  tc_cuda_put_size(x->p, x->mm, x->kk, &k);
  tc_put(out, "  if (");
  put_fills("batches", "m", "n", k.text ? k.text : "0", out);
  tc_putf(out,
          ") {\n    const int at = vectorized ? tc_cuda_fastest_tile(c, wide, %d, batches, m, n, %s, &(double){0}) : %d;\n"
          "    function = vectorized ? %u + (unsigned)at : %u;\n"
          "    high = wide[at].m, broad = wide[at].n, block = %d, shared = wide[at].shared;\n"
          "  }\n",
          TILES, k.text ? k.text : "0", TILES - 1, first, first + TILES, THREADS);
  tc_buf_free(&k);
}

/* chain_mma.c - a chain of products of halves on tensor cores (Dao, FlashAttention-2, 2023; Shah et
 * al., FlashAttention-3, 2024: the outer product of a tile is computed beside the scores of the
 * next).
 *
 * A block has M rows, each warp 16 of them: its part of the inner products' A stays in registers
 * (wgmma's in shared memory), its sums of all products do.  Tiles of KEYS keys of each B pass
 * through SLOTS places in shared memory: while products work on theirs, the next ones are on their
 * way.  B of an outer product may be a tile that is there for an inner one, which then has three
 * places, or two and the next tile waits for the outer product of the one before.  Scores of a tile
 * become A where they are, for what a thread holds of a product it holds of an operand, too; sums
 * so far are rescaled where their row's accumulator 0 changed.
 *
 * D and E, what inner products sum over, and N, the columns, are numbers in each function.  Where a
 * thread has no registers for sums of all columns, groups of four warps have the same rows, compute
 * the same scores, and have PART of the columns each.
 *
 * Where warps may give registers to others, and a multiprocessor holds one block, four more warps bring
 * the tiles: then warps that multiply wait for tiles alone, through gates, and not for each other, so
 * that some multiply while others compute exponentials (Shah et al.: warp specialization).  Where sizes
 * are known at run time only,
 * there are functions for some widths, and the launcher takes the narrowest that suit; what is
 * wider than all is the matter of chain_simt.c. */
#include "backends/cuda/gemm/chain.h"

#include <stdio.h>

enum { KEYS = 64, PANEL = 64, UNIT = 1024, FEW = 64, MANY = 128 /* rows of a block */ };
/* threads that bring tiles (TC_PRODUCERS of the prelude), and registers of each */
enum { PRODUCERS = 128, FEW_REGISTERS = 40 };
enum { REGISTERS = 65536 }; /* of a multiprocessor */
enum { SHARED = 227 * 1024 - 128 }; /* of a block of Hopper's, but for gates */
/* of a thread that sums, scores and A may take: a few spill, if any */
enum { MOST_REGISTERS = 224 };
/* of a block, of all that have tensor cores for halves */
enum { LEAST_SHARED = 99 * 1024 };

/* ---- widths ---------------------------------------------------------------------------------- */

/* Of a function, in whole panels; e: 0 where there is no second inner product; part: columns of a
 * group of four warps. */
typedef struct widths {
  int d, e, n, part;
} widths;

/* Registers of a thread of four warps with 64 rows that sums of n columns, scores of so many keys,
 * and A take. */
static int registers_of(const tc_mm_loop *mm, int n, int keys) {
  const int outers = 1 + tc_mm_has_beside(mm);
  return n / 2 * outers + keys * (2 * mm->inner.n + outers) / 4;
}

/* All columns, or the largest equal part of them that a thread has registers for. */
static int part_of(const tc_mm_loop *mm, int n) {
  int parts = 1;
  while (n % (parts * PANEL) ||
         (n > parts * PANEL && registers_of(mm, n / parts, KEYS) > MOST_REGISTERS))
    ++parts;
  return n / parts;
}

/* The i-th, from the narrowest on; false: there are no more. */
static bool widths_of(const tc_cuda_product *x, int i, widths *w) {
  tc_cuda_chain_widths of;
  if (!tc_cuda_chain_widths_of(x, i, PANEL, &of)) return false;
  *w = (widths){.d = of.d, .e = of.e, .n = of.n, .part = part_of(x->mm, of.n)};
  return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Halves of so many places for tiles of so many keys, and of what a block has of its own. */
static int halves_of(const tc_cuda_product *x, const widths *w, int rows, int keys, int slots) {
  const int deep = w->d + w->e, own = tc_cuda_chain_has_own_b(x) ? w->n : 0;
  const int columns = 2 * tc_cuda_chain_columns(x, NULL); /* as halves */
  return rows * deep + slots * keys * (deep + own + columns);
}

static int slots_of(const tc_cuda_product *x, const widths *w, int rows, int keys) {
  return !tc_cuda_chain_has_own_b(x) && halves_of(x, w, rows, keys, 3) * 2 + UNIT <= SHARED ? 3 : 2;
}

static int places_of(const tc_cuda_product *x, const widths *w, int rows, int keys) {
  return halves_of(x, w, rows, keys, slots_of(x, w, rows, keys));
}

static int threads_of(const widths *w, int rows) { return rows * 2 * (w->n / w->part); }

/* Blocks of so many rows that a multiprocessor holds, whose warps multiply while others do the
 * rest: sums, scores and A are two thirds of a thread's registers. */
static int blocks_of(const tc_cuda_product *x, const widths *w, int rows) {
  const int by_registers =
      REGISTERS / (threads_of(w, rows) * registers_of(x->mm, w->part, KEYS) * 3 / 2);
  const int by_places = SHARED / (2 * places_of(x, w, rows, KEYS) + UNIT);
  const int blocks = by_registers < by_places ? by_registers : by_places;
  return blocks > 0 ? blocks : 1;
}

/* Keys of a tile: 64, or twice as many where a block's threads have registers for their products
 * and A, and shared memory. */
static int keys_of(const tc_cuda_product *x, const widths *w, int rows) {
  const int held = registers_of(x->mm, w->part, 2 * KEYS);
  const int most = REGISTERS / (threads_of(w, rows) * blocks_of(x, w, rows));
  const bool fit = places_of(x, w, rows, 2 * KEYS) * 2 + UNIT <= SHARED;
  return rows > FEW && fit && held * 3 <= (most < 255 ? most : 255) * 2 ? 2 * KEYS : KEYS;
}

/* Bytes of shared memory of a block of so many rows: places, or sums; and what aligns the first. */
static int shared_of(const tc_cuda_product *x, const widths *w, int rows) {
  const int places = places_of(x, w, rows, keys_of(x, w, rows)) * 2;
  const int sums = rows * (tc_cuda_chain_outers(x) * (w->n + TC_CUDA_CHAIN_PAD) + 2) * 4;
  return (places > sums ? places : sums) + UNIT;
}

/* Wide products are bound by reading B, which blocks of 64 rows do twice as often. */
static bool is_narrow(const widths *w) { return w->d + w->e + w->n <= 4 * PANEL; }

/* Do blocks of 64 rows pay, whatever the sizes?  A multiprocessor holds several then, and those of
 * 128 rows alone. */
static bool is_small(const tc_cuda_product *x, const widths *w) {
  return tc_cuda_chain_has_second(x) && blocks_of(x, w, FEW) > 1 && blocks_of(x, w, MANY) == 1 &&
         is_narrow(w);
}

static bool has_large(const tc_cuda_product *x, const widths *w) {
  return w->part == w->n && !is_small(x, w) && shared_of(x, w, MANY) <= SHARED;
}

/* The operands whose tiles of keys are in shared memory. */
typedef struct tiles {
  int n, which[3];
} tiles;

static tiles tiles_of(const tc_cuda_product *x) {
  tiles t = {.n = 1, .which = {TC_CUDA_INNER_B}};
  if (tc_cuda_chain_has_second(x)) t.which[t.n++] = TC_CUDA_SECOND_B;
  if (tc_cuda_chain_has_own_b(x)) t.which[t.n++] = TC_CUDA_B;
  return t;
}

/* Do blocks of 128 rows have producers, where there may be any?  They bring arrays as they are, and leave
 * other warps the registers that those need. */
static bool has_producers(const tc_cuda_product *x, const tc_cuda_operand *o, const widths *w) {
  const tiles t = tiles_of(x);
  const int all = threads_of(w, MANY) + PRODUCERS, each = REGISTERS / all / 8 * 8;
  const int left = (each * all - PRODUCERS * FEW_REGISTERS) / threads_of(w, MANY);
  bool plain = true;
  for (int i = 0; i < t.n; ++i) plain = plain && o[t.which[i]].plain && o[t.which[i]].plan.width == 8;
  return plain && !tc_cuda_chain_columns(x, NULL) && has_large(x, w) && blocks_of(x, w, MANY) == 1 &&
         registers_of(x->mm, w->part, keys_of(x, w, MANY)) * 4 <= left * 3;
}

static bool may_have_producers(const tc_cuda_product *x, const tc_cuda_operand *o) {
  widths w;
  bool any = false;
  for (int i = 0; widths_of(x, i, &w); ++i) any |= has_producers(x, o, &w);
  return any;
}

/* ---- a thread's part -------------------------------------------------------------------------- */

static const tc_cuda_chain_layout layout = {.rows = "2",
                                            .place = "warp * 16 + lane / 4 + h * 8",
                                            .scores = "KEYS / 2",
                                            .key = "i / 4 * 8 + lane % 4 * 2 + i % 2",
                                            .row = "i / 2 % 2",
                                            .sums = "PART / 2",
                                            .column = "part0 + i / 4 * 8 + lane % 4 * 2 + i % 2",
                                            .row_of_sum = "i / 2 % 2",
                                            .threads = 4,
                                            .apart = 1,
                                            .first = "part0 == 0",
                                            .columns = true,
                                            .meet = "tc_meet_consumers<THREADS>();"};

/* ---- tiles on their way ---------------------------------------------------------------------- */

static tc_cuda_fill fill_of(const tc_cuda_product *x, const tc_cuda_operand *o, int which, const char *key) {
  tc_cuda_fill f = tc_cuda_chain_fill(x, o, which, key);
  if (which == TC_CUDA_B) { /* as of any product: columns, and what is summed over */
    const tc_cuda_span keys = f.outer;
    f.outer = f.deep;
    f.deep = keys;
  }
  return f;
}

static void open_fill(tc_cuda_product *x, const tc_cuda_fill *f, const char *tile) {
  tc_print_line(&x->s, "{ /* %s */", f->what);
  x->s.indent += 2;
  tc_print_line(&x->s, "unsigned short *const %c_tile = %s;", f->name, tile);
}

static void close(tc_cuda_product *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_fill(tc_cuda_product *x, const tc_cuda_operand *o, int which, const char *tile,
                     const char *key) {
  const tc_cuda_fill f = fill_of(x, o, which, key);
  open_fill(x, &f, tile);
  tc_cuda_put_fill(x, &f);
  close(x);
}

/* Tiles on their way: B of inner products from `key` on, if there are any, to place `to`, and B of
 * the tile before, which begins at `before`, to place `late`. */
static void put_next_fills(tc_cuda_product *x, const tc_cuda_operand *o, const char *key,
                           const char *to, const char *before, const char *late) {
  char place[64];
  tc_print_line(&x->s, "if (%s < end) {", key);
  x->s.indent += 2;
  snprintf(place, sizeof place, "k_place + %s * (KEYS * D)", to);
  put_fill(x, o, TC_CUDA_INNER_B, place, key);
  snprintf(place, sizeof place, "w_place + %s * (KEYS * E)", to);
  if (tc_cuda_chain_has_second(x)) put_fill(x, o, TC_CUDA_SECOND_B, place, key);
  tc_cuda_chain_put_columns(x, key);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  snprintf(place, sizeof place, "v_place + %s * (KEYS * N)", late);
  if (tc_cuda_chain_has_own_b(x)) put_fill(x, o, TC_CUDA_B, place, before);
  tc_print_line(&x->s, "tc_copies_end();");
}

/* ---- producers ------------------------------------------------------------------------------- */

static const char *width_of(int which) {
  return which == TC_CUDA_B ? "N" : which == TC_CUDA_INNER_B ? "D" : "E";
}

/* Does an outer product read the tile? */
static bool is_outer(const tc_cuda_product *x, int which) {
  bool any = false;
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i) any |= tc_cuda_chain_outer_of(x, i).b == which;
  return any;
}

static void put_gates(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tiles t = tiles_of(x);
  if (!may_have_producers(x, o)) return;
  for (int i = 0; i < t.n; ++i) {
    const char c = tc_cuda_chain_letter[t.which[i]];
    tc_print_line(&x->s, "__shared__ tc_gate %c_full[SLOTS], %c_vacant[SLOTS];", c, c);
  }
  tc_print_line(&x->s, "constexpr int COPIERS = PRODUCERS / %d; /* of a tile */", t.n > 2 ? 4 : t.n);
  tc_print_line(&x->s, "bool begun = false;");
}

/* Each block's rows begin with gates of phase 0. */
static void put_gate_starts(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tiles t = tiles_of(x);
  if (!may_have_producers(x, o)) return;
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "if (threadIdx.x == 0)");
  tc_print_line(&x->s, "  for (int i = 0; i < SLOTS; ++i) {");
  for (int i = 0; i < t.n; ++i) {
    const char c = tc_cuda_chain_letter[t.which[i]];
    tc_print_line(&x->s, "    if (begun) tc_gate_end(&%c_full[i]), tc_gate_end(&%c_vacant[i]);", c, c);
    tc_print_line(&x->s, "    tc_gate_start(&%c_full[i], COPIERS), tc_gate_start(&%c_vacant[i], THREADS / 32);", c, c);
  }
  tc_print_line(&x->s, "  }");
  tc_print_line(&x->s, "begun = true;");
  tc_print_line(&x->s, "__syncthreads();");
  close(x);
}

/* Brings all tiles of an operand, each as soon as its place is vacant. */
static void put_copier(tc_cuda_product *x, const tc_cuda_operand *o, int which) {
  const char c = tc_cuda_chain_letter[which];
  tc_cuda_fill f = fill_of(x, o, which, "key0");
  char place[64];
  f.thread = "copier";
  f.threads = "COPIERS";
  tc_print_line(&x->s, "for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_gate_wait(&%c_vacant[now], !turn);", c);
  snprintf(place, sizeof place, "%c_place + now * (KEYS * %s)", c, width_of(which));
  open_fill(x, &f, place);
  tc_cuda_put_stepped_fill(x, &f);
  close(x);
  tc_print_line(&x->s, "tc_copies_end();");
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_print_line(&x->s, "tc_chain_ready();");
  tc_print_line(&x->s, "tc_gate_arrive(&%c_full[now]);", c);
  tc_print_line(&x->s, "if (++now == SLOTS) now = 0, turn = !turn;");
  close(x);
}

/* Opens what the block's other warps do. */
static void put_producers(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tiles t = tiles_of(x);
  if (!may_have_producers(x, o)) return;
  tc_print_line(&x->s, "if (PRODUCERS > 0 && tc_chain_uniform((int)threadIdx.x / 32) >= THREADS / 32) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_registers_fewer<%d>();", FEW_REGISTERS);
  tc_print_line(&x->s, "const int copier = ((int)threadIdx.x - THREADS) %% COPIERS, tile_of = ((int)threadIdx.x - THREADS) / COPIERS;");
  for (int i = 0; i < t.n; ++i) {
    tc_print_line(&x->s, "if (tile_of == %d) {", i);
    x->s.indent += 2;
    put_copier(x, o, t.which[i]);
    close(x);
  }
  close(x);
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int ALL = THREADS + PRODUCERS, EACH = %d / ALL / 8 * 8; /* registers of a thread, at first */", REGISTERS);
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) tc_registers_more<(EACH * ALL - PRODUCERS * %d) / THREADS / 8 * 8>();", FEW_REGISTERS);
}

static void close_producers(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (may_have_producers(x, o)) close(x);
}

/* Waits until tiles are there that inner products read, or, inner: false, those that outer ones alone do. */
static void put_waits(tc_cuda_product *x, const tc_cuda_operand *o, bool inner, const char *at,
                      const char *phase) {
  const tiles t = tiles_of(x);
  for (int i = 0; may_have_producers(x, o) && i < t.n; ++i)
    if ((t.which[i] != TC_CUDA_B) == inner)
      tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) tc_gate_wait(&%c_full[%s], %s);",
                    tc_cuda_chain_letter[t.which[i]], at, phase);
}

/* The warp has read the tiles that outer products read, or that none does. */
static void put_leaves(tc_cuda_product *x, const tc_cuda_operand *o, bool outer, const char *at,
                       const char *condition) {
  const tiles t = tiles_of(x);
  for (int i = 0; may_have_producers(x, o) && i < t.n; ++i)
    if (is_outer(x, t.which[i]) == outer)
      tc_print_line(&x->s, "if (PRODUCERS > 0 && lane == 0%s) tc_gate_arrive(&%c_vacant[%s]);",
                    condition, tc_cuda_chain_letter[t.which[i]], at);
}

/* ---- the block's rows ------------------------------------------------------------------------ */

static const char *truth(bool b) { return b ? "true" : "false"; }

static void put_inner_starts(tc_cuda_product *x, const tc_cuda_operand *o, const char *at) {
  if (tc_cuda_chain_has_second(x))
    tc_print_line(&x->s, "second.template start<KEYS, %s>(other, w_place + %s * (KEYS * E));",
                  truth(o[TC_CUDA_SECOND_B].along == x->kk + 2), at);
  tc_print_line(&x->s, "left.template start<KEYS, %s>(score, k_place + %s * (KEYS * D));",
                truth(o[TC_CUDA_INNER_B].along == x->kk + 1), at);
}

static void put_outer_starts(tc_cuda_product *x, const tc_cuda_operand *o, const char *at) {
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i) {
    const tc_cuda_chain_outer y = tc_cuda_chain_outer_of(x, i);
    const char *const width = width_of(y.b);
    const bool by_keys = o[y.b].along == x->kk;
    tc_print_line(&x->s, "tc_chain_start<tc_%s, KEYS, PART, %s, %s>(%s, %s, %c_place + %s * (KEYS * %s) + part0 * %s);",
                  tc_print_storage(x->mm->operand), truth(by_keys), width, y.sum, y.weights, tc_cuda_chain_letter[y.b], at,
                  width, by_keys ? "PANEL" : "KEYS");
  }
}

static void put_outer_finishes(tc_cuda_product *x) {
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i) {
    const tc_cuda_chain_outer y = tc_cuda_chain_outer_of(x, i);
    tc_print_line(&x->s, "tc_chain_finish<0>(%s, %s);", y.sum, y.weights);
  }
}

static void put_arrival(tc_cuda_product *x) {
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_print_line(&x->s, "tc_chain_ready();");
  tc_print_line(&x->s, "%s /* the tiles at hand are there, and all have left those before */", layout.meet);
}

/* What is done where there are no producers. */
static void open_alone(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (!may_have_producers(x, o)) return;
  tc_print_line(&x->s, "if constexpr (PRODUCERS == 0) {");
  x->s.indent += 2;
}

static void close_alone(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (may_have_producers(x, o)) close(x);
}

static void put_arrival_alone(tc_cuda_product *x, const tc_cuda_operand *o) {
  open_alone(x, o);
  put_arrival(x);
  close_alone(x, o);
}

/* Of two places the next tile's is that which the outer product reads. */
static void put_vacancy(tc_cuda_product *x) {
  tc_print_line(&x->s, "if (SLOTS == 2) {");
  x->s.indent += 2;
  put_outer_finishes(x);
  tc_print_line(&x->s, "%s", layout.meet);
  close(x);
}

/* The tile at hand becomes A of the outer product. */
static void put_weights(tc_cuda_product *x, const tc_cuda_operand *o, const tc_mm_keys *keys) {
  const int outers = tc_cuda_chain_outers(x);
  tc_print_line(&x->s, "tc_chain_finish<%d>(score);", outers);
  if (tc_cuda_chain_has_second(x)) tc_print_line(&x->s, "tc_chain_finish<%d>(other);", outers);
  put_leaves(x, o, false, "now", "");
  tc_cuda_chain_put_scores(x, &layout, keys);
  put_outer_finishes(x);
  put_leaves(x, o, true, "before", " && key0 > first");
  if (tc_cuda_chain_rows(x)) tc_cuda_chain_put_rescale(x, &layout);
  for (int i = 0; i < outers; ++i) {
    const tc_cuda_chain_outer y = tc_cuda_chain_outer_of(x, i);
    tc_print_line(&x->s, "tc_chain_pairs<tc_%s, KEYS>(%s, %s);", tc_print_storage(x->mm->operand),
                  y.weights, y.score);
  }
}

/* The outer product of a tile is under way while scores of the next become its A. */
static void put_keys_loop(tc_cuda_product *x, const tc_cuda_operand *o, const tc_mm_keys *keys) {
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s, "tc_u32 %s[KEYS / 16][4] = {};", tc_cuda_chain_outer_of(x, i).weights);
  tc_print_line(&x->s, "int before = 0, turn_before = 0;");
  tc_print_line(&x->s, "for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key1 = key0 + KEYS;");
  tc_print_line(&x->s, "const int next = now + 1 < SLOTS ? now + 1 : 0;");
  if (tc_cuda_chain_columns(x, NULL))
    tc_print_line(&x->s, "const tc_f32 *const column = columns + now * (COLUMNS * KEYS);");
  tc_print_line(&x->s, "tc_f32 score[KEYS / 2];");
  if (tc_cuda_chain_has_second(x)) tc_print_line(&x->s, "tc_f32 other[KEYS / 2];");
  put_arrival_alone(x, o);
  put_waits(x, o, true, "now", "turn");
  put_inner_starts(x, o, "now");
  tc_print_line(&x->s, "if (key0 > first) {");
  x->s.indent += 2;
  put_waits(x, o, false, "before", "turn_before");
  put_outer_starts(x, o, "before");
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s, "  tc_chain_start_none();");
  tc_print_line(&x->s, "}");
  open_alone(x, o);
  if (!tc_cuda_chain_has_own_b(x)) put_vacancy(x);
  put_next_fills(x, o, "key1", "next", "key0", "now");
  close_alone(x, o);
  put_weights(x, o, keys);
  tc_cuda_chain_put_fresh(x, "next");
  tc_print_line(&x->s, "before = now, turn_before = turn, now = next;");
  tc_print_line(&x->s, "if (now == 0) turn = !turn;");
  close(x);
  put_arrival_alone(x, o);
  tc_print_line(&x->s, "if (first < end) {");
  x->s.indent += 2;
  put_waits(x, o, false, "before", "turn_before");
  put_outer_starts(x, o, "before");
  put_outer_finishes(x);
  put_leaves(x, o, true, "before", "");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_sizes(tc_cuda_product *x) {
  tc_print_line(&x->s, "constexpr int M = THREADS / 2 * PART / N, PANEL = %d;", PANEL);
  tc_cuda_chain_put_ends(x);
  tc_print_line(&x->s, "const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32 %% (M / 16);");
  tc_print_line(&x->s, "const int part0 = PART == N ? 0 : tc_chain_uniform((int)threadIdx.x / (M * 2)) * PART;");
  tc_print_line(&x->s,
                "unsigned short *const place = tc_places(), *const k_place = place + M * D;");
  tc_print_line(&x->s, "unsigned short *const v_place = k_place + SLOTS * KEYS * D;%s",
                tc_cuda_chain_has_own_b(x) ? "" : " /* none: B is that of an inner product */");
  if (tc_cuda_chain_has_second(x))
    tc_print_line(&x->s,
                  "unsigned short *const p_place = v_place%s, *const w_place = p_place + M * E;",
                  tc_cuda_chain_has_own_b(x) ? " + SLOTS * KEYS * N" : "");
  const int columns = tc_cuda_chain_columns(x, NULL);
  if (columns)
    tc_print_line(&x->s, "constexpr int COLUMNS = %d; /* values of keys, as the tiles are */",
                  columns);
  if (columns)
    tc_print_line(&x->s, "tc_f32 *const columns = (tc_f32 *)(%s), fresh[COLUMNS] = {};",
                  tc_cuda_chain_has_second(x) ? "w_place + SLOTS * KEYS * E"
                  : tc_cuda_chain_has_own_b(x) ? "v_place + SLOTS * KEYS * N"
                                              : "v_place");
}

static void put_first_fills(tc_cuda_product *x, const tc_cuda_operand *o) {
  put_fill(x, o, TC_CUDA_INNER_A, "place", "0");
  if (tc_cuda_chain_has_second(x)) put_fill(x, o, TC_CUDA_SECOND_A, "p_place", "0");
  open_alone(x, o);
  put_fill(x, o, TC_CUDA_INNER_B, "k_place + now * (KEYS * D)", "first");
  if (tc_cuda_chain_has_second(x))
    put_fill(x, o, TC_CUDA_SECOND_B, "w_place + now * (KEYS * E)", "first");
  close_alone(x, o);
  if (tc_cuda_chain_columns(x, NULL)) tc_print_line(&x->s, "if (first < end)");
  tc_cuda_chain_put_columns(x, "first");
  tc_cuda_chain_put_fresh(x, "now");
  tc_print_line(&x->s, "tc_copies_end();");
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  put_sizes(x);
  put_gates(x, o);
  tc_cuda_open_tiles(x, "M", "N");
  put_gate_starts(x, o);
  tc_cuda_chain_put_first(x, &keys);
  tc_cuda_put_batches(x);
  tc_cuda_chain_put_keys(x, &keys);
  tc_print_line(&x->s, "int now = 0, turn = 0; /* the place of the next tile, and the phase of its gates */");
  put_producers(x, o);
  put_first_fills(x, o);
  put_arrival(x);
  tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, D, %s> left(place);",
                tc_print_storage(x->mm->operand), truth(o[TC_CUDA_INNER_A].along == x->kk + 1));
  if (tc_cuda_chain_has_second(x))
    tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, E, %s> second(p_place);",
                  tc_print_storage(x->mm->operand), truth(o[TC_CUDA_SECOND_A].along == x->kk + 2));
  tc_cuda_chain_put_start(x, &layout);
  put_keys_loop(x, o, &keys);
  tc_cuda_chain_put_epilogue(x, o, &layout, "place");
  close_producers(x, o);
  tc_cuda_close_tiles(x);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Which widths the function of single elements has: the widest that all devices have shared memory
 * for, or the narrowest. */
static int single_of(const tc_cuda_product *x, widths *w) {
  widths next;
  int at = 0;
  widths_of(x, 0, w);
  while (widths_of(x, at + 1, &next) && shared_of(x, &next, FEW) <= LEAST_SHARED) *w = next, ++at;
  return at;
}

/* Are there sizes, or devices, that no function is for? */
static bool needs_general(const tc_cuda_product *x) {
  widths w = {0};
  for (int i = 0; widths_of(x, i, &w);) ++i;
  return shared_of(x, &w, FEW) > LEAST_SHARED || tc_cuda_chain_is_wider(x->p, x->mm);
}

static void put_general(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (needs_general(x)) tc_cuda_chain_simt.body(x, o);
}

/* o: NULL: single elements. */
static void put_function(const tc_cuda_product *x, const tc_cuda_operand *o,
                         const tc_cuda_bodies *b, const widths *w, int number, int rows,
                         tc_buf *out) {
  tc_buf arguments = {0};
  const int keys = o ? keys_of(x, w, rows) : KEYS;
  const bool producers = o && rows == MANY && has_producers(x, o, w);
  tc_putf(&arguments, "%d, %s, %d, %d, %d, %d, %d, ", threads_of(w, rows),
          producers ? "TC_PRODUCERS" : "0", keys, slots_of(x, w, rows, keys), w->d, w->n, w->part);
  if (tc_cuda_chain_has_second(x)) tc_putf(&arguments, "%d, ", w->e);
  for (int i = 0; i < tc_cuda_chain_count_lanes(x); ++i)
    tc_putf(&arguments, "%d, ", o ? (int)o[tc_cuda_chain_lanes[i]].plan.width : 1);
  tc_put(&arguments, o && !x->plan->index64 ? "int" : "tc_i64");
  tc_cuda_put_instance(x, b, "product", number, threads_of(w, rows), producers,
                       o ? blocks_of(x, w, rows) : 1, arguments.text, out);
  tc_buf_free(&arguments);
}

/* Functions of 16-byte accesses of each widths, for 128 rows, where there are any, and for 64; one
 * of single elements; and a general one, where it is needed. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o,
                              const tc_cuda_bodies *b, tc_buf *out) {
  widths w;
  int n = 0;
  tc_cuda_chain_put_template(
      x,
      tc_cuda_chain_has_second(x)
          ? "int THREADS, int PRODUCERS, int KEYS, int SLOTS, int D, int N, int PART, int E, "
          : "int THREADS, int PRODUCERS, int KEYS, int SLOTS, int D, int N, int PART, ",
      "product", b->body, b, out);
  for (int i = 0; widths_of(x, i, &w); ++i) {
    if (has_large(x, &w)) put_function(x, o, b, &w, n++, MANY, out);
    put_function(x, o, b, &w, n++, FEW, out);
  }
  single_of(x, &w);
  put_function(x, NULL, b, &w, n++, FEW, out);
  return (uint32_t)n + (needs_general(x) ? tc_cuda_chain_put_general(x, o, b, n, true, out) : 0);
}

/* ---- the launcher ---------------------------------------------------------------------------- */

/* The keys from which on blocks of 128 rows pay.  Where rows have different keys, blocks of 64 end with
 * fewer for nothing; with producers, a few tiles make up for it. */
static int least_keys(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_mm_keys *keys,
                      const widths *w) {
  enum { LONG = 4096, FEW_TILES = 4 };
  if (!(keys->has_first || keys->has_end) || !is_narrow(w)) return 0;
  return has_producers(x, o, w) ? FEW_TILES * keys_of(x, w, MANY) : LONG;
}

/* C: what the functions of each widths want.  Blocks of 128 rows read B half as often; those of 64
 * begin, end and wait beside each other: the former are for more than half as many again as
 * multiprocessors hold at once.  (H200, T 256 to 8192: up to 10 % for either, the masked ones from
 * LONG keys on; H100, with producers: 0.72 of the time of small ones at 300 keys, 1.02 at 512, 1.12 at
 * 1024, 1.25 from 2048 on.) */
static int put_suits(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  widths w;
  int n = 0, first = 0;
  tc_put(out,
         "  static const struct {\n"
         "    int64_t width, columns; /* the former at most; of a block */\n"
         "    int64_t parts;          /* of these, which four warps each have of the same rows */\n"
         "    int first;              /* its function for 128 rows, if it has one, and for 64 */\n"
         "    int64_t large, small;   /* shared memory of their blocks; 0: there is none of 128 rows */\n"
         "    int64_t held, keys;     /* so many of those does a multiprocessor hold; from so many keys on they pay */\n"
         "    int producers;          /* do they have them? */\n"
         "  } suits[] = {\n");
  for (; widths_of(x, n, &w); ++n) {
    const bool many = has_large(x, &w), producers = has_producers(x, o, &w);
    tc_putf(out, "      {%d, %d, %d, %d, %d, %d, %d, %d, %d},\n", tc_cuda_chain_class(x->p, x->mm, n),
            w.n, w.n / w.part, first, many ? shared_of(x, &w, MANY) : 0, shared_of(x, &w, FEW),
            blocks_of(x, &w, MANY), least_keys(x, o, &keys, &w), producers);
    first += many ? 2 : 1;
  }
  tc_putf(out, "  };\n  int at = 0;\n  while (at < %d && width > suits[at].width) ++at;\n", n - 1);
  return first;
}

/* C: the choice between functions for 128 and for 64 rows. */
static void put_many(const tc_cuda_product *x, tc_buf *out) {
  tc_put(out,
         "  const int64_t most = c->info->max_shared, large = suits[at].large, small = suits[at].small;\n"
         "  int64_t broad = suits[at].columns;\n"
         "  const int many = vectorized && large && large <= most &&\n"
         "                   batches * tc_cuda_ceildiv(m, 128) * tc_cuda_ceildiv(n, broad) * 2 >= suits[at].held * c->info->sms * 3 &&\n"
         "                   ");
  tc_print_dim(x->p, x->mm->axis[x->kk].extent, out);
  tc_put(out, " >= suits[at].keys;\n");
}

static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  widths w;
  tc_cuda_chain_put_width(x, out);
  const int functions = put_suits(x, o, out), single = single_of(x, &w);
  put_many(x, out);
  tc_putf(out,
          "  unsigned function = suits[at].first + (large && !many);\n"
          "  int64_t high = many ? 128 : 64, block = high * 2 * suits[at].parts, shared = many ? large : small;\n"
          "  if (many && suits[at].producers) block += tc_cuda_producers(c, &@NAME@_image);\n"
          "  if (!vectorized) function = %d, broad = %d, block = %d, shared = %d; /* single elements */\n",
          functions, w.n, threads_of(&w, FEW), shared_of(x, &w, FEW));
  if (!needs_general(x)) return;
  tc_putf(out,
          "  if (width > suits[at].width || small > most || (!vectorized && at > %d)) { /* any sizes suit the last ones */\n"
          "    function = %d + !vectorized, high = %d, broad = %d, block = %d, shared = %d;\n  }\n",
          single, functions + 1, TC_CUDA_CHAIN_GENERAL_ROWS, TC_CUDA_CHAIN_GENERAL_COLUMNS, TC_CUDA_THREADS,
          tc_cuda_chain_general_shared(x, TC_CUDA_CHAIN_GENERAL_ROWS, TC_CUDA_CHAIN_GENERAL_COLUMNS));
}

const tc_cuda_template tc_cuda_chain = {.own = "1",
                                        .body = put_body,
                                        .general = put_general,
                                        .put = put_functions,
                                        .launch = put_launch};

/* chain.c - a chain of products of halves on tensor cores (Dao, FlashAttention-2, 2023; Shah et al., FlashAttention-3,
 * 2024: the outer product of a tile is computed beside the scores of the next).
 *
 * A block has M rows, each warp 16 of them: its part of the inner products' A stays in registers (wgmma's in shared
 * memory), its sums of all products do.  Tiles of KEYS keys of each B pass through SLOTS places in shared memory: while
 * products work on theirs, the next ones are on their way.  B of an outer product may be a tile that is there for an inner
 * one, which then has three places.  Scores of a tile become A where they are, for what a thread holds
 * of a product it holds of an operand, too; sums so far are rescaled where their row's accumulator 0 changed.  Finished
 * sums go through shared memory, so that a thread of the epilogue has neighbours along n. */
#include "backends/cuda/gemm/chain.h"

#include <stdio.h>

enum { KEYS = 64, PAD = 8, PANEL = 64, GROUP = 128, UNIT = 1024 };
enum { REGISTERS = 65536, SHARED = 227 * 1024 }; /* of a multiprocessor, of Hopper's */

static int up(int64_t n) { return (int)((n + PANEL - 1) / PANEL * PANEL); }

static bool has_second(const tc_cuda_product *x) { return x->mm->inner.n > 1; }

/* What an inner product sums over, in whole panels; 0: there is none. */
static int deep_of(const tc_cuda_product *x, int inner) {
  if (inner >= x->mm->inner.n) return 0;
  const int d = up(tc_dim_value(x->mm->axis[tc_mm_deep(x->mm, inner)].extent));
  return d ? d : PANEL;
}

static int wide_of(const tc_cuda_product *x) { return up(tc_dim_value(x->mm->axis[x->n].extent)); }

/* The outer products: where their B is, and the names of what they have. */
typedef struct outer {
  int same; /* the inner product that has the same B; -1: B has tiles of its own */
  const char *sum, *weights, *score;
  uint32_t result;
} outer;

static int count_outers(const tc_cuda_product *x) { return 1 + tc_mm_has_beside(x->mm); }

static outer outer_of(const tc_cuda_product *x, int i) {
  const tc_val b = i ? x->mm->beside.b : x->mm->b;
  const outer first = {.sum = "sum", .weights = "weights", .score = "score", .result = TC_MM_PRODUCT},
              second = {.sum = "sum_beside", .weights = "weights_beside", .score = "other", .result = TC_MM_BESIDE};
  outer y = i ? second : first;
  y.same = tc_cuda_same_b(x->k, x->p, b);
  return y;
}

static bool has_own_b(const tc_cuda_product *x) { return outer_of(x, 0).same < 0; }

static int slots_of(const tc_cuda_product *x) { return has_own_b(x) ? 2 : 3; }

/* ---- tiles on their way ---------------------------------------------------------------------- */

/* The letter of an operand's tiles and lanes. */
static const char letters[] = {[TC_CUDA_B] = 'v',        [TC_CUDA_EPILOGUE] = 'c', [TC_CUDA_INNER_A] = 'q',
                               [TC_CUDA_INNER_B] = 'k',  [TC_CUDA_SECOND_A] = 'p', [TC_CUDA_SECOND_B] = 'w'};

/* Of an inner product: A of the block's rows, B of keys from `key`; or the outer one's B. */
static void put_fill(tc_cuda_product *x, const tc_cuda_operand *o, int which, const char *tile, const char *key) {
  static const char *const comment[] = {[TC_CUDA_B] = "B",
                                        [TC_CUDA_INNER_A] = "A of the inner product",
                                        [TC_CUDA_INNER_B] = "B of the inner product",
                                        [TC_CUDA_SECOND_A] = "A of the second inner product",
                                        [TC_CUDA_SECOND_B] = "B of the second inner product"};
  const tc_cuda_span m = {x->m, "m0", "m_end", "M"}, k = {x->kk, key, "k_end", "KEYS"}, n = {x->n, "0", "n_end", "N"},
                     d = {x->kk + 1, "0", "d_end", "D"}, e = {x->kk + 2, "0", "e_end", "E"};
  const bool second = which >= TC_CUDA_SECOND_A, rows = which == TC_CUDA_INNER_A || which == TC_CUDA_SECOND_A;
  const tc_cuda_fill f = {&o[which], letters[which], which == TC_CUDA_B ? n : rows ? m : k,
                          which == TC_CUDA_B ? k : second ? e : d};
  tc_print_line(&x->s, "{ /* %s */", comment[which]);
  x->s.indent += 2;
  tc_print_line(&x->s, "unsigned short *const %c_tile = %s;", f.name, tile);
  tc_cuda_put_fill(x, &f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Values of keys from `key` on, on their way: fresh[]. */
static void put_columns(tc_cuda_product *x, const char *key) {
  tc_val v[TC_CUDA_CHAIN_COLUMNS];
  const int n = tc_cuda_chain_columns(x, v);
  if (!n) return;
  tc_print_line(&x->s, "if ((int)threadIdx.x < KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = TC_MIN(%s + (int)threadIdx.x, k_end - 1);", x->text[x->kk], key);
  uint8_t *outer = tc_print_enter(&x->s);
  for (int i = 0; i < n; ++i) {
    tc_print_value(&x->s, v[i]);
    tc_print_line(&x->s, "fresh[%d] = v%u.l[0];", i, v[i].id);
  }
  tc_print_line(&x->s, "tc_chain_begin_loads(fresh);");
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* fresh[] at place `to`. */
static void put_fresh_columns(tc_cuda_product *x, const char *to) {
  if (!tc_cuda_chain_columns(x, NULL)) return;
  tc_print_line(&x->s, "if ((int)threadIdx.x < KEYS)");
  tc_print_line(&x->s, "  TC_UNROLL for (int i = 0; i < COLUMNS; ++i) columns[(%s * COLUMNS + i) * KEYS + (int)threadIdx.x] = fresh[i];", to);
}

/* Tiles on their way: B of inner products from `key` on, if there are any, to place `to`, and B of the tile before, which
 * begins at `before`, to place `late`. */
static void put_next_fills(tc_cuda_product *x, const tc_cuda_operand *o, const char *key, const char *to,
                           const char *before, const char *late) {
  char place[64];
  tc_print_line(&x->s, "if (%s < end) {", key);
  x->s.indent += 2;
  snprintf(place, sizeof place, "k_place + %s * (KEYS * D)", to);
  put_fill(x, o, TC_CUDA_INNER_B, place, key);
  snprintf(place, sizeof place, "w_place + %s * (KEYS * E)", to);
  if (has_second(x)) put_fill(x, o, TC_CUDA_SECOND_B, place, key);
  put_columns(x, key);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  snprintf(place, sizeof place, "v_place + %s * (KEYS * N)", late);
  if (has_own_b(x)) put_fill(x, o, TC_CUDA_B, place, before);
  tc_print_line(&x->s, "tc_copies_end();");
}

/* ---- the block's rows ------------------------------------------------------------------------ */

static const char *truth(bool b) { return b ? "true" : "false"; }

static void put_inner_starts(tc_cuda_product *x, const tc_cuda_operand *o, const char *at) {
  if (has_second(x))
    tc_print_line(&x->s, "second.template start<KEYS, %s>(other, w_place + %s * (KEYS * E));",
                  truth(o[TC_CUDA_SECOND_B].along == x->kk + 2), at);
  tc_print_line(&x->s, "left.template start<KEYS, %s>(score, k_place + %s * (KEYS * D));",
                truth(o[TC_CUDA_INNER_B].along == x->kk + 1), at);
}

static void put_outer_starts(tc_cuda_product *x, const tc_cuda_operand *o, const char *at) {
  static const int inner_b[TC_MM_INNERS] = {TC_CUDA_INNER_B, TC_CUDA_SECOND_B};
  for (int i = 0; i < count_outers(x); ++i) {
    const outer y = outer_of(x, i);
    const int b = y.same < 0 ? TC_CUDA_B : inner_b[y.same];
    tc_print_line(&x->s, "tc_chain_start<tc_%s, KEYS, N, %s>(%s, %s, %c_place + %s * (KEYS * N));",
                  tc_print_storage(x->mm->operand), truth(o[b].along == x->kk), y.sum, y.weights, letters[b], at);
  }
}

static void put_outer_finishes(tc_cuda_product *x) {
  for (int i = 0; i < count_outers(x); ++i) {
    const outer y = outer_of(x, i);
    tc_print_line(&x->s, "tc_chain_finish<0>(%s, %s);", y.sum, y.weights);
  }
}

static void put_arrival(tc_cuda_product *x) {
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_print_line(&x->s, "tc_chain_ready();");
  tc_print_line(&x->s, "__syncthreads(); /* the tiles at hand are there, and all have left those before */");
}

static void put_rescale(tc_cuda_product *x) {
  tc_print_line(&x->s, "if (changed)");
  tc_print_line(&x->s, "  TC_UNROLL for (int j = 0; j < N / 2; ++j) sum[j] *= factor[j / 2 %% 2];");
}

/* The tile at hand becomes A of the outer product. */
static void put_weights(tc_cuda_product *x, const tc_mm_keys *keys) {
  const int outers = count_outers(x);
  tc_print_line(&x->s, "tc_chain_finish<%d>(score);", outers);
  if (has_second(x)) tc_print_line(&x->s, "tc_chain_finish<%d>(other);", outers);
  tc_cuda_chain_put_scores(x, keys);
  put_outer_finishes(x);
  if (tc_cuda_chain_rows(x)) put_rescale(x);
  for (int i = 0; i < outers; ++i) {
    const outer y = outer_of(x, i);
    tc_print_line(&x->s, "tc_chain_pairs<tc_%s, KEYS>(%s, %s);", tc_print_storage(x->mm->operand), y.weights, y.score);
  }
}

/* The outer product of a tile is under way while scores of the next become its A. */
static void put_keys_loop(tc_cuda_product *x, const tc_cuda_operand *o, const tc_mm_keys *keys) {
  for (int i = 0; i < count_outers(x); ++i) tc_print_line(&x->s, "tc_u32 %s[KEYS / 16][4] = {};", outer_of(x, i).weights);
  tc_print_line(&x->s, "int now = 0, before = SLOTS - 1;");
  tc_print_line(&x->s, "for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key1 = key0 + KEYS;");
  tc_print_line(&x->s, "const int next = now + 1 < SLOTS ? now + 1 : 0;");
  if (tc_cuda_chain_columns(x, NULL))
    tc_print_line(&x->s, "const tc_f32 *const column = columns + now * (COLUMNS * KEYS);");
  tc_print_line(&x->s, "tc_f32 score[KEYS / 2];");
  if (has_second(x)) tc_print_line(&x->s, "tc_f32 other[KEYS / 2];");
  put_arrival(x);
  put_inner_starts(x, o, "now");
  tc_print_line(&x->s, "if (key0 > first) {");
  x->s.indent += 2;
  put_outer_starts(x, o, "before");
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  for (int i = 0; i < count_outers(x); ++i) tc_print_line(&x->s, "  tc_chain_start_none();");
  tc_print_line(&x->s, "}");
  put_next_fills(x, o, "key1", "next", "key0", "now");
  put_weights(x, keys);
  put_fresh_columns(x, "next");
  tc_print_line(&x->s, "before = now, now = next;");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  put_arrival(x);
  tc_print_line(&x->s, "if (first < end) {");
  x->s.indent += 2;
  put_outer_starts(x, o, "before");
  put_outer_finishes(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Rows, once their accumulators are complete. */
static void put_finish(tc_cuda_product *x) {
  const tc_stage *st = &x->mm->inner.finish;
  if (!st->naction) return;
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x; e < M && m0 + e < m_end; e += THREADS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e;", x->text[x->m]);
  tc_print_line(&x->s, "const tc_uf32 r2 = tc_set_f32(tops[e]), r3 = tc_set_f32(totals[e]);");
  tc_cuda_put_finish(x, st, 1);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Sums and accumulators in shared memory, then the epilogue. */
static void put_epilogue(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_action *a = tc_cuda_chain_rows(x);
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "tc_f32 *const sums = (tc_f32 *)place, *const tops = sums + %d * M * (N + %d), *const totals = tops + M;",
                count_outers(x), PAD);
  if (a) {
    tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < 2; ++h) {");
    tc_print_line(&x->s, "  TC_UNROLL for (int s = 1; s < 4; s *= 2) total[h] += tc_shuffle(0xffffffffu, total[h], s);");
    tc_print_line(&x->s, "  tops[warp * 16 + lane / 4 + h * 8] = most[h].l[0];");
    tc_print_line(&x->s, "  totals[warp * 16 + lane / 4 + h * 8] = total[h];");
    tc_print_line(&x->s, "}");
  }
  tc_print_line(&x->s, "TC_UNROLL for (int j = 0; j < N / 8; ++j)");
  tc_print_line(&x->s, "  TC_UNROLL for (int e = 0; e < 4; ++e) {");
  for (int i = 0; i < count_outers(x); ++i)
    tc_print_line(&x->s, "    sums[(%s * M + warp * 16 + lane / 4 + e / 2 * 8) * (N + %d) + j * 8 + lane %% 4 * 2 + e %% 2] = %s[j * 4 + e];",
                  i ? "1" : "0", PAD, outer_of(x, i).sum);
  tc_print_line(&x->s, "  }");
  tc_print_line(&x->s, "__syncthreads();");
  put_finish(x);
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x * TC_L; e < M * N; e += THREADS * TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e / N, %s = e %% N;", x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  for (int i = 0; i < count_outers(x); ++i)
    tc_print_line(&x->s, "const tc_vf32 r%u = tc_load_f32(sums + (%s * M + e / N) * (N + %d) + e %% N);", outer_of(x, i).result,
                  i ? "1" : "0", PAD);
  if (a) tc_print_line(&x->s, "const tc_uf32 r2 = tc_set_f32(tops[e / N]), r3 = tc_set_f32(totals[e / N]);");
  tc_cuda_put_finish(x, &x->mm->epilogue, (int)o[TC_CUDA_EPILOGUE].plan.width);
  for (int i = 0; i < 2; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  tc_print_line(&x->s, "__syncthreads();");
}

static void put_sizes(tc_cuda_product *x) {
  static const char *const end[TC_MM_INNERS] = {"d_end", "e_end"};
  tc_print_line(&x->s, "constexpr int D = %d, N = %d, M = THREADS / 2, SLOTS = %d;", deep_of(x, 0), wide_of(x), slots_of(x));
  if (has_second(x)) tc_print_line(&x->s, "constexpr int E = %d;", deep_of(x, 1));
  for (int i = 0; i < x->mm->inner.n; ++i)
    tc_print_line(&x->s, "const tc_int %s = %lld;", end[i], (long long)tc_dim_value(x->mm->axis[tc_mm_deep(x->mm, i)].extent));
  tc_print_line(&x->s, "const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;");
  tc_print_line(&x->s, "unsigned short *const place = tc_places(), *const k_place = place + M * D;");
  tc_print_line(&x->s, "unsigned short *const v_place = k_place + SLOTS * KEYS * D;%s",
                has_own_b(x) ? "" : " /* none: B is that of an inner product */");
  if (has_second(x))
    tc_print_line(&x->s, "unsigned short *const p_place = v_place%s, *const w_place = p_place + M * E;",
                  has_own_b(x) ? " + SLOTS * KEYS * N" : "");
  const int columns = tc_cuda_chain_columns(x, NULL);
  if (columns)
    tc_print_line(&x->s, "constexpr int COLUMNS = %d; /* values of keys, as the tiles are */", columns);
  if (columns)
    tc_print_line(&x->s, "tc_f32 *const columns = (tc_f32 *)(%s), fresh[COLUMNS] = {};",
                  has_second(x) ? "w_place + SLOTS * KEYS * E" : has_own_b(x) ? "v_place + SLOTS * KEYS * N" : "v_place");
}

static void put_start(tc_cuda_product *x) {
  const tc_action *a = tc_cuda_chain_rows(x);
  tc_buf id = {0};
  for (int i = 0; i < count_outers(x); ++i) tc_print_line(&x->s, "tc_f32 %s[N / 2] = {};", outer_of(x, i).sum);
  tc_print_line(&x->s, "const tc_int row0 = m0 + warp * 16 + lane / 4;");
  tc_print_line(&x->s, "const tc_int row[2] = {TC_MIN(row0, m_end - 1), TC_MIN(row0 + 8, m_end - 1)};");
  if (!a) return;
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "const tc_uf32 none = %s;", id.text ? id.text : "");
  tc_print_line(&x->s, "tc_uf32 most[2] = {none, none};");
  tc_print_line(&x->s, "tc_f32 total[2] = {0, 0}, factor[2];");
  tc_print_line(&x->s, "bool changed;");
  tc_buf_free(&id);
}

/* closer: of the variable and the bound, which becomes the variable: TC_MIN or TC_MAX. */
static void put_bound(tc_cuda_product *x, const tc_address *a, const char *variable, const char *closer, bool upper) {
  tc_buf at = {0};
  tc_print_key_bound(&x->s, a, x->m, upper, &at);
  tc_print_line(&x->s, "%s = %s(%s, (tc_int)(%s));", variable, closer, variable, at.text);
  tc_buf_free(&at);
}

/* The keys that any of the block's rows has terms of, from a multiple of a tile on, and those that all have. */
static void put_keys(tc_cuda_product *x, const tc_mm_keys *keys) {
  tc_print_line(&x->s, "tc_int first = 0, end = k_end, all_first = 0, all_end = k_end;");
  if (!keys->has_first && !keys->has_end) return;
  tc_print_line(&x->s, "const tc_int last = TC_MIN(m0 + M, m_end) - 1;");
  if (keys->has_end) {
    put_bound(x, &keys->end, "end", "TC_MIN", true);
    put_bound(x, &keys->end, "all_end", "TC_MIN", false);
  }
  if (!keys->has_first) return;
  put_bound(x, &keys->first, "first", "TC_MAX", false);
  put_bound(x, &keys->first, "all_first", "TC_MAX", true);
  tc_print_line(&x->s, "first = first / KEYS * KEYS;");
}

/* Rows of most keys come first, so that those of few fill what is left: keys in front of a row's end are most in the last
 * rows, those behind a row's first one in the first. */
static void put_row(tc_cuda_product *x, const tc_mm_keys *keys) {
  if (keys->has_first && !keys->has_end) tc_print_line(&x->s, "const tc_int m0 = tile %% m_tiles * M;");
  else tc_print_line(&x->s, "const tc_int m0 = (m_tiles - 1 - tile %% m_tiles) * M; /* the rows of most keys first */");
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  put_sizes(x);
  tc_cuda_open_tiles(x, "M", "N");
  put_row(x, &keys);
  tc_cuda_put_batches(x);
  put_keys(x, &keys);
  put_fill(x, o, TC_CUDA_INNER_A, "place", "0");
  put_fill(x, o, TC_CUDA_INNER_B, "k_place", "first");
  if (has_second(x)) {
    put_fill(x, o, TC_CUDA_SECOND_A, "p_place", "0");
    put_fill(x, o, TC_CUDA_SECOND_B, "w_place", "first");
  }
  if (tc_cuda_chain_columns(x, NULL)) tc_print_line(&x->s, "if (first < end)");
  put_columns(x, "first");
  put_fresh_columns(x, "0");
  tc_print_line(&x->s, "tc_copies_end();");
  put_arrival(x);
  tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, D, %s> left(place);", tc_print_storage(x->mm->operand),
                truth(o[TC_CUDA_INNER_A].along == x->kk + 1));
  if (has_second(x))
    tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, E, %s> second(p_place);", tc_print_storage(x->mm->operand),
                  truth(o[TC_CUDA_SECOND_A].along == x->kk + 2));
  put_start(x);
  put_keys_loop(x, o, &keys);
  put_epilogue(x, o);
  tc_cuda_close_tiles(x);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Operands whose lanes are arguments of the function template, in order. */
static const int lanes_of[] = {TC_CUDA_INNER_A,  TC_CUDA_INNER_B,  TC_CUDA_B,
                               TC_CUDA_EPILOGUE, TC_CUDA_SECOND_A, TC_CUDA_SECOND_B};

static int count_lanes(const tc_cuda_product *x) { return has_second(x) ? 6 : 4; }

/* Halves of a tile of so many keys, and of what a block has of its own. */
static int places_of(const tc_cuda_product *x, int threads, int keys) {
  const int deep = deep_of(x, 0) + deep_of(x, 1), own = has_own_b(x) ? wide_of(x) : 0;
  const int columns = 2 * tc_cuda_chain_columns(x, NULL); /* as halves */
  return threads / 2 * deep + slots_of(x) * keys * (deep + own + columns);
}

/* Blocks of so many threads that a multiprocessor holds, whose warps multiply while others do the rest: sums, scores and A
 * are two thirds of a thread's registers. */
static int blocks_of(const tc_cuda_product *x, int threads) {
  const int by_registers = REGISTERS / (threads * tc_cuda_chain_registers(x->mm, KEYS) * 3 / 2);
  const int by_places = SHARED / (2 * places_of(x, threads, KEYS) + UNIT);
  const int blocks = by_registers < by_places ? by_registers : by_places;
  return blocks > 0 ? blocks : 1;
}

/* Keys of a tile: 64, or twice as many where a block's threads have registers for their products and A. */
static int keys_of(const tc_cuda_product *x, int threads) {
  const int held = tc_cuda_chain_registers(x->mm, 2 * KEYS);
  const int most = REGISTERS / (threads * blocks_of(x, threads));
  return threads > GROUP && held * 3 <= (most < 255 ? most : 255) * 2 ? 2 * KEYS : KEYS;
}

/* o: NULL: single elements. */
static void put_function(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body, int number, int threads,
                         const char *index, tc_buf *out) {
  tc_buf arguments = {0};
  tc_putf(&arguments, "%d, %d, ", threads, o ? keys_of(x, threads) : KEYS);
  for (int i = 0; i < count_lanes(x); ++i) tc_putf(&arguments, "%d, ", o ? (int)o[lanes_of[i]].plan.width : 1);
  tc_put(&arguments, index);
  tc_cuda_put_instance(x, body, number, threads, o ? blocks_of(x, threads) : 1, arguments.text, out);
  tc_buf_free(&arguments);
}

/* Wide products are bound by reading B, which blocks of 64 rows do twice as often. */
static bool is_narrow(const tc_cuda_product *x) { return deep_of(x, 0) + deep_of(x, 1) + wide_of(x) <= 4 * PANEL; }

/* Do blocks of 64 rows pay, whatever the sizes?  A multiprocessor holds several then, and those of 128 rows alone. */
static bool is_small(const tc_cuda_product *x) {
  return has_second(x) && blocks_of(x, GROUP) > 1 && blocks_of(x, 2 * GROUP) == 1 && is_narrow(x);
}

/* Functions of 16-byte accesses, for 128 rows, but where `is_small`, and for 64; the last one has no conditions. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body, tc_buf *out) {
  const char *index = x->plan->index64 ? "tc_i64" : "int";
  tc_put(out, "template <int THREADS, int KEYS, ");
  for (int i = 0; i < count_lanes(x); ++i) tc_putf(out, "int %c_lanes, ", letters[lanes_of[i]]);
  tc_put(out, "class tc_int>\nTC_FN void @NAME@_product(\n    ");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  int n = 0;
  if (!is_small(x)) put_function(x, o, body, n++, 2 * GROUP, index, out);
  put_function(x, o, body, n++, GROUP, index, out);
  put_function(x, NULL, body, n++, GROUP, "tc_i64", out);
  return (uint32_t)n;
}

/* Bytes of shared memory of a block of so many threads: places, or sums; and what aligns the first. */
static int shared_of(const tc_cuda_product *x, int threads) {
  const int places = places_of(x, threads, keys_of(x, threads)) * 2;
  const int sums = threads / 2 * (count_outers(x) * (wide_of(x) + PAD) + 2) * 4;
  return (places > sums ? places : sums) + UNIT;
}

/* Do blocks of 64 rows pay up to LONG keys?  Where rows have different keys, they end with fewer for nothing. */
static bool prefers_small(const tc_cuda_product *x, const tc_mm_keys *keys) {
  return (keys->has_first || keys->has_end) && is_narrow(x);
}

/* C: `many`, whether there are blocks of 128 rows.  They read B half as often; those of 64 begin, end and wait beside each
 * other: the former are for more than half as many again as multiprocessors hold at once.  (H200, T 256 to 8192: up to 10 %
 * for either, the masked ones from LONG keys on.) */
static void put_many(const tc_cuda_product *x, tc_buf *out) {
  enum { LONG = 4096 };
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  tc_putf(out,
          "  const int64_t most = c->info->max_shared, large = %d, held = %d * (int64_t)c->info->sms;\n"
          "  const int many = batches * tc_cuda_ceildiv(m, 128) * 2 >= held * 3 && large <= most",
          shared_of(x, 2 * GROUP), blocks_of(x, 2 * GROUP));
  if (prefers_small(x, &keys)) {
    tc_put(out, " && ");
    tc_print_dim(x->p, x->mm->axis[x->kk].extent, out);
    tc_putf(out, " >= %d", LONG);
  }
  tc_put(out, ";\n");
}

static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  const int small = shared_of(x, GROUP);
  (void)o;
  if (is_small(x)) {
    tc_putf(out,
            "  const unsigned function = !vectorized;\n"
            "  const int64_t high = 64, broad = n, block = high * 2, shared = %d;\n",
            small);
    return;
  }
  put_many(x, out);
  tc_putf(out,
          "  const unsigned function = !vectorized ? 2 : many ? 0 : 1;\n"
          "  const int64_t high = function == 0 ? 128 : 64, broad = n, block = high * 2;\n"
          "  const int64_t shared = function == 0 ? large : %d;\n",
          small);
}

const tc_cuda_template tc_cuda_chain = {
    .own = "1", .body = put_body, .put = put_functions, .launch = put_launch};

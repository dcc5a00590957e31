/* chain.c - a chain of products of halves on tensor cores (Dao, FlashAttention-2, 2023; Shah et al., FlashAttention-3,
 * 2024: the outer product of a tile is computed beside the scores of the next).
 *
 * A block has M rows, each warp 16 of them: its part of the inner products' A stays in registers (wgmma's in shared
 * memory), its sums of all products do.  Tiles of KEYS keys of each B pass through two places in shared memory: while
 * products work on theirs, the next ones are on their way.  Scores of a tile become A where they are, for what a thread holds
 * of a product it holds of an operand, too; sums so far are rescaled where their row's accumulator 0 changed.  Finished
 * sums go through shared memory, so that a thread of the epilogue has neighbours along n. */
#include "backends/cuda/gemm/chain.h"

#include <stdio.h>

enum { KEYS = 64, PAD = 8, PANEL = 64, GROUP = 128, REGISTERS = 65536 };

static int up(int64_t n) { return (int)((n + PANEL - 1) / PANEL * PANEL); }

static bool has_second(const tc_cuda_product *x) { return x->mm->inner.n > 1; }

/* What an inner product sums over, in whole panels; 0: there is none. */
static int deep_of(const tc_cuda_product *x, int inner) {
  if (inner >= x->mm->inner.n) return 0;
  const int d = up(tc_dim_value(x->mm->axis[tc_mm_deep(x->mm, inner)].extent));
  return d ? d : PANEL;
}

static int wide_of(const tc_cuda_product *x) { return up(tc_dim_value(x->mm->axis[x->n].extent)); }

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
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  snprintf(place, sizeof place, "v_place + %s * (KEYS * N)", late);
  put_fill(x, o, TC_CUDA_B, place, before);
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

static void put_outer_start(tc_cuda_product *x, const tc_cuda_operand *o, const char *at) {
  tc_print_line(&x->s, "tc_chain_start<tc_%s, KEYS, N, %s>(sum, weights, v_place + %s * (KEYS * N));",
                tc_print_storage(x->mm->operand), truth(o[TC_CUDA_B].along == x->kk), at);
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
  tc_print_line(&x->s, "tc_chain_finish<1>(score);");
  if (has_second(x)) tc_print_line(&x->s, "tc_chain_finish<1>(other);");
  tc_cuda_chain_put_scores(x, keys);
  tc_print_line(&x->s, "tc_chain_finish<0>(sum, weights);");
  if (tc_cuda_chain_rows(x)) put_rescale(x);
  tc_print_line(&x->s, "tc_chain_pairs<tc_%s, KEYS>(weights, score);", tc_print_storage(x->mm->operand));
}

/* The outer product of a tile is under way while scores of the next become its A. */
static void put_keys_loop(tc_cuda_product *x, const tc_cuda_operand *o, const tc_mm_keys *keys) {
  tc_print_line(&x->s, "tc_u32 weights[KEYS / 16][4] = {};");
  tc_print_line(&x->s, "for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key1 = key0 + KEYS;");
  tc_print_line(&x->s, "const int now = (int)((key0 - first) / KEYS %% 2), before = now ^ 1;");
  tc_print_line(&x->s, "tc_f32 score[KEYS / 2];");
  if (has_second(x)) tc_print_line(&x->s, "tc_f32 other[KEYS / 2];");
  put_arrival(x);
  put_inner_starts(x, o, "now");
  tc_print_line(&x->s, "if (key0 > first)");
  x->s.indent += 2;
  put_outer_start(x, o, "before");
  x->s.indent -= 2;
  tc_print_line(&x->s, "else");
  tc_print_line(&x->s, "  tc_chain_start_none();");
  put_next_fills(x, o, "key1", "before", "key0", "now");
  put_weights(x, keys);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  put_arrival(x);
  tc_print_line(&x->s, "if (first < end) {");
  x->s.indent += 2;
  put_outer_start(x, o, "((end - 1 - first) / KEYS % 2)");
  tc_print_line(&x->s, "tc_chain_finish<0>(sum, weights);");
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
  tc_print_line(&x->s, "tc_f32 *const sums = (tc_f32 *)place, *const tops = sums + M * (N + %d), *const totals = tops + M;", PAD);
  if (a) {
    tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < 2; ++h) {");
    tc_print_line(&x->s, "  TC_UNROLL for (int s = 1; s < 4; s *= 2) total[h] += tc_shuffle(0xffffffffu, total[h], s);");
    tc_print_line(&x->s, "  tops[warp * 16 + lane / 4 + h * 8] = most[h].l[0];");
    tc_print_line(&x->s, "  totals[warp * 16 + lane / 4 + h * 8] = total[h];");
    tc_print_line(&x->s, "}");
  }
  tc_print_line(&x->s, "TC_UNROLL for (int j = 0; j < N / 8; ++j)");
  tc_print_line(&x->s, "  TC_UNROLL for (int e = 0; e < 4; ++e)");
  tc_print_line(&x->s, "    sums[(warp * 16 + lane / 4 + e / 2 * 8) * (N + %d) + j * 8 + lane %% 4 * 2 + e %% 2] = sum[j * 4 + e];", PAD);
  tc_print_line(&x->s, "__syncthreads();");
  put_finish(x);
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x * TC_L; e < M * N; e += THREADS * TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e / N, %s = e %% N;", x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_vf32 r0 = tc_load_f32(sums + e / N * (N + %d) + e %% N);", PAD);
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
  tc_print_line(&x->s, "constexpr int D = %d, N = %d, M = THREADS / 2;", deep_of(x, 0), wide_of(x));
  if (has_second(x)) tc_print_line(&x->s, "constexpr int E = %d;", deep_of(x, 1));
  for (int i = 0; i < x->mm->inner.n; ++i)
    tc_print_line(&x->s, "const tc_int %s = %lld;", end[i], (long long)tc_dim_value(x->mm->axis[tc_mm_deep(x->mm, i)].extent));
  tc_print_line(&x->s, "const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;");
  tc_print_line(&x->s, "unsigned short *const place = tc_places(), *const k_place = place + M * D;");
  tc_print_line(&x->s, "unsigned short *const v_place = k_place + 2 * KEYS * D;");
  if (has_second(x)) tc_print_line(&x->s, "unsigned short *const p_place = v_place + 2 * KEYS * N, *const w_place = p_place + M * E;");
}

static void put_start(tc_cuda_product *x) {
  const tc_action *a = tc_cuda_chain_rows(x);
  tc_buf id = {0};
  tc_print_line(&x->s, "tc_f32 sum[N / 2] = {};");
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

/* Blocks of so many threads that a multiprocessor holds: two, where sums are narrow, so that warps multiply while others
 * do the rest. */
static int blocks_of(const tc_cuda_product *x, int threads) {
  const int sets = deep_of(x, 0) + deep_of(x, 1) + wide_of(x) <= 2 * PANEL ? 2 : 1;
  return sets * 2 * GROUP / threads;
}

/* Keys of a tile: 64, or twice as many where a block's threads have registers for their products and A.  The outer
 * product's sums, scores and A are at most two thirds of all. */
static int keys_of(const tc_cuda_product *x, int threads) {
  const int held = wide_of(x) / 2 + 2 * KEYS * (2 * x->mm->inner.n + 1) / 4;
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

/* Functions 0 and 1: 128 and 64 rows, of 16-byte accesses; 2: no conditions. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body, tc_buf *out) {
  const char *index = x->plan->index64 ? "tc_i64" : "int";
  tc_put(out, "template <int THREADS, int KEYS, ");
  for (int i = 0; i < count_lanes(x); ++i) tc_putf(out, "int %c_lanes, ", letters[lanes_of[i]]);
  tc_put(out, "class tc_int>\nTC_FN void @NAME@_product(\n    ");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  put_function(x, o, body, 0, 2 * GROUP, index, out);
  put_function(x, o, body, 1, GROUP, index, out);
  put_function(x, NULL, body, 2, GROUP, "tc_i64", out);
  return 3;
}

/* Bytes of shared memory of a block of so many threads: places, or sums; and what aligns the first. */
static int shared_of(const tc_cuda_product *x, int threads) {
  const int deep = deep_of(x, 0) + deep_of(x, 1), rows = threads / 2;
  const int places = (rows * deep + 2 * keys_of(x, threads) * (deep + wide_of(x))) * 2;
  const int sums = rows * (wide_of(x) + PAD + 2) * 4;
  return (places > sums ? places : sums) + 1024;
}

/* Do blocks of 64 rows pay up to LONG keys?  Where rows have different keys, they end with fewer for nothing;
 * wide products are bound by reading B. */
static bool prefers_small(const tc_cuda_product *x, const tc_mm_keys *keys) {
  return (keys->has_first || keys->has_end) && deep_of(x, 0) + deep_of(x, 1) + wide_of(x) <= 4 * PANEL;
}

/* Blocks of 128 rows read B half as often; those of 64 begin, end and wait beside each other: the former are for more
 * than half as many again as multiprocessors hold at once.  (H200, T 256 to 8192: up to 10 % for either, the masked ones
 * from LONG keys on.) */
static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  enum { LONG = 4096 };
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  (void)o;
  tc_putf(out,
          "  const int64_t most = c->info->max_shared, large = %d, held = %d * (int64_t)c->info->sms;\n"
          "  const int many = batches * tc_cuda_ceildiv(m, 128) * 2 >= held * 3 && large <= most",
          shared_of(x, 2 * GROUP), blocks_of(x, 2 * GROUP));
  if (prefers_small(x, &keys)) {
    tc_put(out, " && ");
    tc_print_dim(x->p, x->mm->axis[x->kk].extent, out);
    tc_putf(out, " >= %d", LONG);
  }
  tc_putf(out,
          ";\n"
          "  const unsigned function = !vectorized ? 2 : many ? 0 : 1;\n"
          "  const int64_t high = function == 0 ? 128 : 64, broad = n, block = high * 2;\n"
          "  const int64_t shared = function == 0 ? large : %d;\n",
          shared_of(x, GROUP));
}

const tc_cuda_template tc_cuda_chain = {
    .own = "1", .body = put_body, .put = put_functions, .launch = put_launch};

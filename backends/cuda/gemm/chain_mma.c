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
 * the tiles: then warps that multiply wait for tiles alone, through mbarriers, and not for each other, so
 * that some multiply while others compute exponentials (Shah et al.: warp specialization).
 *
 * Where sizes are known at run time only, there are functions for some widths, and the launcher takes the
 * narrowest that suit; what is wider than all is the matter of chain_simt.c. */
#include "backends/cuda/gemm/chain_mma.h"

#include <stdio.h>

/* ---- a thread's part -------------------------------------------------------------------------- */

static const tc_cuda_chain_layout layout = {.rows = "2",
                                            .place = "warp * 16 + lane / 4 + h * 8",
                                            .scores = "KEYS / 2",
                                            .key = "i / 4 * 8 + lane % 4 * 2 + i % 2",
                                            .row = "i / 2 % 2",
                                            .sums = "SUMS",
                                            .column = "part0 + i / 4 * 8 + lane % 4 * 2 + i % 2",
                                            .row_of_sum = "i / 2 % 2",
                                            .threads = 4,
                                            .apart = 1,
                                            .first = "part0 == 0",
                                            .columns = true,
                                            .shares = true,
                                            .meet = "tc_meet_consumers<THREADS>();"};

/* ---- tiles on their way ---------------------------------------------------------------------- */

static void put_fill(tc_cuda_product *x, const tc_cuda_operand *o, int which, const char *tile,
                     const char *key) {
  const tc_cuda_fill f = tc_cuda_tile_fill(x, o, which, key);
  tc_cuda_open_tile(x, &f, tile);
  tc_cuda_put_fill(x, &f);
  tc_cuda_close_scope(x);
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
    const char *const width = tc_cuda_tile_width(y.b);
    const bool by_keys = o[y.b].along == x->kk;
    tc_print_line(&x->s, "tc_chain_start<tc_%s, KEYS, SUMS * 2, %s, %s>(%s, %s, %c_place + %s * (KEYS * %s) + part0 * %s);",
                  tc_print_storage(x->mm->operand), truth(by_keys), width, y.sum, y.weights,
                  tc_cuda_chain_letter[y.b], at,
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

static void put_arrival_alone(tc_cuda_product *x, const tc_cuda_operand *o) {
  tc_cuda_open_alone(x, o);
  put_arrival(x);
  tc_cuda_close_alone(x, o);
}

/* Of two places the next tile's is that which the outer product reads. */
static void put_vacancy(tc_cuda_product *x) {
  tc_print_line(&x->s, "if (SLOTS == 2) {");
  x->s.indent += 2;
  put_outer_finishes(x);
  tc_print_line(&x->s, "%s", layout.meet);
  tc_cuda_close_scope(x);
}

/* The tile at hand becomes A of the outer product. */
static void put_weights(tc_cuda_product *x, const tc_cuda_operand *o, const tc_mm_keys *keys) {
  const int outers = tc_cuda_chain_outers(x);
  tc_print_line(&x->s, "tc_chain_finish<%d>(score);", outers);
  if (tc_cuda_chain_has_second(x)) tc_print_line(&x->s, "tc_chain_finish<%d>(other);", outers);
  tc_cuda_put_releases(x, o, false, "now", "");
  tc_cuda_chain_put_scores(x, &layout, keys);
  put_outer_finishes(x);
  tc_cuda_put_releases(x, o, true, "before", " && key0 > first");
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
  tc_print_line(&x->s, "int before = 0, phase_before = 0;");
  tc_print_line(&x->s, "for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key1 = key0 + KEYS;");
  tc_print_line(&x->s, "const int next = now + 1 < SLOTS ? now + 1 : 0;");
  if (tc_cuda_chain_columns(x, NULL))
    tc_print_line(&x->s, "const tc_f32 *const column = columns + now * (COLUMNS * KEYS);");
  tc_print_line(&x->s, "tc_f32 score[KEYS / 2];");
  if (tc_cuda_chain_has_second(x)) tc_print_line(&x->s, "tc_f32 other[KEYS / 2];");
  put_arrival_alone(x, o);
  tc_cuda_put_waits(x, o, true, "now", "phase");
  put_inner_starts(x, o, "now");
  tc_print_line(&x->s, "if (key0 > first) {");
  x->s.indent += 2;
  tc_cuda_put_waits(x, o, false, "before", "phase_before");
  put_outer_starts(x, o, "before");
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s, "  tc_chain_start_none();");
  tc_print_line(&x->s, "}");
  tc_cuda_open_alone(x, o);
  if (!tc_cuda_chain_has_own_b(x)) put_vacancy(x);
  put_next_fills(x, o, "key1", "next", "key0", "now");
  tc_cuda_close_alone(x, o);
  put_weights(x, o, keys);
  tc_cuda_chain_put_fresh(x, "next");
  tc_print_line(&x->s, "before = now, phase_before = phase, now = next;");
  tc_print_line(&x->s, "if (now == 0) phase = !phase;");
  tc_cuda_close_scope(x);
  put_arrival_alone(x, o);
  tc_print_line(&x->s, "if (first < end) {");
  x->s.indent += 2;
  tc_cuda_put_waits(x, o, false, "before", "phase_before");
  put_outer_starts(x, o, "before");
  put_outer_finishes(x);
  tc_cuda_put_releases(x, o, true, "before", "");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* How much of a tile's width there is, where that is known: products are of steps of 16. */
static void put_live(tc_cuda_product *x, char width, int axis) {
  const tc_dim extent = x->mm->axis[axis].extent;
  if (tc_dim_is_const(extent))
    tc_print_line(&x->s, "constexpr int %c_LIVE = %lld;", width, (long long)(tc_dim_value(extent) + 15) / 16 * 16);
  else tc_print_line(&x->s, "constexpr int %c_LIVE = %c;", width, width);
}

static void put_sizes(tc_cuda_product *x) {
  tc_print_line(&x->s, "constexpr int M = THREADS / 2 * PART / N, PANEL = %d;", TC_CUDA_PANEL);
  put_live(x, 'D', tc_mm_deep(x->mm, 0));
  if (tc_cuda_chain_has_second(x)) put_live(x, 'E', tc_mm_deep(x->mm, 1));
  put_live(x, 'N', x->n);
  tc_print_line(&x->s, "constexpr int SUMS = (PART == N ? N_LIVE : PART) / 2; /* of a thread */");
  tc_cuda_chain_put_ends(x);
  tc_print_line(&x->s, "const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32 %% (M / 16);");
  tc_print_line(&x->s, "const int part0 = PART == N ? 0 : tc_warp_uniform((int)threadIdx.x / (M * 2)) * PART;");
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
  tc_cuda_open_alone(x, o);
  put_fill(x, o, TC_CUDA_INNER_B, "k_place + now * (KEYS * D)", "first");
  if (tc_cuda_chain_has_second(x))
    put_fill(x, o, TC_CUDA_SECOND_B, "w_place + now * (KEYS * E)", "first");
  tc_cuda_close_alone(x, o);
  if (tc_cuda_chain_columns(x, NULL)) tc_print_line(&x->s, "if (first < end)");
  tc_cuda_chain_put_columns(x, "first");
  tc_cuda_chain_put_fresh(x, "now");
  tc_print_line(&x->s, "tc_copies_end();");
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  put_sizes(x);
  tc_cuda_put_mbarriers(x, o);
  tc_cuda_chain_open_tiles(x, &keys);
  tc_cuda_put_mbarrier_inits(x, o);
  tc_cuda_chain_put_first(x, &keys);
  tc_cuda_put_batches(x);
  tc_cuda_chain_put_keys(x, &keys);
  tc_print_line(&x->s, "int now = 0, phase = 0; /* the place of the next tile, and the phase of its mbarriers */");
  tc_cuda_put_producers(x, o);
  put_first_fills(x, o);
  put_arrival(x);
  tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, D, D_LIVE, %s> left(place);",
                tc_print_storage(x->mm->operand), truth(o[TC_CUDA_INNER_A].along == x->kk + 1));
  if (tc_cuda_chain_has_second(x))
    tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, E, E_LIVE, %s> second(p_place);",
                  tc_print_storage(x->mm->operand), truth(o[TC_CUDA_SECOND_A].along == x->kk + 2));
  tc_cuda_chain_put_start(x, &layout);
  put_keys_loop(x, o, &keys);
  tc_cuda_chain_put_epilogue(x, o, &layout, "place");
  tc_cuda_close_producers(x, o);
  tc_cuda_close_scope(x);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Which widths the function of single elements has: the widest that all devices have shared memory
 * for, or the narrowest. */
static int single_of(const tc_cuda_product *x, tc_cuda_block *w) {
  tc_cuda_block next;
  int at = 0;
  tc_cuda_block_widths(x, 0, w);
  while (tc_cuda_block_widths(x, at + 1, &next) &&
         tc_cuda_block_shared(x, &next, TC_CUDA_FEW_ROWS) <= TC_CUDA_LEAST_SHARED)
    *w = next, ++at;
  return at;
}

/* Are there sizes, or devices, that no function is for? */
static bool needs_general(const tc_cuda_product *x) {
  tc_cuda_block w = {0};
  for (int i = 0; tc_cuda_block_widths(x, i, &w);) ++i;
  return tc_cuda_block_shared(x, &w, TC_CUDA_FEW_ROWS) > TC_CUDA_LEAST_SHARED || tc_cuda_chain_is_wider(x->p, x->mm);
}

static void put_general(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (needs_general(x)) tc_cuda_chain_simt.body(x, o);
}

/* o: NULL: single elements. */
static void put_function(const tc_cuda_product *x, const tc_cuda_operand *o,
                         const tc_cuda_bodies *b, const tc_cuda_block *w, int number, int rows,
                         tc_buf *out) {
  tc_buf arguments = {0};
  const int keys = o ? tc_cuda_block_keys(x, w, rows) : TC_CUDA_KEYS;
  const bool producers = o && rows == TC_CUDA_MANY_ROWS && tc_cuda_block_has_producers(x, o, w);
  tc_putf(&arguments, "%d, %s, %d, %d, %d, %d, %d, ", tc_cuda_block_threads(w, rows),
          producers ? "TC_PRODUCERS" : "0", keys, tc_cuda_block_slots(x, w, rows, keys), w->d, w->n, w->part);
  if (tc_cuda_chain_has_second(x)) tc_putf(&arguments, "%d, ", w->e);
  for (int i = 0; i < tc_cuda_chain_count_lanes(x); ++i)
    tc_putf(&arguments, "%d, ", o ? (int)o[tc_cuda_chain_lanes[i]].plan.width : 1);
  tc_put(&arguments, o && !x->plan->index64 ? "int" : "tc_i64");
  tc_cuda_put_instance(x, b, "product", number, tc_cuda_block_threads(w, rows), producers,
                       o ? tc_cuda_blocks_held(x, w, rows) : 1, arguments.text, out);
  tc_buf_free(&arguments);
}

/* Functions of 16-byte accesses of each widths, for 128 rows, where there are any, and for 64; one
 * of single elements; and a general one, where it is needed. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o,
                              const tc_cuda_bodies *b, tc_buf *out) {
  tc_cuda_block w;
  int n = 0;
  tc_cuda_chain_put_template(
      x,
      tc_cuda_chain_has_second(x)
          ? "int THREADS, int PRODUCERS, int KEYS, int SLOTS, int D, int N, int PART, int E, "
          : "int THREADS, int PRODUCERS, int KEYS, int SLOTS, int D, int N, int PART, ",
      "product", b->body, b, out);
  for (int i = 0; tc_cuda_block_widths(x, i, &w); ++i) {
    if (tc_cuda_block_has_many(x, &w)) put_function(x, o, b, &w, n++, TC_CUDA_MANY_ROWS, out);
    put_function(x, o, b, &w, n++, TC_CUDA_FEW_ROWS, out);
  }
  single_of(x, &w);
  put_function(x, NULL, b, &w, n++, TC_CUDA_FEW_ROWS, out);
  return (uint32_t)n + (needs_general(x) ? tc_cuda_chain_put_general(x, o, b, n, true, out) : 0);
}

/* ---- the launcher ---------------------------------------------------------------------------- */

/* The keys from which on blocks of 128 rows pay.  Where rows have different keys, blocks of 64 end with
 * fewer for nothing; with producers, a few tiles make up for it. */
static int least_keys(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_mm_keys *keys,
                      const tc_cuda_block *w) {
  enum { LONG = 4096, FEW_TILES = 4 };
  if (!(keys->has_first || keys->has_end) || !tc_cuda_block_is_narrow(w)) return 0;
  return tc_cuda_block_has_producers(x, o, w) ? FEW_TILES * tc_cuda_block_keys(x, w, TC_CUDA_MANY_ROWS) : LONG;
}

/* C: what the functions of each widths want.  Blocks of 128 rows read B half as often; those of 64
 * begin, end and wait beside each other: the former are for more than half as many again as
 * multiprocessors hold at once.  (H200, T 256 to 8192: up to 10 % for either, the masked ones from
 * LONG keys on; H100, with producers: 0.72 of the time of small ones at 300 keys, 1.02 at 512, 1.12 at
 * 1024, 1.25 from 2048 on.) */
static int put_suits(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  tc_cuda_block w;
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
  for (; tc_cuda_block_widths(x, n, &w); ++n) {
    const bool many = tc_cuda_block_has_many(x, &w), producers = tc_cuda_block_has_producers(x, o, &w);
    tc_putf(out, "      {%d, %d, %d, %d, %d, %d, %d, %d, %d},\n", tc_cuda_chain_class(x->p, x->mm, n),
            w.n, w.n / w.part, first, many ? tc_cuda_block_shared(x, &w, TC_CUDA_MANY_ROWS) : 0,
            tc_cuda_block_shared(x, &w, TC_CUDA_FEW_ROWS),
            tc_cuda_blocks_held(x, &w, TC_CUDA_MANY_ROWS), least_keys(x, o, &keys, &w), producers);
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
  tc_cuda_block w;
  tc_cuda_chain_put_width(x, out);
  const int functions = put_suits(x, o, out), single = single_of(x, &w);
  put_many(x, out);
  tc_putf(out,
          "  unsigned function = suits[at].first + (large && !many);\n"
          "  int64_t high = many ? 128 : 64, block = high * 2 * suits[at].parts, shared = many ? large : small;\n"
          "  if (many && suits[at].producers && tc_cuda_has_producers(c, &@NAME@_image)) block += %d;\n"
          "  if (!vectorized) function = %d, broad = %d, block = %d, shared = %d; /* single elements */\n",
          TC_CUDA_PRODUCERS, functions, w.n, tc_cuda_block_threads(&w, TC_CUDA_FEW_ROWS), tc_cuda_block_shared(x, &w, TC_CUDA_FEW_ROWS));
  if (!needs_general(x)) return;
  tc_putf(out,
          "  if (width > suits[at].width || small > most || (!vectorized && at > %d)) { /* any sizes suit the last ones */\n"
          "    function = %d + !vectorized, high = %d, broad = %d, block = %d, shared = %d;\n  }\n",
          single, functions + 1, TC_CUDA_CHAIN_GENERAL_ROWS, TC_CUDA_CHAIN_GENERAL_COLUMNS, TC_CUDA_THREADS,
          tc_cuda_chain_general_shared(x, TC_CUDA_CHAIN_GENERAL_ROWS, TC_CUDA_CHAIN_GENERAL_COLUMNS));
}

const tc_cuda_template tc_cuda_chain = {.own = "1",
                                        .unaligned_results = tc_cuda_may_be_unaligned,
                                        .body = put_body,
                                        .general = put_general,
                                        .put = put_functions,
                                        .launch = put_launch};

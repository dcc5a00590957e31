/* chain_wide.c - a chain of products whose operands have the type of the sums, f32 or f64
 * (Rabe and Staats, Self-attention does not need O(n^2) memory, 2021; Dao, FlashAttention-2, 2023): f32 on tensor cores, f64 by
 * multiplications and additions of every thread.
 *
 * A block has M rows, each warp some of them with all keys of a tile and all columns.  The block's rows of A of the inner products
 * are in shared memory; tiles of KEYS keys of each B pass through it.  B of an outer product may be the
 * tile that is there for an inner one: then there are two places, and the next tile is on its way
 * while this one is worked on.  Else there is one for each: B of the outer product is on its way
 * during the inner one, and the next tile's of that during the outer one.
 *
 * D, E and N, the widths that tiles have, are numbers in each function; where sizes are known at run
 * time only there are functions for some widths.  Few rows, which tensor cores would leave idle, are every thread's own.  What is
 * wider than all, or than shared memory has room for, is the matter of chain_simt.c. */
#include "backends/cuda/gemm/chain_wide.h"

#include <stdio.h>

enum { MOST_SHARED = 227 * 1024, LEAST_SHARED = 99 * 1024 };

/* ---- shapes of blocks ------------------------------------------------------------------------ */

typedef tc_cuda_chain_shape shape;

/* Of blocks of at most so many rows. */
static const tc_cuda_chain_unit *unit_of(const tc_cuda_product *x, int most_rows) {
  enum { FEW = 64 };
  return x->mm->acc == TC_F32 && most_rows >= FEW ? &tc_cuda_chain_tf32 : &tc_cuda_chain_fma;
}

static int slots_of(const tc_cuda_product *x) { return tc_cuda_chain_has_own_b(x) ? 1 : 2; }

static int threads_of(const shape *s) { return s->warps * 32; }
static int rows_of(const shape *s) { return s->warps * s->unit->rows * s->rows; }
static int keys_of(const shape *s) { return 8 * s->cols; }

/* Bytes of shared memory. */
static int shared_of(const tc_cuda_product *x, const shape *s) {
  const int rows = rows_of(s), keys = keys_of(s);
  const int tiles = (rows + slots_of(x) * keys) * tc_cuda_chain_wide_row(x, s) + keys * tc_cuda_chain_own_row(x, s);
  const int places = tiles + s->unit->places(x, s, rows, keys) + 2 * keys * tc_cuda_chain_columns(x, NULL);
  const int sums = rows * (tc_cuda_chain_outers(x) * (s->n + TC_CUDA_CHAIN_PAD) + 2);
  return (places > sums ? places : sums) * tc_cuda_chain_words(x) * 4;
}

/* Blocks of a multiprocessor of `shared` bytes. */
static int blocks_of(const tc_cuda_product *x, const shape *s, int shared) {
  const int registers = (s->unit->registers(x, s) + 7) / 8 * 8;
  const int by_registers = TC_CUDA_REGISTERS / (threads_of(s) * registers),
            by_shared = shared / (shared_of(x, s) + 1024);
  const int blocks = by_registers < by_shared ? by_registers : by_shared;
  return blocks > 0 ? blocks : shared_of(x, s) <= shared;
}

/* What a multiplication costs.  Tensor cores' blocks of fewer than most rows are for what leaves multiprocessors idle: they are alone. */
static double cost_of(const tc_cuda_product *x, const shape *s, int most_rows, int shared) {
  enum { MOST_ROWS = 128 };
  const int blocks = s->unit->parts && most_rows < MOST_ROWS ? 1 : blocks_of(x, s, shared);
  return s->unit->cost(x, s, blocks * s->warps);
}

/* *s, if it can be and costs less than `best` so far, which is 0 at first. */
static void take_better(const tc_cuda_product *x, int most_rows, int shared, const shape *s, double *best, shape *to) {
  enum { MOST_REGISTERS = 232 }; /* of a thread */
  if (rows_of(s) > most_rows || s->unit->registers(x, s) > MOST_REGISTERS || shared_of(x, s) > shared) return;
  const double cost = cost_of(x, s, most_rows, shared);
  if (*best > 0 && cost >= *best) return;
  *best = cost;
  *to = *s;
}

/* The best shape of at most so many rows where a multiprocessor has so much shared memory; false:
 * there is none. */
static bool best_of(const tc_cuda_product *x, int most_rows, int shared, shape *to) {
  static const int sides[] = {8, 4, 2, 1};
  enum { SIDES = sizeof sides / sizeof *sides, LEAST_COLS = 2 };
  const int least_warps = most_rows < 4 * to->unit->rows ? 1 : 4;
  double best = 0;
  shape s = *to;
  for (s.warps = 8; s.warps >= least_warps; s.warps /= 2)
    for (int i = 0; i < SIDES; ++i)
      for (int j = 0; j < SIDES && sides[j] >= LEAST_COLS; ++j)
        for (int raw = 0; raw <= s.unit->parts; ++raw) {
          s.rows = sides[i], s.cols = sides[j], s.raw = raw;
          take_better(x, most_rows, shared, &s, &best, to);
        }
  return best > 0;
}

/* The i-th widths, in what the unit's threads take at once; false: there are no more. */
static bool widths_of(const tc_cuda_product *x, int i, const tc_cuda_chain_unit *unit, shape *s) {
  tc_cuda_chain_widths w;
  if (!tc_cuda_chain_widths_of(x, i, unit->width / tc_cuda_chain_words(x), &w)) return false;
  *s = (shape){.unit = unit, .d = w.d, .e = w.e, .n = w.n};
  return true;
}

enum { FUNCTIONS = 15 }; /* of three widths: of four sides and one more */

/* A function: its shape, and the largest of the widths known at run time only that it suits. */
typedef struct function {
  shape s;
  int width;
} function;

/* Do all devices have shared memory for it? */
static bool suits_all(const tc_cuda_product *x, const function *f) {
  return shared_of(x, &f->s) <= LEAST_SHARED;
}

/* For the i-th widths, by tensor cores where these have registers for them; false: there are no more, or no shape. */
static bool add_function(const tc_cuda_product *x, int i, int side, int shared, function *to) {
  const tc_cuda_chain_unit *const units[] = {unit_of(x, side), &tc_cuda_chain_fma};
  *to = (function){.width = tc_cuda_chain_class(x->p, x->mm, i)};
  for (int j = 0; j < 2; ++j)
    if (widths_of(x, i, units[j], &to->s) && best_of(x, side, shared, &to->s)) return true;
  return false;
}

/* Of each widths one for each of the schedule's sides, as the most rows, from the narrowest on, and
 * where neither of the first two is for all devices, one whose shared memory they have.  How many. */
static int functions_of(const tc_cuda_product *x, function *to) {
  const tc_schedule_list *sides = &x->plan->sides;
  shape any;
  int n = 0;
  for (int i = 0; widths_of(x, i, unit_of(x, 0), &any); ++i) {
    const int first = n;
    for (uint32_t j = 0; j < sides->n && n + 1 < FUNCTIONS; ++j) {
      const int side = (int)sides->at[j];
      if (n == first || rows_of(&to[n - 1].s) > side) n += add_function(x, i, side, MOST_SHARED, &to[n]);
      if (j == 1 && n > first && !suits_all(x, &to[n - 1])) n += add_function(x, i, side, LEAST_SHARED, &to[n]);
    }
  }
  return n;
}

/* Which of them has the function of single elements: of those that all devices have shared memory
 * for the first of the widest, or the first; -1: there are none. */
static int single_of(const tc_cuda_product *x, const function *f, int n) {
  int at = n ? 0 : -1;
  for (int i = 1; i < n; ++i)
    if (suits_all(x, &f[i]) && (!suits_all(x, &f[at]) || f[i].width > f[at].width)) at = i;
  return at;
}

/* Are there sizes, or devices, that no function is for? */
static bool needs_general(const tc_cuda_product *x) {
  function f[FUNCTIONS];
  const int n = functions_of(x, f);
  return n == 0 || !suits_all(x, &f[n - 1]) || tc_cuda_chain_is_wider(x->p, x->mm);
}

/* ---- tiles on their way ---------------------------------------------------------------------- */

static void put_fill(tc_cuda_product *x, const tc_cuda_chain_unit *u, const tc_cuda_operand *o, int which, const char *tile,
                     const char *key) {
  const tc_cuda_fill f = tc_cuda_chain_fill(x, o, which, key);
  char row_at[32];
  if (which == TC_CUDA_B && u->pairs) snprintf(row_at, sizeof row_at, "tc_pair_at<N>");
  else snprintf(row_at, sizeof row_at, "(tc_row_at<%c, number>)", tc_cuda_chain_wide_of(which));
  tc_cuda_put_tile_rows(x, &f, tile, row_at);
}

/* Those of inner products from `key` on, if there are any, to place `to`. */
static void put_next_fills(tc_cuda_product *x, const tc_cuda_chain_unit *u, const tc_cuda_operand *o, const char *key,
                           const char *to) {
  tc_print_line(&x->s, "if (%s < end) {", key);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int to = SLOTS > 1 ? %s : 0;", to);
  put_fill(x, u, o, TC_CUDA_INNER_B, "(k_place + to * (KEYS * D_WIDE))", key);
  if (tc_cuda_chain_has_second(x))
    put_fill(x, u, o, TC_CUDA_SECOND_B, "(w_place + to * (KEYS * E_WIDE))", key);
  tc_cuda_chain_put_columns(x, key);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_copies_end();");
}

static void put_arrival_but(tc_cuda_product *x, int left) {
  tc_print_line(&x->s, "tc_copies_wait<%d>();", left);
  tc_print_line(&x->s, "__syncthreads(); /* the tiles at hand are there, and all have left those before */");
}

/* B of the outer product, behind which the next tiles of the others are on their way. */
static void put_arrival(tc_cuda_product *x) { put_arrival_but(x, 1); }

/* ---- the body -------------------------------------------------------------------------------- */

static void put_deep(tc_cuda_product *x, const char *name, const char *of) {
  tc_print_line(&x->s, "const int %s = (int)TC_CEILDIV(%s, V) * V;", name, of);
}

static void put_sizes(tc_cuda_product *x, const tc_cuda_chain_unit *u) {
  const bool second = tc_cuda_chain_has_second(x), own = tc_cuda_chain_has_own_b(x);
  const int columns = tc_cuda_chain_columns(x, NULL);
  tc_print_line(&x->s, "typedef tc_%s number;", tc_cuda_acc(x));
  tc_print_line(&x->s, "constexpr int V = 16 / (int)sizeof(number), M = THREADS / 32 * %d * ROWS, KEYS = 8 * COLS, SLOTS = %d;", u->rows, slots_of(x));
  tc_print_line(&x->s, "constexpr int D_WIDE = D + V, N_WIDE = N + V;");
  if (second) tc_print_line(&x->s, "constexpr int E_WIDE = E + V;");
  tc_print_line(&x->s, "const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;");
  tc_print_line(&x->s, "const int %s;", u->place);
  tc_cuda_chain_put_ends(x);
  put_deep(x, "d_deep", "d_end");
  if (second) put_deep(x, "e_deep", "e_end");
  tc_print_line(&x->s, "number *const place = (number *)tc_shared, *const q_place = place, *const k_place = q_place + M * D_WIDE;");
  tc_print_line(&x->s, "number *const v_place = k_place + SLOTS * KEYS * D_WIDE;%s",
                own ? "" : " /* none: B is that of an inner product */");
  if (second) tc_print_line(&x->s, "number *const p_place = v_place%s, *const w_place = p_place + M * E_WIDE;", own ? " + KEYS * N_WIDE" : "");
  u->put_places(x, second ? "w_place + SLOTS * KEYS * E_WIDE" : own ? "v_place + KEYS * N_WIDE" : "v_place");
  if (!columns) return;
  tc_print_line(&x->s, "constexpr int COLUMNS = %d; /* values of keys, as the tiles are */", columns);
  tc_print_line(&x->s, "number *const columns = behind, fresh[COLUMNS] = {};");
}

static void put_keys_loop(tc_cuda_product *x, const tc_cuda_chain_unit *u, const tc_cuda_operand *o, const tc_mm_keys *keys) {
  const bool own = tc_cuda_chain_has_own_b(x);
  tc_print_line(&x->s, "int at_slot = 0;");
  tc_print_line(&x->s, "TC_ROLLED for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key1 = key0 + KEYS;");
  tc_print_line(&x->s, "const int now = SLOTS > 1 ? at_slot : 0, k_deep = (int)TC_CEILDIV(TC_MIN((tc_int)KEYS, k_end - key0), V) * V;");
  if (tc_cuda_chain_columns(x, NULL))
    tc_print_line(&x->s, "const number *const column = columns + at_slot * (COLUMNS * KEYS);");
  tc_print_line(&x->s, "number score[%s];", u->layout.scores);
  if (tc_cuda_chain_has_second(x)) tc_print_line(&x->s, "number other[%s];", u->layout.scores);
  put_arrival_but(x, 0);
  if (u->arrived) u->arrived(x, false);
  if (own) {
    put_fill(x, u, o, TC_CUDA_B, "v_place", "key0");
    tc_print_line(&x->s, "tc_copies_end();");
    u->inner(x);
    tc_print_line(&x->s, "__syncthreads(); /* nobody reads B of inner products any more */");
  }
  put_next_fills(x, u, o, "key1", "(1 - at_slot)");
  if (!own) u->inner(x);
  tc_cuda_chain_put_scores(x, &u->layout, keys);
  tc_cuda_chain_put_fresh(x, "(1 - at_slot)");
  if (tc_cuda_chain_rows(x)) tc_cuda_chain_put_rescale(x, &u->layout);
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i) u->outer(x, i, put_arrival);
  tc_print_line(&x->s, "at_slot = 1 - at_slot;");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Has any of the functions the unit? */
static bool has_unit(const tc_cuda_product *x, const tc_cuda_chain_unit *u) {
  function f[FUNCTIONS];
  bool any = false;
  for (int n = functions_of(x, f); n-- > 0;) any |= f[n].s.unit == u;
  return any;
}

static void put_unit(tc_cuda_product *x, const tc_cuda_chain_unit *u, const tc_cuda_operand *o) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  if (!has_unit(x, u)) return;
  put_sizes(x, u);
  tc_cuda_chain_open_tiles(x, &keys);
  tc_cuda_chain_put_first(x, &keys);
  tc_cuda_put_batches(x);
  tc_cuda_chain_put_keys(x, &keys);
  put_fill(x, u, o, TC_CUDA_INNER_A, "q_place", "0");
  if (tc_cuda_chain_has_second(x)) put_fill(x, u, o, TC_CUDA_SECOND_A, "p_place", "0");
  put_next_fills(x, u, o, "first", "0");
  tc_cuda_chain_put_fresh(x, "0");
  if (u->arrived) {
    put_arrival_but(x, 0);
    u->arrived(x, true);
  }
  tc_cuda_chain_put_start(x, &u->layout);
  put_keys_loop(x, u, o, &keys);
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_cuda_chain_put_epilogue(x, o, &u->layout, "place");
  tc_cuda_close_scope(x);
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) { put_unit(x, &tc_cuda_chain_fma, o); }
static void put_tensor(tc_cuda_product *x, const tc_cuda_operand *o) { put_unit(x, &tc_cuda_chain_tf32, o); }

static void put_general(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (needs_general(x)) tc_cuda_chain_simt.body(x, o);
}

/* ---- functions ------------------------------------------------------------------------------- */

static int lanes_of(const tc_cuda_product *x, const tc_cuda_operand *o, int which) {
  const int width = (int)o[which].plan.width, most = tc_cuda_chain_access(x);
  return which == TC_CUDA_EPILOGUE || width < most ? width : most;
}

/* o: NULL: single elements. */
static void put_function(const tc_cuda_product *x, const tc_cuda_operand *o,
                         const tc_cuda_bodies *b, const shape *s, int number, tc_buf *out) {
  tc_buf arguments = {0};
  tc_putf(&arguments, "%d, %d, %d, %s%d, %d, ", threads_of(s), s->rows, s->cols, !s->unit->parts ? "" : s->raw ? "true, " : "false, ", s->d, s->n);
  if (tc_cuda_chain_has_second(x)) tc_putf(&arguments, "%d, ", s->e);
  for (int i = 0; i < tc_cuda_chain_count_lanes(x); ++i)
    tc_putf(&arguments, "%d, ", o ? lanes_of(x, o, tc_cuda_chain_lanes[i]) : 1);
  tc_put(&arguments, o && !x->plan->index64 ? "int" : "tc_i64");
  tc_cuda_put_instance(x, b, s->unit->parts ? "tensor" : "product", number, threads_of(s), false,
                       o ? blocks_of(x, s, MOST_SHARED) : 1, arguments.text, out);
  tc_buf_free(&arguments);
}

static void put_template(const tc_cuda_product *x, const tc_cuda_chain_unit *u, const char *body, const tc_cuda_bodies *b, tc_buf *out) {
  tc_buf numbers = {0};
  tc_putf(&numbers, "int THREADS, int ROWS, int COLS, %sint D, int N, %s", u->parts ? "bool RAW, " : "", tc_cuda_chain_has_second(x) ? "int E, " : "");
  if (*body) tc_cuda_chain_put_template(x, numbers.text ? numbers.text : "", u->parts ? "tensor" : "product", body, b, out);
  out->failed |= numbers.failed;
  tc_buf_free(&numbers);
}

/* Functions of 16-byte accesses; one of single elements; and a general one, where it is needed. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o,
                              const tc_cuda_bodies *b, tc_buf *out) {
  function f[FUNCTIONS];
  const int n = functions_of(x, f), single = single_of(x, f, n);
  put_template(x, &tc_cuda_chain_tf32, b->tensor, b, out);
  put_template(x, &tc_cuda_chain_fma, b->body, b, out);
  for (int i = 0; i < n; ++i) put_function(x, o, b, &f[i].s, i, out);
  if (n) put_function(x, NULL, b, &f[single].s, n, out);
  const int first = n ? n + 1 : 0;
  return (uint32_t)first +
         (needs_general(x) ? tc_cuda_chain_put_general(x, o, b, first, true, out) : 0);
}

/* ---- the launcher ---------------------------------------------------------------------------- */

/* Threads of few rows read as much from shared memory for fewer sums: those functions are for what
 * leaves multiprocessors idle, and those of one warp for no more rows than it has. */
static int most_blocks(const tc_cuda_product *x, const shape *s) {
  enum { FEW = 64 };
  return s->warps == 1 ? 0 : rows_of(s) < FEW ? 1 : blocks_of(x, s, MOST_SHARED);
}

static void put_row(const tc_cuda_product *x, const shape *s, int width, tc_buf *out) {
  tc_putf(out, "      {%d, %d, %d, %d, %d, %d},\n", width, rows_of(s), s->n, threads_of(s),
          shared_of(x, s), most_blocks(x, s));
}

/* The function of fewest rows whose blocks are all at work at once, or have all rows, or that of most
 * rows. */
static void put_choice(int n, bool general, tc_buf *out) {
  tc_putf(out,
          "  enum { SINGLE = %d }; /* elements; in front of it are functions of 16-byte accesses */\n"
          "  const int64_t most = c->info->max_shared;\n"
          "  int at = vectorized ? 0 : SINGLE;\n"
          "  while (at < SINGLE && (width > of[at].width || of[at].shared > most)) ++at;\n"
          "  while (at + 1 < SINGLE && of[at + 1].width == of[at].width && of[at + 1].shared <= most &&\n"
          "         (m <= of[at + 1].rows || batches * tc_cuda_ceildiv(m, of[at + 1].rows) <= of[at + 1].most * c->info->sms)) ++at;\n",
          n);
  if (general)
    tc_put(out, "  if (at == SINGLE && (width > of[at].width || of[at].shared > most)) at += 1 + !vectorized; /* any sizes */\n");
}

static void put_general_row(const tc_cuda_product *x, tc_buf *out) {
  const int rows = TC_CUDA_CHAIN_GENERAL_ROWS, columns = TC_CUDA_CHAIN_GENERAL_COLUMNS;
  tc_putf(out, "      {0x7fffffffffffffff, %d, %d, %d, %d, 1},\n", rows, columns, TC_CUDA_THREADS,
          tc_cuda_chain_general_shared(x, rows, columns));
}

static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  function f[FUNCTIONS];
  const int n = functions_of(x, f), single = single_of(x, f, n);
  const bool general = needs_general(x);
  (void)o;
  if (n) tc_cuda_chain_put_width(x, out);
  tc_put(out, "  static const struct {\n"
              "    int64_t width; /* at most */\n"
              "    int64_t rows, columns, threads, shared; /* of a block */\n"
              "    int64_t most;  /* blocks of a multiprocessor */\n"
              "  } of[] = {\n");
  for (int i = 0; i < n; ++i) put_row(x, &f[i].s, f[i].width, out);
  if (n) put_row(x, &f[single].s, f[single].width, out);
  for (int i = 0; general && i < 2; ++i) put_general_row(x, out);
  tc_put(out, "  };\n");
  if (n) put_choice(n, general, out);
  else tc_put(out, "  const int at = !vectorized;\n");
  tc_put(out, "  const unsigned function = (unsigned)at;\n"
              "  const int64_t high = of[at].rows, broad = of[at].columns, block = of[at].threads, shared = of[at].shared;\n");
}

const tc_cuda_template tc_cuda_chain_wide = {.own = "1",
                                            .unaligned_results = tc_cuda_may_be_unaligned,
                                            .body = put_body,
                                            .tensor = put_tensor,
                                            .general = put_general,
                                            .put = put_functions,
                                            .launch = put_launch};

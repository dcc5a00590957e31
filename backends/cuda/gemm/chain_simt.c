/* chain_simt.c - a chain of products as every thread's own sums: any dtype, any widths.
 *
 * A block of 256 threads has M = 16 ROWS rows and N columns.  A tile of scores, M x KEYS, is summed
 * over parts of the inner products, DEEP of them in shared memory at a time while the next are on
 * their way to registers; then it is A of the outer product, in shared memory too, of which parts
 * of DEEP keys of B pass in the same way.  Wider results have several blocks, each with the scores
 * of its own. */
#include "backends/cuda/gemm/chain.h"

#include <stdio.h>

enum { DEEP = 16, PAD = 4, SIDE = 16 /* threads, along rows and along columns */ };

static bool is_large(const tc_cuda_product *x) { return tc_dtype_bytes(x->mm->acc) == 8; }

static int keys_of(const tc_cuda_product *x) { return is_large(x) ? 32 : 64; }

static const tc_cuda_chain_layout layout = {.rows = "ROWS",
                                            .place = "(tc_at<ROWS, M>(y, h))",
                                            .scores = "ROWS * (KEYS / 16)",
                                            .key = "tc_at<KEYS / 16, KEYS>(x, i % (KEYS / 16))",
                                            .row = "i / (KEYS / 16)",
                                            .sums = "ROWS * (N / 16)",
                                            .column = "tc_at<N / 16, N>(x, i % (N / 16))",
                                            .row_of_sum = "i / (N / 16)",
                                            .threads = SIDE,
                                            .apart = 1,
                                            .meet = "__syncthreads();"};

/* ---- products -------------------------------------------------------------------------------- */

/* The next part of a tile: from memory, or from registers to its place. */
static void put_part(tc_cuda_product *x, const tc_cuda_fill *f, bool place) {
  char next[16], tile[16];
  snprintf(next, sizeof next, "%c_next", f->name);
  snprintf(tile, sizeof tile, "%c_tile", f->name);
  if (place) tc_cuda_put_place(x, f, next, tile);
  else tc_cuda_put_fetch(x, f, next);
}

static void put_next(tc_cuda_product *x, const tc_cuda_fill *f) {
  tc_print_line(&x->s, "tc_vec<tc_%s, %c_lanes> %c_next[%s * DEEP / (THREADS * %c_lanes)];",
                tc_cuda_acc(x), f->name, f->name, f->outer.count, f->name);
}

/* sum += a part of the product of two tiles: left[d] are rows of A's, and B's is f. */
static void put_multiply(tc_cuda_product *x, const tc_cuda_fill *f, const char *sum,
                         const char *left) {
  tc_print_line(&x->s, "TC_UNROLL for (int d = 0; d < DEEP; ++d) {");
  tc_print_line(&x->s, "  constexpr int COLUMNS = %s / 16;", f->outer.count);
  tc_print_line(&x->s, "  tc_%s left[ROWS], right[COLUMNS];", tc_cuda_acc(x));
  tc_print_line(&x->s, "  tc_run<ROWS, M>(left, %s, y);", left);
  tc_print_line(&x->s, "  tc_run<COLUMNS, %s>(right, %c_tile[d], x);", f->outer.count, f->name);
  tc_print_line(&x->s, "  TC_UNROLL for (int i = 0; i < ROWS; ++i)");
  tc_print_line(&x->s, "    TC_UNROLL for (int j = 0; j < COLUMNS; ++j)");
  tc_print_line(&x->s,
                "      %s[i * COLUMNS + j] = tc_mad(left[i], right[j], %s[i * COLUMNS + j]);", sum,
                sum);
  tc_print_line(&x->s, "}");
}

/* The loop over parts of a product up to `end`: those of the tiles, of which B is the last, are
 * fetched while the ones in front of them are multiplied. */
static void put_product(tc_cuda_product *x, const tc_cuda_fill *f, int tiles, const char *end,
                        const char *sum, const char *left) {
  tc_print_line(&x->s, "{ /* %s */", sum);
  x->s.indent += 2;
  for (int i = 0; i < tiles; ++i) put_next(x, &f[i]);
  tc_print_line(&x->s, "TC_ROLLED for (tc_int part0 = -DEEP; part0 < %s; part0 += DEEP) {", end);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int next = part0 + DEEP;");
  tc_print_line(&x->s, "if (part0 >= 0) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "__syncthreads(); /* nobody reads the parts before */");
  for (int i = 0; i < tiles; ++i) put_part(x, &f[i], true);
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "if (next < %s) {", end);
  x->s.indent += 2;
  for (int i = 0; i < tiles; ++i) put_part(x, &f[i], false);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "if (part0 >= 0) {");
  x->s.indent += 2;
  put_multiply(x, &f[tiles - 1], sum, left);
  for (int i = 0; i < 3; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
}

static void put_inner(tc_cuda_product *x, const tc_cuda_operand *o, int i) {
  const int a = i ? TC_CUDA_SECOND_A : TC_CUDA_INNER_A, b = i ? TC_CUDA_SECOND_B : TC_CUDA_INNER_B;
  const char *end = i ? "e_end" : "d_end", *sum = i ? "other" : "score";
  const tc_cuda_span deep = {x->kk + 1 + i, "next", end, "DEEP"};
  const tc_cuda_fill f[] = {
      {.o = &o[a],
       .name = tc_cuda_chain_letter[a],
       .outer = {x->m, "m0", "m_end", "M"},
       .deep = deep,
       .what = "A of an inner product"},
      {.o = &o[b],
       .name = tc_cuda_chain_letter[b],
       .outer = {x->kk, "key0", "k_end", "KEYS"},
       .deep = deep,
       .what = "B of an inner product"}};
  tc_print_line(&x->s, "tc_%s %s[%s] = {};", tc_cuda_acc(x), sum, layout.scores);
  put_product(x, f, 2, end, sum, i ? "p_tile[d]" : "q_tile[d]");
}

static void put_tile(tc_cuda_product *x, char name, const char *wide, const char *at) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "tc_%s(*const %c_tile)[%s + %d] = (tc_%s(*)[%s + %d])(%s);", t, name, wide,
                PAD, t, wide, PAD, at);
}

/* Scores are A, in shared memory; B is that of an inner product, or its own. */
static void put_outer(tc_cuda_product *x, const tc_cuda_operand *o, int i) {
  const tc_cuda_chain_outer y = tc_cuda_chain_outer_of(x, i);
  const tc_cuda_span n = {y.same < 0 ? x->n : x->kk + 1 + y.same, "n0", "n_end", "N"};
  const tc_cuda_fill f = {
      .o = &o[y.b],
      .name = tc_cuda_chain_letter[y.b],
      .outer = n,
      .deep = {x->kk, "key0 + next", "k_end", "DEEP"},
      .what = "B"};
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < %s; ++i) {", layout.scores);
  tc_print_line(&x->s, "  const int h = %s;", layout.row);
  tc_print_line(&x->s, "  a_tile[%s][%s] = %s[i];", layout.key, layout.place, y.score);
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "{");
  x->s.indent += 2;
  put_tile(x, f.name, "N", "place");
  put_product(x, &f, 1, "KEYS", y.sum, "a_tile[part0 + d]");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* ---- the body -------------------------------------------------------------------------------- */

static void put_tiles(tc_cuda_product *x) {
  char second[48], third[64];
  snprintf(second, sizeof second, "place + DEEP * (M + %d)", PAD);
  snprintf(third, sizeof third, "%s + DEEP * (KEYS + %d)", second, PAD);
  tc_print_line(&x->s, "constexpr int THREADS = %d, DEEP = %d, KEYS = %d, M = 16 * ROWS;",
                TC_CUDA_THREADS, DEEP, keys_of(x));
  tc_print_line(&x->s, "const int x = (int)threadIdx.x %% 16, y = (int)threadIdx.x / 16;");
  tc_print_line(&x->s, "tc_%s *const place = (tc_%s *)tc_shared;", tc_cuda_acc(x), tc_cuda_acc(x));
  put_tile(x, 'q', "M", "place");
  put_tile(x, 'k', "KEYS", second);
  if (tc_cuda_chain_has_second(x)) put_tile(x, 'p', "M", "place"), put_tile(x, 'w', "KEYS", second);
  put_tile(x, 'a', "M", third);
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  put_tiles(x);
  tc_cuda_chain_put_ends(x);
  tc_cuda_open_tiles(x, "M", "N");
  tc_cuda_chain_put_first(x, &keys);
  tc_cuda_put_batches(x);
  tc_cuda_chain_put_keys(x, &keys);
  tc_cuda_chain_put_start(x, &layout);
  tc_print_line(&x->s, "TC_ROLLED for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key1 = key0 + KEYS;");
  for (int i = 0; i < x->mm->inner.n; ++i) put_inner(x, o, i);
  tc_cuda_chain_put_scores(x, &layout, &keys);
  if (tc_cuda_chain_rows(x)) tc_cuda_chain_put_rescale(x, &layout);
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i) put_outer(x, o, i);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_cuda_chain_put_epilogue(x, o, &layout, "place");
  tc_cuda_close_scope(x);
}

/* ---- functions ------------------------------------------------------------------------------- */

int tc_cuda_chain_general_shared(const tc_cuda_product *x, int rows, int columns) {
  const int keys = keys_of(x), parts = rows + keys > columns ? rows + keys : columns;
  const int tiles = DEEP * (parts + 2 * PAD) + keys * (rows + PAD);
  const int sums = rows * (tc_cuda_chain_outers(x) * (columns + TC_CUDA_CHAIN_PAD) + 2);
  return (tiles > sums ? tiles : sums) * (int)tc_dtype_bytes(x->mm->acc);
}

/* Rows and columns of a block. */
typedef struct block {
  int rows, columns;
} block;

/* Blocks of the schedule's sides as rows; those of all columns compute scores once, where a thread
 * has registers for twice as many sums, as it has not of doubles.  Of few columns first.  How
 * many. */
static int blocks_of(const tc_cuda_product *x, block *to) {
  const int few = TC_CUDA_CHAIN_GENERAL_COLUMNS;
  const tc_schedule_list *sides = &x->plan->sides;
  int64_t least, most;
  int n = 0;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->n].extent, &least, &most);
  const int last = is_large(x) || most <= few ? few : 2 * few, first = least > few ? last : few;
  for (int columns = first; columns <= last; columns += few)
    for (uint32_t i = 0; i < sides->n; ++i) to[n++] = (block){(int)sides->at[i], columns};
  return n;
}

/* o: NULL: single elements. */
static void put_function(const tc_cuda_product *x, const tc_cuda_operand *o,
                         const tc_cuda_bodies *b, int number, block of, tc_buf *out) {
  tc_buf arguments = {0};
  tc_putf(&arguments, "%d, %d, ", of.rows / SIDE, of.columns);
  for (int i = 0; i < tc_cuda_chain_count_lanes(x); ++i) {
    const int which = tc_cuda_chain_lanes[i];
    const int width = !o                          ? 1
                      : which == TC_CUDA_EPILOGUE ? (int)o[which].plan.width
                                                  : tc_cuda_piece(&o[which]);
    tc_putf(&arguments, "%d, ", width);
  }
  tc_put(&arguments, o && !x->plan->index64 ? "int" : "tc_i64");
  const int blocks = of.columns > TC_CUDA_CHAIN_GENERAL_COLUMNS ? 1 : 2;
  tc_cuda_put_instance(x, b, "general", number, TC_CUDA_THREADS, false, blocks, arguments.text,
                       out);
  tc_buf_free(&arguments);
}

enum { MOST_BLOCKS = 4 };
static const block any = {TC_CUDA_CHAIN_GENERAL_ROWS, TC_CUDA_CHAIN_GENERAL_COLUMNS};

uint32_t tc_cuda_chain_put_general(const tc_cuda_product *x, const tc_cuda_operand *o,
                                   const tc_cuda_bodies *b, int number, bool least, tc_buf *out) {
  block of[MOST_BLOCKS];
  const int n = least ? 1 : blocks_of(x, of);
  if (least) of[0] = any;
  tc_cuda_chain_put_template(x, "int ROWS, int N, ", "general", b->general, b, out);
  for (int i = 0; i < n; ++i) put_function(x, o, b, number + i, of[i], out);
  put_function(x, NULL, b, number + n, any, out);
  return (uint32_t)n + 1;
}

static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o,
                              const tc_cuda_bodies *b, tc_buf *out) {
  const tc_cuda_bodies own = {.general = b->body, .all = b->all};
  return tc_cuda_chain_put_general(x, o, &own, 0, false, out);
}

/* Blocks of many rows read B less often, where there are enough of them. */
static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  block of[MOST_BLOCKS + 1];
  const int n = blocks_of(x, of), last = n ? n - 1 : 0;
  (void)o;
  of[n] = any;
  tc_put(out, "  static const int64_t rows_of[] = {");
  for (int i = 0; i <= n; ++i) tc_putf(out, "%d, ", of[i].rows);
  tc_put(out, "}, columns_of[] = {");
  for (int i = 0; i <= n; ++i) tc_putf(out, "%d, ", of[i].columns);
  tc_put(out, "}, shared_of[] = {");
  for (int i = 0; i <= n; ++i) tc_putf(out, "%d, ", tc_cuda_chain_general_shared(x, of[i].rows, of[i].columns));
  tc_putf(out,
          "};\n"
          "  unsigned function = vectorized ? 0 : %d;\n"
          "  while (columns_of[function] < n && columns_of[function] < columns_of[%d] && function < %d) ++function;\n"
          "  if (function < %d && columns_of[function] == columns_of[function + 1] &&\n"
          "      batches * tc_cuda_ceildiv(m, rows_of[function]) * tc_cuda_ceildiv(n, columns_of[function]) < 2 * c->info->sms)\n"
          "    ++function;\n"
          "  const int64_t high = rows_of[function], broad = columns_of[function], shared = shared_of[function], block = %d;\n",
          n, last, last, last, TC_CUDA_THREADS);
}

const tc_cuda_template tc_cuda_chain_simt = {.own = "1",
                                             .unaligned_results = tc_cuda_may_be_unaligned,
                                             .body = put_body,
                                             .put = put_functions,
                                             .launch = put_launch};

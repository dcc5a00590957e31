/* simt.c - the matrix product as every thread's own sums, any dtype.
 *
 * A block of 256 threads takes a tile of SIDE x SIDE results; a square of THREAD_ROWS x THREAD_COLS sums is in
 * the registers of a thread.  Where that takes fewer threads than there are, groups of threads
 * (slices) have parts of k of their own, and their sums are added at the end, in order: small
 * products have few tiles, and small tiles few sums.  Squares are as large as that allows, for what
 * a thread reads from shared memory grows with their sides.  The next tiles of both operands are on
 * their way from memory to registers while the ones in shared memory are multiplied; there are two
 * places for each. Prologues are computed while a tile is filled, the epilogue on finished sums. */
#include "backends/cuda/gemm/matmul.h"

enum { THREADS = 256, PAD = 4, PIECE = 4 };

/* A function: the side of a tile, and the square of a thread. */
typedef struct square {
  int side, rows, cols;
} square;
static const square squares[] = {{128, 8, 8}, {64, 8, 8}, {64, 4, 4}, {32, 8, 4}, {16, 8, 4}};
enum { SQUARES = sizeof squares / sizeof *squares, GENERAL = 3 };

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Opens the loop over the pieces of a tile [DEEP][SIDE], TC_L neighbours along the operand's own
 * axis each: `row` and `deep` are where a piece is.  Neighbours along k are transposed on their way: a
 * warp takes 16 elements of some rows, which go to different banks, or to two each. */
static void open_pieces(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  tc_print_line(&x->s, "{ /* %c */", name == 'a' ? 'A' : 'B');
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int TC_L = %c_lanes;", name);
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < SIDE * DEEP / (%d * TC_L); ++e) {", THREADS);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int item = (int)threadIdx.x + e * %d;", THREADS);
  if (o->along == x->kk) {
    tc_print_line(&x->s, "constexpr int run = tc_most(TC_MIN(16, DEEP) / TC_L, 32 / SIDE);");
    tc_print_line(&x->s, "constexpr int rows = 32 / run;");
    tc_print_line(&x->s, "constexpr int runs = DEEP / (run * TC_L);");
    tc_print_line(&x->s, "const int row = item / 32 / runs * rows + item %% rows;");
    tc_print_line(&x->s, "const int deep = (item / 32 %% runs * run + item / rows %% run) * TC_L;");
  } else {
    tc_print_line(&x->s, "const int row = item %% (SIDE / TC_L) * TC_L;");
    tc_print_line(&x->s, "const int deep = item / (SIDE / TC_L);");
  }
}

static void close_pieces(tc_cuda_product *x) {
  for (int i = 0; i < 2; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
}

/* A piece of an array as it is; nothing is loaded where its guard does not hold. */
static void put_loaded(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_expr *e = &x->k->expr[o->value.id];
  tc_buf at = {0};
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_address(&x->s, &e->address, &at);
  if (e->guard.id) tc_print_value(&x->s, e->guard);
  if (e->guard.id) tc_print_line(&x->s, "if (v%u[0]) part = tc_load_%s(b%u + (%s));", e->guard.id, tc_print_storage(x->mm->operand), e->buffer, at.text ? at.text : "0");
  else tc_print_line(&x->s, "part = tc_load_%s(b%u + (%s));", tc_print_storage(x->mm->operand), e->buffer, at.text ? at.text : "0");
  tc_print_leave(&x->s, outer);
  tc_buf_free(&at);
}

/* The tile at k0 to registers; what lies outside of the operand is 0. */
static void put_fetch(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const char side = name == 'a' ? 'm' : 'n', *type = tc_cuda_acc(x), *k = x->text[x->kk];
  const char *across = x->text[name == 'a' ? x->m : x->n];
  open_pieces(x, o, name);
  tc_print_line(&x->s, "const tc_int %s = %c0 + row, %s = k0 + deep;", across, side, k);
  tc_print_line(&x->s, "tc_v%s part = tc_set_%s(0);", type, type);
  tc_print_line(&x->s, "if (%s < %c_end && %s < k_end) {", across, side, k);
  x->s.indent += 2;
  if (o->plain) put_loaded(x, o);
  else tc_cuda_put_part(x, o, (int)o->plan.width);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "%c_next[slot][e] = part;", name);
  close_pieces(x);
}

/* From registers to place `to`. */
static void put_place(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  open_pieces(x, o, name);
  if (o->along == x->kk)
    tc_print_line(&x->s,
                  "TC_UNROLL for (int l = 0; l < TC_L; ++l) %c_tile[to][deep + l][row] = "
                  "%c_next[next][e][l];",
                  name, name);
  else
    tc_print_line(&x->s, "tc_store_%s(&%c_tile[to][deep][row], %c_next[next][e]);", tc_cuda_acc(x),
                  name, name);
  close_pieces(x);
}

/* The thread's rows (columns) of a tile are runs of four, or of as many as there are. */
static void put_multiply(tc_cuda_product *x) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "TC_UNROLL for (int d = 0; d < DEEP / SLICES; ++d) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_%s left[THREAD_ROWS], right[THREAD_COLS];", t);
  tc_print_line(&x->s,
                "tc_run<THREAD_ROWS, SIDE>(left, a_tile[from][slice * (DEEP / SLICES) + d], y);");
  tc_print_line(&x->s,
                "tc_run<THREAD_COLS, SIDE>(right, b_tile[from][slice * (DEEP / SLICES) + d], x);");
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < THREAD_ROWS; ++i)");
  tc_print_line(&x->s,
                "  TC_UNROLL for (int j = 0; j < THREAD_COLS; ++j) sum[i][j] = tc_mad(left[i], "
                "right[j], sum[i][j]);");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* At step s tile s is multiplied, tile s + 1 put in its place, and tile s + PREFETCH fetched. */
static void put_loop(tc_cuda_product *x, const tc_cuda_operand *o) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "tc_%s sum[THREAD_ROWS][THREAD_COLS] = {};", t);
  for (const char *name = "ab"; *name; ++name)
    tc_print_line(&x->s,
                  "tc_vec<tc_%s, %c_lanes> %c_next[PREFETCH][SIDE * DEEP / (%d * %c_lanes)];", t,
                  *name, *name, THREADS, *name);
  tc_print_line(&x->s, "const tc_int steps = TC_CEILDIV(k_end, DEEP);");
  tc_print_line(&x->s, "TC_ROLLED for (tc_int base = -PREFETCH; base < steps; base += PREFETCH)");
  tc_print_line(&x->s, "TC_UNROLL for (int slot = 0; slot < PREFETCH; ++slot) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int next = (slot + 1) %% PREFETCH;");
  tc_print_line(&x->s, "const tc_int step = base + slot, k0 = (step + PREFETCH) * DEEP;");
  tc_print_line(&x->s, "const int from = (int)(step & 1), to = from ^ 1;");
  tc_print_line(&x->s, "if (k0 < k_end) {");
  x->s.indent += 2;
  put_fetch(x, &o[0], 'a');
  put_fetch(x, &o[1], 'b');
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "if (step >= 0 && step < steps) {");
  x->s.indent += 2;
  put_multiply(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "if (step >= -1 && step + 1 < steps) {");
  x->s.indent += 2;
  put_place(x, &o[0], 'a');
  put_place(x, &o[1], 'b');
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* ---- finished sums --------------------------------------------------------------------------- */

/* Sums of all slices go through shared memory, some rows of them at a time: neighbours along n are
 * stored together, and the epilogue stands in the text once. */
static void open_strips(tc_cuda_product *x) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "constexpr int ROWS = TC_MIN(SIDE, 4 * DEEP / SLICES);");
  tc_print_line(&x->s, "TC_ROLLED for (int strip = 0; strip < SIDE; strip += ROWS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < THREAD_ROWS; ++i) {");
  tc_print_line(&x->s, "  const int row = tc_at<THREAD_ROWS, SIDE>(y, i) - strip;");
  tc_print_line(&x->s, "  tc_%s *const to = memory + (slice * ROWS + row) * (SIDE + %d);", t, PAD);
  tc_print_line(&x->s,
                "  if (row >= 0 && row < ROWS) tc_run_put<THREAD_COLS, SIDE>(to, sum[i], x);");
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "__syncthreads();");
}

static void put_epilogue(tc_cuda_product *x, int lanes) {
  const char *t = tc_cuda_acc(x);
  open_strips(x);
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(
      &x->s, "TC_ROLLED for (int e = (int)threadIdx.x * TC_L; e < ROWS * SIDE; e += %d * TC_L) {",
      THREADS);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + strip + e / SIDE, %s = n0 + e %% SIDE;",
                x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_%s *const part = memory + e / SIDE * (SIDE + %d) + e %% SIDE;", t,
                PAD);
  tc_print_line(&x->s, "tc_v%s r0 = tc_load_%s(part);", t, t);
  tc_print_line(&x->s, "TC_UNROLL for (int s = 1; s < SLICES; ++s)");
  tc_print_line(&x->s, "  r0 = tc_add_%s(r0, tc_load_%s(part + s * (ROWS * (SIDE + %d))));", t, t,
                PAD);
  tc_cuda_put_finish(x, &x->mm->epilogue, lanes);
  for (int i = 0; i < 2; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(
      &x->s, "constexpr int EACH = SIDE / THREAD_ROWS * (SIDE / THREAD_COLS), SLICES = %d / EACH;",
      THREADS);
  tc_print_line(&x->s,
                "constexpr int DEEP = (SIDE > 32 ? 1024 : 8192 / (int)sizeof(tc_%s)) / SIDE;", t);
  tc_print_line(&x->s, "constexpr int PREFETCH = SIDE > 16 ? 1 : 2;");
  tc_print_line(&x->s, "__shared__ __align__(16) tc_%s memory[4 * DEEP * (SIDE + %d)];", t, PAD);
  tc_print_line(&x->s, "tc_%s(*const a_tile)[DEEP][SIDE + %d] = (tc_%s(*)[DEEP][SIDE + %d])memory;",
                t, PAD, t, PAD);
  tc_print_line(&x->s, "tc_%s(*const b_tile)[DEEP][SIDE + %d] = a_tile + 2;", t, PAD);
  tc_print_line(&x->s, "const int slice = (int)threadIdx.x / EACH;");
  tc_print_line(&x->s, "const int x = (int)threadIdx.x %% (SIDE / THREAD_COLS);");
  tc_print_line(&x->s, "const int y = (int)threadIdx.x %% EACH / (SIDE / THREAD_COLS);");
  tc_cuda_open_tiles(x, "SIDE", "SIDE");
  tc_print_line(&x->s,
                "const tc_int m0 = tile / n_tiles %% m_tiles * SIDE, n0 = tile %% n_tiles * SIDE;");
  tc_cuda_put_batches(x);
  put_loop(x, o);
  put_epilogue(x, (int)o[2].plan.width);
  tc_cuda_close_tiles(x);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* The square of a thread for tiles of that side: numbers of 8 bytes take twice the room. */
static const square *square_of(const tc_cuda_product *x, uint32_t side) {
  const bool large = tc_dtype_bytes(x->mm->acc) == 8;
  int i = 0;
  while (i + 1 < SQUARES &&
         (squares[i].side != (int)side || (side == 64 && large && squares[i].rows == 8)))
    ++i;
  return &squares[i];
}

static void put_function(const tc_cuda_product *x, const char *body, int number, const square *q,
                         const int *lanes, const char *index, tc_buf *out) {
  tc_buf arguments = {0};
  tc_putf(&arguments, "%d, %d, %d, %d, %d, %d, %s", q->side, q->rows, q->cols, lanes[0], lanes[1],
          lanes[2], index);
  tc_cuda_put_instance(x, body, number, THREADS, lanes[0] > 1 ? 2 : 1, arguments.text, out);
  tc_buf_free(&arguments);
}

/* Lanes of an operand: such that every thread has a piece of a tile. */
static int piece(const tc_cuda_operand *o) {
  return (int)o->plan.width < PIECE ? (int)o->plan.width : PIECE;
}

/* The functions of 16-byte accesses, and one without conditions. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body,
                              tc_buf *out) {
  const tc_schedule_list *sides = &x->plan->sides;
  const int vectorized[] = {piece(&o[0]), piece(&o[1]), (int)o[2].plan.width}, one[] = {1, 1, 1};
  int number = 0;
  tc_put(out, "template <int SIDE, int THREAD_ROWS, int THREAD_COLS, int a_lanes, int b_lanes, int "
              "c_lanes, class "
              "tc_int> TC_FN void @NAME@_product(\n    ");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  for (uint32_t i = 0; i < sides->n; ++i)
    put_function(x, body, number++, square_of(x, sides->at[i]), vectorized,
                 x->plan->index64 ? "tc_i64" : "int", out);
  put_function(x, body, number++, &squares[GENERAL], one, "tc_i64", out);
  return (uint32_t)number;
}

/* The largest tiles of which there are enough to feed the machine, else the smallest. */
static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  const tc_schedule_list *sides = &x->plan->sides;
  const int number = (int)sides->n;
  (void)o;
  tc_put(out, "  static const int64_t side[] = {");
  for (uint32_t i = 0; i < sides->n; ++i) tc_putf(out, "%u, ", sides->at[i]);
  tc_putf(out, "%d};\n", squares[GENERAL].side);
  tc_putf(out,
          "  unsigned function = vectorized ? 0 : %d;\n"
          "  while (function + 1 < %d && batches * tc_cuda_ceildiv(m, side[function]) *\n"
          "         tc_cuda_ceildiv(n, side[function]) < c->info->sms * 3 / 4) ++function;\n"
          "  const int64_t high = side[function], broad = high, block = %d, shared = 0;\n",
          number, number, THREADS);
}

const tc_cuda_template tc_cuda_simt = {.own = "vectorized && mm.dtype != TC_F64",
                                       .body = put_body,
                                       .put = put_functions,
                                       .launch = put_launch};

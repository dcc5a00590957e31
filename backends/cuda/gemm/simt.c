/* simt.c - the matrix product as every thread's own sums, any dtype; larger ones of f32 are made on tensor cores (mma_f32.c).
 *
 * A block of 256 threads takes a tile of SIDE x SIDE results; a square of THREAD_ROWS x THREAD_COLS
 * sums is in the registers of a thread.  Where that takes fewer threads than there are, groups of
 * threads (slices) have parts of k of their own, and their sums are added at the end, in order:
 * small products have few tiles, and small tiles few sums.  Squares are as large as that allows,
 * for what a thread reads from shared memory grows with their sides.  The next tiles of both
 * operands are on their way from memory to registers while the ones in shared memory are
 * multiplied; there are two places for each. Prologues are computed while a tile is filled, the
 * epilogue on finished sums. */
#include "backends/cuda/gemm/mma.h"

enum { THREADS = TC_CUDA_THREADS, PAD = 4 };

/* A function: the side of a tile, and the square of a thread. */
typedef struct square {
  int side, rows, cols;
} square;
static const square squares[] = {{128, 8, 8}, {64, 8, 8}, {64, 4, 4}, {32, 8, 4}, {16, 8, 4}};
enum { SQUARES = sizeof squares / sizeof *squares, GENERAL = 3 };

/* ---- tiles ----------------------------------------------------------------------------------- */

static tc_cuda_fill fill_of(const tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const tc_cuda_span m = {x->m, "m0", "m_end", "SIDE"}, n = {x->n, "n0", "n_end", "SIDE"},
                     k = {x->kk, "k0", "k_end", "DEEP"};
  return (tc_cuda_fill){
      .o = o, .name = name, .outer = name == 'a' ? m : n, .deep = k, .what = name == 'a' ? "A" : "B"};
}

/* The tile at k0 to registers; what lies outside of the operand is 0. */
static void put_fetch(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const tc_cuda_fill f = fill_of(x, o, name);
  tc_cuda_put_fetch(x, &f, name == 'a' ? "a_next[slot]" : "b_next[slot]");
}

/* From registers to place `to`. */
static void put_place(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const tc_cuda_fill f = fill_of(x, o, name);
  if (name == 'a') tc_cuda_put_place(x, &f, "a_next[next]", "a_tile[to]");
  else tc_cuda_put_place(x, &f, "b_next[next]", "b_tile[to]");
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
  tc_cuda_close_scope(x);
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

static void put_function(const tc_cuda_product *x, const tc_cuda_bodies *b, int number,
                         const square *q, const int *lanes, const char *index, tc_buf *out) {
  tc_buf arguments = {0};
  tc_putf(&arguments, "%d, %d, %d, %d, %d, %d, %s", q->side, q->rows, q->cols, lanes[0], lanes[1],
          lanes[2], index);
  tc_cuda_put_instance(x, b, "product", number, THREADS, false, lanes[0] > 1 ? 2 : 1,
                       arguments.text, out);
  tc_buf_free(&arguments);
}

/* The functions of 16-byte accesses, and one without conditions. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o,
                              const tc_cuda_bodies *b, tc_buf *out) {
  const tc_schedule_list *sides = &x->plan->sides;
  const int vectorized[] = {tc_cuda_piece(&o[0]), tc_cuda_piece(&o[1]), (int)o[2].plan.width},
            one[] = {1, 1, 1};
  int number = 0;
  tc_put(out, "template <int SIDE, int THREAD_ROWS, int THREAD_COLS, int a_lanes, int b_lanes, int "
              "c_lanes, class "
              "tc_int> TC_FN void @NAME@_product(\n    ");
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", b->body);
  for (uint32_t i = 0; i < sides->n; ++i)
    put_function(x, b, number++, square_of(x, sides->at[i]), vectorized,
                 x->plan->index64 ? "tc_i64" : "int", out);
  put_function(x, b, number++, &squares[GENERAL], one, "tc_i64", out);
  return tc_cuda_put_mma_f32(x, o, b, (uint32_t)number, out);
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
          "  int64_t high = side[function], broad = high, block = %d, shared = 0;\n",
          number, number, THREADS);
  tc_cuda_put_mma_f32_launch(x, (uint32_t)number + 1, out);
}

const tc_cuda_template tc_cuda_simt = {.own = "vectorized && mm.dtype != TC_F64",
                                       .body = put_body,
                                       .tensor = tc_cuda_mma_f32_body,
                                       .put = put_functions,
                                       .launch = put_launch};

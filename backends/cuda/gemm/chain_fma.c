/* chain_fma.c - chains of products by multiplications and additions of every thread.
 *
 * A warp has 4 ROWS rows with all keys of a tile and all columns, so that what goes from scores to A of the outer product by way of
 * shared memory stays within a warp.  A thread has ROWS x COLS scores and ROWS x N / 8 sums. */
#include "backends/cuda/gemm/chain_wide.h"

enum { OWN_REGISTERS = 40 };    /* of a thread, for addresses */
enum { LANES = 8, GROUPS = 4 }; /* of a warp: threads along keys, and along rows */

static int registers_of(const tc_cuda_product *x, const tc_cuda_chain_shape *s) {
  const int scores = s->rows * s->cols * x->mm->inner.n;
  const int sums = s->rows * s->n / LANES * tc_cuda_chain_outers(x);
  return tc_cuda_chain_words(x) * (scores + sums + (s->rows + 1) * tc_cuda_chain_access(x)) + OWN_REGISTERS;
}

/* Its own time or that of accesses to shared memory, of which all four parts of a multiprocessor share two rounds for each, whatever
 * is longer; some of the other, and of what else there is to do.  (The weights are of what nine shapes took on an H100 when B's
 * accesses took four rounds.) */
static double cost_of(const tc_cuda_product *x, const tc_cuda_chain_shape *s, int warps) {
  enum { ROUNDS = 4 * 2 };
  const double v = tc_cuda_chain_access(x), rows = s->rows, cols = s->cols, columns = (double)s->n / LANES;
  const double inner = (double)s->d + s->e, outer = (double)s->n * tc_cuda_chain_outers(x);
  const double loads = inner * (rows + cols) / (rows * cols) + outer * (rows + columns) / (rows * columns);
  const double access = ROUNDS * loads / ((inner + outer) * v);
  const double most = access > 1 ? access : 1, least = access > 1 ? 1 : access;
  return (most + 0.5 * least + 0.2) * (1 + 2.5 / warps);
}

enum { PAD = 8 }; /* elements behind each row of scores */

static int places_of(const tc_cuda_product *x, const tc_cuda_chain_shape *s, int rows, int keys) {
  (void)x, (void)s;
  return rows * (keys + PAD);
}

static void put_places(tc_cuda_product *x, const char *tiles_end) {
  tc_print_line(&x->s, "constexpr int LONG = KEYS + %d;", PAD);
  tc_print_line(&x->s, "number *const a_place = %s, *const a_own = a_place + own * LONG, *const behind = a_place + M * LONG;", tiles_end);
}

static void put_inner(tc_cuda_product *x) {
  static const char *const sum[] = {"score", "other"};
  for (int i = 0; i < x->mm->inner.n; ++i)
    tc_print_line(&x->s, "tc_fma_inner<ROWS, COLS, %c_WIDE>(%s, %c_place + own * %c_WIDE, %c_place + (now * KEYS + x) * %c_WIDE, %c_deep);",
                  i ? 'E' : 'D', sum[i], i ? 'p' : 'q', i ? 'E' : 'D', i ? 'w' : 'k',
                  i ? 'E' : 'D', i ? 'e' : 'd');
}

/* Scores are A, of which a warp has rows of its own in shared memory. */
static void put_outer(tc_cuda_product *x, int i, void (*arrival)(tc_cuda_product *x)) {
  const tc_cuda_chain_outer y = tc_cuda_chain_outer_of(x, i);
  const tc_cuda_chain_layout *l = &tc_cuda_chain_fma.layout;
  if (i) tc_print_line(&x->s, "__syncwarp();");
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < %s; ++i)", l->scores);
  tc_print_line(&x->s, "  a_own[%s * 4 * LONG + %s] = %s[i];", l->row, l->key, y.score);
  if (y.same < 0) arrival(x);
  else tc_print_line(&x->s, "__syncwarp();");
  tc_print_line(&x->s, "tc_fma_outer<ROWS, N / 8, LONG, %c_WIDE>(%s, a_own, %c_place%s + tc_fma_column<number>(x, 0), k_deep);",
                tc_cuda_chain_wide_of(y.b), y.sum, tc_cuda_chain_letter[y.b], tc_cuda_chain_slot_of(&y));
}

const tc_cuda_chain_unit tc_cuda_chain_fma = {
    .layout = {.rows = "ROWS",
               .place = "(warp * (4 * ROWS) + h * 4 + y)",
               .scores = "ROWS * COLS",
               .key = "i % COLS * 8 + x",
               .row = "i / COLS",
               .sums = "ROWS * (N / 8)",
               .column = "tc_fma_column<number>(x, i % (N / 8))",
               .row_of_sum = "i / (N / 8)",
               .threads = LANES,
               .apart = 2,
               .first = "x == 0",
               .columns = true,
               .meet = "__syncthreads();"},
    .rows = GROUPS,
    .width = LANES * 4,
    .places = places_of,
    .put_places = put_places,
    .registers = registers_of,
    .cost = cost_of,
    .place = "x = lane / 2 % 8, y = lane % 2 + lane / 16 * 2, own = warp * (4 * ROWS) + y",
    .inner = put_inner,
    .outer = put_outer};

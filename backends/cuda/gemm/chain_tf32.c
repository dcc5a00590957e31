/* chain_tf32.c - chains of products of f32 on tensor cores: each factor is the sum of two numbers that these multiply, and of the
 * products all but that of both small ones are added (Ootomo and Yokota, Recovering single precision accuracy from Tensor Cores while
 * surpassing the FP32 theoretical peak performance, 2022: sums of a few steps join the others outside of the tensor cores, which
 * round towards zero).
 *
 * A warp has 16 ROWS rows with all keys of a tile and all columns.  What a thread holds of scores it holds of A of the outer product,
 * whose keys may be summed over in any order: in registers.  All other operands are parted once, where they arrive in shared memory:
 * high parts in their place, low ones behind all tiles. */
#include "backends/cuda/gemm/chain_wide.h"

enum { OWN_REGISTERS = 64 }; /* of a thread, for addresses and both parts of operands of a step */

static int registers_of(const tc_cuda_product *x, const tc_cuda_chain_shape *s) {
  const int each = tc_cuda_chain_has_second(x) ? 3 : 1; /* of two inner products, and what is made of both */
  const int scores = s->rows * s->cols * 4 * each, sums = s->rows * s->n / 2 * tc_cuda_chain_outers(x);
  return scores + sums + s->rows * 16 + OWN_REGISTERS;
}

/* Of 16 x 8 by 8 x 8 multiplications: three products of tensor cores, or the instructions beside them, whatever is longer, and some
 * of the other.  A tile takes what TILE of them do beside, in which other warps may multiply. */
static double cost_of(const tc_cuda_product *x, const tc_cuda_chain_shape *s, int warps) {
  enum { TILE = 16, PRODUCT = 8, SPLIT = 3, PART = 4 }; /* cycles of a product; instructions of an element, in registers and in shared memory */
  const double rows = s->rows, inner = (double)s->d + s->e, outer = (double)s->n * tc_cuda_chain_outers(x);
  const double products = 3 * PRODUCT, own = 3 + 2; /* to begin products and to add their sums */
  const double a = (s->raw ? 1 + 4 * SPLIT : 2) / (double)s->cols * inner + 4.0 * SPLIT * 8 / s->n * outer;
  const double b = 1 / rows * inner + (tc_cuda_chain_has_own_b(x) ? 2 : 4) / rows * outer;
  const double beside = own + (a + b) / (inner + outer) + PART * 2 / (s->warps * rows);
  const double waiting = (0.3 + TILE / (rows * s->cols * (inner + outer) / 8)) * 4 / warps;
  return (products > beside ? products + 0.5 * beside : beside + 0.5 * products) / products * (1 + waiting);
}

/* Low parts, of one tile of each. */
static int places_of(const tc_cuda_product *x, const tc_cuda_chain_shape *s, int rows, int keys) {
  return ((s->raw ? 0 : rows) + keys) * tc_cuda_chain_wide_row(x, s) + keys * tc_cuda_chain_own_row(x, s);
}

static void put_places(tc_cuda_product *x, const char *tiles_end) {
  const bool second = tc_cuda_chain_has_second(x), own = tc_cuda_chain_has_own_b(x);
  tc_print_line(&x->s, "number *const q_low = %s, *const k_low = q_low + (RAW ? 0 : M * D_WIDE), *const v_low = k_low + KEYS * D_WIDE;", tiles_end);
  tc_print_line(&x->s, "number *const p_low = v_low%s, *const w_low = p_low%s, *const behind = w_low%s;", own ? " + KEYS * N_WIDE" : "",
                second ? " + (RAW ? 0 : M * E_WIDE)" : "", second ? " + KEYS * E_WIDE" : "");
}

static void put_parts(tc_cuda_product *x, int which, const char *rows, const char *slot) {
  const char wide = tc_cuda_chain_wide_of(which), c = tc_cuda_chain_letter[which];
  tc_print_line(&x->s, "%stc_tf32_%sparts<THREADS, %s, %c>(%c_place%s, %c_low);", *rows == 'M' ? "if (!RAW) " : "", which == TC_CUDA_B ? "pair_" : "", rows, wide, c, slot, c);
}

static void put_arrived(tc_cuda_product *x, bool rows) {
  put_parts(x, rows ? TC_CUDA_INNER_A : TC_CUDA_INNER_B, rows ? "M" : "KEYS", rows ? "" : " + now * (KEYS * D_WIDE)");
  if (tc_cuda_chain_has_second(x))
    put_parts(x, rows ? TC_CUDA_SECOND_A : TC_CUDA_SECOND_B, rows ? "M" : "KEYS", rows ? "" : " + now * (KEYS * E_WIDE)");
  if (!rows) tc_print_line(&x->s, "__syncthreads();");
}

static void put_inner(tc_cuda_product *x) {
  static const char *const sum[] = {"score", "other"};
  for (int i = 0; i < x->mm->inner.n; ++i) {
    const char wide = i ? 'E' : 'D', a = i ? 'p' : 'q', b = i ? 'w' : 'k';
    tc_print_line(&x->s, "tc_tf32_inner<RAW, ROWS, COLS, %c>(%s, %c_place + rows * %c_WIDE, %c_low + rows * %c_WIDE, %c_place + now * (KEYS * %c_WIDE), %c_low, %c_deep);",
                  wide, sum[i], a, wide, a, wide, b, wide, b, i ? 'e' : 'd');
  }
}

static void put_outer(tc_cuda_product *x, int i, void (*arrival)(tc_cuda_product *x)) {
  const tc_cuda_chain_outer y = tc_cuda_chain_outer_of(x, i);
  const char b = tc_cuda_chain_letter[y.b];
  const bool pairs = y.same < 0;
  if (pairs) {
    arrival(x);
    put_parts(x, TC_CUDA_B, "KEYS", "");
    tc_print_line(&x->s, "__syncthreads();");
  }
  tc_print_line(&x->s, "tc_tf32_outer<%s, ROWS, COLS, N, %c>(%s, %s, %c_place%s, %c_low, k_deep);", pairs ? "true" : "false",
                tc_cuda_chain_wide_of(y.b), y.sum, y.score, b, tc_cuda_chain_slot_of(&y), b);
}

const tc_cuda_chain_unit tc_cuda_chain_tf32 = {
    .layout = {.rows = "ROWS * 2",
               .place = "(own + h * 8)",
               .scores = "ROWS * COLS * 4",
               .key = "i / 4 % COLS * 8 + y * 2 + i % 2",
               .row = "i / (COLS * 4) * 2 + i / 2 % 2",
               .sums = "ROWS * (N / 2)",
               .column = "i / 4 % (N / 8) * 8 + y * 2 + i % 2",
               .row_of_sum = "i / (N / 2) * 2 + i / 2 % 2",
               .threads = 4,
               .apart = 1,
               .first = "y == 0",
               .columns = true,
               .meet = "__syncthreads();"},
    .rows = 16,
    .width = 16,
    .pairs = true,
    .parts = true,
    .places = places_of,
    .put_places = put_places,
    .registers = registers_of,
    .cost = cost_of,
    .place = "y = lane % 4, rows = warp * (16 * ROWS), own = rows + lane / 4",
    .arrived = put_arrived,
    .inner = put_inner,
    .outer = put_outer};

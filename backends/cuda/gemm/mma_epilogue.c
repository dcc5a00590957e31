/* mma_epilogue.c - finished sums of a product on tensor cores: by way of shared memory, so that a thread has neighbours
 * along n, to the results.
 *
 * Rows of results may begin anywhere.  Then a row of sums begins in shared memory as far behind a boundary as its results
 * do in memory: what lies between two boundaries is one access in both, and what a tile has of the first and of the last
 * such piece is stored one by one. */
#include "backends/cuda/gemm/k_parts.h"
#include "backends/cuda/gemm/mma.h"

enum { PAD = 8 /* more than a shift */ };

/* The one array that the results go to, in rows. */
static const tc_action *only_store(const tc_cuda_product *x) {
  const tc_stage *st = &x->mm->epilogue;
  const tc_action *a = st->action;
  const bool one = st->naction == 1 && a->kind == TC_ACT_STORE && !a->guard.id && !a->address.nterm;
  return one && !tc_mm_parts(x->mm, x->n) && tc_dim_is(a->address.coef[x->n], 1) ? a : NULL;
}

bool tc_cuda_mma_shifts(const tc_cuda_product *x, const tc_cuda_operand *o) {
  return only_store(x) && tc_cuda_may_be_unaligned(x, o);
}

/* What is behind a boundary in front of row `row` of the tile. */
static void put_shift(tc_cuda_product *x) {
  const tc_action *a = only_store(x);
  tc_buf at = {0};
  tc_print_address(&x->s, &a->address, &at);
  tc_print_line(&x->s, "const auto shifted = [&](int row) {");
  tc_print_line(&x->s, "  if (!any_rows%s) return 0;", tc_cuda_has_k_parts(x->k) ? " || k_parts > 1" : "");
  tc_print_line(&x->s, "  const tc_int %s = m0 + row, %s = n0;", x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "  return (int)((tc_u64)(b%u + (%s)) / sizeof *b%u %% c_lanes);", a->buffer, at.text ? at.text : "0", a->buffer);
  tc_print_line(&x->s, "};");
  tc_buf_free(&at);
}

static const char *load_anywhere(const tc_print_scope *s, uint32_t id) {
  (void)s, (void)id;
  return "tc_loaded_from<TC_L, any_rows>";
}

/* The results of the point at hand, or from it on. */
static void put_results(tc_cuda_product *x, bool shifts, int lanes) {
  x->s.load_neighbours = shifts && lanes > 1 ? load_anywhere : NULL;
  tc_cuda_put_finish(x, &x->mm->epilogue, lanes);
  x->s.load_neighbours = NULL;
}

/* Element `at` of row `row`, one by one. */
static void put_single_result(tc_cuda_product *x) {
  tc_print_line(&x->s, "constexpr int TC_L = 1;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "const tc_int %s = m0 + row, %s = n0 + at;", x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_vf32 r0 = tc_load_f32(sums + row * LONG + shifted(row) + at);");
  put_results(x, true, 1);
  tc_cuda_close_scope(x);
}

/* Pieces of rows that lie within the tile; those of the last tile may end within one. */
static void put_pieces(tc_cuda_product *x, const tc_cuda_operand *o, bool shifts) {
  const char *m = x->text[x->m], *n = x->text[x->n];
  tc_print_line(&x->s, "_Pragma(\"unroll 4\") for (int e = (int)threadIdx.x; e < M * PIECES; e += THREADS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int row = e / PIECES, first = (e %% PIECES + any_rows) * c_lanes - shifted(row);");
  tc_print_line(&x->s, "const tc_int %s = m0 + row, %s = n0 + first;", m, n);
  tc_print_line(&x->s, "if (%s < m_end && %s + (any_rows ? c_lanes - 1 : 0) < n_end) {", m, n);
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "const tc_vf32 r0 = tc_load_f32(sums + row * LONG + (e %% PIECES + any_rows) * c_lanes);");
  put_results(x, shifts, (int)o[TC_CUDA_EPILOGUE].plan.width);
  x->s.indent -= 2;
  if (shifts) {
    tc_print_line(&x->s, "} else if (any_rows && %s < n_end) {", n);
    x->s.indent += 2;
    tc_print_line(&x->s, "for (int at = first; at < first + c_lanes; ++at) {");
    x->s.indent += 2;
    put_single_result(x);
    tc_cuda_close_scope(x);
    x->s.indent -= 2;
  }
  tc_print_line(&x->s, "}");
  tc_cuda_close_scope(x);
}

/* What a row has in front of the first boundary and behind the last one: as many elements as a piece. */
static void put_ends(tc_cuda_product *x) {
  tc_print_line(&x->s, "if constexpr (any_rows) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "for (int e = (int)threadIdx.x; e < M * c_lanes; e += THREADS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int row = e / c_lanes, i = e %% c_lanes, at = i < c_lanes - shifted(row) ? i : N - c_lanes + i;");
  put_single_result(x);
  tc_cuda_close_scope(x);
  tc_cuda_close_scope(x);
}

/* Of all warps that multiply. */
static void put_meeting(tc_cuda_product *x) {
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) tc_meet_consumers<THREADS>();");
  tc_print_line(&x->s, "else __syncthreads();");
}

static void put_all_results(tc_cuda_product *x, const tc_cuda_operand *o) {
  const bool shifts = tc_cuda_mma_shifts(x, o);
  put_pieces(x, o, shifts);
  if (shifts) put_ends(x);
}

void tc_cuda_mma_put_epilogue(tc_cuda_product *x, const tc_cuda_operand *o) {
  const bool shifts = tc_cuda_mma_shifts(x, o);
  tc_print_line(&x->s, "tc_f32 *const sums = (tc_f32 *)tc_shared; /* [M][LONG] */");
  tc_print_line(&x->s, "constexpr int LONG = N + %d, PIECES = N / c_lanes - any_rows; /* of a row */", PAD);
  if (shifts) put_shift(x);
  else tc_print_line(&x->s, "const auto shifted = [](int) { return 0; };");
  put_meeting(x);
  tc_print_line(&x->s, "square.template leave<LONG>(sums, shifted);");
  put_meeting(x);
  tc_cuda_put_leave_sums(x, o, put_all_results);
}

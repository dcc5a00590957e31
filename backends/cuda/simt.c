/* simt.c - the matrix product as every thread's own sums: tiles of both operands in shared memory,
 * a square of TC_U x TC_U sums in the registers of each of 256 threads.  Any dtype; prologues are
 * computed while a tile is filled, the epilogue on finished sums. */
#include "backends/cuda/product.h"

enum { DEPTH = 16 }; /* of a tile, along k */

/* ---- text ------------------------------------------------------------------------------------ */

/* Tile `name` of [DEPTH][TC_U * 16] elements; LANES neighbours of the axis `along` at a time.  What
 * lies outside of the operand is 0. */
static void put_fill(tc_cuda_product *x, const tc_cuda_operand *o, const char *name, int lanes) {
  const bool by_k = o->along == x->kk;
  const char *side = name[0] == 'a' ? "m" : "n";
  const char *type = tc_cuda_acc(x), *row = by_k ? "far" : "near", *deep = by_k ? "near" : "far";
  tc_print_line(&x->s, "{");
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int TC_L = %s_lanes, wide = %s;", name,
                by_k ? "16" : "16 * TC_U");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(
      &x->s, "TC_UNROLL for (int e = (int)threadIdx.x * TC_L; e < 256 * TC_U; e += 256 * TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int near = e %% wide, far = e / wide;");
  tc_print_line(&x->s, "const tc_int %s = %s0 + %s, %s = k0 + %s;",
                x->text[side[0] == 'm' ? x->m : x->n], side, row, x->text[x->kk], deep);
  tc_print_line(&x->s, "tc_v%s part = tc_set_%s(0);", type, type);
  tc_print_line(&x->s, "if (%s < %s_end && %s < k_end) {", x->text[side[0] == 'm' ? x->m : x->n],
                side, x->text[x->kk]);
  x->s.indent += 2;
  tc_cuda_put_part(x, o, lanes);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "TC_UNROLL for (int l = 0; l < TC_L; ++l) %s_tile[%s%s][%s%s] = part[l];",
                name, deep, by_k ? " + l" : "", row, by_k ? "" : " + l");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_multiply(tc_cuda_product *x) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "TC_UNROLL for (int d = 0; d < %d; ++d) {", DEPTH);
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_%s left[TC_U], right[TC_U];", t);
  tc_print_line(
      &x->s,
      "TC_UNROLL for (int i = 0; i < TC_U; ++i) left[i] = a_tile[d][i / 4 * 64 + y * 4 + i %% 4];");
  tc_print_line(&x->s, "TC_UNROLL for (int j = 0; j < TC_U; ++j) right[j] = b_tile[d][j / 4 * 64 + "
                       "x * 4 + j %% 4];");
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < TC_U; ++i)");
  tc_print_line(&x->s, "  TC_UNROLL for (int j = 0; j < TC_U; ++j) sum[i][j] = tc_mad(left[i], "
                       "right[j], sum[i][j]);");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Finished sums go through shared memory, sixteen rows of the square at a time, so that neighbours
 * along n are stored together and the epilogue stands in the text once. */
static void put_strip(tc_cuda_product *x) {
  tc_print_line(&x->s, "TC_ROLLED for (int i = 0; i < TC_U; ++i) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "TC_UNROLL for (int q = 0; q < TC_U; ++q)");
  tc_print_line(&x->s, "  if (q == i)");
  tc_print_line(&x->s,
                "    TC_UNROLL for (int j = 0; j < TC_U; ++j) strip[y][j / 4 * 64 + x * 4 + j %% "
                "4] = sum[q][j];");
  tc_print_line(&x->s, "__syncthreads();");
}

static void put_epilogue(tc_cuda_product *x, int lanes) {
  put_strip(x);
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(
      &x->s, "TC_ROLLED for (int e = (int)threadIdx.x * TC_L; e < 16 * side; e += 256 * TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s,
                "const tc_int %s = m0 + i / 4 * 64 + e / side * 4 + i %% 4, %s = n0 + e %% side;",
                x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_v%s r0;", tc_cuda_acc(x));
  tc_print_line(&x->s,
                "TC_UNROLL for (int l = 0; l < TC_L; ++l) r0[l] = strip[e / side][e %% side + l];");
  tc_cuda_put_finish(x, lanes);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_tile(tc_cuda_product *x, const tc_cuda_operand *a, const tc_cuda_operand *b,
                     int lanes) {
  tc_print_line(&x->s,
                "const tc_int m0 = tile / n_tiles %% m_tiles * side, n0 = tile %% n_tiles * side;");
  tc_cuda_put_batches(x);
  tc_print_line(&x->s, "tc_%s sum[TC_U][TC_U] = {};", tc_cuda_acc(x));
  tc_print_line(&x->s, "for (tc_int k0 = 0; k0 < k_end; k0 += %d) {", DEPTH);
  x->s.indent += 2;
  put_fill(x, a, "a", a->plan.lanes);
  put_fill(x, b, "b", b->plan.lanes);
  tc_print_line(&x->s, "__syncthreads();");
  put_multiply(x);
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  put_epilogue(x, lanes);
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  const int lanes = o[2].plan.lanes;
  tc_buf batches = {0};
  tc_cuda_put_batch_count(x, &batches);
  tc_print_line(&x->s, "constexpr int side = 16 * TC_U;");
  tc_print_line(&x->s, "__shared__ tc_%s a_tile[%d][side + 4], b_tile[%d][side + 4];",
                tc_cuda_acc(x), DEPTH, DEPTH);
  tc_print_line(&x->s, "__shared__ tc_%s strip[16][side + 4];", tc_cuda_acc(x));
  tc_cuda_put_extent(x, "m_end", x->m);
  tc_cuda_put_extent(x, "n_end", x->n);
  tc_cuda_put_extent(x, "k_end", x->kk);
  tc_print_line(
      &x->s, "const tc_int m_tiles = TC_CEILDIV(m_end, side), n_tiles = TC_CEILDIV(n_end, side);");
  tc_print_line(&x->s, "const int x = threadIdx.x %% 16, y = threadIdx.x / 16;");
  tc_print_line(
      &x->s, "for (tc_int tile = blockIdx.x; tile < %s * m_tiles * n_tiles; tile += gridDim.x) {",
      batches.text);
  x->s.indent += 2;
  put_tile(x, &o[0], &o[1], lanes);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&batches);
}

/* ---- functions ------------------------------------------------------------------------------- */

static void put_global(const tc_cuda_product *x, const char *body, int number, int unroll, int a,
                       int b, int c, const char *index, tc_buf *out) {
  tc_putf(out, "extern \"C\" __global__ void __launch_bounds__(256) @NAME@_%d(\n    ", number);
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n  @NAME@_product<%d, %d, %d, %d, %s>(", unroll, a, b, c, index);
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_PASS, out);
  tc_put(out, ");\n}\n");
}

/* Small products are cut into smaller tiles, for there to be more of them. */
static int choose_side(const tc_cuda_product *x) {
  enum { FEW = 512 };
  int64_t lo, m, n;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->m].extent, &lo, &m);
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->n].extent, &lo, &n);
  const bool wide = tc_dtype_bytes(x->mm->acc) == 8;
  return m < FEW || n < FEW || wide ? 4 : 8;
}

/* Function 0: 16-byte accesses; 1: no conditions. */
static void put_functions(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body,
                          tc_buf *out) {
  const bool far = o[0].plan.far || o[1].plan.far || o[2].plan.far;
  tc_put(out, "template <int TC_U, int a_lanes, int b_lanes, int c_lanes, class tc_int> TC_FN void "
              "@NAME@_product(\n    ");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  put_global(x, body, 0, choose_side(x), o[0].plan.lanes, o[1].plan.lanes, o[2].plan.lanes,
             far ? "tc_i64" : "int", out);
  put_global(x, body, 1, 4, 1, 1, 1, "tc_i64", out);
}

static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  (void)o;
  tc_putf(out,
          "  const unsigned function = wide ? 0 : 1;\n"
          "  const int64_t high = wide ? %d : 64, broad = high, block = 256, shared = 0;\n",
          16 * choose_side(x));
}

const tc_cuda_template tc_cuda_simt = {
    .functions = 2, .body = put_body, .put = put_functions, .launch = put_launch};

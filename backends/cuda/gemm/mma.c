/* mma.c - the matrix product of halves on tensor cores.  Tiles of both operands pass through
 * several places in shared memory, a software pipeline of asynchronous copies; squares of sums stay
 * in the registers of four warps.
 *
 * An operand that is an array as it is comes by 16-byte copies in the background; any other value
 * (a prologue, an operand that is not aligned) is computed and stored where the copy would have put
 * it.  Outside of an operand are zeros.  Finished sums go through the same memory, so that a thread
 * of the epilogue has neighbours along n. */
#include "backends/cuda/gemm/matmul.h"

#include <string.h>

enum { PAD = 8 };

/* ---- a tile of the product ------------------------------------------------------------------- */

static tc_cuda_fill fill_of(const tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const bool left = name == 'a';
  return (tc_cuda_fill){
      .o = o,
      .name = name,
      .outer = {left ? x->m : x->n, left ? "m0" : "n0", left ? "m_end" : "n_end", left ? "M" : "N"},
      .deep = {x->kk, "k0", "k_end", "64"}};
}

/* Fills place `to` with the tile of the operand at k0. */
static void put_fill(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const tc_cuda_fill f = fill_of(x, o, name);
  tc_print_line(&x->s, "{ /* %s */", name == 'a' ? "A" : "B");
  x->s.indent += 2;
  tc_print_line(&x->s, "unsigned short *const %c_tile = place + to * PLACE%s;", name,
                name == 'a' ? "" : " + 64 * M");
  tc_cuda_put_begun_fill(x, &f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_loop(tc_cuda_product *x, const tc_cuda_operand *o) {
  for (int i = 0; i < 2; ++i) {
    const tc_cuda_fill f = fill_of(x, &o[i], i ? 'b' : 'a');
    tc_cuda_begin_fill(x, &f);
  }
  tc_print_line(&x->s, "square_t square;");
  tc_print_line(&x->s, "const tc_int steps = TC_CEILDIV(k_end, 64);");
  tc_print_line(&x->s, "for (tc_int step = -PREFETCH; step < steps; ++step) {");
  x->s.indent += 2;
  tc_print_line(
      &x->s,
      "const unsigned short *const from = place + (int)((step + PREFETCH) %% PLACES) * PLACE;");
  tc_print_line(&x->s, "if (step >= 0) {");
  tc_print_line(&x->s, "  tc_copies_wait<PREFETCH - 1>();");
  tc_print_line(&x->s, "  square.ready();");
  tc_print_line(&x->s, "  __syncthreads();");
  tc_print_line(&x->s, "  square.start(from, from + 64 * M);");
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "const tc_int k0 = (step + PREFETCH) * 64;");
  tc_print_line(&x->s, "const int to = (int)((step + 2 * PREFETCH) %% PLACES);");
  tc_print_line(&x->s, "if (k0 < k_end) {");
  x->s.indent += 2;
  put_fill(x, &o[0], 'a');
  put_fill(x, &o[1], 'b');
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_copies_end();");
  tc_print_line(&x->s, "if (step >= 0) square.finish(from, from + 64 * M);");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "square.end();");
}

static void put_epilogue(tc_cuda_product *x, int lanes) {
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "tc_f32 *const sums = (tc_f32 *)tc_shared; /* [M][N + %d] */", PAD);
  tc_print_line(&x->s, "square.template leave<N + %d>(sums);", PAD);
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "_Pragma(\"unroll 4\") for (int e = (int)threadIdx.x * TC_L; e < M * N; e "
                       "+= THREADS * TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e / N, %s = n0 + e %% N;", x->text[x->m],
                x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_vf32 r0 = tc_load_f32(sums + e / N * (N + %d) + e %% N);", PAD);
  tc_cuda_put_finish(x, &x->mm->epilogue, lanes);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "__syncthreads();");
}

/* Eight rows of tiles are done together, column by column: neighbours in time share operands. */
static void put_order(tc_cuda_product *x) {
  enum { BAND = 8 };
  tc_print_line(&x->s,
                "const tc_int flat = tile %% (m_tiles * n_tiles), band = flat / (%d * n_tiles);",
                BAND);
  tc_print_line(&x->s, "const tc_int high = TC_MIN((tc_int)%d, m_tiles - band * %d);", BAND, BAND);
  tc_print_line(&x->s, "const tc_int m0 = (band * %d + flat %% (%d * n_tiles) %% high) * M;", BAND,
                BAND);
  tc_print_line(&x->s, "const tc_int n0 = flat %% (%d * n_tiles) / high * N;", BAND);
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  tc_print_line(&x->s, "constexpr int PLACE = 64 * (M + N); /* elements of a place */");
  tc_print_line(&x->s, "constexpr int GROUPS = THREADS / 128;");
  tc_print_line(&x->s, "typedef tc_square<tc_%s, M, N, GROUPS, %s, %s> square_t;",
                tc_print_storage(x->mm->operand), o[0].along == x->kk ? "true" : "false",
                o[1].along == x->kk ? "true" : "false");
  tc_print_line(&x->s, "constexpr int PLACES = 3 + square_t::behind, PREFETCH = 2;");
  tc_print_line(&x->s, "unsigned short *const place = tc_places();");
  tc_cuda_open_tiles(x, "M", "N");
  put_order(x);
  tc_cuda_put_batches(x);
  put_loop(x, o);
  put_epilogue(x, (int)o[2].plan.width);
  tc_cuda_close_scope(x);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A function: the tile of a block. */
typedef struct tile {
  int m, n, threads, blocks; /* blocks: of a multiprocessor */
} tile;
static const tile large = {256, 128, 256, 1}, middle = {128, 128, 128, 2}, small = {64, 64, 128, 2};
/* Of few columns. */
static const tile large_narrow = {256, 64, 256, 1}, middle_narrow = {128, 64, 128, 3};

/* Would half of the columns of a tile be empty? */
static bool is_narrow(const tc_cuda_product *x) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->n].extent, &least, &most);
  return most <= 64;
}

static void put_function(const tc_cuda_product *x, const tc_cuda_bodies *b, int number,
                         const tile *t, const int *lanes, const char *index, tc_buf *out) {
  tc_buf arguments = {0};
  tc_putf(&arguments, "%d, %d, %d, %d, %d, %d, %s", t->m, t->n, t->threads, lanes[0], lanes[1],
          lanes[2], index);
  tc_cuda_put_instance(x, b, "product", number, t->threads, false, t->blocks, arguments.text,
                       out);
  tc_buf_free(&arguments);
}

/* Functions 0 to 2: tiles of three sizes, of 16-byte accesses; 3: no conditions; 4 and 5: middle
 * and small tiles of 16-byte accesses, but for the results. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o,
                              const tc_cuda_bodies *b, tc_buf *out) {
  const int vectorized[] = {(int)o[0].plan.width, (int)o[1].plan.width, (int)o[2].plan.width},
            one[] = {1, 1, 1};
  const char *index = x->plan->index64 ? "tc_i64" : "int";
  tc_put(out, "template <int M, int N, int THREADS, int a_lanes, int b_lanes, int c_lanes, "
              "class tc_int>\nTC_FN void @NAME@_product(\n    ");
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", b->body);
  const bool narrow = is_narrow(x);
  put_function(x, b, 0, narrow ? &large_narrow : &large, vectorized, index, out);
  put_function(x, b, 1, narrow ? &middle_narrow : &middle, vectorized, index, out);
  put_function(x, b, 2, &small, vectorized, index, out);
  put_function(x, b, 3, &small, one, "tc_i64", out);
  if (!tc_cuda_may_be_unaligned(x, o)) return 4;
  const int loaded[] = {vectorized[0], vectorized[1], 1};
  put_function(x, b, 4, narrow ? &middle_narrow : &middle, loaded, index, out);
  put_function(x, b, 5, &small, loaded, index, out);
  return 6;
}

/* The largest tiles of which there are enough to feed the machine and for which there is shared
 * memory: the places, and what aligns the first.  Hopper's large tiles have one place more. */
static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  const int broad = is_narrow(x) ? 64 : 128, middle = 3 * 128 * (128 + broad) + 1024,
            small = 3 * 128 * (64 + 64) + 1024;
  tc_buf apart = {0};
  if (tc_cuda_may_be_unaligned(x, o))
    tc_putf(&apart,
            "                            : !wide_results ? even >= enough && %d <= most ? 4 : 5\n",
            middle);
  tc_putf(out,
          "  const int64_t enough = c->info->sms * 3 / 4;\n"
          "  const int64_t place = c->info->arch == 90 ? 4 : 3, most = c->info->max_shared;\n"
          "  const int64_t larger = place * 128 * (256 + %d) + 1024;\n"
          "  const int64_t tall = batches * tc_cuda_ceildiv(m, 256) * tc_cuda_ceildiv(n, %d);\n"
          "  const int64_t even = batches * tc_cuda_ceildiv(m, 128) * tc_cuda_ceildiv(n, %d);\n"
          "  const unsigned function = !vectorized ? 3\n"
          "%s"
          "                            : tall >= enough && larger <= most ? 0\n"
          "                            : even >= enough && %d <= most  ? 1\n"
          "                                                               : 2;\n"
          "  const int middle = function == 1 || function == 4;\n"
          "  const int64_t high = function == 0 ? 256 : middle ? 128 : 64;\n"
          "  const int64_t broad = function == 0 || middle ? %d : 64;\n"
          "  const int64_t block = function == 0 ? 256 : 128;\n"
          "  const int64_t shared = function == 0 ? larger : middle ? %d : %d;\n",
          broad, broad, broad, apart.text ? apart.text : "", middle, broad, middle, small);
  tc_buf_free(&apart);
}

const tc_cuda_template tc_cuda_mma = {.own = "vectorized",
                                      .unaligned_results = tc_cuda_may_be_unaligned,
                                      .body = put_body,
                                      .put = put_functions,
                                      .launch = put_launch};

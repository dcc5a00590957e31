/* mma.c - the matrix product of halves, and of f32 (mma_f32.c), on tensor cores.  Tiles of both operands pass through
 * several places in shared memory, a software pipeline of asynchronous copies; squares of sums stay
 * in the registers of four warps.
 *
 * An operand that is an array as it is comes by 16-byte copies in the background; any other value
 * (a prologue, an operand that is not aligned) is computed and stored where the copy would have put
 * it.  Outside of an operand are zeros.  Finished sums go through the same memory, so that a thread
 * of the epilogue has neighbours along n. */
#include "backends/cuda/gemm/k_parts.h"
#include "backends/cuda/gemm/mma.h"

/* ---- a tile of the product ------------------------------------------------------------------- */

static bool is_f32(const tc_cuda_product *x) { return x->mm->operand == TC_F32; }
static const char *element_of(const tc_cuda_product *x) { return is_f32(x) ? "tc_f32" : "unsigned short"; }

/* Fills place `to` with the tile of the operand at k0. */
static void put_fill(tc_cuda_product *x, const tc_cuda_operand *o, char name) {
  const tc_cuda_fill f = tc_cuda_mma_fill(x, o, name);
  tc_print_line(&x->s, "{ /* %s */", name == 'a' ? "A" : "B");
  x->s.indent += 2;
  tc_print_line(&x->s, "%s *const %c_tile = place + to * PLACE%s;", element_of(x), name,
                name == 'a' ? "" : " + OF_A");
  tc_cuda_put_begun_fill(x, &f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* All threads bring tiles and multiply them. */
static void put_loop(tc_cuda_product *x, const tc_cuda_operand *o) {
  for (int i = 0; i < 2; ++i) {
    const tc_cuda_fill f = tc_cuda_mma_fill(x, &o[i], i ? 'b' : 'a');
    tc_cuda_begin_fill(x, &f);
  }
  tc_print_line(&x->s, "for (tc_int step = -PREFETCH; step < steps; ++step) {");
  x->s.indent += 2;
  tc_print_line(
      &x->s,
      "const %s *const from = place + (int)((step + PREFETCH) %% PLACES) * PLACE;", element_of(x));
  tc_print_line(&x->s, "if (step >= 0) {");
  tc_print_line(&x->s, "  tc_copies_wait<PREFETCH - 1>();");
  tc_print_line(&x->s, "  square.ready();");
  tc_print_line(&x->s, "  __syncthreads();");
  tc_print_line(&x->s, "  square.start(from, from + OF_A);");
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "const tc_int k0 = %s(step + PREFETCH) * DEEP;", tc_cuda_has_k_parts(x->k) ? "k_first + " : "");
  tc_print_line(&x->s, "const int to = (int)((step + 2 * PREFETCH) %% PLACES);");
  tc_print_line(&x->s, "if (k0 < k_end) {");
  x->s.indent += 2;
  put_fill(x, &o[0], 'a');
  put_fill(x, &o[1], 'b');
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_copies_end();");
  tc_print_line(&x->s, "if (step >= 0) square.finish(from, from + OF_A);");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "square.end();");
  tc_print_line(&x->s, "tc_copies_wait<0>();");
}

static void put_sums(tc_cuda_product *x, const tc_cuda_operand *o) {
  const bool producers = tc_cuda_mma_has_producers(x, o);
  tc_print_line(&x->s, "square_t square;");
  tc_print_line(&x->s, "const tc_int steps = TC_CEILDIV(k_end%s, DEEP);", tc_cuda_has_k_parts(x->k) ? " - k_first" : "");
  tc_print_line(&x->s, producers ? "if constexpr (PRODUCERS > 0) {" : is_f32(x) ? "do {" : "{");
  x->s.indent += 2;
  if (producers) {
    tc_cuda_mma_put_consumers(x);
    x->s.indent -= 2;
    tc_print_line(&x->s, "} else {");
    x->s.indent += 2;
  }
  put_loop(x, o);
  x->s.indent -= 2;
  tc_print_line(&x->s, is_f32(x) ? "} while (square.again());" : "}");
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

static void put_square_type(tc_cuda_product *x, const tc_cuda_operand *o) {
  const char *const a = o[0].along == x->kk ? "true" : "false", *const b = o[1].along == x->kk ? "true" : "false";
  if (is_f32(x)) tc_print_line(&x->s, "typedef tc_square_f32<M, N, GROUPS, %s, %s> square_t;", a, b);
  else tc_print_line(&x->s, "typedef tc_square<tc_%s, M, N, GROUPS, %s, %s> square_t;", tc_print_storage(x->mm->operand), a, b);
}

void tc_cuda_mma_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  const int deep = tc_cuda_mma_deep(x), pad = tc_cuda_mma_pad(x);
  tc_print_line(&x->s, "constexpr int DEEP = %d, OF_A = DEEP * (M + %d), PLACE = OF_A + DEEP * (N + %d); /* of k; elements of A, of a place */", deep, pad, pad);
  tc_print_line(&x->s, "constexpr int GROUPS = THREADS / 128;");
  put_square_type(x, o);
  tc_print_line(&x->s, "constexpr int PLACES = PRODUCERS > 0 ? SLOTS : 3 + square_t::behind, PREFETCH = 2;");
  tc_print_line(&x->s, "%s *const place = (%s *)tc_places();", element_of(x), element_of(x));
  tc_cuda_mma_put_mbarriers(x, o);
  tc_cuda_open_tiles(x, "M", "N");
  put_order(x);
  tc_cuda_put_batches(x);
  tc_cuda_put_part_of_k(x);
  tc_cuda_mma_put_producers(x, o);
  put_sums(x, o);
  tc_cuda_mma_put_epilogue(x, o);
  tc_cuda_mma_close_producers(x, o);
  tc_print_line(&x->s, "__syncthreads();");
  tc_cuda_close_scope(x);
}

const char tc_cuda_mma_parameters[] = "template <int M, int N, int THREADS, int PRODUCERS, int BLOCKS, int SLOTS, int a_lanes, int b_lanes, int c_lanes, "
                                      "bool any_rows, class tc_int>\n";

/* ---- functions ------------------------------------------------------------------------------- */

/* A function: the tile of a block, its threads but for producers, and blocks of a multiprocessor; with producers: places.
 * What 64 of k take, ns, where a multiprocessor has as many blocks as it holds, and where few do; and what a tile takes beside. */
typedef struct tile {
  int m, n, threads, blocks, slots;
  int step, least, rest;
} tile;
enum { LARGE, MIDDLE, SMALL, TILES };
/* Hopper's own, with producers: of 192 x 256 results, for what blocks of 256 x 128 read for as many is more than its
 * second-level cache gives.  (Times are of an H200; those of any device's code,
 * and of few columns, are estimates from it by sizes.) */
static const tile many_columns[TILES] = {{256, 128, 256, 1, 0, 970, 970, 4300}, {128, 128, 128, 2, 0, 960, 700, 3000}, {64, 64, 128, 3, 0, 540, 450, 1800}},
                  few_columns[TILES] = {{256, 64, 256, 1, 0, 600, 600, 3000}, {128, 64, 128, 2, 0, 600, 500, 2200}, {64, 64, 128, 3, 0, 540, 450, 1800}},
                  many_produced[TILES] = {{192, 256, 384, 1, 4, 1230, 1300, 4300}, {128, 128, 128, 2, 3, 925, 700, 2500}, {64, 64, 128, 3, 4, 520, 410, 1800}},
                  few_produced[TILES] = {{256, 64, 256, 1, 5, 800, 800, 3000}, {128, 64, 128, 2, 4, 700, 500, 2200}, {64, 64, 128, 3, 4, 520, 410, 1800}};

/* Would half of the columns of a tile be empty? */
static bool is_narrow(const tc_cuda_product *x) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->n].extent, &least, &most);
  return most <= 64;
}

/* Of Hopper, or of any device. */
static const tile *tiles_of(const tc_cuda_product *x, const tc_cuda_operand *o, bool hopper) {
  const bool produced = hopper && tc_cuda_mma_has_producers(x, o);
  if (is_narrow(x)) return produced ? few_produced : few_columns;
  return produced ? many_produced : many_columns;
}

/* Accesses of a function: elements of A, B and the results at once; rows: of the results, which begin anywhere. */
typedef struct accesses {
  int lanes[TC_CUDA_EPILOGUE + 1];
  bool any_rows;
  const char *index;
} accesses;

/* C: one size or the other. */
static void put_size(int own, int any, tc_buf *out) {
  tc_putf(out, own == any ? "%d" : "TC_PRODUCERS ? %d : %d", own, any);
}

static void put_function(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b, int number, int size,
                         const accesses *a, bool producers, tc_buf *out) {
  const tile *any = &tiles_of(x, o, false)[size], *own = producers ? &tiles_of(x, o, true)[size] : any;
  tc_buf arguments = {0}, bound = {0};
  put_size(own->m, any->m, &arguments);
  tc_put(&arguments, ", ");
  put_size(own->n, any->n, &arguments);
  tc_put(&arguments, ", ");
  put_size(own->threads, any->threads, &arguments);
  put_size(own->threads + (producers ? TC_CUDA_PRODUCERS : 0), any->threads, &bound);
  tc_putf(&arguments, ", %s, %d, %d, %d, %d, %d, %s, %s", producers ? "TC_PRODUCERS" : "0", own->blocks,
          own->slots, a->lanes[0], a->lanes[1], a->lanes[2], a->any_rows ? "true" : "false", a->index);
  tc_cuda_put_instance_of(x, b, "product", number, bound.text ? bound.text : "", own->blocks, arguments.text, out);
  tc_buf_free(&arguments);
  tc_buf_free(&bound);
}

/* Functions 0 to 2: tiles of three sizes, of 16-byte accesses; 3: no conditions; 4 to 6: of 16-byte accesses, but for rows of
 * results that begin anywhere. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o,
                              const tc_cuda_bodies *b, tc_buf *out) {
  const bool producers = tc_cuda_mma_has_producers(x, o), shifts = tc_cuda_mma_shifts(x, o);
  const char *index = x->plan->index64 ? "tc_i64" : "int";
  const int a = (int)o[TC_CUDA_A].plan.width, w = (int)o[TC_CUDA_B].plan.width, c = (int)o[TC_CUDA_EPILOGUE].plan.width;
  const accesses wide = {{a, w, c}, false, index}, single = {{1, 1, 1}, false, "tc_i64"}, anywhere = {{a, w, shifts ? c : 1}, shifts, index};
  tc_putf(out, "%sTC_FN void @NAME@_product(\n    ", tc_cuda_mma_parameters);
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", b->body);
  for (int i = 0; i < TILES; ++i) put_function(x, o, b, i, i, &wide, producers, out);
  put_function(x, o, b, TILES, SMALL, &single, false, out);
  if (!tc_cuda_may_be_unaligned(x, o)) return TILES + 1;
  for (int i = 0; i < TILES; ++i) put_function(x, o, b, TILES + 1 + i, i, &anywhere, producers, out);
  return 2 * TILES + 1;
}

/* Shared memory of a block: the places, and what aligns the first.  Hopper's large tiles have one more. */
static int shared_of(const tile *t, bool hopper) {
  const int places = t->slots ? t->slots : 3 + (hopper && t->threads > 128);
  return places * 128 * (t->m + t->n) + 1024;
}

static void put_tiles(const tc_cuda_product *x, const tc_cuda_operand *o, bool hopper, tc_buf *out) {
  const tile *t = tiles_of(x, o, hopper);
  tc_put(out, "      {");
  for (int i = 0; i < TILES; ++i)
    tc_putf(out, "%s{%d, %d, %d, %d, %d, %d, %d, %d}", i ? ", " : "", t[i].m, t[i].n, t[i].threads + (t[i].slots ? TC_CUDA_PRODUCERS : 0),
            shared_of(&t[i], hopper), t[i].blocks, t[i].step, t[i].least, t[i].rest);
  tc_put(out, "},\n");
}

/* The tiles that take least time, of those for which there is shared memory. */
static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  const bool apart = tc_cuda_may_be_unaligned(x, o);
  tc_put(out, "  static const tc_cuda_tile tiles[][3] = { /* of any device, and of Hopper's own code */\n");
  put_tiles(x, o, false, out);
  put_tiles(x, o, true, out);
  tc_put(out, "  };\n"
              "  const tc_cuda_tile *const tile = tiles[vectorized && tc_cuda_has_producers(c, &@NAME@_image)];\n"
              "  double time = 0;\n"
              "  int at = vectorized ? tc_cuda_fastest_tile(c, tile, 3, batches, m, n, ");
  tc_cuda_put_size(x->p, x->mm, x->kk, out);
  tc_putf(out, ", &time) : %d;\n", SMALL);
  tc_cuda_put_k_parts(x, SMALL, out);
  tc_putf(out, "  const unsigned function = !vectorized ? %d : at", TILES);
  if (apart) tc_putf(out, " + (wide_results ? 0 : %d)", TILES + 1);
  tc_put(out, ";\n  const int64_t high = tile[at].m, broad = tile[at].n, shared = tile[at].shared, block = tile[at].threads;\n");
}

const tc_cuda_template tc_cuda_mma = {.own = "vectorized",
                                      .unaligned_results = tc_cuda_may_be_unaligned,
                                      .body = tc_cuda_mma_body,
                                      .put = put_functions,
                                      .launch = put_launch};

/* matmul.c - the matrix product as a kernel of its own: tiles of both operands in shared memory, a
 * square of TC_U x TC_U sums in the registers of each of 256 threads.  Any dtype; prologues are
 * computed while a tile is filled, the epilogue on finished sums. */
#include "backends/cuda/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 }; /* of a tile, along k */

typedef struct product {
  tc_print_scope s;
  const tc_kernel *k;
  const tc_program *p;
  const tc_mm_loop *mm;
  int m, n, kk; /* axis numbers */
  char text[TC_MAX_AXES][16];
  const char *result;
  uint32_t axes[1];
} product;

/* ---- operands as nests, for lanes and conditions
 * ------------------------------------------------------- */

/* Is every load of v that changes along `axis` of neighbours? */
static int neighbours(const product *x, tc_val v, int axis) {
  uint8_t *need = calloc(x->k->nexpr + 1, 1);
  int n = 0;
  if (!need) return 0;
  need[v.id] = 1;
  tc_print_mark(x->k, need);
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    n += need[i] && x->k->expr[i].kind == TC_EX_LOAD &&
         tc_dim_is(x->k->expr[i].address.coef[axis], 1);
  free(need);
  return n;
}

typedef struct operand {
  tc_val value;
  int along, across; /* axis of neighbours in memory, and the other one */
  tc_nest nest;      /* that reads it, lanes along `along` */
  tc_stage stage;
  tc_action action;
  tc_cuda_plan plan;
} operand;

static void open_operand(const product *x, operand *o, tc_val value, int other) {
  *o = (operand){.value = value, .along = x->kk, .across = other};
  if (neighbours(x, value, other) > neighbours(x, value, x->kk)) {
    o->along = other;
    o->across = x->kk;
  }
  o->action = (tc_action){.kind = TC_ACT_REDUCE, .op = OP_SUM, .value = value, .dtype = x->mm->acc};
  o->stage = (tc_stage){.axes = 1, .naction = 1, .action = &o->action};
  o->nest =
      (tc_nest){.naxis = x->mm->nbatch + 3, .nstage = 1, .stage = &o->stage, .vector = o->along};
  memcpy(o->nest.axis, x->mm->axis, sizeof o->nest.axis);
  o->plan = tc_cuda_plan_nest(x->k, x->p, &o->nest);
}

/* The epilogue as a nest, lanes along n. */
static void open_epilogue(const product *x, operand *o) {
  *o = (operand){.along = x->n, .across = x->m};
  o->stage = x->mm->epilogue;
  o->stage.axes = 1u << x->n;
  o->nest = (tc_nest){
      .naxis = x->kk, .nouter = x->n, .nstage = 1, .stage = &o->stage, .vector = x->n};
  memcpy(o->nest.axis, x->mm->axis, sizeof o->nest.axis);
  o->plan = tc_cuda_plan_nest(x->k, x->p, &o->nest);
}

/* ---- text
 * ------------------------------------------------------------------------------------------------
 */

static void extent(const product *x, int axis, tc_buf *out) {
  tc_print_dim(x->p, x->mm->axis[axis].extent, out);
}

static void declare_extent(product *x, const char *name, int axis) {
  tc_buf t = {0};
  extent(x, axis, &t);
  tc_print_line(&x->s, "const tc_int %s = %s;", name, t.text);
  tc_buf_free(&t);
}

static const char *acc(const product *x) { return tc_print_compute(x->mm->acc); }

/* Tile `name` of [DEPTH][TC_U * 16] elements; LANES neighbours of the axis `along` at a time.  What
 * lies outside of the operand is 0. */
static void put_fill(product *x, const operand *o, const char *name, int lanes) {
  const bool by_k = o->along == x->kk;
  const char *side = name[0] == 'a' ? "m" : "n";
  const char *type = acc(x), *row = by_k ? "far" : "near", *deep = by_k ? "near" : "far";
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
  x->s.vector = lanes > 1 ? o->along : -1;
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_value(&x->s, o->value);
  const bool half = x->mm->operand == TC_F16 || x->mm->operand == TC_BF16;
  if (half)
    tc_print_line(&x->s, "part = tc_round_%s(v%u);", tc_print_storage(x->mm->operand), o->value.id);
  else tc_print_line(&x->s, "part = v%u;", o->value.id);
  tc_print_leave(&x->s, outer);
  x->s.vector = -1;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "TC_UNROLL for (int l = 0; l < TC_L; ++l) %s_tile[%s%s][%s%s] = part[l];",
                name, deep, by_k ? " + l" : "", row, by_k ? "" : " + l");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_multiply(product *x) {
  const char *t = acc(x);
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
static void put_strip(product *x) {
  tc_print_line(&x->s, "TC_ROLLED for (int i = 0; i < TC_U; ++i) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "TC_UNROLL for (int q = 0; q < TC_U; ++q)");
  tc_print_line(&x->s, "  if (q == i)");
  tc_print_line(&x->s,
                "    TC_UNROLL for (int j = 0; j < TC_U; ++j) strip[y][j / 4 * 64 + x * 4 + j %% "
                "4] = sum[q][j];");
  tc_print_line(&x->s, "__syncthreads();");
}

static void put_epilogue(product *x, int lanes) {
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
  tc_print_line(&x->s, "tc_v%s r0;", acc(x));
  tc_print_line(&x->s,
                "TC_UNROLL for (int l = 0; l < TC_L; ++l) r0[l] = strip[e / side][e %% side + l];");
  x->s.vector = lanes > 1 ? x->n : -1;
  uint8_t *outer = tc_print_enter(&x->s);
  for (uint32_t i = 0; i < x->mm->epilogue.naction; ++i)
    tc_print_hoist_action(&x->s, &x->mm->epilogue.action[i], ~0u);
  for (uint32_t i = 0; i < x->mm->epilogue.naction; ++i)
    tc_print_store(&x->s, &x->mm->epilogue.action[i]);
  tc_print_leave(&x->s, outer);
  x->s.vector = -1;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_batches(product *x) {
  tc_print_line(&x->s, "tc_int rest = tile / (m_tiles * n_tiles);");
  for (int i = x->mm->nbatch - 1; i >= 0; --i) {
    tc_buf e = {0};
    extent(x, i, &e);
    tc_print_line(&x->s, "const tc_int %s = rest %% (%s);", x->text[i], e.text);
    tc_print_line(&x->s, "rest /= %s;", e.text);
    tc_buf_free(&e);
  }
}

static void put_batch_count(const product *x, tc_buf *out) {
  tc_put(out, "1");
  for (int i = 0; i < x->mm->nbatch; ++i) {
    tc_put(out, " * (");
    extent(x, i, out);
    tc_put(out, ")");
  }
}

static void put_tile(product *x, const operand *a, const operand *b, int lanes) {
  tc_print_line(&x->s,
                "const tc_int m0 = tile / n_tiles %% m_tiles * side, n0 = tile %% n_tiles * side;");
  put_batches(x);
  tc_print_line(&x->s, "tc_%s sum[TC_U][TC_U] = {};", acc(x));
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

static void put_body(product *x, const operand *a, const operand *b, int lanes) {
  tc_buf batches = {0};
  put_batch_count(x, &batches);
  tc_print_line(&x->s, "constexpr int side = 16 * TC_U;");
  tc_print_line(&x->s, "__shared__ tc_%s a_tile[%d][side + 4], b_tile[%d][side + 4];", acc(x),
                DEPTH, DEPTH);
  tc_print_line(&x->s, "__shared__ tc_%s strip[16][side + 4];", acc(x));
  declare_extent(x, "m_end", x->m);
  declare_extent(x, "n_end", x->n);
  declare_extent(x, "k_end", x->kk);
  tc_print_line(
      &x->s, "const tc_int m_tiles = TC_CEILDIV(m_end, side), n_tiles = TC_CEILDIV(n_end, side);");
  tc_print_line(&x->s, "const int x = threadIdx.x %% 16, y = threadIdx.x / 16;");
  tc_print_line(
      &x->s, "for (tc_int tile = blockIdx.x; tile < %s * m_tiles * n_tiles; tile += gridDim.x) {",
      batches.text);
  x->s.indent += 2;
  put_tile(x, a, b, lanes);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&batches);
}

/* ---- the kernel
 * -------------------------------------------------------------------------------------------- */

static bool open_product(product *x, const tc_kernel *k, const tc_program *p, tc_buf *out) {
  const tc_mm_loop *mm = &k->mm;
  *x = (product){.k = k,
                 .p = p,
                 .mm = mm,
                 .m = mm->nbatch,
                 .n = mm->nbatch + 1,
                 .kk = mm->nbatch + 2,
                 .result = "r0"};
  x->axes[0] = (1u << x->kk) - 1;
  x->s = (tc_print_scope){.k = k,
                          .p = p,
                          .words = &tc_cuda_words,
                          .out = out,
                          .indent = 2,
                          .naxis = mm->nbatch + 3,
                          .vector = -1,
                          .result = &x->result,
                          .result_axes = x->axes};
  for (int i = 0; i < mm->nbatch + 3; ++i) {
    snprintf(x->text[i], sizeof x->text[i], "i%d", i);
    x->s.axis[i] = x->text[i];
  }
  x->s.depends = calloc(k->nexpr + 1, sizeof *x->s.depends);
  x->s.printed = calloc(k->nexpr + 1, 1);
  if (!x->s.depends || !x->s.printed) return false;
  tc_print_depends(k, x->axes, x->s.depends);
  return true;
}

static void put_symbols(const tc_program *p, const char *text, tc_buf *out) {
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(c); ++i) {
    char word[256];
    snprintf(word, sizeof word, "s_%s", tc_dims_sym(c, i)->name);
    if (tc_cuda_names(text, word))
      tc_putf(out, "  const tc_int %s = (tc_int)z_%s;\n", word, tc_dims_sym(c, i)->name);
  }
}

static void put_global(const product *x, const char *body, int number, int unroll, int a, int b,
                       int c, const char *index, tc_buf *out) {
  tc_putf(out, "extern \"C\" __global__ void __launch_bounds__(256) @NAME@_%d(\n    ", number);
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n  @NAME@_product<%d, %d, %d, %d, %s>(", unroll, a, b, c, index);
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_PASS, out);
  tc_put(out, ");\n}\n");
}

/* Small products are cut into smaller tiles, for there to be more of them. */
static int choose_side(const product *x) {
  enum { FEW = 512 };
  int64_t lo, m, n;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->m].extent, &lo, &m);
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->n].extent, &lo, &n);
  const bool wide = tc_dtype_bytes(x->mm->acc) == 8;
  return m < FEW || n < FEW || wide ? 4 : 8;
}

static void put_launcher(const product *x, const char *body, const operand *o, int side,
                         const char *library, tc_buf *out) {
  tc_buf t = {0}, conditions = {0};
  tc_put(&t, library);
  for (int i = 0; i < 3; ++i)
    tc_cuda_put_conditions(x->k, x->p, &o[i].nest, &o[i].plan, false, &conditions);
  tc_putf(&t, "  const int wide = 1%s;\n  const int64_t side = wide ? %d : 64, group = 1, m = ",
          conditions.text ? conditions.text : "", 16 * side);
  extent(x, x->m, &t);
  tc_put(&t, ", n = ");
  extent(x, x->n, &t);
  tc_put(&t, ";\n  const int64_t grid = ");
  put_batch_count(x, &t);
  tc_put(&t, " * tc_cuda_ceildiv(m, side) * tc_cuda_ceildiv(n, side);\n  void *const args[] = {");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_ADDRESS, &t);
  tc_put(&t, "};\n  return tc_cuda_start(c, &@NAME@_image, wide ? 0 : 1, grid, 256, 0, args,\n"
             "                       sizeof args / sizeof *args);\n}\n");
  tc_cuda_put_host_head(x->p, t.text ? t.text : "", out);
  tc_put(out, t.text ? t.text : "");
  if (t.failed || conditions.failed) out->failed = true;
  tc_buf_free(&t);
  tc_buf_free(&conditions);
}

bool tc_cuda_put_matmul(const tc_kernel *k, const tc_program *p, tc_buf *device, tc_buf *host,
                        uint32_t *functions) {
  product x;
  tc_buf text = {0}, body = {0}, library = {0};
  bool failed = false;
  operand o[3]; /* A, B, epilogue */
  bool ok = open_product(&x, k, p, &text);
  if (ok) {
    const bool checks = tc_print_checks(k);
    open_operand(&x, &o[0], k->mm.a, x.m);
    open_operand(&x, &o[1], k->mm.b, x.n);
    open_epilogue(&x, &o[2]);
    put_body(&x, &o[0], &o[1], o[2].plan.lanes);
    tc_putf(&body, "  constexpr int TC_L = 1;\n  TC_TYPES\n%s", checks ? "  int bad = 0;\n" : "");
    put_symbols(p, text.text ? text.text : "", &body);
    tc_putf(&body, "%s%s", text.text ? text.text : "", checks ? "  if (bad) *flag = 1;\n" : "");
    tc_print_fused(k, p, device);
    tc_put(device,
           "template <int TC_U, int a_lanes, int b_lanes, int c_lanes, class tc_int> TC_FN void "
           "@NAME@_product(\n    ");
    tc_cuda_put_parameters(k, p, body.text, TC_CUDA_DECLARE, device);
    tc_putf(device, ") {\n%s}\n", body.text);
    const int side = choose_side(&x);
    const bool far = o[0].plan.far || o[1].plan.far || o[2].plan.far;
    put_global(&x, body.text, 0, side, o[0].plan.lanes, o[1].plan.lanes, o[2].plan.lanes,
               far ? "tc_i64" : "int", device);
    put_global(&x, body.text, 1, 4, 1, 1, 1, "tc_i64", device);
    *functions = 2 + tc_cuda_put_library(k, p, device, &library, &failed);
    put_launcher(&x, body.text, o, side, library.text ? library.text : "", host);
  }
  free(x.s.depends);
  free(x.s.printed);
  const bool whole = ok && !failed && !library.failed && !text.failed && !body.failed &&
                     !device->failed && !host->failed;
  tc_buf_free(&text);
  tc_buf_free(&body);
  tc_buf_free(&library);
  return whole;
}

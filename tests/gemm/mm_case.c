/* mm_case.c - loop IR of a matmul case, and its text. */
#include "mm_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/unit.h"

/* ---- layout ---------------------------------------------------------------------------------- */

int64_t mm_batches(const mm_case *c) {
  int64_t n = 1;
  for (int i = 0; i < c->nbatch; ++i) n *= c->batch[i];
  return n;
}

/* Strides of a rows x columns operand: of the row index, of the column index, of the batch. */
static void strides(mm_layout l, int64_t rows, int64_t cols, int64_t *row, int64_t *col,
                    int64_t *batch) {
  *row = l == MM_COLS ? 1 : l == MM_STRIDED ? 2 * cols + 3 : cols;
  *col = l == MM_COLS ? rows : l == MM_STRIDED ? 2 : 1;
  *batch = l == MM_STRIDED ? rows * (2 * cols + 3) : rows * cols;
}

static int64_t place(mm_layout l, int64_t rows, int64_t cols, int64_t b, int64_t i, int64_t j) {
  int64_t row, col, batch;
  strides(l, rows, cols, &row, &col, &batch);
  return b * batch + i * row + j * col;
}

int64_t mm_a_at(const mm_case *c, int64_t b, int64_t m, int64_t k) {
  return place(c->a, c->m, c->k, b, m, k);
}
int64_t mm_b_at(const mm_case *c, int64_t b, int64_t k, int64_t n) {
  return place(c->b, c->k, c->n, c->b_batched ? b : 0, k, n);
}
int64_t mm_c_at(const mm_case *c, int64_t b, int64_t m, int64_t n) {
  return (b * c->m + m) * c->n + n;
}

tc_dtype mm_dtype(const mm_case *c, int buffer) {
  return buffer == MM_C || buffer == MM_BIAS || buffer == MM_C0 ? c->out : c->operand;
}

int64_t mm_numel(const mm_case *c, int buffer) {
  int64_t row, col, batch, n = 0;
  if (buffer == MM_A) strides(c->a, c->m, c->k, &row, &col, &batch), n = mm_batches(c) * batch;
  if (buffer == MM_B)
    strides(c->b, c->k, c->n, &row, &col, &batch), n = (c->b_batched ? mm_batches(c) : 1) * batch;
  if (buffer == MM_C || buffer == MM_C0) n = mm_batches(c) * c->m * c->n;
  if (buffer == MM_BIAS || buffer == MM_COL) n = c->n;
  if (buffer == MM_ROW) n = c->m;
  return n > 0 ? n : 1;
}

/* ---- loop IR --------------------------------------------------------------------------------- */

typedef struct build {
  const mm_case *c;
  tc_graph *g;
  tc_dims *d;
  tc_dim m, n, k;
  tc_program p;
  tc_kernel kernel;
  tc_buffer buffer[MM_BUFFERS];
  uint32_t number[MM_BUFFERS];
  tc_expr expr[32];
  tc_action store;
} build;

static tc_dtype compute(tc_dtype d) { return d == TC_F16 || d == TC_BF16 ? TC_F32 : d; }

static tc_val add(build *b, tc_expr e) {
  b->expr[b->kernel.nexpr] = e;
  return (tc_val){b->kernel.nexpr++};
}

static tc_val load(build *b, int buffer, tc_address a) {
  return add(b, (tc_expr){.kind = TC_EX_LOAD,
                          .buffer = (uint32_t)buffer,
                          .address = a,
                          .dtype = compute(mm_dtype(b->c, buffer))});
}

static tc_val op2(build *b, tc_op op, tc_val x, tc_val y) {
  return add(b, (tc_expr){.kind = TC_EX_OP, .op = op, .dtype = b->expr[x.id].dtype, .in = {x, y}});
}

static tc_val cast(build *b, tc_val x, tc_dtype d) {
  if (b->expr[x.id].dtype == d) return x;
  return add(b, (tc_expr){.kind = TC_EX_CAST, .dtype = d, .in = {x}});
}

static tc_val zero(build *b, tc_dtype d) {
  return add(b, (tc_expr){.kind = TC_EX_CONST, .dtype = d});
}

static tc_val rounded(build *b, tc_val x, tc_dtype d) {
  if (d != TC_F16 && d != TC_BF16) return x;
  return add(b, (tc_expr){.kind = TC_EX_ROUND, .dtype = TC_F32, .storage = d, .in = {x}});
}

static tc_dim mul(build *b, tc_dim x, tc_dim y) { return tc_dim_mul(b->d, x, y); }

static tc_address address(build *b) {
  tc_address a;
  memset(&a, 0, sizeof a);
  a.offset = tc_dim_const(0);
  for (int i = 0; i < TC_MAX_AXES; ++i) a.coef[i] = tc_dim_const(0);
  (void)b;
  return a;
}

static tc_address matrix(build *b, mm_layout l, tc_dim rows, tc_dim cols, int row_axis,
                         int col_axis, bool batched) {
  tc_address a = address(b);
  tc_dim row = cols, col = tc_dim_const(1), batch = mul(b, rows, cols);
  if (l == MM_COLS) row = tc_dim_const(1), col = rows;
  if (l == MM_STRIDED) {
    row = tc_dim_add(b->d, mul(b, cols, tc_dim_const(2)), tc_dim_const(3)), col = tc_dim_const(2);
    batch = mul(b, rows, row);
  }
  a.coef[row_axis] = row, a.coef[col_axis] = col;
  for (int i = b->c->nbatch - 1; i >= 0 && batched; --i) {
    a.coef[i] = batch;
    batch = mul(b, batch, tc_dim_const(b->c->batch[i]));
  }
  return a;
}

static tc_address along(build *b, int axis) {
  tc_address a = address(b);
  a.coef[axis] = tc_dim_const(1);
  return a;
}

static void put_operands(build *b) {
  const int m = b->c->nbatch, n = m + 1, k = m + 2;
  tc_mm_loop *mm = &b->kernel.mm;
  mm->a = load(b, MM_A, matrix(b, b->c->a, b->m, b->k, m, k, true));
  mm->b = load(b, MM_B, matrix(b, b->c->b, b->k, b->n, k, n, b->c->b_batched));
  if (!b->c->prologue) return;
  tc_val a = op2(b, OP_MAXIMUM, mm->a, zero(b, compute(b->c->operand)));
  mm->a = rounded(b, op2(b, OP_ADD, a, load(b, MM_ROW, along(b, m))), b->c->operand);
  mm->b = rounded(b, op2(b, OP_MUL, mm->b, load(b, MM_COL, along(b, n))), b->c->operand);
}

static void put_epilogue(build *b) {
  const int m = b->c->nbatch, n = m + 1;
  const tc_address c = matrix(b, MM_ROWS, b->m, b->n, m, n, true);
  const tc_dtype d = compute(b->c->out);
  tc_val v = add(b, (tc_expr){.kind = TC_EX_RESULT, .dtype = b->kernel.mm.acc});
  v = cast(b, v, d);
  if (b->c->epilogue) {
    v = op2(b, OP_ADD, v, load(b, MM_BIAS, along(b, n)));
    v = op2(b, OP_MAXIMUM, v, zero(b, d));
    v = op2(b, OP_ADD, v, load(b, MM_C0, c));
  }
  b->store = (tc_action){
      .kind = TC_ACT_STORE, .value = v, .buffer = MM_C, .dtype = b->c->out, .address = c};
  b->kernel.mm.epilogue = (tc_stage){.naction = 1, .action = &b->store};
}

static tc_dim size(build *b, const char *name, int64_t v) {
  return b->c->symbolic ? tc_dim_sym(b->d, name, 0, INT64_MAX / 4, 1) : tc_dim_const(v);
}

static bool open_build(build *b, const mm_case *c) {
  static const char *const name[MM_BUFFERS] = {"a", "b", "c", "bias", "c0", "row", "col"};
  memset(b, 0, sizeof *b);
  b->c = c;
  b->g = tc_graph_new("case", NULL);
  if (!b->g) return false;
  b->d = tc_graph_dims(b->g);
  b->m = size(b, "M", c->m), b->n = size(b, "N", c->n), b->k = size(b, "K", c->k);
  for (uint32_t i = 0; i < MM_BUFFERS; ++i) {
    b->number[i] = i;
    b->buffer[i] = (tc_buffer){.kind = i == MM_C ? TC_BUF_OUTPUT : TC_BUF_INPUT,
                               .index = i,
                               .name = name[i],
                               .dtype = mm_dtype(c, (int)i),
                               .numel = tc_dim_const(0)};
    b->buffer[i].type.dtype = (uint8_t)mm_dtype(c, (int)i);
  }
  b->kernel = (tc_kernel){.kind = TC_KERNEL_MATMUL,
                          .name = "matmul",
                          .nbuffer = MM_BUFFERS,
                          .buffer = b->number,
                          .nexpr = 1,
                          .expr = b->expr};
  b->p = (tc_program){.graph = b->g,
                      .arena = tc_graph_arena(b->g),
                      .nbuffer = MM_BUFFERS,
                      .buffer = b->buffer,
                      .nkernel = 1,
                      .kernel = &b->kernel};
  tc_mm_loop *mm = &b->kernel.mm;
  mm->nbatch = c->nbatch, mm->operand = c->operand;
  mm->acc = compute(c->operand);
  for (int i = 0; i < c->nbatch; ++i)
    mm->axis[i] = (tc_axis){.extent = tc_dim_const(c->batch[i]), .of = -1};
  mm->axis[c->nbatch] = (tc_axis){.name = "m", .extent = b->m, .of = -1};
  mm->axis[c->nbatch + 1] = (tc_axis){.name = "n", .extent = b->n, .of = -1};
  mm->axis[c->nbatch + 2] = (tc_axis){.name = "k", .extent = b->k, .of = -1};
  put_operands(b);
  put_epilogue(b);
  mm->costly = c->epilogue; /* a schedule, not a value */
  return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_named(const char *text, int number, tc_buf *out) {
  for (const char *at; (at = strstr(text, "@NAME@")); text = at + 6) {
    tc_putn(out, text, (size_t)(at - text));
    tc_putf(out, "kernel_%d", number);
  }
  tc_put(out, text);
}

bool mm_emit(const mm_case *c, int number, tc_buf *out) {
  build b;
  tc_buf text = {0};
  bool ok = open_build(&b, c) && tc_backend_openmp.plan(&b.p) &&
            tc_omp_emit_matmul(&b.kernel, &b.p, &text);
  if (ok) put_named(text.text, number, out);
  tc_putf(out,
          "__attribute__((visibility(\"default\"))) int mm_%d(void *const *buf, const int64_t "
          "*sym, const "
          "tc_value *scalar) {\n  return TC_NAME(kernel_%d)(buf, sym, scalar);\n}\n",
          number, number);
  tc_buf_free(&text);
  tc_graph_free(b.g);
  return ok;
}

/* The scratch sizes are expressions over the symbols: the same case with its sizes as constants has
 * their values (one row or column, as a constant, is another template and needs none). */
void mm_scratch(const mm_case *c, int64_t *shared, int64_t *own) {
  build b;
  tc_buf s = {0}, t = {0};
  mm_case fixed = *c;
  fixed.symbolic = false;
  if (c->symbolic && c->m == 1) fixed.m = 2;
  if (c->symbolic && c->n == 1) fixed.n = 2;
  *shared = *own = 0;
  if (open_build(&b, &fixed)) tc_omp_matmul_scratch(&b.kernel, &b.p, &s, &t);
  if (s.text && t.text) *shared = atoll(s.text), *own = atoll(t.text);
  tc_buf_free(&s);
  tc_buf_free(&t);
  tc_graph_free(b.g);
}

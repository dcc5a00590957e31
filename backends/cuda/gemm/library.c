/* library.c - matrix products that cuBLASLt can take: plain operands, rows or columns of which are
 * neighbours in memory.  It leaves the product where the result goes, with a bias where that
 * is all of the epilogue; any other epilogue is a flat nest over that array, in place.  Where
 * results overwrite operands, there is an array for the product beside them. */
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/product.h"

#include <stdlib.h>
#include <string.h>

/* One matrix [rows, columns] in memory. */
typedef struct matrix {
  uint32_t buffer;
  bool transposed; /* neighbours along rows */
  tc_dim offset, leading, step;
} matrix;

typedef struct library {
  const tc_kernel *k;
  const tc_program *p;
  const tc_mm_loop *mm;
  int m, n, kk;
  matrix a, b, c;
  tc_val bias; /* LOAD along n, or none */
  bool whole;  /* nothing is left to do */
} library;

static tc_dtype buffer_dtype(const library *x, uint32_t buffer) {
  return x->p->buffer[x->k->buffer[buffer]].dtype;
}

static bool describe(const library *x, const tc_address *a, uint32_t buffer, int row, int column,
                     matrix *out) {
  if (a->nterm) return false;
  *out = (matrix){.buffer = buffer, .offset = a->offset, .step = tc_dim_const(0)};
  if (tc_dim_is(a->coef[column], 1)) out->leading = a->coef[row];
  else if (tc_dim_is(a->coef[row], 1)) {
    out->leading = a->coef[column];
    out->transposed = true;
  } else return false;
  if (x->mm->nbatch == 1) out->step = a->coef[0];
  return !tc_dim_is(out->leading, 0);
}

static bool describe_operand(const library *x, tc_val v, int row, int column, matrix *out) {
  const tc_expr *e = &x->k->expr[v.id];
  return e->kind == TC_EX_LOAD && !e->guard.id && buffer_dtype(x, e->buffer) == x->mm->operand &&
         describe(x, &e->address, e->buffer, row, column, out);
}

static bool is_result(const library *x, tc_val v) { return x->k->expr[v.id].kind == TC_EX_RESULT; }

static bool is_bias(const library *x, tc_val v) {
  const tc_expr *e = &x->k->expr[v.id];
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm) return false;
  for (int i = 0; i < x->kk; ++i)
    if (!tc_dim_is(e->address.coef[i], i == x->n)) return false;
  return buffer_dtype(x, e->buffer) == x->mm->operand;
}

/* Operands of a commutative op, the one that satisfies f second. */
static bool matches(const library *x, tc_val v, tc_op op, bool (*f)(const library *, tc_val),
                    tc_val *rest, tc_val *found) {
  const tc_expr *e = &x->k->expr[v.id];
  if (e->kind != TC_EX_OP || e->op != op) return false;
  for (int i = 0; i < 2; ++i)
    if (f(x, e->in[i])) {
      *found = e->in[i];
      *rest = e->in[1 - i];
      return true;
    }
  return false;
}

static tc_val bare(const library *x, tc_val v) {
  while (x->k->expr[v.id].kind == TC_EX_ROUND) v = x->k->expr[v.id].in[0];
  return v;
}

/* Are sums left as they are, though operands are halves? */
static bool is_wide(const library *x) { return buffer_dtype(x, x->c.buffer) != x->mm->operand; }

/* product + bias, or the product alone.  The relu of the library is not ours: it drops NaN. */
static void match_epilogue(library *x, tc_val v) {
  tc_val rest;
  if (!is_wide(x)) v = bare(x, v);
  if (!is_wide(x) && matches(x, v, OP_ADD, is_bias, &rest, &x->bias)) v = bare(x, rest);
  x->whole = is_result(x, v) && x->mm->epilogue.naction == 1;
}

/* Results are of the operands' type, or, of halves, of that of the sums. */
static bool may_hold(const library *x, uint32_t buffer) {
  const tc_dtype d = buffer_dtype(x, buffer);
  return d == x->mm->operand || (d == TC_F32 && tc_cuda_may_mma(x->mm));
}

/* Nobody but the product may be in the result's place: it is overwritten before the epilogue. */
static bool describe_result(library *x) {
  for (uint32_t i = 0; i < x->mm->epilogue.naction; ++i) {
    const tc_action *a = &x->mm->epilogue.action[i];
    if (a->kind != TC_ACT_STORE || a->guard.id || tc_print_reads(x->k, a->buffer) ||
        !may_hold(x, a->buffer))
      continue;
    if (!describe(x, &a->address, a->buffer, x->m, x->n, &x->c) || x->c.transposed) continue;
    match_epilogue(x, a->value);
    return true;
  }
  if (!x->mm->product) return false;
  const tc_dim rows = x->mm->axis[x->m].extent, columns = x->mm->axis[x->n].extent;
  x->c = (matrix){.buffer = x->mm->product - 1,
                  .offset = tc_dim_const(0),
                  .step = tc_dim_const(0),
                  .leading = columns};
  if (x->mm->nbatch) x->c.step = tc_dim_mul(tc_graph_dims(x->p->graph), rows, columns);
  return true;
}

static bool known_dtype(tc_dtype d) {
  return d == TC_F32 || d == TC_F64 || d == TC_F16 || d == TC_BF16;
}

static bool open_library(library *x, const tc_kernel *k, const tc_program *p) {
  const tc_mm_loop *mm = &k->mm;
  *x = (library){
      .k = k, .p = p, .mm = mm, .m = mm->nbatch, .n = mm->nbatch + 1, .kk = mm->nbatch + 2};
  return known_dtype(mm->operand) && mm->nbatch <= 1 && !mm->npart && !tc_mm_is_chain(mm) &&
         describe_operand(x, mm->a, x->m, x->kk, &x->a) &&
         describe_operand(x, mm->b, x->kk, x->n, &x->b) && describe_result(x);
}

/* ---- what is left: a nest -------------------------------------------------------------------- */

/* The kernel as a product, already done, and one flat nest: nest[1]. */
static bool rest_kernel(const library *x, tc_kernel *out, tc_arena *arena) {
  const tc_mm_loop *mm = x->mm;
  *out = *x->k;
  out->kind = TC_KERNEL_NESTS;
  out->nnest = 2;
  out->expr = tc_arena_alloc(arena, (x->k->nexpr + 1) * sizeof *out->expr);
  out->nest = tc_arena_alloc(arena, 2 * sizeof *out->nest);
  tc_stage *stage = tc_arena_alloc(arena, sizeof *stage);
  if (!out->expr || !out->nest || !stage) return false;
  memcpy(out->expr, x->k->expr, x->k->nexpr * sizeof *out->expr);
  tc_address at = {.offset = x->c.offset};
  for (int i = 0; i < TC_MAX_AXES; ++i) at.coef[i] = tc_dim_const(0);
  if (mm->nbatch) at.coef[0] = x->c.step;
  at.coef[x->m] = x->c.leading;
  at.coef[x->n] = tc_dim_const(1);
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    if (out->expr[i].kind == TC_EX_RESULT) {
      out->expr[i].kind = TC_EX_LOAD;
      out->expr[i].buffer = x->c.buffer;
      out->expr[i].address = at;
    }
  *stage = mm->epilogue;
  stage->axes = 1u << x->n;
  tc_nest *n = &out->nest[1];
  *n = (tc_nest){.naxis = x->kk, .nparallel = x->n, .nstage = 1, .stage = stage, .vector = x->n};
  memcpy(n->axis, mm->axis, sizeof n->axis);
  return true;
}

bool tc_cuda_library_takes(const tc_kernel *k, const tc_program *p) {
  library x;
  return open_library(&x, k, p);
}

bool tc_cuda_library_rest(const tc_kernel *k, const tc_program *p, tc_kernel **out) {
  library x;
  *out = NULL;
  if (!open_library(&x, k, p) || x.whole) return true;
  *out = tc_arena_alloc(p->arena, sizeof **out);
  return *out && rest_kernel(&x, *out, p->arena);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_dim(const library *x, const char *name, tc_dim d, tc_buf *out) {
  tc_putf(out, ".%s = ", name);
  tc_print_dim(x->p, d, out);
  tc_put(out, ", ");
}

static void put_pointer(const library *x, const char *name, uint32_t buffer, tc_dim offset,
                        tc_buf *out) {
  tc_putf(out, ".%s = (char *)buf[%u] + (", name, buffer);
  tc_print_dim(x->p, offset, out);
  tc_putf(out, ") * %zu,\n      ", tc_dtype_bytes(buffer_dtype(x, buffer)));
}

static void put_call(const library *x, tc_buf *out) {
  static const char *const code[TC_DTYPE_COUNT] = {
      [TC_F32] = "TC_F32", [TC_F64] = "TC_F64", [TC_F16] = "TC_F16", [TC_BF16] = "TC_BF16"};
  const tc_dim batch = x->mm->nbatch ? x->mm->axis[0].extent : tc_dim_const(1);
  tc_put(out, "  const tcrt_cuda_mm mm = {\n      ");
  put_pointer(x, "a", x->a.buffer, x->a.offset, out);
  put_pointer(x, "b", x->b.buffer, x->b.offset, out);
  put_pointer(x, "c", x->c.buffer, x->c.offset, out);
  if (x->whole && x->bias.id) {
    const tc_expr *e = &x->k->expr[x->bias.id];
    put_pointer(x, "bias", e->buffer, e->address.offset, out);
  }
  put_dim(x, "batch", batch, out);
  put_dim(x, "m", x->mm->axis[x->m].extent, out);
  put_dim(x, "n", x->mm->axis[x->n].extent, out);
  put_dim(x, "k", x->mm->axis[x->kk].extent, out);
  tc_put(out, "\n      ");
  put_dim(x, "lda", x->a.leading, out);
  put_dim(x, "ldb", x->b.leading, out);
  put_dim(x, "ldc", x->c.leading, out);
  tc_put(out, "\n      ");
  put_dim(x, "step_a", x->a.step, out);
  put_dim(x, "step_b", x->b.step, out);
  put_dim(x, "step_c", x->c.step, out);
  tc_putf(out, "\n      .dtype = %s, .transposed_a = %d, .transposed_b = %d%s%s};\n",
          code[x->mm->operand], x->a.transposed, x->b.transposed,
          tc_cuda_kernel_schedule_of(x->k)->tf32 ? ", .tf32 = 1" : "",
          is_wide(x) ? ", .wide_c = 1" : "");
}

/* The nest that is left: its functions and its launch.  How many functions there are. */
static uint32_t put_rest(const tc_kernel *rest, const tc_program *p, uint32_t first, tc_buf *device,
                         tc_buf *host, bool *failed) {
  const tc_cuda_text text = {rest, p, 1, first, &rest->schedule->nest[1]};
  tc_buf body = {0};
  *failed |= !tc_cuda_put_nest(&text, &body, device);
  tc_cuda_put_nest_launch(&text, body.text ? body.text : "", host);
  tc_buf_free(&body);
  return text.schedule->nvariant;
}

uint32_t tc_cuda_put_library(const tc_kernel *k, const tc_program *p, uint32_t first,
                             const char *own, tc_buf *device, tc_buf *host, bool *failed) {
  library x;
  uint32_t functions = 0;
  const tc_kernel *rest = k->schedule->product;
  if (!open_library(&x, k, p)) return first;
  put_call(&x, host);
  tc_putf(host, "  if (!(%s) && tcrt_cuda_matmul(c, &mm) == 0) {\n", own);
  if (rest) functions = put_rest(rest, p, first, device, host, failed);
  tc_put(host, "    return 0;\n  }\n");
  return first + functions;
}

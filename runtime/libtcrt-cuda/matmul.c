/* Products: by cuBLASLt where it can, else by the generated kernel on dense operands. */
#include <stdio.h>
#include <string.h>

#include "runtime/libtcrt-cuda/eager.h"

typedef struct sizes {
  int64_t p, m, n, k;
  int lead;                   /* leading axes of the result */
  int64_t batch[TC_MAX_RANK]; /* their sizes */
} sizes;

/* A vector as a matrix: a row on the left, a column on the right. */
static tc_tensor as_matrix(const tc_tensor *x, bool left) {
  tc_tensor t = *x;
  if (x->key.rank > 1) return t;
  t.key.rank = 2;
  t.dim[0] = left ? 1 : x->dim[0];
  t.dim[1] = left ? x->dim[0] : 1;
  t.stride[0] = left ? x->dim[0] : x->stride[0];
  t.stride[1] = left ? x->stride[0] : 1;
  return t;
}

static sizes sizes_of(const tc_op_call *o, const tc_tensor *a, const tc_tensor *b) {
  sizes s = {.p = 1};
  int dropped = (o->c->in[0]->key.rank == 1) + (o->c->in[1]->key.rank == 1);
  s.lead = o->type.rank - 2 + dropped;
  for (int i = 0; i < s.lead; i++) s.p *= s.batch[i] = tc_dim_value(o->type.dim[i]);
  s.m = a->dim[a->key.rank - 2];
  s.k = a->dim[a->key.rank - 1];
  s.n = b->dim[b->key.rank - 1];
  return s;
}

/* How cuBLASLt sees an operand of rows x cols matrices. */
typedef struct operand {
  const void *data;
  int64_t ld, step;
  uint8_t transposed;
} operand;

/* The elements from one matrix of x to the next, if that is the same step everywhere; 0: x has one
 * for all of the batch. */
static bool batch_step(const tc_tensor *x, const sizes *s, int64_t *step) {
  int64_t expect = -1; /* what the next axis outwards must have */
  for (int i = s->lead - 1; i >= 0; i--) {
    const int at = i - s->lead + x->key.rank - 2;
    if (s->batch[i] == 1) continue;
    const int64_t own = at < 0 || x->dim[at] == 1 ? 0 : x->stride[at];
    if (own < 0 || (expect >= 0 && own != expect)) return false;
    if (expect < 0) *step = own;
    expect = own * s->batch[i];
  }
  return true;
}

/* The matrices as they lie, if rows or columns are dense and batches evenly spaced (or repeated). */
static bool in_place(const tc_tensor *x, const sizes *s, operand *q) {
  int r = x->key.rank;
  int64_t rows = x->dim[r - 2], cols = x->dim[r - 1];
  int64_t down = x->stride[r - 2], right = x->stride[r - 1];
  bool plain = (right == 1 || cols == 1) && (down >= cols || rows == 1);
  bool turned = (down == 1 || rows == 1) && (right >= rows || cols == 1);
  *q = (operand){.data = x->data, .transposed = !plain};
  q->ld = plain ? (rows == 1 || down < cols ? cols : down) : (cols == 1 ? rows : right);
  return (plain || turned) && batch_step(x, s, &q->step);
}

static bool by_library(const tc_op_call *o, const sizes *s, const tc_tensor *a, const tc_tensor *b,
                       tc_tensor *y) {
  operand qa, qb;
  tcrt_cuda_call c;
  if (!in_place(a, s, &qa) || !in_place(b, s, &qb) || !tcrt_cuda_begin(&c, a)) return false;
  tcrt_cuda_mm mm = {.a = qa.data, .b = qb.data, .c = y->data, .dtype = o->type.dtype};
  mm.batch = s->p, mm.m = s->m, mm.n = s->n, mm.k = s->k;
  mm.lda = qa.ld, mm.ldb = qb.ld, mm.ldc = s->n;
  mm.step_a = qa.step, mm.step_b = qb.step, mm.step_c = s->m * s->n;
  mm.transposed_a = qa.transposed, mm.transposed_b = qb.transposed;
  if (s->p > 1 && qb.step == 0 && !qa.transposed && qa.step == s->m * qa.ld) {
    mm.m = s->p * s->m; /* one b for all: the rows of all matrices are one matrix */
    mm.batch = 1;
  }
  int failed = tcrt_cuda_matmul(&c, &mm);
  return tcrt_cuda_end(&c, failed) == 0;
}

/* x repeated along the leading axes, dense, as [P, rows, cols]. */
static tc_dense batched(const tc_tensor *x, tc_dtype d, const sizes *s) {
  int r = x->key.rank;
  tc_type type = {.dtype = (uint8_t)d, .rank = (uint8_t)(s->lead + 2)};
  for (int i = 0; i < s->lead; i++) type.dim[i] = tc_dim_const(s->batch[i]);
  type.dim[s->lead] = tc_dim_const(x->dim[r - 2]);
  type.dim[s->lead + 1] = tc_dim_const(x->dim[r - 1]);
  return tc_dense_of(x, d, &type, 3, (int64_t[]){s->p, x->dim[r - 2], x->dim[r - 1]});
}

static tc_tensor *by_kernel(const tc_op_call *o, const sizes *s, const tc_tensor *a,
                            const tc_tensor *b) {
  tc_dtype d = (tc_dtype)o->type.dtype;
  char key[TC_ONEOP_KEY];
  snprintf(key, sizeof key, "matmul.%s.m", tc_dtype_text(d));
  tc_dense dense[2] = {batched(a, d, s), batched(b, d, s)};
  const tc_tensor *in[] = {&dense[0].t, &dense[1].t};
  tc_tensor *y = dense[0].ok && dense[1].ok ? tc_entry_run(o, key, in, NULL) : NULL;
  tc_dense_free(dense, 2);
  return y;
}

tc_tensor *tc_form_matmul(const tc_op_call *o) {
  tc_dtype d = (tc_dtype)o->type.dtype;
  const tc_tensor *x[2];
  for (int i = 0; i < 2; i++) {
    x[i] = o->c->in[i];
    if (x[i]->key.dtype != d && !(x[i] = tc_cast(x[i], d))) return NULL;
  }
  tc_tensor a = as_matrix(x[0], true), b = as_matrix(x[1], false);
  sizes s = sizes_of(o, &a, &b);
  if (tc_type_count(&o->type) == 0 || s.k == 0) {
    tc_tensor *y = tc_result_new(o);
    return y ? tc_fill_(y, 0) : NULL;
  }
  if (tc_dtype_is_float(d)) {
    tc_tensor *y = tc_result_new(o);
    if (!y || by_library(o, &s, &a, &b, y)) return y;
    tc_free(y);
  }
  return by_kernel(o, &s, &a, &b);
}

/* Matrix products: the textbook loops, in double or int64, for operands of any strides.
 *
 * A job is a tile of ROWS x COLUMNS results.  For each k in order it adds the outer product of a
 * column of A's rows and a row of B, so B is read along its rows, every sum runs over k in order,
 * and no result depends on the number of threads. */
#include <string.h>

#include "runtime/libtcrt/src/eager/eager.h"
#include "graph/ops/formulas.h"

enum { ROWS = 16, COLUMNS = TC_BLOCK };

/* C[batch] = A[batch] (M,K) * B[batch] (K,N) + bias (N) */
typedef struct product {
  const tc_tensor *a, *b, *c;
  const tc_tensor *bias;   /* or NULL */
  tc_seq batch_a, batch_b; /* places of the matrices */
  int64_t m, n, k;
  int64_t a_row, a_col, b_row, b_col; /* strides */
  tc_dtype dtype;
} product;

typedef struct tile {
  int64_t a, b, c;       /* places of the matrices, in elements */
  int64_t row, col;      /* first row and column */
  int64_t height, width; /* at most ROWS, COLUMNS */
} tile;

static const void *element(const tc_tensor *t, int64_t at) {
  return (const char *)t->data + at * (int64_t)tc_dtype_bytes(t->key.dtype);
}

/* v = n elements of a floating operand as values of the product's dtype. */
static void load_f(const product *p, const tc_tensor *t, int64_t at, int64_t stride, int64_t n,
                   double *v) {
  tc_seq s = {
      .data = (char *)(uintptr_t)element(t, at), .dtype = (tc_dtype)t->key.dtype, .rank = 1};
  s.dim[0] = n;
  s.stride[0] = stride;
  tc_seq_read_as_f(&s, p->dtype, 0, n, v);
}

static void load_i(const product *p, const tc_tensor *t, int64_t at, int64_t stride, int64_t n,
                   int64_t *v) {
  tc_load_i(v, (tc_dtype)t->key.dtype, element(t, at), stride, n);
  if ((tc_dtype)t->key.dtype != p->dtype) tc_wrap_i(v, p->dtype, n);
}

static int64_t first_stride(const tc_tensor *t) { return t->stride[0]; }

static void tile_f(const product *p, const tile *t) {
  double sum[ROWS][COLUMNS], a[ROWS][TC_BLOCK], b[COLUMNS];
  for (int64_t i = 0; i < t->height; i++) {
    if (p->bias)
      load_f(p, p->bias, t->col * first_stride(p->bias), first_stride(p->bias), t->width, sum[i]);
    else memset(sum[i], 0, (size_t)t->width * sizeof *sum[i]);
  }
  for (int64_t k0 = 0; k0 < p->k; k0 += TC_BLOCK) {
    int64_t depth = p->k - k0 < TC_BLOCK ? p->k - k0 : TC_BLOCK;
    for (int64_t i = 0; i < t->height; i++)
      load_f(p, p->a, t->a + (t->row + i) * p->a_row + k0 * p->a_col, p->a_col, depth, a[i]);
    for (int64_t k = 0; k < depth; k++) {
      load_f(p, p->b, t->b + (k0 + k) * p->b_row + t->col * p->b_col, p->b_col, t->width, b);
      for (int64_t i = 0; i < t->height; i++)
        for (int64_t j = 0; j < t->width; j++) sum[i][j] += a[i][k] * b[j];
    }
  }
  for (int64_t i = 0; i < t->height; i++)
    tc_store_f((void *)(uintptr_t)element(p->c, t->c + (t->row + i) * p->n + t->col), p->dtype, 1,
               sum[i], t->width);
}

static void tile_i(const product *p, const tile *t) {
  int64_t sum[ROWS][COLUMNS], a[ROWS][TC_BLOCK], b[COLUMNS];
  for (int64_t i = 0; i < t->height; i++) {
    if (p->bias)
      load_i(p, p->bias, t->col * first_stride(p->bias), first_stride(p->bias), t->width, sum[i]);
    else memset(sum[i], 0, (size_t)t->width * sizeof *sum[i]);
  }
  for (int64_t k0 = 0; k0 < p->k; k0 += TC_BLOCK) {
    int64_t depth = p->k - k0 < TC_BLOCK ? p->k - k0 : TC_BLOCK;
    for (int64_t i = 0; i < t->height; i++)
      load_i(p, p->a, t->a + (t->row + i) * p->a_row + k0 * p->a_col, p->a_col, depth, a[i]);
    for (int64_t k = 0; k < depth; k++) {
      load_i(p, p->b, t->b + (k0 + k) * p->b_row + t->col * p->b_col, p->b_col, t->width, b);
      for (int64_t i = 0; i < t->height; i++)
        for (int64_t j = 0; j < t->width; j++)
          sum[i][j] = tc_i_add(sum[i][j], tc_i_mul(a[i][k], b[j]));
    }
  }
  for (int64_t i = 0; i < t->height; i++)
    tc_store_i((void *)(uintptr_t)element(p->c, t->c + (t->row + i) * p->n + t->col), p->dtype, 1,
               sum[i], t->width);
}

static void multiply(const product *p, int64_t batches) {
  int64_t down = (p->m + ROWS - 1) / ROWS, across = (p->n + COLUMNS - 1) / COLUMNS;
  int64_t jobs = batches * down * across;
#pragma omp parallel for schedule(dynamic) if (tc_threads_pay(batches * p->m * p->n * p->k))
  for (int64_t job = 0; job < jobs; job++) {
    int64_t batch = job / (down * across), i = job / across % down, j = job % across;
    tile t = {.c = batch * p->m * p->n, .row = i * ROWS, .col = j * COLUMNS};
    tc_seq_offsets(&p->batch_a, batch, 1, &t.a);
    tc_seq_offsets(&p->batch_b, batch, 1, &t.b);
    t.height = p->m - t.row < ROWS ? p->m - t.row : ROWS;
    t.width = p->n - t.col < COLUMNS ? p->n - t.col : COLUMNS;
    if (tc_is_float(p->dtype)) tile_f(p, &t);
    else tile_i(p, &t);
  }
}

/* Appends an axis of size 1 (a column) or puts one in front (a row) of a vector. */
static tc_tensor as_matrix(const tc_tensor *x, bool row) {
  tc_tensor t = tc_alias(x);
  if (x->key.rank > 1) return t;
  t.key.rank = 2;
  t.dim[0] = row ? 1 : x->dim[0];
  t.dim[1] = row ? x->dim[0] : 1;
  t.stride[0] = row ? 0 : x->stride[0];
  t.stride[1] = row ? x->stride[0] : 0;
  return t;
}

/* The matrices of x as places for every index of the leading shape. */
static tc_seq batches_of(const tc_tensor *x, int rank, const int64_t *dim) {
  tc_tensor outer = tc_alias(x);
  outer.key.rank = (uint8_t)(x->key.rank - 2);
  return tc_seq_broadcast(&outer, rank, dim);
}

static void run(const tc_tensor *a, const tc_tensor *b, const tc_tensor *bias, const tc_tensor *c,
                int lead) {
  int ra = a->key.rank, rb = b->key.rank;
  product p = {.a = a, .b = b, .c = c, .bias = bias, .dtype = (tc_dtype)c->key.dtype};
  p.batch_a = batches_of(a, lead, c->dim);
  p.batch_b = batches_of(b, lead, c->dim);
  p.m = a->dim[ra - 2];
  p.k = a->dim[ra - 1];
  p.n = b->dim[rb - 1];
  p.a_row = a->stride[ra - 2];
  p.a_col = a->stride[ra - 1];
  p.b_row = b->stride[rb - 2];
  p.b_col = b->stride[rb - 1];
  int64_t batches = 1;
  for (int i = 0; i < lead; i++) batches *= c->dim[i];
  multiply(&p, batches);
}

bool tc_eager_matmul(tc_eager_call *c) {
  tc_tensor a = as_matrix(c->in[0], true), b = as_matrix(c->in[1], false);
  int dropped = (c->in[0]->key.rank == 1) + (c->in[1]->key.rank == 1);
  run(&a, &b, NULL, c->out, c->out->key.rank - 2 + dropped);
  return true;
}

/* x w^T + bias */
bool tc_eager_linear(tc_eager_call *c) {
  const tc_tensor *w = c->in[1];
  tc_tensor x = as_matrix(c->in[0], true), wt = tc_alias(w);
  wt.dim[0] = w->dim[1];
  wt.dim[1] = w->dim[0];
  wt.stride[0] = w->stride[1];
  wt.stride[1] = w->stride[0];
  run(&x, &wt, c->nin > 2 ? c->in[2] : NULL, c->out,
      c->out->key.rank > 1 ? c->out->key.rank - 2 : 0);
  return true;
}

/* [M] as [M,1] times [N] as [1,N]: a product with one term. */
bool tc_eager_outer(tc_eager_call *c) {
  tc_tensor a = as_matrix(c->in[0], false), b = as_matrix(c->in[1], true);
  run(&a, &b, NULL, c->out, 0);
  return true;
}

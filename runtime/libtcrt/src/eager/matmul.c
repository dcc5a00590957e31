/* Matrix products: the textbook sums, in double or int64, for operands of any strides.
 *
 * A job is a tile of ROWS x COLUMNS results.  DEPTH values of k at a time, the operands are copied
 * to panels of doubles that lie as the loops read them; then each block of WIDTH x WIDTH results
 * adds their products.  Every sum runs over k in order, and no result depends on the number of
 * threads. */
#include <stdlib.h>
#include <string.h>

#include "runtime/libtcrt/src/eager/eager.h"
#include "graph/ops/formulas.h"

enum { WIDTH = 8, ROWS = 32, COLUMNS = 128, DEPTH = 64, LINE = COLUMNS };

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

/* Which member counts is known from the product's dtype. */
typedef union word {
  double f;
  int64_t i;
} word;

/* ---- a block of WIDTH x WIDTH results -------------------------------------------------------- */

/* sum[i][j] += a[k][i] * b[k][j] over `depth` values of k; rows of sum are COLUMNS apart. */
typedef void add_fn(word *sum, const word *a, const word *b, int64_t depth);

typedef double lanes __attribute__((vector_size(WIDTH * sizeof(double)), may_alias));

/* `rows` rows at a time are what the registers hold. */
static inline __attribute__((always_inline)) void
add_floats(word *sum, const word *a, const word *b, int64_t depth, int rows) {
  for (int first = 0; first < WIDTH; first += rows) {
    lanes s[WIDTH];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) s[i] = *(const lanes *)(sum + (first + i) * COLUMNS);
    for (int64_t k = 0; k < depth; k++) {
#pragma GCC unroll 8
      for (int i = 0; i < rows; i++)
        s[i] += a[k * WIDTH + first + i].f * *(const lanes *)(b + k * WIDTH);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) *(lanes *)(sum + (first + i) * COLUMNS) = s[i];
  }
}

static void add_floats_any(word *sum, const word *a, const word *b, int64_t depth) {
  add_floats(sum, a, b, depth, WIDTH / 4);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void add_floats_v3(word *sum, const word *a,
                                                              const word *b, int64_t depth) {
  add_floats(sum, a, b, depth, WIDTH / 2);
}

__attribute__((target("avx512f"))) static void add_floats_v4(word *sum, const word *a,
                                                             const word *b, int64_t depth) {
  add_floats(sum, a, b, depth, WIDTH);
}
#endif

static void add_ints(word *sum, const word *a, const word *b, int64_t depth) {
  for (int i = 0; i < WIDTH; i++) {
    int64_t s[WIDTH];
    for (int j = 0; j < WIDTH; j++) s[j] = sum[i * COLUMNS + j].i;
    for (int64_t k = 0; k < depth; k++)
      for (int j = 0; j < WIDTH; j++)
        s[j] = tc_i_add(s[j], tc_i_mul(a[k * WIDTH + i].i, b[k * WIDTH + j].i));
    for (int j = 0; j < WIDTH; j++) sum[i * COLUMNS + j].i = s[j];
  }
}

static add_fn *choose(tc_dtype dtype) {
  if (!tc_is_float(dtype)) return add_ints;
#if defined(__x86_64__)
  if (tcrt_isa >= TC_ISA_V4) return add_floats_v4;
  if (tcrt_isa >= TC_ISA_V3) return add_floats_v3;
#endif
  return add_floats_any;
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* WIDTH lanes of an operand. */
typedef word strip[DEPTH][WIDTH];

static int64_t rounded_up(int64_t n) { return (n + WIDTH - 1) / WIDTH * WIDTH; }

static void *element(const tc_tensor *t, int64_t at) {
  return (char *)t->data + at * (int64_t)tc_dtype_bytes(t->key.dtype);
}

/* v = n elements of an operand as values of the product's dtype. */
static void load(const product *p, const tc_tensor *t, int64_t at, int64_t stride, int64_t n,
                 word *v) {
  tc_seq s = {.data = element(t, at), .dtype = (tc_dtype)t->key.dtype, .rank = 1};
  s.dim[0] = n;
  s.stride[0] = stride;
  if (tc_is_float(p->dtype)) tc_seq_read_as_f(&s, p->dtype, 0, n, &v->f);
  else tc_seq_read_as_i(&s, p->dtype, 0, n, &v->i);
}

/* What lies behind the last lane repeats it, so that no sum is made that the result does not
 * have. */
static void repeat_last(word *line, int64_t n) {
  for (int64_t j = n; j < rounded_up(n); j++) line[j] = line[n - 1];
}

/* Element (lane, k) of an operand, where lanes are rows of A or columns of B; at most LINE of
 * each. */
static void fill(const product *p, const tc_tensor *t, int64_t at, int64_t lane_stride,
                 int64_t k_stride, int64_t lane_count, int64_t depth, strip *to) {
  const int64_t end = rounded_up(lane_count);
  word line[LINE];
  if (llabs(k_stride) < llabs(lane_stride)) {
    for (int64_t j = 0; j < end; j++) {
      if (j < lane_count) load(p, t, at + j * lane_stride, k_stride, depth, line);
      for (int64_t k = 0; k < depth; k++) to[j / WIDTH][k][j % WIDTH] = line[k];
    }
    return;
  }
  for (int64_t k = 0; k < depth; k++) {
    load(p, t, at + k * k_stride, lane_stride, lane_count, line);
    repeat_last(line, lane_count);
    for (int64_t j = 0; j < end; j += WIDTH)
      memcpy(to[j / WIDTH][k], line + j, sizeof to[j / WIDTH][k]);
  }
}

/* Every row of sum = the bias, or 0. */
static void begin(const product *p, const tile *t, word sum[ROWS][COLUMNS]) {
  word row[COLUMNS];
  memset(row, 0, sizeof row);
  if (p->bias) {
    const int64_t stride = p->bias->stride[0];
    load(p, p->bias, t->col * stride, stride, t->width, row);
    repeat_last(row, t->width);
  }
  for (int64_t i = 0; i < rounded_up(t->height); i++) memcpy(sum[i], row, sizeof row);
}

static void store(const product *p, const tile *t, word sum[ROWS][COLUMNS]) {
  for (int64_t i = 0; i < t->height; i++) {
    void *to = element(p->c, t->c + (t->row + i) * p->n + t->col);
    if (tc_is_float(p->dtype)) tc_store_f(to, p->dtype, 1, &sum[i]->f, t->width);
    else tc_store_i(to, p->dtype, 1, &sum[i]->i, t->width);
  }
}

static void compute(const product *p, const tile *t, add_fn *add) {
  _Alignas(sizeof(lanes)) word sum[ROWS][COLUMNS];
  _Alignas(sizeof(lanes)) strip a[ROWS / WIDTH], b[COLUMNS / WIDTH];
  begin(p, t, sum);
  for (int64_t k = 0; k < p->k; k += DEPTH) {
    int64_t depth = p->k - k < DEPTH ? p->k - k : DEPTH;
    fill(p, p->a, t->a + t->row * p->a_row + k * p->a_col, p->a_row, p->a_col, t->height, depth, a);
    fill(p, p->b, t->b + k * p->b_row + t->col * p->b_col, p->b_col, p->b_row, t->width, depth, b);
    for (int64_t i = 0; i < t->height; i += WIDTH)
      for (int64_t j = 0; j < t->width; j += WIDTH)
        add(&sum[i][j], a[i / WIDTH][0], b[j / WIDTH][0], depth);
  }
  store(p, t, sum);
}

/* Tiles of the results of all batches. */
typedef struct tiles {
  const product *p;
  int64_t down, across;
  add_fn *add;
} tiles;

static void compute_tiles(const void *q, int64_t begin, int64_t end) {
  const tiles *s = q;
  const product *p = s->p;
  for (int64_t job = begin; job < end; job++) {
    int64_t batch = job / (s->down * s->across), j = job / s->down % s->across, i = job % s->down;
    tile t = {.c = batch * p->m * p->n, .row = i * ROWS, .col = j * COLUMNS};
    tc_seq_offsets(&p->batch_a, batch, 1, &t.a);
    tc_seq_offsets(&p->batch_b, batch, 1, &t.b);
    t.height = p->m - t.row < ROWS ? p->m - t.row : ROWS;
    t.width = p->n - t.col < COLUMNS ? p->n - t.col : COLUMNS;
    compute(p, &t, s->add);
  }
}

static void multiply(const product *p, int64_t batches) {
  const tiles s = {p, (p->m + ROWS - 1) / ROWS, (p->n + COLUMNS - 1) / COLUMNS, choose(p->dtype)};
  tc_for(batches * s.down * s.across, 1, batches * p->m * p->n * p->k, compute_tiles, &s);
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

/* Reductions over any axes, in double or int64.
 *
 * The operand is seen as rows (tc_rows): one per result, the reduced axes inside.  Rows are cut in
 * chunks of a fixed length whose results are combined in order, so threads never change a result.
 * Where the last axis is kept, neighbouring results are reduced side by side instead, which reads
 * memory in order. */
#include "runtime/libtcrt/src/eager/rows.h"

enum { CHUNK = 1 << 16 };

/* One accumulator: which member counts is known from the dtype that is reduced. */
typedef union cell {
  double f;
  int64_t i;
} cell;

typedef struct reduction {
  tc_op op;       /* SUM PROD AMAX AMIN ANY ALL */
  tc_dtype dtype; /* that elements are read as */
  bool is_float;
} reduction;

static cell identity(const reduction *r) {
  bool one = r->op == OP_PROD || r->op == OP_ALL;
  if (r->op == OP_AMAX) return r->is_float ? (cell){.f = -INFINITY} : (cell){.i = INT64_MIN};
  if (r->op == OP_AMIN) return r->is_float ? (cell){.f = INFINITY} : (cell){.i = INT64_MAX};
  return r->is_float ? (cell){.f = one} : (cell){.i = one};
}

static double combine_f(tc_op op, double a, double v) {
  switch (op) {
  case OP_PROD:
    return a * v;
  case OP_AMAX:
    return tc_f_max(a, v);
  case OP_AMIN:
    return tc_f_min(a, v);
  case OP_ANY:
    return a != 0 || v != 0;
  case OP_ALL:
    return a != 0 && v != 0;
  default:
    return a + v;
  }
}

static int64_t combine_i(tc_op op, int64_t a, int64_t v) {
  switch (op) {
  case OP_PROD:
    return tc_i_mul(a, v);
  case OP_AMAX:
    return tc_i_max(a, v);
  case OP_AMIN:
    return tc_i_min(a, v);
  case OP_ANY:
    return a || v;
  case OP_ALL:
    return a && v;
  default:
    return tc_i_add(a, v);
  }
}

static cell combine(const reduction *r, cell a, cell v) {
  return r->is_float ? (cell){.f = combine_f(r->op, a.f, v.f)}
                     : (cell){.i = combine_i(r->op, a.i, v.i)};
}

/* Elements start .. start+n-1 in order. */
static cell fold(const reduction *r, const tc_seq *x, int64_t start, int64_t n) {
  cell a = identity(r);
  for (int64_t m; n > 0; n -= m, start += m) {
    m = n < TC_BLOCK ? n : TC_BLOCK;
    if (r->is_float) {
      double v[TC_BLOCK];
      tc_seq_read_as_f(x, r->dtype, start, m, v);
      for (int64_t i = 0; i < m; i++) a.f = combine_f(r->op, a.f, v[i]);
    } else {
      int64_t v[TC_BLOCK];
      tc_seq_read_i(x, start, m, v);
      for (int64_t i = 0; i < m; i++) a.i = combine_i(r->op, a.i, v[i]);
    }
  }
  return a;
}

/* result[o] for every row, by chunks. */
static bool fold_rows(const reduction *r, const tc_rows *x, cell *result) {
  int64_t chunks = x->inner > 0 ? (x->inner + CHUNK - 1) / CHUNK : 1, jobs = x->outer * chunks;
  tc_storage *memory = tc_storage_new((size_t)jobs * sizeof(cell));
  if (!memory) return false;
  cell *part = memory->data;
#pragma omp parallel for schedule(static) if (tc_threads_pay(x->outer * x->inner))
  for (int64_t job = 0; job < jobs; job++) {
    int64_t o = job / chunks, at = job % chunks * CHUNK;
    int64_t n = x->inner - at < CHUNK ? x->inner - at : CHUNK;
    part[job] = fold(r, &x->seq, o * x->inner + at, n);
  }
  for (int64_t o = 0; o < x->outer; o++) {
    result[o] = part[o * chunks];
    for (int64_t k = 1; k < chunks; k++) result[o] = combine(r, result[o], part[o * chunks + k]);
  }
  tc_storage_unref(memory);
  return true;
}

/* result[o] for every row, TC_BLOCK rows side by side: x holds element i of row o at i*outer + o.
 */
static void fold_columns(const reduction *r, const tc_seq *x, int64_t outer, int64_t inner,
                         cell *result) {
#pragma omp parallel for schedule(static) if (tc_threads_pay(outer * inner))
  for (int64_t o = 0; o < outer; o += TC_BLOCK) {
    int64_t n = outer - o < TC_BLOCK ? outer - o : TC_BLOCK;
    for (int64_t k = 0; k < n; k++) result[o + k] = identity(r);
    for (int64_t i = 0; i < inner; i++) {
      double f[TC_BLOCK];
      int64_t v[TC_BLOCK];
      if (r->is_float) tc_seq_read_as_f(x, r->dtype, i * outer + o, n, f);
      else tc_seq_read_i(x, i * outer + o, n, v);
      for (int64_t k = 0; k < n; k++)
        result[o + k] =
            combine(r, result[o + k], r->is_float ? (cell){.f = f[k]} : (cell){.i = v[k]});
    }
  }
}

static bool fold_all(const reduction *r, const tc_tensor *x, uint32_t mask, cell *result) {
  uint32_t all = (1u << x->key.rank) - 1;
  tc_rows rows = tc_rows_of(x, mask);
  bool last_kept = x->key.rank > 1 && !(mask >> (x->key.rank - 1) & 1);
  if (!last_kept || x->dim[x->key.rank - 1] < 16) return fold_rows(r, &rows, result);
  tc_rows columns = tc_rows_of(x, all & ~mask); /* the kept axes inside */
  fold_columns(r, &columns.seq, rows.outer, rows.inner, result);
  return true;
}

/* Rounds results to out's dtype. */
static void store(const reduction *r, const cell *result, const tc_tensor *out, double divisor) {
  int64_t total = tc_elements(out);
  tc_seq y = tc_seq_of(out);
  for (int64_t start = 0; start < total; start += TC_BLOCK) {
    int64_t n = total - start < TC_BLOCK ? total - start : TC_BLOCK, v[TC_BLOCK];
    double f[TC_BLOCK];
    for (int64_t i = 0; i < n && r->is_float; i++) f[i] = result[start + i].f / divisor;
    for (int64_t i = 0; i < n && !r->is_float; i++) v[i] = result[start + i].i;
    if (r->is_float) tc_seq_write_f(&y, start, n, f);
    else tc_seq_write_i(&y, start, n, v);
  }
}

/* ---- log-sum-exp ----------------------------------------------------------------------------- */

/* m + log sum exp(x - m) with m the maximum, or 0 where that is infinite. */
static double logsumexp(const tc_rows *x, tc_dtype dtype, int64_t row) {
  double m = tc_row_extremum(x, dtype, row, TC_LARGEST), shift = isinf(m) ? 0 : m;
  return shift + log(tc_row_exp_sum(x, dtype, row, shift));
}

static void eager_logsumexp(const reduction *r, const tc_tensor *x, uint32_t mask, cell *result) {
  tc_rows rows = tc_rows_of(x, mask);
#pragma omp parallel for schedule(static) if (tc_threads_pay(rows.outer * rows.inner))
  for (int64_t o = 0; o < rows.outer; o++) result[o].f = logsumexp(&rows, r->dtype, o);
}

/* ---- the ops --------------------------------------------------------------------------------- */

/* Number of elements in each reduced row. */
static int64_t reduced_count(const tc_tensor *x, uint32_t mask) {
  int64_t n = 1;
  for (int i = 0; i < x->key.rank; i++)
    if (mask >> i & 1) n *= x->dim[i];
  return n;
}

bool tc_eager_reduce(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  tc_dtype from = (tc_dtype)x->key.dtype, to = (tc_dtype)c->out->key.dtype;
  bool mean = c->op == OP_MEAN;
  reduction r = {mean ? OP_SUM : c->op, from, tc_is_float(from) || tc_is_float(to)};
  if (!tc_is_float(from)) r.dtype = to;
  uint32_t mask = tc_arg_axes(c, 0, x->key.rank);
  tc_storage *memory = tc_storage_new((size_t)tc_elements(c->out) * sizeof(cell));
  if (!memory) return false;
  bool done = true;
  if (c->op == OP_LOGSUMEXP) eager_logsumexp(&r, x, mask, memory->data);
  else done = fold_all(&r, x, mask, memory->data);
  if (done) store(&r, memory->data, c->out, mean ? (double)reduced_count(x, mask) : 1);
  tc_storage_unref(memory);
  return done;
}

/* ---- position of the extremum ---------------------------------------------------------------- */

/* Index of the first largest (smallest) element of a row; a NaN counts as such. */
static int64_t find_f(const tc_rows *x, int64_t row, bool largest) {
  double v[TC_BLOCK], best = 0;
  int64_t index = 0;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_f(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) {
      bool better = largest ? v[i] > best : v[i] < best;
      if (at + i > 0 && (best != best || !(better || v[i] != v[i]))) continue;
      best = v[i];
      index = at + i;
    }
  }
  return index;
}

static int64_t find_i(const tc_rows *x, int64_t row, bool largest) {
  int64_t v[TC_BLOCK], best = 0, index = 0;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_i(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) {
      if (at + i > 0 && !(largest ? v[i] > best : v[i] < best)) continue;
      best = v[i];
      index = at + i;
    }
  }
  return index;
}

bool tc_eager_arg(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  tc_rows rows = tc_rows_of(x, tc_arg_axes(c, 0, x->key.rank));
  bool largest = c->op == OP_ARGMAX, is_float = tc_is_float((tc_dtype)x->key.dtype);
  int64_t *y = c->out->data;
#pragma omp parallel for schedule(static) if (tc_threads_pay(rows.outer * rows.inner))
  for (int64_t o = 0; o < rows.outer; o++)
    y[o] = is_float ? find_f(&rows, o, largest) : find_i(&rows, o, largest);
  return true;
}

/* ---- running sums and products --------------------------------------------------------------- */

static void scan_f(const tc_rows *x, const tc_rows *y, int64_t row, bool product) {
  double v[TC_BLOCK], a = product;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_f(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) v[i] = a = product ? a * v[i] : a + v[i];
    tc_seq_write_f(&y->seq, row * x->inner + at, n, v);
  }
}

static void scan_i(const tc_rows *x, const tc_rows *y, int64_t row, bool product) {
  int64_t v[TC_BLOCK], a = product;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_i(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) v[i] = a = product ? tc_i_mul(a, v[i]) : tc_i_add(a, v[i]);
    tc_seq_write_i(&y->seq, row * x->inner + at, n, v);
  }
}

bool tc_eager_cum(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  uint32_t mask = 1u << tc_arg_axis(c, 0, x->key.rank);
  tc_rows from = tc_rows_of(x, mask), to = tc_rows_of(c->out, mask);
  bool product = c->op == OP_CUMPROD, is_float = tc_is_float((tc_dtype)x->key.dtype);
#pragma omp parallel for schedule(static) if (tc_threads_pay(from.outer * from.inner))
  for (int64_t o = 0; o < from.outer; o++) {
    if (is_float) scan_f(&from, &to, o, product);
    else scan_i(&from, &to, o, product);
  }
  return true;
}

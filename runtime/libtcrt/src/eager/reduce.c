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

/* Rows that are reduced, and where their results (or parts of them) go. */
typedef struct rows_to_reduce {
  const reduction *r;
  const tc_rows *x;
  int64_t chunks; /* of a row */
  cell *result;
} rows_to_reduce;

static void fold_chunks(const void *p, int64_t begin, int64_t end) {
  const rows_to_reduce *s = p;
  const int64_t inner = s->x->inner;
  for (int64_t job = begin; job < end; job++) {
    int64_t o = job / s->chunks, at = job % s->chunks * CHUNK;
    int64_t n = inner - at < CHUNK ? inner - at : CHUNK;
    s->result[job] = fold(s->r, &s->x->seq, o * inner + at, n);
  }
}

/* result[o] for every row, by chunks. */
static bool fold_rows(const reduction *r, const tc_rows *x, cell *result) {
  int64_t chunks = x->inner > 0 ? (x->inner + CHUNK - 1) / CHUNK : 1, jobs = x->outer * chunks;
  tc_storage *memory = tc_storage_new((size_t)jobs * sizeof(cell));
  if (!memory) return false;
  cell *part = memory->data;
  const rows_to_reduce s = {r, x, chunks, part};
  tc_for(jobs, 1, x->outer * x->inner, fold_chunks, &s);
  for (int64_t o = 0; o < x->outer; o++) {
    result[o] = part[o * chunks];
    for (int64_t k = 1; k < chunks; k++) result[o] = combine(r, result[o], part[o * chunks + k]);
  }
  tc_storage_unref(memory);
  return true;
}

typedef struct columns {
  const reduction *r;
  tc_seq x; /* holds element i of row o at i*outer + o */
  int64_t outer, inner;
  cell *result;
} columns;

/* Rows o to o + n, which is at most TC_BLOCK. */
static void fold_block(const columns *s, int64_t o, int64_t n) {
  const reduction *r = s->r;
  cell *result = s->result + o;
  for (int64_t k = 0; k < n; k++) result[k] = identity(r);
  for (int64_t i = 0; i < s->inner; i++) {
    double f[TC_BLOCK];
    int64_t v[TC_BLOCK];
    if (r->is_float) tc_seq_read_as_f(&s->x, r->dtype, i * s->outer + o, n, f);
    else tc_seq_read_i(&s->x, i * s->outer + o, n, v);
    for (int64_t k = 0; k < n; k++)
      result[k] = combine(r, result[k], r->is_float ? (cell){.f = f[k]} : (cell){.i = v[k]});
  }
}

/* result[o] for every row, TC_BLOCK rows side by side. */
static void fold_columns(const void *p, int64_t begin, int64_t end) {
  for (int64_t o = begin; o < end; o += TC_BLOCK)
    fold_block(p, o, end - o < TC_BLOCK ? end - o : TC_BLOCK);
}

static bool fold_all(const reduction *r, const tc_tensor *x, uint32_t mask, cell *result) {
  uint32_t all = (1u << x->key.rank) - 1;
  tc_rows rows = tc_rows_of(x, mask);
  bool last_kept = x->key.rank > 1 && !(mask >> (x->key.rank - 1) & 1);
  if (!last_kept || x->dim[x->key.rank - 1] < 16) return fold_rows(r, &rows, result);
  tc_rows kept = tc_rows_of(x, all & ~mask); /* the kept axes inside */
  const columns s = {r, kept.seq, rows.outer, rows.inner, result};
  tc_for(s.outer, TC_BLOCK, s.outer * s.inner, fold_columns, &s);
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

static void logsumexp_rows(const void *p, int64_t begin, int64_t end) {
  const rows_to_reduce *s = p;
  for (int64_t o = begin; o < end; o++) s->result[o].f = logsumexp(s->x, s->r->dtype, o);
}

static void eager_logsumexp(const reduction *r, const tc_tensor *x, uint32_t mask, cell *result) {
  const tc_rows rows = tc_rows_of(x, mask);
  const rows_to_reduce s = {r, &rows, 1, result};
  tc_for_rows(&rows, logsumexp_rows, &s);
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

typedef struct extrema {
  tc_rows x;
  bool largest, is_float;
  int64_t *y;
} extrema;

static void find_rows(const void *p, int64_t begin, int64_t end) {
  const extrema *s = p;
  for (int64_t o = begin; o < end; o++)
    s->y[o] = s->is_float ? find_f(&s->x, o, s->largest) : find_i(&s->x, o, s->largest);
}

bool tc_eager_arg(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  const extrema s = {tc_rows_of(x, tc_arg_axes(c, 0, x->key.rank)), c->op == OP_ARGMAX,
                     tc_is_float((tc_dtype)x->key.dtype), c->out->data};
  tc_for_rows(&s.x, find_rows, &s);
  return true;
}

/* ---- scans ----------------------------------------------------------------------------------- */

typedef struct scan {
  tc_rows from, to;
  reduction how;
  bool largest; /* of positions */
} scan;

static void scan_f(const scan *s, int64_t row) {
  const tc_rows *x = &s->from, *y = &s->to;
  double v[TC_BLOCK], a = identity(&s->how).f;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_f(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) v[i] = a = combine_f(s->how.op, a, v[i]);
    tc_seq_write_f(&y->seq, row * x->inner + at, n, v);
  }
}

static void scan_i(const scan *s, int64_t row) {
  const tc_rows *x = &s->from, *y = &s->to;
  int64_t v[TC_BLOCK], a = identity(&s->how).i;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_i(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) v[i] = a = combine_i(s->how.op, a, v[i]);
    tc_seq_write_i(&y->seq, row * x->inner + at, n, v);
  }
}

static void scan_rows(const void *p, int64_t begin, int64_t end) {
  const scan *s = p;
  for (int64_t o = begin; o < end; o++) (s->how.is_float ? scan_f : scan_i)(s, o);
}

static tc_op combined_by(tc_op scan) {
  switch (scan) {
  case OP_CUMPROD:
    return OP_PROD;
  case OP_RUNNING_MAX:
    return OP_AMAX;
  case OP_RUNNING_MIN:
    return OP_AMIN;
  default:
    return OP_SUM;
  }
}

static scan scan_of(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  const uint32_t mask = 1u << tc_arg_axis(c, 0, x->key.rank);
  const tc_dtype d = (tc_dtype)x->key.dtype;
  return (scan){tc_rows_of(x, mask),
                tc_rows_of(c->out, mask),
                {combined_by(c->op), d, tc_is_float(d)},
                c->op == OP_RUNNING_ARGMAX};
}

bool tc_eager_cum(tc_eager_call *c) {
  const scan s = scan_of(c);
  tc_for_rows(&s.from, scan_rows, &s);
  return true;
}

/* Index of the last largest (smallest) element so far; a NaN counts as such. */
static void positions_f(const scan *s, int64_t row) {
  double v[TC_BLOCK], best = 0;
  int64_t index = 0, to[TC_BLOCK];
  const tc_rows *x = &s->from;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_f(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) {
      const bool good = s->largest ? v[i] >= best : v[i] <= best;
      /* none is as good as NaN */
      if (at + i == 0 || v[i] != v[i] || good) best = v[i], index = at + i;
      to[i] = index;
    }
    tc_seq_write_i(&s->to.seq, row * x->inner + at, n, to);
  }
}

static void positions_i(const scan *s, int64_t row) {
  int64_t v[TC_BLOCK], to[TC_BLOCK], best = 0, index = 0;
  const tc_rows *x = &s->from;
  for (int64_t at = 0; at < x->inner; at += TC_BLOCK) {
    int64_t n = x->inner - at < TC_BLOCK ? x->inner - at : TC_BLOCK;
    tc_seq_read_i(&x->seq, row * x->inner + at, n, v);
    for (int64_t i = 0; i < n; i++) {
      if (at + i == 0 || (s->largest ? v[i] >= best : v[i] <= best)) best = v[i], index = at + i;
      to[i] = index;
    }
    tc_seq_write_i(&s->to.seq, row * x->inner + at, n, to);
  }
}

static void position_rows(const void *p, int64_t begin, int64_t end) {
  const scan *s = p;
  for (int64_t o = begin; o < end; o++) (s->how.is_float ? positions_f : positions_i)(s, o);
}

bool tc_eager_running_arg(tc_eager_call *c) {
  const scan s = scan_of(c);
  tc_for_rows(&s.from, position_rows, &s);
  return true;
}

/* Strided elements in row-major order.
 *
 * Reading element k of a shape by divisions would be right but slow; a cursor keeps the index of
 * the current element and moves over the last axis in runs. */
#include "runtime/libtcrt/src/device.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------------------- */

tc_seq tc_seq_make(const tc_tensor *t, int rank, const int64_t *dim, const int64_t *stride) {
  tc_seq s = {.data = t->data, .dtype = (tc_dtype)t->key.dtype};
  for (int i = 0; i < rank; i++) {
    if (dim[i] == 1) continue;
    int last = s.rank - 1;
    if (last >= 0 && s.stride[last] == stride[i] * dim[i]) { /* one step there is a run here */
      s.dim[last] *= dim[i];
      s.stride[last] = stride[i];
      continue;
    }
    s.dim[s.rank] = dim[i];
    s.stride[s.rank++] = stride[i];
  }
  if (s.rank == 0) {
    s.rank = 1;
    s.dim[0] = 1;
  }
  return s;
}

tc_seq tc_seq_broadcast(const tc_tensor *t, int rank, const int64_t *dim) {
  int64_t stride[TC_SEQ_RANK] = {0};
  int lead = rank - t->key.rank;
  for (int i = 0; i < rank; i++)
    stride[i] = i < lead || t->dim[i - lead] == 1 ? 0 : t->stride[i - lead];
  return tc_seq_make(t, rank, dim, stride);
}

tc_seq tc_seq_of(const tc_tensor *t) { return tc_seq_make(t, t->key.rank, t->dim, t->stride); }

/* ---- walking --------------------------------------------------------------------------------- */

typedef struct cursor {
  const tc_seq *s;
  int64_t index[TC_SEQ_RANK];
  int64_t offset; /* of the current element */
} cursor;

static cursor cursor_at(const tc_seq *s, int64_t k) {
  cursor c = {.s = s};
  for (int i = s->rank - 1; i > 0; i--) {
    if (s->dim[i] == 0) return c; /* no elements: nobody will look */
    c.index[i] = k % s->dim[i];
    c.offset += c.index[i] * s->stride[i];
    k /= s->dim[i];
  }
  c.index[0] = k;
  c.offset += k * s->stride[0];
  return c;
}

/* Elements of the last axis from here on, at most n. */
static int64_t run_length(const cursor *c, int64_t n) {
  int last = c->s->rank - 1;
  int64_t left = c->s->dim[last] - c->index[last];
  return n < left ? n : left;
}

/* Past a run of m elements. */
static void advance(cursor *c, int64_t m) {
  int i = c->s->rank - 1;
  c->index[i] += m;
  c->offset += m * c->s->stride[i];
  for (; i > 0 && c->index[i] == c->s->dim[i]; i--) {
    c->offset += c->s->stride[i - 1] - c->index[i] * c->s->stride[i];
    c->index[i] = 0;
    c->index[i - 1]++;
  }
}

static void *address(const cursor *c) {
  return c->s->data + c->offset * (int64_t)tc_dtype_bytes(c->s->dtype);
}

static int64_t run_stride(const tc_seq *s) { return s->stride[s->rank - 1]; }

void tc_seq_read_f(const tc_seq *s, int64_t start, int64_t n, double *dst) {
  cursor c = cursor_at(s, start);
  for (int64_t m; n > 0; n -= m, dst += m, advance(&c, m)) {
    m = run_length(&c, n);
    tc_load_f(dst, s->dtype, address(&c), run_stride(s), m);
  }
}

void tc_seq_read_i(const tc_seq *s, int64_t start, int64_t n, int64_t *dst) {
  cursor c = cursor_at(s, start);
  for (int64_t m; n > 0; n -= m, dst += m, advance(&c, m)) {
    m = run_length(&c, n);
    tc_load_i(dst, s->dtype, address(&c), run_stride(s), m);
  }
}

void tc_seq_read_as_f(const tc_seq *s, tc_dtype as, int64_t start, int64_t n, double *dst) {
  if (tc_is_float(s->dtype)) {
    tc_seq_read_f(s, start, n, dst);
    if (s->dtype != as) tc_round_f(dst, as, n);
    return;
  }
  int64_t v[TC_BLOCK];
  for (int64_t m; n > 0; n -= m, start += m, dst += m) {
    m = n < TC_BLOCK ? n : TC_BLOCK;
    tc_seq_read_i(s, start, m, v);
    tc_int_to_f(dst, as, v, m);
  }
}

void tc_seq_read_as_i(const tc_seq *s, tc_dtype as, int64_t start, int64_t n, int64_t *dst) {
  tc_seq_read_i(s, start, n, dst);
  if (s->dtype != as) tc_wrap_i(dst, as, n);
}

void tc_seq_write_f(const tc_seq *s, int64_t start, int64_t n, const double *src) {
  cursor c = cursor_at(s, start);
  for (int64_t m; n > 0; n -= m, src += m, advance(&c, m)) {
    m = run_length(&c, n);
    tc_store_f(address(&c), s->dtype, run_stride(s), src, m);
  }
}

void tc_seq_write_i(const tc_seq *s, int64_t start, int64_t n, const int64_t *src) {
  cursor c = cursor_at(s, start);
  for (int64_t m; n > 0; n -= m, src += m, advance(&c, m)) {
    m = run_length(&c, n);
    tc_store_i(address(&c), s->dtype, run_stride(s), src, m);
  }
}

void tc_seq_offsets(const tc_seq *s, int64_t start, int64_t n, int64_t *offset) {
  cursor c = cursor_at(s, start);
  for (int64_t m; n > 0; n -= m, offset += m, advance(&c, m)) {
    m = run_length(&c, n);
    for (int64_t i = 0; i < m; i++) offset[i] = c.offset + i * run_stride(s);
  }
}

/* ---- copying --------------------------------------------------------------------------------- */

static bool is_contiguous(const tc_seq *s) { return s->rank == 1 && s->stride[0] == 1; }

/* Both walks advance together by the shorter run. */
static void copy_range(const tc_seq *d, const tc_seq *s, int64_t start, int64_t n) {
  cursor to = cursor_at(d, start), from = cursor_at(s, start);
  size_t size = tc_dtype_bytes(d->dtype);
  for (int64_t m; n > 0; n -= m) {
    m = run_length(&from, run_length(&to, n));
    tc_copy_elements(address(&to), run_stride(d), address(&from), run_stride(s), size, m);
    advance(&to, m);
    advance(&from, m);
  }
}

static void convert_range(const tc_seq *d, const tc_seq *s, int64_t start, int64_t n) {
  double f[TC_BLOCK];
  int64_t v[TC_BLOCK];
  for (int64_t m; n > 0; n -= m, start += m) {
    m = n < TC_BLOCK ? n : TC_BLOCK;
    if (tc_is_float(s->dtype)) {
      tc_seq_read_f(s, start, m, f);
      tc_seq_write_f(d, start, m, f);
    } else {
      tc_seq_read_i(s, start, m, v);
      tc_seq_write_i(d, start, m, v);
    }
  }
}

static void assign_range(const tc_seq *d, const tc_seq *s, int64_t start, int64_t n) {
  if (d->dtype == s->dtype) copy_range(d, s, start, n);
  else convert_range(d, s, start, n);
}

typedef struct assignment {
  const tc_seq *d, *s;
} assignment;

static void assign_chunks(const void *p, int64_t begin, int64_t end) {
  const assignment *a = p;
  assign_range(a->d, a->s, begin, end - begin);
}

void tc_assign_seq(const tc_seq *d, const tc_seq *s, int64_t n) {
  const assignment a = {d, s};
  tc_for(n, TC_CHUNK, n, assign_chunks, &a);
}

bool tc_assign(const tc_tensor *dst, const tc_tensor *src) {
  if (dst->key.device | src->key.device) return tc_device_assign(dst, src);
  tc_seq d = tc_seq_of(dst), s = tc_seq_broadcast(src, dst->key.rank, dst->dim);
  tc_assign_seq(&d, &s, tc_elements(dst));
  return true;
}

typedef struct filling {
  tc_seq d;
  double v[TC_BLOCK];
} filling;

static void fill_blocks(const void *p, int64_t begin, int64_t end) {
  const filling *f = p;
  for (int64_t start = begin; start < end; start += TC_BLOCK)
    tc_seq_write_f(&f->d, start, end - start < TC_BLOCK ? end - start : TC_BLOCK, f->v);
}

bool tc_assign_f(const tc_tensor *dst, double value) {
  if (dst->key.device != TC_CPU) return tc_device_fill(dst, value);
  int64_t n = tc_elements(dst);
  tc_seq d = tc_seq_of(dst);
  if (value == 0 && !signbit(value) && is_contiguous(&d)) {
    if (n > 0) memset(d.data, 0, (size_t)n * tc_dtype_bytes(d.dtype));
    return true;
  }
  filling f = {.d = d};
  for (int i = 0; i < TC_BLOCK; i++) f.v[i] = value;
  tc_for(n, TC_BLOCK, n, fill_blocks, &f);
  return true;
}

/* A 2-D operand stored column by column (and its batches) is packed tile by tile, so that neither
 * side strides through memory a page at a time. */
enum { TILE = 64 };

typedef struct bands {
  const tc_tensor *x;
  tc_seq outer; /* where batches begin */
  char *dst;
  int64_t rows, cols, count; /* bands of a batch */
} bands;

static void pack_band(const bands *b, int64_t batch, int64_t r0) {
  const size_t size = tc_dtype_bytes(b->x->key.dtype);
  const int64_t height = b->rows - r0 < TILE ? b->rows - r0 : TILE,
                stride = b->x->stride[b->x->key.rank - 1];
  int64_t offset;
  tc_seq_offsets(&b->outer, batch, 1, &offset);
  for (int64_t c0 = 0; c0 < b->cols; c0 += TILE) {
    const int64_t width = b->cols - c0 < TILE ? b->cols - c0 : TILE;
    for (int64_t r = r0; r < r0 + height; r++)
      tc_copy_elements(b->dst + (size_t)((batch * b->rows + r) * b->cols + c0) * size, 1,
                       (char *)b->x->data + (offset + r + c0 * stride) * (int64_t)size, stride,
                       size, width);
  }
}

static void pack_bands(const void *p, int64_t begin, int64_t end) {
  const bands *b = p;
  for (int64_t job = begin; job < end; job++) pack_band(b, job / b->count, job % b->count * TILE);
}

static bool pack_tiled(const tc_tensor *x, char *dst) {
  int rank = x->key.rank;
  if (rank < 2 || x->stride[rank - 2] != 1 || x->stride[rank - 1] == 1) return false;
  int64_t rows = x->dim[rank - 2], cols = x->dim[rank - 1], batches = 1;
  if (rows < TILE || cols < TILE) return false;
  for (int i = 0; i < rank - 2; i++) batches *= x->dim[i];
  const bands b = {x,    tc_seq_make(x, rank - 2, x->dim, x->stride), dst, rows,
                   cols, (rows + TILE - 1) / TILE};
  tc_for(batches * b.count, 1, batches * rows * cols, pack_bands, &b);
  return true;
}

/* The elements of x, row-major at `data`. */
static tc_tensor packed_at(const tc_tensor *x, void *data) {
  tc_tensor t = tc_alias(x);
  t.data = data;
  tc_set_row_major(&t);
  return t;
}

static void pack(const tc_tensor *x, void *dst) {
  const tc_tensor to = packed_at(x, dst);
  if (tc_elements(x) != 0 && !pack_tiled(x, dst)) tc_assign(&to, x);
}

/* Compiled functions keep the flags of their callers, which OpenMP runtimes clear at the end of a
 * team of one thread. */
void tcrt_pack(const struct tc_tensor *x, void *dst) {
  fexcept_t flags;
  fegetexceptflag(&flags, FE_ALL_EXCEPT);
  pack(x, dst);
  fesetexceptflag(&flags, FE_ALL_EXCEPT);
}

void tcrt_unpack(const struct tc_tensor *x, const void *src) {
  fexcept_t flags;
  const tc_tensor from = packed_at(x, (void *)(uintptr_t)src);
  fegetexceptflag(&flags, FE_ALL_EXCEPT);
  if (tc_elements(x) != 0) tc_assign(x, &from);
  fesetexceptflag(&flags, FE_ALL_EXCEPT);
}

bool tcrt_may_unpack(const struct tc_tensor *x) {
  return !(x->key.flags & TC_FLAG_READONLY) && !tc_self_overlaps(x);
}

bool tc_pack(const tc_tensor *x, void *dst) {
  if (x->key.device != TC_CPU) return tc_device_pack(x, dst);
  tcrt_pack(x, dst);
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

tc_rows tc_rows_of(const tc_tensor *x, uint32_t mask) {
  tc_rows r = {.outer = 1, .inner = 1};
  int64_t dim[TC_MAX_RANK], stride[TC_MAX_RANK];
  int n = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < x->key.rank; i++) {
      if ((int)(mask >> i & 1) != pass) continue;
      dim[n] = x->dim[i];
      stride[n++] = x->stride[i];
      *(pass ? &r.inner : &r.outer) *= x->dim[i];
    }
  }
  r.seq = tc_seq_make(x, n, dim, stride);
  return r;
}

uint32_t tc_arg_axes(const tc_eager_call *c, int k, int rank) {
  uint32_t mask = 0;
  int n = (int)tc_arg(c, k);
  for (int i = 0; i < n; i++) mask |= 1u << tc_arg_axis(c, k + 1 + i, rank);
  return n ? mask : (1u << rank) - 1;
}

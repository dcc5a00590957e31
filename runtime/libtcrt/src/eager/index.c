/* Indexing by data: a walk over the index tensor, with the place of everything but the indexed axis
 * from strided walks beside it.  An index out of range is an error; nothing is read or written
 * there. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/libtcrt/src/eager/eager.h"

static bool fail_index(const tc_eager_call *c, int64_t index, int64_t size) {
  tc_fail_as(TC_ERROR_INDEX, "%s: index %" PRId64 " is out of range for an axis of size %" PRId64,
             c->name, index, size);
  return false;
}

/* t walked over `shape`, standing still along axis `axis` (-1: none). */
static tc_seq walk(const tc_tensor *t, int rank, const int64_t *shape, const int64_t *stride,
                   int axis) {
  int64_t still[TC_MAX_RANK];
  for (int i = 0; i < rank; i++) still[i] = i == axis ? 0 : stride[i];
  return tc_seq_make(t, rank, shape, still);
}

static void copy_element(const tc_tensor *dst, int64_t to, const tc_tensor *src, int64_t from,
                         size_t size) {
  memcpy((char *)dst->data + to * (int64_t)size, (const char *)src->data + from * (int64_t)size,
         size);
}

/* out[k] = x[place(k) + index(k) * stride], k over out's elements. */
typedef struct taking {
  const tc_eager_call *c;
  const tc_seq *place, *index;
  int64_t stride, size;
  atomic_bool *failed;
  _Atomic int64_t *bad; /* an index that is out of range */
} taking;

static void take_range(const void *p, int64_t begin, int64_t end) {
  const taking *t = p;
  const size_t bytes = tc_dtype_bytes(t->c->in[0]->key.dtype);
  for (int64_t start = begin; start < end; start += TC_BLOCK) {
    int64_t n = end - start < TC_BLOCK ? end - start : TC_BLOCK, at[TC_BLOCK], i[TC_BLOCK];
    tc_seq_offsets(t->place, start, n, at);
    tc_seq_read_i(t->index, start, n, i);
    for (int64_t k = 0; k < n; k++) {
      if (i[k] >= 0 && i[k] < t->size)
        copy_element(t->c->out, start + k, t->c->in[0], at[k] + i[k] * t->stride, bytes);
      else {
        *t->bad = i[k];
        *t->failed = true;
      }
    }
  }
}

static bool take(const tc_eager_call *c, const tc_seq *place, const tc_seq *index, int64_t stride,
                 int64_t size) {
  const int64_t total = tc_elements(c->out);
  atomic_bool failed = false;
  _Atomic int64_t bad = 0;
  const taking t = {c, place, index, stride, size, &failed, &bad};
  tc_for(total, TC_BLOCK, total, take_range, &t);
  return !failed || fail_index(c, bad, size);
}

bool tc_eager_gather(tc_eager_call *c) {
  const tc_tensor *x = c->in[0], *index = c->in[1], *y = c->out;
  int rank = x->key.rank, axis = tc_arg_axis(c, 0, rank);
  tc_seq place = walk(x, rank, y->dim, x->stride, axis), i = tc_seq_of(index);
  return take(c, &place, &i, x->stride[axis], x->dim[axis]);
}

bool tc_eager_index_select(tc_eager_call *c) {
  const tc_tensor *x = c->in[0], *index = c->in[1], *y = c->out;
  int rank = x->key.rank, axis = tc_arg_axis(c, 0, rank);
  int64_t along[TC_MAX_RANK] = {0};
  along[axis] = index->stride[0];
  tc_seq place = walk(x, rank, y->dim, x->stride, axis),
         i = tc_seq_make(index, rank, y->dim, along);
  return take(c, &place, &i, x->stride[axis], x->dim[axis]);
}

bool tc_eager_embedding(tc_eager_call *c) {
  const tc_tensor *w = c->in[0], *index = c->in[1], *y = c->out;
  int rank = y->key.rank;
  int64_t column[TC_MAX_RANK] = {0}, row[TC_MAX_RANK] = {0};
  column[rank - 1] = w->stride[1];
  for (int i = 0; i < rank - 1; i++) row[i] = index->stride[i];
  tc_seq place = tc_seq_make(w, rank, y->dim, column), i = tc_seq_make(index, rank, y->dim, row);
  return take(c, &place, &i, w->stride[0], w->dim[0]);
}

bool tc_eager_one_hot(tc_eager_call *c) {
  int64_t classes = tc_arg(c, 0), total = tc_elements(c->in[0]), *y = c->out->data;
  tc_seq index = tc_seq_of(c->in[0]);
  tc_assign_f(c->out, 0);
  for (int64_t start = 0; start < total; start += TC_BLOCK) {
    int64_t n = total - start < TC_BLOCK ? total - start : TC_BLOCK, i[TC_BLOCK];
    tc_seq_read_i(&index, start, n, i);
    for (int64_t k = 0; k < n; k++) {
      if (i[k] < 0 || i[k] >= classes) return fail_index(c, i[k], classes);
      y[(start + k) * classes + i[k]] = 1;
    }
  }
  return true;
}

/* *to += *from, rounded to the dtype each time. */
static void add_element(const tc_tensor *y, int64_t to, const tc_tensor *src, int64_t from,
                        size_t size) {
  tc_dtype dtype = (tc_dtype)y->key.dtype;
  char *a = (char *)y->data + to * (int64_t)size, *b = (char *)src->data + from * (int64_t)size;
  if (tc_is_float(dtype)) {
    double v, w;
    tc_load_f(&v, dtype, a, 1, 1);
    tc_load_f(&w, dtype, b, 1, 1);
    v += w;
    tc_store_f(a, dtype, 1, &v, 1);
    return;
  }
  int64_t v, w;
  tc_load_i(&v, dtype, a, 1, 1);
  tc_load_i(&w, dtype, b, 1, 1);
  v = (int64_t)((uint64_t)v + (uint64_t)w);
  tc_store_i(a, dtype, 1, &v, 1);
}

/* out = x; then out[place(k) + index(k)*stride] = (or +=) src[k] in the order of the index tensor.
 */
bool tc_eager_scatter(tc_eager_call *c) {
  const tc_tensor *index = c->in[1], *src = c->in[2], *y = c->out;
  int rank = y->key.rank, axis = tc_arg_axis(c, 0, rank);
  size_t bytes = tc_dtype_bytes(y->key.dtype);
  tc_seq place = walk(y, rank, index->dim, y->stride, axis), i = tc_seq_of(index);
  tc_seq from = tc_seq_make(src, rank, index->dim, src->stride);
  int64_t total = tc_elements(index), size = y->dim[axis];
  tc_assign(y, c->in[0]);
  for (int64_t start = 0; start < total; start += TC_BLOCK) {
    int64_t n = total - start < TC_BLOCK ? total - start : TC_BLOCK;
    int64_t at[TC_BLOCK], to[TC_BLOCK], source[TC_BLOCK];
    tc_seq_read_i(&i, start, n, to);
    tc_seq_offsets(&place, start, n, at);
    tc_seq_offsets(&from, start, n, source);
    for (int64_t k = 0; k < n; k++) {
      if (to[k] < 0 || to[k] >= size) return fail_index(c, to[k], size);
      int64_t target = at[k] + to[k] * y->stride[axis];
      if (c->op == OP_SCATTER) copy_element(y, target, src, source[k], bytes);
      else add_element(y, target, src, source[k], bytes);
    }
  }
  return true;
}

/* Tensors: headers over reference-counted storage. */
#include "runtime/libtcrt/src/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "runtime/libtcrt/src/autograd/tape.h"
#include "runtime/libtcrt/src/memory/check.h"
#include "runtime/libtcrt/src/device.h"
#include "runtime/libtcrt/src/memory/poison.h"

/* ---- shape arithmetic ------------------------------------------------------------------------ */

int64_t tc_count(int rank, const int64_t *dim, size_t element) {
  int64_t n = (int64_t)element;
  bool empty = false, overflow = false;
  for (int i = 0; i < rank; i++) {
    empty |= dim[i] == 0;
    if (dim[i] != 0) overflow |= __builtin_mul_overflow(n, dim[i], &n);
  }
  if (empty) return 0;
  return overflow || n > INT64_MAX / 2 ? -1 : n / (int64_t)element;
}

void tc_set_row_major(tc_tensor *t) {
  int64_t stride = 1;
  for (int i = t->key.rank - 1; i >= 0; i--) {
    t->stride[i] = stride;
    stride *= t->dim[i] > 1 ? t->dim[i] : 1;
  }
}

void tc_update_contiguous(tc_tensor *t) {
  int64_t stride = 1;
  bool contiguous = true, empty = false;
  for (int i = t->key.rank - 1; i >= 0; i--) {
    empty |= t->dim[i] == 0;
    if (t->dim[i] > 1) contiguous &= t->stride[i] == stride;
    stride *= t->dim[i] > 1 ? t->dim[i] : 1;
  }
  int flags = t->key.flags & ~TC_FLAG_CONTIGUOUS;
  t->key.flags = (uint8_t)(contiguous || empty ? flags | TC_FLAG_CONTIGUOUS : flags);
}

bool tc_reachable(size_t element, int rank, const int64_t *dim, const int64_t *stride) {
  int64_t reach = 0, step;
  for (int i = 0; i < rank; i++) {
    if (dim[i] == 0) return true;
    if (stride[i] == INT64_MIN || __builtin_mul_overflow(llabs(stride[i]), dim[i] - 1, &step) ||
        __builtin_mul_overflow(step, (int64_t)element, &step) ||
        __builtin_add_overflow(reach, step, &reach))
      return false;
  }
  return reach < INT64_MAX / 2;
}

/* Sorted by stride, each axis must step past all that the smaller ones span; a sufficient test that
 * every layout reachable by views of distinct elements passes. */
bool tc_self_overlaps(const tc_tensor *t) {
  int order[TC_MAX_RANK], n = 0;
  if (tc_elements(t) == 0) return false;
  for (int i = 0; i < t->key.rank; i++) {
    if (t->dim[i] == 1) continue;
    int at = n++;
    for (; at > 0 && llabs(t->stride[order[at - 1]]) > llabs(t->stride[i]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t span = 0; /* from the first to the last element of the axes so far */
  for (int i = 0; i < n; i++) {
    int64_t stride = llabs(t->stride[order[i]]);
    if (stride <= span) return true;
    span += stride * (t->dim[order[i]] - 1);
  }
  return false;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

tc_tensor *tc_tensor_header(tc_dtype dtype, int rank, const int64_t *dim, tc_device device) {
  tc_tensor *t = tc_header_new();
  if (!t) return NULL;
  t->key = (tc_key){(uint8_t)dtype, (uint8_t)device, (uint8_t)rank, TC_FLAG_CONTIGUOUS};
  t->device_index = device >> 8;
  t->data = NULL;
  t->storage = NULL;
  t->autograd = NULL;
  t->scope = NULL;
  int64_t stride = 1;
  for (int i = TC_MAX_RANK - 1; i >= 0; i--) {
    t->dim[i] = i < rank ? dim[i] : 1;
    t->stride[i] = i < rank ? stride : 0;
    if (t->dim[i] > 1) stride *= t->dim[i];
  }
  tc_scope_add(t);
  return t;
}

bool tc_tensor_alloc(tc_tensor *t) {
  size_t bytes = (size_t)tc_elements(t) * tc_dtype_bytes(t->key.dtype);
  t->storage =
      t->key.device == TC_CPU ? tc_storage_new(bytes) : tc_device_storage(t->device_index, bytes);
  t->data = t->storage ? t->storage->data : NULL;
  return t->storage != NULL;
}

tc_tensor *tc_tensor_new(tc_dtype dtype, int rank, const int64_t *dim, tc_device device) {
  if (tc_count(rank, dim, tc_dtype_bytes(dtype)) < 0)
    return tc_fail_as(TC_ERROR_MEMORY, "a tensor of more than 2^62 bytes");
  tc_tensor *t = tc_tensor_header(dtype, rank, dim, device);
  if (t && !tc_tensor_alloc(t)) {
    tc_free(t);
    return NULL;
  }
  return t;
}

void tc_tensor_share(tc_tensor *t, const tc_tensor *x, int64_t offset) {
  t->storage = tc_storage_ref(x->storage);
  t->data = x->data; /* NULL where a device has nothing to hold */
  if (offset) t->data = (char *)x->data + offset * (int64_t)tc_dtype_bytes(x->key.dtype);
  t->key.device = x->key.device;
  t->device_index = x->device_index;
  t->key.flags = (uint8_t)(t->key.flags | (x->key.flags & TC_FLAG_READONLY));
  tc_update_contiguous(t);
}

void tc_tensor_adopt(tc_tensor *t, struct tc_storage *storage) {
  t->storage = storage;
  t->data = storage->data;
}

void tc_free(tc_tensor *t) {
  if (!t || !tc_given("tc_free", 1, t)) return;
  if (t->autograd) tc_tape_forget(t);
  if (t->storage && t->storage->written) tc_tape_leave(t->storage);
  tc_scope_remove(t);
  tc_storage_unref(t->storage);
  tc_header_free(t);
}

tc_tensor tc_alias(const tc_tensor *x) {
  tc_tensor t = *x;
  t.scope = NULL;
  t.scope_prev = t.scope_next = NULL;
  return t;
}

/* ---- the generated code's way in ------------------------------------------------------------- */

struct tc_tensor *tcrt_new(tc_dtype dtype, int rank, const int64_t *dim) {
  return tc_tensor_new(dtype, rank, dim, TC_CPU);
}

void tcrt_delete(struct tc_tensor *t) { tc_free(t); }

bool tcrt_extent(const struct tc_tensor *t, uintptr_t *lo, uintptr_t *hi) {
  int64_t first = 0, last = 0, size = (int64_t)tc_dtype_bytes(t->key.dtype);
  for (int i = 0; i < t->key.rank; i++) {
    if (t->dim[i] == 0) return false;
    int64_t reach = t->stride[i] * (t->dim[i] - 1);
    if (reach < 0) first += reach;
    else last += reach;
  }
  *lo = (uintptr_t)t->data + (uintptr_t)(first * size);
  *hi = (uintptr_t)t->data + (uintptr_t)(last * size + size - 1);
  return true;
}

/* ---- checks with messages -------------------------------------------------------------------- */

bool tc_refuse(const char *function, int number, const tc_tensor *x) {
  if (!x) return tc_fail_as(TC_ERROR_NULL, "%s: operand %d is NULL", function, number);
  tc_fail_as(TC_ERROR_FREED, "%s: operand %d was freed already", function, number);
  if (tc_checks) tc_check_refused(function, number, x);
  tc_report_use(x);
  return false;
}

bool tc_check_list(const char *function, const tc_ints *list) {
  if (list->n >= 0 && list->n <= TC_MAX_RANK) return true;
  tc_fail("%s: a list of %d entries; at most %d", function, list->n, TC_MAX_RANK);
  return false;
}

tc_shape_text tc_describe(const tc_tensor *x) {
  tc_shape_text s;
  size_t at = 0, cap = sizeof s.text;
  at += (size_t)snprintf(s.text, cap, "%s[", tc_dtype_text(x->key.dtype));
  for (int i = 0; i < x->key.rank; i++)
    at += (size_t)snprintf(s.text + at, cap - at, "%s%" PRId64, i ? "," : "", x->dim[i]);
  snprintf(s.text + at, cap - at, "]");
  return s;
}

int tc_check_axis(const char *function, const tc_tensor *x, int axis) {
  int rank = x->key.rank, at = axis < 0 ? axis + rank : axis;
  if (at >= 0 && at < rank) return at;
  tc_fail("%s: axis %d of %s, which has rank %d", function, axis, tc_describe(x).text, rank);
  return -1;
}

bool tc_check_dims(const char *function, tc_dtype dtype, const tc_ints *dims) {
  if ((unsigned)dtype >= TC_DTYPE_COUNT) {
    tc_fail("%s: %d is no dtype", function, (int)dtype);
    return false;
  }
  if (!tc_check_list(function, dims)) return false;
  for (int i = 0; i < dims->n; i++) {
    if (dims->v[i] >= 0) continue;
    tc_fail("%s: size %" PRId64 " of axis %d is negative", function, dims->v[i], i);
    return false;
  }
  if (tc_count(dims->n, dims->v, tc_dtype_bytes(dtype)) >= 0) return true;
  tc_fail_as(TC_ERROR_MEMORY, "%s: the product of the sizes is more than memory can hold",
             function);
  return false;
}

/* ---- the public constructors ----------------------------------------------------------------- */

tc_tensor *tc_empty(tc_ints dims, tc_dtype dtype) {
  return tc_check_dims("tc_empty", dtype, &dims) ? tc_tensor_new(dtype, dims.n, dims.v, TC_CPU)
                                                 : NULL;
}

tc_tensor *tc_from(tc_ints dims, const void *data, tc_dtype dtype) {
  if (!tc_check_dims("tc_from", dtype, &dims)) return NULL;
  int64_t n = tc_count(dims.n, dims.v, tc_dtype_bytes(dtype));
  if (!data && n > 0) return tc_fail("tc_from: data is NULL");
  tc_tensor *t = tc_tensor_new(dtype, dims.n, dims.v, TC_CPU);
  if (t && n > 0) memcpy(t->data, data, (size_t)n * tc_dtype_bytes(dtype));
  return t;
}

static tc_tensor *wrap(const char *function, tc_dtype dtype, const tc_ints *dims,
                       const int64_t *strides, void *data, void (*release)(void *), void *context) {
  if (!tc_check_dims(function, dtype, dims)) return NULL;
  if (!data && tc_count(dims->n, dims->v, 1) > 0) return tc_fail("%s: data is NULL", function);
  if (strides && !tc_reachable(tc_dtype_bytes(dtype), dims->n, dims->v, strides))
    return tc_fail("%s: the strides leave the address space", function);
  if ((uintptr_t)data % tc_dtype_bytes(dtype))
    return tc_fail("%s: data is not aligned for %s", function, tc_dtype_text(dtype));
  tc_tensor *t = tc_tensor_header(dtype, dims->n, dims->v, TC_CPU);
  tc_storage *s = t ? tc_storage_foreign(data, release, context) : NULL;
  if (!s) {
    tc_free(t);
    return NULL;
  }
  tc_tensor_adopt(t, s);
  for (int i = 0; strides && i < dims->n; i++) t->stride[i] = strides[i];
  tc_update_contiguous(t);
  return t;
}

tc_tensor *tc_wrap(tc_ints dims, const int64_t *strides, void *data, tc_dtype dtype,
                   void (*release)(void *context), void *context) {
  return wrap("tc_wrap", dtype, &dims, strides, data, release, context);
}

tc_tensor *tc_wrap_const(tc_ints dims, const int64_t *strides, const void *data, tc_dtype dtype) {
  tc_tensor *t = wrap("tc_wrap_const", dtype, &dims, strides, (void *)(uintptr_t)data, NULL, NULL);
  if (t) t->key.flags |= TC_FLAG_READONLY;
  return t;
}

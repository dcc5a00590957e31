/* tensor.h - making and checking tensors inside libtcrt. */
#ifndef TC_TENSOR_H
#define TC_TENSOR_H

#include "runtime/libtcrt/src/internal.h"
#include "runtime/libtcrt/src/memory/storage.h"

/* All of these give a tensor owned by the current scope, or NULL with an error set. */

/* Contiguous, contents undefined. */
tc_tensor *tc_tensor_new(tc_dtype dtype, int rank, const int64_t *dim, tc_device device);
/* A header with sizes and row-major strides but no memory yet: set strides, then tc_tensor_share or
 * tc_tensor_alloc. */
tc_tensor *tc_tensor_header(tc_dtype dtype, int rank, const int64_t *dim, tc_device device);
bool tc_tensor_alloc(tc_tensor *t); /* memory of its device for a contiguous t */
static inline tc_device tc_place(const tc_tensor *t) {
  return (tc_device)(t->key.device | t->device_index << 8);
}
/* Makes t, its strides set, a view of x's memory that begins `offset` elements further. */
void tc_tensor_share(tc_tensor *t, const tc_tensor *x, int64_t offset);
/* Hands t's memory over to another storage, which it takes. */
void tc_tensor_adopt(tc_tensor *t, struct tc_storage *storage);

/* A tensor on the stack over x's memory, for kernels: no reference, no scope. */
tc_tensor tc_alias(const tc_tensor *x);

/* Row-major strides for t's sizes. */
void tc_set_row_major(tc_tensor *t);
/* Sets TC_FLAG_CONTIGUOUS as sizes and strides say. */
void tc_update_contiguous(tc_tensor *t);
/* Elements of a shape; -1: more than fit in memory. */
int64_t tc_count(int rank, const int64_t *dim, size_t element);
/* Can two elements of t have one address? */
bool tc_self_overlaps(const tc_tensor *t);
/* Is it a dtype and a shape that fits in memory?  Sets an error in the name of `function` if
 * not. */
bool tc_check_dims(const char *function, tc_dtype dtype, const tc_ints *dims);
/* Do the farthest elements lie within the address space?  Strides in elements. */
bool tc_reachable(size_t element, int rank, const int64_t *dim, const int64_t *stride);
/* Is the list well formed?  Sets an error in the name of `function` if not. */
bool tc_check_list(const char *function, const tc_ints *list);
/* May x be used as operand `number` of `function`?  Sets an error where it is NULL or was freed. */
bool tc_refuse(const char *function, int number, const tc_tensor *x) __attribute__((cold));
static inline bool tc_given(const char *function, int number, const tc_tensor *x) {
  if (__builtin_expect(x && !(x->key.flags & TC_FLAG_FREED), 1)) return true;
  return tc_refuse(function, number, x);
}
/* Index of an axis that may be negative, or -1 with an error. */
int tc_check_axis(const char *function, const tc_tensor *x, int axis);
/* "f32[3,4]" */
typedef struct tc_shape_text {
  char text[240];
} tc_shape_text;
tc_shape_text tc_describe(const tc_tensor *x);

/* scope.c: t enters the current scope (if one is open); t leaves the one it is in. */
void tc_scope_add(tc_tensor *t);
void tc_scope_remove(tc_tensor *t);
/* Calls `each` for the tensors of all open scopes of this thread over this memory; returns how
 * many. */
int tc_scope_over(const struct tc_storage *s, void (*each)(tc_tensor *t, void *arg), void *arg);

static inline int64_t tc_elements(const tc_tensor *t) {
  int64_t n = 1;
  for (int i = 0; i < t->key.rank; i++) n *= t->dim[i];
  return n;
}

#endif

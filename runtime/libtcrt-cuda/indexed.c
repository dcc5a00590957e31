/* Gather and scatter along one axis: x as [A,B,C], indices as [A,J,C] or [J]. */
#include <stdio.h>
#include <string.h>

#include "runtime/libtcrt-cuda/eager.h"

/* Elements are moved, not computed on: integers of their size stand for them. */
static tc_dtype bits_of(tc_dtype d) {
  switch (tc_dtype_bytes(d)) {
  case 1:
    return TC_U8;
  case 2:
    return TC_I16;
  case 4:
    return TC_I32;
  default:
    return TC_I64;
  }
}

static void set_key(char key[TC_ONEOP_KEY], tc_op op, tc_dtype d) {
  snprintf(key, TC_ONEOP_KEY, "%s.%s.c", tc_op_get(op)->text, tc_dtype_text(d));
}

static void split(const tc_tensor *x, int axis, int64_t size[3]) {
  size[0] = size[2] = 1;
  for (int i = 0; i < x->key.rank; i++)
    if (i != axis) size[i < axis ? 0 : 2] *= x->dim[i];
  size[1] = x->dim[axis];
}

/* x cut to the sizes of `like`, but along the axis (-1: everywhere). */
static tc_tensor *cut(const tc_tensor *x, const tc_tensor *like, int axis) {
  tc_tensor *y = tc_slice(x, 0, 0, axis == 0 ? x->dim[0] : like->dim[0], 1);
  for (int i = 1; i < x->key.rank && y; i++)
    if (i != axis) y = tc_slice(y, i, 0, like->dim[i], 1);
  return y;
}

static tc_tensor *run(const tc_op_call *o, tc_op op, const tc_tensor *const *in, const int *rank,
                      int64_t (*size)[3], int n) {
  tc_dense dense[3];
  const tc_tensor *operand[3];
  tc_dtype d = (tc_dtype)in[0]->key.dtype;
  char key[TC_ONEOP_KEY];
  bool ok = true;
  for (int i = 0; i < n; i++) {
    dense[i] = tc_dense_of(in[i], i == 1 ? TC_I64 : d, NULL, rank[i], size[i]);
    ok = ok && dense[i].ok;
    operand[i] = &dense[i].t;
  }
  if (!tc_op_get(op)->reduction) /* elements only move */
    for (int i = 0; i < n; i += 2) dense[i].t.key.dtype = (uint8_t)bits_of(d);
  set_key(key, op, (tc_dtype)dense[0].t.key.dtype);
  tc_tensor *y = ok ? tc_entry_run(o, key, operand, NULL) : NULL;
  tc_dense_free(dense, n);
  return y;
}

/* index: of rank 1 along `axis` of x. */
static tc_tensor *take(const tc_op_call *o, const tc_tensor *x, int axis, const tc_tensor *index) {
  int64_t size[2][3];
  split(x, axis, size[0]);
  size[1][0] = tc_numel(index);
  if (tc_type_count(&o->type) == 0) return tc_result_new(o);
  return run(o, OP_INDEX_SELECT, (const tc_tensor *[]){x, index}, (int[]){3, 1}, size, 2);
}

static tc_tensor *gather(const tc_op_call *o) {
  const tc_tensor *x = o->c->in[0], *index = o->c->in[1];
  int axis = tc_arg_axis(o->c, 0, x->key.rank);
  int64_t size[2][3];
  if (tc_type_count(&o->type) == 0) return tc_result_new(o);
  x = cut(x, index, axis);
  if (!x) return NULL;
  split(x, axis, size[0]);
  split(index, axis, size[1]);
  return run(o, OP_GATHER, (const tc_tensor *[]){x, index}, (int[]){3, 3}, size, 2);
}

/* 0 .. classes-1, taken at the index (which checks it) and compared with itself. */
static tc_tensor *one_hot(const tc_op_call *o) {
  int64_t classes = tc_arg(o->c, 0);
  const tc_tensor *index = o->c->in[0];
  tc_number zero, one;
  tc_number_f(&zero, 0);
  tc_number_f(&one, 1);
  if (tc_type_count(&o->type) == 0 && tc_numel(index) == 0) return tc_result_new(o);
  const tc_tensor *range[] = {&zero.t, &one.t};
  tc_tensor *all = tc_op_on(o, OP_ARANGE, 2, range, 2, (int64_t[]){classes, TC_I64});
  const tc_tensor *in[] = {all, all ? tc_flatten(index, 0, -1) : NULL};
  if (index->key.rank == 0 && all) in[1] = tc_reshape(index, TC_DIMS(1));
  tc_tensor *at = tc_op_on(o, OP_INDEX_SELECT, 2, in, 1, (int64_t[]){0});
  const tc_tensor *pair[] = {at ? tc_unsqueeze(at, 1) : NULL, all};
  const tc_tensor *hot = tc_op_on(o, OP_EQ, 2, pair, 0, NULL);
  tc_tensor *y = tc_op_on(o, OP_CAST, 1, &hot, 1, (int64_t[]){TC_I64});
  if (y) tc_result_shape(y, &o->type);
  return y;
}

/* The part of x that indices reach is scattered into, and put back when it is not all of x. */
static tc_tensor *scatter(const tc_op_call *o) {
  const tc_tensor *x = o->c->in[0], *index = o->c->in[1], *src = o->c->in[2];
  int axis = tc_arg_axis(o->c, 0, x->key.rank);
  int64_t size[3][3];
  if (tc_numel(index) == 0) return tc_clone(x);
  tc_tensor *part = cut(x, index, axis), *from = part ? cut(src, index, -1) : NULL;
  if (!from) return NULL;
  split(part, axis, size[0]);
  split(index, axis, size[1]);
  split(from, axis, size[2]);
  tc_op_call inner = *o;
  for (int i = 0; i < x->key.rank; i++) inner.type.dim[i] = tc_dim_const(part->dim[i]);
  tc_tensor *y =
      run(&inner, o->c->op, (const tc_tensor *[]){part, index, from}, (int[]){3, 3, 3}, size, 3);
  if (!y || tc_numel(y) == tc_numel(x)) return y;
  tc_tensor *whole = tc_clone(x), *place = whole ? cut(whole, index, axis) : NULL;
  return place && tc_copy_(place, y) ? whole : NULL;
}

tc_tensor *tc_form_indexed(const tc_op_call *o, bool *none) {
  const tc_tensor *const *in = o->c->in;
  *none = false;
  switch (o->c->op) {
  case OP_GATHER:
    return gather(o);
  case OP_INDEX_SELECT:
    return take(o, in[0], tc_arg_axis(o->c, 0, in[0]->key.rank), in[1]);
  case OP_EMBEDDING:
    return take(o, in[0], 0, in[1]);
  case OP_ONE_HOT:
    return one_hot(o);
  case OP_SCATTER:
  case OP_SCATTER_ADD:
    return scatter(o);
  default:
    *none = true;
    return NULL;
  }
}

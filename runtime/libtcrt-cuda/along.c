/* Reductions, scans, softmax: the axes become [A,B] or [A,B,C] with the op along B. */
#include <stdio.h>
#include <string.h>

#include "runtime/libtcrt-cuda/eager.h"

/* Axes that the op goes along, as a mask. */
static uint32_t axes_of(const tc_op_call *o, int rank) {
  const tc_eager_call *c = o->c;
  if (strncmp(tc_op_get(c->op)->attrs, "axes:I", 6)) return 1u << tc_arg_axis(c, 0, rank);
  uint32_t mask = 0;
  int n = (int)tc_arg(c, 0);
  for (int i = 0; i < n; i++) mask |= 1u << tc_arg_axis(c, 1 + i, rank);
  return n ? mask : (1u << rank) - 1;
}

static bool has_form(const tc_op_call *o) {
  const tc_op_info *op = tc_op_get(o->c->op);
  bool list = !strcmp(op->attrs, "axes:I keep:b"), axis = !strcmp(op->attrs, "axis:i");
  if (op->max_in != 1 || !(list || axis)) return false;
  if (op->cls == TC_CLASS_COMP) return o->c->in[0]->key.dtype == o->type.dtype;
  return op->cls == TC_CLASS_REDUCE || op->cls == TC_CLASS_SCAN;
}

/* The sizes before, along and behind the axes; false: they do not lie side by side. */
static bool split(const tc_tensor *x, uint32_t mask, int64_t size[3]) {
  int part = 0;
  size[0] = size[1] = size[2] = 1;
  for (int i = 0; i < x->key.rank; i++) {
    bool along = mask >> i & 1;
    if (x->dim[i] == 1) continue;
    if (along && part == 0) part = 1;
    if (!along && part == 1) part = 2;
    if (along && part == 2) return false;
    size[part] *= x->dim[i];
  }
  return true;
}

/* Axes along the op moved to the end; the others keep their order, which is that of the result. */
static tc_tensor *gathered(const tc_tensor *x, uint32_t mask) {
  tc_ints order = {x->key.rank, {0}};
  int n = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < x->key.rank; i++)
      if ((int)(mask >> i & 1) == pass) order.v[n++] = i;
  return tc_permute(x, order);
}

tc_tensor *tc_form_along(const tc_op_call *o, bool *none) {
  *none = !has_form(o);
  if (*none) return NULL;
  const tc_tensor *x = o->c->in[0];
  uint32_t mask = x->key.rank ? axes_of(o, x->key.rank) : 0;
  int64_t size[3];
  if (tc_type_count(&o->type) == 0) return tc_result_new(o);
  if (!split(x, mask, size)) {
    x = gathered(x, mask);
    if (!x) return NULL;
    split(x, ((1u << __builtin_popcount(mask)) - 1) << (x->key.rank - __builtin_popcount(mask)),
          size);
  }
  char key[TC_ONEOP_KEY];
  tc_dtype d = (tc_dtype)x->key.dtype;
  snprintf(key, sizeof key, "%s.%s.%s", tc_op_get(o->c->op)->text, tc_dtype_text(d),
           size[2] == 1 ? "r" : "c");
  tc_dense dense = tc_dense_of(x, d, NULL, size[2] == 1 ? 2 : 3, size);
  tc_tensor *y = dense.ok ? tc_entry_run(o, key, (const tc_tensor *[]){&dense.t}, NULL) : NULL;
  tc_dense_free(&dense, 1);
  return y;
}

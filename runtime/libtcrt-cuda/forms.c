/* Elementwise ops, casts, creation: everything becomes vectors of as many elements as the result.
 */
#include <stdio.h>

#include "runtime/libtcrt-cuda/eager.h"

typedef char key_text[TC_ONEOP_KEY];

static const char *text_of(tc_op op) { return tc_op_get(op)->text; }

tc_tensor *tc_form_run(const tc_op_call *o, bool *none) {
  tc_op op = o->c->op;
  switch (tc_op_get(op)->cls) {
  case TC_CLASS_EW:
    if (op == OP_CAST) return tc_form_cast(o);
    if (op == OP_TRIL || op == OP_TRIU) return tc_form_triangle(o);
    return tc_form_elementwise(o, none);
  case TC_CLASS_GEN:
    return tc_form_create(o, none);
  case TC_CLASS_INDEX:
  case TC_CLASS_SCATTER:
    return tc_form_indexed(o, none);
  case TC_CLASS_MATMUL:
    return tc_form_matmul(o);
  default:
    return tc_form_along(o, none);
  }
}

/* ---- elementwise ----------------------------------------------------------------------------- */

static bool is_mask(tc_op op, int i) { return tc_op_get(op)->mask >> i & 1; }

/* What the op computes in: the operands' common dtype, or the result's where that is floating. */
static tc_dtype compute_dtype(const tc_op_call *o) {
  const tc_eager_call *c = o->c;
  tc_type common = {.rank = 0};
  bool first = true;
  for (int i = 0; i < c->nin; i++) {
    if (is_mask(c->op, i)) continue;
    tc_dtype d = first ? (tc_dtype)c->type[i]->dtype : tc_promote(&common, c->type[i]);
    common.weak = (first || common.weak) && c->type[i]->weak;
    common.rank = common.rank > c->type[i]->rank ? common.rank : c->type[i]->rank;
    common.dtype = (uint8_t)d;
    first = false;
  }
  tc_dtype out = (tc_dtype)o->type.dtype;
  return tc_dtype_is_float(out) ? out : (tc_dtype)common.dtype;
}

/* A scalar in the class of the dtype. */
static tc_value scalar_for(const tc_tensor *x, tc_dtype dtype) {
  tc_value v = {.i = 0};
  bool floating = tc_dtype_is_float((tc_dtype)x->key.dtype);
  if (tc_dtype_is_float(dtype)) v.f = floating ? tc_item(x) : (double)tc_item_int(x);
  else v.i = floating ? tc_dtype_truncate(dtype, tc_item(x)) : tc_item_int(x);
  return v;
}

/* "vs": which operands are scalar arguments; all of them vectors where that has no entry. */
static bool find_form(const tc_op_call *o, tc_dtype d, char form[8], key_text key) {
  int n = o->c->nin;
  for (int scalars = 1; scalars >= 0; scalars--) {
    for (int i = 0; i < n; i++) form[i] = scalars && tc_is_scalar(o->c->in[i]) ? 's' : 'v';
    form[n] = 0;
    snprintf(key, TC_ONEOP_KEY, "%s.%s.%s", text_of(o->c->op), tc_dtype_text(d), form);
    if (tc_entry_find(key)) return true;
  }
  return false;
}

/* A scalar operand as a device tensor of one element. */
static tc_tensor *on_device(const tc_op_call *o, const tc_tensor *x, tc_dtype d) {
  tc_op_call one = *o;
  one.type = (tc_type){.dtype = (uint8_t)d};
  tc_tensor *y = tc_result_new(&one);
  return y && tc_copy_(y, x) ? y : NULL;
}

static tc_dense vector(const tc_op_call *o, const tc_tensor *x, tc_dtype d, int64_t n) {
  tc_dense failed = {.ok = false};
  if (tc_is_scalar(x) && !(x = on_device(o, x, d))) return failed;
  return tc_dense_of(x, d, &o->type, 1, &n);
}

tc_tensor *tc_form_elementwise(const tc_op_call *o, bool *none) {
  const tc_eager_call *c = o->c;
  tc_dtype d = compute_dtype(o);
  int64_t n = tc_type_count(&o->type);
  char form[8];
  key_text key;
  tc_dense dense[3];
  const tc_tensor *in[3];
  tc_value scalar[3];
  int vectors = 0, scalars = 0;
  bool ok = true;
  *none = c->nin > 3 || !find_form(o, d, form, key);
  if (*none) return NULL;
  if (n == 0) return tc_result_new(o);
  for (int i = 0; i < c->nin && ok; i++) {
    if (form[i] == 's') {
      scalar[scalars++] = scalar_for(c->in[i], d);
      continue;
    }
    dense[vectors] = vector(o, c->in[i], is_mask(c->op, i) ? TC_BOOL : d, n);
    in[vectors] = &dense[vectors].t;
    ok = dense[vectors++].ok;
  }
  tc_tensor *y = ok ? tc_entry_run(o, key, in, scalar) : NULL;
  tc_dense_free(dense, vectors);
  return y;
}

tc_tensor *tc_form_cast(const tc_op_call *o) {
  const tc_tensor *x = o->c->in[0];
  int64_t n = tc_type_count(&o->type);
  key_text key;
  if (n == 0) return tc_result_new(o);
  if (tc_is_scalar(x)) return on_device(o, x, (tc_dtype)o->type.dtype);
  if (x->key.dtype == o->type.dtype) return tc_clone(x);
  snprintf(key, sizeof key, "cast.%s.%s", tc_dtype_text((tc_dtype)x->key.dtype),
           tc_dtype_text((tc_dtype)o->type.dtype));
  tc_dense dense = tc_dense_of(x, (tc_dtype)x->key.dtype, NULL, 1, &n);
  tc_tensor *y = dense.ok ? tc_entry_run(o, key, (const tc_tensor *[]){&dense.t}, NULL) : NULL;
  tc_dense_free(&dense, 1);
  return y;
}

/* ---- creation -------------------------------------------------------------------------------- */

/* 0 .. n-1 along one of two axes, as i64. */
static tc_tensor *counting(const tc_op_call *o, int64_t n, bool row) {
  tc_number zero, one;
  tc_number_f(&zero, 0);
  tc_number_f(&one, 1);
  const tc_tensor *in[] = {&zero.t, &one.t};
  tc_tensor *x = tc_op_on(o, OP_ARANGE, 2, in, 2, (int64_t[]){n, TC_I64});
  return x ? tc_reshape(x, row ? TC_DIMS(1, n) : TC_DIMS(n, 1)) : NULL;
}

/* column - row of an n x m matrix. */
static tc_tensor *diagonals(const tc_op_call *o, int64_t n, int64_t m) {
  const tc_tensor *in[] = {counting(o, m, true), counting(o, n, false)};
  return tc_op_on(o, OP_SUB, 2, in, 0, NULL);
}

tc_tensor *tc_form_triangle(const tc_op_call *o) {
  const tc_tensor *x = o->c->in[0];
  int rank = x->key.rank;
  tc_number k, zero;
  tc_number_i(&k, tc_arg(o->c, 0));
  tc_number_f(&zero, 0);
  tc_op keeps = o->c->op == OP_TRIL ? OP_LE : OP_GE;
  if (tc_type_count(&o->type) == 0) return tc_result_new(o);
  const tc_tensor *test[] = {diagonals(o, x->dim[rank - 2], x->dim[rank - 1]), &k.t};
  tc_tensor *mask = tc_op_on(o, keeps, 2, test, 0, NULL);
  tc_tensor *nothing = mask ? on_device(o, &zero.t, (tc_dtype)x->key.dtype) : NULL;
  const tc_tensor *choice[] = {mask, x, nothing};
  return tc_op_on(o, OP_WHERE, 3, choice, 0, NULL);
}

static tc_tensor *eye(const tc_op_call *o) {
  tc_number zero;
  tc_number_i(&zero, 0);
  const tc_tensor *in[] = {diagonals(o, tc_dim_value(o->type.dim[0]), tc_dim_value(o->type.dim[1])),
                           &zero.t};
  const tc_tensor *mask = tc_op_on(o, OP_EQ, 2, in, 0, NULL);
  return tc_op_on(o, OP_CAST, 1, &mask, 1, (int64_t[]){o->type.dtype});
}

tc_tensor *tc_form_create(const tc_op_call *o, bool *none) {
  const tc_eager_call *c = o->c;
  tc_dtype d = (tc_dtype)o->type.dtype;
  key_text key;
  tc_value scalar[2];
  *none = false;
  if (tc_type_count(&o->type) == 0) return tc_result_new(o);
  if (c->op == OP_EYE) return eye(o);
  bool random = c->op == OP_RAND || c->op == OP_RANDN;
  for (int i = 0; i < c->nin; i++) {
    if (!tc_is_scalar(c->in[i])) { /* a value that is on the device */
      tc_tensor *y = tc_result_new(o);
      return y && tc_copy_(y, c->in[i]) ? y : NULL;
    }
    scalar[i] = scalar_for(c->in[i], random ? TC_I64 : c->op == OP_ARANGE ? TC_F64 : d);
  }
  tc_tensor like = {.key = {.device = TC_CUDA}, .device_index = (int)c->device >> 8};
  tc_type flat = {.dtype = (uint8_t)d, .rank = 1};
  flat.dim[0] = tc_dim_const(tc_type_count(&o->type));
  tc_result_shape(&like, &flat);
  like.data = &like; /* only its size is looked at */
  snprintf(key, sizeof key, "%s.%s.g", text_of(c->op), tc_dtype_text(d));
  return tc_entry_run(o, key, (const tc_tensor *[]){&like}, scalar);
}

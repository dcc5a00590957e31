/* Views: the result's strides and first element; memory is shared. */
#include "runtime/libtcrt/src/eager/eager.h"

static void permute(const tc_eager_call *c, const tc_tensor *x, tc_tensor *y) {
  for (int i = 0; i < y->key.rank; i++)
    y->stride[i] = x->stride[tc_arg_axis(c, 1 + i, x->key.rank)];
}

static void transpose(const tc_eager_call *c, const tc_tensor *x, tc_tensor *y) {
  int a = tc_arg_axis(c, 0, x->key.rank), b = tc_arg_axis(c, 1, x->key.rank);
  for (int i = 0; i < y->key.rank; i++) y->stride[i] = x->stride[i == a ? b : i == b ? a : i];
}

static void expand(const tc_tensor *x, tc_tensor *y) {
  int lead = y->key.rank - x->key.rank;
  for (int i = 0; i < y->key.rank; i++)
    y->stride[i] = i < lead || x->dim[i - lead] != y->dim[i] ? 0 : x->stride[i - lead];
}

static int64_t flip(const tc_eager_call *c, const tc_tensor *x, tc_tensor *y) {
  int64_t offset = 0;
  int n = (int)tc_arg(c, 0), all = n == 0 ? x->key.rank : 0; /* an empty list: every axis */
  for (int i = 0; i < x->key.rank; i++) y->stride[i] = x->stride[i];
  for (int k = 0; k < n + all; k++) {
    int axis = all ? k : tc_arg_axis(c, 1 + k, x->key.rank);
    if (x->dim[axis] > 0) offset += x->stride[axis] * (x->dim[axis] - 1);
    y->stride[axis] = -x->stride[axis];
  }
  return offset;
}

/* An empty slice begins nowhere: its address stays that of x. */
static int64_t slice(const tc_eager_call *c, const tc_tensor *x, tc_tensor *y) {
  int axis = tc_arg_axis(c, 0, x->key.rank);
  tc_dim first = tc_dim_const(0), length = first, size = tc_dim_const(x->dim[axis]);
  tc_slice_bounds(NULL, size, c->attr[1], c->attr[2], tc_arg(c, 3), &first, &length);
  for (int i = 0; i < x->key.rank; i++) y->stride[i] = x->stride[i];
  int64_t stride = 0;
  if (!__builtin_mul_overflow(x->stride[axis], tc_arg(c, 3), &stride)) y->stride[axis] = stride;
  if (y->dim[axis] < 2) y->stride[axis] = x->stride[axis]; /* never taken: keep it harmless */
  return y->dim[axis] > 0 ? tc_dim_value(first) * x->stride[axis] : 0;
}

static void unfold(const tc_eager_call *c, const tc_tensor *x, tc_tensor *y) {
  const int axis = tc_arg_axis(c, 0, x->key.rank);
  for (int i = 0; i < x->key.rank; i++) y->stride[i] = x->stride[i];
  y->stride[x->key.rank] = x->stride[axis];
  if (y->dim[axis] > 1) y->stride[axis] *= tc_arg(c, 2); /* else never taken */
}

static int64_t select(const tc_eager_call *c, const tc_tensor *x, tc_tensor *y) {
  int axis = tc_arg_axis(c, 0, x->key.rank);
  int64_t index = tc_arg(c, 1);
  for (int i = 0; i < y->key.rank; i++) y->stride[i] = x->stride[i < axis ? i : i + 1];
  return (index < 0 ? index + x->dim[axis] : index) * x->stride[axis];
}

/* Strides that give x's elements in row-major order under y's sizes.  Walks both shapes by groups
 * of equal size; a group of x must be evenly spaced.  false: x has to be copied. */
static bool reshape_strides(const tc_tensor *x, tc_tensor *y) {
  tc_seq s = tc_seq_of(x); /* evenly spaced axes are merged, sizes of 1 gone */
  int i = s.rank - 1;
  int64_t left = s.dim[i],
          stride = s.stride[i]; /* not yet covered of axis i, and its step so far */
  for (int k = y->key.rank - 1; k >= 0; k--) {
    if (y->dim[k] == 1) continue;
    if (left == 1 && i > 0) {
      i--;
      left = s.dim[i];
      stride = s.stride[i];
    }
    if (left % y->dim[k]) return false;
    y->stride[k] = stride;
    stride *= y->dim[k];
    left /= y->dim[k];
  }
  return true;
}

static bool reshape(const tc_tensor *x, tc_tensor *y) {
  if (x->key.flags & TC_FLAG_CONTIGUOUS || reshape_strides(x, y)) {
    tc_tensor_share(y, x, 0);
    return true;
  }
  tc_set_row_major(y);
  if (!tc_tensor_alloc(y)) return false;
  return tc_pack(x, y->data);
}

bool tc_eager_view(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  tc_tensor *y = c->out;
  int64_t offset = 0;
  switch (c->op) {
  case OP_PERMUTE:
    permute(c, x, y);
    break;
  case OP_TRANSPOSE:
    transpose(c, x, y);
    break;
  case OP_EXPAND:
    expand(x, y);
    break;
  case OP_FLIP:
    offset = flip(c, x, y);
    break;
  case OP_SLICE:
    offset = slice(c, x, y);
    break;
  case OP_UNFOLD:
    unfold(c, x, y);
    break;
  case OP_SELECT:
    offset = select(c, x, y);
    break;
  default:
    return reshape(x, y); /* reshape, flatten, squeeze, unsqueeze */
  }
  tc_tensor_share(y, x, offset);
  return true;
}

tc_tensor *tcrt_view_or_copy(const tc_tensor *x, tc_tensor *copy, bool contiguous) {
  tc_tensor probe = *copy, *view = NULL;
  const bool row_major = x && x->key.flags & TC_FLAG_CONTIGUOUS;
  const bool shares = row_major || (x && !contiguous && reshape_strides(x, &probe));
  if (x && !shares) return copy;
  tc_ints dims = {.n = copy->key.rank};
  for (int i = 0; i < dims.n; i++) dims.v[i] = copy->dim[i];
  if (x) view = tc_reshape(x, dims);
  tc_free(copy);
  return view;
}

bool tc_eager_contiguous(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  if (x->key.flags & TC_FLAG_CONTIGUOUS) {
    tc_tensor_share(c->out, x, 0);
    return true;
  }
  if (!tc_tensor_alloc(c->out)) return false;
  return tc_pack(x, c->out->data);
}

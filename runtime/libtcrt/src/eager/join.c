/* Joining and moving: pieces of the result are views of it that operands are copied into. */
#include "runtime/libtcrt/src/eager/eager.h"

/* Elements first .. first+length-1 of one axis. */
static tc_tensor part(const tc_tensor *x, int axis, int64_t first, int64_t length) {
  tc_tensor t = tc_alias(x);
  t.dim[axis] = length;
  t.data = (char *)x->data + first * x->stride[axis] * (int64_t)tc_dtype_bytes(x->key.dtype);
  return t;
}

bool tc_eager_concat(tc_eager_call *c) {
  int axis = tc_arg_axis(c, 0, c->out->key.rank);
  int64_t at = 0;
  for (int i = 0; i < c->nin; i++) {
    int64_t length = c->in[i]->dim[axis];
    tc_tensor piece = part(c->out, axis, at, length);
    if (!tc_assign(&piece, c->in[i])) return false;
    at += length;
  }
  return true;
}

bool tc_eager_stack(tc_eager_call *c) {
  int axis = tc_arg_axis(c, 0, c->out->key.rank);
  for (int i = 0; i < c->nin; i++) {
    tc_tensor piece = part(c->out, axis, i, 1);
    for (int k = axis; k + 1 < piece.key.rank; k++) {
      piece.dim[k] = piece.dim[k + 1];
      piece.stride[k] = piece.stride[k + 1];
    }
    piece.key.rank--;
    if (!tc_assign(&piece, c->in[i])) return false;
  }
  return true;
}

bool tc_eager_pad(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  tc_tensor inner = tc_alias(c->out);
  for (int i = 0; i < x->key.rank; i++) inner = part(&inner, i, tc_arg(c, 1 + i), x->dim[i]);
  return tc_assign(c->out, c->in[1]) && tc_assign(&inner, x);
}

/* x as a shape of twice the rank, (times, size) for each axis: times has stride 0. */
bool tc_eager_repeat(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  int n = (int)tc_arg(c, 0), lead = n - x->key.rank;
  int64_t dim[TC_SEQ_RANK], stride[TC_SEQ_RANK], total = tc_elements(c->out);
  for (int i = 0; i < n; i++) {
    dim[2 * i] = tc_arg(c, 1 + i);
    dim[2 * i + 1] = i < lead ? 1 : x->dim[i - lead];
    stride[2 * i] = 0;
    stride[2 * i + 1] = i < lead ? 0 : x->stride[i - lead];
  }
  tc_seq s = tc_seq_make(x, 2 * n, dim, stride), d = tc_seq_of(c->out);
  tc_assign_seq(&d, &s, total);
  return true;
}

/* The last `shift` elements of the axis come first. */
bool tc_eager_roll(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  int axis = tc_arg_axis(c, 1, x->key.rank);
  int64_t size = x->dim[axis], shift = size ? tc_arg(c, 0) % size : 0;
  if (shift < 0) shift += size;
  tc_tensor head = part(c->out, axis, 0, shift), tail = part(c->out, axis, shift, size - shift);
  tc_tensor last = part(x, axis, size - shift, shift), rest = part(x, axis, 0, size - shift);
  return tc_assign(&head, &last) && tc_assign(&tail, &rest);
}

/* tril keeps column j of row i where j - i <= k, triu where j - i >= k; the rest is 0.  Each row is
 * a copied range of columns. */
bool tc_eager_tri(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  int rank = x->key.rank;
  int64_t rows = x->dim[rank - 2], cols = x->dim[rank - 1], k = tc_arg(c, 0);
  tc_assign_f(c->out, 0);
  for (int64_t i = 0; i < rows; i++) {
    int64_t border = c->op == OP_TRIL ? i + k + 1 : i + k; /* first column dropped, or kept */
    border = border < 0 ? 0 : border > cols ? cols : border;
    int64_t first = c->op == OP_TRIL ? 0 : border,
            length = c->op == OP_TRIL ? border : cols - border;
    tc_tensor from = part(x, rank - 2, i, 1), to = part(c->out, rank - 2, i, 1);
    from = part(&from, rank - 1, first, length);
    to = part(&to, rank - 1, first, length);
    tc_assign(&to, &from);
  }
  return true;
}

/* x with `src` at first[i] + step[i] j along each axis. */
bool tc_eager_put(tc_eager_call *c) {
  const tc_tensor *src = c->in[1];
  const int rank = c->out->key.rank;
  tc_tensor at = tc_alias(c->out);
  for (int i = 0; i < rank; i++) {
    at = part(&at, i, src->dim[i] ? tc_arg(c, 1 + i) : 0, src->dim[i]);
    at.stride[i] *= tc_arg(c, 2 + rank + i);
  }
  return tc_assign(c->out, c->in[0]) && tc_assign(&at, src);
}

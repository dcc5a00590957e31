/* interp_shape.c - views, joins, and indexing by data: where each element of the result comes from.
 */
#include "tests/common/interp_impl.h"

#include <string.h>

/* ---- views: the source index of a result index ----------------------------------------------- */

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

/* Python's reading of a slice's start: negative counts from the end, then clamps. */
static int64_t slice_start(interp_node *e, int64_t size) {
  int64_t start = interp_attr(e, "start"), step = interp_attr(e, "step");
  if (start < 0 && start > INT64_MIN / 4 + 1) start += size;
  return step > 0 ? clamp(start, 0, size) : clamp(start, -1, size - 1);
}

static void permuted(interp_node *e, const int64_t *index, int64_t *from) {
  int64_t axes[TC_MAX_RANK];
  int n = interp_list(e, "axes", axes);
  for (int i = 0; i < n; i++) from[interp_axis(axes[i], n)] = index[i];
}

static void flipped(interp_node *e, int64_t *from) {
  int64_t axes[TC_MAX_RANK];
  int n = interp_list(e, "axes", axes), all = n ? n : e->in[0]->rank;
  for (int i = 0; i < all; i++) {
    int a = n ? interp_axis(axes[i], e->in[0]->rank) : i;
    from[a] = e->in[0]->dim[a] - 1 - from[a];
  }
}

static void transposed(interp_node *e, int64_t *from) {
  int rank = e->in[0]->rank;
  int a = interp_axis(interp_attr(e, "a"), rank), b = interp_axis(interp_attr(e, "b"), rank);
  int64_t t = from[a];
  from[a] = from[b], from[b] = t;
}

static void selected(interp_node *e, const int64_t *index, int64_t *from) {
  const interp_array *x = e->in[0];
  int axis = interp_axis(interp_attr(e, "axis"), x->rank);
  int64_t at = interp_attr(e, "index");
  for (int i = 0, j = 0; i < x->rank; i++)
    from[i] = i == axis ? (at < 0 ? at + x->dim[i] : at) : index[j++];
}

/* Flat position in the operand. */
static int64_t view_source(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *x = e->in[0];
  int64_t from[TC_MAX_RANK];
  memcpy(from, index, sizeof from);
  switch (e->n->op) {
  case OP_PERMUTE:
    permuted(e, index, from);
    break;
  case OP_EXPAND:
    return interp_at(x, index, e->out->rank);
  case OP_FLIP:
    flipped(e, from);
    break;
  case OP_TRANSPOSE:
    transposed(e, from);
    break;
  case OP_SELECT:
    selected(e, index, from);
    break;
  case OP_UNFOLD:
    from[interp_axis(interp_attr(e, "axis"), x->rank)] *= interp_attr(e, "step");
    from[interp_axis(interp_attr(e, "axis"), x->rank)] += index[x->rank];
    break;
  case OP_SLICE: {
    int a = interp_axis(interp_attr(e, "axis"), x->rank);
    from[a] = slice_start(e, x->dim[a]) + index[a] * interp_attr(e, "step");
    break;
  }
  default:
    return k; /* reshapes keep row-major order */
  }
  return interp_flat(from, x->rank, x->dim);
}

bool interp_view(interp_node *e) {
  int64_t index[TC_MAX_RANK] = {0}, k = 0;
  if (interp_empty(e->out)) return true;
  do {
    int64_t from = view_source(e, index, k);
    if (from < 0 || from >= e->in[0]->count) return interp_fail(e, "reads outside its operand");
    interp_copy(e->out, k++, e->in[0], from);
  } while (interp_next(index, e->out->rank, e->out->dim));
  return true;
}

/* ---- joins ----------------------------------------------------------------------------------- */

static void concat_element(interp_node *e, const int64_t *index, int64_t k) {
  int axis = interp_axis(interp_attr(e, "axis"), e->out->rank), i = 0;
  int64_t from[TC_MAX_RANK];
  memcpy(from, index, sizeof from);
  for (; from[axis] >= e->in[i]->dim[axis]; i++) from[axis] -= e->in[i]->dim[axis];
  interp_copy(e->out, k, e->in[i], interp_flat(from, e->out->rank, e->in[i]->dim));
}

static void stack_element(interp_node *e, const int64_t *index, int64_t k) {
  int axis = interp_axis(interp_attr(e, "axis"), e->out->rank);
  int64_t from[TC_MAX_RANK];
  for (int i = 0, j = 0; i < e->out->rank; i++)
    if (i != axis) from[j++] = index[i];
  const interp_array *x = e->in[index[axis]];
  interp_copy(e->out, k, x, interp_flat(from, x->rank, x->dim));
}

static void pad_element(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *x = e->in[0];
  int64_t before[TC_MAX_RANK], from[TC_MAX_RANK];
  bool inside = true;
  interp_list(e, "before", before);
  for (int i = 0; i < x->rank; i++) {
    from[i] = index[i] - before[i];
    inside &= from[i] >= 0 && from[i] < x->dim[i];
  }
  if (inside) interp_copy(e->out, k, x, interp_flat(from, x->rank, x->dim));
  else interp_copy(e->out, k, e->in[1], 0);
}

static void put_element(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *x = e->in[0], *part = e->in[1];
  int64_t first[TC_MAX_RANK], step[TC_MAX_RANK], from[TC_MAX_RANK];
  bool inside = true;
  interp_list(e, "first", first);
  interp_list(e, "step", step);
  for (int i = 0; i < x->rank; i++) {
    int64_t by = index[i] - first[i];
    from[i] = by / step[i];
    inside &= by >= 0 && by % step[i] == 0 && from[i] < part->dim[i];
  }
  if (inside) interp_copy(e->out, k, part, interp_flat(from, part->rank, part->dim));
  else interp_copy(e->out, k, x, interp_flat(index, x->rank, x->dim));
}

static void repeat_element(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *x = e->in[0];
  int64_t from[TC_MAX_RANK];
  for (int i = 0; i < x->rank; i++) from[i] = index[e->out->rank - x->rank + i] % x->dim[i];
  interp_copy(e->out, k, x, interp_flat(from, x->rank, x->dim));
}

static void roll_element(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *x = e->in[0];
  int axis = interp_axis(interp_attr(e, "axis"), x->rank);
  int64_t from[TC_MAX_RANK];
  memcpy(from, index, sizeof from);
  int64_t n = x->dim[axis], at = (index[axis] - interp_attr(e, "shift")) % n;
  from[axis] = at < 0 ? at + n : at;
  interp_copy(e->out, k, x, interp_flat(from, x->rank, x->dim));
}

bool interp_join(interp_node *e) {
  int64_t index[TC_MAX_RANK] = {0}, k = 0;
  if (interp_empty(e->out)) return true;
  do {
    switch (e->n->op) {
    case OP_CONCAT:
      concat_element(e, index, k);
      break;
    case OP_STACK:
      stack_element(e, index, k);
      break;
    case OP_PAD:
      pad_element(e, index, k);
      break;
    case OP_PUT:
      put_element(e, index, k);
      break;
    case OP_REPEAT:
      repeat_element(e, index, k);
      break;
    default:
      roll_element(e, index, k);
      break;
    }
    k++;
  } while (interp_next(index, e->out->rank, e->out->dim));
  return true;
}

/* ---- indexing by data ------------------------------------------------------------------------ */

static bool in_range(interp_node *e, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return true;
  return interp_fail(e, "index %lld is outside [0,%lld)", (long long)at, (long long)size);
}

/* x with index[axis] replaced by the value of the index array */
static bool gather_element(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *x = e->in[0], *by = e->in[1];
  int axis = interp_axis(interp_attr(e, "axis"), x->rank);
  int64_t from[TC_MAX_RANK];
  memcpy(from, index, sizeof from);
  from[axis] = interp_int(by, e->n->op == OP_GATHER ? k : index[axis]);
  if (!in_range(e, from[axis], x->dim[axis])) return false;
  interp_copy(e->out, k, x, interp_flat(from, x->rank, x->dim));
  return true;
}

static bool embedding_element(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *w = e->in[0], *by = e->in[1];
  int64_t row = interp_int(by, interp_flat(index, by->rank, by->dim));
  if (!in_range(e, row, w->dim[0])) return false;
  interp_copy(e->out, k, w, row * w->dim[1] + index[by->rank]);
  return true;
}

static bool one_hot_element(interp_node *e, const int64_t *index, int64_t k) {
  const interp_array *by = e->in[0];
  int64_t at = interp_int(by, interp_flat(index, by->rank, by->dim));
  if (!in_range(e, at, e->out->dim[by->rank])) return false;
  e->out->i[k] = at == index[by->rank];
  return true;
}

static void add_element(interp_array *y, int64_t k, const interp_array *x, int64_t j) {
  if (y->f) y->f[k] += interp_get(x, j);
  else y->i[k] = tc_dtype_wrap(y->dtype, (int64_t)((uint64_t)y->i[k] + (uint64_t)interp_int(x, j)));
}

static bool scatter(interp_node *e) {
  const interp_array *x = e->in[0], *by = e->in[1], *src = e->in[2];
  int axis = interp_axis(interp_attr(e, "axis"), x->rank);
  int64_t index[TC_MAX_RANK] = {0}, to[TC_MAX_RANK], k = 0;
  for (int64_t j = 0; j < x->count; j++) interp_copy(e->out, j, x, j);
  if (interp_empty(by)) return true;
  do {
    memcpy(to, index, sizeof to);
    to[axis] = interp_int(by, k++);
    if (!in_range(e, to[axis], x->dim[axis])) return false;
    int64_t at = interp_flat(to, x->rank, x->dim), from = interp_flat(index, src->rank, src->dim);
    if (e->n->op == OP_SCATTER) interp_copy(e->out, at, src, from);
    else add_element(e->out, at, src, from);
  } while (interp_next(index, by->rank, by->dim));
  return true;
}

bool interp_index(interp_node *e) {
  int64_t index[TC_MAX_RANK] = {0}, k = 0;
  bool ok = true;
  if (e->n->op == OP_SCATTER || e->n->op == OP_SCATTER_ADD) return scatter(e);
  if (interp_empty(e->out)) return true;
  do {
    if (e->n->op == OP_EMBEDDING) ok = embedding_element(e, index, k);
    else if (e->n->op == OP_ONE_HOT) ok = one_hot_element(e, index, k);
    else ok = gather_element(e, index, k);
    k++;
  } while (ok && interp_next(index, e->out->rank, e->out->dim));
  return ok;
}

/* operand.c - where an operand is read when a node is computed at an index. */
#include "lower/lowering.h"

#include <string.h>

int lo_axis_attr(const tc_node *n, int rank) {
  int64_t a = tc_dim_value(tc_attr_int(n, "axis"));
  return (int)(a < 0 ? a + rank : a);
}

uint32_t lo_reduced_dims(const tc_node *n, int rank) {
  const tc_dim *axes;
  int count = tc_attr_list(n, "axes", &axes);
  uint32_t m = count ? 0 : (1u << rank) - 1;
  for (int i = 0; i < count; i++) {
    int64_t a = tc_dim_value(axes[i]);
    m |= 1u << (a < 0 ? a + rank : a);
  }
  return m;
}

static lo_index draft(int rank) {
  lo_index d;
  memset(&d, 0, sizeof d);
  d.rank = (uint32_t)rank;
  return d;
}

/* Dimensions aligned at the right; size 1 repeats.  An axis that has one element on both sides
 * keeps its index, which data may have decided: it is checked where the element is read. */
static const lo_index *broadcast(lo *L, const tc_type *to, const tc_type *from,
                                 const lo_index *at) {
  if (at->flat) {
    bool scalar = true, same = from->rank == to->rank;
    for (int i = 0; i < from->rank; i++) {
      scalar &= tc_dim_is(from->dim[i], 1);
      same = same && tc_dim_same(from->dim[i], to->dim[i]);
    }
    if (same) return at;
    if (!scalar) return NULL;
    lo_index zero = draft(from->rank);
    return lo_intern(L, &zero);
  }
  lo_index d = draft(from->rank);
  int shift = to->rank - from->rank;
  for (int i = 0; i < from->rank; i++)
    if (!tc_dim_is(from->dim[i], 1) || tc_dim_is(to->dim[i + shift], 1))
      d.dim[i] = at->dim[i + shift];
  return lo_intern(L, &d);
}

/* Each source dimension is the row-major merge of a run of result dimensions: affine. */
static bool merge_runs(lo *L, const tc_type *to, const tc_type *from, const lo_index *at,
                       lo_index *d) {
  int j = 0;
  for (int i = 0; i < from->rank; i++) {
    if (tc_dim_is(from->dim[i], 1)) continue;
    tc_dim run = tc_dim_const(1);
    for (; !tc_dim_same(run, from->dim[i]); j++) {
      if (j == to->rank) return false;
      lo_lin before = d->dim[i];
      memset(&d->dim[i], 0, sizeof before);
      if (!lo_lin_add(L, &d->dim[i], &before, to->dim[j])) return false;
      if (!lo_lin_add(L, &d->dim[i], &at->dim[j], tc_dim_const(1))) return false;
      run = tc_dim_mul(L->dims, run, to->dim[j]);
    }
  }
  for (; j < to->rank; j++)
    if (!tc_dim_is(to->dim[j], 1)) return false;
  return true;
}

static const lo_index *reshape(lo *L, const lo_group *g, const tc_type *to, const tc_type *from,
                               const lo_index *at) {
  lo_index d = draft(from->rank);
  if (!at->flat && merge_runs(L, to, from, at, &d)) return lo_intern(L, &d);
  lo_lin flat;
  return lo_flatten(L, at, to, &flat) ? lo_unflatten(L, g, &flat, from) : NULL;
}

static const lo_index *permute(lo *L, const tc_node *n, const lo_index *at) {
  const tc_dim *axes;
  int count = tc_attr_list(n, "axes", &axes);
  lo_index d = draft(count);
  for (int i = 0; i < count; i++) {
    int64_t a = tc_dim_value(axes[i]);
    d.dim[a < 0 ? a + count : a] = at->dim[i];
  }
  return lo_intern(L, &d);
}

/* start + step * i */
static const lo_index *slice(lo *L, const tc_node *n, const lo_index *at) {
  lo_index d = draft((int)at->rank);
  int axis = lo_axis_attr(n, (int)at->rank);
  memcpy(d.dim, at->dim, at->rank * sizeof *d.dim);
  memset(&d.dim[axis], 0, sizeof d.dim[axis]);
  tc_dim size = tc_graph_type(L->g, n->in[0])->dim[axis], step = tc_attr_int(n, "step");
  tc_dim first, length;
  if (tc_dim_is(size, 1)) return lo_intern(L, &d);
  if (!tc_slice_bounds(L->dims, size, tc_attr_int(n, "start"), tc_attr_int(n, "stop"),
                       tc_dim_value(step), &first, &length))
    return NULL;
  lo_lin_add(L, &d.dim[axis], &at->dim[axis], step);
  d.dim[axis].offset = tc_dim_add(L->dims, d.dim[axis].offset, first);
  return lo_intern(L, &d);
}

/* step * i + j: element j of window i */
static const lo_index *unfold(lo *L, const tc_node *n, const lo_index *at) {
  const int rank = (int)at->rank - 1, axis = lo_axis_attr(n, rank);
  lo_index d = draft(rank);
  memcpy(d.dim, at->dim, rank * sizeof *d.dim);
  memset(&d.dim[axis], 0, sizeof d.dim[axis]);
  if (!lo_lin_add(L, &d.dim[axis], &at->dim[axis], tc_attr_int(n, "step")) ||
      !lo_lin_add(L, &d.dim[axis], &at->dim[rank], tc_dim_const(1)))
    return NULL;
  return lo_intern(L, &d);
}

/* size - 1 - i */
static const lo_index *flip(lo *L, const tc_node *n, const lo_index *at) {
  const tc_dim *axes;
  int count = tc_attr_list(n, "axes", &axes);
  lo_index d = draft((int)at->rank);
  memcpy(d.dim, at->dim, at->rank * sizeof *d.dim);
  for (int i = 0; i < count; i++) {
    int64_t a = tc_dim_value(axes[i]);
    if (a < 0) a += at->rank;
    if (tc_dim_is(n->type.dim[a], 1)) continue;
    memset(&d.dim[a], 0, sizeof d.dim[a]);
    lo_lin_add(L, &d.dim[a], &at->dim[a], tc_dim_const(-1));
    d.dim[a].offset = tc_dim_add(L->dims, d.dim[a].offset,
                                 tc_dim_sub(L->dims, n->type.dim[a], tc_dim_const(1)));
  }
  return lo_intern(L, &d);
}

static bool reads_term(const lo_index *x, const lo_term *term) {
  for (uint32_t i = 0; i < x->rank; i++)
    for (uint64_t t = 0; t < x->dim[i].nterm; t++)
      if (x->dim[i].term[t].node == term->node && x->dim[i].term[t].at == term->at) return true;
  return false;
}

/* `shown` with the data-dependent parts of `at` that it lost, because the axis repeats or has one
 * element: times 0, so that they are checked.  NULL: there is no room for them. */
static const lo_index *keep_terms(lo *L, const lo_index *at, const lo_index *shown) {
  if (!shown || !at->terms) return shown;
  lo_index d = draft((int)shown->rank);
  bool lost = false;
  d.flat = shown->flat;
  memcpy(d.dim, shown->dim, shown->rank * sizeof *d.dim);
  for (uint32_t i = 0; i < at->rank; i++)
    for (uint64_t t = 0; t < at->dim[i].nterm; t++) {
      if (reads_term(shown, &at->dim[i].term[t])) continue;
      lo_lin part = {.nterm = 1, .term = {at->dim[i].term[t]}};
      if (!d.rank || !lo_lin_add(L, &d.dim[0], &part, tc_dim_const(0))) return NULL;
      lost = true;
    }
  return lost ? lo_intern(L, &d) : shown;
}

static const lo_index *view(lo *L, const lo_group *g, const tc_node *n, const lo_index *at) {
  const tc_type *from = tc_graph_type(L->g, n->in[0]);
  if (n->op == OP_RESHAPE) return keep_terms(L, at, reshape(L, g, &n->type, from, at));
  if (n->op == OP_EXPAND) return keep_terms(L, at, broadcast(L, &n->type, from, at));
  if (at->flat) return NULL;
  if (n->op == OP_PERMUTE) return permute(L, n, at);
  if (n->op == OP_SLICE) return keep_terms(L, at, slice(L, n, at));
  if (n->op == OP_UNFOLD) return unfold(L, n, at);
  return n->op == OP_FLIP ? flip(L, n, at) : NULL;
}

/* Of the value of the edges, or of the element, which may be outside of the operand. */
static const lo_index *pad(lo *L, const tc_node *n, int k, const lo_index *at) {
  const tc_dim *before;
  lo_index d = draft((int)at->rank);
  if (k) return lo_zero_index(L, tc_graph_type(L->g, n->in[1]));
  tc_attr_list(n, "before", &before);
  memcpy(d.dim, at->dim, at->rank * sizeof *d.dim);
  for (uint32_t i = 0; i < at->rank; i++)
    d.dim[i].offset = tc_dim_sub(L->dims, d.dim[i].offset, before[i]);
  return lo_intern(L, &d);
}

/* Of operand k of a concatenation, which stands behind those in front of it.  The one element of an
 * axis is element 0. */
static const lo_index *piece(lo *L, const tc_node *n, int k, const lo_index *at) {
  const int axis = lo_axis_attr(n, n->type.rank);
  const tc_type *t = tc_graph_type(L->g, n->in[k]);
  lo_index d = draft((int)at->rank);
  memcpy(d.dim, at->dim, at->rank * sizeof *d.dim);
  for (int i = 0; i < k; i++)
    d.dim[axis].offset =
        tc_dim_sub(L->dims, d.dim[axis].offset, tc_graph_type(L->g, n->in[i])->dim[axis]);
  if (tc_dim_is(t->dim[axis], 1)) memset(&d.dim[axis], 0, sizeof d.dim[axis]);
  return lo_intern(L, &d);
}

static lo_lin term_lin(tc_ref node, const lo_index *at, tc_dim bound) {
  lo_lin l;
  memset(&l, 0, sizeof l);
  l.nterm = 1;
  l.term[0] = (lo_term){node.id, at, tc_dim_const(1), bound};
  return l;
}

const lo_index *lo_trailing(lo *L, const lo_group *g, const tc_type *t, const lo_index *at,
                            int last) {
  tc_type merged = *t;
  merged.rank = (uint8_t)(last + 1);
  merged.dim[0] = lo_product(L, t->dim, t->rank - last);
  for (int i = 1; i <= last; i++) merged.dim[i] = t->dim[t->rank - last + i - 1];
  return lo_unflatten(L, g, &at->dim[0], &merged);
}

/* NULL: with more data-dependent parts than an address has, what is indexed becomes an array. */
static const lo_index *intern_terms(lo *L, lo_index *d) {
  uint64_t terms = 0;
  for (uint32_t i = 0; i < d->rank; i++) terms += d->dim[i].nterm;
  return terms > LO_TERMS ? NULL : lo_intern(L, d);
}

/* An element that is known by its number: the index operand's is the number of what stands in front
 * of the classes of a ONE_HOT, or of the row of an EMBEDDING. */
static const lo_index *indexed_by_number(lo *L, const lo_group *g, const tc_node *n, int k,
                                         const lo_index *at) {
  if (n->op != OP_ONE_HOT && n->op != OP_EMBEDDING) return NULL;
  const tc_type *of = tc_graph_type(L->g, n->in[n->op == OP_ONE_HOT ? 0 : 1]);
  const lo_index *parts = lo_trailing(L, g, &n->type, at, n->type.rank - of->rank);
  if (parts->flat) return NULL;
  const lo_index *index = lo_unflatten(L, g, &parts->dim[0], of);
  if (k == 1 || n->op == OP_ONE_HOT) return index;
  lo_index d = draft((int)parts->rank);
  memcpy(d.dim, parts->dim, parts->rank * sizeof *d.dim);
  d.dim[0] = term_lin(n->in[1], index, tc_graph_type(L->g, n->in[0])->dim[0]);
  return intern_terms(L, &d);
}

/* The index operand's own index. */
static const lo_index *of_index(lo *L, const tc_node *n, const lo_index *at) {
  if (n->op == OP_GATHER) return at;
  int rank = tc_graph_type(L->g, n->in[n->op == OP_ONE_HOT ? 0 : 1])->rank;
  lo_index d = draft(rank);
  int first = n->op == OP_INDEX_SELECT ? lo_axis_attr(n, n->type.rank) : 0;
  for (int i = 0; i < rank; i++) d.dim[i] = at->dim[first + i];
  return lo_intern(L, &d);
}

static const lo_index *indexed(lo *L, const lo_group *g, const tc_node *n, int k,
                               const lo_index *at) {
  if (at->flat) return indexed_by_number(L, g, n, k, at);
  const lo_index *index = of_index(L, n, at);
  if (k == 1 || n->op == OP_ONE_HOT) return index;
  const tc_type *from = tc_graph_type(L->g, n->in[0]);
  lo_index d = draft(from->rank);
  int axis = n->op == OP_EMBEDDING ? 0 : lo_axis_attr(n, from->rank);
  int shift = n->op == OP_EMBEDDING ? (int)at->rank - from->rank : 0;
  for (int i = 0; i < from->rank; i++)
    d.dim[i] = i == axis ? term_lin(n->in[1], index, from->dim[i]) : at->dim[i + shift];
  return intern_terms(L, &d);
}

const lo_index *lo_operand_index(lo *L, const lo_group *g, const tc_node *n, int k,
                                 const lo_index *at) {
  switch (lo_class(n)) {
  case TC_CLASS_EW:
    if (at->flat && tc_op_get(n->op)->positional) return NULL;
    return broadcast(L, &n->type, tc_graph_type(L->g, n->in[k]), at);
  case TC_CLASS_VIEW: return view(L, g, n, at);
  case TC_CLASS_INDEX: return indexed(L, g, n, k, at);
  case TC_CLASS_SCAN: return at;
  case TC_CLASS_JOIN:
    return at->flat             ? NULL
           : n->op == OP_PAD    ? pad(L, n, k, at)
           : n->op == OP_CONCAT ? piece(L, n, k, at)
                                : NULL;
  case TC_CLASS_GEN: return at->flat && tc_op_get(n->op)->positional ? NULL : lo_empty_index(L);
  default: return NULL;
  }
}

bool lo_inlinable(lo *L, const lo_group *g, const tc_node *n, const lo_index *at) {
  tc_class cls = lo_class(n);
  if (cls == TC_CLASS_LEAF) return true;
  if (at->flat && tc_op_get(n->op)->positional) return false;
  if (cls != TC_CLASS_EW && cls != TC_CLASS_VIEW && cls != TC_CLASS_INDEX && cls != TC_CLASS_GEN)
    return false;
  for (int k = 0; k < n->nin; k++)
    if (!lo_operand_index(L, g, n, k, at)) return false;
  return true;
}

/* ---- matmuls and reductions ------------------------------------------------------------------ */

/* a[batch, m, k], b[batch, k, n]: batch dimensions broadcast; rank 1 drops m or n. */
uint32_t lo_deep_axes(const lo_group *g) { return g->matmul.id ? ((1u << g->nk) - 1) << g->k : 0; }

lo_lin lo_deep(lo *L, const lo_group *g) {
  lo_lin l;
  tc_dim stride = tc_dim_const(1);
  memset(&l, 0, sizeof l);
  for (int a = g->k + g->nk; a-- > g->k; stride = tc_dim_mul(L->dims, stride, g->extent[a]))
    l.coef[a] = stride;
  return l;
}

const lo_index *lo_matmul_operand(lo *L, const tc_node *mm, int k, const lo_index *at,
                                  const lo_lin *deep) {
  const tc_type *t = tc_graph_type(L->g, mm->in[k]), *o = &mm->type;
  int ra = tc_graph_type(L->g, mm->in[0])->rank, rb = tc_graph_type(L->g, mm->in[1])->rank;
  int batch = o->rank - (ra > 1) - (rb > 1);
  lo_index d = draft(t->rank);
  if (t->rank == 1) {
    d.dim[0] = *deep;
    return lo_intern(L, &d);
  }
  int own = t->rank - 2;
  for (int i = 0; i < own; i++)
    if (!tc_dim_is(t->dim[i], 1)) d.dim[i] = at->dim[batch - own + i];
  int row = k == 0 ? own : own + 1; /* the dimension that the result keeps */
  int kept = k == 0 ? batch : o->rank - 1;
  d.dim[row] = at->dim[kept];
  d.dim[k == 0 ? own + 1 : own] = *deep;
  return lo_intern(L, &d);
}

/* Of a product of a row: k over its axes. */
static lo_lin deep_of(lo *L, const lo_group *g, const lo_reduce *r) {
  lo_lin l;
  tc_dim stride = tc_dim_const(1);
  memset(&l, 0, sizeof l);
  for (int j = r->naxis; j-- > 0;) {
    if (r->axis[j] < 0) continue;
    l.coef[r->axis[j]] = stride;
    stride = tc_dim_mul(L->dims, stride, g->extent[r->axis[j]]);
  }
  return l;
}

const lo_index *lo_reduce_operand(lo *L, const lo_group *g, const lo_reduce *r, int k) {
  const tc_node *n = lo_node(L, r->node);
  if (n->op == OP_MATMUL) {
    const lo_lin deep = deep_of(L, g, r);
    return lo_matmul_operand(L, n, k, r->at, &deep);
  }
  int rank = tc_graph_type(L->g, n->in[0])->rank;
  uint32_t reduced = lo_reduced_dims(n, rank);
  bool keep = n->type.rank == rank;
  lo_index d = draft(rank);
  for (int i = 0, kept = 0, j = 0; i < rank; i++) {
    if (!(reduced >> i & 1)) {
      d.dim[i] = r->at->dim[keep ? i : kept++];
    } else {
      if (r->axis[j] >= 0) d.dim[i] = lo_axis_lin(r->axis[j]);
      j++;
    }
  }
  return lo_intern(L, &d);
}

const lo_index *lo_scatter_index(lo *L, const tc_node *n, const lo_index *at) {
  lo_index d = draft((int)at->rank);
  memcpy(d.dim, at->dim, at->rank * sizeof *d.dim);
  int axis = lo_axis_attr(n, n->type.rank);
  d.dim[axis] = term_lin(n->in[1], at, n->type.dim[axis]);
  return lo_intern(L, &d);
}

const lo_index *lo_put_index(lo *L, const tc_node *n, const lo_index *at) {
  const tc_dim *first, *step;
  tc_attr_list(n, "first", &first);
  tc_attr_list(n, "step", &step);
  lo_index d = draft((int)at->rank);
  for (uint32_t i = 0; i < at->rank; i++) {
    lo_lin_add(L, &d.dim[i], &at->dim[i], step[i]);
    d.dim[i].offset = tc_dim_norm(L->dims, tc_dim_add(L->dims, d.dim[i].offset, first[i]));
  }
  return lo_intern(L, &d);
}

const lo_index *lo_shift(lo *L, const lo_index *at, int dim, tc_dim by) {
  lo_index d = draft((int)at->rank);
  memcpy(d.dim, at->dim, at->rank * sizeof *d.dim);
  d.dim[dim].offset = tc_dim_add(L->dims, d.dim[dim].offset, by);
  return lo_intern(L, &d);
}

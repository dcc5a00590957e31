/* index.c - affine indices over the axes of a group. */
#include "lower/lowering.h"

#include <stddef.h>
#include <string.h>

static size_t bytes_of(const lo_index *i) {
  return offsetof(lo_index, dim) + i->rank * sizeof(lo_lin);
}

uint32_t lo_lin_axes(const lo_lin *l) {
  uint32_t m = 0;
  for (int a = 0; a < LO_AXES; a++)
    if (!tc_dim_is(l->coef[a], 0)) m |= 1u << a;
  for (uint64_t t = 0; t < l->nterm; t++) m |= l->term[t].at->axes;
  return m;
}

static void rehash(lo *L) {
  uint32_t cap = L->ctable ? L->ctable * 2 : 256;
  const lo_index **t = lo_alloc(L, L->scratch, cap * sizeof *t);
  for (uint32_t i = 0; i < L->ctable; i++) {
    if (!L->table[i]) continue;
    uint32_t h = (uint32_t)tc_hash(L->table[i], bytes_of(L->table[i]), 0) & (cap - 1);
    while (t[h]) h = (h + 1) & (cap - 1);
    t[h] = L->table[i];
  }
  L->table = t;
  L->ctable = cap;
}

const lo_index *lo_intern(lo *L, lo_index *draft) {
  draft->axes = 0;
  draft->terms = 0;
  for (uint32_t i = 0; i < draft->rank; i++) {
    draft->axes |= lo_lin_axes(&draft->dim[i]);
    draft->terms |= draft->dim[i].nterm > 0;
  }
  if (L->ntable * 2 >= L->ctable) rehash(L);
  size_t n = bytes_of(draft);
  uint32_t mask = L->ctable - 1, h = (uint32_t)tc_hash(draft, n, 0) & mask;
  for (; L->table[h]; h = (h + 1) & mask)
    if (bytes_of(L->table[h]) == n && !memcmp(L->table[h], draft, n)) return L->table[h];
  lo_index *copy = lo_alloc(L, L->scratch, n);
  memcpy(copy, draft, n);
  L->table[h] = copy;
  L->ntable++;
  return copy;
}

const lo_index *lo_empty_index(lo *L) {
  lo_index d = {0};
  return lo_intern(L, &d);
}

const lo_index *lo_zero_index(lo *L, const tc_type *t) {
  lo_index d;
  memset(&d, 0, sizeof d);
  d.rank = t->rank;
  return lo_intern(L, &d);
}

lo_lin lo_axis_lin(int axis) {
  lo_lin l;
  memset(&l, 0, sizeof l);
  l.coef[axis] = tc_dim_const(1);
  return l;
}

bool lo_lin_is_zero(const lo_lin *l) {
  return tc_dim_is(l->offset, 0) && !l->nterm && !lo_lin_axes(l);
}

int lo_lin_axis(const lo_lin *l) {
  uint32_t m = lo_lin_axes(l);
  if (!tc_dim_is(l->offset, 0) || l->nterm || !m || (m & (m - 1))) return -1;
  int a = __builtin_ctz(m);
  return tc_dim_is(l->coef[a], 1) ? a : -1;
}

static bool add_term(lo *L, lo_lin *a, lo_term t) {
  for (uint64_t i = 0; i < a->nterm; i++) {
    lo_term *o = &a->term[i];
    if (o->node != t.node || o->at != t.at || !tc_dim_same(o->bound, t.bound)) continue;
    o->stride = tc_dim_add(L->dims, o->stride, t.stride);
    return true;
  }
  if (a->nterm == LO_TERMS) return false;
  a->term[a->nterm++] = t;
  return true;
}

bool lo_lin_add(lo *L, lo_lin *a, const lo_lin *b, tc_dim scale) {
  tc_dims *c = L->dims;
  a->offset = tc_dim_add(c, a->offset, tc_dim_mul(c, b->offset, scale));
  for (int i = 0; i < LO_AXES; i++)
    if (!tc_dim_is(b->coef[i], 0))
      a->coef[i] = tc_dim_add(c, a->coef[i], tc_dim_mul(c, b->coef[i], scale));
  for (uint64_t t = 0; t < b->nterm; t++) {
    lo_term s = b->term[t];
    s.stride = tc_dim_mul(c, s.stride, scale);
    if (!add_term(L, a, s)) return false;
  }
  return true;
}

bool lo_flatten(lo *L, const lo_index *at, const tc_type *t, lo_lin *out) {
  memset(out, 0, sizeof *out);
  if (at->flat) {
    *out = at->dim[0];
    return true;
  }
  tc_dim stride = tc_dim_const(1);
  for (int i = t->rank - 1; i >= 0; i--) {
    if (!lo_lin_add(L, out, &at->dim[i], stride)) return false;
    stride = tc_dim_mul(L->dims, stride, t->dim[i]);
  }
  return true;
}

/* d = q * by exactly, or false. */
static bool divides(lo *L, tc_dim d, tc_dim by, tc_dim *q) {
  *q = tc_dim_div(L->dims, d, by);
  return !tc_dim_bad(d) && tc_dim_same(tc_dim_mul(L->dims, *q, by), d);
}

bool lo_lin_range(lo *L, const lo_group *g, const lo_lin *l, tc_dim *least, tc_dim *end) {
  const tc_dim zero = tc_dim_const(0), one = tc_dim_const(1);
  if (l->nterm) return false;
  *least = *end = l->offset;
  for (int a = 0; a < g->naxis; a++) {
    if (tc_dim_is(l->coef[a], 0)) continue;
    if (!tc_dim_known_le(L->dims, zero, l->coef[a])) return false;
    const tc_dim steps = tc_dim_sub(L->dims, g->extent[a], one);
    *end = tc_dim_add(L->dims, *end, tc_dim_mul(L->dims, l->coef[a], steps));
  }
  *end = tc_dim_add(L->dims, *end, one);
  return true;
}

bool lo_lin_within(lo *L, const lo_group *g, const lo_lin *l, tc_dim first, tc_dim limit) {
  tc_dim least, end;
  return lo_lin_range(L, g, l, &least, &end) && tc_dim_known_le(L->dims, first, least) &&
         tc_dim_known_le(L->dims, end, limit);
}

bool lo_lin_divide(lo *L, const lo_group *g, const lo_lin *l, tc_dim by, lo_lin *quotient,
                   lo_lin *rest) {
  tc_dim q;
  memset(quotient, 0, sizeof *quotient);
  memset(rest, 0, sizeof *rest);
  if (tc_dim_is(by, 0)) return false;
  if (divides(L, l->offset, by, &q)) quotient->offset = q;
  else rest->offset = l->offset;
  for (int a = 0; a < LO_AXES; a++) {
    if (tc_dim_is(l->coef[a], 0)) continue;
    if (divides(L, l->coef[a], by, &q)) quotient->coef[a] = q;
    else rest->coef[a] = l->coef[a];
  }
  for (uint64_t t = 0; t < l->nterm; t++) {
    if (!divides(L, l->term[t].stride, by, &q)) return false;
    quotient->term[quotient->nterm] = l->term[t];
    quotient->term[quotient->nterm++].stride = q;
  }
  return lo_lin_within(L, g, rest, tc_dim_const(0), by);
}

int lo_first_nonunit(const tc_type *t) {
  int i = 0;
  while (i < t->rank && tc_dim_is(t->dim[i], 1)) i++;
  return i;
}

const lo_index *lo_unflatten(lo *L, const lo_group *g, const lo_lin *flat, const tc_type *t) {
  lo_index d;
  memset(&d, 0, sizeof d);
  lo_lin left = *flat;
  const int first = lo_first_nonunit(t);
  d.rank = t->rank;
  for (int i = t->rank - 1; i > first; i--) {
    lo_lin quotient;
    if (tc_dim_is(t->dim[i], 1)) continue;
    if (!lo_lin_divide(L, g, &left, t->dim[i], &quotient, &d.dim[i])) {
      memset(&d, 0, sizeof d);
      d.rank = d.flat = 1;
      d.dim[0] = *flat;
      return lo_intern(L, &d);
    }
    left = quotient;
  }
  if (first < t->rank) d.dim[first] = left;
  return lo_intern(L, &d);
}

const lo_index *lo_identity(lo *L, const tc_type *t) {
  lo_index d;
  memset(&d, 0, sizeof d);
  d.rank = t->rank;
  int axis = 0;
  for (int i = 0; i < t->rank; i++)
    if (!tc_dim_is(t->dim[i], 1)) d.dim[i] = lo_axis_lin(axis++);
  return lo_intern(L, &d);
}

const lo_index *lo_index_over(lo *L, const lo_group *g, const tc_type *t, uint32_t axes) {
  lo_index d = {.rank = t->rank};
  for (int i = 0; i < TC_MAX_RANK; i++) d.dim[i] = (lo_lin){0};
  int a = 0;
  for (int i = 0; i < t->rank; i++) {
    if (tc_dim_is(t->dim[i], 1)) continue;
    while (a < g->naxis && !(axes >> a & 1)) a++;
    if (a == g->naxis) return NULL;
    d.dim[i] = lo_axis_lin(a++);
  }
  return lo_intern(L, &d);
}

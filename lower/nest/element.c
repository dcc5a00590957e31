/* element.c - where an element of a buffer lies, and which buffers may have a layout.
 *
 * Every address of an array that holds a value is made here.  Scratch, LOCAL rows and the partial
 * results of a split reduction, is row-major, and addressed by those who make it. */
#include "lower/lowering.h"

#include <string.h>

/* ---- addresses ------------------------------------------------------------------------------- */

static bool same_shape(const tc_type *a, const tc_type *b) {
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++) same = tc_dim_same(a->dim[i], b->dim[i]);
  return same;
}

static bool add_axis(lo *L, const lo_group *g, const lo_lin *at, const tc_buf_axis *x,
                     lo_lin *out) {
  lo_lin block, rest;
  if (x->block <= 1) return lo_lin_add(L, out, at, x->stride);
  return lo_lin_divide(L, g, at, tc_dim_const(x->block), &block, &rest) &&
         lo_lin_add(L, out, &block, x->stride) && lo_lin_add(L, out, &rest, x->within);
}

/* Where element `at` of an array of that shape lies in b, for all points of g.  Row-major arrays of
 * equal size show the same elements in any shape.  false: not affine in b's layout. */
static bool locate(lo *L, const lo_group *g, const tc_buffer *b, const tc_type *shape,
                   const lo_index *at, lo_lin *out) {
  if (!b->layout.strided) return lo_flatten(L, at, shape, out);
  memset(out, 0, sizeof *out);
  if (at->flat || !same_shape(shape, &b->type)) return false;
  for (int i = 0; i < shape->rank; i++)
    if (!add_axis(L, g, &at->dim[i], &b->layout.axis[i], out)) return false;
  return true;
}

tc_address lo_element(lo_kb *b, uint32_t buffer, const tc_type *shape, const lo_index *at) {
  lo_lin place;
  if (!locate(b->L, b->g, &b->L->p->buffer[buffer], shape, at, &place))
    lo_fail(b->L, (tc_loc){0}, "an index with more than two data-dependent parts");
  return lo_lin_address(b, &place);
}

/* ---- layouts that a target chooses ----------------------------------------------------------- */

/* Cuts axes of g where blocks of the layout end. */
static void cut_blocks(lo *L, lo_group *g, const tc_buffer *b, const lo_index *const *at) {
  for (int i = 0; i < b->type.rank && !(*at)->flat; i++) {
    lo_lin block, rest;
    if (b->layout.axis[i].block <= 1 || (uint32_t)i >= (*at)->rank) continue;
    const tc_dim size = tc_dim_const(b->layout.axis[i].block);
    const tc_type blocks = {.rank = 2,
                            .dim = {tc_dim_ceildiv(L->dims, b->type.dim[i], size), size}};
    if (!lo_lin_divide(L, g, &(*at)->dim[i], size, &block, &rest))
      lo_cut_axes(L, g, &(*at)->dim[i], &blocks, false);
  }
}

/* at: changes with g's axes */
static bool reaches(lo *L, lo_group *g, const tc_buffer *b, const tc_type *shape,
                    const lo_index *const *at) {
  lo_lin place;
  if (!*at) return false; /* a function of the program takes the array */
  cut_blocks(L, g, b, at);
  return locate(L, g, b, shape, *at, &place);
}

static bool all_reach(lo *L, uint32_t buffer) {
  const tc_buffer *b = &L->p->buffer[buffer];
  const lo_place *p = &L->place[b->node.id];
  const tc_type *t = &lo_node(L, b->node)->type;
  for (lo_demand *d = p->demand; d; d = d->next)
    if (d->group != p->group && !reaches(L, L->group[d->group], b, t, &d->at)) return false;
  for (uint32_t id = 1; id <= L->ngroup; id++)
    for (uint32_t s = 0; s < L->group[id]->nstore; s++) {
      lo_store *store = &L->group[id]->store[s];
      if (store->buffer == buffer && !reaches(L, L->group[id], b, store->shape, &store->to))
        return false;
    }
  return true;
}

/* Functions of the program, and sorts, store to plain arrays, and operands are plain. */
static bool is_free(const lo *L, uint32_t buffer) {
  const tc_buffer *b = &L->p->buffer[buffer];
  if (b->kind != TC_BUF_ARENA || !b->node.id) return false;
  for (uint32_t i = 0; i < L->nwrite; i++)
    if (L->write[i].buffer == buffer) return false;
  const tc_class c = lo_class(lo_node(L, b->node));
  return c != TC_CLASS_CALL && c != TC_CLASS_SORT;
}

void lo_choose_layouts(lo *L) {
  static const tc_buf_layout rows = {0};
  for (uint32_t i = 0; L->target->layout && i < L->p->nbuffer; i++) {
    tc_buffer *b = &L->p->buffer[i];
    tc_buf_layout chosen = {0};
    if (!is_free(L, i) || !L->target->layout(L->p, i, &chosen)) continue;
    const tc_dim numel = tc_layout_numel(L->dims, &b->type, &chosen);
    if (tc_dim_bad(numel)) continue;
    b->layout = chosen;
    if (all_reach(L, i)) b->numel = numel;
    else b->layout = rows;
  }
}

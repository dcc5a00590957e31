/* place.c - backwards over the graph: every node gets a group, or is recomputed where it is
 * read. */
#include "lower/lowering.h"

static lo_group *group_of(lo *L, const lo_demand *d) { return L->group[d->group]; }

/* ---- demands --------------------------------------------------------------------------------- */

/* Is it larger than any array of which it is made, as windows of one are?  Others are read faster
 * in one piece. */
static bool is_repetitive(const lo *L, tc_ref r) { return !L->fact[r.id].reads; }

/* Can n be computed where d reads it?  An element that d knows by its number has an index per
 * dimension where the axes of d's group are cut as the dimensions are. */
static bool can_compute(lo *L, tc_ref r, lo_demand *d) {
  const tc_node *n = lo_node(L, r);
  lo_group *g = group_of(L, d);
  if (d->select && !lo_may_select(L, r)) return false;
  if (lo_inlinable(L, g, n, d->at)) return true;
  if (!d->at->flat ||
      !lo_cut_axes(L, g, &d->at->dim[0], &n->type, d->prologue && is_repetitive(L, r)))
    return false;
  d->at = lo_unflatten(L, g, &d->at->dim[0], &n->type);
  return lo_inlinable(L, g, n, d->at);
}

/* The smallest number a group that computes n may have; marks demands that need an array. */
static uint32_t bound(lo *L, tc_ref r, bool opaque, bool *loads) {
  uint32_t least = 1;
  *loads = L->place[r.id].target != NULL;
  for (lo_demand *d = L->place[r.id].demand; d; d = d->next) {
    if (!d->load && !opaque) d->load = !can_compute(L, r, d);
    if (opaque) d->load = true;
    if (d->load) lo_no(L, "it is read in an order in which it cannot be computed");
    uint32_t min = d->group + d->load;
    if (min > least) least = min;
    *loads |= d->load;
  }
  return least;
}

/* ---- recompute or store ---------------------------------------------------------------------- */

/* An index that picks elements rather than running over all of them. */
static bool is_thin(lo *L, tc_ref r, const lo_index *at) {
  const tc_type *t = tc_graph_type(L->g, r);
  int wide = 0;
  for (int i = 0; i < t->rank; i++) wide += !tc_dim_is(t->dim[i], 1);
  return at->terms || (!at->flat && __builtin_popcount(at->axes) < wide);
}

/* Computed again for every point of an axis that its own index lacks: what a loop outside of its
 * own axes repeats (loops inside hoist it). */
static bool repeats(lo *L, const lo_group *g, const lo_index *at) {
  enum { FEW = 8 };
  for (int a = 0; a < g->naxis; a++) {
    if (at->axes >> a & 1 || !(at->axes >> a)) continue;
    if (g->sequential >> a & 1 || lo_at_most(L, g->extent[a], FEW)) continue;
    return true;
  }
  return false;
}

/* A conversion to more bytes? */
static bool widens(const lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  return n->op == OP_CAST &&
         tc_dtype_bytes(n->type.dtype) > tc_dtype_bytes(tc_graph_type(L->g, n->in[0])->dtype);
}

/* A prologue runs while an operand is packed: cheap, and reading one array of the operand's size.
 * What can be the epilogue of another matmul is done once there, and the array that is read is the
 * narrower one. */
static bool fits_prologue(lo *L, tc_ref r) {
  const lo_fact *f = &L->fact[r.id];
  if (widens(L, r)) return true;
  return !f->costly && !f->product && f->cone <= 6 && f->reads <= 1;
}

/* On targets of which each block fills its own tiles, and tiles of arrays on their way, an operand
 * of a product of halves is computed there only where few blocks want it.  What is larger than all
 * that it is made of is no array for that. */
static bool repeats_prologue(lo *L, tc_ref r, const lo_demand *d) {
  const lo_group *g = group_of(L, d);
  const int64_t most = L->target->prologue_results;
  if (!most || is_repetitive(L, r) || widens(L, r) ||
      !tc_dtype_is_half((tc_dtype)lo_node(L, g->matmul)->type.dtype))
    return false;
  return !lo_at_most(L, lo_group_numel(L, g, ((1u << g->naxis) - 1) & ~d->at->axes), most);
}

/* What follows a reduction belongs to its nest, which the reader's is not. */
static bool belongs_elsewhere(lo *L, tc_ref r, const lo_demand *d) {
  const lo_fact *f = &L->fact[r.id];
  bool rowwise = !tc_dim_is(f->reduced, 0) && tc_dim_same(f->rows, f->numel);
  return rowwise && (d->at->axes & group_of(L, d)->sequential);
}

/* Is an operand read in it along its last axis, which is not the last one of what it shows?  Where
 * that is windows, or k runs over that axis and others, nothing else has neighbours there, and
 * elements are read many times. */
static bool moves_channels(lo *L, tc_ref r, const lo_demand *d) {
  const tc_node *n = lo_node(L, r);
  const tc_dim *axes;
  if (!L->target->channels_last || n->op != OP_PERMUTE || !d->prologue || d->at->flat ||
      is_repetitive(L, r))
    return false;
  const int last = tc_attr_list(n, "axes", &axes) - 1;
  if (last < 2 || tc_dim_value(axes[last]) == last) return false;
  const uint32_t deep = lo_deep_axes(group_of(L, d)), inner = lo_lin_axes(&d->at->dim[last]),
                 outer = lo_lin_axes(&d->at->dim[last - 1]);
  return lo_has_windows(d->at) || (inner & deep && outer & deep);
}

static bool allows(lo *L, tc_ref r, const lo_demand *d) {
  const lo_group *g = group_of(L, d);
  const tc_node *n = lo_node(L, r);
  if (!lo_has_room(g)) return lo_no(L, "the kernel that reads it is full");
  if (belongs_elsewhere(L, r, d))
    return lo_no(L, "it follows a reduction along another axis than that of its reader");
  if (moves_channels(L, r, d))
    return lo_no(L, "windows of it are read with its channels next to each other");
  if (lo_class(n) == TC_CLASS_VIEW) return true;
  if (d->prologue && !fits_prologue(L, r))
    return lo_no(L, "it is dearer than what is computed while an operand of a matmul is packed");
  if (d->prologue && repeats_prologue(L, r, d))
    return lo_no(
        L, "it is an operand of a matmul, of which each block of results would compute it again");
  /* the missing axes are those that a reduction is about to make sequential */
  if (tc_dim_same(L->fact[r.id].reduced, lo_group_numel(L, g, (1u << g->naxis) - 1))) return true;
  const bool dear = L->fact[r.id].costly || (L->fact[r.id].to_whole && !d->prologue);
  if (!dear || d->at->terms || !repeats(L, g, d->at)) return true;
  return lo_no(L, "its reader runs over a further axis, and would compute it again at each point");
}

/* Is it right to compute n at every place that reads it? */
static bool recompute(lo *L, tc_ref r) {
  enum { CHEAP = 8, MASK = 24, SAME_READS = 6 };
  const lo_fact *f = &L->fact[r.id];
  const tc_node *n = lo_node(L, r);
  const lo_demand *first = L->place[r.id].demand;
  int whole = 0, groups = 1;
  for (const lo_demand *d = first; d; d = d->next) {
    if (!allows(L, r, d)) return false;
    whole += !is_thin(L, r, d->at);
    groups += d->group != first->group;
  }
  if (groups > 1 && L->nwrite && lo_class(n) == TC_CLASS_INDEX)
    return lo_no(L, "its indices are checked once, before an operand is written");
  /* masks, of indices alone, say which points need no computing at all, where they are not arrays */
  const int most = n->type.dtype == TC_BOOL && !f->reads ? MASK : CHEAP;
  const bool scalar = tc_dim_is(f->numel, 1), cheap = scalar || (!f->costly && f->cone <= most);
  if (whole <= 1 || (!f->reads && cheap) || lo_class(n) == TC_CLASS_VIEW) return true;
  lo_no(L, "it is read several times, and computing it again costs more than storing it");
  if (lo_class(n) == TC_CLASS_GEN || f->costly) return !f->costly;
  if (groups == 1) return (whole - 1) * f->cone <= CHEAP;
  return f->reads <= 1 && f->cone <= SAME_READS && whole <= 4;
}

/* ---- a home for a node that is stored -------------------------------------------------------- */

static void host(lo *L, lo_group *g, tc_ref r, const lo_index *at) {
  lo_make_buffer(L, r);
  L->place[r.id].group = g->id;
  lo_store_all(L, g, r, at, r, at, false);
}

/* Other reads in the same group compute again: only where that is cheap. */
static bool others_allow(lo *L, tc_ref r, const lo_demand *home) {
  for (const lo_demand *d = L->place[r.id].demand; d; d = d->next) {
    if (d == home || d->load || d->group != home->group || d->at == home->at) continue;
    if (!is_thin(L, r, d->at) && (L->fact[r.id].costly || L->fact[r.id].cone > 4)) return false;
    if (!allows(L, r, d)) return false;
  }
  return true;
}

/* Groups from this number on run before all readers. */
static uint32_t after_readers(const lo_place *p) {
  uint32_t least = 1;
  for (const lo_demand *d = p->demand; d; d = d->next)
    if (d->group >= least) least = d->group + 1;
  return least;
}

/* *axes: those of g that r runs along: all, its outer ones, or, where g has no others yet, the rows
 * of which a reduction that r is made of has the rest. */
static bool shared_axes(lo *L, const lo_group *g, tc_ref r, uint32_t *axes) {
  const uint32_t all = (1u << g->naxis) - 1;
  *axes = all;
  if (lo_same_space(L, g, r, all)) return true;
  *axes = all & ~g->sequential;
  if (lo_same_space(L, g, r, *axes)) return true;
  if (g->sequential || !tc_dim_same(L->fact[r.id].reduced, lo_group_numel(L, g, all))) return false;
  for (*axes = all >> 1; *axes; *axes >>= 1)
    if (lo_same_space(L, g, r, *axes)) return true;
  return false;
}

/* The axes that `at` lacks are inner ones: a value at `at` is one for all their points. */
static void make_sequential(lo_group *g, const lo_index *at) {
  const uint32_t missing = ((1u << g->naxis) - 1) & ~at->axes;
  if (!g->matmul.id && (missing & ~g->sequential)) g->sequential = missing;
}

/* May r be computed with the group's nodes though nothing reads both? */
static bool may_join(lo *L, const lo_group *g, tc_ref r) {
  if (g->closed || g->matmul.id) return false;
  return L->place[r.id].update && lo_has_many_updates(L) ? lo_lists_source(L, g, r)
                                                         : lo_shares(L, g, r);
}

static lo_group *sibling(lo *L, tc_ref r, uint32_t least, const lo_index **at) {
  for (uint32_t id = L->ngroup, i = 0; id >= least && id > 0 && i < LO_LOOK_BACK; id--, i++) {
    lo_group *g = L->group[id];
    if (!may_join(L, g, r)) continue;
    uint32_t axes;
    if (!shared_axes(L, g, r, &axes)) continue;
    *at = lo_index_over(L, g, tc_graph_type(L->g, r), axes);
    if (!*at || !lo_can_host(L, g, r, *at)) continue;
    make_sequential(g, *at);
    return g;
  }
  return NULL;
}

static void materialise(lo *L, tc_ref r, uint32_t least) {
  lo_demand *d = lo_latest(&L->place[r.id]);
  lo_group *g = NULL;
  const lo_index *at = NULL;
  bool in_reduce = false;
  if (d && d->group >= least && !belongs_elsewhere(L, r, d) &&
      lo_can_host(L, group_of(L, d), r, d->at) && others_allow(L, r, d)) {
    g = group_of(L, d);
    at = d->at;
    in_reduce = d->in_reduce;
    make_sequential(g, at);
    for (lo_demand *o = L->place[r.id].demand; o; o = o->next)
      if (o != d && !o->load && o->group == g->id && o->at != at) lo_compute(L, r, o);
  } else {
    g = sibling(L, r, after_readers(&L->place[r.id]), &at);
  }
  if (!g) {
    g = lo_new_group(L, tc_graph_type(L->g, r));
    at = lo_identity(L, tc_graph_type(L->g, r));
  }
  host(L, g, r, at);
  lo_compute(L, r, &(lo_demand){.group = g->id, .in_reduce = in_reduce, .at = at});
}

static void place_pointwise(lo *L, tc_ref r) {
  bool loads;
  uint32_t least = bound(L, r, false, &loads);
  if (!loads && recompute(L, r)) {
    for (lo_demand *d = L->place[r.id].demand; d; d = d->next) lo_compute(L, r, d);
  } else {
    materialise(L, r, least);
  }
}

/* A reshape that only results and writes are: they are what it shows, which is in the same
 * order. */
static bool passes_on(lo *L, tc_ref r) {
  lo_place *p = &L->place[r.id];
  const tc_node *n = lo_node(L, r);
  if (n->op != OP_RESHAPE || p->demand) return false;
  lo_place *shown = &L->place[n->in[0].id];
  lo_target **end = &shown->target;
  while (*end) end = &(*end)->next;
  *end = p->target;
  p->target = NULL;
  for (lo_target *t = *end; t; t = t->next) L->p->buffer[t->buffer].node = n->in[0];
  return true;
}

/* A leaf that is a result: copied. */
static void place_leaf(lo *L, tc_ref r) {
  const tc_type *t = tc_graph_type(L->g, r);
  if (!L->place[r.id].target) return;
  lo_group *g = lo_new_group(L, t);
  const lo_index *at = lo_identity(L, t);
  lo_store_all(L, g, r, at, r, at, false);
  lo_add_member(L, g, r);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void place_node(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  L->why = NULL;
  if (passes_on(L, r)) return;
  switch (lo_class(n)) {
  case TC_CLASS_LEAF: place_leaf(L, r); return;
  case TC_CLASS_REDUCE: lo_place_reduce(L, r); return;
  case TC_CLASS_MATMUL: lo_place_matmul(L, r); return;
  case TC_CLASS_SCAN: lo_place_scan(L, r); return;
  case TC_CLASS_JOIN: lo_place_join(L, r); return;
  case TC_CLASS_SCATTER: lo_place_scatter(L, r); return;
  case TC_CLASS_SORT: lo_place_sort(L, r); return;
  case TC_CLASS_CALL: lo_place_call(L, r); return;
  case TC_CLASS_EFFECT: lo_place_effect(L, r); return;
  case TC_CLASS_GEN:
  case TC_CLASS_EW:
  case TC_CLASS_VIEW:
  case TC_CLASS_INDEX: place_pointwise(L, r); return;
  default: lo_fail(L, n->loc, "the op is not a primitive");
  }
}

static void place_where(lo *L, const bool *last, bool want) {
  for (uint32_t id = L->count; id > 0; id--) {
    const bool effect = lo_class(lo_node(L, (tc_ref){id})) == TC_CLASS_EFFECT;
    const bool used = effect || L->place[id].demand || L->place[id].target;
    if (used && last[id] == want) place_node(L, (tc_ref){id});
  }
}

void lo_place_all(lo *L) {
  const bool *last = lo_find_last(L);
  place_where(L, last, true);
  place_where(L, last, false);
}

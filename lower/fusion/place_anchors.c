/* place_anchors.c - placement of the nodes that groups form around: reductions, matmuls, and nodes
 * that always are arrays (scans, joins, scatters). */
#include "lower/lowering.h"

#include <string.h>

/* Every reader but d needs an array: is d's group early enough to write it? */
static bool runs_first(lo *L, const lo_place *p, const lo_demand *d) {
  for (const lo_demand *o = p->demand; o; o = o->next)
    if (o != d && o->group >= d->group) return lo_no(L, "it is read several times");
  return true;
}

/* Why no reader can be joined before one is looked at. */
static void note_readers(lo *L, const lo_place *p) {
  for (const lo_demand *d = p->demand; d; d = d->next) {
    if (d->prologue) lo_no(L, "it is an operand of a matmul, and has a kernel of its own");
    else if (d->load) lo_no(L, "it is read in an order in which it cannot be computed");
  }
}

static void load_all(lo_place *p, const lo_demand *except) {
  for (lo_demand *d = p->demand; d; d = d->next)
    if (d != except) d->load = true;
}

static bool others_read(const lo_place *p, const lo_demand *d) {
  return p->target || (p->demand && (p->demand != d || d->next));
}

static uint32_t least_group(const lo_place *p) {
  uint32_t least = 1;
  for (const lo_demand *d = p->demand; d; d = d->next)
    if (d->group >= least) least = d->group + 1;
  return least;
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void compute_reduce(lo *L, lo_group *g, tc_ref r) {
  const lo_reduce red = g->reduce[g->nreduce - 1];
  const tc_node *n = lo_node(L, r);
  lo_add_member(L, g, r);
  for (int k = 0; k < n->nin; k++)
    lo_demand_value(L, n->in[k], g, lo_reduce_operand(L, g, &red, k), false, true);
}

/* The index of r's result in a group whose space is that of r's operand. */
static const lo_index *kept_index(lo *L, const lo_group *g, const tc_node *n) {
  const tc_type *from = tc_graph_type(L->g, n->in[0]);
  if (n->op == OP_MATMUL || !lo_same_space(L, g, n->in[0], (1u << g->naxis) - 1)) return NULL;
  uint32_t reduced = lo_reduced_dims(n, from->rank), axes = 0;
  for (int i = 0, a = 0; i < from->rank; i++) {
    if (tc_dim_is(from->dim[i], 1)) continue;
    if (!(reduced >> i & 1)) axes |= 1u << a;
    a++;
  }
  return lo_index_over(L, g, &n->type, axes);
}

/* Lets r join the reductions of a group of the same space. */
static bool join_sibling(lo *L, lo_group *g, tc_ref r, const lo_index **at) {
  const tc_node *n = lo_node(L, r);
  const uint32_t parallel = ((1u << g->naxis) - 1) & ~g->sequential;
  const int naxis = g->naxis;
  *at = NULL;
  if (!g->sequential) *at = kept_index(L, g, n);
  else if (lo_same_space(L, g, r, parallel)) *at = lo_index_over(L, g, &n->type, parallel);
  if (!*at || !lo_join_reduce(L, g, r, *at, false)) return false;
  if (g->naxis == naxis) return true;
  g->nreduce--; /* another space after all */
  g->naxis = naxis;
  return false;
}

/* A reduction of the same space that shares inputs. */
static lo_group *reduce_sibling(lo *L, tc_ref r, uint32_t least, const lo_index **at) {
  for (uint32_t id = L->ngroup, i = 0; id >= least && id > 0 && i < LO_LOOK_BACK; id--, i++) {
    lo_group *g = L->group[id];
    if (!g->closed && !g->matmul.id && lo_shares(L, g, r) && join_sibling(L, g, r, at)) return g;
  }
  return NULL;
}

/* Other reductions that updates read as arrays, of whatever they are. */
static lo_group *read_by_updates(lo *L, tc_ref r, uint32_t least, const lo_index **at) {
  enum { LOOK = 256 };
  for (uint32_t id = L->ngroup, i = 0; id >= least && id > 0 && i < LOOK; id--, i++)
    if (L->group[id]->apart && join_sibling(L, L->group[id], r, at)) return L->group[id];
  return NULL;
}

void lo_place_reduce(lo *L, tc_ref r) {
  lo_place *p = &L->place[r.id];
  const tc_type *t = tc_graph_type(L->g, r);
  lo_demand *d = lo_latest(p);
  lo_group *g = NULL;
  const bool apart = d && lo_runs_apart(L, L->group[d->group]);
  const lo_index *at = NULL;
  note_readers(L, p);
  if (d && runs_first(L, p, d) && lo_join_reduce(L, L->group[d->group], r, d->at, d->in_reduce)) {
    g = L->group[d->group];
    at = d->at;
  } else {
    const char *why = L->why;
    d = NULL;
    g = apart ? read_by_updates(L, r, least_group(p), &at) : NULL;
    if (!g) g = reduce_sibling(L, r, least_group(p), &at);
    L->why = why;
  }
  if (!g) {
    g = lo_new_group(L, t);
    at = lo_identity(L, t);
    if (!lo_join_reduce(L, g, r, at, false))
      lo_fail(L, lo_node(L, r)->loc, "a reduction over this many axes");
    g->apart = apart && g->split;
  }
  load_all(p, d);
  p->group = g->id;
  if (others_read(p, d)) {
    if (d) lo_no(L, "a further kernel reads it");
    lo_make_buffer(L, r);
    lo_store_all(L, g, r, at, r, at, false);
  }
  compute_reduce(L, g, r);
}

/* ---- matmuls --------------------------------------------------------------------------------- */

void lo_place_matmul(lo *L, tc_ref r) {
  lo_place *p = &L->place[r.id];
  const tc_node *n = lo_node(L, r);
  if (lo_is_dot(L, n)) {
    lo_place_reduce(L, r);
    return;
  }
  lo_demand *d = lo_latest(p);
  note_readers(L, p);
  if (!d || !runs_first(L, p, d) || !lo_can_join_matmul(L, L->group[d->group], r, d->at)) d = NULL;
  lo_group *g = d ? L->group[d->group] : lo_new_group(L, &n->type);
  g->at = d ? d->at : lo_identity(L, &n->type);
  g->matmul = r;
  if (g->piece) g->kernel = 0;
  g->k = g->naxis++;
  g->nk = 1;
  const tc_type *a = tc_graph_type(L->g, n->in[0]);
  g->extent[g->k] = a->dim[a->rank - 1];
  load_all(p, d);
  p->group = g->id;
  if (others_read(p, d)) {
    if (d) lo_no(L, "a further kernel reads it");
    lo_make_buffer(L, r);
    lo_store_all(L, g, r, g->at, r, g->at, false);
  }
  lo_add_member(L, g, r);
  const lo_lin deep = lo_deep(L, g);
  for (int k = 0; k < 2; k++)
    lo_demand_value(L, n->in[k], g, lo_matmul_operand(L, n, k, g->at, &deep), true, false);
}

/* ---- arrays by construction ------------------------------------------------------------------ */

/* A group that nothing joins: one nest over `shape`. */
static lo_group *own_group(lo *L, tc_ref r, const tc_type *shape, uint32_t kernel) {
  lo_group *g = lo_new_group(L, shape);
  g->closed = true;
  g->kernel = kernel;
  lo_add_member(L, g, r);
  return g;
}

void lo_place_scan(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  load_all(&L->place[r.id], NULL);
  lo_no(L, "a scan has a kernel of its own");
  lo_make_buffer(L, r);
  lo_group *g = own_group(L, r, &n->type, 0);
  g->scan = r;
  g->at = lo_identity(L, &n->type);
  if (n->type.rank) g->sequential = lo_lin_axes(&g->at->dim[lo_axis_attr(n, n->type.rank)]);
  lo_choose_split_scan(L, g);
  L->place[r.id].group = g->id;
  lo_store_all(L, g, r, g->at, r, g->at, false);
  lo_demand_value(L, n->in[0], g, g->at, false, false);
}

/* One nest writes x, at an offset, into r's buffer. */
static lo_group *place_piece(lo *L, tc_ref r, tc_ref x, const tc_dim *offset, uint32_t kernel) {
  const tc_type *t = tc_graph_type(L->g, x);
  lo_group *g = own_group(L, r, t, kernel);
  const lo_index *at = lo_identity(L, t), *to = at;
  for (int i = 0; i < t->rank; i++)
    if (!tc_dim_is(offset[i], 0)) to = lo_shift(L, to, i, offset[i]);
  lo_store_all(L, g, x, at, r, to, false);
  lo_demand_value(L, x, g, at, false, false);
  return g;
}

/* The pieces of concatenation c go into r's buffer, from `offset` on; those of a concatenation that
 * is a piece itself, too. */
static void place_concat(lo *L, tc_ref r, tc_ref c, const tc_dim *offset, uint32_t kernel) {
  const tc_node *n = lo_node(L, c);
  int axis = lo_axis_attr(n, n->type.rank);
  tc_dim at[TC_MAX_RANK];
  memcpy(at, offset, sizeof at);
  at[axis] = tc_dim_add(L->dims, at[axis], n->type.dim[axis]);
  for (int k = n->nin - 1; k >= 0; k--) {
    at[axis] = tc_dim_sub(L->dims, at[axis], tc_graph_type(L->g, n->in[k])->dim[axis]);
    if (lo_node(L, n->in[k])->op == OP_CONCAT) place_concat(L, r, n->in[k], at, kernel);
    else place_piece(L, r, n->in[k], at, kernel)->piece = true;
  }
}

/* Everything is filled first, then the interior is written. */
static void place_pad(lo *L, tc_ref r, uint32_t kernel) {
  const tc_node *n = lo_node(L, r);
  const tc_dim *before;
  tc_dim offset[TC_MAX_RANK];
  for (int i = 0; i < TC_MAX_RANK; i++) offset[i] = tc_dim_const(0);
  int count = tc_attr_list(n, "before", &before);
  for (int i = 0; i < count; i++) offset[i] = before[i];
  place_piece(L, r, n->in[0], offset, kernel);
  lo_group *fill = own_group(L, r, &n->type, kernel);
  const lo_index *value = lo_zero_index(L, tc_graph_type(L->g, n->in[1]));
  lo_store_all(L, fill, n->in[1], value, r, lo_identity(L, &n->type), false);
  lo_demand_value(L, n->in[1], fill, value, false, false);
}

/* ---- parts that are put into arrays ---------------------------------------------------------- */

/* The array that r is made of by views and by putting parts into it. */
static tc_ref origin(const lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  while (n->op == OP_PUT || lo_class(n) == TC_CLASS_VIEW) {
    r = n->in[0];
    n = lo_node(L, r);
  }
  return r;
}

typedef struct search {
  const lo_group *g;   /* that puts it */
  tc_ref base, origin; /* what the part is put into */
  const lo_index *to;  /* where */
  int left;            /* values to look at */
} search;

/* May value r at `at` be computed while it is put in place?  Not where it reads other elements of
 * the array than the one that is written. */
static bool reads_in_place(lo *L, search *s, tc_ref r, const lo_index *at) {
  const tc_node *n = lo_node(L, r);
  if (s->left-- <= 0) return false;
  if (r.id == s->base.id) return at == s->to;
  if (n->op == OP_INPUT || n->op == OP_PUT) return origin(L, r).id != s->origin.id;
  if (lo_class(n) != TC_CLASS_JOIN && !lo_inlinable(L, s->g, n, at))
    return true; /* an array by itself, which is there before */
  for (int k = 0; k < n->nin; k++) {
    const lo_index *of = lo_operand_index(L, s->g, n, k, at);
    if (of && !reads_in_place(L, s, n->in[k], of)) return false;
  }
  return true;
}

static bool read_once(const lo *L, tc_ref r) {
  int reads = L->place[r.id].target != NULL;
  for (uint32_t id = r.id + 1; id <= L->count && reads < 2; id++) {
    const tc_node *n = lo_node(L, (tc_ref){id});
    for (int k = 0; k < n->nin; k++) reads += n->in[k].id == r.id;
  }
  return reads < 2;
}

/* Array r is in[0] of put c, or what that is made of, and then the part at its place. */
static void place_put(lo *L, tc_ref r, tc_ref c, uint32_t kernel) {
  enum { LOOK = 256 };
  const tc_node *n = lo_node(L, c);
  const tc_type *t = tc_graph_type(L->g, n->in[1]);
  lo_group *g = own_group(L, r, t, kernel);
  const lo_index *at = lo_identity(L, t), *to = lo_put_index(L, n, at);
  search s = {g, n->in[0], origin(L, n->in[0]), to, LOOK};
  lo_store_all(L, g, n->in[1], at, r, to, false);
  lo_demand_value(L, n->in[1], g, at, false, false);
  if (L->place[n->in[1].id].demand && !reads_in_place(L, &s, n->in[1], at))
    L->place[n->in[1].id].demand->load = true;
  tc_dim zero[TC_MAX_RANK];
  for (int i = 0; i < TC_MAX_RANK; i++) zero[i] = tc_dim_const(0);
  if (lo_node(L, n->in[0])->op == OP_PUT && read_once(L, n->in[0]))
    place_put(L, r, n->in[0], kernel);
  else place_piece(L, r, n->in[0], zero, kernel);
}

bool lo_has_windows(const lo_index *at) {
  for (uint32_t i = 0; i < at->rank; i++) {
    const uint32_t axes = lo_lin_axes(&at->dim[i]);
    if (axes & (axes - 1)) return true;
  }
  return false;
}

/* Neighbours of a product's operand would each look whether they are there. */
static bool pads_last_axis(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  const tc_dim *before, *after;
  const int rank = tc_attr_list(n, "before", &before);
  tc_attr_list(n, "after", &after);
  return L->target->channels_last && rank &&
         !(tc_dim_is(before[rank - 1], 0) && tc_dim_is(after[rank - 1], 0));
}

/* Is it read through windows alone?  Their loads of what is padded can look whether it is there. */
static bool reads_guarded(lo *L, tc_ref r) {
  const lo_place *p = &L->place[r.id];
  if (lo_node(L, r)->op != OP_PAD || !L->target->guards || p->target) return false;
  const bool apart = pads_last_axis(L, r);
  for (const lo_demand *d = p->demand; d; d = d->next)
    if (d->load || !d->at || d->at->flat || d->at->terms || (apart && d->prologue) ||
        !lo_has_windows(d->at))
      return false;
  return true;
}

void lo_place_join(lo *L, tc_ref r) {
  if (reads_guarded(L, r)) {
    for (lo_demand *d = L->place[r.id].demand; d; d = d->next) lo_compute(L, r, d);
    return;
  }
  if (lo_fuse_pieces(L, r)) return;
  uint32_t kernel = ++L->nkernelid;
  load_all(&L->place[r.id], NULL);
  lo_no(L, "its pieces are written one after the other, each by a loop of its own");
  lo_make_buffer(L, r);
  tc_dim zero[TC_MAX_RANK];
  for (int i = 0; i < TC_MAX_RANK; i++) zero[i] = tc_dim_const(0);
  if (lo_node(L, r)->op == OP_CONCAT) place_concat(L, r, r, zero, kernel);
  else if (lo_node(L, r)->op == OP_PUT) place_put(L, r, r, kernel);
  else place_pad(L, r, kernel);
}

/* A copy of x, then the updates one after the other. */
void lo_place_scatter(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  uint32_t kernel = ++L->nkernelid;
  load_all(&L->place[r.id], NULL);
  lo_no(L, "a scatter writes it in the order of its indices");
  lo_make_buffer(L, r);
  const tc_type *updates = tc_graph_type(L->g, n->in[1]);
  lo_group *g = own_group(L, r, updates, kernel);
  g->serial = true;
  const lo_index *at = lo_identity(L, updates);
  lo_store_all(L, g, n->in[2], at, r, lo_scatter_index(L, n, at), n->op == OP_SCATTER_ADD);
  lo_demand_value(L, n->in[1], g, at, false, false);
  lo_demand_value(L, n->in[2], g, at, false, false);
  tc_dim zero[TC_MAX_RANK];
  for (int i = 0; i < TC_MAX_RANK; i++) zero[i] = tc_dim_const(0);
  place_piece(L, r, n->in[0], zero, kernel);
}

/* Where it is a result twice, a nest copies it there. */
static void copy_to_targets(lo *L, tc_ref r) {
  lo_place *p = &L->place[r.id];
  const tc_type *t = tc_graph_type(L->g, r);
  lo_group *g = own_group(L, r, t, 0);
  const lo_index *at = lo_identity(L, t);
  lo_store_all(L, g, r, at, r, at, false);
  lo_demand_value(L, r, g, at, false, false);
  p->target = NULL;
}

/* Operands and result are arrays in their own shape. */
void lo_place_sort(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  lo_place *p = &L->place[r.id];
  if (p->target && p->target->next) copy_to_targets(L, r);
  load_all(p, NULL);
  lo_no(L, "a sort has a kernel of its own");
  lo_make_buffer(L, r);
  lo_group *g = own_group(L, r, &n->type, 0);
  g->call = r;
  p->group = g->id;
  lo_demand_value(L, n->in[0], g, NULL, false, false);
}

/* Operands are arrays in their own shape. */
void lo_place_call(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  lo_place *p = &L->place[r.id];
  load_all(p, NULL);
  lo_no(L, "a function of the program computes it");
  lo_make_buffer(L, r);
  if (p->target->next) lo_fail(L, n->loc, "the result of a function is a result twice");
  lo_group *g = own_group(L, r, &n->type, 0);
  g->call = r;
  p->group = g->id;
  for (int k = tc_call_first(n); k < n->nin; k++)
    lo_demand_value(L, n->in[k], g, NULL, false, false);
}

/* Groups run in the order of their nodes, unless one reads what another makes. */
void lo_place_effect(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  lo_no(L, "a function of the program is called with it");
  lo_group *g = own_group(L, r, &n->type, 0);
  g->call = r;
  for (int k = tc_call_first(n); k < n->nin; k++)
    lo_demand_value(L, n->in[k], g, NULL, false, false);
}

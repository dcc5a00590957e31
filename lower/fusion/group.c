/* group.c - groups of nodes that share a loop nest, and what may join them. */
#include "lower/lowering.h"

lo_group *lo_new_group(lo *L, const tc_type *shape) {
  lo_group *g = lo_alloc(L, L->scratch, sizeof *g);
  g->id = ++L->ngroup;
  g->k = g->lane = -1;
  g->ninterval = 1;
  L->group = lo_grow(L, L->scratch, L->group, &L->cgroup, g->id, sizeof *L->group);
  L->group[g->id] = g;
  for (int i = 0; i < shape->rank; i++)
    if (!tc_dim_is(shape->dim[i], 1)) g->extent[g->naxis++] = shape->dim[i];
  return g;
}

static bool is_listed(const lo_group *g, uint32_t id) {
  for (uint32_t i = 0; i < g->nsource; i++)
    if (g->source[i] == id) return true;
  return false;
}

void lo_add_sources(lo *L, lo_group *g, tc_ref n) {
  const lo_fact *f = &L->fact[n.id];
  g->sources |= f->sources;
  g->more_sources |= f->nsource > LO_SOURCES;
  for (uint32_t i = 0; i < f->nsource && i < LO_SOURCES; i++) {
    if (is_listed(g, f->source[i])) continue;
    g->source = lo_grow(L, L->scratch, g->source, &g->csource, g->nsource, sizeof *g->source);
    g->source[g->nsource++] = f->source[i];
  }
}

bool lo_lists_source(lo *L, const lo_group *g, tc_ref n) {
  const lo_fact *f = &L->fact[n.id];
  if (f->nsource > LO_SOURCES) return false;
  for (uint32_t i = 0; i < f->nsource; i++)
    if (is_listed(g, f->source[i])) return true;
  return false;
}

bool lo_shares_source(lo *L, const lo_group *g, tc_ref n) {
  const lo_fact *f = &L->fact[n.id];
  if (!(g->sources & f->sources)) return false;
  if (L->target->siblings == TC_SIBLINGS_NONE) return true; /* by chance, too: it saves launches */
  if (g->more_sources || f->nsource > LO_SOURCES) return true; /* as far as the filter tells */
  return lo_lists_source(L, g, n);
}

void lo_add_member(lo *L, lo_group *g, tc_ref n) {
  g->member = lo_grow(L, L->scratch, g->member, &g->cmember, g->nmember, sizeof *g->member);
  g->member[g->nmember++] = n;
  lo_add_sources(L, g, n);
}

void lo_add_store(lo *L, lo_group *g, lo_store s) {
  g->store = lo_grow(L, L->scratch, g->store, &g->cstore, g->nstore, sizeof *g->store);
  g->store[g->nstore++] = s;
}

bool lo_has_room(const lo_group *g) {
  return g->nmember < LO_MEMBERS && (uint64_t)(g->nmember + 1) * g->ninterval <= LO_INTERVAL_NODES;
}

tc_dim lo_group_numel(lo *L, const lo_group *g, uint32_t axes) {
  tc_dim p = tc_dim_const(1);
  for (int a = 0; a < g->naxis; a++)
    if (axes >> a & 1) p = tc_dim_mul(L->dims, p, g->extent[a]);
  return p;
}

static uint32_t all_axes(const lo_group *g) { return (1u << g->naxis) - 1; }

/* Every dimension runs along an axis of its own, whole. */
static bool canonical(const lo_group *g, const tc_type *t, const lo_index *at) {
  uint32_t used = 0;
  if (at->flat || at->terms) return false;
  for (int i = 0; i < t->rank; i++) {
    if (tc_dim_is(t->dim[i], 1)) {
      if (!lo_lin_is_zero(&at->dim[i])) return false;
      continue;
    }
    int a = lo_lin_axis(&at->dim[i]);
    if (a < 0 || (used >> a & 1) || !tc_dim_same(g->extent[a], t->dim[i])) return false;
    used |= 1u << a;
  }
  return true;
}

/* Could the axes in m become inner?  Not those that a reduction's result is indexed by. */
static bool can_be_sequential(const lo_group *g, uint32_t m) {
  for (uint32_t i = 0; i < g->nreduce; i++)
    if (g->reduce[i].at->axes & m) return false;
  return true;
}

/* ---- reductions ------------------------------------------------------------------------------ */

typedef struct shape { /* what a reduction combines */
  int n;
  tc_dim extent[TC_MAX_RANK];
  bool columns; /* the last dimension of the operand is kept: lanes run along results */
} shape;

static shape shape_of(lo *L, const tc_node *n) {
  const tc_type *t = tc_graph_type(L->g, n->in[0]);
  shape s = {0};
  if (n->op == OP_MATMUL) {
    const tc_type *b = tc_graph_type(L->g, n->in[1]);
    s.extent[s.n++] = t->dim[t->rank - 1];
    s.columns = b->rank > 1 && !tc_dim_is(b->dim[b->rank - 1], 1);
    return s;
  }
  uint32_t reduced = lo_reduced_dims(n, t->rank);
  for (int i = 0; i < t->rank; i++)
    if (reduced >> i & 1) s.extent[s.n++] = t->dim[i];
  s.columns = t->rank && !(reduced >> (t->rank - 1) & 1);
  return s;
}

/* Few results from many elements: threads are fed by chunks of the reduction.  Where that would
 * part the reduction from its readers, it takes more than the absence of a bound; rows of a
 * reduction are many, where nothing is known. */
static bool wants_split(lo *L, const shape *s, tc_dim results, bool scan, bool parts) {
  const tc_target *t = L->target;
  const bool columns = s->columns;
  int64_t few = columns ? t->few_columns : t->few_rows, least, most;
  const int64_t size_limit = columns && t->long_column ? t->long_column : 2 * t->split;
  tc_dim size = lo_product(L, s->extent, s->n);
  if (lo_at_most(L, size, size_limit)) return false;
  if (parts && t->few_kept_rows && !lo_at_most(L, results, 1)) return false; /* row_parts.c has nests of parts */
  tc_dim_range(L->dims, size, &least, &most);
  if (parts && least <= size_limit) few = 2;
  if (lo_at_most(L, results, few - 1)) return true;
  tc_dim_range(L->dims, results, &least, &most);
  return t->cut_unknown && (columns || scan) && !parts && least < few;
}

/* Is a reduction of such rows, along all that `at` lacks, cut?  Then it has kernels of its own, and
 * in their reader's nest no loop outside of it would be left to share out. */
static bool splits_rows(lo *L, const lo_group *g, const lo_index *at, uint32_t missing) {
  shape s = {0};
  for (int a = 0; a < g->naxis && s.n < TC_MAX_RANK; a++)
    if (missing >> a & 1) s.extent[s.n++] = g->extent[a];
  return wants_split(L, &s, lo_group_numel(L, g, at->axes), false, true);
}

bool lo_can_host(lo *L, const lo_group *g, tc_ref n, const lo_index *at) {
  if (g->closed || !lo_has_room(g) || !canonical(g, tc_graph_type(L->g, n), at)) return false;
  if (g->k >= 0 && g->matmul.id) return at->axes == (all_axes(g) & ~lo_deep_axes(g));
  uint32_t missing = all_axes(g) & ~at->axes;
  if (g->split) return missing == g->sequential;
  if (!(missing & ~g->sequential)) return true;
  /* a value of each row, where a reduction of the rows is about to join */
  uint32_t first = missing & -missing;
  bool trailing = at->axes < first;
  return trailing && !g->sequential &&
         tc_dim_same(L->fact[n.id].reduced, lo_group_numel(L, g, all_axes(g))) &&
         !splits_rows(L, g, at, missing);
}

/* Elements up to which a reduction that is split, and may turn out to be short, is not: rows of one
 * part take one nest instead of two. */
static int64_t whole_limit(lo *L, const shape *s) {
  const tc_target *t = L->target;
  const int64_t limit = s->columns ? t->long_column : t->split;
  int64_t least, most;
  tc_dim_range(L->dims, lo_product(L, s->extent, s->n), &least, &most);
  return t->cut_unknown && least <= limit ? limit : 0;
}

static void choose_split(lo *L, lo_group *g, bool split, const shape *s) {
  g->split = split;
  g->columns = s->columns;
  g->whole = split ? whole_limit(L, s) : 0;
  g->many = g->whole ? s->columns ? L->target->few_columns : L->target->few_rows : 0;
}

void lo_choose_split_scan(lo *L, lo_group *g) {
  if (!L->target->split_scans || !g->sequential) return;
  const int axis = __builtin_ctz(g->sequential);
  shape s = {.n = 1, .extent = {g->extent[axis]}, .columns = axis < g->naxis - 1};
  choose_split(L, g, wants_split(L, &s, lo_group_numel(L, g, ~g->sequential), true, false), &s);
}

/* Finds axes for the reduced dimensions among `unused`, in order, else makes new ones. */
static bool match_axes(lo_group *g, const shape *s, uint32_t unused, lo_reduce *r, uint32_t *axes) {
  r->naxis = s->n;
  for (int i = 0; i < s->n; i++) {
    r->axis[i] = -1;
    if (tc_dim_is(s->extent[i], 1)) continue;
    int a = 0;
    while (a < g->naxis && !((unused >> a & 1) && tc_dim_same(g->extent[a], s->extent[i]))) a++;
    if (a == LO_AXES) return false;
    if (a == g->naxis) g->extent[g->naxis++] = s->extent[i];
    unused &= ~(1u << a);
    *axes |= 1u << a;
    r->axis[i] = a;
  }
  return true;
}

bool lo_has_many_updates(const lo *L) {
  enum { FEW = 8 };
  return L->target->siblings == TC_SIBLINGS_POINTWISE && L->nwrite > FEW;
}

/* An update would be in the text of each nest of the reduction, and compilers of kernels for GPUs
 * take the longer for an operation the more there are.  Results of split reductions are few. */
bool lo_runs_apart(const lo *L, const lo_group *g) {
  return g->updates && !g->nreduce && lo_has_many_updates(L);
}

/* Does it reduce what waits for another reduction?  Chunks would be read once more for each of them. */
static bool waits(lo *L, const tc_node *n) { return !tc_dim_is(L->fact[n->in[0].id].reduced, 0); }

static bool feeds_machine(lo *L, tc_dim results) {
  int64_t least, most;
  tc_dim_range(L->dims, results, &least, &most);
  return L->target->enough_rows && least >= L->target->enough_rows;
}

bool lo_join_reduce(lo *L, lo_group *g, tc_ref n, const lo_index *at, bool feeds_reduce) {
  const tc_node *node = lo_node(L, n);
  if (g->matmul.id) return lo_no(L, "a reduction does not fit into the epilogue of a matmul");
  if (g->closed || g->lane >= 0 || !lo_has_room(g))
    return lo_no(L, "the kernel that reads it takes nothing more");
  if (!canonical(g, &node->type, at))
    return lo_no(L, "its reader needs other than one result for each of its points");
  shape s = shape_of(L, node);
  uint32_t unused = all_axes(g) & ~at->axes, axes = 0;
  const tc_dim results = lo_group_numel(L, g, at->axes);
  bool split = wants_split(L, &s, results, false, unused && !g->split) && !(waits(L, node) && !s.columns && feeds_machine(L, results));
  lo_no(L, "it is a reduction along another axis than the loops of its reader");
  if ((at->axes & g->sequential) || !can_be_sequential(g, unused)) return false;
  if (g->split && (!split || unused != g->sequential)) return false;
  lo_no(L, split ? "few results of many elements: the reduction is cut into chunks" : L->why);
  if (split && !g->split && (unused || g->sequential || g->nreduce)) return false;
  if (split && feeds_reduce) return false;
  if (split && lo_runs_apart(L, g))
    return lo_no(L, "few results of many elements: what they update runs with its like");
  if (split && L->target->most_sums && g->nreduce >= L->target->most_sums)
    return lo_no(L, "the kernel that reads it takes nothing more");
  lo_reduce r = {.node = n, .at = at};
  int naxis = g->naxis;
  bool fits = match_axes(g, &s, unused, &r, &axes);
  fits = fits && !(unused & ~axes) && (!g->nreduce || axes == g->sequential);
  if (!fits) {
    g->naxis = naxis;
    return false;
  }
  g->sequential = axes;
  choose_split(L, g, split, &s);
  g->reduce = lo_grow(L, L->scratch, g->reduce, &g->creduce, g->nreduce, sizeof *g->reduce);
  g->reduce[g->nreduce++] = r;
  return true;
}

/* ---- matmuls --------------------------------------------------------------------------------- */

/* l numbers the points of some axes in row-major order: those axes, or 0. */
static uint32_t merged_axes(lo *L, const lo_group *g, const lo_lin *l, tc_dim size) {
  tc_dim expected = tc_dim_const(1);
  uint32_t axes = 0;
  if (!tc_dim_is(l->offset, 0) || l->nterm) return 0;
  for (int a = g->naxis - 1; a >= 0; a--) {
    if (tc_dim_is(l->coef[a], 0)) continue;
    if (!tc_dim_same(l->coef[a], expected)) return 0;
    expected = tc_dim_mul(L->dims, expected, g->extent[a]);
    axes |= 1u << a;
  }
  return tc_dim_same(expected, size) ? axes : 0;
}

/* Lanes run along the innermost of the axes. */
static bool may_be_columns(lo *L, const lo_group *g, uint32_t axes) {
  enum { LANES = 16 };
  const int last = 31 - __builtin_clz(axes);
  return !(axes & (axes - 1)) ||
         (L->target->epilogue_parts && lo_guess(L, g->extent[last]) >= LANES);
}

/* Of products of windows: rows run over several axes, and along their neighbours in memory. */
static bool stores_columns_apart(lo *L, const lo_group *g, uint32_t rows, uint32_t columns) {
  return L->target->channels_last && (rows & (rows - 1)) && !(columns >> (g->naxis - 1) & 1);
}

/* The group computes one point for each element of n, along (batch.., m, n) or a finer cut of rows
 * and columns. */
bool lo_can_join_matmul(lo *L, const lo_group *g, tc_ref n, const lo_index *at) {
  const tc_type *t = tc_graph_type(L->g, n);
  if (g->nreduce || g->sequential)
    return lo_no(L, "its reader reduces, which the epilogue of a matmul cannot");
  if (g->matmul.id) return lo_no(L, "its reader is the epilogue of another matmul");
  if ((g->closed && !g->piece) || g->pieces || at->flat || !lo_has_room(g))
    return lo_no(L, "the kernel that reads it takes nothing more");
  lo_no(L, "its reader does not run over the rows and columns of the product");
  if (g->naxis + 1 >= LO_AXES) return false;
  uint32_t used = 0, rows = 0;
  for (int i = 0; i < t->rank; i++) {
    if (tc_dim_is(t->dim[i], 1)) {
      if (!lo_lin_is_zero(&at->dim[i])) return false;
      continue;
    }
    uint32_t m = merged_axes(L, g, &at->dim[i], t->dim[i]);
    if (!m || (m & used) || (i == t->rank - 1 && !may_be_columns(L, g, m))) return false;
    if (i == t->rank - 1 && stores_columns_apart(L, g, rows, m)) return false;
    used |= rows = m;
  }
  return used == all_axes(g);
}

/* Independent work over the same space shares a nest when it shares inputs, or both are results. */
bool lo_shares(lo *L, const lo_group *g, tc_ref r) {
  return lo_shares_source(L, g, r) || (g->is_output && L->place[r.id].target);
}

bool lo_same_space(lo *L, const lo_group *g, tc_ref r, uint32_t axes) {
  const tc_type *t = tc_graph_type(L->g, r);
  int a = 0;
  for (int i = 0; i < t->rank; i++) {
    if (tc_dim_is(t->dim[i], 1)) continue;
    while (a < g->naxis && !(axes >> a & 1)) a++;
    if (a == g->naxis || !tc_dim_same(t->dim[i], g->extent[a++])) return false;
  }
  while (a < g->naxis && !(axes >> a & 1)) a++;
  return a == g->naxis;
}

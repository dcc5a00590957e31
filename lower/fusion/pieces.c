/* pieces.c - concatenations and padded arrays that are computed where they are read.
 *
 * Each is a piecewise value: along an axis, from bound[p] to in front of bound[p + 1] it is piece
 * p.  A roll is one, of two slices.  There are two ways to read it without an array that holds it:
 *
 *   intervals  along the axis of the lanes, stages of the reader's nest each take the points at which every such value
 *              has one piece: a row of a periodic stencil is its first element, what lies between, and its last.
 *              Accesses are affine, and every stage computes what is there alone (index set splitting).
 *   select     along another axis, or where the target has no such stages: a comparison of places chooses, of loads
 *              that are guarded, or of the addresses of one load (nest/piece.c).
 *
 * Both cost instructions, and save that the array is written and read. */
#include "lower/lowering.h"

#include <string.h>

/* ---- pieces ---------------------------------------------------------------------------------- */

static void add_piece(lo *L, lo_pieces *p, uint32_t source, tc_dim size) {
  if (tc_dim_is(size, 0)) return;
  p->source[p->n] = source;
  p->bound[p->n + 1] = tc_dim_add(L->dims, p->bound[p->n], size);
  p->n++;
}

static void find_operands(lo *L, const tc_node *n, lo_pieces *p) {
  for (int k = 0; k < n->nin; k++)
    add_piece(L, p, (uint32_t)k, tc_graph_type(L->g, n->in[k])->dim[p->dim]);
}

static void find_edges(lo *L, const tc_node *n, lo_pieces *p) {
  const tc_dim *before, *after;
  tc_attr_list(n, "before", &before);
  tc_attr_list(n, "after", &after);
  add_piece(L, p, 1, before[p->dim]);
  add_piece(L, p, 0, tc_graph_type(L->g, n->in[0])->dim[p->dim]);
  add_piece(L, p, 1, after[p->dim]);
}

bool lo_find_pieces(lo *L, const tc_node *n, int dim, lo_pieces *out) {
  enum { EDGES = 3 };
  const size_t most = n->op == OP_PAD ? EDGES : (size_t)n->nin;
  if (n->op == OP_PAD && tc_dim_same(tc_graph_type(L->g, n->in[0])->dim[dim], n->type.dim[dim]))
    return false;
  if (n->op == OP_CONCAT && dim != lo_axis_attr(n, n->type.rank)) return false;
  *out = (lo_pieces){.dim = dim};
  out->bound = lo_alloc(L, L->scratch, (most + 1) * sizeof *out->bound);
  out->source = lo_alloc(L, L->scratch, (most + 1) * sizeof *out->source);
  out->bound[0] = tc_dim_const(0);
  if (n->op == OP_PAD) find_edges(L, n, out);
  else find_operands(L, n, out);
  if (!out->n) out->n = 1, out->bound[1] = out->bound[0]; /* all are empty, and none is read */
  return true;
}

/* ---- places along the lanes' axis ------------------------------------------------------------ */

/* The axis is a, step for step. */
static bool runs_along(const lo_lin *l, int a) {
  return a >= 0 && !l->nterm && lo_lin_axes(l) == 1u << a && tc_dim_is(l->coef[a], 1);
}

/* Where along the axis piece p + 1 begins. */
static tc_dim place_of(lo *L, const lo_pieces *p, const lo_lin *l, int piece) {
  return tc_dim_sub(L->dims, p->bound[piece + 1], l->offset);
}

static int find_cut(lo *L, const lo_group *g, const lo_pieces *p, const lo_lin *l) {
  for (uint32_t c = 0; c < g->ncut; c++) {
    bool same = g->cut[c].n + 1 == (uint32_t)p->n;
    for (uint32_t i = 0; same && i < g->cut[c].n; i++)
      same = tc_dim_same(g->cut[c].at[i], place_of(L, p, l, (int)i));
    if (same) return (int)c;
  }
  return -1;
}

static void add_cut(lo *L, lo_group *g, const lo_pieces *p, const lo_lin *l) {
  if (find_cut(L, g, p, l) >= 0) return;
  g->cut = lo_grow(L, L->scratch, g->cut, &g->ccut, g->ncut, sizeof *g->cut);
  lo_cut *c = &g->cut[g->ncut++];
  *c = (lo_cut){.n = (uint32_t)p->n - 1,
                .at = lo_alloc(L, L->scratch, (size_t)p->n * sizeof *c->at)};
  for (uint32_t i = 0; i < c->n; i++) c->at[i] = place_of(L, p, l, (int)i);
}

int lo_piece_at(lo *L, const lo_group *g, const lo_pieces *p, const lo_lin *l,
                const lo_interval *in) {
  if (p->n == 1) return 0;
  for (int i = 0; i < p->n; i++)
    if (lo_lin_within(L, g, l, p->bound[i], p->bound[i + 1])) return i;
  const int c = in && runs_along(l, g->lane) ? find_cut(L, g, p, l) : -1;
  return c < 0 ? -1 : (int)in->piece[c];
}

/* ---- intervals ------------------------------------------------------------------------------- */

typedef struct intervals {
  lo *L;
  const lo_group *g;
  lo_interval *at;
  uint32_t n, room;
  uint32_t *piece; /* of the cuts so far */
} intervals;

static tc_dim later(lo *L, tc_dim a, tc_dim b) {
  if (tc_dim_known_le(L->dims, a, b)) return b;
  return tc_dim_known_le(L->dims, b, a) ? a : tc_dim_max(L->dims, a, b);
}

static tc_dim earlier(lo *L, tc_dim a, tc_dim b) {
  if (tc_dim_known_le(L->dims, a, b)) return a;
  return tc_dim_known_le(L->dims, b, a) ? b : tc_dim_min(L->dims, a, b);
}

static void push_interval(intervals *r, tc_dim first, tc_dim end) {
  lo *L = r->L;
  r->at = lo_grow(L, L->scratch, r->at, &r->room, r->n, sizeof *r->at);
  lo_interval *x = &r->at[r->n++];
  *x = (lo_interval){first, end, lo_alloc(L, L->scratch, (r->g->ncut + 1) * sizeof *x->piece)};
  memcpy(x->piece, r->piece, r->g->ncut * sizeof *x->piece);
}

/* Of the points from `first` to in front of `end`, by the pieces of cut c and those behind it.
 * Parts that are known to be empty are left out; where the order of places is not known, there is a
 * interval for either. */
static void cut_interval(intervals *r, uint32_t c, tc_dim first, tc_dim end) {
  if (c == r->g->ncut) {
    push_interval(r, first, end);
    return;
  }
  const lo_cut *cut = &r->g->cut[c];
  for (uint32_t p = 0; p <= cut->n; p++) {
    const tc_dim from = p ? later(r->L, first, cut->at[p - 1]) : first;
    const tc_dim to = p < cut->n ? earlier(r->L, end, cut->at[p]) : end;
    if (tc_dim_known_le(r->L->dims, to, from)) continue;
    r->piece[c] = p;
    cut_interval(r, c + 1, from, to);
  }
}

lo_interval *lo_find_intervals(lo *L, const lo_group *g, uint32_t *n) {
  intervals r = {.L = L, .g = g, .piece = lo_alloc(L, L->scratch, (g->ncut + 1) * sizeof *r.piece)};
  cut_interval(&r, 0, tc_dim_const(0), g->extent[g->lane]);
  *n = r.n;
  return r.at;
}

/* ---- what is read, and how ------------------------------------------------------------------- */

typedef enum { ARRAY, SELECT, INTERVAL } reading;

/* Lanes need neighbours: an axis of fewer points than this is not theirs. */
enum { LANES = 16 };

/* The axis along which neighbours lie, or -1: of what is stored; or, where g reduces, of what is
 * read at `at`. */
static int lane_of(lo *L, const lo_group *g, const tc_type *t, const lo_index *at) {
  int last = g->naxis - 1;
  if (g->nreduce || g->sequential) {
    int i = t->rank - 1;
    while (i >= 0 && tc_dim_is(t->dim[i], 1)) i--;
    const uint32_t axes = i < 0 ? 0 : lo_lin_axes(&at->dim[i]);
    last = axes && !(axes & (axes - 1)) ? __builtin_ctz(axes) : -1;
  }
  return last >= 0 && lo_guess(L, g->extent[last]) >= LANES ? last : -1;
}

/* Is there a value for each element, made of a reduction?  Its stages would compute much of the row
 * again. */
static bool follows_rows(const lo *L, tc_ref r) {
  const lo_fact *f = &L->fact[r.id];
  return !tc_dim_is(f->reduced, 0) && !tc_dim_same(f->rows, f->numel);
}

/* May stages of g end in front of places along the axis?  Not where what is read in one of them is
 * reduced to what another one needs, or is about to be. */
static bool may_be_cut(const lo *L, const lo_group *g, int lane) {
  bool rows = false;
  for (uint32_t i = 0; i < g->nreduce; i++) {
    const tc_node *n = lo_node(L, g->reduce[i].node);
    if (n->op == OP_MATMUL || !tc_dim_is(L->fact[n->in[0].id].reduced, 0)) return false;
  }
  for (uint32_t i = 0; i < g->nmember; i++) {
    if (follows_rows(L, g->member[i])) return false;
    rows |= !tc_dim_is(L->fact[g->member[i].id].reduced, 0);
  }
  return g->nreduce || g->sequential ? g->nreduce && (g->sequential >> lane & 1) : !rows;
}

/* Can it become the epilogue of a product? */
static bool follows_product(const lo *L, const lo_group *g) {
  for (uint32_t i = 0; i < g->nmember; i++)
    if (L->fact[g->member[i].id].product) return true;
  return false;
}

static reading reading_along(lo *L, const lo_demand *d, const tc_type *t, const lo_lin *l) {
  const lo_group *g = L->group[d->group];
  if (l->nterm) return ARRAY;
  if (!L->target->intervals) return SELECT;
  const int lane = lane_of(L, g, t, d->at);
  if (lane < 0) return ARRAY;
  if (!(lo_lin_axes(l) >> lane & 1)) return SELECT;
  if (!runs_along(l, lane) || (g->lane >= 0 && g->lane != lane)) return ARRAY;
  return may_be_cut(L, g, lane) ? INTERVAL : ARRAY;
}

static bool moves(const tc_node *n) {
  return lo_class(n) == TC_CLASS_VIEW || n->op == OP_CAST || n->op == OP_FULL || n->op == OP_NEG ||
         n->op == OP_ABS;
}

bool lo_may_select(const lo *L, tc_ref r) {
  enum { CHEAP = 4 };
  return moves(lo_node(L, r)) || (!L->fact[r.id].costly && L->fact[r.id].cone <= CHEAP);
}

/* What r is moved from. */
static tc_ref behind_moves(const lo *L, tc_ref r) {
  for (const tc_node *n = lo_node(L, r); moves(n); n = lo_node(L, r)) r = n->in[0];
  return r;
}

/* What is chosen has to be an array, or cheap: are its operands made of no more than one value that
 * would become an array in the place of this one? */
static bool may_choose(const lo *L, const tc_node *n) {
  uint32_t made = 0;
  for (int k = 0; k < n->nin; k++) {
    const tc_ref r = behind_moves(L, n->in[k]);
    const tc_class c = lo_class(lo_node(L, r));
    if ((c != TC_CLASS_EW && c != TC_CLASS_INDEX && c != TC_CLASS_GEN) || r.id == made ||
        lo_may_select(L, r))
      continue;
    if (made) return false;
    made = r.id;
  }
  return true;
}

/* A comparison and a choice take the time of a byte that is moved; the array would have been
 * written and read. */
static bool select_pays(const tc_node *n, const lo_pieces *p) {
  return p->n <= 2 * (int)tc_dtype_bytes(n->type.dtype);
}

/* A stage more is all that the group computes once more for each row, on lanes that the row fills
 * in part. */
static bool interval_pays(lo *L, const lo_group *g, const tc_node *n, uint32_t before) {
  enum { OPERATION = 8 }; /* bytes that are moved in the time of a vector operation */
  const int64_t row = lo_guess(L, g->extent[g->lane]),
                saved = 2 * (int64_t)tc_dtype_bytes(n->type.dtype);
  return (int64_t)(g->ninterval - before) * (g->nmember + n->nin) * OPERATION / saved <= row;
}

static bool cut_lane(lo *L, lo_group *g, const tc_node *n, const lo_pieces *p, const lo_lin *l) {
  const uint32_t before = g->ninterval;
  g->lane = __builtin_ctz(lo_lin_axes(l));
  add_cut(L, g, p, l);
  lo_find_intervals(L, g, &g->ninterval);
  return lo_has_room(g) && interval_pays(L, g, n, before);
}

/* Cuts the axis of the reader's lanes where its pieces are read by intervals.  *select: some
 * dimension is not decided by that. */
static bool prepare(lo *L, const tc_node *n, lo_demand *d, bool *select) {
  lo_group *g = L->group[d->group];
  lo_pieces p;
  for (int i = 0; i < n->type.rank; i++) {
    const lo_lin *l = &d->at->dim[i];
    if (!lo_find_pieces(L, n, i, &p) || lo_piece_at(L, g, &p, l, NULL) >= 0) continue;
    const reading w = reading_along(L, d, &n->type, l);
    if (w == ARRAY || (w == SELECT && (!may_choose(L, n) || !select_pays(n, &p)))) return false;
    if (w == INTERVAL && !cut_lane(L, g, n, &p, l)) return false;
    *select |= w == SELECT;
  }
  return true;
}

static bool takes_pieces(lo *L, const lo_demand *d) {
  const lo_group *g = L->group[d->group];
  if (d->load || d->prologue || !d->at || d->at->flat || !lo_has_room(g)) return false;
  return !g->matmul.id && !g->scan.id && !g->call.id && !g->serial && !follows_product(L, g);
}

/* What the readers' groups were before. */
typedef struct undo {
  struct undo *next;
  lo_group *g;
  uint32_t ncut, ninterval;
  int lane;
} undo;

static bool prepare_all(lo *L, const tc_node *n, lo_demand *all) {
  undo *list = NULL;
  bool ok = true;
  for (lo_demand *d = all; ok && d; d = d->next) {
    undo *u = lo_alloc(L, L->scratch, sizeof *u);
    lo_group *g = L->group[d->group];
    *u = (undo){list, g, g->ncut, g->ninterval, g->lane};
    list = u;
    bool select = d->select;
    ok = takes_pieces(L, d) && prepare(L, n, d, &select);
  }
  for (undo *u = list; !ok && u; u = u->next)
    u->g->ncut = u->ncut, u->g->ninterval = u->ninterval, u->g->lane = u->lane;
  return ok;
}

bool lo_fuse_pieces(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  lo_place *p = &L->place[r.id];
  if ((n->op != OP_CONCAT && n->op != OP_PAD) || p->target || !prepare_all(L, n, p->demand))
    return false;
  for (lo_demand *d = p->demand; d; d = d->next) {
    bool select = d->select;
    prepare(L, n, d, &select);
    d->select = select;
    L->group[d->group]->pieces = true;
    lo_compute(L, r, d);
  }
  return true;
}

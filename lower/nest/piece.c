/* piece.c - the value of a concatenation or padded array at an index: that of one of its pieces
 * (fusion/pieces.c). */
#include "lower/lowering.h"

#include <math.h>

/* ---- conditions ------------------------------------------------------------------------------ */

static tc_val both(lo_kb *b, tc_val x, tc_val y, tc_loc loc) {
  return x.id && y.id ? lo_op(b, OP_AND, TC_BOOL, x, y, (tc_val){0}, loc) : x.id ? x : y;
}

/* place >= d, place < d */
static tc_val compare(lo_kb *b, tc_op op, tc_val place, tc_dim d, tc_loc loc) {
  const lo_lin l = {.offset = d};
  return lo_op(b, op, TC_BOOL, place, lo_index_value(b, &l, loc), (tc_val){0}, loc);
}

/* ---- loads that are chosen by their addresses ------------------------------------------------ */

static bool same_terms(const tc_address *x, const tc_address *y) {
  bool same = x->nterm == y->nterm;
  for (int t = 0; same && t < x->nterm; t++)
    same = x->term[t].value.id == y->term[t].value.id &&
           tc_dim_same(x->term[t].stride, y->term[t].stride) && x->term[t].free && y->term[t].free;
  return same;
}

/* d / unit, *exact: without a rest */
static tc_dim in_units(lo_kb *b, tc_dim d, tc_dim unit, bool *exact) {
  const tc_dim q = tc_dim_div(b->L->dims, d, unit);
  *exact &= tc_dim_same(tc_dim_mul(b->L->dims, q, unit), d);
  return q;
}

/* What is chosen between two addresses of one array by a place: all that the place decides, and
 * what differs. */
typedef struct choice {
  const tc_address *x, *y;
  const lo_lin *place;
  tc_dim unit; /* elements: both are multiples of it */
} choice;

static bool is_chosen(const choice *c, int axis) {
  return !tc_dim_same(c->x->coef[axis], c->y->coef[axis]) ||
         (axis < LO_AXES && !tc_dim_is(c->place->coef[axis], 0));
}

/* Of address a, in units. */
static tc_address chosen_part(lo_kb *b, const choice *c, const tc_address *a, bool *exact) {
  tc_address d = {.offset = in_units(b, a->offset, c->unit, exact)};
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (is_chosen(c, i)) d.coef[i] = in_units(b, a->coef[i], c->unit, exact);
  return d;
}

/* Elements that an address steps over from place to place.  An access of several elements asks what
 * it begins at a multiple of. */
static tc_dim unit_of(const choice *c) {
  for (int i = 0; i < LO_AXES; i++) {
    const tc_dim step = tc_dim_is(c->x->coef[i], 0) ? c->y->coef[i] : c->x->coef[i];
    if (tc_dim_is(c->place->coef[i], 1) && !tc_dim_is(step, 0)) return step;
  }
  return tc_dim_const(1);
}

/* The part of x if `first`, else of y. */
static tc_term chosen_term(lo_kb *b, tc_val first, choice c, tc_loc loc) {
  tc_expr x = {.kind = TC_EX_INDEX, .dtype = TC_I64, .loc = loc}, y = x;
  bool exact = true;
  x.address = chosen_part(b, &c, c.x, &exact);
  y.address = chosen_part(b, &c, c.y, &exact);
  if (!exact) {
    c.unit = tc_dim_const(1);
    return chosen_term(b, first, c, loc);
  }
  const tc_val part = lo_op(b, OP_WHERE, TC_I64, first, lo_expr(b, &x), lo_expr(b, &y), loc);
  return (tc_term){.value = part, .stride = c.unit, .free = true};
}

typedef struct guarded {
  tc_val value, guard;
} guarded;

/* Where x if `first`, by the place, else y are loads of one array under their guards: one load
 * under `guard`, whose address is chosen; or none. */
static tc_val one_load(lo_kb *b, tc_val first, const lo_lin *place, guarded x, guarded y,
                       tc_val guard) {
  tc_expr e = b->k->expr[x.value.id];
  const tc_expr o = b->k->expr[y.value.id];
  const tc_address from = e.address;
  if (e.kind != TC_EX_LOAD || o.kind != TC_EX_LOAD || e.buffer != o.buffer ||
      e.guard.id != x.guard.id || o.guard.id != y.guard.id)
    return (tc_val){0};
  if (!same_terms(&from, &o.address) || from.nterm == LO_TERMS) return (tc_val){0};
  choice c = {.x = &from, .y = &o.address, .place = place};
  c.unit = unit_of(&c);
  e.address.term[e.address.nterm++] = chosen_term(b, first, c, e.loc);
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (is_chosen(&c, i)) e.address.coef[i] = tc_dim_const(0);
  e.address.offset = tc_dim_const(0);
  e.guard = guard;
  return lo_expr(b, &e);
}

/* ---- concatenations -------------------------------------------------------------------------- */

static tc_val piece_value(lo_kb *b, const tc_node *n, uint32_t k, const lo_index *at) {
  return lo_convert(b, lo_value(b, n->in[k], lo_operand_index(b->L, b->g, n, (int)k, at)),
                    n->type.dtype, n->loc);
}

/* From the last piece to the first: x where the place is in front of its end, else what was chosen
 * so far. */
static tc_val chosen(lo_kb *b, const tc_node *n, const lo_pieces *p, const lo_index *at) {
  const tc_val outer = b->guard, place = lo_index_value(b, &at->dim[p->dim], n->loc);
  const tc_dtype d = lo_compute_type(n->type.dtype);
  guarded behind = {0};
  for (int i = p->n - 1; i >= 0; i--) {
    const bool last = i == p->n - 1;
    const tc_val in_front = last ? (tc_val){0} : compare(b, OP_LT, place, p->bound[i + 1], n->loc);
    const tc_val from = i ? compare(b, OP_GE, place, p->bound[i], n->loc) : (tc_val){0};
    const tc_val rest = both(b, outer, from, n->loc), own = both(b, rest, in_front, n->loc);
    b->guard = own;
    const guarded x = {piece_value(b, n, p->source[i], at), own};
    b->guard = outer;
    tc_val v = x.value;
    if (!last) {
      v = one_load(b, in_front, &at->dim[p->dim], x, behind, rest);
      if (!v.id) v = lo_op(b, OP_WHERE, d, in_front, x.value, behind.value, n->loc);
    }
    behind = (guarded){v, rest};
  }
  return behind.value;
}

static tc_val concatenated(lo_kb *b, const tc_node *n, const lo_index *at) {
  lo_pieces p;
  const int dim = lo_axis_attr(n, n->type.rank);
  lo_find_pieces(b->L, n, dim, &p);
  const int i = lo_piece_at(b->L, b->g, &p, &at->dim[dim], b->interval);
  return i < 0 ? chosen(b, n, &p, at) : piece_value(b, n, p.source[i], at);
}

/* ---- padded arrays --------------------------------------------------------------------------- */

/* The place along dimension d lies in the operand: *known, everywhere or nowhere. */
static bool is_inside(lo_kb *b, const tc_node *n, int d, const lo_index *at, bool *known) {
  lo_pieces p;
  *known = true;
  if (!lo_find_pieces(b->L, n, d, &p)) return true;
  const int i = lo_piece_at(b->L, b->g, &p, &at->dim[d], b->interval);
  *known = i >= 0;
  return i >= 0 && p.source[i] == 0;
}

/* Does the element of the operand of n exist?  *never: nowhere. */
static tc_val inside(lo_kb *b, const tc_node *n, const lo_index *at, const lo_index *from,
                     bool *never) {
  const tc_type *t = tc_graph_type(b->L->g, n->in[0]);
  tc_val all = {0};
  *never = false;
  for (int i = 0; i < t->rank; i++) {
    bool known;
    const bool in = is_inside(b, n, i, at, &known);
    *never |= known && !in;
    if (known) continue;
    const tc_val place = lo_index_value(b, &from->dim[i], n->loc);
    const tc_dim zero = tc_dim_const(0);
    tc_dim least, end;
    const bool range = lo_lin_range(b->L, b->g, &from->dim[i], &least, &end);
    if (!range || !tc_dim_known_le(b->L->dims, zero, least))
      all = both(b, all, compare(b, OP_GE, place, zero, n->loc), n->loc);
    if (!range || !tc_dim_known_le(b->L->dims, end, t->dim[i]))
      all = both(b, all, compare(b, OP_LT, place, t->dim[i], n->loc), n->loc);
  }
  return all;
}

/* Rounded or not. */
static bool is_zero(const tc_kernel *k, tc_val v) {
  const tc_expr *e = &k->expr[v.id];
  if (e->kind == TC_EX_ROUND) e = &k->expr[e->in[0].id];
  return e->kind == TC_EX_CONST && e->i == 0 && e->f == 0 && !signbit(e->f);
}

/* The operand's element where there is one, else the value of the edges.  What it is made of is
 * loaded there alone. */
static tc_val padded(lo_kb *b, const tc_node *n, const lo_index *at) {
  const lo_index *from = lo_operand_index(b->L, b->g, n, 0, at);
  bool never;
  const tc_val outer = b->guard, in = inside(b, n, at, from, &never);
  const tc_val edge = piece_value(b, n, 1, at);
  if (never) return edge;
  b->guard = both(b, outer, in, n->loc);
  const tc_val x = piece_value(b, n, 0, at);
  b->guard = outer;
  if (!in.id || (b->k->expr[x.id].kind == TC_EX_LOAD && is_zero(b->k, edge))) return x;
  return lo_op(b, OP_WHERE, lo_compute_type(n->type.dtype), in, x, edge, n->loc);
}

tc_val lo_joined(lo_kb *b, const tc_node *n, const lo_index *at) {
  return n->op == OP_CONCAT ? concatenated(b, n, at) : padded(b, n, at);
}

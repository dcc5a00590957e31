/* assume.c - symbolic sizes: what is assumed of them from here on: bounds, equalities.
 *
 * A new fact raises the context's epoch, which makes cached ranges and normal forms stale. */
#include "graph/dim/dim_impl.h"

/* ---- bounds ---------------------------------------------------------------------------------- */

/* If d is c1*s + c0 for a symbol, quotient, min or max s: *s, with the bounds that lo <= d <= hi
 * means for it. */
static bool linear_bounds(tc_dims *c, tc_dim d, int64_t *lo, int64_t *hi, tc_dim *s) {
  const dim_poly *p = dim_poly_of(c, d);
  if (!p || p->n > 2 || (p->n == 2 && p->term[1].mono)) return false;
  dim_term t = p->term[0];
  int64_t c0 = p->n == 2 ? p->term[1].coef : 0;
  const dim_mono *m = c->mono.at[t.mono];
  if (m->n != 1 || t.coef == INT64_MIN || c0 == INT64_MIN) return false;
  if (t.coef < 0) {
    int64_t swap = *lo == INT64_MIN ? INT64_MAX : -*lo;
    *lo = *hi == INT64_MAX ? INT64_MIN : -*hi;
    *hi = swap;
    t.coef = -t.coef;
    c0 = -c0;
  }
  if (*lo != INT64_MIN && __builtin_sub_overflow(*lo, c0, lo)) return false;
  if (*hi != INT64_MAX && __builtin_sub_overflow(*hi, c0, hi)) return false;
  if (*lo != INT64_MIN) *lo = floor_div(*lo, t.coef) + (floor_mod(*lo, t.coef) != 0);
  if (*hi != INT64_MAX) *hi = floor_div(*hi, t.coef);
  *s = dim_atom_dim(c, m->atom[0]);
  return !tc_dim_bad(*s);
}

/* Notes lo <= d <= hi, narrower than known, of this one expression. */
static void note_bounds(tc_dims *c, tc_dim d, int64_t lo, int64_t hi) {
  dim_poly *p = dim_poly_of(c, d);
  uint32_t sym;
  if (!p) return;
  if (lo > p->lo) p->lo = lo;
  if (hi < p->hi) p->hi = hi;
  if (tc_dim_is_sym(c, d, &sym)) {
    tc_sym *s = c->sym.at[sym];
    if (lo > s->lo) s->lo = lo;
    if (hi < s->hi) s->hi = hi;
  }
  c->epoch++;
}

bool dim_narrow(tc_dims *c, tc_dim d, int64_t lo, int64_t hi) {
  dim_span r = dim_range_of(c, d);
  if (r.hi < lo || r.lo > hi || lo > hi) return false;
  tc_dim now = tc_dim_norm(c, d), s;
  bool known = r.lo >= lo && r.hi <= hi;
  if (!known || !tc_dim_same(d, now)) note_bounds(c, d, lo, hi);
  if (known) return true;
  note_bounds(c, now, lo, hi);
  if (!linear_bounds(c, now, &lo, &hi, &s) || tc_dim_same(s, now)) return true;
  return dim_narrow(c, s, lo, hi);
}

/* What d >= lo means for its symbols: k*s + rest >= lo with rest at its greatest. */
static bool narrow_symbols(tc_dims *c, tc_dim d, int64_t lo) {
  const dim_poly *p = dim_poly_of(c, d);
  for (uint32_t i = 0; p && i < p->n; i++) {
    const dim_mono *m = c->mono.at[p->term[i].mono];
    const int64_t k = p->term[i].coef;
    if (m->n != 1 || c->atom.at[m->atom[0]]->kind != ATOM_SYM || k == INT64_MIN) continue;
    const tc_dim s = dim_atom_dim(c, m->atom[0]), rest = dim_add_scaled(c, d, s, -k);
    const int64_t most = tc_dim_bad(rest) ? INT64_MAX : dim_range_of(c, rest).hi;
    int64_t need; /* k*s >= need */
    if (most == INT64_MAX || __builtin_sub_overflow(lo, most, &need) || need == INT64_MIN) continue;
    const bool fine = k < 0 ? dim_narrow(c, s, INT64_MIN, floor_div(-need, -k))
                            : dim_narrow(c, s, -floor_div(-need, k), INT64_MAX);
    if (!fine) return false;
  }
  return true;
}

bool tc_dim_assume_range(tc_dims *c, tc_dim d, int64_t lo, int64_t hi) {
  if (tc_dim_bad(d)) return false;
  if (tc_dim_is_const(d)) return tc_dim_value(d) >= lo && tc_dim_value(d) <= hi;
  if (!c) return false;
  d = tc_dim_norm(c, d);
  dim_span r = dim_range_of(c, d);
  if (r.hi < lo || r.lo > hi || lo > hi) return false;
  if (r.lo >= lo && r.hi <= hi) return true;
  tc_dim s;
  int64_t slo = lo, shi = hi;
  if (linear_bounds(c, d, &slo, &shi, &s) && !tc_dim_same(s, d))
    return tc_dim_assume_range(c, s, slo, shi);
  if (!tc_push(&c->bounds, ((tc_dim_bound){d, lo, hi})) || !dim_narrow(c, d, lo, hi)) return false;
  return lo == INT64_MIN || narrow_symbols(c, d, lo);
}

/* What is >= 0 where min(x, size) is x, and where max(x, 0) is x; TC_DIM_INVALID: a is neither. */
static tc_dim room_of_clamp(tc_dims *c, const dim_atom *a, tc_dim size) {
  if (a->kind == ATOM_MIN && tc_dim_same(a->b, size)) return tc_dim_sub(c, size, a->a);
  if (a->kind == ATOM_MIN && tc_dim_same(a->a, size)) return tc_dim_sub(c, size, a->b);
  return a->kind == ATOM_MAX && tc_dim_is(a->b, 0) ? a->a : TC_DIM_INVALID;
}

static bool assume_atom_unclamped(tc_dims *c, const dim_atom *a, tc_dim size) {
  if (a->kind == ATOM_SYM) return true;
  if (!tc_dim_assume_unclamped(c, a->a, size) || !tc_dim_assume_unclamped(c, a->b, size))
    return false;
  const tc_dim room = room_of_clamp(c, a, size);
  if (tc_dim_bad(room) || tc_dim_known_le(c, tc_dim_const(0), room)) return true;
  if (!tc_dim_assume_range(c, room, 0, INT64_MAX)) return false;
  tc_dims_guess(c);
  return true;
}

bool tc_dim_assume_unclamped(tc_dims *c, tc_dim d, tc_dim size) {
  const dim_poly *p = c ? dim_poly_of(c, d) : NULL;
  for (uint32_t i = 0; p && i < p->n; i++) {
    const dim_mono *m = c->mono.at[p->term[i].mono];
    for (uint32_t j = 0; j < m->n; j++)
      if (!assume_atom_unclamped(c, c->atom.at[m->atom[j]], size)) return false;
  }
  return true;
}

/* ---- equalities ------------------------------------------------------------------------------ */

/* The symbol is `by` from now on, with its bounds; false: that contradicts what is known. */
static bool replace(tc_dims *c, uint32_t atom, tc_dim by) {
  dim_atom *a = c->atom.at[atom];
  const tc_sym *s = c->sym.at[a->sym];
  if (tc_dim_is_const(by) && tc_dim_value(by) % s->multiple != 0) return false;
  int64_t lo = s->lo, hi = s->hi;
  uint32_t other;
  if (tc_dim_is_sym(c, by, &other)) {
    tc_sym *o = c->sym.at[other];
    if (tc_dim_bad(tc_dim_sym(c, o->name, o->lo, o->hi, s->multiple))) return false;
  }
  a->replaced = true;
  a->by = by;
  c->replaced++;
  c->epoch++;
  return dim_narrow(c, by, lo, hi);
}

/* d without the common factor of its coefficients: the same equation d == 0. */
static tc_dim primitive_part(tc_dims *c, tc_dim d) {
  const dim_poly *p = dim_poly_of(c, d);
  uint64_t g = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    int64_t k = p->term[i].coef;
    g = dim_gcd(g, k < 0 ? 0 - (uint64_t)k : (uint64_t)k);
  }
  if (g == 1 || g > INT64_MAX) return d;
  tc_dim r = tc_dim_const(0);
  for (uint32_t i = 0; i < p->n; i++) {
    dim_term t = {p->term[i].coef / (int64_t)g, p->term[i].mono};
    r = dim_add_scaled(c, r, dim_term_dim(c, t), 1);
  }
  return r;
}

/* Does no term of p but number `term` have the symbol? */
static bool is_alone(const tc_dims *c, const dim_poly *p, uint32_t term, uint32_t symbol) {
  for (uint32_t i = 0; i < p->n; i++) {
    const dim_mono *m = c->mono.at[p->term[i].mono];
    for (uint32_t k = 0; k < m->n && i != term; k++) {
      const dim_atom *a = c->atom.at[m->atom[k]];
      if (m->atom[k] == symbol) return false;
      if (a->kind != ATOM_SYM && (dim_has_atom(c, a->a, symbol) || dim_has_atom(c, a->b, symbol)))
        return false;
    }
  }
  return true;
}

/* The symbol that equation d == 0 is solved for: +-1 times a bare symbol found nowhere else in d,
 * the last declared of those.  0: none. */
static uint32_t solvable(const tc_dims *c, tc_dim d, int64_t *coef) {
  const dim_poly *p = dim_poly_of(c, d);
  uint32_t best = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    dim_term t = p->term[i];
    const dim_mono *m = c->mono.at[t.mono];
    if (m->n != 1 || (t.coef != 1 && t.coef != -1) || c->atom.at[m->atom[0]]->kind != ATOM_SYM)
      continue;
    if (m->atom[0] < best) continue;
    if (is_alone(c, p, i, m->atom[0])) best = m->atom[0], *coef = t.coef;
  }
  return best;
}

/* x == y where no symbol can be replaced: their difference is 0 from now on, and what equals a
 * constant is known as that. */
static tc_dim equate(tc_dims *c, tc_dim x, tc_dim y, tc_dim difference) {
  const tc_dim negated = tc_dim_sub(c, tc_dim_const(0), difference);
  if (!dim_narrow(c, difference, 0, 0)) return TC_DIM_INVALID;
  if (!tc_dim_bad(negated) && !dim_narrow(c, negated, 0, 0)) return TC_DIM_INVALID;
  if (tc_dim_is_const(y)) note_bounds(c, x, tc_dim_value(y), tc_dim_value(y));
  if (tc_dim_is_const(x)) note_bounds(c, y, tc_dim_value(x), tc_dim_value(x));
  return tc_dim_norm(c, x);
}

tc_dim tc_dim_unify(tc_dims *c, tc_dim a, tc_dim b) {
  if (tc_dim_same(a, b)) return a;
  if (tc_dim_is_const(a) && tc_dim_is_const(b)) return TC_DIM_INVALID;
  if (!c || tc_dim_bad(a) || tc_dim_bad(b)) return TC_DIM_INVALID;
  tc_dim x = tc_dim_norm(c, a), y = tc_dim_norm(c, b), d = tc_dim_sub(c, x, y);
  if (tc_dim_known_eq(c, x, y)) return x;
  if (tc_dim_bad(d) || tc_dim_known_ne(c, x, y)) return TC_DIM_INVALID;
  d = primitive_part(c, d);
  const bool constant = tc_dim_is_const(x) || tc_dim_is_const(y); /* see equate */
  if (!constant && tc_dim_known_eq(c, d, tc_dim_const(0))) return x;
  if (!tc_push(&c->assumed, ((tc_dim_pair){x, y}))) return TC_DIM_INVALID;
  int64_t coef = 0;
  uint32_t atom = solvable(c, d, &coef);
  if (!atom) return equate(c, x, y, d);
  /* d = coef*s + rest == 0  =>  s = -coef*rest, as coef is +-1 */
  tc_dim rest = dim_add_scaled(c, d, dim_atom_dim(c, atom), -coef);
  tc_dim by = tc_dim_mul(c, rest, tc_dim_const(-coef));
  if (tc_dim_bad(by) || !replace(c, atom, by)) return TC_DIM_INVALID;
  return tc_dim_norm(c, x);
}

/* Symbolic sizes: quotients, remainders, least and greatest.
 *
 * Division first takes out what is exact: floor((q*b + r)/b) = q + floor(r/b) holds for all
 * integers with b != 0.  What stays is an opaque atom, kept canonical (positive constant divisors,
 * common factors cancelled, nested quotients merged) so that equal sizes stay equal handles. */
#include "graph/dim/dim_impl.h"

static int64_t gcd(int64_t a,
                   int64_t b) { /* of magnitudes; INT64_MIN counts as odd: no reduction */
  if (a == INT64_MIN || b == INT64_MIN) return 1;
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* ---- by a constant k > 0 --------------------------------------------------------------------- */

/* a = k*q + e + r with e made of terms that k is known to divide through the multiples of symbols.
 */
typedef struct {
  tc_dim q, e, r;
} const_split;

static const_split split_by_const(tc_dims *c, tc_dim a, int64_t k) {
  const_split s = {tc_dim_const(0), tc_dim_const(0), tc_dim_const(0)};
  dim_term one;
  const dim_term *t;
  uint32_t n = dim_terms(c, a, &one, &t);
  for (uint32_t i = 0; i < n; i++) {
    int64_t q = t[i].mono ? t[i].coef / k : floor_div(t[i].coef, k), r = t[i].coef - q * k;
    if (q) s.q = dim_add_scaled(c, s.q, dim_term_dim(c, (dim_term){q, t[i].mono}), 1);
    if (!r) continue;
    tc_dim rest = dim_term_dim(c, (dim_term){r, t[i].mono});
    bool exact = t[i].mono && tc_dim_multiple(c, rest) % k == 0;
    if (exact) s.e = dim_add_scaled(c, s.e, rest, 1);
    else s.r = dim_add_scaled(c, s.r, rest, 1);
  }
  return s;
}

static bool within(tc_dims *c, tc_dim d, int64_t lo, int64_t hi) {
  int64_t l, h;
  tc_dim_range(c, d, &l, &h);
  return l >= lo && h <= hi;
}

/* floor(a/k) where no constant part of a is a multiple of k. */
static tc_dim quotient_atom(tc_dims *c, tc_dim a, int64_t k) {
  if (tc_dim_is_const(a)) return tc_dim_const(floor_div(tc_dim_value(a), k));
  if (within(c, a, 0, k - 1)) return tc_dim_const(0);
  const dim_poly *p = dim_poly_of(c, a);
  int64_t g = k;
  for (uint32_t i = 0; i < p->n; i++) g = gcd(g, p->term[i].coef);
  if (g > 1) { /* floor(g*x / g*k) = floor(x/k) */
    tc_dim x = tc_dim_const(0);
    for (uint32_t i = 0; i < p->n; i++)
      x = dim_add_scaled(c, x, dim_term_dim(c, (dim_term){p->term[i].coef / g, p->term[i].mono}),
                         1);
    return g == k ? x : tc_dim_div(c, x, tc_dim_const(k / g));
  }
  const dim_mono *m = p->n == 1 && p->term[0].coef == 1 ? c->mono.at[p->term[0].mono] : NULL;
  const dim_atom *in = m && m->n == 1 ? c->atom.at[m->atom[0]] : NULL;
  if (in && in->kind == ATOM_DIV &&
      tc_dim_is_const(in->b)) { /* floor(floor(x/m)/n) = floor(x/mn) */
    tc_dim both = tc_dim_mul(c, in->b, tc_dim_const(k));
    if (!tc_dim_bad(both)) return tc_dim_div(c, in->a, both);
  }
  return dim_atom_new(c, ATOM_DIV, a, tc_dim_const(k));
}

static tc_dim div_const(tc_dims *c, tc_dim a, int64_t k) {
  const_split s = split_by_const(c, a, k);
  if (tc_dim_bad(s.q) || tc_dim_bad(s.e) || tc_dim_bad(s.r)) return TC_DIM_INVALID;
  tc_dim e = quotient_atom(c, s.e, k), r = quotient_atom(c, s.r, k);
  return tc_dim_add(c, s.q, tc_dim_add(c, e, r));
}

static tc_dim mod_const(tc_dims *c, tc_dim a, int64_t k) {
  const_split s = split_by_const(c, a, k);
  if (tc_dim_bad(s.r)) return TC_DIM_INVALID;
  if (tc_dim_is_const(s.r)) return tc_dim_const(floor_mod(tc_dim_value(s.r), k));
  if (within(c, s.r, 0, k - 1)) return s.r;
  return dim_atom_new(c, ATOM_MOD, s.r, tc_dim_const(k));
}

/* ---- by a polynomial ------------------------------------------------------------------------- */

/* Long division by the leading term of b: a = q*b + r, no term of r divisible by it. */
static bool long_division(tc_dims *c, tc_dim a, tc_dim b, tc_dim *q, tc_dim *r) {
  dim_term lead = dim_poly_of(c, b)->term[0];
  *q = *r = tc_dim_const(0);
  while (!tc_dim_is(a, 0)) {
    dim_term one;
    const dim_term *t;
    dim_terms(c, a, &one, &t);
    dim_term top = t[0], part;
    tc_dim head = dim_term_dim(c, top);
    bool divides = top.coef % lead.coef == 0 && !(lead.coef == -1 && top.coef == INT64_MIN) &&
                   dim_mono_div(c, top.mono, lead.mono, &part.mono);
    if (divides) {
      part.coef = top.coef / lead.coef;
      tc_dim step = dim_term_dim(c, part);
      *q = dim_add_scaled(c, *q, step, 1);
      head = tc_dim_mul(c, step, b);
    } else *r = dim_add_scaled(c, *r, head, 1);
    if (tc_dim_bad(head) || tc_dim_bad(*q) || tc_dim_bad(*r)) return false;
    a = dim_add_scaled(c, a, head, -1);
    if (tc_dim_bad(a)) return false;
  }
  return true;
}

/* Is 0 <= r < b for all values? */
static bool proper_remainder(tc_dims *c, tc_dim r, tc_dim b) {
  return tc_dim_known_le(c, tc_dim_const(0), r) &&
         tc_dim_known_le(c, tc_dim_add(c, r, tc_dim_const(1)), b);
}

static bool usable(tc_dims *c, tc_dim *a, tc_dim *b) {
  if (!c || tc_dim_bad(*a) || tc_dim_bad(*b)) return false;
  *a = tc_dim_norm(c, *a);
  *b = tc_dim_norm(c, *b);
  return !tc_dim_bad(*a) && !tc_dim_bad(*b) && !tc_dim_is(*b, 0);
}

tc_dim tc_dim_div(tc_dims *c, tc_dim a, tc_dim b) {
  if (tc_dim_is_const(a) && tc_dim_is_const(b))
    return tc_dim_is(b, 0) ? TC_DIM_INVALID
                           : tc_dim_const(floor_div(tc_dim_value(a), tc_dim_value(b)));
  if (!usable(c, &a, &b)) return TC_DIM_INVALID;
  if (tc_dim_is(a, 0)) return a;
  if (tc_dim_is_const(b)) {
    int64_t k = tc_dim_value(b);
    return k > 0 ? div_const(c, a, k) : div_const(c, tc_dim_sub(c, tc_dim_const(0), a), -k);
  }
  tc_dim q, r;
  if (!long_division(c, a, b, &q, &r)) return TC_DIM_INVALID;
  if (tc_dim_is(r, 0) || proper_remainder(c, r, b)) return q;
  if (dim_poly_of(c, b)->n > 1) return dim_atom_new(c, ATOM_DIV, a, b);
  return tc_dim_add(c, q, dim_atom_new(c, ATOM_DIV, r, b));
}

tc_dim tc_dim_mod(tc_dims *c, tc_dim a, tc_dim b) {
  if (tc_dim_is_const(a) && tc_dim_is_const(b))
    return tc_dim_is(b, 0) ? TC_DIM_INVALID
                           : tc_dim_const(floor_mod(tc_dim_value(a), tc_dim_value(b)));
  if (!usable(c, &a, &b)) return TC_DIM_INVALID;
  tc_dim zero = tc_dim_const(0), q, r;
  if (tc_dim_is(a, 0)) return a;
  if (tc_dim_is_const(b)) {
    int64_t k = tc_dim_value(b);
    return k > 0 ? mod_const(c, a, k)
                 : tc_dim_sub(c, zero, mod_const(c, tc_dim_sub(c, zero, a), -k));
  }
  if (!long_division(c, a, b, &q, &r)) return TC_DIM_INVALID;
  if (tc_dim_is(r, 0) || proper_remainder(c, r, b)) return r;
  return dim_atom_new(c, ATOM_MOD, dim_poly_of(c, b)->n > 1 ? a : r, b);
}

tc_dim tc_dim_ceildiv(tc_dims *c, tc_dim a, tc_dim b) {
  tc_dim zero = tc_dim_const(0), one = tc_dim_const(1);
  if (tc_dim_known_le(c, one, b)) return tc_dim_div(c, tc_dim_add(c, a, tc_dim_sub(c, b, one)), b);
  return tc_dim_sub(c, zero, tc_dim_div(c, tc_dim_sub(c, zero, a), b));
}

/* ---- least and greatest ---------------------------------------------------------------------- */

static tc_dim choose(tc_dims *c, atom_kind k, tc_dim a, tc_dim b) {
  if (!tc_dim_is_const(a) || !tc_dim_is_const(b)) {
    if (!c || tc_dim_bad(a) || tc_dim_bad(b)) return TC_DIM_INVALID;
    a = tc_dim_norm(c, a);
    b = tc_dim_norm(c, b);
  }
  if (tc_dim_known_le(c, a, b)) return k == ATOM_MIN ? a : b;
  if (tc_dim_known_le(c, b, a)) return k == ATOM_MIN ? b : a;
  bool in_order = tc_dim_is_const(b) || (!tc_dim_is_const(a) && a.bits < b.bits);
  return in_order ? dim_atom_new(c, k, a, b) : dim_atom_new(c, k, b, a);
}

tc_dim tc_dim_min(tc_dims *c, tc_dim a, tc_dim b) { return choose(c, ATOM_MIN, a, b); }
tc_dim tc_dim_max(tc_dims *c, tc_dim a, tc_dim b) { return choose(c, ATOM_MAX, a, b); }

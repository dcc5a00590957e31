/* know.c - symbolic sizes: what is known of them: ranges, multiples, comparisons.
 *
 * Ranges are intervals in saturating arithmetic: INT64_MIN and INT64_MAX mean "not known".  They are
 * kept until a new fact (assume.c) raises the context's epoch. */
#include "graph/dim/dim_impl.h"

static const dim_span everything = {INT64_MIN, INT64_MAX};

/* ---- interval arithmetic --------------------------------------------------------------------- */

static int64_t sat_add(int64_t a, int64_t b, int64_t unknown) {
  int64_t r;
  if (a == unknown || b == unknown) return unknown;
  return __builtin_add_overflow(a, b, &r) ? (a < 0 ? INT64_MIN : INT64_MAX) : r;
}

static int64_t sat_mul(int64_t a, int64_t b) {
  int64_t r;
  if (!a || !b) return 0;
  bool negative = (a < 0) != (b < 0);
  bool unbounded = a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX;
  if (unbounded || __builtin_mul_overflow(a, b, &r)) return negative ? INT64_MIN : INT64_MAX;
  return r;
}

static dim_span span_add(dim_span a, dim_span b) {
  return (dim_span){sat_add(a.lo, b.lo, INT64_MIN), sat_add(a.hi, b.hi, INT64_MAX)};
}

static dim_span span_mul(dim_span a, dim_span b) {
  int64_t v[4] = {sat_mul(a.lo, b.lo), sat_mul(a.lo, b.hi), sat_mul(a.hi, b.lo),
                  sat_mul(a.hi, b.hi)};
  dim_span r = {v[0], v[0]};
  for (int i = 1; i < 4; i++) {
    if (v[i] < r.lo) r.lo = v[i];
    if (v[i] > r.hi) r.hi = v[i];
  }
  return r;
}

static int64_t sat_div(int64_t a, int64_t b) { /* b >= 1 */
  if (a == INT64_MIN || a == INT64_MAX) return a;
  if (b == INT64_MAX) return a < 0 ? -1 : 0;
  return floor_div(a, b);
}

static dim_span span_div(dim_span a, dim_span b) {
  if (b.lo < 1) return everything;
  return (dim_span){sat_div(a.lo, a.lo < 0 ? b.lo : b.hi), sat_div(a.hi, a.hi < 0 ? b.hi : b.lo)};
}

static dim_span span_mod(dim_span a, dim_span b) {
  if (b.lo < 1) return everything;
  dim_span r = {0, b.hi == INT64_MAX ? b.hi : b.hi - 1};
  if (a.lo >= 0 && a.hi < r.hi) r.hi = a.hi;
  return r;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static dim_span atom_range(tc_dims *c, const dim_atom *a) {
  if (a->kind == ATOM_SYM) return (dim_span){c->sym.at[a->sym]->lo, c->sym.at[a->sym]->hi};
  dim_span x = dim_range_of(c, a->a), y = dim_range_of(c, a->b);
  switch (a->kind) {
  case ATOM_DIV:
    return span_div(x, y);
  case ATOM_MOD:
    return span_mod(x, y);
  case ATOM_MIN:
    return (dim_span){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
  case ATOM_MAX:
    return (dim_span){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
  default:
    return everything;
  }
}

static dim_span mono_range(tc_dims *c, const dim_mono *m) {
  dim_span r = {1, 1};
  for (uint32_t i = 0, j; i < m->n; i = j) {
    dim_span base = atom_range(c, c->atom.at[m->atom[i]]), power = {1, 1};
    for (j = i; j < m->n && m->atom[j] == m->atom[i]; j++) power = span_mul(power, base);
    if ((j - i) % 2 == 0 && power.lo < 0) power.lo = 0;
    r = span_mul(r, power);
  }
  return r;
}

static dim_span poly_range(tc_dims *c, const dim_poly *p) {
  dim_span r = {0, 0};
  for (uint32_t i = 0; i < p->n; i++) {
    dim_span coef = {p->term[i].coef, p->term[i].coef};
    r = span_add(r, span_mul(coef, mono_range(c, c->mono.at[p->term[i].mono])));
  }
  if (r.lo < p->lo) r.lo = p->lo;
  if (r.hi > p->hi) r.hi = p->hi;
  return r;
}

void tc_dim_range(tc_dims *c, tc_dim d, int64_t *lo, int64_t *hi) {
  *lo = INT64_MIN;
  *hi = INT64_MAX;
  if (tc_dim_is_const(d)) *lo = *hi = tc_dim_value(d);
  d = tc_dim_norm(c, d);
  if (tc_dim_is_const(d)) *lo = *hi = tc_dim_value(d);
  dim_poly *p = c ? dim_poly_of(c, d) : NULL;
  if (!p) return;
  if (p->known_at != c->epoch) {
    dim_span r = poly_range(c, p);
    p->known_lo = r.lo;
    p->known_hi = r.hi;
    p->known_at = c->epoch;
  }
  *lo = p->known_lo;
  *hi = p->known_hi;
}

/* ---- multiples ------------------------------------------------------------------------------- */

uint64_t dim_gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static uint64_t atom_multiple(tc_dims *c, const dim_atom *a) {
  if (a->kind == ATOM_SYM) return (uint64_t)c->sym.at[a->sym]->multiple;
  uint64_t x = (uint64_t)tc_dim_multiple(c, a->a), y = (uint64_t)tc_dim_multiple(c, a->b);
  if (a->kind != ATOM_DIV) return dim_gcd(x, y);
  if (!tc_dim_is_const(a->b) || !y || x % y) return 1;
  return x / y;
}

/* Product of the multiples of the factors; the coefficient alone once that overflows. */
static uint64_t term_multiple(tc_dims *c, dim_term t) {
  uint64_t r = t.coef < 0 ? 0 - (uint64_t)t.coef : (uint64_t)t.coef;
  const dim_mono *m = c->mono.at[t.mono];
  for (uint32_t i = 0; i < m->n; i++) {
    uint64_t f = atom_multiple(c, c->atom.at[m->atom[i]]), more;
    if (__builtin_mul_overflow(r, f, &more) || more > INT64_MAX) break;
    r = more;
  }
  return r;
}

int64_t tc_dim_multiple(tc_dims *c, tc_dim d) {
  d = tc_dim_norm(c, d);
  if (tc_dim_bad(d) || (!c && !tc_dim_is_const(d))) return 1;
  dim_term one;
  const dim_term *t;
  if (tc_dim_is_const(d)) return tc_dim_value(d) < 0 ? -tc_dim_value(d) : tc_dim_value(d);
  uint32_t n = dim_terms(c, d, &one, &t);
  uint64_t g = 0;
  for (uint32_t i = 0; i < n; i++) g = dim_gcd(g, term_multiple(c, t[i]));
  return g > INT64_MAX ? 1 : (int64_t)g;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* d as a bare atom of the given kind, or NULL. */
static const dim_atom *bare_atom(const tc_dims *c, tc_dim d, atom_kind k) {
  const dim_poly *p = c ? dim_poly_of(c, d) : NULL;
  if (!p || p->n != 1 || p->term[0].coef != 1) return NULL;
  const dim_mono *m = c->mono.at[p->term[0].mono];
  const dim_atom *a = m->n == 1 ? c->atom.at[m->atom[0]] : NULL;
  return a && a->kind == k ? a : NULL;
}

enum { CASES = 4 }; /* nesting of case distinctions: cost is at most 2^CASES */

/* Do a and b have a term of one monomial?  Where they have none, what is known of either says
 * nothing of their difference. */
static bool shares_term(const tc_dims *c, tc_dim a, tc_dim b) {
  dim_term one[2];
  const dim_term *x, *y;
  const uint32_t nx = dim_terms(c, a, &one[0], &x), ny = dim_terms(c, b, &one[1], &y);
  for (uint32_t j = 0; j < ny; j++)
    for (uint32_t i = 0; y[j].mono && i < nx; i++)
      if (x[i].mono == y[j].mono) return true;
  return false;
}

/* d >= 0 as it is at least an expression with an assumed bound: N - i >= 0 of N - i - 1 >= 0. */
static bool bounded_nonnegative(tc_dims *c, tc_dim d) {
  enum { LOOK = 64 };
  for (size_t i = c->bounds.n, looked = 0; i-- > 0 && looked < LOOK; looked++) {
    const tc_dim_bound b = c->bounds.at[i];
    const tc_dim at = tc_dim_norm(c, b.d);
    if (tc_dim_bad(at) || !shares_term(c, d, at)) continue;
    if (b.lo != INT64_MIN) { /* d = at + rest >= lo + rest */
      const tc_dim rest = dim_add_scaled(c, d, at, -1);
      if (!tc_dim_bad(rest) && sat_add(dim_range_of(c, rest).lo, b.lo, INT64_MIN) >= 0) return true;
    }
    if (b.hi != INT64_MAX) { /* d = rest - at >= rest - hi */
      const tc_dim rest = dim_add_scaled(c, d, at, 1);
      const int64_t lo = tc_dim_bad(rest) ? INT64_MIN : dim_range_of(c, rest).lo;
      if (lo != INT64_MIN && lo >= b.hi) return true;
    }
  }
  return false;
}

/* The min or max that term i is, but for a number; NULL: it is something else. */
static const dim_atom *choice_of(const tc_dims *c, const dim_poly *p, uint32_t i) {
  const dim_mono *m = c->mono.at[p->term[i].mono];
  const dim_atom *a = m->n == 1 ? c->atom.at[m->atom[0]] : NULL;
  return a && (a->kind == ATOM_MIN || a->kind == ATOM_MAX) ? a : NULL;
}

/* -min(x, y) and max(x, y) are at least either of their operands. */
static bool is_at_least(const dim_atom *a, int64_t coef) {
  return (a->kind == ATOM_MIN) == (coef < 0);
}

/* The term to distinguish cases of, n: none.  Those come first of which both cases have to hold: in
 * each of them another operand of the others may do, as for 1 + min(N, 2) - min(N, 3). */
static uint32_t term_with_cases(const tc_dims *c, const dim_poly *p) {
  uint32_t found = p->n;
  for (uint32_t i = 0; i < p->n; i++) {
    const dim_atom *a = choice_of(c, p, i);
    if (a && !is_at_least(a, p->term[i].coef)) return i;
    if (a && found == p->n) found = i;
  }
  return found;
}

static bool known_nonnegative(tc_dims *c, tc_dim d, int cases);

/* A quotient x / k that is atom j of term i, k a number; NULL: it is none. */
static const dim_atom *quotient_of(const tc_dims *c, const dim_poly *p, uint32_t i, uint32_t j) {
  const dim_mono *m = c->mono.at[p->term[i].mono];
  const dim_atom *a = c->atom.at[m->atom[j]];
  return a->kind == ATOM_DIV && tc_dim_is_const(a->b) && tc_dim_value(a->b) > 1 ? a : NULL;
}

/* The term without that atom. */
static tc_dim cofactor(tc_dims *c, dim_term t, uint32_t j) {
  const dim_mono *m = c->mono.at[t.mono];
  tc_dim d = tc_dim_const(t.coef);
  for (uint32_t i = 0; i < m->n; i++)
    if (i != j) d = tc_dim_mul(c, d, dim_atom_dim(c, m->atom[i]));
  return d;
}

/* k times a bound of the quotient q = x / k from the side that makes the sum d least where q's
 * factor f is known to be of one sign: k * q <= x, and k * q >= x - (k - 1).  TC_DIM_INVALID: it
 * may be of either. */
static tc_dim least_of_quotient(tc_dims *c, const dim_atom *q, tc_dim f) {
  const dim_span r = dim_range_of(c, f);
  if (r.hi <= 0) return q->a;
  return r.lo >= 0 ? tc_dim_sub(c, q->a, tc_dim_sub(c, q->b, tc_dim_const(1))) : TC_DIM_INVALID;
}

/* d >= 0 as d = rest + f * (x / k), where k * rest + f * y >= 0 for a bound y of k * (x / k).
 * Which quotient helps is tried, in sums of a few terms: places of a workspace are sums of
 * hundreds, of quotients that nothing else is made of. */
static bool nonnegative_by_quotients(tc_dims *c, tc_dim d, int cases) {
  enum { TERMS = 8, MOST = 2 }; /* quotients, one in the place of another */
  const dim_poly *p = dim_poly_of(c, d);
  if (p->n > TERMS || cases <= CASES - MOST) return false;
  for (uint32_t i = 0; i < p->n; i++) {
    const dim_term t = p->term[i];
    for (uint32_t j = 0; j < c->mono.at[t.mono]->n; j++) {
      const dim_atom *q = quotient_of(c, p, i, j);
      const tc_dim f = q ? cofactor(c, t, j) : TC_DIM_INVALID;
      const tc_dim y = q && !tc_dim_bad(f) ? least_of_quotient(c, q, f) : TC_DIM_INVALID;
      if (tc_dim_bad(y)) continue;
      const tc_dim rest = dim_add_scaled(c, d, dim_term_dim(c, t), -1);
      if (known_nonnegative(c, tc_dim_add(c, tc_dim_mul(c, q->b, rest), tc_dim_mul(c, f, y)),
                            cases - 1))
        return true;
      p = dim_poly_of(c, d);
    }
  }
  return false;
}

/* By what is assumed, or in both cases of a min or max that is a factor-free term of it; in one of
 * them, if the term is at least that. */
static bool prove_nonnegative(tc_dims *c, tc_dim d, int cases) {
  if (bounded_nonnegative(c, d)) return true;
  const dim_poly *p = cases ? dim_poly_of(c, d) : NULL;
  const uint32_t i = p ? term_with_cases(c, p) : 0;
  if (!p) return false;
  if (i == p->n) return nonnegative_by_quotients(c, d, cases);
  if (p->term[i].coef == INT64_MIN) return false;
  const dim_atom *a = choice_of(c, p, i);
  const int64_t coef = p->term[i].coef;
  const tc_dim term = dim_term_dim(c, p->term[i]), rest = dim_add_scaled(c, d, term, -1);
  if (tc_dim_bad(rest)) return false;
  const bool first = known_nonnegative(c, dim_add_scaled(c, rest, a->a, coef), cases - 1);
  if (first == is_at_least(a, coef)) return first;
  return known_nonnegative(c, dim_add_scaled(c, rest, a->b, coef), cases - 1);
}

/* d >= 0 by its range, or as above.  A program asks the same again and again: of layers, of arrays
 * of one shape. */
static bool known_nonnegative(tc_dims *c, tc_dim d, int cases) {
  if (tc_dim_bad(d)) return false;
  if (dim_range_of(c, d).lo >= 0) return true;
  dim_poly *p = dim_poly_of(c, d);
  if (!p) return false;
  const uint8_t bit = (uint8_t)(1u << cases);
  if (p->sign_at == c->epoch && (p->nonnegative | p->unknown) & bit) return p->nonnegative & bit;
  const bool known = prove_nonnegative(c, d, cases);
  p = dim_poly_of(c, d);
  if (p->sign_at != c->epoch) p->nonnegative = p->unknown = 0, p->sign_at = c->epoch;
  *(known ? &p->nonnegative : &p->unknown) |= bit;
  return known;
}

bool tc_dim_known_le(tc_dims *c, tc_dim a, tc_dim b) {
  if (tc_dim_bad(a) || tc_dim_bad(b)) return false;
  if (tc_dim_is_const(a) && tc_dim_is_const(b)) return tc_dim_value(a) <= tc_dim_value(b);
  if (!c) return false;
  a = tc_dim_norm(c, a);
  b = tc_dim_norm(c, b);
  const dim_atom *t;
  if ((t = bare_atom(c, a, ATOM_MIN)) &&
      (tc_dim_known_le(c, t->a, b) || tc_dim_known_le(c, t->b, b)))
    return true;
  if ((t = bare_atom(c, b, ATOM_MAX)) &&
      (tc_dim_known_le(c, a, t->a) || tc_dim_known_le(c, a, t->b)))
    return true;
  if ((t = bare_atom(c, a, ATOM_MAX)))
    return tc_dim_known_le(c, t->a, b) && tc_dim_known_le(c, t->b, b);
  if ((t = bare_atom(c, b, ATOM_MIN)))
    return tc_dim_known_le(c, a, t->a) && tc_dim_known_le(c, a, t->b);
  dim_span x = dim_range_of(c, a), y = dim_range_of(c, b);
  if (x.hi != INT64_MAX && x.hi <= y.lo) return true;
  return known_nonnegative(c, tc_dim_sub(c, b, a), CASES);
}

bool tc_dim_known_ne(tc_dims *c, tc_dim a, tc_dim b) {
  tc_dim d = tc_dim_sub(c, a, b);
  if (tc_dim_bad(d) || tc_dim_is_const(d)) return !tc_dim_bad(d) && !tc_dim_is(d, 0);
  dim_span r = dim_range_of(c, d);
  if (r.lo > 0 || r.hi < 0) return true;
  const dim_poly *p = dim_poly_of(c, d);
  dim_term last = p->term[p->n - 1];
  if (last.mono) return false; /* no constant term: 0 is a multiple of everything */
  uint64_t g = 0;
  for (uint32_t i = 0; i + 1 < p->n; i++) g = dim_gcd(g, term_multiple(c, p->term[i]));
  uint64_t magnitude = last.coef < 0 ? 0 - (uint64_t)last.coef : (uint64_t)last.coef;
  return magnitude % g != 0;
}

bool tc_dim_known_eq(tc_dims *c, tc_dim a, tc_dim b) {
  const tc_dim d = tc_dim_sub(c, tc_dim_norm(c, a), tc_dim_norm(c, b));
  if (tc_dim_bad(d)) return false;
  const dim_span known = dim_range_of(c, d);
  return known.lo == 0 && known.hi == 0;
}

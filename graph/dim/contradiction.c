/* contradiction.c - assumptions that no sizes fulfil. */
#include "graph/dim/dim_impl.h"

/* m*d where term i of d is a quotient x/m by a number: m*(x/m) is x at most and x - m + 1 at least,
 * and one of them is in its place.  *m = 0: the term is something else. */
static tc_dim without_quotient(tc_dims *c, tc_dim d, uint32_t i, bool most, int64_t *m) {
  const dim_term t = dim_poly_of(c, d)->term[i];
  const dim_mono *mono = c->mono.at[t.mono];
  const dim_atom *a = mono->n == 1 ? c->atom.at[mono->atom[0]] : NULL;
  *m = a && a->kind == ATOM_DIV && tc_dim_is_const(a->b) ? tc_dim_value(a->b) : 0;
  if (*m <= 1) return *m = 0, d;
  const tc_dim x = a->a, rest = dim_add_scaled(c, d, dim_term_dim(c, t), -1);
  const tc_dim in_place = most == (t.coef > 0) ? x : dim_add_scaled(c, x, tc_dim_const(*m - 1), -1);
  return dim_add_scaled(c, tc_dim_mul(c, rest, tc_dim_const(*m)), in_place, t.coef);
}

static bool positive(tc_dims *c, tc_dim d) {
  int64_t lo = 0, hi;
  if (!tc_dim_bad(d)) tc_dim_range(c, d, &lo, &hi);
  return lo > 0;
}

static uint32_t terms(tc_dims *c, tc_dim d) {
  const dim_poly *p = dim_poly_of(c, d);
  return p ? p->n : 0;
}

/* a > b, for one of them is known by a quotient in it. */
static bool greater(tc_dims *c, tc_dim a, tc_dim b) {
  int64_t m;
  for (uint32_t i = 0; i < terms(c, a); i++) {
    const tc_dim least = without_quotient(c, a, i, false, &m);
    if (m && positive(c, dim_add_scaled(c, least, b, -m))) return true;
  }
  for (uint32_t i = 0; i < terms(c, b); i++) {
    const tc_dim most = without_quotient(c, b, i, true, &m);
    if (m && positive(c, tc_dim_sub(c, tc_dim_mul(c, a, tc_dim_const(m)), most))) return true;
  }
  return false;
}

bool tc_dims_contradict(tc_dims *c, tc_dim_pair *which) {
  const tc_dim_pair *pair;
  for (uint32_t i = 0; i < tc_dims_assumed(c, &pair); i++) {
    *which = pair[i];
    if (tc_dim_bad(which->a) || tc_dim_bad(which->b)) continue;
    if (greater(c, which->a, which->b) || greater(c, which->b, which->a)) return true;
  }
  return false;
}

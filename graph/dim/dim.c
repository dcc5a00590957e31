/* Symbolic sizes: the context, interning, sums and products.
 *
 * Constants never reach the context: with both operands constant every operation is int64
 * arithmetic with overflow checks.  Otherwise operands are brought up to date (tc_dim_norm), taken
 * apart into terms, combined in scratch memory and interned. */
#include "graph/dim/dim_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- the context ----------------------------------------------------------------------------- */

tc_dims *tc_dims_new(void) {
  tc_dims *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->epoch = 1;
  c->arena = tc_arena_new();
  dim_mono *one = c->arena ? tc_arena_alloc(c->arena, sizeof *one) : NULL;
  if (!one || !tc_push(&c->mono, one) || !tc_push(&c->atom, NULL) || !tc_push(&c->poly, NULL)) {
    tc_dims_free(c);
    return NULL;
  }
  return c;
}

void tc_dims_free(tc_dims *c) {
  if (!c) return;
  tc_arena_free(c->arena);
  free(c->sym.at);
  free(c->sym_atom.at);
  free(c->atom.at);
  free(c->mono.at);
  free(c->poly.at);
  free(c->sum.at);
  free(c->product.at);
  free(c->assumed.at);
  free(c->bounds.at);
  tc_table_free(&c->atoms);
  tc_table_free(&c->monos);
  tc_table_free(&c->polys);
  tc_table_free(&c->names);
  free(c);
}

uint32_t tc_dims_assumed(const tc_dims *c, const tc_dim_pair **pairs) {
  *pairs = c->assumed.at;
  return (uint32_t)c->assumed.n;
}

void tc_dims_guess(tc_dims *c) { c->guessed = true; }

bool tc_dims_guessed(const tc_dims *c) { return c->guessed; }

uint32_t tc_dims_bounds(const tc_dims *c, const tc_dim_bound **bounds) {
  *bounds = c->bounds.at;
  return (uint32_t)c->bounds.n;
}

/* ---- monomials ------------------------------------------------------------------------------- */

static bool mono_equal(const void *owner, uint32_t id, const void *key) {
  const tc_dims *c = owner;
  const dim_mono *a = c->mono.at[id], *b = key;
  return a->n == b->n && memcmp(a->atom, b->atom, a->n * sizeof *a->atom) == 0;
}

/* Interns the atoms in c->product. */
static bool mono_intern(tc_dims *c, uint32_t *out) {
  dim_mono key = {(uint32_t)c->product.n, c->product.at};
  if (!key.n) return *out = 0, true;
  uint64_t h = tc_hash(key.atom, key.n * sizeof *key.atom, 1);
  if ((*out = tc_table_find(&c->monos, h, mono_equal, c, &key))) return true;
  dim_mono *m = tc_arena_alloc(c->arena, sizeof *m);
  uint32_t *atom = tc_arena_alloc(c->arena, key.n * sizeof *atom);
  if (!m || !atom) return false;
  memcpy(atom, key.atom, key.n * sizeof *atom);
  *m = (dim_mono){key.n, atom};
  *out = (uint32_t)c->mono.n;
  return tc_push(&c->mono, m) && tc_table_add(&c->monos, h, *out);
}

/* Higher degree first. */
static int mono_cmp(const tc_dims *c, uint32_t a, uint32_t b) {
  if (a == b) return 0;
  const dim_mono *x = c->mono.at[a], *y = c->mono.at[b];
  if (x->n != y->n) return x->n > y->n ? -1 : 1;
  uint32_t i = 0;
  while (x->atom[i] == y->atom[i]) i++;
  return x->atom[i] < y->atom[i] ? -1 : 1;
}

bool dim_mono_mul(tc_dims *c, uint32_t a, uint32_t b, uint32_t *out) {
  if (!a || !b) return *out = a + b, true;
  const dim_mono *x = c->mono.at[a], *y = c->mono.at[b];
  c->product.n = 0;
  for (uint32_t i = 0, j = 0; i < x->n || j < y->n;) {
    bool left = j == y->n || (i < x->n && x->atom[i] <= y->atom[j]);
    if (!tc_push(&c->product, left ? x->atom[i++] : y->atom[j++])) return false;
  }
  return mono_intern(c, out);
}

bool dim_mono_div(tc_dims *c, uint32_t a, uint32_t b, uint32_t *out) {
  const dim_mono *x = c->mono.at[a], *y = c->mono.at[b];
  uint32_t j = 0;
  c->product.n = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    if (j < y->n && x->atom[i] == y->atom[j]) j++;
    else if (!tc_push(&c->product, x->atom[i])) return false;
  }
  return j == y->n && mono_intern(c, out);
}

/* ---- polynomials ----------------------------------------------------------------------------- */

dim_poly *dim_poly_of(const tc_dims *c, tc_dim d) {
  return tc_dim_is_const(d) || tc_dim_bad(d) ? NULL : c->poly.at[d.bits >> 1];
}

uint32_t dim_terms(const tc_dims *c, tc_dim d, dim_term *one, const dim_term **terms) {
  const dim_poly *p = dim_poly_of(c, d);
  if (p) return *terms = p->term, p->n;
  *one = (dim_term){tc_dim_value(d), 0};
  *terms = one;
  return one->coef != 0;
}

static bool poly_equal(const void *owner, uint32_t id, const void *key) {
  const tc_dims *c = owner;
  const dim_poly *a = c->poly.at[id], *b = key;
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->term[i].coef != b->term[i].coef || a->term[i].mono != b->term[i].mono) return false;
  return true;
}

static uint64_t poly_hash(const dim_term *t, uint32_t n) {
  uint64_t h = 2;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t word[2] = {(uint64_t)t[i].coef, t[i].mono};
    h = tc_hash(word, sizeof word, h);
  }
  return h;
}

static bool has_opaque_atom(const tc_dims *c, const dim_term *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const dim_mono *m = c->mono.at[t[i].mono];
    for (uint32_t j = 0; j < m->n; j++)
      if (c->atom.at[m->atom[j]]->kind != ATOM_SYM) return true;
  }
  return false;
}

/* Interns the sorted terms in c->sum. */
static tc_dim sum_intern(tc_dims *c) {
  dim_poly key = {.n = (uint32_t)c->sum.n, .term = c->sum.at};
  if (!key.n) return tc_dim_const(0);
  if (key.n == 1 && key.term[0].mono == 0) return tc_dim_const(key.term[0].coef);
  uint64_t h = poly_hash(key.term, key.n);
  uint32_t id = tc_table_find(&c->polys, h, poly_equal, c, &key);
  if (!id) {
    dim_poly *p = tc_arena_alloc(c->arena, sizeof *p);
    dim_term *t = tc_arena_alloc(c->arena, key.n * sizeof *t);
    if (!p || !t) return TC_DIM_INVALID;
    memcpy(t, key.term, key.n * sizeof *t);
    *p = (dim_poly){.n = key.n, .term = t, .lo = INT64_MIN, .hi = INT64_MAX};
    p->opaque = has_opaque_atom(c, t, key.n);
    id = (uint32_t)c->poly.n;
    if (!tc_push(&c->poly, p) || !tc_table_add(&c->polys, h, id)) return TC_DIM_INVALID;
  }
  return (tc_dim){(int64_t)id * 2 + 1};
}

tc_dim dim_term_dim(tc_dims *c, dim_term t) {
  c->sum.n = 0;
  return tc_push(&c->sum, t) ? sum_intern(c) : TC_DIM_INVALID;
}

tc_dim dim_add_scaled(tc_dims *c, tc_dim a, tc_dim b, int64_t k) {
  dim_term one[2];
  const dim_term *x, *y;
  uint32_t nx = dim_terms(c, a, &one[0], &x), ny = dim_terms(c, b, &one[1], &y);
  c->sum.n = 0;
  for (uint32_t i = 0, j = 0; i < nx || j < ny;) {
    int order = i == nx ? 1 : j == ny ? -1 : mono_cmp(c, x[i].mono, y[j].mono);
    dim_term t = order <= 0 ? x[i] : (dim_term){0, y[j].mono};
    int64_t scaled = 0;
    if (order >= 0 && __builtin_mul_overflow(y[j].coef, k, &scaled)) return TC_DIM_INVALID;
    if (__builtin_add_overflow(t.coef, scaled, &t.coef)) return TC_DIM_INVALID;
    i += order <= 0;
    j += order >= 0;
    if (t.coef && !tc_push(&c->sum, t)) return TC_DIM_INVALID;
  }
  return sum_intern(c);
}

/* d times one term: multiplying by a monomial keeps the order of terms. */
static tc_dim mul_term(tc_dims *c, tc_dim d, dim_term by) {
  dim_term one;
  const dim_term *x;
  uint32_t n = dim_terms(c, d, &one, &x);
  c->sum.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    dim_term t;
    if (__builtin_mul_overflow(x[i].coef, by.coef, &t.coef)) return TC_DIM_INVALID;
    if (!dim_mono_mul(c, x[i].mono, by.mono, &t.mono)) return TC_DIM_INVALID;
    if (!tc_push(&c->sum, t)) return TC_DIM_INVALID;
  }
  return sum_intern(c);
}

static bool unusable(const tc_dims *c, tc_dim a, tc_dim b) {
  return tc_dim_bad(a) || tc_dim_bad(b) || !c;
}

tc_dim tc_dim_add(tc_dims *c, tc_dim a, tc_dim b) {
  if (tc_dim_is_const(a) && tc_dim_is_const(b))
    return tc_dim_const(tc_dim_value(a) + tc_dim_value(b)); /* 62 bits each: no overflow */
  if (unusable(c, a, b)) return TC_DIM_INVALID;
  return dim_add_scaled(c, tc_dim_norm(c, a), tc_dim_norm(c, b), 1);
}

tc_dim tc_dim_sub(tc_dims *c, tc_dim a, tc_dim b) {
  if (tc_dim_is_const(a) && tc_dim_is_const(b))
    return tc_dim_const(tc_dim_value(a) - tc_dim_value(b));
  if (unusable(c, a, b)) return TC_DIM_INVALID;
  return dim_add_scaled(c, tc_dim_norm(c, a), tc_dim_norm(c, b), -1);
}

/* sum with a term of it replaced by k * part: sums of many terms, of which a few change, are
 * interned once for each of those, not once for each term. */
static tc_dim replace_term(tc_dims *c, tc_dim sum, dim_term t, tc_dim part, int64_t k) {
  const tc_dim rest = dim_add_scaled(c, sum, dim_term_dim(c, t), -1);
  return tc_dim_bad(rest) || tc_dim_bad(part) ? TC_DIM_INVALID : dim_add_scaled(c, rest, part, k);
}

/* The term with k*floor(x/k) written as x where k is known to divide x; false: it has none. */
static bool exact_term(tc_dims *c, dim_term t, tc_dim *out) {
  const dim_mono *m = c->mono.at[t.mono];
  for (uint32_t i = 0; i < m->n; i++) {
    const dim_atom *a = c->atom.at[m->atom[i]];
    if (a->kind != ATOM_DIV || !tc_dim_is_const(a->b)) continue;
    const int64_t k = tc_dim_value(a->b);
    if (t.coef % k || tc_dim_multiple(c, a->a) % k) continue;
    const dim_term *atom;
    dim_term rest = {t.coef / k, 0}, one;
    dim_terms(c, dim_atom_dim(c, m->atom[i]), &one, &atom);
    if (!dim_mono_div(c, t.mono, atom->mono, &rest.mono)) continue;
    *out = tc_dim_mul(c, dim_term_dim(c, rest), a->a);
    return true;
  }
  return false;
}

static tc_dim exact(tc_dims *c, tc_dim d) {
  const dim_poly *p = dim_poly_of(c, d);
  if (!p || !p->opaque) return d;
  tc_dim sum = d, part;
  for (uint32_t i = 0; i < p->n && !tc_dim_bad(sum); i++)
    if (exact_term(c, p->term[i], &part)) sum = replace_term(c, sum, p->term[i], part, 1);
  return sum;
}

tc_dim tc_dim_mul(tc_dims *c, tc_dim a, tc_dim b) {
  int64_t v;
  if (tc_dim_is_const(a) && tc_dim_is_const(b)) {
    bool over = __builtin_mul_overflow(tc_dim_value(a), tc_dim_value(b), &v);
    return over ? TC_DIM_INVALID : tc_dim_const(v);
  }
  if (unusable(c, a, b)) return TC_DIM_INVALID;
  a = tc_dim_norm(c, a);
  b = tc_dim_norm(c, b);
  dim_term one;
  const dim_term *y;
  uint32_t n = dim_terms(c, b, &one, &y);
  tc_dim sum = tc_dim_const(0);
  for (uint32_t i = 0; i < n && !tc_dim_bad(sum); i++) {
    tc_dim part = mul_term(c, a, y[i]);
    sum = tc_dim_bad(part) ? part : dim_add_scaled(c, sum, part, 1);
  }
  return exact(c, sum);
}

/* ---- atoms and symbols ----------------------------------------------------------------------- */

static bool atom_equal(const void *owner, uint32_t id, const void *key) {
  const tc_dims *c = owner;
  const dim_atom *a = c->atom.at[id], *b = key;
  return a->kind == b->kind && a->sym == b->sym && tc_dim_same(a->a, b->a) &&
         tc_dim_same(a->b, b->b);
}

static uint32_t atom_intern(tc_dims *c, const dim_atom *key) {
  uint64_t word[4] = {key->kind, key->sym, (uint64_t)key->a.bits, (uint64_t)key->b.bits};
  uint64_t h = tc_hash(word, sizeof word, 3);
  uint32_t id = tc_table_find(&c->atoms, h, atom_equal, c, key);
  if (id) return id;
  dim_atom *a = tc_arena_alloc(c->arena, sizeof *a);
  if (!a) return 0;
  *a = *key;
  id = (uint32_t)c->atom.n;
  return tc_push(&c->atom, a) && tc_table_add(&c->atoms, h, id) ? id : 0;
}

tc_dim dim_atom_dim(tc_dims *c, uint32_t atom) {
  dim_term t = {1, 0};
  c->product.n = 0;
  if (!atom || !tc_push(&c->product, atom) || !mono_intern(c, &t.mono)) return TC_DIM_INVALID;
  return dim_term_dim(c, t);
}

tc_dim dim_atom_new(tc_dims *c, atom_kind k, tc_dim a, tc_dim b) {
  if (tc_dim_bad(a) || tc_dim_bad(b)) return TC_DIM_INVALID;
  return dim_atom_dim(c, atom_intern(c, &(dim_atom){.kind = k, .a = a, .b = b}));
}

static bool name_equal(const void *owner, uint32_t id, const void *key) {
  const tc_dims *c = owner;
  return strcmp(c->sym.at[id - 1]->name, key) == 0;
}

static uint64_t name_hash(const char *name) { return tc_hash(name, strlen(name), 4); }

static bool sym_declare(tc_dims *c, const char *name, uint32_t *number) {
  tc_sym *s = tc_arena_alloc(c->arena, sizeof *s);
  char *copy = tc_arena_str(c->arena, name);
  if (!s || !copy) return false;
  *s = (tc_sym){copy, INT64_MIN, INT64_MAX, 1, -1, -1, false};
  *number = (uint32_t)c->sym.n;
  uint32_t atom = atom_intern(c, &(dim_atom){.kind = ATOM_SYM, .sym = *number});
  return atom && tc_push(&c->sym_atom, atom) && tc_push(&c->sym, s) &&
         tc_table_add(&c->names, name_hash(name), *number + 1);
}

/* Least common multiple, saturating at a: multiples that large never matter. */
static int64_t lcm(int64_t a, int64_t b) {
  int64_t x = a, y = b, m;
  while (y) {
    int64_t r = x % y;
    x = y;
    y = r;
  }
  return __builtin_mul_overflow(a, b / x, &m) ? a : m;
}

tc_dim tc_dim_sym(tc_dims *c, const char *name, int64_t lo, int64_t hi, int64_t multiple) {
  if (!c || multiple < 1) return TC_DIM_INVALID;
  uint32_t number = tc_table_find(&c->names, name_hash(name), name_equal, c, name);
  if (number) number--;
  else if (!sym_declare(c, name, &number)) return TC_DIM_INVALID;
  tc_sym *s = c->sym.at[number];
  if (multiple != 1 && s->multiple != multiple) {
    s->multiple = lcm(s->multiple, multiple);
    c->epoch++;
  }
  tc_dim d = dim_atom_dim(c, c->sym_atom.at[number]);
  if (tc_dim_bad(d) || !dim_narrow(c, d, lo, hi)) return TC_DIM_INVALID;
  return tc_dim_norm(c, d);
}

bool tc_dim_find_sym(const tc_dims *c, const char *name, uint32_t *sym) {
  uint32_t number = tc_table_find(&c->names, name_hash(name), name_equal, c, name);
  if (number) *sym = number - 1;
  return number != 0;
}

uint32_t tc_dims_sym_count(const tc_dims *c) { return (uint32_t)c->sym.n; }

tc_sym *tc_dims_sym(tc_dims *c, uint32_t i) { return c->sym.at[i]; }

tc_dim tc_dims_sym_dim(tc_dims *c, uint32_t i) { return dim_atom_dim(c, c->sym_atom.at[i]); }

bool tc_dim_is_sym(const tc_dims *c, tc_dim d, uint32_t *sym) {
  const dim_poly *p = c ? dim_poly_of(c, d) : NULL;
  if (!p || p->n != 1 || p->term[0].coef != 1) return false;
  const dim_mono *m = c->mono.at[p->term[0].mono];
  if (m->n != 1 || c->atom.at[m->atom[0]]->kind != ATOM_SYM) return false;
  if (sym) *sym = c->atom.at[m->atom[0]]->sym;
  return true;
}

/* ---- bringing expressions up to date --------------------------------------------------------- */

bool dim_has_atom(const tc_dims *c, tc_dim d, uint32_t atom) {
  const dim_poly *p = dim_poly_of(c, d);
  for (uint32_t i = 0; p && i < p->n; i++) {
    const dim_mono *m = c->mono.at[p->term[i].mono];
    for (uint32_t j = 0; j < m->n; j++) {
      const dim_atom *a = c->atom.at[m->atom[j]];
      if (m->atom[j] == atom) return true;
      if (a->kind != ATOM_SYM && (dim_has_atom(c, a->a, atom) || dim_has_atom(c, a->b, atom)))
        return true;
    }
  }
  return false;
}

/* The number that facts since then leave for d, or d; a symbol stays itself. */
static tc_dim only_value(tc_dims *c, tc_dim d) {
  const dim_poly *p = dim_poly_of(c, d);
  return p && p->lo == p->hi && !tc_dim_is_sym(c, d, NULL) ? tc_dim_const(p->lo) : d;
}

static tc_dim norm_atom(tc_dims *c, uint32_t id) {
  const dim_atom *a = c->atom.at[id];
  const tc_dim d = only_value(c, dim_atom_dim(c, id));
  if (tc_dim_is_const(d)) return d;
  switch (a->kind) {
  case ATOM_SYM:
    return a->replaced ? tc_dim_norm(c, a->by) : d;
  case ATOM_DIV:
    return tc_dim_div(c, a->a, a->b);
  case ATOM_MOD:
    return tc_dim_mod(c, a->a, a->b);
  case ATOM_MIN:
    return tc_dim_min(c, a->a, a->b);
  case ATOM_MAX:
    return tc_dim_max(c, a->a, a->b);
  }
  return TC_DIM_INVALID;
}

/* The monomial up to date; false: it is. */
static bool norm_mono(tc_dims *c, uint32_t mono, tc_dim *out) {
  const dim_mono *m = c->mono.at[mono];
  *out = tc_dim_const(1);
  for (uint32_t i = 0; i < m->n; i++) *out = tc_dim_mul(c, *out, norm_atom(c, m->atom[i]));
  return tc_dim_bad(*out) || !tc_dim_same(*out, dim_term_dim(c, (dim_term){1, mono}));
}

/* Symbols are replaced; quotients, min and max become simpler when facts since then allow it, and
 * what was found equal to a constant is that constant. */
tc_dim tc_dim_norm(tc_dims *c, tc_dim d) {
  if (c) d = only_value(c, d);
  dim_poly *p = c ? dim_poly_of(c, d) : NULL;
  if (!p || (!c->replaced && !p->opaque)) return d;
  if (p->norm_at == c->epoch) return p->norm;
  p->norm = d; /* what recursion through an atom of p itself would see */
  p->norm_at = c->epoch;
  uint32_t epoch = c->epoch;
  tc_dim sum = d, part;
  for (uint32_t i = 0; i < p->n && !tc_dim_bad(sum); i++)
    if (norm_mono(c, p->term[i].mono, &part))
      sum = replace_term(c, sum, p->term[i], part, p->term[i].coef);
  sum = exact(c, sum);
  p->norm = sum;
  p->norm_at = epoch;
  return sum;
}

/* dim_impl.h - inside of the size context, shared by graph/dim*.c only.
 *
 * A size is a polynomial: a sorted list of terms, each an integer coefficient and a monomial; a
 * monomial is a sorted list of atoms (a power repeats its atom).  Atoms, monomials and polynomials
 * are interned, so equal sizes are equal handles.  Handle of polynomial i: bits = 2*i + 1. */
#ifndef TC_DIM_IMPL_H
#define TC_DIM_IMPL_H

#include "graph/dim/dim.h"
#include "graph/support/table.h"

typedef enum { ATOM_SYM, ATOM_DIV, ATOM_MOD, ATOM_MIN, ATOM_MAX } atom_kind;

typedef struct dim_atom {
  atom_kind kind;
  uint32_t sym;  /* ATOM_SYM: number of the symbol */
  tc_dim a, b;   /* operands of the others */
  bool replaced; /* a symbol that unify found equal to `by` */
  tc_dim by;
} dim_atom;

typedef struct dim_mono {
  uint32_t n;
  uint32_t *atom; /* ascending */
} dim_mono;

typedef struct dim_term {
  int64_t coef;  /* not 0 */
  uint32_t mono; /* 0: the constant term */
} dim_term;

typedef struct dim_poly {
  uint32_t n;
  bool opaque;    /* has atoms other than symbols */
  dim_term *term; /* of higher degree first (dim.c) */
  int64_t lo, hi; /* asserted bounds */
  int64_t known_lo, known_hi;
  uint32_t known_at; /* epoch of known_lo, known_hi; 0: never */
  tc_dim norm;
  uint32_t norm_at; /* epoch of norm */
  /* epoch of what follows: bit i, by i case distinctions it is known to be >= 0, or not */
  uint32_t sign_at;
  uint8_t nonnegative, unknown;
} dim_poly;

struct tc_dims {
  tc_arena *arena;
  TC_VEC(tc_sym *) sym;
  TC_VEC(uint32_t) sym_atom; /* atom of each symbol */
  TC_VEC(dim_atom *) atom;   /* [0] unused */
  TC_VEC(dim_mono *) mono;   /* [0] the empty monomial */
  TC_VEC(dim_poly *) poly;   /* [0] unused */
  tc_table atoms, monos, polys, names;
  TC_VEC(dim_term) sum;     /* scratch of one arithmetic operation */
  TC_VEC(uint32_t) product; /* scratch of one product of monomials */
  TC_VEC(tc_dim_pair) assumed;
  TC_VEC(tc_dim_bound) bounds;
  uint32_t epoch;    /* raised by every new fact */
  bool guessed;      /* some assumption is a guess */
  uint32_t replaced; /* symbols replaced so far */
};

/* Terms of a constant or a polynomial; *one is room for a constant's. */
uint32_t dim_terms(const tc_dims *c, tc_dim d, dim_term *one, const dim_term **terms);
dim_poly *dim_poly_of(const tc_dims *c, tc_dim d); /* NULL for constants */
/* Product of two monomials, or quotient when b divides a; false: cannot. */
bool dim_mono_mul(tc_dims *c, uint32_t a, uint32_t b, uint32_t *out);
bool dim_mono_div(tc_dims *c, uint32_t a, uint32_t b, uint32_t *out);
tc_dim dim_term_dim(tc_dims *c, dim_term t);    /* the term alone */
tc_dim dim_atom_dim(tc_dims *c, uint32_t atom); /* the atom alone */
tc_dim dim_atom_new(tc_dims *c, atom_kind k, tc_dim a, tc_dim b);
tc_dim dim_add_scaled(tc_dims *c, tc_dim a, tc_dim b, int64_t k); /* a + k*b */
bool dim_has_atom(const tc_dims *c, tc_dim d, uint32_t atom);     /* anywhere inside */
bool dim_narrow(tc_dims *c, tc_dim d, int64_t lo, int64_t hi);    /* false: contradicts */

uint64_t dim_gcd(uint64_t a, uint64_t b); /* a where b is 0 */

/* lo .. hi; INT64_MIN and INT64_MAX: not known. */
typedef struct dim_span {
  int64_t lo, hi;
} dim_span;

static inline dim_span dim_range_of(tc_dims *c, tc_dim d) {
  dim_span r;
  tc_dim_range(c, d, &r.lo, &r.hi);
  return r;
}

static inline int64_t floor_div(int64_t a, int64_t b) { /* b != 0 */
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t floor_mod(int64_t a, int64_t b) { /* b != 0 */
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

#endif

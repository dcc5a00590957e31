/* dim.h - symbolic sizes.
 *
 * A tc_dim is an integer constant, or an expression over symbols in normal form: a polynomial with
 * integer coefficients over atoms, where an atom is a symbol or an opaque
 * quotient/remainder/min/max of two dims.  Equal expressions are the same handle.  Constants need
 * no context, so eager shape inference passes ctx == NULL and never allocates.
 *
 * Arithmetic is exact: what leaves int64 becomes tc_dim_invalid, which is contagious and which
 * callers report ("size product exceeds 64 bits"). */
#ifndef TC_DIM_H
#define TC_DIM_H

#include "graph/support/support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* low bit 0: constant * 2; low bit 1: index * 2 + 1 */
typedef struct tc_dim { int64_t bits; } tc_dim;
typedef struct tc_dims tc_dims;                 /* the context: symbols, polynomials, assumptions */

#define TC_DIM_INVALID ((tc_dim){INT64_MIN + 1})

tc_dims *tc_dims_new(void);
void tc_dims_free(tc_dims *c);

static inline tc_dim tc_dim_const(int64_t v) {
  return v >= INT64_MIN / 4 && v <= INT64_MAX / 4 ? (tc_dim){v * 2} : TC_DIM_INVALID;
}
static inline bool tc_dim_is_const(tc_dim d) { return (d.bits & 1) == 0; }
static inline int64_t tc_dim_value(tc_dim d) { return d.bits / 2; } /* of a constant */
/* equal normal forms */
static inline bool tc_dim_same(tc_dim a, tc_dim b) { return a.bits == b.bits; }
static inline bool tc_dim_is(tc_dim d, int64_t v) { return d.bits == v * 2; }
static inline bool tc_dim_bad(tc_dim d) { return d.bits == INT64_MIN + 1; }

/* Symbols.  Ranges are inclusive; multiple >= 1.  The same name twice is the same symbol; a second
 * declaration narrows range and multiple (false: they contradict). */
enum { TC_SYM_OWN = -2 };
typedef struct tc_sym {
  const char *name;
  int64_t lo, hi, multiple;
  /* read as: size `axis` of graph input `input`; axis -1: value of scalar `input`; input -1: not
   * yet bound; input TC_SYM_OWN: kernels say what it is (tc_own_size) */
  int32_t input, axis;
  /* elements from one row of graph input `input` to the next: the size of `axis`, its last one, or
   * more where rows lie apart */
  bool pitch;
} tc_sym;
tc_dim tc_dim_sym(tc_dims *c, const char *name, int64_t lo, int64_t hi, int64_t multiple);
uint32_t tc_dims_sym_count(const tc_dims *c);
tc_sym *tc_dims_sym(tc_dims *c, uint32_t i); /* i < count; order of declaration */
bool tc_dim_is_sym(const tc_dims *c, tc_dim d, uint32_t *sym);
bool tc_dim_find_sym(const tc_dims *c, const char *name, uint32_t *sym); /* false: no such name */
tc_dim tc_dims_sym_dim(tc_dims *c, uint32_t i); /* symbol i itself, even if unify replaced it */

tc_dim tc_dim_add(tc_dims *c, tc_dim a, tc_dim b);
tc_dim tc_dim_sub(tc_dims *c, tc_dim a, tc_dim b);
tc_dim tc_dim_mul(tc_dims *c, tc_dim a, tc_dim b);
tc_dim tc_dim_div(tc_dims *c, tc_dim a, tc_dim b); /* floor; exact where the polynomial divides */
tc_dim tc_dim_mod(tc_dims *c, tc_dim a, tc_dim b); /* sign of b */
tc_dim tc_dim_ceildiv(tc_dims *c, tc_dim a, tc_dim b);
tc_dim tc_dim_min(tc_dims *c, tc_dim a, tc_dim b);
tc_dim tc_dim_max(tc_dims *c, tc_dim a, tc_dim b);

/* What is known.  Bounds saturate at INT64_MIN/MAX when unknown. */
void tc_dim_range(tc_dims *c, tc_dim d, int64_t *lo, int64_t *hi);
int64_t tc_dim_multiple(tc_dims *c, tc_dim d); /* largest known divisor, >= 1; 0 for constant 0 */
bool tc_dim_known_le(tc_dims *c, tc_dim a, tc_dim b);
bool tc_dim_known_ne(tc_dims *c, tc_dim a, tc_dim b);
bool tc_dim_known_eq(tc_dims *c, tc_dim a, tc_dim b); /* the same now, or assumed equal */

/* Makes a == b an assumption of the graph when it is neither known nor impossible: the guard will
 * check it, and later results use it (a bare symbol is replaced by the other side in everything
 * built afterwards; tc_dim_norm brings an older expression up to date).  Returns the equal dim, or
 * TC_DIM_INVALID when they cannot be equal.  ctx NULL: compares constants. */
tc_dim tc_dim_unify(tc_dims *c, tc_dim a, tc_dim b);
tc_dim tc_dim_norm(tc_dims *c, tc_dim d);
typedef struct tc_dim_pair { tc_dim a, b; } tc_dim_pair;
/* in order; forms of that moment */
uint32_t tc_dims_assumed(const tc_dims *c, const tc_dim_pair **pairs);
/* Whether an assumed equality, *which, is known to hold for no sizes, as N/2 == N for N >= 1.  Some
 * are not found. */
bool tc_dims_contradict(tc_dims *c, tc_dim_pair *which);
/* Likewise lo <= d <= hi.  What bounds one symbol also narrows its lo and hi. */
bool tc_dim_assume_range(tc_dims *c, tc_dim d, int64_t lo, int64_t hi);
typedef struct tc_dim_bound { tc_dim d; int64_t lo, hi; } tc_dim_bound;
uint32_t tc_dims_bounds(const tc_dims *c, const tc_dim_bound **bounds);

/* Assumes, as guesses, that min(.., size) and max(.., 0) inside of d are their other operands: what
 * a slice clamps to its axis lies inside.  false: it does not. */
bool tc_dim_assume_unclamped(tc_dims *c, tc_dim d, tc_dim size);

/* Marks the last assumption as a guess: valid programs may violate it (a size that could be 1 and
 * broadcast).  What contradicts a guess is not an error of the program. */
void tc_dims_guess(tc_dims *c);
bool tc_dims_guessed(const tc_dims *c);

/* As a C expression of type int64_t over `prefix`<name> for each symbol; constants print as such.
 * prefix NULL: in the notation that tc_dim_parse reads, for people. */
void tc_dim_print(const tc_dims *c, tc_dim d, const char *prefix, tc_buf *out);
/* In that notation, and so that it reads back to the same text: terms and operands without an order
 * of their own stand in one that does not depend on which of them was made first. */
void tc_dim_print_ordered(const tc_dims *c, tc_dim d, tc_buf *out);
/* Parses the notation of TC_SHAPE: integers, names, + - * / % ( ) min(,) max(,), with / rounding
 * down.  A new name becomes a symbol >= 0.  NULL-terminated text; on error
 * returns TC_DIM_INVALID and sets *error_at. */
tc_dim tc_dim_parse(tc_dims *c, const char *text, const char **end, const char **error_at);
/* Value with sym[i] for symbol i; false on overflow or division by zero. */
bool tc_dim_eval(const tc_dims *c, tc_dim d, const int64_t *sym, int64_t *value);

#ifdef __cplusplus
}
#endif
#endif

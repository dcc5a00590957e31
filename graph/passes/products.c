/* products.c
 *
 * requires: primitives.  keeps: locations.  One identity of products, by which attention's backward
 * pass reads no array of weights twice (Dao et al., FlashAttention, 2022, appendix B):
 *
 *   sum_j P[i,j] (sum_d A[i,d] C[j,d])  =  sum_d A[i,d] (sum_j P[i,j] C[j,d])
 *   sum(mul(P, matmul(A, C')), -1)      =  sum(mul(A, matmul(P, C)), -1)       where matmul(P, C) is there before
 *
 * which is the sum in the derivative of a softmax whose weights P, or a multiple of them such as
 * behind dropout, are multiplied with C.  The sum does not wait for the later product then, in
 * whose epilogue its result can be used. */
#include "graph/passes/pass.h"
#include "graph/passes/pattern.h"
#include "graph/passes/rewrite.h"

#include <stdlib.h>

enum { MOST_FACTORS = 8 };

/* Products by what their right operand is a permutation of: first[x] and, behind product M,
 * next[M]; 0: none. */
typedef struct products {
  uint32_t *first, *next;
} products;

/* A value as a permutation of axes of another, which may be the identity. */
typedef struct permuted {
  tc_ref of;
  int rank;
  int64_t axis[TC_MAX_RANK];
} permuted;

static permuted as_permuted(const tc_rewrite *w, tc_ref r) {
  const tc_node *n = tc_rewrite_node(w, r);
  const tc_dim *axes = NULL;
  permuted p = {n->op == OP_PERMUTE ? n->in[0] : r, n->type.rank, {0}};
  if (n->op == OP_PERMUTE) tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < p.rank; i++) p.axis[i] = axes ? tc_dim_value(axes[i]) : i;
  return p;
}

/* Are the matrices of b those of a, transposed? */
static bool is_transposed(const permuted *a, const permuted *b) {
  if (a->of.id != b->of.id || a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++) {
    const int from = i < a->rank - 2 ? i : i == a->rank - 2 ? a->rank - 1 : a->rank - 2;
    if (a->axis[i] != b->axis[from]) return false;
  }
  return true;
}

static bool list_products(tc_rewrite *w) {
  const products *p = w->self;
  for (uint32_t id = 1; id <= tc_graph_count(w->old); id++) {
    const tc_node *n = tc_graph_node(w->old, (tc_ref){id});
    if (!w->uses[id] || n->op != OP_MATMUL) continue;
    const uint32_t of = as_permuted(w, n->in[1]).of.id;
    p->next[id] = p->first[of];
    p->first[of] = id;
  }
  return true;
}

/* What r is a conversion of, or conversions of conversions, between floating dtypes; else r. */
static tc_ref unconverted(const tc_rewrite *w, tc_ref r) {
  for (;;) {
    const tc_node *n = tc_rewrite_node(w, r);
    if (n->op != OP_CAST || !tc_dtype_is_float((tc_dtype)tc_rewrite_node(w, n->in[0])->type.dtype))
      return r;
    r = n->in[0];
  }
}

/* ---- factors --------------------------------------------------------------------------------- */

typedef struct factors {
  int n; /* beyond MOST_FACTORS: too many */
  tc_ref of[MOST_FACTORS];
} factors;

static void add_factors(const tc_rewrite *w, tc_ref r, factors *f) {
  const tc_ref x = unconverted(w, r);
  const tc_node *n = tc_rewrite_node(w, x);
  if (f->n > MOST_FACTORS) return;
  if (n->op == OP_MUL) {
    add_factors(w, n->in[0], f);
    add_factors(w, n->in[1], f);
  } else {
    if (f->n < MOST_FACTORS) f->of[f->n] = x;
    f->n++;
  }
}

static bool take_factor(factors *f, tc_ref r) {
  for (int i = 0; i < f->n; i++)
    if (f->of[i].id == r.id) {
      f->of[i] = f->of[--f->n];
      return true;
    }
  return false;
}

/* Is r the product of just these? */
static bool is_product_of(const tc_rewrite *w, tc_ref r, factors f) {
  factors own = {0};
  add_factors(w, r, &own);
  if (own.n != f.n) return false;
  while (own.n && take_factor(&f, own.of[own.n - 1])) own.n--;
  return !own.n;
}

/* ---- the pattern ----------------------------------------------------------------------------- */

/* Is it the sum over the last axis alone, of floating numbers? */
static bool sums_rows(const tc_rewrite *w, const tc_node *n) {
  const tc_dim *axes;
  if (n->op != OP_SUM || !tc_dtype_is_float((tc_dtype)n->type.dtype)) return false;
  const int rank = tc_rewrite_node(w, n->in[0])->type.rank;
  return rank >= 2 && tc_attr_list(n, "axes", &axes) == 1 &&
         (tc_dim_is(axes[0], rank - 1) || tc_dim_is(axes[0], -1));
}

/* matmul(P, C) in front of the product r of A and C', where P are the other factors; 0: it is not
 * there. */
static uint32_t find_earlier(const tc_rewrite *w, tc_ref r, const factors *others) {
  const products *p = w->self;
  const tc_node *m = tc_rewrite_node(w, r);
  const permuted right = as_permuted(w, m->in[1]);
  for (uint32_t id = p->first[right.of.id]; id; id = p->next[id]) {
    const tc_node *n = tc_graph_node(w->old, (tc_ref){id});
    const permuted c = as_permuted(w, n->in[1]);
    if (id < r.id && is_transposed(&right, &c) && is_product_of(w, n->in[0], *others) &&
        tc_same_shape(&tc_rewrite_node(w, n->in[0])->type, &m->type) &&
        tc_same_shape(&n->type, &tc_rewrite_node(w, m->in[0])->type))
      return id;
  }
  return 0;
}

/* The sum over the last axis of A and matmul(P, C), element by element. */
static tc_ref sum_of(tc_rewrite *w, const tc_node *n, tc_ref a, tc_ref product) {
  const tc_dtype dtype = (tc_dtype)n->type.dtype;
  const tc_ref x = tc_build_cast(w->g, w->map[a.id], dtype, n->loc),
               y = tc_build_cast(w->g, w->map[product.id], dtype, n->loc);
  const tc_ref both = x.id && y.id ? tc_build2(w->g, OP_MUL, x, y, n->loc) : (tc_ref){0};
  return both.id ? tc_rewrite_copy(w->g, w->old, n, &both) : both;
}

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  factors all = {0};
  if (sums_rows(w, n)) add_factors(w, n->in[0], &all);
  for (int i = 0; i < all.n && all.n <= MOST_FACTORS; i++) {
    const tc_node *m = tc_rewrite_node(w, all.of[i]);
    factors others = all;
    if (m->op != OP_MATMUL || !take_factor(&others, all.of[i])) continue;
    const uint32_t product = find_earlier(w, all.of[i], &others);
    if (product && tc_same_shape(&m->type, &tc_rewrite_node(w, n->in[0])->type))
      return sum_of(w, n, m->in[0], (tc_ref){product});
  }
  return tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *tc_pass_products(tc_graph *g) {
  const uint32_t count = tc_graph_count(g) + 1u;
  products p = {calloc(count, sizeof *p.first), calloc(count, sizeof *p.next)};
  tc_graph *out = p.first && p.next ? tc_rewrite_run_planned(g, list_products, rewrite, &p) : NULL;
  free(p.first);
  free(p.next);
  return out;
}

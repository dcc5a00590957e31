/* products.c
 *
 * requires: primitives.  keeps: locations.  One identity of products, by which attention's backward
 * pass reads no array of weights twice (Dao et al., FlashAttention, 2022, appendix B):
 *
 *   sum_j P[i,j] (sum_d A[i,d] C[j,d])  =  sum_d A[i,d] (sum_j P[i,j] C[j,d])
 *   sum(mul(P, matmul(A, C')), -1)      =  sum(mul(A, matmul(P, C)), -1)       where matmul(P, C) is there before
 *
 * which is the sum in the derivative of a softmax whose weights P, or a multiple of them such as
 * behind dropout (a factor, or a select of 0, which is one here, too), are multiplied with C.  The sum does not wait for the later product then, in
 * whose epilogue its result can be used.
 *
 * Where nobody multiplies P with C, as where gradients alone are asked for, and P is a softmax of
 * a product, the product is made: behind it no array of weights is needed (lower/chain.c). */
#include "graph/passes/pass.h"
#include "graph/passes/pattern.h"
#include "graph/passes/rewrite.h"
#include "graph/passes/softmax.h"

#include <stdlib.h>

enum { MOST_FACTORS = 8 };

/* A product of weights that is not there. */
typedef struct missing {
  uint32_t weights;
  tc_ref transposed; /* C' */
  uint32_t next;     /* one that is made behind the same value, or 0 */
  tc_ref made;
} missing;

/* How a sum is rewritten: as that of A times a product, which is there or missing. */
typedef struct plan {
  tc_ref a;
  uint32_t product, missing;
} plan;

typedef struct products {
  /* by what their right operand is a permutation of: first[x] and, behind product M, next[M]; 0:
   * none */
  uint32_t *first, *next;
  plan *sum; /* per value; a 0: it stays */
  uint32_t nmissing, *behind;
  missing *missing; /* behind[x] and so on; from 1 on */
  uint8_t *reached;
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

static void list_products(tc_rewrite *w) {
  const products *p = w->self;
  for (uint32_t id = 1; id <= tc_graph_count(w->old); id++) {
    const tc_node *n = tc_graph_node(w->old, (tc_ref){id});
    if (!w->uses[id] || n->op != OP_MATMUL) continue;
    const uint32_t of = as_permuted(w, n->in[1]).of.id;
    p->next[id] = p->first[of];
    p->first[of] = id;
  }
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

/* A value; or where(of, 0, 1) or where(of, 1, 0), operand `zero` of which is 0. */
typedef struct factor {
  tc_ref of;
  int zero; /* 0: a value */
} factor;

typedef struct factors {
  int n; /* beyond MOST_FACTORS: too many */
  factor of[MOST_FACTORS];
} factors;

static void add_factor(factors *f, tc_ref of, int zero) {
  if (f->n < MOST_FACTORS) f->of[f->n] = (factor){of, zero};
  f->n++;
}

/* Which operand of where() is 0; 0: none. */
static int zero_of(const tc_rewrite *w, const tc_node *n) {
  for (int i = 1; i < 3 && n->op == OP_WHERE; i++)
    if (tc_is_value(w->old, n->in[i], 0)) return i;
  return 0;
}

static void add_factors(const tc_rewrite *w, tc_ref r, factors *f) {
  const tc_ref x = unconverted(w, r);
  const tc_node *n = tc_rewrite_node(w, x);
  const int zero = zero_of(w, n);
  if (f->n > MOST_FACTORS) return;
  if (n->op == OP_MUL) {
    add_factors(w, n->in[0], f);
    add_factors(w, n->in[1], f);
  } else if (zero) {
    add_factor(f, n->in[0], zero);
    add_factors(w, n->in[3 - zero], f);
  } else {
    add_factor(f, x, 0);
  }
}

static bool take_factor(factors *f, factor of) {
  for (int i = 0; i < f->n; i++)
    if (f->of[i].of.id == of.of.id && f->of[i].zero == of.zero) {
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

/* ---- the product that is missing --------------------------------------------------------------- */

/* The exponentials among the factors, where they are those of a softmax of a product; 0: there are none. */
static uint32_t find_softmax(const tc_rewrite *w, const factors *f) {
  const products *p = w->self;
  for (int i = 0; i < f->n; i++) {
    const tc_ref of = f->of[i].of, x = tc_softmax_operand(w->old, of, p->reached);
    if (x.id && tc_is_made_of(w->old, x, OP_MATMUL, p->reached)) return of.id;
  }
  return 0;
}

/* The value in front of `end` that is the product of the factors and multiplies C, of a product's shape; 0: none. */
static uint32_t find_weights(const tc_rewrite *w, const factors *f, const tc_node *m, uint32_t end) {
  const uint8_t dtype = tc_rewrite_node(w, m->in[1])->type.dtype;
  uint32_t id = find_softmax(w, f);
  for (; id && id < end; id++) {
    const tc_node *n = tc_graph_node(w->old, (tc_ref){id});
    if (w->uses[id] && n->type.dtype == dtype && tc_same_shape(&n->type, &m->type) &&
        is_product_of(w, (tc_ref){id}, *f))
      return id;
  }
  return 0;
}

static uint32_t add_missing(products *p, const tc_rewrite *w, uint32_t weights, tc_ref transposed) {
  const uint32_t of = as_permuted(w, transposed).of.id, behind = of > weights ? of : weights;
  p->missing[++p->nmissing] = (missing){weights, transposed, p->behind[behind], {0}};
  return p->behind[behind] = p->nmissing;
}

/* C of C'. */
static tc_ref transpose(tc_rewrite *w, tc_ref transposed, tc_loc loc) {
  const permuted p = as_permuted(w, transposed);
  int axes[TC_MAX_RANK];
  bool same = true;
  for (int i = 0; i < p.rank; i++) {
    axes[i] = (int)p.axis[i < p.rank - 2 ? i : 2 * p.rank - 3 - i];
    same &= axes[i] == i;
  }
  return same ? w->map[p.of.id] : tc_build_permute(w->g, w->map[p.of.id], p.rank, axes, loc);
}

/* Those that are made behind a value. */
static bool make_missing(tc_rewrite *w, tc_ref r, const tc_node *n) {
  products *p = w->self;
  bool ok = true;
  for (uint32_t i = p->behind[r.id]; ok && i; i = p->missing[i].next) {
    missing *x = &p->missing[i];
    const tc_ref c = transpose(w, x->transposed, n->loc);
    if (c.id) x->made = tc_build2(w->g, OP_MATMUL, w->map[x->weights], c, n->loc);
    ok = x->made.id;
  }
  return ok;
}

/* ---- the pass ---------------------------------------------------------------------------------- */

static void plan_sum(const tc_rewrite *w, uint32_t id, const tc_node *n) {
  products *p = w->self;
  factors all = {0};
  add_factors(w, n->in[0], &all);
  for (int i = 0; i < all.n && all.n <= MOST_FACTORS; i++) {
    const tc_ref r = all.of[i].of;
    const tc_node *m = tc_rewrite_node(w, r);
    factors others = all;
    if (m->op != OP_MATMUL || !take_factor(&others, all.of[i])) continue;
    if (!tc_same_shape(&m->type, &tc_rewrite_node(w, n->in[0])->type)) continue;
    const uint32_t product = find_earlier(w, r, &others),
                   weights = product ? 0 : find_weights(w, &others, m, id);
    if (!product && !weights) continue;
    p->sum[id] = (plan){m->in[0], product, product ? 0 : add_missing(p, w, weights, m->in[1])};
    return;
  }
}

static bool plan_all(tc_rewrite *w) {
  list_products(w);
  for (uint32_t id = 1; id <= tc_graph_count(w->old); id++) {
    const tc_node *n = tc_graph_node(w->old, (tc_ref){id});
    if (w->uses[id] && sums_rows(w, n)) plan_sum(w, id, n);
  }
  return true;
}

/* The sum over the last axis of A and matmul(P, C), element by element. */
static tc_ref sum_of(tc_rewrite *w, const tc_node *n, tc_ref a, tc_ref product) {
  const tc_dtype dtype = (tc_dtype)n->type.dtype;
  const tc_ref x = tc_build_cast(w->g, w->map[a.id], dtype, n->loc),
               y = tc_build_cast(w->g, product, dtype, n->loc);
  const tc_ref both = x.id && y.id ? tc_build2(w->g, OP_MUL, x, y, n->loc) : (tc_ref){0};
  return both.id ? tc_rewrite_copy(w->g, w->old, n, &both) : both;
}

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  const products *p = w->self;
  const plan *s = &p->sum[r.id];
  if (s->a.id) return sum_of(w, n, s->a, s->missing ? p->missing[s->missing].made : w->map[s->product]);
  w->map[r.id] = tc_rewrite_copy(w->g, w->old, n, in);
  return w->map[r.id].id && make_missing(w, r, n) ? w->map[r.id] : (tc_ref){0};
}

tc_graph *tc_pass_products(tc_graph *g) {
  const uint32_t count = tc_graph_count(g) + 1u;
  products p = {.first = calloc(count, sizeof *p.first),
                .next = calloc(count, sizeof *p.next),
                .sum = calloc(count, sizeof *p.sum),
                .behind = calloc(count, sizeof *p.behind),
                .missing = calloc(count + 1u, sizeof *p.missing),
                .reached = calloc(count, 1)};
  tc_graph *out = NULL;
  if (p.first && p.next && p.sum && p.behind && p.missing && p.reached)
    out = tc_rewrite_run_planned(g, plan_all, rewrite, &p);
  free(p.first);
  free(p.next);
  free(p.sum);
  free(p.behind);
  free(p.missing);
  free(p.reached);
  return out;
}

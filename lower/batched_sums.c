/* batched_sums.c - sums over batches of products, as one product.
 *
 *   sum over b of (sum over k of A[b,m,k] B[b,k,n])  =  sum over (b,k) of A[m,(b,k)] B[(b,k),n]
 *
 * where an operand is windows (unfold).  That is the gradient of a convolution's weight: no array
 * has the matrix of each example.  For targets whose products may run over several axes along k;
 * they read other operands in one piece, which would be a copy here. */
#include "graph/decomp/decomp.h"
#include "graph/passes/rewrite.h"
#include "lower/lowering.h"

enum { MANY = 4096 /* results, of which each thread gets some */ };

/* Axes of a product's batches that are summed over, one bit each; 0: others are, or operands are
 * repeated along them. */
static uint32_t summed_batches(const tc_rewrite *w, const tc_node *n, const tc_node *product) {
  const tc_type *a = tc_graph_type(w->old, product->in[0]),
                *b = tc_graph_type(w->old, product->in[1]);
  const int rank = product->type.rank;
  const dc_axes axes = dc_reduced(n, rank);
  uint32_t summed = 0;
  if (a->rank != rank || b->rank != rank) return 0;
  for (int i = 0; i < axes.n; i++) {
    const int at = axes.at[i];
    if (at >= rank - 2 || !tc_dim_same(a->dim[at], b->dim[at])) return 0;
    summed |= 1u << at;
  }
  return summed;
}

static bool has_many_results(const tc_rewrite *w, const tc_node *product) {
  const int rank = product->type.rank;
  const tc_dim results =
      tc_dim_mul(tc_graph_dims(w->old), product->type.dim[rank - 2], product->type.dim[rank - 1]);
  return !tc_dim_is_const(results) || tc_dim_value(results) >= MANY;
}

/* x[batches,row,column] with the summed axes in front of k, which is axis `k` of the matrix, 0 or
 * 1, as one axis. */
static tc_ref gathered(const dc *c, tc_ref x, uint32_t summed, int k) {
  const tc_type *t = tc_graph_type(c->g, x);
  const int rank = t->rank;
  tc_dim dims[TC_MAX_RANK];
  int order[TC_MAX_RANK], n = 0, kept = 0;
  for (int i = 0; i < rank - 2; i++)
    if (!(summed >> i & 1)) dims[kept++] = t->dim[i], order[n++] = i;
  if (k) dims[kept++] = t->dim[rank - 2], order[n++] = rank - 2;
  dims[kept] = t->dim[rank - 2 + k];
  for (int i = 0; i < rank - 2; i++)
    if (summed >> i & 1)
      dims[kept] = tc_dim_mul(tc_graph_dims(c->g), dims[kept], t->dim[i]), order[n++] = i;
  order[n++] = rank - 2 + k;
  kept++;
  if (!k) dims[kept++] = t->dim[rank - 1], order[n++] = rank - 1;
  const tc_ref permuted = tc_build_permute(c->g, x, rank, order, c->loc);
  return permuted.id ? dc_reshape(c, permuted, kept, dims) : permuted;
}

static bool has_windows(const tc_rewrite *w, tc_ref r) {
  const tc_node *n = tc_rewrite_node(w, r);
  while (n->op != OP_UNFOLD && lo_class(n) == TC_CLASS_VIEW) n = tc_rewrite_node(w, n->in[0]);
  return n->op == OP_UNFOLD;
}

static bool is_product_of_windows(const tc_rewrite *w, tc_ref r) {
  const tc_node *n = tc_rewrite_node(w, r);
  if (n->op != OP_MATMUL || !tc_dtype_is_float((tc_dtype)n->type.dtype) || w->uses[r.id] != 1)
    return false;
  return has_windows(w, n->in[0]) || has_windows(w, n->in[1]);
}

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  const bool candidate = n->op == OP_SUM && is_product_of_windows(w, n->in[0]);
  const tc_node *product = candidate ? tc_rewrite_node(w, n->in[0]) : NULL;
  const uint32_t summed = candidate ? summed_batches(w, n, product) : 0;
  if (!summed || !has_many_results(w, product)) return tc_rewrite_copy(w->g, w->old, n, in);
  const dc c = dc_begin(w->g, n);
  const tc_ref a = gathered(&c, w->map[product->in[0].id], summed, 1);
  const tc_ref b = gathered(&c, w->map[product->in[1].id], summed, 0);
  return dc_reshape_to(&c, dc_out(&c, n, dc2(&c, OP_MATMUL, a, b)), n);
}

tc_graph *lo_with_batches_in_products(tc_graph *g) {
  return tc_rewrite_where(g, OP_UNFOLD, rewrite);
}

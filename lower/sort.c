/* sort.c - sorting without a kernel for it: positions in order, by counting.
 *
 *   rank[i]  = sum over j of (x[j] comes before x[i])          before it in order, or equal and j < i
 *   order[p] = sum over i of (rank[i] == p ? i : 0)            p < k: one i has that rank
 *
 * Both are reductions of what is computed of indices, so no array is larger than x.  They take n n
 * + k n steps for n elements: a machine of many threads does that for rows of some thousands. */
#include "graph/decomp/decomp.h"
#include "graph/passes/rewrite.h"
#include "lower/lowering.h"

/* x as [outer, n, inner]. */
typedef struct sort_of {
  dc c;
  tc_dim outer, n, inner, k;
  bool descending, is_float;
} sort_of;

/* The two axes in the middle are n and `second`, in an order of whichever is 1. */
static tc_ref shaped(const sort_of *s, tc_ref x, bool whole, tc_dim first, tc_dim second) {
  const tc_dim one = tc_dim_const(1),
               dims[] = {whole ? s->outer : one, first, second, whole ? s->inner : one};
  return dc_reshape(&s->c, x, 4, dims);
}

static tc_ref places(const sort_of *s, tc_dim n) {
  const tc_ref in[] = {tc_graph_const_i(s->c.g, TC_I64, false, 0, s->c.loc),
                       tc_graph_const_i(s->c.g, TC_I64, false, 1, s->c.loc)};
  const tc_dim attr[] = {n, tc_dim_const(TC_I64)};
  return tc_build(s->c.g, OP_ARANGE, 2, in, 2, attr, NULL, s->c.loc);
}

/* a is before b in the order of values, NaN above all; equal: neither is. */
static tc_ref before(const sort_of *s, tc_ref a, tc_ref b) {
  const dc *c = &s->c;
  tc_ref less = dc2(c, s->descending ? OP_GT : OP_LT, a, b);
  if (!s->is_float) return less;
  tc_ref number = s->descending ? b : a, nan = s->descending ? a : b;
  return dc2(c, OP_OR, less,
             dc2(c, OP_AND, dc1(c, OP_ISNAN, nan), dc1(c, OP_NOT, dc1(c, OP_ISNAN, number))));
}

static tc_ref equal(const sort_of *s, tc_ref a, tc_ref b) {
  const dc *c = &s->c;
  tc_ref same = dc2(c, OP_EQ, a, b);
  if (!s->is_float) return same;
  return dc2(c, OP_OR, same, dc2(c, OP_AND, dc1(c, OP_ISNAN, a), dc1(c, OP_ISNAN, b)));
}

/* sum over the third axis, which stays as 1 */
static tc_ref total(const sort_of *s, tc_ref x) {
  return dc_reduce(&s->c, OP_SUM, x, &(dc_axes){1, {2}}, true);
}

/* i64[outer,n,1,inner]: how many are before each. */
static tc_ref ranks(const sort_of *s, tc_ref x) {
  const dc *c = &s->c;
  const tc_dim one = tc_dim_const(1);
  tc_ref own = shaped(s, x, true, s->n, one), other = shaped(s, x, true, one, s->n),
         at = places(s, s->n);
  tc_ref first = dc2(c, OP_LT, shaped(s, at, false, one, s->n), shaped(s, at, false, s->n, one));
  return total(s,
               dc2(c, OP_OR, before(s, other, own), dc2(c, OP_AND, equal(s, other, own), first)));
}

/* i64[outer,k,1,inner]: which has each rank. */
static tc_ref with_ranks(const sort_of *s, tc_ref rank) {
  const dc *c = &s->c;
  const tc_dim one = tc_dim_const(1);
  tc_ref wanted = shaped(s, places(s, s->k), false, s->k, one),
         at = shaped(s, places(s, s->n), false, one, s->n);
  tc_ref has = dc2(c, OP_EQ, shaped(s, rank, true, one, s->n), wanted);
  return total(s, dc3(c, OP_WHERE, has, at, tc_graph_const_i(c->g, TC_I64, false, 0, c->loc)));
}

static tc_ref count(tc_graph *g, const tc_node *n, tc_ref x) {
  const tc_type *t = tc_graph_type(g, x);
  tc_dims *dims = tc_graph_dims(g);
  const int axis = dc_axis(n, "axis", t->rank);
  const tc_dim one = tc_dim_const(1);
  sort_of s = {{g, n->loc, TC_I64, false},
               one,
               t->dim[axis],
               one,
               tc_attr_int(n, "k"),
               tc_dim_value(tc_attr_int(n, "descending")) != 0,
               tc_dtype_is_float((tc_dtype)t->dtype)};
  for (int i = 0; i < axis; i++) s.outer = tc_dim_mul(dims, s.outer, t->dim[i]);
  for (int i = axis + 1; i < t->rank; i++) s.inner = tc_dim_mul(dims, s.inner, t->dim[i]);
  return dc_reshape_to(&s.c, with_ranks(&s, ranks(&s, x)), n);
}

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  if (n->op != OP_ORDER) return tc_rewrite_copy(w->g, w->old, n, in);
  if (n->type.rank == 0) return tc_graph_const_i(w->g, TC_I64, false, 0, n->loc);
  return count(w->g, n, in[0]);
}

tc_graph *lo_without_sorts(tc_graph *g) { return tc_rewrite_where(g, OP_ORDER, rewrite); }

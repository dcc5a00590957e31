/* few_terms.c - products of few terms with one matrix, as sums of products element by element.
 *
 *   sum over k of A[..,m,k] B[..,k,n]  =  A[..,m,0] B[..,0,n] + A[..,m,1] B[..,1,n] + ...
 *
 * where A or B is small and the same for all batches, such as points in space that are rotated and colours in another
 * space.  A template begins, packs and stores a tile for each few rows, which costs more than so few terms do, most of all
 * where rows are shorter than a vector; nests run along all elements, and compute what stands in front of and behind the
 * product with it. */
#include "graph/decomp/decomp.h"
#include "graph/passes/rewrite.h"
#include "lower/lowering.h"

#include <stdlib.h>

/* Measured on AVX-512 with 1 to 8 terms and 1 to 64 rows or columns of the small matrix, the product by itself and with a
 * bias and relu behind it: up to here nests take a twentieth to all of the template's time.  Pairs of bf16 are one
 * operation there, if the CPU has it. */
enum { MOST_TERMS = 4, MOST_RESULTS = 32, MOST_RESULTS_OF_PAIRS = 4 };

static bool is_known_up_to(tc_dim d, int64_t most) {
  return tc_dim_is_const(d) && tc_dim_value(d) >= 1 && tc_dim_value(d) <= most;
}

/* Is operand `at` of the product one matrix, for all batches, with at most so many rows (of A) or columns (of B)? */
static bool is_small(const tc_rewrite *w, const tc_node *n, int at, int64_t most) {
  const tc_type *t = tc_graph_type(w->old, n->in[at]);
  for (int i = 0; i < t->rank - 2; i++)
    if (!tc_dim_is(t->dim[i], 1)) return false;
  return is_known_up_to(t->dim[t->rank - 2 + at], most);
}

/* costly[x]: is a function such as exp part of what computes an element of x from arrays?  A sum would compute it for each
 * of its readers, and once for a vector of them. */
static bool find_costly(tc_rewrite *w) {
  bool *costly = w->self;
  for (uint32_t id = 1; id <= tc_graph_count(w->old); id++) {
    const tc_node *n = tc_rewrite_node(w, (tc_ref){id});
    const tc_class c = lo_class(n);
    costly[id] = (c == TC_CLASS_EW || c == TC_CLASS_GEN) && tc_op_get(n->op)->transcendental;
    if (c != TC_CLASS_EW && c != TC_CLASS_VIEW && c != TC_CLASS_JOIN) continue;
    for (uint32_t i = 0; i < n->nin; i++) costly[id] = costly[id] || costly[n->in[i].id];
  }
  return true;
}

static bool has_few_terms(const tc_rewrite *w, const tc_node *n) {
  const bool *costly = w->self;
  if (n->op != OP_MATMUL || !tc_dtype_is_float((tc_dtype)n->type.dtype)) return false;
  const tc_type *a = tc_graph_type(w->old, n->in[0]), *b = tc_graph_type(w->old, n->in[1]);
  if (a->rank < 2 || b->rank < 2 || costly[n->in[0].id] || costly[n->in[1].id]) return false;
  const tc_dim terms = b->dim[b->rank - 2];
  if (!is_known_up_to(terms, MOST_TERMS)) return false;
  const bool pairs = n->type.dtype == TC_BF16 && tc_dim_value(terms) % 2 == 0;
  const int64_t most = pairs ? MOST_RESULTS_OF_PAIRS : MOST_RESULTS;
  return is_small(w, n, 0, most) || is_small(w, n, 1, most);
}

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  if (!has_few_terms(w, n)) return tc_rewrite_copy(w->g, w->old, n, in);
  const dc c = dc_begin(w->g, n);
  const tc_ref a = dc_in(&c, in[0]), b = dc_in(&c, in[1]);
  const int column = tc_graph_type(w->g, a)->rank - 1, row = tc_graph_type(w->g, b)->rank - 2;
  const int64_t terms = tc_dim_value(tc_graph_type(w->g, b)->dim[row]);
  tc_ref sum = {0};
  for (int64_t k = 0; k < terms; k++) {
    const tc_dim at = tc_dim_const(k), end = tc_dim_const(k + 1);
    const tc_ref term = dc2(&c, OP_MUL, dc_slice(&c, a, column, at, end), dc_slice(&c, b, row, at, end));
    sum = k ? dc2(&c, OP_ADD, sum, term) : term;
  }
  return dc_out(&c, n, sum);
}

tc_graph *lo_without_few_terms(tc_graph *g) {
  bool *costly = calloc(tc_graph_count(g) + 1u, sizeof *costly);
  tc_graph *sums = costly ? tc_rewrite_run_planned(g, find_costly, rewrite, costly) : NULL;
  if (!costly) tc_report(tc_graph_diag(g), TC_MISSED, (tc_loc){0}, "not compiled: out of memory");
  free(costly);
  return sums;
}

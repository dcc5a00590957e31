/* interp.h - evaluates a graph on small arrays, straight from the definition of each op.
 *
 * The reference that passes and lowering are tested against: no decomposition, no fusion, nothing
 * clever.  Floating values are doubles, integers and bool are int64; with `round`, every result is
 * rounded to its dtype, without it floating results are exact to double precision. */
#ifndef TC_TEST_INTERP_H
#define TC_TEST_INTERP_H

#include "graph/graph.h"

/* Row-major.  f for floating dtypes, i for integers and bool; the other is NULL. */
typedef struct interp_array {
  tc_dtype dtype;
  int rank;
  int64_t dim[TC_MAX_RANK];
  int64_t count;
  double *f;
  int64_t *i;
} interp_array;

interp_array *interp_new(tc_dtype dtype, int rank, const int64_t *dim); /* zeros */
void interp_free(interp_array *a);
double interp_get(const interp_array *a, int64_t k);   /* element k as a double */
int64_t interp_int(const interp_array *a, int64_t k);  /* truncated */
void interp_set(interp_array *a, int64_t k, double v); /* converted to the dtype as C does */

typedef struct interp_run {
  /* in */
  tc_graph *g;
  const interp_array *const *input; /* one per graph input, with sizes that fit its type */
  const tc_value *scalar;           /* one per scalar argument */
  bool round;
  /* out, in the order of the graph's roots; freed by interp_run_free */
  uint32_t noutput, nwrite;
  interp_array **output, **write;
  char message[160]; /* why it failed */
} interp_run;

/* false: sizes do not fit, an index is out of range, an empty axis has no maximum. */
bool interp_graph(interp_run *run);
void interp_run_free(interp_run *run);

/* Largest violation of |a-b| <= atol + rtol*|b|, 0 if none; infinity for unequal shapes, dtypes,
 * NaNs, infinities. */
double interp_distance(const interp_array *a, const interp_array *b, double rtol, double atol);

#endif

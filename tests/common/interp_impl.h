/* interp_impl.h - what the evaluators of interp_*.c share. */
#ifndef TC_TEST_INTERP_IMPL_H
#define TC_TEST_INTERP_IMPL_H

#include "tests/common/interp.h"

/* One node being evaluated.  `out` exists, zeroed, with the inferred shape; in[k] is NULL for a
 * missing optional operand. */
typedef struct interp_node {
  interp_run *run;
  const int64_t *sym;
  const tc_node *n;
  interp_array *const *in;
  interp_array *out;
} interp_node;

typedef bool interp_fn(interp_node *e);

/* Each evaluates the ops of its subject; false with run->message set. */
interp_fn interp_leaf, interp_elementwise, interp_reduce, interp_scan, interp_order, interp_view, interp_join,
    interp_index, interp_linalg, interp_einsum, interp_norms, interp_loss;

bool interp_fail(interp_node *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t interp_attr(interp_node *e, const char *name);
int interp_list(interp_node *e, const char *name, int64_t *items);
int interp_axis(int64_t axis, int rank);

/* Indices.  next: the following index in row-major order, false after the last. */
bool interp_next(int64_t *index, int rank, const int64_t *dim);
int64_t interp_flat(const int64_t *index, int rank, const int64_t *dim);
/* Flat position in a of the element that broadcasts to `index` of a result with `rank` axes. */
int64_t interp_at(const interp_array *a, const int64_t *index, int rank);
/* Does the result have an element? (index loops start with the first one) */
static inline bool interp_empty(const interp_array *a) { return a->count == 0; }

/* The dtype in which n combines its operands before it rounds to its own. */
void interp_copy(interp_array *to, int64_t k, const interp_array *from, int64_t j); /* converts */

#endif

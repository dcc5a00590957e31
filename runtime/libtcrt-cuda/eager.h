/* eager.h - running one op on device operands.
 *
 * An op with a form (oneop.h) brings its operands into that form and calls the entry; others become
 * a graph of one node with constant sizes, which is decomposed and evaluated node by node.
 *
 * Operands are tensors of one device, and C scalars: tensors of rank 0 on the CPU.  Results are new
 * tensors of the current scope. */
#ifndef TC_CUDA_EAGER_H
#define TC_CUDA_EAGER_H

#include "runtime/libtcrt-cuda/oneop.h"
#include "runtime/libtcrt/src/eager/eager.h"

#include <tcompile/cuda.h>

/* The op of `c` with a result of that type.  Functions below give NULL with an error. */
typedef struct tc_op_call {
  const tc_eager_call *c;
  int nattr;
  tc_type type;
} tc_op_call;

/* The op, by form or by decomposition. */
tc_tensor *tc_op_run(const tc_op_call *o);
/* By its form; *none is set where it has none (no error then). */
tc_tensor *tc_form_run(const tc_op_call *o, bool *none);
tc_tensor *tc_decomposed_run(const tc_op_call *o);

/* The families of forms. */
tc_tensor *tc_form_elementwise(const tc_op_call *o, bool *none);
tc_tensor *tc_form_cast(const tc_op_call *o);
tc_tensor *tc_form_triangle(const tc_op_call *o);
tc_tensor *tc_form_create(const tc_op_call *o, bool *none);
tc_tensor *tc_form_along(const tc_op_call *o, bool *none);
tc_tensor *tc_form_indexed(const tc_op_call *o, bool *none);
tc_tensor *tc_form_matmul(const tc_op_call *o);

/* Does libtcrt-cuda have an entry under the key? */
tcrt_entry *tc_entry_find(const char *key);
/* Runs it; the result gets o's type. */
tc_tensor *tc_entry_run(const tc_op_call *o, const char *key, const tc_tensor *const *in,
                        const tc_value *scalar);

/* ---- pieces ---------------------------------------------------------------------------------- */

/* x in the dtype, contiguous, as a header over its own memory with other sizes.  `hold` is what to
 * free afterwards, or NULL. */
typedef struct tc_dense {
  tc_tensor t;
  tc_tensor *hold;
  bool ok;
} tc_dense;
/* x cast to dtype and expanded to o's shape (`spread`) or in its own, then seen as rank sizes. */
tc_dense tc_dense_of(const tc_tensor *x, tc_dtype dtype, const tc_type *spread, int rank,
                     const int64_t *dim);
void tc_dense_free(tc_dense *d, int n);

static inline bool tc_is_scalar(const tc_tensor *x) { return x->key.device == TC_CPU; }
static inline int64_t tc_type_count(const tc_type *t) {
  int64_t n = 1;
  for (int i = 0; i < t->rank; i++) n *= tc_dim_value(t->dim[i]);
  return n;
}
/* A tensor of the type on the operands' device, contents undefined. */
tc_tensor *tc_result_new(const tc_op_call *o);
/* t, contiguous, gets the sizes, dtype and weakness of the type. */
void tc_result_shape(tc_tensor *t, const tc_type *type);

/* One op on given operands: types are inferred. attr: nattr numbers. */
tc_tensor *tc_op_on(const tc_op_call *o, tc_op op, int nin, const tc_tensor *const *in, int nattr,
                    const int64_t *attr);
/* A C scalar on the caller's stack. */
typedef struct tc_number {
  tc_tensor t;
  double f;
  int64_t i;
} tc_number;
void tc_number_f(tc_number *n, double v);  /* f64 */
void tc_number_i(tc_number *n, int64_t v); /* i64 */

#endif

/* linear.h - products of two inputs.  tcompile.h has tc_linear. */
#ifndef TCOMPILE_NN_LINEAR_H
#define TCOMPILE_NN_LINEAR_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* y[..,o] = sum over i and j of a[..,i] w[o,i,j] b[..,j], plus bias[O] where that is not NULL: a[..,I], b[..,J], w[O,I,J].
 * Errors: axes and sizes that differ. */
static inline tc_tensor *tc_bilinear(const tc_tensor *a, const tc_tensor *b, const tc_tensor *w, const tc_tensor *bias) {
  tc_tensor *y = NULL;
  if (!a || !b || !w) return NULL;
  if (tc_rank(a) < 1 || tc_rank(b) != tc_rank(a) || tc_rank(w) != 3 || tc_size(w, 1) != tc_size(a, -1) ||
      tc_size(w, 2) != tc_size(b, -1))
    return TC_NN_FAIL("tc_bilinear: operands of %d and %d axes, %lld and %lld elements, weights of %d axes", tc_rank(a),
                      tc_rank(b), (long long)tc_size(a, -1), (long long)tc_size(b, -1), tc_rank(w));
  TC_SCOPE {
    const int64_t results = tc_size(w, 0), last = tc_size(w, 2);
    tc_ints dims = tc_shape(a);
    dims.v[dims.n - 1] = results;
    dims.v[dims.n++] = last;
    const tc_tensor *of_a = tc_reshape(tc_permute(w, TC_AXES(1, 0, 2)), TC_DIMS(tc_size(w, 1), results * last)); /* [I,O J] */
    const tc_tensor *each = tc_reshape(tc_matmul(a, of_a), dims);
    tc_tensor *z = tc_sum(tc_mul(each, tc_unsqueeze(b, -2)), TC_AXES(-1), false);
    if (bias) z = tc_add(z, bias);
    y = tc_keep(z);
  }
  return y;
}

#include <tcompile/library_end.h>
#endif

/* jvp.c - forward mode as the transpose of reverse mode.
 *
 * With u in place of cotangents, vjp(u) = J^T u is linear in u, so its vjp with respect to u, with
 * cotangent t, is J t.  What was made of u alone is left unread.  */
#include "autodiff/vjp.h"

#include <stdlib.h>

/* A value of this type that no node of the graph is, and no rule makes: full of a number not yet in
 * it. */
static tc_ref fresh(tc_graph *g, const tc_type *t, double *number, tc_loc loc) {
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(t->rank)};
  for (int i = 0; i < t->rank; i++) attr[1 + i] = t->dim[i];
  attr[1 + t->rank] = tc_dim_const(t->dtype);
  for (;;) {
    const uint32_t before = tc_graph_count(g);
    const tc_ref value = tc_graph_const_f(g, TC_F64, true, ++*number, loc);
    const tc_ref r = tc_build(g, OP_FULL, 1, &value, t->rank + 2, attr, NULL, loc);
    if (!r.id || r.id > before) return r;
  }
}

static bool transpose(tc_graph *g, const tc_autodiff *a, const tc_ref *tangent, tc_ref *u,
                      tc_ref *grad, tc_ref *out) {
  sweep check = {.g = g, .a = a};
  double number = 1; /* rules make 0 and 1 */
  for (uint32_t i = 0; i < a->nwrt; i++) {
    const tc_type *t = tc_graph_type(g, a->wrt[i]);
    if (t && !vj_check_shape(&check, tangent[i], t, "the tangent")) return false;
  }
  for (uint32_t k = 0; k < a->noutput; k++) {
    const tc_type *t = tc_graph_type(g, a->output[k]);
    u[k] = t ? fresh(g, t, &number, a->loc) : (tc_ref){0};
  }
  tc_autodiff reverse = *a, forward = *a;
  reverse.cotangent = u;
  if (!tc_autodiff_vjp(g, &reverse, grad, NULL)) return false;
  forward.noutput = a->nwrt;
  forward.output = grad;
  forward.cotangent = tangent;
  forward.nwrt = a->noutput;
  forward.wrt = u;
  forward.nstop = 0; /* what was a constant is none of u's doing */
  return tc_autodiff_vjp(g, &forward, out, NULL);
}

bool tc_autodiff_jvp(tc_graph *g, const tc_autodiff *a, const tc_ref *tangent, tc_ref *out) {
  tc_ref *u = calloc(a->noutput + 1u, sizeof *u), *grad = calloc(a->nwrt + 1u, sizeof *grad);
  const bool ok = u && grad && transpose(g, a, tangent, u, grad, out);
  free(u);
  free(grad);
  return ok;
}

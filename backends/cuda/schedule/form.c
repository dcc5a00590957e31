/* form.c - the form of a nest, the width of its accesses, and of its indices. */
#include "backends/cuda/schedule/plan.h"

#include <stdlib.h>

void tc_cuda_plan_form(tc_cuda_plan *x) {
  *x->nest = (tc_cuda_nest_schedule){.form = tc_cuda_form_of(x->n), .along = -1, .across = -1};
  if (x->nest->form == TC_CUDA_FLAT) tc_cuda_plan_transpose(x);
  if (tc_cuda_scatters(x->k, x->n, x->need)) x->nest->form = TC_CUDA_SCATTER;
  x->nest->width = tc_cuda_choose_width(x->k, x->p, x->n, x->nest, x->need);
  x->nest->index64 = tc_cuda_is_far(x->k, x->p, x->n, x->need);
}

bool tc_cuda_plan_access(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         tc_cuda_nest_schedule *out) {
  tc_cuda_plan x = {.k = k, .p = p, .n = n, .nest = out, .need = calloc(k->nexpr + 1, 1)};
  if (!x.need) return false;
  tc_cuda_mark(k, n, x.need);
  tc_cuda_plan_form(&x);
  free(x.need);
  return true;
}

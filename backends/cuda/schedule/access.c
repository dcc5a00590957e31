/* access.c - see access.h. */
#include "backends/cuda/schedule/access.h"

tc_cuda_accesses tc_cuda_accesses_of(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                     const tc_cuda_nest_schedule *s, const uint8_t *need) {
  const bool tiles = s->form == TC_CUDA_TRANSPOSE;
  return (tc_cuda_accesses){.k = k,
                            .p = p,
                            .n = n,
                            .axis = tiles ? s->along : n->vector,
                            .across = tiles ? s->across : -1,
                            .need = need};
}

/* The axis along which the load is wide; -1: it is not. */
static int axis_of_load(const tc_cuda_accesses *x, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id || tc_cuda_is_local(x->k, x->p, e->buffer)) return -1;
  if (tc_dim_is(e->address.coef[x->axis], 1)) return x->axis;
  return x->across >= 0 && tc_cuda_crosses(e, x->axis, x->across) ? x->across : -1;
}

void tc_cuda_each_wide_load(const tc_cuda_accesses *x, tc_cuda_each_access_fn *f, void *self) {
  for (uint32_t i = 1; x->axis >= 0 && i < x->k->nexpr; ++i) {
    const tc_expr *e = &x->k->expr[i];
    const int axis = x->need[i] ? axis_of_load(x, e) : -1;
    if (axis >= 0) f(x, (tc_cuda_access){&e->address, e->buffer, axis}, self);
  }
}

static bool is_wide_store(const tc_cuda_accesses *x, const tc_action *a) {
  return tc_cuda_is_store(a) && !a->guard.id && !tc_cuda_is_local(x->k, x->p, a->buffer) &&
         tc_dim_is(a->address.coef[x->axis], 1);
}

void tc_cuda_each_wide_store(const tc_cuda_accesses *x, tc_cuda_each_access_fn *f, void *self) {
  for (uint32_t s = 0; x->axis >= 0 && s < x->n->nstage; ++s)
    for (uint32_t i = 0; i < x->n->stage[s].naction; ++i) {
      const tc_action *a = &x->n->stage[s].action[i];
      if (is_wide_store(x, a)) f(x, (tc_cuda_access){&a->address, a->buffer, x->axis}, self);
    }
}

void tc_cuda_each_step(const tc_cuda_accesses *x, tc_cuda_access a, tc_cuda_each_size_fn *f,
                       void *self) {
  f(x, a.address->offset, self);
  for (int i = 0; i < x->n->naxis; ++i)
    if (i != a.axis) f(x, a.address->coef[i], self);
  for (int t = 0; t < a.address->nterm; ++t) f(x, a.address->term[t].stride, self);
}

void tc_cuda_each_extent(const tc_cuda_accesses *x, tc_cuda_each_size_fn *f, void *self) {
  f(x, x->n->axis[x->axis].extent, self);
  if (x->n->axis[x->axis].of >= 0) f(x, x->n->axis[x->axis].total, self);
  if (x->across >= 0) f(x, x->n->axis[x->across].extent, self);
}

size_t tc_cuda_element_bytes(const tc_cuda_accesses *x, uint32_t buffer) {
  return tc_dtype_bytes(x->p->buffer[x->k->buffer[buffer]].dtype);
}

bool tc_cuda_may_not_divide(const tc_cuda_accesses *x, tc_dim d, int lanes) {
  return !tc_dim_is(d, 0) && tc_dim_multiple(tc_graph_dims(x->p->graph), d) % lanes != 0;
}

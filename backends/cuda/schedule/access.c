/* access.c - see access.h. */
#include "backends/cuda/schedule/access.h"
#include "lower/flat_rows.h"

/* Is it an operand, and that one load? */
static bool copies(const tc_kernel *k, const tc_nest *n) {
  const tc_action *a = n->nstage ? n->stage->action : NULL;
  return k->kind == TC_KERNEL_MATMUL && a && a->kind == TC_ACT_REDUCE &&
         k->expr[a->value.id].kind == TC_EX_LOAD;
}

static bool copies_halves(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  return copies(k, n) && tc_dtype_is_half(k->mm.operand) &&
         tc_cuda_is_plain(k, p, n->stage->action->value) > 0;
}

bool tc_cuda_has_tail(const tc_kernel *k, const tc_nest *n, const tc_cuda_nest_schedule *s) {
  return k->kind == TC_KERNEL_NESTS && s->form == TC_CUDA_FLAT && n->naxis == 1;
}

bool tc_cuda_leaves_tail(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s) {
  return tc_cuda_has_tail(k, n, s) && s->width > 1 &&
         tc_dim_multiple(tc_graph_dims(p->graph), n->axis[0].extent) % s->width != 0;
}

tc_cuda_accesses tc_cuda_accesses_of(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                     const tc_cuda_nest_schedule *s, const uint8_t *need) {
  const bool tiles = s->form == TC_CUDA_TRANSPOSE,
             parts = k->kind == TC_KERNEL_MATMUL && n->vector >= 0;
  return (tc_cuda_accesses){.k = k,
                            .p = p,
                            .n = n,
                            .axis = tiles ? s->along : n->vector,
                            .across = tiles ? s->across : -1,
                            .part = parts ? tc_mm_innermost(&k->mm, n->vector) : -1,
                            .copies = copies(k, n),
                            .partial = copies_halves(k, p, n),
                            .tail = tc_cuda_has_tail(k, n, s),
                            .need = need};
}

/* Elements from one point to the next along the axis. */
static tc_dim step_along(const tc_cuda_accesses *x, const tc_address *a) {
  const tc_dim step = a->coef[x->axis];
  return x->part < 0 ? step : tc_dim_add(tc_graph_dims(x->p->graph), step, a->coef[x->part]);
}

/* The axis along which the load is wide; -1: it is not. */
static int axis_of_load(const tc_cuda_accesses *x, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || (e->guard.id && !x->copies) ||
      tc_cuda_is_local(x->k, x->p, e->buffer))
    return -1;
  if (tc_dim_is(step_along(x, &e->address), 1)) return x->axis;
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

/* Of a product.  Where lanes run along a part of an axis, they are to fill it. */
static void each_part(const tc_cuda_accesses *x, tc_cuda_access a, tc_cuda_each_size_fn *f,
                      void *self) {
  const tc_mm_loop *mm = &x->k->mm;
  for (int i = tc_mm_first_part(mm); i < tc_mm_axes(mm); ++i) {
    const tc_dim step = a.address->coef[i];
    if (i != x->part) f(x, step, self);
    else if (!tc_dim_is(step, 0)) f(x, mm->axis[i].extent, self);
  }
}

void tc_cuda_each_step(const tc_cuda_accesses *x, tc_cuda_access a, tc_cuda_each_size_fn *f,
                       void *self) {
  f(x, a.address->offset, self);
  for (int i = 0; i < x->n->naxis; ++i)
    if (i != a.axis) f(x, a.address->coef[i], self);
  if (x->k->kind == TC_KERNEL_MATMUL) each_part(x, a, f, self);
  for (int t = 0; t < a.address->nterm; ++t) f(x, a.address->term[t].stride, self);
}

void tc_cuda_each_extent(const tc_cuda_accesses *x, int width, tc_cuda_each_size_fn *f,
                         void *self) {
  if (x->partial && width == TC_CUDA_COPIED) return;
  f(x, x->n->axis[x->axis].extent, self);
  if (x->n->axis[x->axis].of >= 0) f(x, x->n->axis[x->axis].total, self);
  if (x->across >= 0) f(x, x->n->axis[x->across].extent, self);
}

bool tc_cuda_counts_rows(const tc_kernel *k, const tc_nest *n, const tc_cuda_nest_schedule *s, const tc_expr *load) {
  return tc_cuda_has_tail(k, n, s) && n->vector == 0 && tc_flat_row_width(k, load);
}

size_t tc_cuda_element_bytes(const tc_cuda_accesses *x, uint32_t buffer) {
  return tc_dtype_bytes(x->p->buffer[x->k->buffer[buffer]].dtype);
}

bool tc_cuda_may_not_divide(const tc_cuda_accesses *x, tc_dim d, int lanes) {
  return !tc_dim_is(d, 0) && tc_dim_multiple(tc_graph_dims(x->p->graph), d) % lanes != 0;
}

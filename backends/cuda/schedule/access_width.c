/* access_width.c - how wide the accesses of a nest may be, and what the launcher asks before it takes a
 * function with 16-byte accesses or 32-bit indices. */
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/plan.h"

#include <stdlib.h>
#include <string.h>

/* One access of TC_L neighbours along an axis. */
typedef struct access {
  const tc_address *address;
  uint32_t buffer;
  int axis;
} access;

typedef struct visit {
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *n;
  void (*f)(struct visit *, access);
  int axis, across; /* of the lanes; TILES: of the loads that fill a tile, else -1 */
  int lanes, least, vectors;
  bool unaligned; /* some size may not be a multiple of the lanes */
  bool loads;     /* stores count where there is no load */
  tc_buf *out;
} visit;

static visit visit_of(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                      const tc_cuda_nest_schedule *s) {
  const bool tiles = s->form == TC_CUDA_TRANSPOSE;
  return (visit){.k = k,
                 .p = p,
                 .n = n,
                 .axis = tiles ? s->along : n->vector,
                 .across = tiles ? s->across : -1};
}

static void each_load(visit *v, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id || tc_cuda_is_local(v->k, v->p, e->buffer)) return;
  if (tc_dim_is(e->address.coef[v->axis], 1)) v->f(v, (access){&e->address, e->buffer, v->axis});
  else if (v->across >= 0 && tc_cuda_crosses(e, v->axis, v->across))
    v->f(v, (access){&e->address, e->buffer, v->across});
}

static void each_wide(visit *v, const uint8_t *need) {
  if (v->axis < 0) return;
  for (uint32_t i = 1; i < v->k->nexpr; ++i)
    if (need[i]) each_load(v, &v->k->expr[i]);
  if (v->loads && v->vectors) return;
  for (uint32_t s = 0; s < v->n->nstage; ++s)
    for (uint32_t i = 0; i < v->n->stage[s].naction; ++i) {
      const tc_action *a = &v->n->stage[s].action[i];
      if (tc_cuda_is_store(a) && !a->guard.id && !tc_cuda_is_local(v->k, v->p, a->buffer) &&
          tc_dim_is(a->address.coef[v->axis], 1))
        v->f(v, (access){&a->address, a->buffer, v->axis});
    }
}

static size_t element(const visit *v, uint32_t buffer) {
  return tc_dtype_bytes(v->p->buffer[v->k->buffer[buffer]].dtype);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void narrowest(visit *v, access a) {
  const int bytes = (int)element(v, a.buffer);
  ++v->vectors;
  if (bytes > 1 && (v->least == 0 || bytes < v->least)) v->least = bytes;
}

/* The largest power of 2 up to `lanes` that a size may be a multiple of. */
static int fitting(tc_dims *c, tc_dim d, int lanes) {
  if (tc_dim_is(d, 0)) return lanes;
  const int64_t multiple = tc_dim_multiple(c, d);
  if (!tc_dim_is_const(d) && multiple % 2 != 0) return lanes; /* the launcher asks */
  while (lanes > 1 && (tc_dim_is_const(d) ? tc_dim_value(d) : multiple) % lanes != 0 &&
         tc_dim_is_const(d))
    lanes /= 2;
  return lanes;
}

static void each_step(visit *v, access a, void (*f)(visit *, tc_dim)) {
  f(v, a.address->offset);
  for (int i = 0; i < v->n->naxis; ++i)
    if (i != a.axis) f(v, a.address->coef[i]);
  for (int t = 0; t < a.address->nterm; ++t) f(v, a.address->term[t].stride);
}

static void each_extent(visit *v, void (*f)(visit *, tc_dim)) {
  f(v, v->n->axis[v->axis].extent);
  if (v->n->axis[v->axis].of >= 0) f(v, v->n->axis[v->axis].total);
  if (v->across >= 0) f(v, v->n->axis[v->across].extent);
}

static void fit(visit *v, tc_dim d) { v->lanes = fitting(tc_graph_dims(v->p->graph), d, v->lanes); }

static void fit_access(visit *v, access a) {
  fit(v, v->k->base[a.buffer]);
  each_step(v, a, fit);
}

int tc_cuda_choose_width(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const tc_cuda_nest_schedule *s, const uint8_t *need) {
  visit v = visit_of(k, p, n, s);
  v.f = narrowest;
  v.loads = s->form == TC_CUDA_COLUMNS; /* a column has many of them, and one store */
  each_wide(&v, need);
  v.loads = false;
  if (!v.vectors) return 1;
  v.lanes = v.least ? 16 / v.least : 8;
  v.f = fit_access;
  each_wide(&v, need);
  each_extent(&v, fit);
  return v.lanes;
}

/* ---- conditions of the wide function --------------------------------------------------------- */

static void put_divides(visit *v, tc_dim d) {
  tc_dims *c = tc_graph_dims(v->p->graph);
  if (tc_dim_is(d, 0) || tc_dim_multiple(c, d) % v->lanes == 0) return;
  v->unaligned = true;
  if (!v->out) return;
  tc_buf t = {0};
  tc_print_dim(v->p, d, &t);
  tc_buf whole = {0};
  tc_putf(&whole, " && (%s) %% %d == 0", t.text, v->lanes);
  if (!v->out->text || !strstr(v->out->text, whole.text)) tc_put(v->out, whole.text);
  tc_buf_free(&t);
  tc_buf_free(&whole);
}

static void put_aligned(visit *v, access a) {
  each_step(v, a, put_divides);
  if (!v->out) return;
  const size_t bytes = element(v, a.buffer) * (size_t)v->lanes;
  tc_buf t = {0};
  tc_putf(&t, " && (uintptr_t)buf[%u] %% %zu == 0", a.buffer, bytes < 16 ? bytes : (size_t)16);
  if (bytes > 1 && (!v->out->text || !strstr(v->out->text, t.text))) tc_put(v->out, t.text);
  tc_buf_free(&t);
}

static void put_small(const tc_program *p, tc_dim numel, tc_buf *out) {
  enum { SMALL = 0x3f000000 }; /* twice that, and what a grid goes past it, fits an int */
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(p->graph), numel, &lo, &hi);
  if (hi < SMALL) return;
  tc_buf t = {0};
  tc_putf(&t, " && ");
  tc_print_dim(p, numel, &t);
  tc_putf(&t, " < %d", SMALL);
  if (!out->text || !strstr(out->text, t.text)) tc_put(out, t.text);
  tc_buf_free(&t);
}

/* Visits all that 16-byte accesses depend on; out NULL: only whether sizes may forbid them. */
static bool visit_aligned(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                          const tc_cuda_nest_schedule *s, const uint8_t *need, tc_buf *out) {
  visit v = visit_of(k, p, n, s);
  if (s->width == 1) return false;
  v.f = put_aligned;
  v.lanes = (int)s->width;
  v.out = out;
  each_wide(&v, need);
  each_extent(&v, put_divides);
  return v.unaligned;
}

bool tc_cuda_may_be_unaligned(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                              const tc_cuda_nest_schedule *s, const uint8_t *need) {
  return visit_aligned(k, p, n, s, need, NULL);
}

void tc_cuda_put_aligned(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const tc_cuda_nest_schedule *s, tc_buf *out) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) {
    out->failed = true;
    return;
  }
  tc_cuda_mark(k, n, need);
  visit_aligned(k, p, n, s, need, out);
  free(need);
}

void tc_cuda_put_small(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       const tc_cuda_nest_schedule *s, bool points, tc_buf *out) {
  if (s->index64) return;
  const bool flat = s->form == TC_CUDA_FLAT || s->form == TC_CUDA_TRANSPOSE;
  const int cut = flat ? n->naxis : n->nparallel; /* what is counted together */
  if (points) put_small(p, tc_cuda_points(p, n, 0, cut), out);
  if (points) put_small(p, tc_cuda_points(p, n, cut, n->naxis), out);
  for (uint32_t i = 0; i < k->nbuffer; ++i) put_small(p, p->buffer[k->buffer[i]].numel, out);
}

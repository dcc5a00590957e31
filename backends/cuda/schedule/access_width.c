/* access_width.c - how wide the accesses of a nest may be, and whether sizes may forbid that. */
#include "backends/cuda/schedule/access.h"
#include "backends/cuda/schedule/plan.h"

/* ---- width ----------------------------------------------------------------------------------- */

typedef struct widest {
  int lanes, least, accesses; /* least: bytes of the smallest element of more than one */
} widest;

static void narrow(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  widest *w = self;
  const int bytes = (int)tc_cuda_element_bytes(x, a.buffer);
  ++w->accesses;
  if (bytes > 1 && (w->least == 0 || bytes < w->least)) w->least = bytes;
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

static void fit(const tc_cuda_accesses *x, tc_dim d, void *self) {
  widest *w = self;
  w->lanes = fitting(tc_graph_dims(x->p->graph), d, w->lanes);
}

static void fit_access(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  fit(x, x->k->base[a.buffer], self);
  tc_cuda_each_step(x, a, fit, self);
}

/* Is there a load that lanes make one by one, at a distance or behind a guard of each? */
static bool gathers(const tc_cuda_accesses *x) {
  for (uint32_t i = 1; x->axis >= 0 && i < x->k->nexpr; ++i) {
    const tc_expr *e = &x->k->expr[i];
    if (x->need[i] && e->kind == TC_EX_LOAD && !tc_cuda_is_local(x->k, x->p, e->buffer) &&
        !tc_dim_is(e->address.coef[x->axis], 0) &&
        (e->guard.id || !tc_dim_is(e->address.coef[x->axis], 1)))
      return true;
  }
  return false;
}

bool tc_cuda_may_be_in_phase(const tc_kernel *k, const tc_program *p, const tc_nest *n, int lanes) {
  enum { LEAST_LANES = 4 };
  const int64_t items = tc_cuda_constant_items(n, lanes);
  return lanes >= LEAST_LANES && (items < 0 || items >= tc_cuda_least_in_phase(lanes)) && tc_cuda_phase(k, p, n).address;
}

/* Of 16 bytes.  A column has many loads, and one store: that decides only where there is no load.
 * 8 bytes where lanes load one by one: each load then reaches as many more lines as there are
 * lanes, but indices are found once for all. */
int tc_cuda_choose_width(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const tc_cuda_nest_schedule *s, const uint8_t *need) {
  enum { BYTES = 16, GATHERED = 8, MOST = 8, WORD = 4 };
  const tc_cuda_accesses x = tc_cuda_accesses_of(k, p, n, s, need);
  widest w = {0};
  tc_cuda_each_wide_load(&x, narrow, &w);
  const int bytes = s->form == TC_CUDA_COLUMNS && !w.accesses && gathers(&x) ? GATHERED : BYTES;
  if (s->form != TC_CUDA_COLUMNS || !w.accesses) tc_cuda_each_wide_store(&x, narrow, &w);
  if (!w.accesses || s->form == TC_CUDA_SCATTER) return 1;
  w.lanes = w.least ? bytes / w.least : MOST;
  if (w.lanes < 1) w.lanes = 1;
  const int most = w.lanes;
  if (s->form == TC_CUDA_ROWS && (tc_cuda_may_peel(k, p, n, need) || tc_cuda_may_be_in_phase(k, p, n, w.lanes))) return w.lanes;
  tc_cuda_each_wide_load(&x, fit_access, &w);
  tc_cuda_each_wide_store(&x, fit_access, &w);
  if (!x.tail) tc_cuda_each_extent(&x, w.lanes, fit, &w);
  return w.lanes * w.least < WORD && w.lanes < most && (tc_cuda_may_be_dense(k, p, n, s) || tc_cuda_may_overlap(k, p, n, s)) ? most : w.lanes;
}

/* ---- alignment ------------------------------------------------------------------------------- */

typedef struct alignment {
  int lanes;
  tc_cuda_alignment found;
} alignment;

static void look_at(const tc_cuda_accesses *x, tc_dim d, void *self) {
  alignment *a = self;
  if (!tc_cuda_may_not_divide(x, d, a->lanes) || a->found == TC_CUDA_NEVER) return;
  a->found = tc_dim_is_const(d) ? TC_CUDA_NEVER : TC_CUDA_SOMETIMES;
}

/* With a tail, operands may still begin anywhere. */
static void look_at_extent(const tc_cuda_accesses *x, tc_dim d, void *self) {
  alignment *a = self;
  if (!x->tail) look_at(x, d, self);
  else if (tc_cuda_may_not_divide(x, d, a->lanes) && a->found == TC_CUDA_ALWAYS) a->found = TC_CUDA_SOMETIMES;
}

static void look_at_access(const tc_cuda_accesses *x, tc_cuda_access access, void *self) {
  tc_cuda_each_step(x, access, look_at, self);
}

static tc_cuda_accesses accesses_of(const tc_cuda_plan *x) {
  return tc_cuda_accesses_of(x->k, x->p, x->n, x->nest, x->need);
}

tc_cuda_alignment tc_cuda_find_alignment(const tc_cuda_plan *plan, bool loads) {
  const tc_cuda_accesses x = accesses_of(plan);
  alignment a = {.lanes = (int)plan->nest->width};
  if (a.lanes == 1) return TC_CUDA_ALWAYS;
  if (loads) tc_cuda_each_wide_load(&x, look_at_access, &a);
  tc_cuda_each_wide_store(&x, look_at_access, &a);
  tc_cuda_each_extent(&x, a.lanes, look_at_extent, &a);
  return a.found;
}

typedef struct operands {
  size_t bytes;
  bool any;
} operands;

static void look_for_operand(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  operands *o = self;
  o->any |= x->p->buffer[x->k->buffer[a.buffer]].kind == TC_BUF_INPUT &&
            tc_cuda_element_bytes(x, a.buffer) < o->bytes && tc_cuda_changes(x->n, a.address);
}

bool tc_cuda_loads_operand(const tc_cuda_plan *plan, size_t bytes) {
  const tc_cuda_accesses x = accesses_of(plan);
  operands o = {.bytes = bytes};
  tc_cuda_each_wide_load(&x, look_for_operand, &o);
  return o.any;
}

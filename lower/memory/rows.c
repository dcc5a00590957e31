/* rows.c - accesses of a row-major array by rows, and how these come to lie apart (rows.h). */
#include "lower/memory/rows.h"

/* Of a kernel, in a nest or product. */
typedef struct walk {
  const lo_rows *r;
  const tc_kernel *k;
  const tc_axis *axis;
  int naxis;
  bool parts; /* axes may be parts of a product's, not chunks */
  bool ok;
} walk;

/* ---- addresses ------------------------------------------------------------------------------- */

/* d is steps * width. */
static bool whole_rows(const lo_rows *r, tc_dim d, tc_dim *steps) {
  *steps = tc_dim_div(r->L->dims, d, r->width);
  return !tc_dim_bad(*steps) && tc_dim_same(tc_dim_mul(r->L->dims, *steps, r->width), d);
}

/* The last point of an axis within rows: of a chunked one, with the axis over its chunks. */
static tc_dim last_point(const walk *w, const tc_address *a, int i) {
  tc_dims *d = w->r->L->dims;
  const tc_axis *x = &w->axis[i];
  const bool chunks =
      !w->parts && x->of >= 0 && tc_dim_same(a->coef[x->of], tc_dim_mul(d, a->coef[i], x->extent));
  return tc_dim_sub(d, chunks ? x->total : x->extent, tc_dim_const(1));
}

/* Is axis i that over the chunks of another, which counts with it? */
static bool is_of_chunks(const walk *w, const tc_address *a, int i) {
  for (int j = 0; j < w->naxis && !w->parts; j++)
    if (w->axis[j].of == i &&
        tc_dim_same(a->coef[i], tc_dim_mul(w->r->L->dims, a->coef[j], w->axis[j].extent)))
      return true;
  return false;
}

/* The end of what part t of the address that data decide adds within a row. */
static tc_dim last_of_term(const walk *w, const tc_term *t) {
  tc_dims *d = w->r->L->dims;
  tc_dim steps;
  if (whole_rows(w->r, t->stride, &steps)) return tc_dim_const(0);
  if (t->free || !tc_dim_known_le(d, tc_dim_const(0), t->stride)) return TC_DIM_INVALID;
  return tc_dim_mul(d, t->stride, tc_dim_sub(d, t->bound, tc_dim_const(1)));
}

/* Do the steps that are no whole rows stay within one? */
static bool stays_in_row(const walk *w, const tc_address *a) {
  tc_dims *d = w->r->L->dims;
  const tc_dim zero = tc_dim_const(0);
  tc_dim steps, last = whole_rows(w->r, a->offset, &steps) ? zero : a->offset;
  if (!tc_dim_known_le(d, zero, last)) return false;
  for (int t = 0; t < a->nterm; t++) last = tc_dim_add(d, last, last_of_term(w, &a->term[t]));
  if (tc_dim_bad(last)) return false;
  for (int i = 0; i < w->naxis; i++) {
    if (whole_rows(w->r, a->coef[i], &steps) || is_of_chunks(w, a, i)) continue;
    if (!tc_dim_known_le(d, zero, a->coef[i])) return false;
    last = tc_dim_add(d, last, tc_dim_mul(d, a->coef[i], last_point(w, a, i)));
  }
  return !tc_dim_bad(last) && tc_dim_known_le(d, tc_dim_add(d, last, tc_dim_const(1)), w->r->width);
}

static void check(walk *w, uint32_t buffer, const tc_address *a) {
  if (w->k->buffer[buffer] == w->r->buffer) w->ok = w->ok && stays_in_row(w, a);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void check_loads(walk *w, const uint8_t *used) {
  for (uint32_t id = 1; id < w->k->nexpr; id++) {
    const tc_expr *e = &w->k->expr[id];
    if (e->kind == TC_EX_LOAD && (!used || used[id])) check(w, e->buffer, &e->address);
  }
}

static void check_actions(walk *w, const tc_action *a, uint32_t n) {
  for (uint32_t i = 0; a && i < n; i++)
    if (a[i].kind == TC_ACT_STORE || a[i].kind == TC_ACT_ADD) check(w, a[i].buffer, &a[i].address);
}

static void check_nest(walk *w, const tc_nest *n) {
  uint8_t *used = lo_alloc(w->r->L, w->r->L->scratch, w->k->nexpr + 1u);
  for (uint32_t s = 0; s < tc_nest_stages(n); s++) tc_mark_stage(&n->stage[s], used);
  tc_mark_operands(w->k, used);
  w->axis = n->axis, w->naxis = n->naxis, w->parts = false;
  check_loads(w, used);
  for (uint32_t s = 0; s < tc_nest_stages(n); s++) {
    check_actions(w, n->stage[s].action, n->stage[s].naction);
    check_actions(w, n->stage[s].if_skipped, n->stage[s].naction);
  }
}

static void check_product(walk *w) {
  const tc_mm_loop *mm = &w->k->mm;
  w->axis = mm->axis, w->naxis = tc_mm_axes(mm), w->parts = true;
  check_loads(w, NULL);
  for (int i = 0; i < TC_MM_STAGES; i++)
    check_actions(w, tc_mm_stage(mm, i)->action, tc_mm_stage(mm, i)->naction);
  /* it has no gaps */
  if (mm->product && w->k->buffer[mm->product - 1] == w->r->buffer) w->ok = false;
}

bool lo_names(const tc_kernel *k, uint32_t buffer) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (k->buffer[i] == buffer) return true;
  return false;
}

bool lo_is_by_rows(const lo_rows *r, const tc_kernel *k) {
  walk w = {.r = r, .k = k, .ok = !tc_kernel_takes_arrays(k)};
  for (uint32_t n = 0; w.ok && n < k->nnest; n++) check_nest(&w, &k->nest[n]);
  if (w.ok && k->kind == TC_KERNEL_MATMUL) check_product(&w);
  return w.ok;
}

/* ---- the pitch ------------------------------------------------------------------------------- */

typedef struct rewriting {
  const lo_rows *r;
  const tc_kernel *k;
  tc_dim pitch;
} rewriting;

static void take_pitch(const rewriting *w, tc_dim *d) {
  tc_dim steps;
  if (whole_rows(w->r, *d, &steps)) *d = tc_dim_mul(w->r->L->dims, steps, w->pitch);
}

static void rewrite(void *self, uint32_t *buffer, tc_address *a) {
  const rewriting *w = self;
  if (w->k->buffer[*buffer] != w->r->buffer) return;
  take_pitch(w, &a->offset);
  for (int i = 0; i < TC_MAX_AXES; i++) take_pitch(w, &a->coef[i]);
  for (int t = 0; t < a->nterm; t++) take_pitch(w, &a->term[t].stride);
}

void lo_set_pitch(const lo_rows *r, tc_kernel *k, tc_dim pitch) {
  rewriting w = {r, k, pitch};
  lo_each_access(k, rewrite, &w);
}

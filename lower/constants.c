/* constants.c - numbers that differ between otherwise equal kernels become arguments.
 *
 * Steps of an unrolled loop scale by other numbers (a schedule of noise, Adam's corrections): as
 * arguments, they leave the steps one text.  Kernels are grouped by a hash of all but these
 * numbers.  A number may be an argument in any kernel, so kernels that meet in one group by chance
 * lose nothing but a constant. */
#include "lower/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ----------------------------------------------------------------------------------- */

/* 0 and 1 make operations cheaper, so do constant divisors and operands of functions. */
static bool could_vary(const tc_expr *e) {
  return e->kind == TC_EX_CONST && tc_dtype_is_float(e->dtype) && isfinite(e->f) && e->f != 0 &&
         fabs(e->f) != 1;
}

static bool keeps_constants(const tc_expr *e) {
  return e->kind != TC_EX_OP || tc_op_get(e->op)->transcendental || e->op == OP_DIV;
}

/* may[i]: expression i is a number that only arithmetic reads.  NULL: there is none. */
bool *lo_find_numbers(lo *L, const tc_kernel *k) {
  bool *may = lo_alloc(L, L->scratch, k->nexpr + 1), any = false;
  for (uint32_t i = 1; i < k->nexpr; i++) {
    const tc_expr *e = &k->expr[i];
    may[i] = could_vary(e);
    for (int j = 0; j < 3 && keeps_constants(e); j++) may[e->in[j].id] = false;
  }
  for (uint32_t i = 1; i < k->nexpr; i++) any |= may[i];
  return any ? may : NULL;
}

/* ---- equal but for numbers ------------------------------------------------------------------- */

static uint64_t add_address(uint64_t h, const tc_address *a) {
  h = tc_hash(&a->offset, sizeof a->offset, h);
  h = tc_hash(a->coef, sizeof a->coef, h);
  for (int t = 0; t < a->nterm; t++) h = tc_hash(&a->term[t].value, sizeof a->term[t].value, h);
  return h;
}

static uint64_t add_expr(uint64_t h, const tc_expr *e, bool number) {
  const int64_t parts[] = {e->kind,     e->op,       e->dtype,    e->storage,
                           e->in[0].id, e->in[1].id, e->in[2].id, e->guard.id,
                           e->buffer,   e->index,    e->i,        e->dim.bits};
  h = tc_hash(parts, sizeof parts, h);
  if (!number) h = tc_hash(&e->f, sizeof e->f, h);
  return tc_expr_has_address(e) ? add_address(h, &e->address) : h;
}

static uint64_t add_axes(uint64_t h, const tc_axis *axis, int n) {
  for (int i = 0; i < n; i++) h = tc_hash(&axis[i].extent, sizeof axis[i].extent, h);
  return h;
}

static uint64_t hash_kernel(const tc_kernel *k, const bool *number) {
  uint64_t h = (uint64_t)k->kind << 32 | k->nnest;
  for (uint32_t i = 1; i < k->nexpr; i++) h = add_expr(h, &k->expr[i], number[i]);
  for (uint32_t n = 0; n < k->nnest; n++) h = add_axes(h, k->nest[n].axis, k->nest[n].naxis);
  return k->kind == TC_KERNEL_MATMUL ? add_axes(h, k->mm.axis, tc_mm_axes(&k->mm)) : h;
}

/* ---- numbers become arguments ---------------------------------------------------------------- */

typedef struct member {
  uint64_t hash;
  uint32_t kernel;
  const bool *number;
} member;

static int by_hash(const void *x, const void *y) {
  const member *a = x, *b = y;
  if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
  return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

void lo_make_argument(lo *L, tc_expr *e) {
  tc_program *p = L->p;
  p->constant = lo_grow(L, L->arena, p->constant, &L->cconstant, p->nconstant, sizeof *p->constant);
  p->constant[p->nconstant] = e->f;
  e->kind = TC_EX_SCALAR;
  e->index = tc_graph_scalar_count(p->graph) + p->nconstant++;
}

static void share(lo *L, const member *m, uint32_t n) {
  tc_kernel *k = L->p->kernel;
  const uint32_t nexpr = k[m[0].kernel].nexpr;
  for (uint32_t j = 1; j < n; j++)
    if (k[m[j].kernel].nexpr != nexpr) return;
  for (uint32_t i = 1; i < nexpr; i++) {
    bool differ = false;
    for (uint32_t j = 1; j < n && m[0].number[i]; j++)
      differ |= k[m[j].kernel].expr[i].f != k[m[0].kernel].expr[i].f;
    for (uint32_t j = 0; j < n && differ; j++)
      if (m[j].number[i]) lo_make_argument(L, &k[m[j].kernel].expr[i]);
  }
}

/* requires: kernels as they will be printed.  keeps: what they compute. */
void lo_share_constants(lo *L) {
  const tc_program *p = L->p;
  member *m = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *m);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nkernel; i++) {
    const bool *number = lo_find_numbers(L, &p->kernel[i]);
    if (number) m[n++] = (member){hash_kernel(&p->kernel[i], number), i, number};
  }
  qsort(m, n, sizeof *m, by_hash);
  for (uint32_t from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && m[to].hash == m[from].hash;) to++;
    if (to - from > 1) share(L, &m[from], to - from);
  }
}

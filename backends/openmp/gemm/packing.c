/* packing.c - products of one function that multiply by the same matrix.
 *
 * The packed form of B depends on B, on the width of panels and on K alone.  Where several products
 * of a program have the same B (the steps of an unrolled recurrence, projections in a loop), the
 * first one that needs a panel packs it and the later ones find it there: their packed B has memory
 * of its own in the workspace, which outlives the kernel (tc_mm_run, `reuse`). */
#include "backends/openmp/gemm/matmul.h"

#include <stdlib.h>
#include <string.h>

/* Two products, the first of them launched before the second. */
typedef struct tc_omp_pair_of_products {
  const tc_program *p;
  const tc_kernel *x, *y;
  uint32_t *match; /* per expression of x: the expression of y that it equals, or 0 */
} products;

static const tc_axis *axis_n(const tc_kernel *k) { return &k->mm.axis[k->mm.nbatch + 1]; }
static const tc_axis *axis_k(const tc_kernel *k) { return &k->mm.axis[k->mm.nbatch + 2]; }

/* Kernels from x on and in front of y leave the buffer as it is. */
static bool unwritten(const products *c, uint32_t id) {
  for (const tc_kernel *k = c->x; k < c->y; ++k)
    for (uint32_t i = 0; i < k->nbuffer; ++i)
      if (k->buffer[i] == id && tc_kernel_writes(k, i))
        return false;
  return true;
}

/* The same along n and k, and along nothing else. */
static bool same_address(const products *c, const tc_address *a, const tc_address *b) {
  const int xn = c->x->mm.nbatch + 1, yn = c->y->mm.nbatch + 1;
  if (a->nterm || b->nterm || !tc_dim_same(a->offset, b->offset)) return false;
  for (int i = 0; i < xn; ++i)
    if (!tc_dim_is(a->coef[i], 0)) return false;
  for (int i = 0; i < yn; ++i)
    if (!tc_dim_is(b->coef[i], 0)) return false;
  return tc_dim_same(a->coef[xn], b->coef[yn]) && tc_dim_same(a->coef[xn + 1], b->coef[yn + 1]);
}

static bool same_node(const products *c, const tc_expr *a, const tc_expr *b) {
  if (a->kind != b->kind || a->op != b->op || a->dtype != b->dtype || a->storage != b->storage ||
      a->reproducible != b->reproducible || a->i != b->i || memcmp(&a->f, &b->f, sizeof a->f))
    return false;
  switch (a->kind) {
  case TC_EX_LOAD: {
    const uint32_t id = c->x->buffer[a->buffer];
    return id == c->y->buffer[b->buffer] && unwritten(c, id) &&
           tc_dim_same(c->x->base[a->buffer], c->y->base[b->buffer]) &&
           same_address(c, &a->address, &b->address);
  }
  case TC_EX_INDEX:
    return same_address(c, &a->address, &b->address);
  case TC_EX_SCALAR:
    return a->index == b->index;
  case TC_EX_DIM:
    return tc_dim_same(a->dim, b->dim);
  case TC_EX_RESULT:
  case TC_EX_RANDOM:
    return false;
  default:
    return true;
  }
}

static bool same_value(const products *c, tc_val a, tc_val b) {
  if (!a.id || !b.id) return a.id == b.id;
  if (c->match[a.id]) return c->match[a.id] == b.id;
  const tc_expr *x = &c->x->expr[a.id], *y = &c->y->expr[b.id];
  if (!same_node(c, x, y)) return false;
  for (int i = 0; i < 3; ++i)
    if (!same_value(c, x->in[i], y->in[i])) return false;
  if (!same_value(c, x->guard, y->guard)) return false;
  c->match[a.id] = b.id;
  return true;
}

/* What is cheap to compare, and differs in most pairs. */
static bool alike(const tc_kernel *x, const tc_kernel *y) {
  return x->kind == TC_KERNEL_MATMUL && y->kind == TC_KERNEL_MATMUL &&
         !x->mm.npart && !y->mm.npart && x->mm.operand == y->mm.operand && x->mm.acc == y->mm.acc &&
         tc_dim_same(axis_n(x)->extent, axis_n(y)->extent) &&
         tc_dim_same(axis_k(x)->extent, axis_k(y)->extent) && tc_omp_mm_same_panels(x, y);
}

/* Do kernels x and y, in this order, pack the same B? */
static bool same_packed(const tc_program *p, uint32_t x, uint32_t y) {
  const tc_kernel *a = &p->kernel[x], *b = &p->kernel[y];
  if (!alike(a, b)) return false;
  const products c = {p, a, b, calloc(a->nexpr + 1, sizeof(uint32_t))};
  const bool same = c.match && same_value(&c, a->mm.b, b->mm.b);
  free(c.match);
  return same;
}

void tc_omp_plan_packing(tc_program *p) {
  for (uint32_t y = 0; y < p->nkernel; ++y)
    for (uint32_t x = 0; x < y; ++x) {
      tc_kernel *first = &p->kernel[x], *again = &p->kernel[y];
      if (!same_packed(p, x, y) || !tc_omp_packs(first, p) || !tc_omp_packs(again, p)) continue;
      first->mm.packed = again->mm.packed = x + 1;
      break;
    }
}

/* product_sizes.c - products that are equal but for arrays and sizes get one text: the sizes in
 * which they differ are arguments.  A compiler of kernels for GPUs takes a second for a product,
 * and their inner loops are the same whether sizes are known or not.
 *
 * Sizes differ only where nothing is decided by them: between numbers that are larger than any
 * tile, and that the same vectors divide. */
#include "lower/lowering.h"

#include <string.h>

typedef struct sizes {
  tc_dim *at;
  uint32_t n;
} sizes;

static void count_size(void *self, tc_dim *d) {
  (void)d;
  ((sizes *)self)->n++;
}

static void note_size(void *self, tc_dim *d) {
  sizes *s = self;
  s->at[s->n++] = *d;
}

static sizes sizes_of(lo *L, tc_kernel *k) {
  sizes s = {0};
  lo_each_size(k, count_size, &s);
  s.at = lo_alloc(L, L->scratch, (s.n + 1) * sizeof *s.at);
  s.n = 0;
  lo_each_size(k, note_size, &s);
  return s;
}

/* The largest power of 2, up to a vector's elements, that divides v. */
static int64_t vector_of(int64_t v) {
  enum { VECTOR = 16 };
  return (v | VECTOR) & -(v | VECTOR);
}

static bool may_differ(tc_dim a, tc_dim b) {
  enum { TILE = 256 };
  if (tc_dim_same(a, b)) return true;
  if (!tc_dim_is_const(a) || !tc_dim_is_const(b)) return false;
  const int64_t x = tc_dim_value(a), y = tc_dim_value(b);
  return x > TILE && y > TILE && vector_of(x) == vector_of(y);
}

static bool is_plain(const tc_kernel *k) {
  return k->kind == TC_KERNEL_MATMUL && !k->mm.npart && !tc_mm_is_chain(&k->mm) && !k->nsize;
}

static bool alike(const tc_program *p, const tc_kernel *a, const sizes *x, const tc_kernel *b,
                  const sizes *y) {
  const tc_mm_loop *v = &a->mm, *w = &b->mm;
  bool ok = a->nexpr == b->nexpr && a->nbuffer == b->nbuffer && x->n == y->n &&
            v->nbatch == w->nbatch && v->operand == w->operand && v->acc == w->acc &&
            v->a.id == w->a.id && v->b.id == w->b.id && v->product == w->product &&
            v->costly == w->costly && lo_alike_buffers(p, a, b) &&
            lo_alike_stage(&v->epilogue, &w->epilogue);
  for (uint32_t i = 1; ok && i < a->nexpr; i++) ok = lo_alike_expr(&a->expr[i], &b->expr[i], false);
  for (uint32_t i = 0; ok && i < x->n; i++) ok = may_differ(x->at[i], y->at[i]);
  return ok;
}

/* requires: kernels as they will be printed, and memory that is planned.  keeps: what they
 * compute. */
void lo_share_product_sizes(lo *L) {
  tc_program *p = L->p;
  sizes *size = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *size);
  bool *done = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *done);
  tc_kernel *some = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *some);
  uint32_t *at = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *at);
  for (uint32_t i = 0; i < p->nkernel; i++) {
    done[i] = !is_plain(&p->kernel[i]);
    if (!done[i]) size[i] = sizes_of(L, &p->kernel[i]);
  }
  for (uint32_t i = 0; i < p->nkernel; i++) {
    uint32_t n = 0;
    for (uint32_t j = i; !done[i] && j < p->nkernel; j++)
      if (!done[j] && alike(p, &p->kernel[i], &size[i], &p->kernel[j], &size[j])) at[n++] = j;
    for (uint32_t j = 0; j < n; j++) some[j] = p->kernel[at[j]], done[at[j]] = true;
    if (n > 1) lo_own_sizes(L, some, n);
    for (uint32_t j = 0; j < n; j++) p->kernel[at[j]] = some[j];
  }
}

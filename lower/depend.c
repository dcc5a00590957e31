/* depend.c - which launches wait for which, where they may run side by side. */
#include "lower/loop.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a kernel writes -------------------------------------------------------------------- */

static bool stores_to(const tc_stage *s, uint32_t buffer) {
  for (uint32_t i = 0; i < s->naction; i++) {
    const tc_action *a = &s->action[i];
    if ((a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) && a->buffer == buffer) return true;
  }
  return false;
}

bool tc_kernel_writes(const tc_kernel *k, uint32_t buffer) {
  if (tc_kernel_takes_arrays(k)) return !k->effect && buffer == 0;
  for (int i = 0; k->kind == TC_KERNEL_MATMUL && i < TC_MM_STAGES; i++)
    if (stores_to(tc_mm_stage(&k->mm, i), buffer)) return true;
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < k->nest[n].nstage; s++)
      if (stores_to(&k->nest[n].stage[s], buffer)) return true;
  return false;
}

bool tc_kernel_stores(const tc_kernel *k, uint32_t buffer) {
  return tc_kernel_writes(k, buffer) || k->mm.product == buffer + 1;
}

/* ---- memory that two kernels share ----------------------------------------------------------- */

typedef struct use {
  const tc_buffer *buffer;
  bool writes;
} use;

typedef struct finder {
  const tc_program *p;
  uint32_t n;      /* launches */
  use *use;        /* of all of them */
  uint32_t *first; /* of each launch, and one more */
  bool *effect;
  size_t words;
  uint64_t *before; /* per launch a set: those that have ended when it begins */
} finder;

static bool bytes_of(const tc_buffer *b, int64_t *from, int64_t *to) {
  if (!tc_dim_is_const(b->offset) || !tc_dim_is_const(b->numel)) return false;
  *from = tc_dim_value(b->offset);
  *to = *from + tc_dim_value(b->numel) * (int64_t)tc_dtype_bytes(b->dtype);
  return true;
}

/* The planner reuses memory of a size that is a symbol where the size is the same, from the same
 * place on. */
static bool overlap(const tc_buffer *a, const tc_buffer *b) {
  int64_t from_a, to_a, from_b, to_b;
  if (a == b) return true;
  if (a->kind != TC_BUF_ARENA || b->kind != TC_BUF_ARENA) return false;
  if (bytes_of(a, &from_a, &to_a) && bytes_of(b, &from_b, &to_b))
    return from_a < to_b && from_b < to_a;
  return tc_dim_same(a->offset, b->offset);
}

/* May not run side by side? */
bool tc_kernels_meet(const tc_program *p, const tc_kernel *x, const tc_kernel *y) {
  for (uint32_t i = 0; i < x->nbuffer; i++)
    for (uint32_t j = 0; j < y->nbuffer; j++)
      if ((tc_kernel_stores(x, i) || tc_kernel_stores(y, j)) &&
          overlap(&p->buffer[x->buffer[i]], &p->buffer[y->buffer[j]]))
        return true;
  return x->effect && y->effect;
}

static bool conflict(const finder *f, uint32_t j, uint32_t k) {
  for (uint32_t x = f->first[j]; x < f->first[j + 1]; x++)
    for (uint32_t y = f->first[k]; y < f->first[k + 1]; y++)
      if ((f->use[x].writes || f->use[y].writes) && overlap(f->use[x].buffer, f->use[y].buffer))
        return true;
  return f->effect[j] || f->effect[k];
}

static void find_uses(finder *f) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < f->p->nkernel; k++) {
    const tc_kernel *kernel = &f->p->kernel[k];
    if (!kernel->joins) {
      f->effect[f->n] = kernel->effect;
      f->first[f->n++] = n;
    }
    for (uint32_t i = 0; i < kernel->nbuffer; i++) {
      const tc_buffer *b = &f->p->buffer[kernel->buffer[i]];
      if (tc_buffer_of_thread(b)) continue;
      f->use[n++] = (use){b, tc_kernel_stores(kernel, i)};
    }
  }
  f->first[f->n] = n;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Latest first: what another one waits for is then in the set already. */
static bool find_of(finder *f, uint32_t k, tc_dependences *d) {
  uint64_t *set = f->before + k * f->words;
  for (uint32_t j = k; j-- > 0;) {
    if (set[j / 64] >> (j % 64) & 1 || !conflict(f, j, k)) continue;
    if (d->n == d->room) {
      const uint32_t room = d->room ? 2 * d->room : 64;
      uint32_t *on = realloc(d->on, room * sizeof *on);
      if (!on) return false;
      d->on = on;
      d->room = room;
    }
    d->on[d->n++] = j;
    for (size_t w = 0; w < f->words; w++) set[w] |= f->before[j * f->words + w];
    set[j / 64] |= UINT64_C(1) << (j % 64);
  }
  d->first[k + 1] = d->n;
  return true;
}

bool tc_program_dependences(const tc_program *p, tc_dependences *d) {
  finder f = {.p = p, .words = p->nkernel / 64 + 1};
  size_t uses = 1;
  for (uint32_t k = 0; k < p->nkernel; k++) uses += p->kernel[k].nbuffer;
  *d = (tc_dependences){.first = calloc(p->nkernel + 1u, sizeof *d->first)};
  f.use = malloc(uses * sizeof *f.use);
  f.first = malloc((p->nkernel + 1u) * sizeof *f.first);
  f.effect = calloc(p->nkernel + 1u, sizeof *f.effect);
  f.before = calloc((p->nkernel + 1u) * f.words, sizeof *f.before);
  bool ok = d->first && f.use && f.first && f.effect && f.before;
  if (ok) find_uses(&f);
  for (uint32_t k = 0; ok && k < f.n; k++) ok = find_of(&f, k, d);
  free(f.use);
  free(f.first);
  free(f.effect);
  free(f.before);
  if (!ok) tc_dependences_free(d);
  return ok;
}

void tc_dependences_free(tc_dependences *d) {
  free(d->first);
  free(d->on);
  *d = (tc_dependences){0};
}

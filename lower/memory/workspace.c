/* workspace.c - the workspace: where each ARENA buffer lies.
 *
 * A buffer lives from the first to the last kernel that names it.  Buffers of constant size share
 * memory by best fit; buffers of symbolic size are reused where the size is the same expression. */
#include "lower/lowering.h"

#include <stdlib.h>

/* ---- lifetimes ------------------------------------------------------------------------------- */

typedef struct life {
  uint32_t buffer, first, last;
  bool used;
  int64_t offset, bytes; /* constant sizes */
} life;

static life *lifetimes(lo *L) {
  const tc_program *p = L->p;
  life *l = lo_alloc(L, L->scratch, (p->nbuffer + 1) * sizeof *l);
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t i = 0; i < p->kernel[k].nbuffer; i++) {
      life *x = &l[p->kernel[k].buffer[i]];
      if (!x->used) x->first = k;
      x->used = true;
      x->last = k;
    }
  for (uint32_t i = 0; i < p->nbuffer; i++) l[i].buffer = i;
  return l;
}

static tc_dim aligned_bytes(lo *L, const tc_buffer *b) {
  tc_dims *c = L->dims;
  tc_dim line = tc_dim_const(64);
  tc_dim bytes = tc_dim_mul(c, b->numel, tc_dim_const((int64_t)tc_dtype_bytes(b->dtype)));
  return tc_dim_mul(c, tc_dim_ceildiv(c, bytes, line), line);
}

/* ---- constant sizes: best fit ---------------------------------------------------------------- */

typedef struct hole {
  int64_t offset, bytes;
} hole;

typedef struct heap { /* free ranges, by offset */
  lo *L;
  uint32_t n, cap;
  hole *at;
  int64_t top;
} heap;

static int64_t take(heap *h, int64_t bytes) {
  uint32_t best = h->n;
  for (uint32_t i = 0; i < h->n; i++)
    if (h->at[i].bytes >= bytes && (best == h->n || h->at[i].bytes < h->at[best].bytes)) best = i;
  if (best == h->n) {
    int64_t offset = h->top;
    if (h->n && h->at[h->n - 1].offset + h->at[h->n - 1].bytes == h->top)
      offset = h->at[--h->n].offset; /* the last hole grows */
    h->top = offset + bytes;
    return offset;
  }
  int64_t offset = h->at[best].offset;
  h->at[best].offset += bytes;
  h->at[best].bytes -= bytes;
  if (!h->at[best].bytes) {
    h->n--;
    for (uint32_t i = best; i < h->n; i++) h->at[i] = h->at[i + 1];
  }
  return offset;
}

static void give_back(heap *h, int64_t offset, int64_t bytes) {
  if (!bytes) return;
  uint32_t i = 0;
  while (i < h->n && h->at[i].offset < offset) i++;
  if (i && h->at[i - 1].offset + h->at[i - 1].bytes == offset) {
    h->at[--i].bytes += bytes;
  } else {
    h->at = lo_grow(h->L, h->L->scratch, h->at, &h->cap, h->n, sizeof *h->at);
    for (uint32_t j = h->n++; j > i; j--) h->at[j] = h->at[j - 1];
    h->at[i] = (hole){offset, bytes};
  }
  if (i + 1 < h->n && h->at[i].offset + h->at[i].bytes == h->at[i + 1].offset) {
    h->at[i].bytes += h->at[i + 1].bytes;
    h->n--;
    for (uint32_t j = i + 1; j < h->n; j++) h->at[j] = h->at[j + 1];
  }
}

static int by_first(const void *x, const void *y) {
  const life *a = x, *b = y;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  return a->buffer < b->buffer ? -1 : 1;
}

static int by_last(const void *x, const void *y) {
  const life *a = *(life *const *)x, *b = *(life *const *)y;
  if (a->last != b->last) return a->last < b->last ? -1 : 1;
  return a->buffer < b->buffer ? -1 : 1;
}

static int64_t plan_constant(lo *L, life *l, uint32_t n) {
  heap h = {.L = L};
  life **end = lo_alloc(L, L->scratch, (n + 1) * sizeof *end);
  uint32_t gone = 0;
  for (uint32_t i = 0; i < n; i++) end[i] = &l[i];
  qsort(end, n, sizeof *end, by_last);
  for (uint32_t i = 0; i < n; i++) { /* l is in order of first use */
    for (; gone < n && end[gone]->last < l[i].first; gone++)
      give_back(&h, end[gone]->offset, end[gone]->bytes);
    l[i].offset = take(&h, l[i].bytes);
    L->p->buffer[l[i].buffer].offset = tc_dim_const(l[i].offset);
  }
  return h.top;
}

/* ---- symbolic sizes: buffers of equal expressions share a slot ------------------------------- */

typedef struct slot {
  tc_dim bytes, offset;
  uint32_t last;
} slot;

static tc_dim plan_symbolic(lo *L, const life *l, uint32_t n, tc_dim top) {
  enum { LOOK = 64 };
  slot *t = NULL;
  uint32_t nslot = 0, cap = 0;
  for (uint32_t i = 0; i < n; i++) {
    tc_buffer *b = &L->p->buffer[l[i].buffer];
    tc_dim bytes = aligned_bytes(L, b);
    slot *found = NULL;
    for (uint32_t j = nslot; j-- > 0 && j + LOOK >= nslot && !found;)
      if (tc_dim_same(t[j].bytes, bytes) && t[j].last < l[i].first) found = &t[j];
    if (!found) {
      t = lo_grow(L, L->scratch, t, &cap, nslot, sizeof *t);
      found = &t[nslot++];
      *found = (slot){.bytes = bytes, .offset = top};
      top = tc_dim_add(L->dims, top, bytes);
    }
    found->last = l[i].last;
    b->offset = found->offset;
  }
  return top;
}

static void drop_unused(lo *L) {
  tc_program *p = L->p;
  uint32_t *to = lo_alloc(L, L->scratch, (p->nbuffer + 1) * sizeof *to);
  const life *l = lifetimes(L);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    bool keep = l[i].used || p->buffer[i].kind == TC_BUF_OUTPUT;
    to[i] = n;
    if (keep) p->buffer[n++] = p->buffer[i];
  }
  p->nbuffer = n;
  for (uint32_t i = 0; i < p->noutput; i++) p->output[i] = to[p->output[i]];
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t i = 0; i < p->kernel[k].nbuffer; i++)
      p->kernel[k].buffer[i] = to[p->kernel[k].buffer[i]];
}

static void mark(void *self, uint32_t *buffer, tc_address *a) {
  (void)a;
  ((uint32_t *)self)[*buffer] = 1;
}

static void renumber(void *self, uint32_t *buffer, tc_address *a) {
  (void)a;
  *buffer = ((const uint32_t *)self)[*buffer];
}

/* Buffers that no expression or action of the kernel names leave its list, but for room for a
 * product. */
static void compact_kernel(lo *L, tc_kernel *k) {
  if (tc_kernel_takes_arrays(k)) return; /* all are arguments */
  uint32_t *to = lo_alloc(L, L->scratch, (k->nbuffer + 1) * sizeof *to), count = 0;
  lo_each_access(k, mark, to);
  if (k->mm.product) to[k->mm.product - 1] = 1;
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (to[i]) {
      k->buffer[count] = k->buffer[i];
      to[i] = count++;
    }
  k->nbuffer = count;
  if (k->mm.product) k->mm.product = to[k->mm.product - 1] + 1;
  lo_each_access(k, renumber, to);
}

void lo_plan(lo *L) {
  tc_program *p = L->p;
  for (uint32_t k = 0; k < p->nkernel; k++) compact_kernel(L, &p->kernel[k]);
  drop_unused(L);
  life *all = lifetimes(L);
  life *fixed = lo_alloc(L, L->scratch, (p->nbuffer + 1) * sizeof *fixed);
  life *open = lo_alloc(L, L->scratch, (p->nbuffer + 1) * sizeof *open);
  uint32_t nfixed = 0, nopen = 0;
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    if (p->buffer[i].kind != TC_BUF_ARENA || !all[i].used) continue;
    tc_dim bytes = aligned_bytes(L, &p->buffer[i]);
    if (tc_dim_bad(bytes)) lo_fail(L, (tc_loc){0}, "an intermediate of more than 2^63 bytes");
    if (tc_dim_is_const(bytes)) {
      all[i].bytes = tc_dim_value(bytes);
      fixed[nfixed++] = all[i];
    } else {
      open[nopen++] = all[i];
    }
  }
  qsort(fixed, nfixed, sizeof *fixed, by_first);
  qsort(open, nopen, sizeof *open, by_first);
  p->workspace = plan_symbolic(L, open, nopen, tc_dim_const(plan_constant(L, fixed, nfixed)));
}

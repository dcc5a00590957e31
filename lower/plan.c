/* plan.c - in-place writes, and the workspace: where each ARENA buffer lies.
 *
 * A buffer lives from the first to the last kernel that names it.  Buffers of constant size share
 * memory by best fit; buffers of symbolic size are reused where the size is the same expression. */
#include "lower/lowering.h"

#include <stdlib.h>

/* ---- writes ---------------------------------------------------------------------------------- */

static bool same_place(const tc_address *a, const tc_address *b) {
  if (a->nterm || b->nterm || !tc_dim_same(a->offset, b->offset)) return false;
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (!tc_dim_same(a->coef[i], b->coef[i])) return false;
  return true;
}

static int find_buffer(const tc_kernel *k, uint32_t program_buffer) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (k->buffer[i] == program_buffer) return (int)i;
  return -1;
}

/* Kernels that can fail: then the body runs, and may find no operand changed. */
static bool can_fail(const tc_kernel *k) {
  if (k->kind == TC_KERNEL_CALL) return true;
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].address.nterm) return true;
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < k->nest[n].nstage; s++)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; a++)
        if (k->nest[n].stage[s].action[a].address.nterm) return true;
  return false;
}

/* Marks what a value is computed from. */
static void mark(const tc_kernel *k, tc_val v, bool *seen) {
  if (!v.id || seen[v.id]) return;
  seen[v.id] = true;
  const tc_expr *e = &k->expr[v.id];
  for (int i = 0; i < 3; i++) mark(k, e->in[i], seen);
  mark(k, e->guard, seen);
  for (int t = 0; t < e->address.nterm; t++) mark(k, e->address.term[t].value, seen);
}

/* The one store of a single-stage nest to buffer `out`; NULL: there is none, or more is done. */
static const tc_action *only_store(const tc_nest *nest, int out) {
  const tc_action *store = NULL;
  if (nest->nstage != 1) return NULL;
  const tc_stage *s = &nest->stage[0];
  for (uint32_t a = 0; a < s->naction; a++) {
    if (s->action[a].kind == TC_ACT_ADD) return NULL;
    if (s->action[a].kind != TC_ACT_STORE || s->action[a].buffer != (uint32_t)out) continue;
    if (store) return NULL;
    store = &s->action[a];
  }
  return store;
}

/* All reads of buffer `in` by the nest are of the element that it then overwrites. */
static bool reads_what_it_writes(lo *L, const tc_kernel *k, const tc_nest *nest, int in, int out) {
  const tc_action *store = only_store(nest, out);
  bool *seen = lo_alloc(L, L->scratch, (k->nexpr + 1u) * sizeof *seen);
  for (uint32_t s = 0; s < nest->nstage; s++)
    for (uint32_t a = 0; a < nest->stage[s].naction; a++) {
      mark(k, nest->stage[s].action[a].value, seen);
      mark(k, nest->stage[s].action[a].position, seen);
      mark(k, nest->stage[s].action[a].guard, seen);
    }
  for (uint32_t i = 1; store && i < k->nexpr; i++)
    if (seen[i] && k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == (uint32_t)in &&
        !same_place(&k->expr[i].address, &store->address))
      return false;
  return store != NULL;
}

/* A kernel that reads and writes the array.  The pieces of a concatenation are apart; other nests of
 * one kernel are not. */
static bool updates(lo *L, const lo_write *w, const tc_kernel *k, int in, int out) {
  if (k->kind != TC_KERNEL_NESTS) return false;
  if (k->nnest > 1 && lo_node(L, w->value)->op != OP_CONCAT) return false;
  for (uint32_t n = 0; n < k->nnest; n++)
    if (!reads_what_it_writes(L, k, &k->nest[n], in, out)) return false;
  return true;
}

/* May the kernels write straight into the input?  Nobody may read it afterwards, and no later index
 * check may send the caller back to the original body. */
static bool direct(lo *L, const lo_write *w) {
  bool written = false;
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    const tc_kernel *k = &L->p->kernel[i];
    int in = find_buffer(k, w->input), out = find_buffer(k, w->buffer);
    if (in >= 0 && written) return false;
    if (in >= 0 && out >= 0 && !updates(L, w, k, in, out)) return false;
    written |= out >= 0;
    if (written && can_fail(k)) return false;
  }
  return written;
}

/* Every element is stored where it was loaded from. */
static bool is_copy(const tc_kernel *k, const tc_nest *nest, uint32_t buffer) {
  if (nest->nstage != 1 || nest->stage[0].naction != 1) return false;
  const tc_action *a = &nest->stage[0].action[0];
  const tc_expr *e = &k->expr[a->value.id];
  return a->kind == TC_ACT_STORE && !a->guard.id && a->buffer == buffer &&
         e->kind == TC_EX_LOAD && !e->guard.id && e->buffer == buffer &&
         same_place(&e->address, &a->address);
}

/* What a write leaves as it is need not be stored. */
static void drop_copies(tc_kernel *k, uint32_t buffer) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->nnest; i++)
    if (!is_copy(k, &k->nest[i], buffer)) k->nest[n++] = k->nest[i];
  if (n) k->nnest = n;
}

static void rename_loads(tc_kernel *k, uint32_t from, uint32_t to) {
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == from) k->expr[i].buffer = to;
}

/* The kernel's two names for one array become one. */
static void unite(lo *L, const lo_write *w) {
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    tc_kernel *k = &L->p->kernel[i];
    int in = find_buffer(k, w->input), out = find_buffer(k, w->buffer);
    if (out < 0) continue;
    k->buffer[out] = w->input;
    if (in < 0) continue;
    rename_loads(k, (uint32_t)in, (uint32_t)out);
    if (k->nnest > 1) drop_copies(k, (uint32_t)out);
    k->buffer[in] = w->buffer; /* unused now; dropped with the unused buffers */
  }
  L->p->buffer[w->input].written = true;
}

void lo_resolve_writes(lo *L) {
  for (uint32_t i = 0; i < L->nwrite; i++) {
    lo_write *w = &L->write[i];
    w->direct = direct(L, w);
    if (w->direct) unite(L, w);
  }
}

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

/* ---- symbolic sizes: equal expressions take turns -------------------------------------------- */

typedef struct turn {
  tc_dim bytes, offset;
  uint32_t last;
} turn;

static tc_dim plan_symbolic(lo *L, const life *l, uint32_t n, tc_dim top) {
  enum { LOOK = 64 };
  turn *t = NULL;
  uint32_t nturn = 0, cap = 0;
  for (uint32_t i = 0; i < n; i++) {
    tc_buffer *b = &L->p->buffer[l[i].buffer];
    tc_dim bytes = aligned_bytes(L, b);
    turn *found = NULL;
    for (uint32_t j = nturn; j-- > 0 && j + LOOK >= nturn && !found;)
      if (tc_dim_same(t[j].bytes, bytes) && t[j].last < l[i].first) found = &t[j];
    if (!found) {
      t = lo_grow(L, L->scratch, t, &cap, nturn, sizeof *t);
      found = &t[nturn++];
      *found = (turn){.bytes = bytes, .offset = top};
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

/* Buffers that no expression or action of the kernel names leave its list. */
static void compact_kernel(lo *L, tc_kernel *k) {
  if (k->kind == TC_KERNEL_CALL) return; /* all are arguments */
  uint32_t *to = lo_alloc(L, L->scratch, (k->nbuffer + 1) * sizeof *to);
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD) to[k->expr[i].buffer] = 1;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t n = 0; n < k->nnest; n++)
      for (uint32_t s = 0; s < k->nest[n].nstage; s++)
        for (uint32_t a = 0; a < k->nest[n].stage[s].naction; a++) {
          tc_action *x = &k->nest[n].stage[s].action[a];
          if (x->kind != TC_ACT_STORE && x->kind != TC_ACT_ADD) continue;
          if (pass) x->buffer = to[x->buffer];
          else to[x->buffer] = 1;
        }
    for (uint32_t a = 0; a < k->mm.epilogue.naction; a++) {
      tc_action *x = &k->mm.epilogue.action[a];
      if (pass) x->buffer = to[x->buffer];
      else to[x->buffer] = 1;
    }
    if (pass) break;
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->nbuffer; i++)
      if (to[i]) {
        k->buffer[count] = k->buffer[i];
        to[i] = count++;
      }
    k->nbuffer = count;
  }
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD) k->expr[i].buffer = to[k->expr[i].buffer];
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

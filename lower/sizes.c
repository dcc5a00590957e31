/* sizes.c - sizes in which siblings differ become symbols, of which each has a value of its own.
 *
 * Sizes that differ in the same way are one symbol.  A symbol is known to be what all its values
 * are known to be. */
#include "lower/lowering.h"

#include <stdio.h>

/* ---- the sizes of a kernel ------------------------------------------------------------------- */

static void each_of_address(tc_address *a, int naxis, lo_size *f, void *self) {
  f(self, &a->offset);
  for (int i = 0; i < naxis; i++) f(self, &a->coef[i]);
  for (int t = 0; t < a->nterm; t++) {
    f(self, &a->term[t].stride);
    f(self, &a->term[t].bound);
  }
}

static void each_of_action(tc_action *action, uint32_t n, int naxis, lo_size *f, void *self) {
  for (uint32_t i = 0; action && i < n; i++)
    if (action[i].kind == TC_ACT_STORE || action[i].kind == TC_ACT_ADD)
      each_of_address(&action[i].address, naxis, f, self);
}

static void each_of_nest(tc_nest *n, lo_size *f, void *self) {
  for (int i = 0; i < n->naxis; i++) {
    f(self, &n->axis[i].extent);
    if (n->axis[i].of >= 0) f(self, &n->axis[i].total);
  }
  for (uint32_t s = 0; s < tc_nest_stages(n); s++) {
    tc_stage *stage = &n->stage[s];
    if (stage->skip_if.id) f(self, &stage->points);
    if (stage->interval) f(self, &stage->first), f(self, &stage->end);
    each_of_action(stage->action, stage->naction, n->naxis, f, self);
    each_of_action(stage->if_skipped, stage->naction, n->naxis, f, self);
  }
}

static void each_of_product(tc_mm_loop *mm, lo_size *f, void *self) {
  for (int i = 0; i < tc_mm_axes(mm); i++) f(self, &mm->axis[i].extent);
  for (int i = 0; i < TC_MM_STAGES; i++)
    each_of_action(tc_mm_stage(mm, i)->action, tc_mm_stage(mm, i)->naction, tc_mm_axes(mm), f, self);
}

void lo_each_size(tc_kernel *k, lo_size *f, void *self) {
  int naxis = k->kind == TC_KERNEL_MATMUL ? tc_mm_axes(&k->mm) : 0;
  if (k->kind == TC_KERNEL_MATMUL) each_of_product(&k->mm, f, self);
  for (uint32_t n = 0; n < k->nnest; n++) {
    each_of_nest(&k->nest[n], f, self);
    if (k->nest[n].naxis > naxis) naxis = k->nest[n].naxis;
  }
  for (uint32_t i = 1; i < k->nexpr; i++) {
    tc_expr *e = &k->expr[i];
    if (e->kind == TC_EX_DIM) f(self, &e->dim);
    if (e->kind == TC_EX_LOAD || e->kind == TC_EX_INDEX || e->kind == TC_EX_RANDOM)
      each_of_address(&e->address, naxis, f, self);
  }
}

/* ---- symbols --------------------------------------------------------------------------------- */

typedef struct table { /* size[i * n + j]: size i of sibling j */
  lo *L;
  uint32_t n, count, at;
  tc_dim *size, *symbol; /* symbol[i]: in the place of size i; TC_DIM_INVALID: it stays */
} table;

/* Of products, sizes of buffers too: whether those are small is asked in front of them. */
static uint32_t buffer_sizes(const tc_kernel *k) {
  return k->kind == TC_KERNEL_MATMUL ? k->nbuffer : 0;
}

static void note_buffers(table *t, const tc_kernel *k) {
  for (uint32_t i = 0; i < buffer_sizes(k); i++)
    t->size[t->count++ * t->n + t->at] = tc_buffer_span(t->L->p, k->buffer[i]);
}

static void count_size(void *self, tc_dim *d) {
  (void)d;
  ((table *)self)->count++;
}

static void note_size(void *self, tc_dim *d) {
  table *t = self;
  t->size[t->count++ * t->n + t->at] = *d;
}

static void replace_size(void *self, tc_dim *d) {
  table *t = self;
  const tc_dim symbol = t->symbol[t->count++];
  if (!tc_dim_bad(symbol)) *d = symbol;
}

static void replace_buffers(table *t, tc_kernel *k) {
  if (buffer_sizes(k)) k->numel = lo_alloc(t->L, t->L->arena, k->nbuffer * sizeof *k->numel);
  for (uint32_t i = 0; i < buffer_sizes(k); i++) {
    k->numel[i] = tc_buffer_span(t->L->p, k->buffer[i]);
    replace_size(t, &k->numel[i]);
  }
}

static bool same_row(const table *t, uint32_t i, uint32_t k) {
  for (uint32_t j = 0; j < t->n; j++)
    if (!tc_dim_same(t->size[i * t->n + j], t->size[k * t->n + j])) return false;
  return true;
}

static bool differs(const table *t, uint32_t i) {
  for (uint32_t j = 1; j < t->n; j++)
    if (!tc_dim_same(t->size[i * t->n + j], t->size[i * t->n])) return true;
  return false;
}

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

/* A new symbol, of which is known what is known of all of these sizes. */
static tc_dim new_symbol(lo *L, const tc_dim *size, uint32_t n) {
  int64_t least = INT64_MAX, most = INT64_MIN, multiple = 0, lo, hi;
  char name[24];
  uint32_t number = 0, known;
  for (uint32_t j = 0; j < n; j++) {
    tc_dim_range(L->dims, size[j], &lo, &hi);
    least = lo < least ? lo : least;
    most = hi > most ? hi : most;
    multiple = common_divisor(multiple, tc_dim_multiple(L->dims, size[j]));
  }
  do snprintf(name, sizeof name, "own%u", number++);
  while (tc_dim_find_sym(L->dims, name, &known));
  const tc_dim d = tc_dim_sym(L->dims, name, least, most, multiple ? multiple : 1);
  if (tc_dim_bad(d) || !tc_dim_find_sym(L->dims, name, &known))
    lo_fail(L, (tc_loc){0}, "out of memory");
  tc_dims_sym(L->dims, known)->input = TC_SYM_OWN;
  return d;
}

static void add_value(lo *L, tc_kernel *k, uint32_t room, uint32_t sym, tc_dim value) {
  if (!k->size) k->size = lo_alloc(L, L->arena, room * sizeof *k->size);
  k->size[k->nsize++] = (tc_own_size){sym, value};
}

static void choose_symbol(const table *t, tc_kernel *k, uint32_t i) {
  t->symbol[i] = TC_DIM_INVALID;
  if (!differs(t, i)) return;
  for (uint32_t before = 0; before < i; before++)
    if (!tc_dim_bad(t->symbol[before]) && same_row(t, before, i)) {
      t->symbol[i] = t->symbol[before];
      return;
    }
  uint32_t sym;
  t->symbol[i] = new_symbol(t->L, &t->size[i * t->n], t->n);
  tc_dim_is_sym(t->L->dims, t->symbol[i], &sym);
  for (uint32_t j = 0; j < t->n; j++) add_value(t->L, &k[j], t->count, sym, t->size[i * t->n + j]);
}

void lo_own_sizes(lo *L, tc_kernel *k, uint32_t n) {
  table t = {.L = L, .n = n};
  lo_each_size(k, count_size, &t);
  t.count += buffer_sizes(k);
  t.size = lo_alloc(L, L->scratch, ((size_t)t.count * n + 1) * sizeof *t.size);
  t.symbol = lo_alloc(L, L->scratch, (t.count + 1) * sizeof *t.symbol);
  for (t.at = 0; t.at < n; t.at++) {
    t.count = 0;
    lo_each_size(&k[t.at], note_size, &t);
    note_buffers(&t, &k[t.at]);
  }
  for (uint32_t i = 0; i < t.count; i++) choose_symbol(&t, k, i);
  for (uint32_t j = 0; j < n; j++) {
    t.count = 0;
    lo_each_size(&k[j], replace_size, &t);
    replace_buffers(&t, &k[j]);
  }
}

tc_dim tc_kernel_numel(const tc_kernel *k, const tc_program *p, uint32_t i) {
  return k->numel ? k->numel[i] : tc_kernel_size(k, p, tc_buffer_span(p, k->buffer[i]));
}

tc_dim tc_kernel_size(const tc_kernel *k, const tc_program *p, tc_dim d) {
  for (uint32_t i = 0; i < k->nsize; i++)
    if (tc_dim_same(k->size[i].value, d))
      return tc_dims_sym_dim(tc_graph_dims(p->graph), k->size[i].sym);
  return d;
}

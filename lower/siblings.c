/* siblings.c - kernels that are equal but for their arrays, sizes and numbers, and do not wait for
 * each other, are run by one launch: the updates of an optimiser, of hundreds of parameters.
 *
 * In the order in which kernels were made, each one joins the last launch of its form, where that
 * comes behind all that it waits for; else it begins a new launch.  Kernels only move forwards,
 * past others that they do not meet:
 *
 *   arrays    behind the last launch that stores to what it names, and that names what it stores to;
 *   memory    what stores to the workspace does not move, for memory is planned; it joins the launch in
 *             front of it where that has nothing in the same place;
 *   failures  what stores to an operand stays behind what may find an index out of range: until then, the
 *             body can still run instead. */
#include "lower/lowering.h"

#include <string.h>

/* ---- equal but for arrays, sizes and numbers ------------------------------------------------- */

/* 0 and 1 decide how an access is made. */
static bool alike_step(tc_dim a, tc_dim b) {
  if (tc_dim_same(a, b)) return true;
  return !tc_dim_is(a, 0) && !tc_dim_is(a, 1) && !tc_dim_is(b, 0) && !tc_dim_is(b, 1);
}

static bool alike_address(const tc_address *a, const tc_address *b) {
  bool ok = a->nterm == b->nterm && alike_step(a->offset, b->offset);
  for (int i = 0; ok && i < TC_MAX_AXES; i++) ok = alike_step(a->coef[i], b->coef[i]);
  for (int t = 0; ok && t < a->nterm; t++)
    ok = a->term[t].value.id == b->term[t].value.id &&
         alike_step(a->term[t].stride, b->term[t].stride) &&
         alike_step(a->term[t].bound, b->term[t].bound) && a->term[t].free == b->term[t].free;
  return ok;
}

/* number: the expression of either may be an argument. */
bool lo_alike_expr(const tc_expr *a, const tc_expr *b, bool number) {
  bool ok = a->kind == b->kind && a->op == b->op && a->dtype == b->dtype &&
            a->storage == b->storage && a->guard.id == b->guard.id && a->buffer == b->buffer &&
            a->index == b->index && a->reproducible == b->reproducible && a->i == b->i;
  for (int i = 0; i < 3; i++) ok = ok && a->in[i].id == b->in[i].id;
  ok = ok && (number || !memcmp(&a->f, &b->f, sizeof a->f));
  if (ok && a->kind == TC_EX_DIM) ok = alike_step(a->dim, b->dim);
  if (ok && (a->kind == TC_EX_LOAD || a->kind == TC_EX_INDEX || a->kind == TC_EX_RANDOM))
    ok = alike_address(&a->address, &b->address);
  return ok;
}

static bool alike_action(const tc_action *a, const tc_action *b) {
  bool ok = a->kind == b->kind && a->reducer == b->reducer && a->value.id == b->value.id &&
            a->guard.id == b->guard.id && a->term.id == b->term.id && a->buffer == b->buffer &&
            a->index == b->index && a->dtype == b->dtype && a->serves == b->serves;
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; i++) ok = ok && a->further[i].id == b->further[i].id;
  if (ok && (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD))
    ok = alike_address(&a->address, &b->address);
  return ok;
}

bool lo_alike_stage(const tc_stage *a, const tc_stage *b) {
  bool ok = a->axes == b->axes && a->interval == b->interval && a->naction == b->naction &&
            a->skip_if.id == b->skip_if.id && a->skip_value.id == b->skip_value.id &&
            a->skip_points == b->skip_points && !a->if_skipped == !b->if_skipped &&
            a->skipped == b->skipped;
  if (ok && a->interval) ok = alike_step(a->first, b->first) && alike_step(a->end, b->end);
  for (uint32_t i = 0; ok && i < a->naction; i++) {
    ok = alike_action(&a->action[i], &b->action[i]);
    if (ok && a->if_skipped) ok = alike_action(&a->if_skipped[i], &b->if_skipped[i]);
  }
  return ok;
}

static bool alike_nest(const tc_nest *a, const tc_nest *b) {
  bool ok = a->naxis == b->naxis && a->nparallel == b->nparallel && a->nstage == b->nstage &&
            a->nstreamed == b->nstreamed && a->nresult == b->nresult && a->vector == b->vector &&
            a->when == b->when;
  for (int i = 0; ok && i < a->naxis; i++) ok = a->axis[i].of == b->axis[i].of;
  for (uint32_t s = 0; ok && s < tc_nest_stages(a); s++)
    ok = lo_alike_stage(&a->stage[s], &b->stage[s]);
  return ok;
}

/* Same kind and dtype, and equally many of the others in the same place. */
bool lo_alike_buffers(const tc_program *p, const tc_kernel *a, const tc_kernel *b) {
  for (uint32_t i = 0; i < a->nbuffer; i++) {
    const tc_buffer *x = &p->buffer[a->buffer[i]], *y = &p->buffer[b->buffer[i]];
    if (x->kind != y->kind || x->dtype != y->dtype || x->written != y->written) return false;
    for (uint32_t j = 0; x->kind == TC_BUF_ARENA && j < i; j++) {
      const tc_buffer *v = &p->buffer[a->buffer[j]], *w = &p->buffer[b->buffer[j]];
      if (v->kind == TC_BUF_ARENA &&
          tc_dim_same(v->offset, x->offset) != tc_dim_same(w->offset, y->offset))
        return false;
    }
  }
  return true;
}

static uint64_t hash_of(const tc_kernel *k) {
  uint64_t h = (uint64_t)k->nexpr << 32 | k->nbuffer;
  for (uint32_t i = 1; i < k->nexpr; i++) {
    const int64_t parts[] = {k->expr[i].kind, k->expr[i].op, k->expr[i].dtype, k->expr[i].buffer,
                             k->expr[i].in[0].id};
    h = tc_hash(parts, sizeof parts, h);
  }
  return h;
}

/* ---- the order ------------------------------------------------------------------------------- */

enum {
  NOWHERE = -1,
  LOOK = 16,  /* launches of a form that are tried */
  MOST = 1024 /* siblings of a launch: their arguments are on the stack */
};

typedef struct launch {
  uint32_t first, last, count; /* kernels: the first one, and the last one so far */
  int32_t before;              /* the launch of the same hash in front of it */
} launch;

typedef struct joiner {
  lo *L;
  tc_program *p;
  launch *launch;
  int32_t nlaunch;
  int32_t *table;   /* hash -> its last launch, open addressing */
  uint64_t *hash;   /* of each launch: of its form */
  uint32_t ntable;
  uint32_t *next;   /* kernel -> the next one of its launch; 0: none */
  tc_kernel *form;     /* per kernel that can join: canonical */
  const bool **number; /* ... and its expressions that may be arguments; NULL: none */
  /* per program buffer: the last launch that names it, that stores to it */
  int32_t *named, *stored;
  int32_t failing, effect; /* the last launch that may fail, that has an effect */
} joiner;

static bool is_pointwise(const tc_nest *n) { return n->nstage == 1 && !n->nresult; }

static bool can_join(const joiner *x, const tc_kernel *k) {
  const bool pointwise = x->L->target->siblings == TC_SIBLINGS_POINTWISE;
  if (k->kind != TC_KERNEL_NESTS || k->outer.fused || k->nnest != 1 || k->nest->serial ||
      k->nest->when != TC_ALWAYS)
    return false;
  if (pointwise && !is_pointwise(k->nest)) return false;
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    const tc_buf_kind kind = x->p->buffer[k->buffer[i]].kind;
    if (kind == TC_BUF_LOCAL || kind == TC_BUF_KEPT) return false;
  }
  return true;
}

static bool alike(const joiner *x, uint32_t i, uint32_t j) {
  const tc_kernel *a = &x->form[i], *b = &x->form[j];
  if (a->nexpr != b->nexpr || a->nbuffer != b->nbuffer || !lo_alike_buffers(x->p, a, b) ||
      !alike_nest(a->nest, b->nest))
    return false;
  for (uint32_t v = 1; v < a->nexpr; v++) {
    const bool number = x->number[i] && x->number[j] && x->number[i][v] && x->number[j][v];
    if (!lo_alike_expr(&a->expr[v], &b->expr[v], number)) return false;
  }
  return true;
}

static bool may_fail(const tc_kernel *k) {
  bool any = k->kind == TC_KERNEL_CALL && !k->effect;
  for (uint32_t i = 1; i < k->nexpr; i++)
    any |= (k->expr[i].kind == TC_EX_LOAD || k->expr[i].kind == TC_EX_INDEX) &&
           tc_address_is_checked(&k->expr[i].address);
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < k->nest[n].nstage; s++)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; a++)
        any |= tc_address_is_checked(&k->nest[n].stage[s].action[a].address);
  return any;
}

static bool stores_to(const joiner *x, const tc_kernel *k, tc_buf_kind kind) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (x->p->buffer[k->buffer[i]].kind == kind && tc_kernel_stores(k, i)) return true;
  return false;
}

static int32_t later(int32_t a, int32_t b) { return a > b ? a : b; }

/* The last launch that k has to wait for. */
static int32_t waits_for(const joiner *x, const tc_kernel *k) {
  int32_t after = k->effect ? x->effect : NOWHERE;
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    after = later(after, x->stored[k->buffer[i]]);
    if (tc_kernel_stores(k, i)) after = later(after, x->named[k->buffer[i]]);
  }
  if (stores_to(x, k, TC_BUF_INPUT)) after = later(after, x->failing);
  if (stores_to(x, k, TC_BUF_ARENA)) after = later(after, x->nlaunch - 2);
  return after;
}

static void note(joiner *x, const tc_kernel *k, int32_t at) {
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    const uint32_t b = k->buffer[i];
    x->named[b] = later(x->named[b], at);
    if (tc_kernel_stores(k, i)) x->stored[b] = later(x->stored[b], at);
  }
  if (may_fail(k)) x->failing = later(x->failing, at);
  if (k->effect) x->effect = at;
}

/* Has the workspace that k stores to, or that some sibling does, another array of theirs in the
 * same place? */
static bool meets(const joiner *x, const launch *l, const tc_kernel *k) {
  if (!stores_to(x, k, TC_BUF_ARENA)) return false;
  for (uint32_t at = l->first, more = l->count; more-- > 0; at = x->next[at])
    if (tc_kernels_meet(x->p, &x->p->kernel[at], k)) return true;
  return false;
}

static int32_t *slot_of(joiner *x, uint64_t hash) {
  uint32_t i = (uint32_t)hash & (x->ntable - 1);
  while (x->table[i] != NOWHERE && x->hash[x->table[i]] != hash) i = (i + 1) & (x->ntable - 1);
  return &x->table[i];
}

static void begin_launch(joiner *x, uint32_t k, uint64_t hash, int32_t *slot) {
  x->launch[x->nlaunch] = (launch){k, k, 1, slot ? *slot : NOWHERE};
  x->hash[x->nlaunch] = hash;
  if (slot) *slot = x->nlaunch;
  note(x, &x->p->kernel[k], x->nlaunch++);
}

static void place(joiner *x, uint32_t k) {
  const tc_kernel *kernel = &x->p->kernel[k];
  if (!can_join(x, kernel)) {
    begin_launch(x, k, 0, NULL);
    return;
  }
  const uint64_t hash = hash_of(&x->form[k]);
  int32_t *slot = slot_of(x, hash);
  const int32_t after = waits_for(x, kernel);
  int look = 0;
  for (int32_t at = *slot; at > after && look < LOOK; at = x->launch[at].before, look++) {
    launch *l = &x->launch[at];
    if (l->count == MOST || !alike(x, l->first, k) || meets(x, l, kernel)) continue;
    x->next[l->last] = k;
    l->last = k;
    l->count++;
    note(x, kernel, at);
    return;
  }
  begin_launch(x, k, hash, slot);
}

static joiner begin(lo *L) {
  tc_program *p = L->p;
  joiner x = {.L = L, .p = p, .failing = NOWHERE, .effect = NOWHERE, .ntable = 16};
  while (x.ntable < 2 * p->nkernel) x.ntable *= 2;
  x.launch = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *x.launch);
  x.hash = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *x.hash);
  x.form = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *x.form);
  x.next = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *x.next);
  x.number = lo_alloc(L, L->scratch, (p->nkernel + 1) * sizeof *x.number);
  x.table = lo_alloc(L, L->scratch, x.ntable * sizeof *x.table);
  x.named = lo_alloc(L, L->scratch, (p->nbuffer + 1) * sizeof *x.named);
  x.stored = lo_alloc(L, L->scratch, (p->nbuffer + 1) * sizeof *x.stored);
  for (uint32_t i = 0; i < x.ntable; i++) x.table[i] = NOWHERE;
  for (uint32_t i = 0; i < p->nbuffer; i++) x.named[i] = x.stored[i] = NOWHERE;
  for (uint32_t i = 0; i < p->nkernel; i++) {
    if (!can_join(&x, &p->kernel[i])) continue;
    x.form[i] = lo_canonical(L, &p->kernel[i]);
    x.number[i] = lo_find_numbers(L, &x.form[i]);
  }
  return x;
}

/* ---- launches -------------------------------------------------------------------------------- */

static void share_numbers(const joiner *x, tc_kernel *k, uint32_t n) {
  for (uint32_t i = 1; i < k->nexpr; i++) {
    bool differ = false;
    for (uint32_t j = 1; j < n; j++)
      differ |= memcmp(&k[j].expr[i].f, &k->expr[i].f, sizeof k->expr[i].f) != 0;
    for (uint32_t j = 0; differ && j < n; j++) lo_make_argument(x->L, &k[j].expr[i]);
  }
}

static void finish(joiner *x, tc_kernel *k, uint32_t n) {
  for (uint32_t j = 0; j < n; j++) {
    k[j].sibling = true;
    k[j].joins = j > 0;
  }
  share_numbers(x, k, n);
  lo_own_sizes(x->L, k, n);
}

/* requires: kernels as they will be printed, and memory that is planned.  keeps: what they
 * compute. */
void lo_join_siblings(lo *L) {
  tc_program *p = L->p;
  if (p->nkernel < 2) return;
  joiner x = begin(L);
  for (uint32_t k = 0; k < p->nkernel; k++) place(&x, k);
  if ((uint32_t)x.nlaunch == p->nkernel) return;
  tc_kernel *all = lo_alloc(L, L->scratch, p->nkernel * sizeof *all);
  memcpy(all, p->kernel, p->nkernel * sizeof *all);
  uint32_t n = 0;
  for (int32_t at = 0; at < x.nlaunch; at++) {
    const launch *l = &x.launch[at];
    const uint32_t first = n;
    for (uint32_t k = l->first; n - first < l->count; k = x.next[k])
      p->kernel[n++] = l->count > 1 ? x.form[k] : all[k];
    if (l->count > 1) finish(&x, &p->kernel[first], l->count);
  }
}

uint32_t tc_launch_end(const tc_program *p, uint32_t k) {
  do k++;
  while (k < p->nkernel && p->kernel[k].joins);
  return k;
}

uint32_t tc_launch_count(const tc_program *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->nkernel; k++) n += !p->kernel[k].joins;
  return n;
}

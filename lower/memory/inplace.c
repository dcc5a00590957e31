/* inplace.c - writes in place: which kernels may write straight into an operand, and which arrays
 * are one array whose parts are written in turn. */
#include "lower/lowering.h"

bool lo_same_place(const tc_address *a, const tc_address *b) {
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
  if (k->kind == TC_KERNEL_CALL) return !k->effect;
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (tc_address_is_checked(&k->expr[i].address)) return true;
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < k->nest[n].nstage; s++)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; a++)
        if (tc_address_is_checked(&k->nest[n].stage[s].action[a].address)) return true;
  return false;
}

static bool stores_to(const tc_action *a, uint32_t buffer) {
  return (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) && a->buffer == buffer;
}

static bool any_stores_to(const tc_action *action, uint32_t n, uint32_t buffer) {
  for (uint32_t i = 0; i < n; i++)
    if (stores_to(&action[i], buffer)) return true;
  return false;
}

/* The one store of a stage to buffer `out`; NULL: there is none.  *others: it adds somewhere, or
 * stores there twice. */
static const tc_action *only_store(const tc_stage *s, int out, bool *others) {
  const tc_action *store = NULL;
  *others = false;
  for (uint32_t a = 0; a < s->naction; a++) {
    *others |= s->action[a].kind == TC_ACT_ADD;
    if (s->action[a].kind != TC_ACT_STORE || s->action[a].buffer != (uint32_t)out) continue;
    *others |= store != NULL;
    store = &s->action[a];
  }
  return *others ? NULL : store;
}

/* Marks what a stage computes. */
static const uint8_t *computed(lo *L, const tc_kernel *k, const tc_stage *s) {
  uint8_t *seen = lo_alloc(L, L->scratch, k->nexpr + 1u);
  tc_mark_stage(s, seen);
  tc_mark_operands(k, seen);
  return seen;
}

static bool loads(const tc_kernel *k, uint32_t expr, int buffer) {
  return k->expr[expr].kind == TC_EX_LOAD && k->expr[expr].buffer == (uint32_t)buffer;
}

/* All that the stage reads of buffer `in` (*reads: anything) is the element that `store`
 * overwrites. */
static bool reads_only(lo *L, const tc_kernel *k, const tc_stage *s, int in, const tc_action *store,
                       bool *reads) {
  const uint8_t *seen = computed(L, k, s);
  for (uint32_t i = 1; i < k->nexpr; i++) {
    if (!seen[i] || !loads(k, i, in)) continue;
    if (!store || !lo_same_place(&k->expr[i].address, &store->address)) return false;
    *reads = true;
  }
  return true;
}

/* One of the stages, which are all that is done at a point, stores to `out`, and all that they read
 * of buffer `in` (*reads: anything) is the element that is then overwritten: none reads behind
 * it. */
static bool reads_what_it_writes(lo *L, const tc_kernel *k, const tc_stage *s, uint32_t nstage,
                                 int in, int out, bool *reads) {
  const tc_action *store = NULL;
  *reads = false;
  for (uint32_t n = nstage; n-- > 0;) {
    bool others;
    const tc_action *mine = only_store(&s[n], out, &others);
    if (others || (mine && store)) return false;
    if (mine) store = mine;
    if (!reads_only(L, k, &s[n], in, store, reads)) return false;
  }
  return store != NULL;
}

/* The same of stages that each take an interval of the axis of lanes. */
static bool intervals_read_what_they_write(lo *L, const tc_kernel *k, const tc_nest *nest, int in,
                                           int out, bool *reads) {
  *reads = false;
  for (uint32_t n = 0; n < nest->nstage; n++) {
    bool others;
    const tc_action *store = only_store(&nest->stage[n], out, &others);
    if (!nest->stage[n].interval || !store || !reads_only(L, k, &nest->stage[n], in, store, reads))
      return false;
  }
  return true;
}

/* The same of a nest, streamed or not. */
static bool rows_update(lo *L, const tc_kernel *k, const tc_nest *nest, int in, int out,
                        bool *reads) {
  const tc_stage *streamed = nest->stage + nest->nstage;
  if (nest->stage[0].interval) return intervals_read_what_they_write(L, k, nest, in, out, reads);
  return reads_what_it_writes(L, k, nest->stage, nest->nstage, in, out, reads) &&
         (!nest->nstreamed ||
          reads_what_it_writes(L, k, streamed, nest->nstreamed, in, out, reads));
}

/* The nest only stores elements of `from` where they were in `to`. */
static bool copies(const tc_kernel *k, const tc_nest *nest, int from, int to) {
  if (nest->nstage != 1 || nest->stage[0].naction != 1) return false;
  const tc_action *a = &nest->stage[0].action[0];
  const tc_expr *e = &k->expr[a->value.id];
  return a->kind == TC_ACT_STORE && !a->guard.id && a->buffer == (uint32_t)to &&
         loads(k, a->value.id, from) && !e->guard.id && lo_same_place(&e->address, &a->address);
}

/* A product's operands are read many times; its epilogue runs once at each point. */
static bool product_updates(lo *L, const tc_kernel *k, int in, int out) {
  uint8_t *operands = lo_alloc(L, L->scratch, k->nexpr + 1u);
  bool reads;
  if (!L->target->epilogue_in_place || tc_mm_has_across(&k->mm)) return false;
  operands[k->mm.a.id] = operands[k->mm.b.id] = 1;
  operands[k->mm.beside.a.id] = operands[k->mm.beside.b.id] = operands[k->mm.across.b.id] = 1;
  for (int i = 0; i < k->mm.inner.n; i++)
    operands[k->mm.inner.a[i].id] = operands[k->mm.inner.b[i].id] = 1;
  if (k->mm.inner.rows.naction) tc_mark_action(k->mm.inner.rows.action, operands);
  tc_mark_operands(k, operands);
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (operands[i] && loads(k, i, in)) return false;
  return reads_what_it_writes(L, k, &k->mm.epilogue, 1, in, out, &reads);
}

static bool nest_stores_to(const tc_nest *nest, int out) {
  bool any = false;
  for (uint32_t s = 0; s < nest->nstage; s++)
    any |= any_stores_to(nest->stage[s].action, nest->stage[s].naction, (uint32_t)out);
  return any;
}

/* The nest neither reads `in` nor stores to `out`. */
static bool is_aside(lo *L, const tc_kernel *k, const tc_nest *nest, int in, int out) {
  bool reads;
  for (uint32_t s = 0; s < nest->nstage; s++)
    if (any_stores_to(nest->stage[s].action, nest->stage[s].naction, (uint32_t)out) ||
        !reads_only(L, k, &nest->stage[s], in, NULL, &reads))
      return false;
  return true;
}

/* A kernel that reads array `in` and makes `out` may do so in place.  The pieces of a concatenation
 * are apart, and so are the parts of a reduction from what is made of them, in one of two ways; of
 * the parts that are put into an array one after the other, only the first may look at what it was,
 * or leave it as it is. */
static bool updates(lo *L, tc_ref value, const tc_kernel *k, int in, int out) {
  const tc_op op = lo_node(L, value)->op;
  bool stored = false, reads;
  if (k->kind == TC_KERNEL_MATMUL) return product_updates(L, k, in, out);
  if (k->kind != TC_KERNEL_NESTS) return false;
  tc_when when = TC_ALWAYS; /* of the nest that stores */
  const bool parts = k->nnest > 1 && op != OP_CONCAT && op != OP_PUT;
  for (uint32_t n = 0; n < k->nnest; n++) {
    const tc_nest *nest = &k->nest[n];
    if (parts && is_aside(L, k, nest, in, out)) continue;
    if (parts && stored && (nest->when == TC_ALWAYS || nest->when == when)) return false;
    if (parts && !nest_stores_to(nest, out)) continue; /* it reads what is there yet */
    when = nest->when;
    const bool copied = copies(k, nest, in, out);
    if (!copied && !rows_update(L, k, nest, in, out, &reads)) return false;
    if (stored && (copied || reads) && op == OP_PUT) return false;
    stored |= !copied;
  }
  return true;
}

/* May the kernels write straight into the input?  From the first that does on, nobody may read what
 * it was, and no check may send the caller back to the original body: kernels that read it or can
 * fail run in front, unless they need what is written. */
static bool direct(lo *L, const lo_write *w) {
  const tc_program *p = L->p;
  uint32_t first = 0;
  while (first < p->nkernel && find_buffer(&p->kernel[first], w->buffer) < 0) first++;
  if (first == p->nkernel || can_fail(&p->kernel[first])) return false;
  const tc_kernel *k = &p->kernel[first];
  const int in = find_buffer(k, w->input), out = find_buffer(k, w->buffer);
  if (in >= 0 && !updates(L, p->buffer[w->buffer].node, k, in, out)) return false;
  bool *wanted = lo_alloc(L, L->scratch, p->nkernel * sizeof *wanted);
  for (uint32_t i = first + 1; i < p->nkernel; i++)
    wanted[i] = can_fail(&p->kernel[i]) || find_buffer(&p->kernel[i], w->input) >= 0;
  return lo_run_before(L, first, wanted);
}

/* What a write leaves as it is need not be stored. */
static void drop_copies(tc_kernel *k, int buffer) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->nnest; i++)
    if (!copies(k, &k->nest[i], buffer, buffer)) k->nest[n++] = k->nest[i];
  if (n) k->nnest = n;
}

static void rename_actions(tc_action *action, uint32_t n, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < n; i++)
    if (stores_to(&action[i], from)) action[i].buffer = to;
}

static void rename_buffer(tc_kernel *k, uint32_t from, uint32_t to) {
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (loads(k, i, (int)from)) k->expr[i].buffer = to;
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < tc_nest_stages(&k->nest[n]); s++)
      rename_actions(k->nest[n].stage[s].action, k->nest[n].stage[s].naction, from, to);
  for (int i = 0; i < TC_MM_STAGES; i++) {
    const tc_stage *s = tc_mm_stage(&k->mm, i);
    rename_actions(s->action, s->naction, from, to);
  }
}

/* Program buffer `other` is `one` from now on: a kernel's two names for the array become one. */
static void unite(lo *L, uint32_t one, uint32_t other) {
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    tc_kernel *k = &L->p->kernel[i];
    const int mine = find_buffer(k, one), theirs = find_buffer(k, other);
    if (theirs < 0) continue;
    if (mine < 0) {
      k->buffer[theirs] = one;
      continue;
    }
    rename_buffer(k, (uint32_t)theirs, (uint32_t)mine); /* dropped with the unused buffers */
    if (k->nnest > 1) drop_copies(k, mine);
  }
}

/* ---- arrays that differ in a part ------------------------------------------------------------ */

/* Is the array the new value of an operand?  That one is read at the end. */
static bool is_written_back(const lo *L, uint32_t buffer) {
  for (uint32_t i = 0; i < L->nwrite; i++)
    if (L->write[i].buffer == buffer) return true;
  return false;
}

/* Does kernel `at` put a part into array `from` of the workspace, which nobody reads later, to make
 * array `to`? */
static bool continues(lo *L, uint32_t at, uint32_t from, uint32_t to) {
  const tc_program *p = L->p;
  const tc_kernel *k = &p->kernel[at];
  const tc_buffer *a = &p->buffer[from], *b = &p->buffer[to];
  if (k->kind != TC_KERNEL_NESTS || a->kind != TC_BUF_ARENA || from == to) return false;
  if (is_written_back(L, from)) return false;
  if (!b->node.id || lo_node(L, b->node)->op != OP_PUT) return false;
  if (a->dtype != b->dtype || !tc_dim_same(a->numel, b->numel)) return false;
  if (!tc_layout_same(&a->layout, &b->layout, a->type.rank)) return false;
  for (uint32_t i = 0; i < p->nkernel; i++)
    if (i != at && find_buffer(&p->kernel[i], i < at ? to : from) >= 0) return false;
  const int in = find_buffer(k, from), out = find_buffer(k, to);
  return in >= 0 && out >= 0 && !tc_kernel_writes(k, (uint32_t)in) &&
         updates(L, b->node, k, in, out);
}

/* A tensor that is written in several parts, with reads in between, stays one array. */
static void continue_arrays(lo *L) {
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    const tc_kernel *k = &L->p->kernel[i];
    for (uint32_t n = 0; n < k->nbuffer * k->nbuffer; n++) {
      const uint32_t from = k->buffer[n / k->nbuffer], to = k->buffer[n % k->nbuffer];
      if (continues(L, i, from, to)) unite(L, to, from);
    }
  }
}

/* The kernel that makes the new value, if it is a product that reads the old one: the array that
 * was to hold the new one is room for the bare product, of the operands' type or that of the
 * sums. */
static void keep_product(lo *L, const lo_write *w) {
  const tc_buffer *b = &L->p->buffer[w->buffer];
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    tc_kernel *k = &L->p->kernel[i];
    const int in = find_buffer(k, w->input), out = find_buffer(k, w->buffer);
    if (k->kind != TC_KERNEL_MATMUL || in < 0 || out < 0 || k->mm.product) continue;
    if (tc_kernel_writes(k, (uint32_t)out) && b->kind == TC_BUF_ARENA &&
        (b->dtype == k->mm.operand || b->dtype == k->mm.acc))
      k->mm.product = (uint32_t)out + 1;
  }
}

void lo_resolve_writes(lo *L) {
  continue_arrays(L);
  for (uint32_t i = 0; i < L->nwrite; i++) {
    lo_write *w = &L->write[i];
    w->direct = direct(L, w);
    if (!w->direct) continue;
    if (L->target->product_apart) keep_product(L, w);
    unite(L, w->input, w->buffer);
    L->p->buffer[w->input].written = true;
  }
}

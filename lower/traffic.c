/* traffic.c - how many bytes a kernel moves at least, for reports: every element that it reads,
 * once, and every one that it writes, once; what it wrote itself is at hand.  Of an array those are
 * as many as the points of the axes that move through it, of each of the places where it is
 * accessed, and no more than it has. */
#include "lower/lowering.h"

typedef struct access {
  uint32_t buffer; /* of the kernel */
  bool store;
  const tc_address *address;
} access;

typedef struct traffic {
  lo *L;
  const tc_kernel *k;
  const tc_axis *axis; /* of the nest at hand */
  int naxis, part;     /* those from `part` on are parts of a product's axes */
  tc_dim *read, *written; /* per buffer of the kernel: elements */
  access *seen;
  uint32_t nseen, cseen;
} traffic;

/* Points of the axes that an address depends on; of all where data decides.  Chunks and the axis
 * over their number are one axis. */
static tc_dim points(const traffic *t, const tc_address *a) {
  tc_dim n = t->k->outer.fused ? t->k->outer.extent : tc_dim_const(1);
  uint32_t chunked = 0;
  for (int i = 0; i < t->part; i++)
    if (t->axis[i].of >= 0) chunked |= 1u << t->axis[i].of;
  for (int i = 0; i < t->part; i++) {
    const bool moves = a->nterm || !tc_dim_is(a->coef[i], 0);
    if (!moves || chunked >> i & 1) continue;
    n = lo_estimate(t->L, n, t->axis[i].of >= 0 ? t->axis[i].total : t->axis[i].extent);
  }
  for (int i = t->part; i < t->naxis && !a->nterm; i++)
    if (!tc_dim_is(a->coef[i], 0) && tc_dim_is(a->coef[t->axis[i].of], 0))
      n = lo_estimate(t->L, n, t->axis[i].extent);
  return n;
}

static bool was_seen(const traffic *t, uint32_t buffer, const tc_address *a, bool store) {
  for (uint32_t i = 0; i < t->nseen; i++)
    if (t->seen[i].buffer == buffer && (t->seen[i].store || !store) &&
        lo_same_place(t->seen[i].address, a))
      return true;
  return false;
}

/* Stores go to different elements.  Loads behind them count with them. */
static void note(traffic *t, uint32_t buffer, const tc_address *a, bool store) {
  if (was_seen(t, buffer, a, store)) return;
  t->seen = lo_grow(t->L, t->L->scratch, t->seen, &t->cseen, t->nseen, sizeof *t->seen);
  t->seen[t->nseen++] = (access){buffer, store, a};
  tc_dim *touched = store || !tc_dim_is(t->written[buffer], 0) ? t->written : t->read;
  const tc_buffer *b = &t->L->p->buffer[t->k->buffer[buffer]];
  const tc_dim before = touched[buffer], all = tc_type_numel(t->L->dims, &b->type);
  tc_dim now = tc_dim_add(t->L->dims, before, points(t, a));
  if (!store || a->nterm || !tc_dim_is(before, 0)) now = tc_dim_min(t->L->dims, now, all);
  touched[buffer] = tc_dim_bad(now) ? all : now;
}

static void follow(traffic *t, tc_val v, bool *done) {
  if (!v.id || done[v.id]) return;
  done[v.id] = true;
  const tc_expr *e = &t->k->expr[v.id];
  for (int i = 0; i < 3; i++) follow(t, e->in[i], done);
  follow(t, e->guard, done);
  for (int i = 0; i < e->address.nterm; i++) follow(t, e->address.term[i].value, done);
  if (e->kind == TC_EX_LOAD) note(t, e->buffer, &e->address, false);
}

static void follow_stage(traffic *t, const tc_stage *s, bool *done) {
  for (uint32_t i = 0; i < s->naction; i++) {
    const tc_action *a = &s->action[i];
    follow(t, a->value, done);
    for (int j = 0; j + 1 < TC_MAX_ACCUMULATORS; j++) follow(t, a->further[j], done);
    follow(t, a->guard, done);
    for (int k = 0; k < a->address.nterm; k++) follow(t, a->address.term[k].value, done);
    if (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) note(t, a->buffer, &a->address, true);
  }
}

static void follow_kernel(traffic *t) {
  const tc_kernel *k = t->k;
  bool *done = lo_alloc(t->L, t->L->scratch, (k->nexpr + 1u) * sizeof *done);
  for (uint32_t n = 0; n < k->nnest; n++) {
    t->axis = k->nest[n].axis;
    t->naxis = t->part = k->nest[n].naxis;
    for (uint32_t s = 0; s < k->nest[n].nstage; s++) follow_stage(t, &k->nest[n].stage[s], done);
  }
  if (k->kind != TC_KERNEL_MATMUL) return;
  t->axis = k->mm.axis;
  t->naxis = tc_mm_axes(&k->mm);
  t->part = tc_mm_first_part(&k->mm);
  follow(t, k->mm.a, done);
  follow(t, k->mm.b, done);
  if (tc_mm_has_beside(&k->mm)) follow(t, k->mm.beside.a, done), follow(t, k->mm.beside.b, done);
  for (int i = 0; i < k->mm.inner.n; i++)
    follow(t, k->mm.inner.a[i], done), follow(t, k->mm.inner.b[i], done);
  follow_stage(t, &k->mm.inner.rows, done);
  follow(t, k->mm.across.b, done);
  for (int i = 0; i < TC_MM_STAGES; i++) follow_stage(t, tc_mm_stage(&k->mm, i), done);
}

static tc_dim *nothing_of(lo *L, const tc_kernel *k) {
  tc_dim *elements = lo_alloc(L, L->scratch, (k->nbuffer + 1u) * sizeof *elements);
  for (uint32_t i = 0; i < k->nbuffer; i++) elements[i] = tc_dim_const(0);
  return elements;
}

void lo_estimate_bytes(lo *L, tc_kernel *k) {
  traffic t = {.L = L, .k = k, .read = nothing_of(L, k), .written = nothing_of(L, k)};
  tc_dim sum = tc_dim_const(0);
  follow_kernel(&t);
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    const tc_buffer *b = &L->p->buffer[k->buffer[i]];
    if (tc_buffer_of_thread(b)) continue;
    const tc_dim n =
        tc_kernel_takes_arrays(k) ? b->numel : tc_dim_add(L->dims, t.read[i], t.written[i]);
    const tc_dim bytes = lo_estimate(L, n, tc_dim_const((int64_t)tc_dtype_bytes(b->dtype)));
    const tc_dim next = tc_dim_add(L->dims, sum, bytes);
    if (!tc_dim_bad(next)) sum = next;
  }
  k->bytes = sum;
}

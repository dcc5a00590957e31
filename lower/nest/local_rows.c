/* local_rows.c - expensive values that several stages of a nest need are computed once and kept in
 * a LOCAL row; on some machines loads are, too.  softmax keeps exp(x - max) between the sum and the
 * division. */
#include "lower/lowering.h"

#include <string.h>

typedef struct rows {
  lo_kb *b;
  uint32_t end;     /* expressions that existed before */
  uint64_t *needed; /* bit l: computed in stages of level l */
  uint16_t *cost;   /* operations of the cone that vary within a row */
  uint32_t *local;  /* LOAD that replaces it after its first stage, or 0 */
  int *first;       /* the level that stores it */
  uint32_t *copy;   /* per level pass: the expression that takes its place */
} rows;

enum { EXPENSIVE = 10, LEVELS = 64 };

static void each_operand(const tc_expr *e, void (*f)(rows *, uint32_t, uint32_t), rows *r,
                         uint32_t user) {
  for (int i = 0; i < 3; i++)
    if (e->in[i].id) f(r, e->in[i].id, user);
  if (e->guard.id) f(r, e->guard.id, user);
  for (int t = 0; t < e->address.nterm; t++) f(r, e->address.term[t].value.id, user);
}

static void add_cost(rows *r, uint32_t operand, uint32_t user) {
  uint32_t sum = (uint32_t)r->cost[user] + r->cost[operand];
  r->cost[user] = (uint16_t)(sum > 60000 ? 60000 : sum);
}

static void add_need(rows *r, uint32_t operand, uint32_t user) {
  r->needed[operand] |= r->needed[user];
}

static void need(rows *r, tc_val v, int level) {
  if (v.id) r->needed[v.id] |= 1ull << level;
}

static void need_roots(rows *r) {
  for (uint32_t i = 0; i < r->b->nact; i++) {
    const lo_act *a = &r->b->act[i];
    need(r, a->a.value, a->level);
    for (int j = 0; j + 1 < TC_MAX_ACCUMULATORS; j++) need(r, a->a.further[j], a->level);
    need(r, a->a.guard, a->level);
    for (int t = 0; t < a->a.address.nterm; t++) need(r, a->a.address.term[t].value, a->level);
  }
}

/* Row-major over the inner slots. */
static tc_address row_address(lo_kb *b, tc_dim *numel) {
  tc_address a = {0};
  tc_dim stride = tc_dim_const(1);
  for (int s = b->nslot - 1; s >= 0; s--) {
    if (b->slot[s].dead || !b->slot[s].sequential) continue;
    a.coef[s] = stride;
    stride = tc_dim_mul(b->L->dims, stride, b->slot[s].extent);
  }
  *numel = stride;
  return a;
}

/* A LOCAL row for value `id`, stored in the first stage that needs it. */
static void keep(rows *r, uint32_t id) {
  lo_kb *b = r->b;
  tc_dtype d = b->k->expr[id].dtype;
  tc_type t = {.dtype = d, .rank = 1};
  tc_address at = row_address(b, &t.dim[0]);
  uint32_t buffer = lo_new_buffer(b->L, TC_BUF_LOCAL, 0, d, &t, "row");
  lo_act a = {.a = {.kind = TC_ACT_STORE, .value = {id}, .address = at, .dtype = d}};
  a.a.buffer = lo_kernel_buffer(b, buffer);
  a.axes = lo_sequential_slots(b);
  a.level = r->first[id];
  lo_push_act(b, a);
  r->local[id] = lo_load(b, buffer, at, b->k->expr[id].loc).id;
}

static bool is_expensive(const rows *r, uint32_t id) {
  const lo_kb *b = r->b;
  uint64_t n = r->needed[id];
  const bool load = b->L->target->keep_loads && b->k->expr[id].kind == TC_EX_LOAD;
  return (n & (n - 1)) && (load || r->cost[id] >= EXPENSIVE) && b->axes[id] &&
         (b->axes[id] & lo_sequential_slots(b)) == lo_sequential_slots(b);
}

/* From users to operands: what is kept needs its operands only where it is first computed. */
static void choose(rows *r) {
  lo_kb *b = r->b;
  for (uint32_t id = r->end; id-- > b->first;) {
    if (!r->needed[id]) continue;
    if (is_expensive(r, id)) {
      r->first[id] = __builtin_ctzll(r->needed[id]);
      r->local[id] = 1; /* made below: the pool must not move under this walk */
      r->needed[id] = 1ull << r->first[id];
    }
    each_operand(&b->k->expr[id], add_need, r, id);
  }
  for (uint32_t id = b->first; id < r->end; id++)
    if (r->local[id]) keep(r, id);
}

/* The expression that gives value `id` in stages of `level`; operands come first. */
static void copy_for(rows *r, uint32_t id, int level) {
  lo_kb *b = r->b;
  tc_expr e = b->k->expr[id];
  if (r->local[id] && r->first[id] < level) {
    r->copy[id] = r->local[id];
    return;
  }
  bool changed = false;
  tc_val *slot[6];
  int n = 0;
  for (int i = 0; i < 3; i++) slot[n++] = &e.in[i];
  slot[n++] = &e.guard;
  for (int t = 0; t < e.address.nterm; t++) slot[n++] = &e.address.term[t].value;
  for (int i = 0; i < n; i++) {
    if (slot[i]->id < b->first || slot[i]->id >= r->end) continue;
    changed |= r->copy[slot[i]->id] != slot[i]->id;
    slot[i]->id = r->copy[slot[i]->id];
  }
  r->copy[id] = changed ? lo_expr(b, &e).id : id;
}

static void replace(const rows *r, tc_val *v) {
  if (v->id >= r->b->first && v->id < r->end) v->id = r->copy[v->id];
}

static void rewrite_level(rows *r, int level) {
  for (uint32_t id = r->b->first; id < r->end; id++) copy_for(r, id, level);
  for (uint32_t i = 0; i < r->b->nact; i++) {
    lo_act *a = &r->b->act[i];
    if (a->level != level) continue;
    replace(r, &a->a.value);
    for (int j = 0; j + 1 < TC_MAX_ACCUMULATORS; j++) replace(r, &a->a.further[j]);
    replace(r, &a->a.guard);
    for (int t = 0; t < a->a.address.nterm; t++) replace(r, &a->a.address.term[t].value);
  }
}

static void *array(lo_kb *b, uint32_t n, size_t size) {
  return lo_alloc(b->L, b->L->scratch, (n + 1) * size);
}

void lo_keep_rows(lo_kb *b) {
  int last = 0;
  for (uint32_t i = 0; i < b->nact; i++)
    if (b->act[i].level > last) last = b->act[i].level;
  if (!last || last >= LEVELS) return;
  uint32_t n = b->k->nexpr;
  rows r = {.b = b, .end = n};
  r.needed = array(b, n, sizeof *r.needed);
  r.cost = array(b, n, sizeof *r.cost);
  r.local = array(b, n, sizeof *r.local);
  r.first = array(b, n, sizeof *r.first);
  r.copy = array(b, n, sizeof *r.copy);
  for (uint32_t id = b->first; id < n; id++) {
    if (!(b->axes[id] & lo_sequential_slots(b))) continue; /* hoisted */
    r.cost[id] = (uint16_t)lo_expr_cost(&b->k->expr[id]);
    each_operand(&b->k->expr[id], add_cost, &r, id);
  }
  need_roots(&r);
  choose(&r);
  for (int level = 1; level <= last; level++) rewrite_level(&r, level);
}

/* plan.c - see plan.h.  No step is recursive: tapes are as long as the program likes. */
#include "runtime/libtcrt/src/autograd/plan.h"

#include <stdlib.h>

static uint64_t hash_of(const void *p) {
  const uintptr_t bits = (uintptr_t)p;
  return tc_hash(&bits, sizeof bits, 0);
}

/* ---- gradients ------------------------------------------------------------------------------- */

static bool is_grad(const void *owner, uint32_t id, const void *value) {
  return ((const tape_plan *)owner)->grad.at[id - 1].value == value;
}

tape_grad *tc_plan_find(const tape_plan *p, const tape_value *v) {
  const uint32_t id = tc_table_find(&p->grad_index, hash_of(v), is_grad, p, v);
  return id ? &p->grad.at[id - 1] : NULL;
}

tape_grad *tc_plan_grad(tape_plan *p, tape_value *v) {
  tape_grad *found = tc_plan_find(p, v);
  if (found) return found;
  if (!tc_push(&p->grad, ((tape_grad){.value = v})) ||
      !tc_table_add(&p->grad_index, hash_of(v), (uint32_t)p->grad.n)) {
    tc_tape_no_memory();
    return NULL;
  }
  return &p->grad.at[p->grad.n - 1];
}

/* g where v is, which for a C scalar may be another device. */
static tc_tensor *brought(const tape_value *v, tc_tensor *g) {
  if (tc_place(g) == tc_place(&v->at)) return g;
  tc_tensor *there = tc_to(g, tc_place(&v->at));
  tc_free(g);
  return there;
}

bool tc_plan_add(tape_plan *p, tape_value *v, tc_tensor *g) {
  tape_grad *e = tc_plan_grad(p, v);
  g = brought(v, g);
  if (!e || !g) {
    tc_free(g);
    return false;
  }
  tc_tensor *before = e->sum;
  e->sum = before ? tc_add(before, g) : g;
  if (before) tc_free(g);
  tc_free(before);
  return e->sum != NULL;
}

/* ---- what y depends on ----------------------------------------------------------------------- */

static bool is_op(const void *owner, uint32_t id, const void *op) {
  return ((const tape_plan *)owner)->op.at[id - 1] == op;
}

uint32_t tc_plan_position(const tape_plan *p, const tape_op *op) {
  const uint32_t id = op ? tc_table_find(&p->op_index, hash_of(op), is_op, p, op) : 0;
  return id - 1;
}

static bool add_op(tape_plan *p, tape_op *op) {
  if (!op || tc_plan_position(p, op) != UINT32_MAX) return true;
  if (!tc_push(&p->op, op)) return tc_tape_no_memory();
  tc_tape_op_ref(op);
  return tc_table_add(&p->op_index, hash_of(op), (uint32_t)p->op.n) || tc_tape_no_memory();
}

static bool wants(const tape_value *v) { return v->hook || (!v->lost && (v->leaf || v->retain)); }

static bool see(tape_plan *p, tape_value *v) {
  tape_grad *e = p->all && wants(v) ? tc_plan_grad(p, v) : tc_plan_find(p, v);
  if (p->all && wants(v)) {
    if (!e) return false;
    e->wanted = true;
  }
  if (e) e->seen = true;
  return add_op(p, v->maker);
}

/* Ops in the order in which they are found: the list is its own queue. */
static bool collect(tape_plan *p, tape_value *y) {
  bool ok = see(p, y);
  for (size_t k = 0; k < p->op.n && ok; k++) {
    const tape_op *op = p->op.at[k];
    if (op->freed) p->freed = op;
    for (int i = 0; i < op->nin && ok; i++)
      if (op->in[i].value) ok = see(p, op->in[i].value);
  }
  return ok;
}

/* ---- what of it leads to wanted values ------------------------------------------------------- */

static bool reindex(tape_plan *p) {
  tc_table_free(&p->op_index);
  for (size_t k = 0; k < p->op.n; k++)
    if (!tc_table_add(&p->op_index, hash_of(p->op.at[k]), (uint32_t)k + 1))
      return tc_tape_no_memory();
  return true;
}

static bool leads(const tape_plan *p, const tape_op *op, const bool *found) {
  for (int i = 0; i < op->nin; i++) {
    const tape_value *v = op->in[i].value;
    const tape_grad *e = v ? tc_plan_find(p, v) : NULL;
    const uint32_t at = v ? tc_plan_position(p, v->maker) : UINT32_MAX;
    if ((e && e->wanted) || (at != UINT32_MAX && found[at])) return true;
  }
  return false;
}

/* And what computes values that they read and that were not kept. */
static bool find_again(const tape_plan *p, bool *found) {
  for (size_t k = p->op.n; k-- > 0;) {
    const tape_op *op = p->op.at[k];
    for (int i = 0; found[k] && i < op->nin; i++) {
      const tape_value *v = op->in[i].value;
      if (!v || !v->again) continue;
      if (v->maker->freed)
        return tc_fail("%s: the tape that tc_checkpoint left was freed by the gradients that were "
                       "computed before; pass TC_RETAIN_GRAPH there",
                       p->name);
      found[tc_plan_position(p, v->maker)] = true;
    }
  }
  return true;
}

/* Keeps those ops; they are sorted so that operands come first. */
static bool prune(tape_plan *p) {
  bool *found = calloc(p->op.n + 1, sizeof *found);
  size_t n = 0;
  if (!found) return tc_tape_no_memory();
  for (size_t k = 0; k < p->op.n; k++) found[k] = leads(p, p->op.at[k], found);
  if (!find_again(p, found)) {
    free(found);
    return false;
  }
  for (size_t k = 0; k < p->op.n; k++) {
    if (found[k]) p->op.at[n++] = p->op.at[k];
    else tc_tape_op_unref(p->op.at[k]);
  }
  p->op.n = n;
  free(found);
  return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct place {
  tape_op *op;
  size_t found;
} place;

static int order(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int by_depth(const void *a, const void *b) {
  const place *x = a, *y = b;
  const int depth = order(x->op->depth, y->op->depth);
  return depth ? depth : order(x->found, y->found);
}

/* The last level first, in it ops in front of those that are alone, and devices in front of the
 * CPU, whose C scalars they read. */
static int by_subgraph(const void *a, const void *b) {
  const place *x = a, *y = b;
  const int level = order(y->op->level, x->op->level);
  const int alone = order(tc_tape_is_alone(x->op), tc_tape_is_alone(y->op));
  const int device = order((uint64_t)y->op->device, (uint64_t)x->op->device);
  return level ? level : alone ? alone : device ? device : by_depth(a, b);
}

static bool sort(tape_plan *p, int (*compare)(const void *, const void *)) {
  place *all = malloc((p->op.n + 1) * sizeof *all);
  if (!all) return tc_tape_no_memory();
  for (size_t k = 0; k < p->op.n; k++) all[k] = (place){p->op.at[k], k};
  qsort(all, p->op.n, sizeof *all, compare);
  for (size_t k = 0; k < p->op.n; k++) p->op.at[k] = all[k].op;
  free(all);
  return reindex(p);
}

tape_subgraph tc_plan_subgraph(const tape_plan *p, uint32_t first) {
  const tape_op *op = p->op.at[first];
  uint32_t end = first + 1;
  for (; end < p->op.n && !tc_tape_is_alone(op); end++) {
    const tape_op *next = p->op.at[end];
    if (next->level != op->level || tc_tape_is_alone(next) || next->device != op->device) break;
  }
  return (tape_subgraph){first, end - first};
}

bool tc_plan_make(tape_plan *p, tape_value *y) {
  return collect(p, y) && sort(p, by_depth) && prune(p) && reindex(p) && sort(p, by_subgraph);
}

void tc_plan_free(tape_plan *p) {
  for (size_t k = 0; k < p->op.n; k++) tc_tape_op_unref(p->op.at[k]);
  for (size_t k = 0; k < p->grad.n; k++) tc_free(p->grad.at[k].sum);
  free(p->op.at);
  free(p->grad.at);
  tc_table_free(&p->op_index);
  tc_table_free(&p->grad_index);
}

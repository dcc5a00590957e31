/* canonical.c - values and buffers of a kernel numbered in the order in which its actions take
 * them, and factors and summands in an order that depends on what they are, so that equal kernels
 * are equal number by number, whatever they were made beside. */
#include "lower/lowering.h"

#include <string.h>

typedef struct copy {
  lo *L;
  const tc_kernel *from;
  tc_kernel to;
  uint32_t *value, *buffer; /* the new number of each; 0: none yet.  Of buffers, plus 1 */
  /* per value: a hash of what it is made of, but for arrays, sizes and numbers */
  uint64_t *key;
} copy;

static tc_val value_of(copy *c, tc_val v);

static uint32_t buffer_of(copy *c, uint32_t b) {
  if (!c->buffer[b]) {
    c->to.buffer[c->to.nbuffer] = c->from->buffer[b];
    if (c->from->base) c->to.base[c->to.nbuffer] = c->from->base[b];
    c->buffer[b] = ++c->to.nbuffer;
  }
  return c->buffer[b] - 1;
}

static void take_address(copy *c, tc_address *a) {
  for (int t = 0; t < a->nterm; t++) a->term[t].value = value_of(c, a->term[t].value);
}

static uint64_t key_of(const copy *c, const tc_expr *e) {
  const uint64_t parts[] = {e->kind, e->op, e->dtype, e->kind == TC_EX_SCALAR ? e->index : 0,
                            c->key[e->in[0].id], c->key[e->in[1].id], c->key[e->in[2].id]};
  return tc_hash(parts, sizeof parts, 0);
}

/* The larger key first.  Of two sums, the order decides which product is rounded. */
static void order_operands(const copy *c, tc_expr *e) {
  const tc_val a = e->in[0], b = e->in[1];
  const bool leaf = c->from->expr[a.id].kind != TC_EX_OP || c->from->expr[b.id].kind != TC_EX_OP;
  if (e->kind != TC_EX_OP || !tc_op_get(e->op)->commutes || (e->op == OP_ADD && !leaf)) return;
  if (c->key[a.id] >= c->key[b.id]) return;
  e->in[0] = b;
  e->in[1] = a;
}

static tc_val value_of(copy *c, tc_val v) {
  if (!v.id || c->value[v.id]) return (tc_val){c->value[v.id]};
  tc_expr e = c->from->expr[v.id];
  order_operands(c, &e);
  for (int i = 0; i < 3; i++) e.in[i] = value_of(c, e.in[i]);
  e.guard = value_of(c, e.guard);
  if (e.kind == TC_EX_LOAD || e.kind == TC_EX_INDEX || e.kind == TC_EX_RANDOM)
    take_address(c, &e.address);
  if (e.kind == TC_EX_LOAD) e.buffer = buffer_of(c, e.buffer);
  c->to.expr[c->to.nexpr] = e;
  c->value[v.id] = c->to.nexpr++;
  return (tc_val){c->value[v.id]};
}

static tc_action *take_actions(copy *c, const tc_action *action, uint32_t n) {
  tc_action *to = lo_alloc(c->L, c->L->arena, (n + 1) * sizeof *to);
  memcpy(to, action, n * sizeof *to);
  for (uint32_t i = 0; i < n; i++) {
    const bool stores = to[i].kind == TC_ACT_STORE || to[i].kind == TC_ACT_ADD;
    to[i].value = value_of(c, to[i].value);
    for (int k = 0; k + 1 < TC_MAX_ACCUMULATORS; k++)
      to[i].further[k] = value_of(c, to[i].further[k]);
    to[i].term = value_of(c, to[i].term);
    to[i].guard = value_of(c, to[i].guard);
    if (stores) take_address(c, &to[i].address);
    if (stores) to[i].buffer = buffer_of(c, to[i].buffer);
  }
  return to;
}

static void take_stage(copy *c, tc_stage *s) {
  s->skip_if = value_of(c, s->skip_if);
  s->skip_value = value_of(c, s->skip_value);
  s->action = take_actions(c, s->action, s->naction);
  if (s->if_skipped) s->if_skipped = take_actions(c, s->if_skipped, s->naction);
}

static void take_nest(copy *c, tc_nest *n) {
  tc_stage *stage = lo_alloc(c->L, c->L->arena, (tc_nest_stages(n) + 1) * sizeof *stage);
  memcpy(stage, n->stage, tc_nest_stages(n) * sizeof *stage);
  n->stage = stage;
  for (uint32_t s = 0; s < tc_nest_stages(n); s++) take_stage(c, &stage[s]);
}

/* requires: a kernel of nests.  Its own memory stays as it is; values that no action takes are left
 * out. */
tc_kernel lo_canonical(lo *L, const tc_kernel *k) {
  copy c = {.L = L, .from = k, .to = *k};
  c.value = lo_alloc(L, L->scratch, (k->nexpr + 1) * sizeof *c.value);
  c.buffer = lo_alloc(L, L->scratch, (k->nbuffer + 1) * sizeof *c.buffer);
  c.to.expr = lo_alloc(L, L->arena, (k->nexpr + 1) * sizeof *c.to.expr);
  c.to.buffer = lo_alloc(L, L->arena, (k->nbuffer + 1) * sizeof *c.to.buffer);
  if (k->base) c.to.base = lo_alloc(L, L->arena, (k->nbuffer + 1) * sizeof *c.to.base);
  c.to.nest = lo_alloc(L, L->arena, (k->nnest + 1) * sizeof *c.to.nest);
  c.key = lo_alloc(L, L->scratch, (k->nexpr + 1) * sizeof *c.key);
  for (uint32_t i = 1; i < k->nexpr; i++) {
    tc_expr e = k->expr[i];
    order_operands(&c, &e);
    c.key[i] = key_of(&c, &e);
  }
  c.to.nexpr = 1;
  c.to.nbuffer = 0;
  memcpy(c.to.nest, k->nest, k->nnest * sizeof *c.to.nest);
  for (uint32_t n = 0; n < k->nnest; n++) take_nest(&c, &c.to.nest[n]);
  return c.to;
}

/* recompute_rows.c - a kernel without LOCAL rows: what a later stage reads from one is computed again, from
 * arrays that nobody has written meanwhile.  For rows of any length: on a GPU the arithmetic is
 * free while memory is waited for, and the second read of a row finds it in a cache. */
#include "backends/cuda/schedule/facts.h"

#include <string.h>

typedef struct copier {
  const tc_kernel *k;
  const tc_program *p;
  tc_expr *expr;
  uint32_t n;
  uint32_t *to;   /* per expression of k: its number in the copy, 0: not copied yet */
  uint32_t *from; /* and of the copy: its number in k */
} copier;

static bool is_local(const copier *c, uint32_t buffer) {
  return c->p->buffer[c->k->buffer[buffer]].kind == TC_BUF_LOCAL;
}

/* The value that the kernel stores to LOCAL buffer b. */
static uint32_t stored(const copier *c, uint32_t b) {
  for (uint32_t n = 0; n < c->k->nnest; ++n)
    for (uint32_t s = 0; s < c->k->nest[n].nstage; ++s)
      for (uint32_t i = 0; i < c->k->nest[n].stage[s].naction; ++i) {
        const tc_action *a = &c->k->nest[n].stage[s].action[i];
        if (a->kind == TC_ACT_STORE && a->buffer == b) return a->value.id;
      }
  return 0;
}

static void move(copier *c, tc_val *v);

/* Operands first, so that they have smaller numbers. */
static uint32_t copied(copier *c, uint32_t id) {
  if (!id || c->to[id]) return c->to[id];
  tc_expr e = c->k->expr[id];
  if (e.kind == TC_EX_LOAD && is_local(c, e.buffer)) {
    c->to[id] = copied(c, stored(c, e.buffer));
    return c->to[id];
  }
  for (int i = 0; i < 3; ++i) move(c, &e.in[i]);
  move(c, &e.guard);
  for (int t = 0; t < e.address.nterm; ++t) move(c, &e.address.term[t].value);
  c->expr[c->n] = e;
  c->from[c->n] = id;
  c->to[id] = c->n++;
  return c->to[id];
}

static void move(copier *c, tc_val *v) { v->id = copied(c, v->id); }

static void copy_stage(copier *c, const tc_stage *from, tc_stage *to, tc_action *action) {
  *to = (tc_stage){.axes = from->axes, .action = action};
  for (uint32_t i = 0; i < from->naction; ++i) {
    tc_action a = from->action[i];
    if (a.kind == TC_ACT_STORE && is_local(c, a.buffer)) continue;
    move(c, &a.value);
    for (int j = 0; j + 1 < TC_MAX_ACCUMULATORS; ++j) move(c, &a.further[j]);
    move(c, &a.guard);
    for (int t = 0; t < a.address.nterm; ++t) move(c, &a.address.term[t].value);
    action[to->naction++] = a;
  }
}

static bool copy_nest(copier *c, const tc_nest *from, tc_nest *to, tc_arena *arena) {
  *to = *from;
  to->stage = tc_arena_alloc(arena, (from->nstage + 1) * sizeof *to->stage);
  if (!to->stage) return false;
  for (uint32_t s = 0; s < from->nstage; ++s) {
    tc_action *action = tc_arena_alloc(arena, (from->stage[s].naction + 1) * sizeof *action);
    if (!action) return false;
    copy_stage(c, &from->stage[s], &to->stage[s], action);
  }
  return true;
}

static bool copy_kernel(copier *c, tc_kernel *out, tc_arena *arena) {
  const tc_kernel *k = c->k;
  c->expr = out->expr = tc_arena_alloc(arena, (k->nexpr + 1) * sizeof *c->expr);
  c->to = tc_arena_alloc(arena, (k->nexpr + 1) * sizeof *c->to);
  c->from = tc_arena_alloc(arena, (k->nexpr + 1) * sizeof *c->from);
  out->nest = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *out->nest);
  if (!c->expr || !c->to || !c->from || !out->nest) return false;
  for (uint32_t n = 0; n < k->nnest; ++n)
    if (!copy_nest(c, &k->nest[n], &out->nest[n], arena)) return false;
  out->nexpr = c->n;
  return true;
}

bool tc_cuda_without_rows(const tc_kernel *k, const tc_program *p, tc_cuda_plain *out,
                          tc_arena *arena) {
  copier c = {.k = k, .p = p, .n = 1};
  *out = (tc_cuda_plain){.kernel = *k};
  if (!tc_cuda_has_rows(k, p)) return true;
  const bool ok = copy_kernel(&c, &out->kernel, arena);
  out->from = c.from;
  return ok;
}

/* distribute_scale.c - (x - m) * r as x * r - m * r: one multiply-add at each point, and m * r once
 * a row.
 *
 * The result changes by the rounding of m * r.  Where r is the reciprocal of a deviation that is at
 * least half of the mean, as it is where the second pass of a variance was skipped
 * (single_pass_variance.c), that is far below the rounding of a 16-bit store, and only there it is
 * done. */
#include "lower/lowering.h"

typedef struct distribution {
  lo_kb *b;
  tc_val difference; /* x - m */
  uint32_t result;   /* the variance */
  bool *follows;     /* per expression: made of that result */
  uint32_t *to;      /* per expression: what takes its place */
} distribution;

static bool is_16_bits(const lo_kb *b, const tc_action *a) {
  return tc_dtype_is_half(b->L->p->buffer[b->k->buffer[a->buffer]].dtype);
}

static void follow(distribution *f, uint32_t id) {
  const tc_expr *e = &f->b->k->expr[id];
  f->follows[id] = e->kind == TC_EX_RESULT && e->index == f->result;
  for (int i = 0; i < 3; i++) f->follows[id] |= f->follows[e->in[i].id];
}

/* The reciprocal of the deviation, one for each row. */
static bool is_scale(const distribution *f, tc_val v) {
  const tc_expr *e = &f->b->k->expr[v.id];
  return e->kind == TC_EX_OP && e->op == OP_RSQRT && f->follows[v.id] &&
         !(f->b->axes[v.id] & lo_sequential_slots(f->b));
}

static tc_val scaled_difference(distribution *f, tc_val scale, tc_loc loc) {
  const tc_expr d = f->b->k->expr[f->difference.id];
  const tc_val x = lo_op(f->b, OP_MUL, d.dtype, d.in[0], scale, (tc_val){0}, loc);
  const tc_val m = lo_op(f->b, OP_MUL, d.dtype, d.in[1], scale, (tc_val){0}, loc);
  return lo_op(f->b, OP_SUB, d.dtype, x, m, (tc_val){0}, loc);
}

static uint32_t distributed(distribution *f, uint32_t id) {
  tc_expr e = f->b->k->expr[id];
  bool changed = false;
  for (int i = 0; e.kind == TC_EX_OP && e.op == OP_MUL && i < 2; i++)
    if (e.in[i].id == f->difference.id && is_scale(f, e.in[!i]))
      return scaled_difference(f, e.in[!i], e.loc).id;
  if (e.kind != TC_EX_OP && e.kind != TC_EX_CAST && e.kind != TC_EX_ROUND) return id;
  for (int i = 0; i < 3; i++) {
    changed |= f->to[e.in[i].id] != e.in[i].id;
    e.in[i].id = f->to[e.in[i].id];
  }
  return changed ? lo_expr(f->b, &e).id : id;
}

void lo_distribute_scale(lo_kb *b, tc_val difference, uint32_t result) {
  const uint32_t end = b->k->nexpr;
  distribution f = {.b = b, .difference = difference, .result = result};
  f.follows = lo_alloc(b->L, b->L->scratch, end * sizeof *f.follows);
  f.to = lo_alloc(b->L, b->L->scratch, end * sizeof *f.to);
  f.follows[0] = false;
  f.to[0] = 0;
  for (uint32_t id = b->first; id < end; id++) {
    follow(&f, id);
    f.to[id] = distributed(&f, id);
  }
  for (uint32_t i = 0; i < b->nact; i++) {
    lo_act *a = &b->act[i];
    if (a->a.kind != TC_ACT_STORE || !a->axes || !is_16_bits(b, &a->a)) continue;
    if (a->a.value.id >= end || f.to[a->a.value.id] == a->a.value.id) continue;
    a->if_skipped = (tc_val){f.to[a->a.value.id]};
    a->skipped = result;
  }
}

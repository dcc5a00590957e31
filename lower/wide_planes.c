/* wide_planes.c - arrays of one plane (outer_fusion.c) of f16 or bf16 whose windows are read have elements of f32.
 *
 * A padded plane has each element read once for each of the windows that it is in, and each time it would be converted.  The
 * plane is in the near caches either way, and what is stored in it is a number of its type as it is: so nothing is rounded
 * otherwise.  Elements that are not neighbours in a vector stay narrow: fewer of them come from more lines. */
#include "lower/lowering.h"

#include <math.h>

enum { LARGE = 4 /* elements of a window that are worth twice the memory */ };

typedef struct plane {
  const lo *L;
  const tc_kernel *k;
  uint32_t argument;
  tc_dtype dtype;
} plane;

static bool is_of(const plane *x, const tc_expr *e) {
  return e->kind == TC_EX_LOAD && e->buffer == x->argument;
}

/* Is the value one of the narrow type? */
static bool is_narrow(const plane *x, tc_val v) {
  const tc_expr *e = &x->k->expr[v.id];
  if (e->kind == TC_EX_CONST) return e->f == 0 || isinf(e->f);
  if (e->kind == TC_EX_ROUND) return e->storage == x->dtype;
  return e->kind == TC_EX_LOAD && x->L->p->buffer[x->k->buffer[e->buffer]].dtype == x->dtype;
}

static bool stores_narrow(const plane *x, const tc_action *a) {
  const bool to = (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) && a->buffer == x->argument;
  return !to || (a->kind == TC_ACT_STORE && is_narrow(x, a->value));
}

static bool all_are_narrow(const plane *x) {
  for (const tc_nest *n = x->k->nest; n < x->k->nest + x->k->nnest; n++)
    for (const tc_stage *s = n->stage; s < n->stage + n->nstage; s++)
      for (uint32_t a = 0; a < s->naction; a++)
        if (!stores_narrow(x, &s->action[a])) return false;
  return true;
}

/* Elements of the plane that each result of the nest is made of, as far as that is known. */
static int64_t window_of(const tc_nest *n, const tc_expr *e) {
  int64_t all = 1;
  for (int i = n->nparallel; i < n->naxis; i++)
    if (!tc_dim_is(e->address.coef[i], 0) && tc_dim_is_const(n->axis[i].extent)) all *= tc_dim_value(n->axis[i].extent);
  return all;
}

/* The largest window that the nest reads.  false in *even: elements that are no neighbours. */
static int64_t largest_window(lo *L, const plane *x, const tc_nest *n, bool *even) {
  uint8_t *used = lo_alloc(L, L->scratch, x->k->nexpr + 1u);
  int64_t most = 0;
  for (const tc_stage *s = n->stage; s < n->stage + n->nstage; s++) tc_mark_stage(s, used);
  tc_mark_operands(x->k, used);
  for (uint32_t id = 1; id < x->k->nexpr; id++) {
    const tc_expr *e = &x->k->expr[id];
    if (!used[id] || !is_of(x, e)) continue;
    *even = *even && n->vector >= 0 && !e->address.nterm && tc_dim_is(e->address.coef[n->vector], 1);
    const int64_t window = window_of(n, e);
    if (window > most) most = window;
  }
  return most;
}

static bool is_better_wide(lo *L, const plane *x) {
  bool even = true, large = false;
  for (const tc_nest *n = x->k->nest; n < x->k->nest + x->k->nnest; n++)
    large |= largest_window(L, x, n, &even) >= LARGE;
  return large && even;
}

void lo_widen_planes(lo *L, const tc_kernel *k) {
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    tc_buffer *b = &L->p->buffer[k->buffer[i]];
    const plane x = {L, k, i, b->dtype};
    if (b->kind != TC_BUF_PRIVATE || (b->dtype != TC_F16 && b->dtype != TC_BF16)) continue;
    if (all_are_narrow(&x) && is_better_wide(L, &x)) b->dtype = b->type.dtype = TC_F32;
  }
}

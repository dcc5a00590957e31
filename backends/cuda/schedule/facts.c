/* facts.c - see facts.h. */
#include "backends/cuda/schedule/facts.h"

#include "backends/print/print.h"

#include <stdlib.h>
#include <string.h>

bool tc_cuda_is_store(const tc_action *a) {
  return a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD;
}

bool tc_cuda_is_local(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  return p->buffer[k->buffer[buffer]].kind == TC_BUF_LOCAL;
}

bool tc_cuda_has_kind(const tc_nest *n, tc_act_kind kind) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t a = 0; a < n->stage[s].naction; ++a)
      if (n->stage[s].action[a].kind == kind) return true;
  return false;
}

bool tc_cuda_has_tuples(const tc_nest *n) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t a = 0; a < n->stage[s].naction; ++a)
      if (n->stage[s].action[a].kind == TC_ACT_REDUCE && tc_print_is_tuple(&n->stage[s].action[a]))
        return true;
  return false;
}

/* A place of the axis, or one that a constant is added to. */
static bool is_place(const tc_expr *e, int axis) {
  return e->kind == TC_EX_INDEX && !e->address.nterm && tc_dim_is(e->address.coef[axis], 1);
}

bool tc_cuda_finds_places(const tc_kernel *k, const tc_nest *n, const tc_stage *st) {
  bool any = false;
  if (n->serial || !st->axes || st->axes & (st->axes - 1)) return false;
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind == TC_ACT_SCAN) return false;
    if (a->kind != TC_ACT_REDUCE || !tc_print_is_tuple(a)) continue;
    if (!tc_reducer_has_later(a->reducer) ||
        !is_place(&k->expr[a->further[0].id], __builtin_ctz(st->axes)))
      return false;
    any = true;
  }
  return any;
}

tc_cuda_form tc_cuda_form_of(const tc_nest *n) {
  if (n->serial) return TC_CUDA_SERIAL;
  if (!tc_cuda_has_kind(n, TC_ACT_REDUCE) && !tc_cuda_has_kind(n, TC_ACT_SCAN) && n->nstage <= 1)
    return TC_CUDA_FLAT;
  return n->vector >= 0 && n->vector < n->nparallel ? TC_CUDA_COLUMNS : TC_CUDA_ROWS;
}

bool tc_cuda_is_pass(const tc_nest *n, const tc_stage *st) {
  const uint32_t sequential = ((1u << n->naxis) - 1) & ~((1u << n->nparallel) - 1);
  return sequential && st->axes == sequential;
}

void tc_cuda_mark_stage(const tc_kernel *k, const tc_stage *st, uint8_t *need) {
  for (uint32_t i = 0; i < st->naction; ++i) tc_mark_action(&st->action[i], need);
  tc_mark_operands(k, need);
}

void tc_cuda_mark(const tc_kernel *k, const tc_nest *n, uint8_t *need) {
  for (uint32_t s = 0; s < n->nstage; ++s) tc_cuda_mark_stage(k, &n->stage[s], need);
}

bool tc_cuda_loads(const tc_kernel *k, const uint8_t *need, uint32_t buffer) {
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (need[i] && k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == buffer) return true;
  return false;
}

tc_dim tc_cuda_points(const tc_program *p, const tc_nest *n, int from, int to) {
  tc_dim d = tc_dim_const(1);
  for (int i = from; i < to; ++i) d = tc_dim_mul(tc_graph_dims(p->graph), d, n->axis[i].extent);
  return d;
}

/* Addresses without a buffer (positions) and constants in them may be larger than any buffer. */
/* How often the stages pass over a row that is not kept. */
int tc_cuda_count_passes(const tc_nest *n) {
  const tc_nest streamed = tc_nest_streamed(n);
  int passes = 0;
  for (uint32_t s = 0; s < streamed.nstage; ++s) passes += tc_cuda_is_pass(n, &streamed.stage[s]);
  return passes;
}

bool tc_cuda_changes(const tc_nest *n, const tc_address *a) {
  bool changes = !n->nparallel || a->nterm;
  for (int i = 0; i < n->nparallel; ++i) changes |= !tc_dim_is(a->coef[i], 0);
  return changes;
}

bool tc_cuda_is_far(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                    const uint8_t *need) {
  enum { NEAR = 1 << 24 };
  tc_dims *c = tc_graph_dims(p->graph);
  if (tc_dim_bad(tc_cuda_points(p, n, 0, n->nparallel)) ||
      tc_dim_bad(tc_cuda_points(p, n, n->nparallel, n->naxis)))
    return true;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_address *a = &k->expr[i].address;
    if (!need[i] || k->expr[i].kind != TC_EX_INDEX) continue;
    for (int j = -1; j < n->naxis; ++j) {
      const tc_dim d = j < 0 ? a->offset : a->coef[j];
      int64_t lo, hi;
      tc_dim_range(c, d, &lo, &hi);
      if (tc_dim_is_const(d) && (lo < -NEAR || hi > NEAR)) return true;
    }
  }
  return false;
}

static bool is_strided(const tc_address *a, int axis) {
  return !tc_dim_is(a->coef[axis], 1) && !tc_dim_is(a->coef[axis], 0);
}

bool tc_cuda_crosses(const tc_expr *e, int along, int across) {
  return e->kind == TC_EX_LOAD && !e->guard.id && !e->address.nterm &&
         is_strided(&e->address, along) && tc_dim_is(e->address.coef[across], 1);
}

bool tc_cuda_covers(const tc_nest *n, const tc_address *a) {
  for (int i = 0; i < n->naxis; ++i)
    if (tc_dim_is(a->coef[i], 0) && !tc_dim_is(n->axis[i].extent, 1)) return false;
  return !a->nterm;
}

bool tc_cuda_writes_all(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                        const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind == TC_ACT_STORE && !tc_cuda_is_local(k, p, a->buffer) &&
        tc_cuda_covers(n, &a->address))
      return true;
  }
  return false;
}

uint32_t *tc_cuda_depends(const tc_kernel *k, const tc_nest *n) {
  uint32_t most = 0; /* expressions of the other nests name results too */
  for (uint32_t i = 0; i < k->nnest; ++i)
    if (k->nest[i].nresult > most) most = k->nest[i].nresult;
  uint32_t *results = calloc(most + 1, sizeof *results),
           *depends = calloc(k->nexpr + 1, sizeof *depends);
  if (results && depends) {
    tc_print_result_axes(n, results);
    tc_print_depends(k, results, depends);
  }
  free(results);
  if (results) return depends;
  free(depends);
  return NULL;
}

uint32_t tc_cuda_slice_axes(const tc_nest *n) {
  uint32_t m = (1u << n->naxis) - 1;
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      for (int a = 0; a < n->naxis; ++a)
        if (tc_dim_is(n->stage[s].action[i].address.coef[a], 0)) m &= ~(1u << a);
  return m;
}

uint32_t tc_cuda_index_axes(const tc_nest *n, const uint32_t *depends) {
  const tc_action *a = n->stage->action;
  return depends[a->address.term[0].value.id] | depends[a->guard.id];
}

bool tc_cuda_scatters(const tc_kernel *k, const tc_nest *n, const uint8_t *need) {
  if (!n->serial || n->nstage != 1 || n->stage->naction != 1) return false;
  const tc_action *a = n->stage->action;
  if (!tc_cuda_is_store(a) || a->address.nterm != 1) return false;
  return !tc_cuda_loads(k, need, a->buffer);
}

/* The last stage that reads row `buffer`. */
static uint32_t last_reader(const tc_kernel *k, const tc_nest *n, uint32_t buffer, uint8_t *need) {
  uint32_t last = 0;
  for (uint32_t s = 0; s < n->nstage; ++s) {
    memset(need, 0, k->nexpr + 1);
    tc_cuda_mark_stage(k, &n->stage[s], need);
    if (tc_cuda_loads(k, need, buffer)) last = s;
  }
  return last;
}

/* A row may take the place of one that is read for the last time where it is stored. */
int tc_cuda_count_rows(const tc_kernel *k, const tc_program *p, const tc_nest *n, uint8_t *need) {
  int most = 0;
  int *live = calloc(n->nstage + 1, sizeof *live);
  for (uint32_t s = 0; live && s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      if (a->kind != TC_ACT_STORE || !tc_cuda_is_local(k, p, a->buffer)) continue;
      const int words = tc_dtype_bytes(p->buffer[k->buffer[a->buffer]].dtype) == 8 ? 2 : 1;
      const uint32_t last = last_reader(k, n, a->buffer, need);
      for (uint32_t t = s; t < last; ++t) live[t] += words;
    }
  for (uint32_t s = 0; live && s < n->nstage; ++s) most = live[s] > most ? live[s] : most;
  free(live);
  return most;
}

/* Is it made of places and sizes alone?  -1: out of memory. */
static int is_of_places(const tc_kernel *k, tc_val guard) {
  if (!guard.id) return 1;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) return -1;
  need[guard.id] = 1;
  tc_mark_operands(k, need);
  bool places = true;
  for (uint32_t i = 1; i < k->nexpr; ++i)
    places &= !need[i] || (k->expr[i].kind != TC_EX_LOAD && k->expr[i].kind != TC_EX_RANDOM &&
                           !k->expr[i].address.nterm);
  free(need);
  return places;
}

int tc_cuda_is_plain(const tc_kernel *k, const tc_program *p, tc_val v) {
  const tc_expr *e = &k->expr[v.id];
  if (e->kind != TC_EX_LOAD || e->address.nterm ||
      p->buffer[k->buffer[e->buffer]].dtype != k->mm.operand)
    return 0;
  return is_of_places(k, e->guard);
}

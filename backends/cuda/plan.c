/* plan.c - what form a nest takes, how wide its accesses are, what its threads keep. */
#include "backends/cuda/nest.h"

#include <stdlib.h>
#include <string.h>

static bool has_kind(const tc_nest *n, tc_act_kind kind) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t a = 0; a < n->stage[s].naction; ++a)
      if (n->stage[s].action[a].kind == kind) return true;
  return false;
}

static bool is_store(const tc_action *a) {
  return a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD;
}

static bool is_local(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  return p->buffer[k->buffer[buffer]].kind == TC_BUF_LOCAL;
}

bool tc_cuda_has_rows(const tc_kernel *k, const tc_program *p) {
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (is_local(k, p, i)) return true;
  return false;
}

static tc_cuda_kind kind_of(const tc_nest *n) {
  if (n->serial) return TC_CUDA_SERIAL;
  if (!has_kind(n, TC_ACT_REDUCE) && !has_kind(n, TC_ACT_SCAN) && n->nstage <= 1)
    return TC_CUDA_FLAT;
  return n->vector >= 0 && n->vector < n->nouter ? TC_CUDA_COLUMNS : TC_CUDA_ROWS;
}

/* ---- what a nest is made of
 * ---------------------------------------------------------------------- */

/* Marks the expressions that the nest's actions need. */
static void mark(const tc_kernel *k, const tc_nest *n, uint8_t *need) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      need[a->value.id] = need[a->position.id] = need[a->guard.id] = 1;
      for (int t = 0; is_store(a) && t < a->address.nterm; ++t)
        need[a->address.term[t].value.id] = 1;
    }
  tc_print_mark(k, need);
  need[0] = 0;
}

/* One access of TC_L neighbours. */
typedef struct access {
  const tc_address *address;
  uint32_t buffer;
} access;

typedef struct visit {
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *n;
  void (*f)(struct visit *, access);
  int lanes, least, vectors;
  const tc_cuda_plan *plan;
  tc_buf *out;
} visit;

static void each_wide(visit *v, const uint8_t *need) {
  const int axis = v->n->vector;
  if (axis < 0) return;
  for (uint32_t i = 1; i < v->k->nexpr; ++i) {
    const tc_expr *e = &v->k->expr[i];
    if (need[i] && e->kind == TC_EX_LOAD && !e->guard.id && !is_local(v->k, v->p, e->buffer) &&
        tc_dim_is(e->address.coef[axis], 1))
      v->f(v, (access){&e->address, e->buffer});
  }
  for (uint32_t s = 0; s < v->n->nstage; ++s)
    for (uint32_t i = 0; i < v->n->stage[s].naction; ++i) {
      const tc_action *a = &v->n->stage[s].action[i];
      if (is_store(a) && !a->guard.id && !is_local(v->k, v->p, a->buffer) &&
          tc_dim_is(a->address.coef[axis], 1))
        v->f(v, (access){&a->address, a->buffer});
    }
}

static size_t element(const visit *v, uint32_t buffer) {
  return tc_dtype_bytes(v->p->buffer[v->k->buffer[buffer]].dtype);
}

/* ---- lanes
 * ------------------------------------------------------------------------------------------ */

static void narrowest(visit *v, access a) {
  const int bytes = (int)element(v, a.buffer);
  ++v->vectors;
  if (bytes > 1 && (v->least == 0 || bytes < v->least)) v->least = bytes;
}

/* The largest power of 2 up to `lanes` that a size may be a multiple of. */
static int fitting(tc_dims *c, tc_dim d, int lanes) {
  if (tc_dim_is(d, 0)) return lanes;
  const int64_t multiple = tc_dim_multiple(c, d);
  if (!tc_dim_is_const(d) && multiple % 2 != 0) return lanes; /* the launcher asks */
  while (lanes > 1 && (tc_dim_is_const(d) ? tc_dim_value(d) : multiple) % lanes != 0 &&
         tc_dim_is_const(d))
    lanes /= 2;
  return lanes;
}

static void each_step(const visit *v, const tc_address *a, void (*f)(visit *, tc_dim), visit *arg) {
  f(arg, a->offset);
  for (int i = 0; i < v->n->naxis; ++i)
    if (i != v->n->vector) f(arg, a->coef[i]);
  for (int t = 0; t < a->nterm; ++t) f(arg, a->term[t].stride);
}

static void fit(visit *v, tc_dim d) { v->lanes = fitting(tc_graph_dims(v->p->graph), d, v->lanes); }
static void fit_access(visit *v, access a) { each_step(v, a.address, fit, v); }

static int choose_lanes(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                        const uint8_t *need) {
  visit v = {.k = k, .p = p, .n = n, .f = narrowest};
  each_wide(&v, need);
  if (!v.vectors) return 1;
  v.lanes = v.least ? 16 / v.least : 8;
  v.f = fit_access;
  each_wide(&v, need);
  const tc_axis *axis = &n->axis[n->vector];
  fit(&v, axis->extent);
  if (axis->of >= 0) fit(&v, axis->total);
  return v.lanes;
}

/* ---- conditions of the wide function
 * ---------------------------------------------------------------- */

static void put_divides(visit *v, tc_dim d) {
  tc_dims *c = tc_graph_dims(v->p->graph);
  if (tc_dim_is(d, 0) || tc_dim_multiple(c, d) % v->lanes == 0) return;
  tc_buf t = {0};
  tc_print_dim(v->p, d, &t);
  tc_buf whole = {0};
  tc_putf(&whole, " && (%s) %% %d == 0", t.text, v->lanes);
  if (!v->out->text || !strstr(v->out->text, whole.text)) tc_put(v->out, whole.text);
  tc_buf_free(&t);
  tc_buf_free(&whole);
}

static void put_aligned(visit *v, access a) {
  each_step(v, a.address, put_divides, v);
  const size_t bytes = element(v, a.buffer) * (size_t)v->lanes;
  tc_buf t = {0};
  tc_putf(&t, " && (uintptr_t)buf[%u] %% %zu == 0", a.buffer, bytes < 16 ? bytes : (size_t)16);
  if (bytes > 1 && (!v->out->text || !strstr(v->out->text, t.text))) tc_put(v->out, t.text);
  tc_buf_free(&t);
}

static void put_small(const tc_program *p, tc_dim numel, tc_buf *out) {
  enum { SMALL = 0x3f000000 }; /* twice that, and what a grid goes past it, fits an int */
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(p->graph), numel, &lo, &hi);
  if (hi < SMALL) return;
  tc_buf t = {0};
  tc_putf(&t, " && ");
  tc_print_dim(p, numel, &t);
  tc_putf(&t, " < %d", SMALL);
  if (!out->text || !strstr(out->text, t.text)) tc_put(out, t.text);
  tc_buf_free(&t);
}

static tc_dim product(const tc_program *p, const tc_nest *n, int from, int to) {
  tc_dim d = tc_dim_const(1);
  for (int i = from; i < to; ++i) d = tc_dim_mul(tc_graph_dims(p->graph), d, n->axis[i].extent);
  return d;
}

void tc_cuda_put_conditions(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                            const tc_cuda_plan *plan, bool points, tc_buf *out) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) {
    out->failed = true;
    return;
  }
  mark(k, n, need);
  visit v = {.k = k, .p = p, .n = n, .f = put_aligned, .lanes = plan->lanes, .out = out};
  if (plan->lanes > 1) {
    each_wide(&v, need);
    put_divides(&v, n->axis[n->vector].extent);
    if (n->axis[n->vector].of >= 0) put_divides(&v, n->axis[n->vector].total);
  }
  if (!plan->far) {
    const bool flat = plan->kind == TC_CUDA_FLAT || plan->kind == TC_CUDA_TILES;
    const int cut = flat ? n->naxis : n->nouter; /* what is counted together */
    if (points) put_small(p, product(p, n, 0, cut), out);
    if (points) put_small(p, product(p, n, cut, n->naxis), out);
    for (uint32_t i = 0; i < k->nbuffer; ++i) put_small(p, p->buffer[k->buffer[i]].numel, out);
  }
  free(need);
}

/* ---- sizes of what threads do
 * ------------------------------------------------------------------------ */

/* Addresses without a buffer (positions) and constants in them may be larger than any buffer. */
static bool is_far(const tc_kernel *k, const tc_program *p, const tc_nest *n, const uint8_t *need) {
  enum { NEAR = 1 << 24 };
  tc_dims *c = tc_graph_dims(p->graph);
  if (tc_dim_bad(product(p, n, 0, n->nouter)) || tc_dim_bad(product(p, n, n->nouter, n->naxis)))
    return true;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_address *a = &k->expr[i].address;
    if (!need[i] || k->expr[i].kind != TC_EX_INDEX) continue;
    const tc_dim d[2] = {a->offset, tc_dim_const(0)};
    for (int j = -1; j < n->naxis; ++j) {
      int64_t lo, hi;
      tc_dim_range(c, j < 0 ? d[0] : a->coef[j], &lo, &hi);
      if (tc_dim_is_const(j < 0 ? d[0] : a->coef[j]) && (lo < -NEAR || hi > NEAR)) return true;
    }
  }
  return false;
}

/* 32-bit registers that the loads of one item take, roughly. */
static int load_registers(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                          const uint8_t *need, int lanes) {
  int r = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    if (!need[i] || e->kind != TC_EX_LOAD || is_local(k, p, e->buffer)) continue;
    const bool wide = n->vector >= 0 && !tc_dim_is(e->address.coef[n->vector], 0);
    r += (wide ? lanes : 1) * (e->dtype == TC_F64 || e->dtype == TC_I64 ? 2 : 1);
  }
  return r;
}

static int count_ops(const tc_kernel *k, const uint8_t *need) {
  int n = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) n += need[i] && k->expr[i].kind == TC_EX_OP;
  return n;
}

static int choose_unroll(int registers, int ops) {
  int u = 4;
  while (u > 1 && (u * registers > 48 || (u > 2 && ops > 12) || ops > 80)) u /= 2;
  return u;
}

bool tc_cuda_is_walked(const tc_nest *n, const tc_stage *st) {
  const uint32_t inner = ((1u << n->naxis) - 1) & ~((1u << n->nouter) - 1);
  return inner && st->axes == inner;
}

/* LOCAL rows that the nest stores, in 32-bit registers an element. */
static int count_rows(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  int rows = 0;
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      if (a->kind == TC_ACT_STORE && is_local(k, p, a->buffer))
        rows += tc_dtype_bytes(p->buffer[k->buffer[a->buffer]].dtype) == 8 ? 2 : 1;
    }
  return rows;
}

/* Items of a row: the points of the inner axes, the vector axis in steps of the lanes; -1: not
 * constant. */
static int64_t constant_items(const tc_nest *n, int lanes) {
  int64_t items = 1;
  for (int i = n->nouter; i < n->naxis; ++i) {
    if (!tc_dim_is_const(n->axis[i].extent) || n->axis[i].of >= 0) return -1;
    const int64_t e = tc_dim_value(n->axis[i].extent);
    if (e > INT32_MAX || items > INT32_MAX / (e > 0 ? e : 1)) return -1;
    items *= i == n->vector ? e / lanes : e;
  }
  return items;
}

/* Items for each thread of a team where the row is long enough: about 32 elements. */
int tc_cuda_each(const tc_cuda_plan *plan) {
  const int each = plan->scan || plan->lanes > 4 ? 4 : 8;
  return plan->kept && plan->unroll < each ? plan->unroll : each; /* it keeps no more than TC_U */
}

/* Rows in registers: how many items each thread keeps, and the size of the team where the length is
 * constant.  About 96 registers hold rows. */
static void plan_rows(tc_cuda_plan *plan, const tc_nest *n, int rows) {
  enum { REGISTERS = 96 };
  int most = REGISTERS / (rows * plan->lanes);
  while (most & (most - 1)) most &= most - 1;
  if (most > 32 / plan->lanes) most = 32 / plan->lanes;
  if (most > 16) most = 16;
  if (most < 1) return;
  const int64_t items = constant_items(n, plan->lanes);
  plan->unroll = most;
  plan->kept = true;
  if (items < 0) return;
  if (items > (int64_t)most * TC_CUDA_TEAM) {
    plan->kept = false;
    return;
  }
  const int each = tc_cuda_each(plan);
  int64_t group = 1;
  while (group < 32 && group * each < items) group *= 2;
  if (group == 32 && items > 32 * each) group = (items + each * 32 - 1) / (each * 32) * 32;
  if (group > TC_CUDA_TEAM) group = TC_CUDA_TEAM;
  plan->group = (int)group;
  plan->unroll = items ? (int)((items + group - 1) / group) : 1;
}

tc_cuda_plan tc_cuda_plan_nest(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  tc_cuda_plan plan = {
      .kind = kind_of(n), .lanes = 1, .unroll = 1, .scan = has_kind(n, TC_ACT_SCAN)};
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) return plan;
  mark(k, n, need);
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t a = 0; a < n->stage[s].naction; ++a)
      plan.args |=
          n->stage[s].action[a].kind == TC_ACT_REDUCE && tc_print_is_arg(&n->stage[s].action[a]);
  if (plan.kind == TC_CUDA_FLAT) tc_cuda_plan_tiles(k, p, n, need, &plan);
  if (plan.kind != TC_CUDA_TILES) plan.lanes = choose_lanes(k, p, n, need);
  plan.far = is_far(k, p, n, need);
  plan.unroll = choose_unroll(load_registers(k, p, n, need, plan.lanes), count_ops(k, need));
  const int rows = count_rows(k, p, n);
  if (plan.kind == TC_CUDA_ROWS && rows) plan_rows(&plan, n, rows);
  free(need);
  return plan;
}

uint32_t tc_cuda_parallel_axes(const tc_nest *n) {
  uint32_t m = (1u << n->naxis) - 1;
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      for (int a = 0; a < n->naxis; ++a)
        if (tc_dim_is(n->stage[s].action[i].address.coef[a], 0)) m &= ~(1u << a);
  return m;
}

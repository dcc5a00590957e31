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

static void mark_stage(const tc_stage *st, uint8_t *need) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    need[a->value.id] = need[a->position.id] = need[a->guard.id] = 1;
    for (int t = 0; is_store(a) && t < a->address.nterm; ++t) need[a->address.term[t].value.id] = 1;
  }
  need[0] = 0;
}

/* Marks the expressions that the nest's actions need. */
static void mark(const tc_kernel *k, const tc_nest *n, uint8_t *need) {
  for (uint32_t s = 0; s < n->nstage; ++s) mark_stage(&n->stage[s], need);
  tc_print_mark(k, need);
  need[0] = 0;
}

/* One access of TC_L neighbours along an axis. */
typedef struct access {
  const tc_address *address;
  uint32_t buffer;
  int axis;
} access;

typedef struct visit {
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *n;
  void (*f)(struct visit *, access);
  int axis, across; /* of the lanes; TILES: of the loads that fill a tile, else -1 */
  int lanes, least, vectors;
  bool odd; /* some size may not be a multiple of the lanes */
  tc_buf *out;
} visit;

static visit visit_of(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                      const tc_cuda_plan *plan) {
  const bool tiles = plan->kind == TC_CUDA_TILES;
  return (visit){.k = k,
                 .p = p,
                 .n = n,
                 .axis = tiles ? plan->along : n->vector,
                 .across = tiles ? plan->across : -1};
}

static void each_load(visit *v, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id || is_local(v->k, v->p, e->buffer)) return;
  if (tc_dim_is(e->address.coef[v->axis], 1)) v->f(v, (access){&e->address, e->buffer, v->axis});
  else if (v->across >= 0 && tc_cuda_crosses(e, v->axis, v->across))
    v->f(v, (access){&e->address, e->buffer, v->across});
}

static void each_wide(visit *v, const uint8_t *need) {
  if (v->axis < 0) return;
  for (uint32_t i = 1; i < v->k->nexpr; ++i)
    if (need[i]) each_load(v, &v->k->expr[i]);
  for (uint32_t s = 0; s < v->n->nstage; ++s)
    for (uint32_t i = 0; i < v->n->stage[s].naction; ++i) {
      const tc_action *a = &v->n->stage[s].action[i];
      if (is_store(a) && !a->guard.id && !is_local(v->k, v->p, a->buffer) &&
          tc_dim_is(a->address.coef[v->axis], 1))
        v->f(v, (access){&a->address, a->buffer, v->axis});
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

static void each_step(visit *v, access a, void (*f)(visit *, tc_dim)) {
  f(v, a.address->offset);
  for (int i = 0; i < v->n->naxis; ++i)
    if (i != a.axis) f(v, a.address->coef[i]);
  for (int t = 0; t < a.address->nterm; ++t) f(v, a.address->term[t].stride);
}

static void each_extent(visit *v, void (*f)(visit *, tc_dim)) {
  f(v, v->n->axis[v->axis].extent);
  if (v->n->axis[v->axis].of >= 0) f(v, v->n->axis[v->axis].total);
  if (v->across >= 0) f(v, v->n->axis[v->across].extent);
}

static void fit(visit *v, tc_dim d) { v->lanes = fitting(tc_graph_dims(v->p->graph), d, v->lanes); }
static void fit_access(visit *v, access a) { each_step(v, a, fit); }

static int choose_lanes(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                        const tc_cuda_plan *plan, const uint8_t *need) {
  visit v = visit_of(k, p, n, plan);
  v.f = narrowest;
  each_wide(&v, need);
  if (!v.vectors) return 1;
  v.lanes = v.least ? 16 / v.least : 8;
  v.f = fit_access;
  each_wide(&v, need);
  each_extent(&v, fit);
  return v.lanes;
}

/* ---- conditions of the wide function
 * ---------------------------------------------------------------- */

static void put_divides(visit *v, tc_dim d) {
  tc_dims *c = tc_graph_dims(v->p->graph);
  if (tc_dim_is(d, 0) || tc_dim_multiple(c, d) % v->lanes == 0) return;
  v->odd = true;
  if (!v->out) return;
  tc_buf t = {0};
  tc_print_dim(v->p, d, &t);
  tc_buf whole = {0};
  tc_putf(&whole, " && (%s) %% %d == 0", t.text, v->lanes);
  if (!v->out->text || !strstr(v->out->text, whole.text)) tc_put(v->out, whole.text);
  tc_buf_free(&t);
  tc_buf_free(&whole);
}

static void put_aligned(visit *v, access a) {
  each_step(v, a, put_divides);
  if (!v->out) return;
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

/* Visits all that 16-byte accesses depend on; out NULL: only whether sizes may forbid them. */
static bool visit_aligned(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                          const tc_cuda_plan *plan, const uint8_t *need, tc_buf *out) {
  visit v = visit_of(k, p, n, plan);
  if (plan->lanes == 1) return false;
  v.f = put_aligned;
  v.lanes = plan->lanes;
  v.out = out;
  each_wide(&v, need);
  each_extent(&v, put_divides);
  return v.odd;
}

void tc_cuda_put_aligned(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const tc_cuda_plan *plan, tc_buf *out) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) {
    out->failed = true;
    return;
  }
  mark(k, n, need);
  visit_aligned(k, p, n, plan, need, out);
  free(need);
}

void tc_cuda_put_small(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       const tc_cuda_plan *plan, bool points, tc_buf *out) {
  if (plan->far) return;
  const bool flat = plan->kind == TC_CUDA_FLAT || plan->kind == TC_CUDA_TILES;
  const int cut = flat ? n->naxis : n->nouter; /* what is counted together */
  if (points) put_small(p, product(p, n, 0, cut), out);
  if (points) put_small(p, product(p, n, cut, n->naxis), out);
  for (uint32_t i = 0; i < k->nbuffer; ++i) put_small(p, p->buffer[k->buffer[i]].numel, out);
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

/* The last stage that reads row `buffer`. */
static uint32_t last_reader(const tc_kernel *k, const tc_nest *n, uint32_t buffer, uint8_t *need) {
  uint32_t last = 0;
  for (uint32_t s = 0; s < n->nstage; ++s) {
    memset(need, 0, k->nexpr + 1);
    mark_stage(&n->stage[s], need);
    tc_print_mark(k, need);
    for (uint32_t i = 1; i < k->nexpr; ++i)
      if (need[i] && k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == buffer) last = s;
  }
  return last;
}

/* LOCAL rows that live at once between two stages, in 32-bit registers an element.  A row may take
 * the place of one that is read for the last time where it is stored. */
static int count_rows(const tc_kernel *k, const tc_program *p, const tc_nest *n, uint8_t *need) {
  int most = 0;
  int *live = calloc(n->nstage + 1, sizeof *live);
  for (uint32_t s = 0; live && s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      if (a->kind != TC_ACT_STORE || !is_local(k, p, a->buffer)) continue;
      const int words = tc_dtype_bytes(p->buffer[k->buffer[a->buffer]].dtype) == 8 ? 2 : 1;
      const uint32_t last = last_reader(k, n, a->buffer, need);
      for (uint32_t t = s; t < last; ++t) live[t] += words;
    }
  for (uint32_t s = 0; live && s < n->nstage; ++s) most = live[s] > most ? live[s] : most;
  free(live);
  return most;
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

/* ---- the functions of a nest
 * --------------------------------------------------------------------- */

static void add_form(tc_cuda_plan *plan, tc_cuda_instance f) {
  if (plan->nform < TC_CUDA_FORMS) plan->form[plan->nform++] = f;
}

/* What rows in registers depend on. */
typedef struct rows {
  int count;  /* that are alive at once, in 32-bit registers an element */
  int shared; /* loads that all rows share: they are issued ahead */
  int each;   /* elements of a row for a thread */
} rows;

/* exact: addresses and conditions are constant; halves wait in pairs for what is done with them. */
static int registers_of(const rows *r, const tc_cuda_instance *f, bool exact) {
  enum { OTHERS = 64, AHEAD = 16, HALVES = 40 };
  const int kept = r->count * f->lanes * f->unroll;
  return kept + (exact && f->lanes > 4
                     ? HALVES
                     : OTHERS + r->shared * (f->lanes < 4 ? f->lanes * 4 : AHEAD));
}

/* The largest number of items that a thread keeps: a power of 2. */
static int most_items(const rows *r, int lanes) {
  enum { REGISTERS = 96 };
  int most = REGISTERS / (r->count * lanes);
  while (most & (most - 1)) most &= most - 1;
  return most < r->each / lanes ? most : r->each / lanes;
}

/* A team of constant size that keeps rows; exact: of constant length.  Registers are given to four
 * warps at a time. */
static void keep_rows(tc_cuda_instance *f, const rows *r, int group, int unroll, bool exact) {
  enum { WARPS = 128 };
  f->kept = true;
  f->group = f->most = group;
  f->unroll = f->each = unroll;
  const int threads = group > TC_CUDA_BLOCK ? group : TC_CUDA_BLOCK;
  f->blocks = TC_CUDA_FILE / registers_of(r, f, exact) / ((threads + WARPS - 1) / WARPS * WARPS);
}

/* As tc_cuda_team in launch.c. */
static int team_of(int64_t items, int each) {
  int64_t group = 1;
  while (group < 32 && group * each < items) group *= 2;
  if (group == 32 && items > 32 * each) group = (items + each * 32 - 1) / (each * 32) * 32;
  return group > TC_CUDA_TEAM ? TC_CUDA_TEAM : (int)group;
}

/* A team for rows of `items`; more threads share a row where there are few rows. */
static int fixed_team(const tc_program *p, const tc_nest *n, int64_t items, int each) {
  enum { FULL = 128 * 1024 };
  int64_t lo, points;
  tc_dim_range(tc_graph_dims(p->graph), product(p, n, 0, n->nouter), &lo, &points);
  int group = team_of(items, each);
  while ((each /= 2) && points < FULL / group) group = team_of(items, each);
  return group;
}

/* Rows of constant length: one team, as many items as there are. */
static bool plan_fixed_rows(const tc_program *p, const tc_nest *n, const rows *r,
                            tc_cuda_plan *plan, tc_cuda_instance f) {
  enum { LEAST = 32, FEW = 2 };
  const int64_t items = constant_items(n, f.lanes);
  if (items < 0) return false;
  const int each = r->count ? most_items(r, f.lanes) : f.each;
  const int group = fixed_team(p, n, items, items <= 32 * FEW && each > FEW ? FEW : each);
  const int64_t unroll = items ? (items + group - 1) / group : 1;
  if (r->count && each && unroll <= each &&
      r->count * f.lanes * unroll + LEAST <= TC_CUDA_FILE / group)
    keep_rows(&f, r, group, (int)unroll, true);
  else f.group = f.most = group;
  add_form(plan, f);
  return true;
}

/* Teams of some sizes that keep rows of any length.  0: parts of a warp, few items a thread. */
static void add_teams(const rows *r, tc_cuda_plan *plan, const tc_cuda_instance *f, int items) {
  static const int wide[] = {0, 32, 128, 256, 512}, narrow[] = {64, 256};
  enum { FEW = 2 };
  const int n = f->wide ? 5 : 2;
  for (int i = 0; i < n; ++i) {
    const int team = f->wide ? wide[i] : narrow[i];
    tc_cuda_instance kept = *f, full = *f;
    keep_rows(&kept, r, team ? team : 32, team || items < FEW ? items : FEW, false);
    if (!kept.blocks) continue;
    if (team <= 32) kept.group = 0;
    keep_rows(&full, r, team, items, true);
    full.full = true;
    if (f->wide && kept.group) add_form(plan, full);
    add_form(plan, kept);
  }
}

/* Rows of any length: teams that keep them, and one that reads them again. */
static void plan_free_rows(const rows *r, tc_cuda_plan *plan, tc_cuda_instance f) {
  enum { AGAIN = 512 };
  const int items = r->count ? most_items(r, f.lanes) : 0;
  if (items) {
    add_teams(r, plan, &f, items);
    f.unroll = f.lanes > 4 ? 2 : 4;
    f.most = AGAIN;
  }
  add_form(plan, f);
}

/* Loads that do not change from row to row, of stages behind the first. */
static int count_shared(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                        const uint8_t *need) {
  int shared = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    bool outer = !n->nouter;
    if (!need[i] || e->kind != TC_EX_LOAD || is_local(k, p, e->buffer)) continue;
    for (int a = 0; a < n->nouter; ++a) outer |= !tc_dim_is(e->address.coef[a], 0);
    shared += !outer && n->vector >= 0 && tc_dim_is(e->address.coef[n->vector], 1);
  }
  return shared;
}

static void plan_rows(const tc_kernel *k, const tc_program *p, const tc_nest *n, uint8_t *need,
                      tc_cuda_plan *plan, tc_cuda_instance f) {
  enum { ROW = 32, PART = 16, MOST = 8 };
  const int elements = plan->scan ? PART : ROW, kept = f.wide ? elements : PART;
  const int shared = count_shared(k, p, n, need);
  const rows r = {.count = count_rows(k, p, n, need), .shared = shared, .each = kept};
  f.each = f.wide && elements / f.lanes > MOST ? MOST : elements / f.lanes;
  if (!f.wide || !plan_fixed_rows(p, n, &r, plan, f)) plan_free_rows(&r, plan, f);
}

tc_cuda_plan tc_cuda_plan_nest(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  enum { ONES = 4 }; /* items in flight where accesses are of one element */
  tc_cuda_plan plan = {.kind = kind_of(n), .lanes = 1, .scan = has_kind(n, TC_ACT_SCAN)};
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) return plan;
  mark(k, n, need);
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t a = 0; a < n->stage[s].naction; ++a)
      plan.args |=
          n->stage[s].action[a].kind == TC_ACT_REDUCE && tc_print_is_arg(&n->stage[s].action[a]);
  if (plan.kind == TC_CUDA_FLAT) tc_cuda_plan_tiles(k, p, n, need, &plan);
  plan.lanes = choose_lanes(k, p, n, &plan, need);
  plan.far = is_far(k, p, n, need);
  const int ops = count_ops(k, need);
  tc_cuda_instance general = {.lanes = 1, .unroll = ONES, .each = 8, .most = TC_CUDA_TEAM};
  tc_cuda_instance wide = general, narrow = general;
  wide.wide = wide.small = narrow.small = true;
  wide.lanes = plan.lanes;
  wide.unroll = choose_unroll(load_registers(k, p, n, need, plan.lanes), ops);
  narrow.unroll = 2 * choose_unroll(load_registers(k, p, n, need, 1), ops);
  const bool odd = !plan.far && visit_aligned(k, p, n, &plan, need, NULL);
  mark(k, n, need);
  if (plan.kind == TC_CUDA_ROWS) {
    plan_rows(k, p, n, need, &plan, wide);
    if (odd) plan_rows(k, p, n, need, &plan, narrow);
  } else {
    add_form(&plan, wide);
    if (odd) add_form(&plan, narrow);
  }
  if (plan.kind == TC_CUDA_SERIAL) general.unroll = 1;
  add_form(&plan, general);
  for (int i = 0; i < plan.nform; ++i) plan.kept |= plan.form[i].kept;
  free(need);
  return plan;
}

uint32_t tc_cuda_number(tc_cuda_plan *plan, uint32_t first) {
  for (int i = 0; i < plan->nform; ++i) plan->form[i].number = first++;
  return first;
}

uint32_t tc_cuda_parallel_axes(const tc_nest *n) {
  uint32_t m = (1u << n->naxis) - 1;
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      for (int a = 0; a < n->naxis; ++a)
        if (tc_dim_is(n->stage[s].action[i].address.coef[a], 0)) m &= ~(1u << a);
  return m;
}

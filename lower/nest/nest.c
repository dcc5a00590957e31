/* nest.c - a group of nodes becomes a loop nest. */
#include "lower/lowering.h"

#include <string.h>

/* ---- actions --------------------------------------------------------------------------------- */

static uint32_t address_axes(const lo_kb *b, const tc_address *a) {
  uint32_t m = 0;
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (!tc_dim_is(a->coef[i], 0)) m |= 1u << i;
  for (int t = 0; t < a->nterm; t++) m |= b->axes[a->term[t].value.id];
  return m;
}

static tc_val behind_rounding(const lo_kb *b, tc_val v, tc_dtype storage) {
  const tc_expr *x = &b->k->expr[v.id];
  return x->kind == TC_EX_ROUND && x->storage == storage ? x->in[0] : v;
}

/* What a store that rounds needs of v: not its rounding, nor that of an operand that v is, if it is selected. */
static tc_val unrounded(lo_kb *b, tc_val v, tc_dtype storage) {
  v = behind_rounding(b, v, storage);
  tc_expr e = b->k->expr[v.id];
  if (e.kind != TC_EX_OP) return v;
  for (int i = 0; i < 3; i++)
    if (e.in[i].id && tc_op_get(e.op)->selects >> i & 1) e.in[i] = behind_rounding(b, e.in[i], storage);
  return lo_expr(b, &e);
}

void lo_push_store(lo_kb *b, tc_act_kind kind, tc_val v, uint32_t program_buffer, tc_address to) {
  tc_dtype d = b->L->p->buffer[program_buffer].dtype;
  v = unrounded(b, lo_cast(b, v, d), d);
  lo_act a = {.a = {.kind = kind, .value = v, .address = to, .dtype = lo_compute_type(d)},
              .interval = b->interval};
  a.a.buffer = lo_kernel_buffer(b, program_buffer);
  /* Those of the value, too: where some size is known to be 0, so are strides of the address. */
  a.axes = lo_sequential_slots(b) & (address_axes(b, &to) | b->axes[v.id]);
  a.level = lo_value_level(b, &a.a);
  lo_push_act(b, a);
}

void lo_emit_store(lo_kb *b, const lo_store *s) {
  tc_val v = lo_value(b, s->node, s->at);
  tc_address to = lo_element(b, s->buffer, s->shape, s->to);
  lo_push_store(b, s->add ? TC_ACT_ADD : TC_ACT_STORE, v, s->buffer, to);
}

/* Stores were added from results to operands.  Those along the axis that is cut: one for each
 * interval, where it has all values; of the others those that are asked for where there is none. */
static void emit_stores(lo_kb *b) {
  for (uint32_t i = b->g->nstore; i-- > 0;) {
    const lo_store *s = &b->g->store[i];
    const bool along = b->ninterval && (s->to->axes | s->at->axes) >> b->g->lane & 1;
    if (along == (b->interval != NULL)) lo_emit_store(b, s);
  }
}

void lo_emit_stores(lo_kb *b) {
  for (uint32_t i = 0; i < b->ninterval; i++) {
    b->interval = &b->intervals[i];
    lo_forget_values(b);
    emit_stores(b);
  }
  b->interval = NULL;
  if (b->ninterval) lo_forget_values(b);
  emit_stores(b);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static bool before(const lo_act *a, const lo_act *b) {
  if (a->level != b->level) return a->level < b->level;
  if (!a->axes != !b->axes) return a->axes;
  if (a->axes != b->axes) return a->axes < b->axes;
  return a->interval < b->interval; /* of one list */
}

static void sort_acts(lo_kb *b) { /* stable: order within a stage counts */
  for (uint32_t i = 1; i < b->nact; i++) {
    lo_act x = b->act[i];
    uint32_t j = i;
    for (; j > 0 && before(&x, &b->act[j - 1]); j--) b->act[j] = b->act[j - 1];
    b->act[j] = x;
  }
}

/* What the stage of these acts may do where another one was known: all of them or none. */
static void add_alike(lo_kb *b, tc_stage *s, const lo_act *act) {
  for (uint32_t i = 0; i < s->naction; i++)
    if (!act[i].if_skipped.id || act[i].skipped != act[0].skipped) return;
  s->skipped = act[0].skipped;
  s->if_skipped = lo_alloc(b->L, b->L->arena, s->naction * sizeof *s->if_skipped);
  for (uint32_t i = 0; i < s->naction; i++) {
    s->if_skipped[i] = s->action[i];
    s->if_skipped[i].value = act[i].if_skipped;
  }
}

/* Behind the stages that the nest has; their number. */
static uint32_t build_stages(lo_kb *b, tc_nest *nest) {
  tc_arena *arena = b->L->arena;
  const uint32_t before = tc_nest_stages(nest);
  sort_acts(b);
  tc_stage *stage = lo_alloc(b->L, arena, (before + b->nact + 1) * sizeof *stage);
  tc_action *actions = lo_alloc(b->L, arena, (b->nact + 1) * sizeof *actions);
  if (before) memcpy(stage, nest->stage, before * sizeof *stage);
  nest->stage = stage;
  uint32_t n = before;
  for (uint32_t i = 0; i < b->nact; i++) {
    const lo_act *a = &b->act[i];
    bool same = i && b->act[i - 1].level == a->level && b->act[i - 1].axes == a->axes &&
                b->act[i - 1].interval == a->interval;
    if (!same)
      stage[n++] = (tc_stage){.axes = a->axes,
                              .interval = a->interval,
                              .first = a->interval ? a->interval->first : tc_dim_const(0),
                              .end = a->interval ? a->interval->end : tc_dim_const(0),
                              .action = &actions[i],
                              .skip_if = a->skip_if,
                              .skip_value = a->skip_value,
                              .points = a->points,
                              .skip_points = b->L->target->long_pass};
    stage[n - 1].naction++;
    actions[i] = a->a;
  }
  const lo_act *act = b->act;
  for (uint32_t s = before; s < n; act += stage[s++].naction) add_alike(b, &stage[s], act);
  return n - before;
}

/* ---- schedule -------------------------------------------------------------------------------- */

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

static void make_sequential(lo_kb *b, int s, int64_t chunk) {
  b->slot[s].sequential = true;
  for (uint32_t i = 0; i < b->nact; i++) b->act[i].axes |= 1u << s;
  if (chunk && !lo_at_most(b->L, b->slot[s].extent, 2 * chunk))
    lo_split_slot(b, s, tc_dim_const(chunk));
}

/* An axis along which a load has the neighbours that it does not have along v, or -1. */
static int transposed_slot(const lo_kb *b, int v) {
  for (uint32_t id = b->first; id < b->k->nexpr; id++) {
    const tc_expr *e = &b->k->expr[id];
    const tc_dim step = e->address.coef[v];
    if (e->kind != TC_EX_LOAD || tc_dim_is(step, 0) || tc_dim_is(step, 1)) continue;
    for (int s = 0; s < b->nslot; s++)
      if (!b->slot[s].dead && s != v && tc_dim_is(e->address.coef[s], 1)) return s;
  }
  return -1;
}

/* Elementwise work: the lanes' axis becomes the inner one, cut when it may be long.  Where an array
 * is read across its rows, a tile of it is in the nearest cache until all of its lines are used. */
static void schedule_flat(lo_kb *b, int v) {
  enum { ACROSS = 16, DEEP = 64 };
  if (v < 0) return;
  const int64_t chunk = b->g->serial ? 0 : b->L->target->chunk;
  const int transposed = chunk ? transposed_slot(b, v) : -1;
  if (transposed < 0) {
    make_sequential(b, v, chunk);
    return;
  }
  const int64_t across = clamp(lo_guess(b->L, b->slot[transposed].extent), 1, ACROSS);
  make_sequential(b, transposed, ACROSS);
  make_sequential(b, v, ACROSS * DEEP / across / 16 * 16);
}

/* Outer slots first; the lanes' slot last of its kind. */
static int final_order(const lo_kb *b, int v, int *order, int *nparallel) {
  int n = 0;
  for (int sequential = 0; sequential < 2; sequential++) {
    for (int s = 0; s < b->nslot; s++)
      if (!b->slot[s].dead && b->slot[s].sequential == sequential && s != v) order[n++] = s;
    if (v >= 0 && b->slot[v].sequential == sequential) order[n++] = v;
    if (!sequential) *nparallel = n;
  }
  return n;
}

/* Operations at a point.  Of pieces: those that actions take, and that differ from lane to lane,
 * for places in front of the loop decide what is chosen in it. */
static int64_t cost_of(lo_kb *b, int v) {
  int64_t cost = 1;
  uint8_t *taken = lo_alloc(b->L, b->L->scratch, b->k->nexpr + 1u);
  for (uint32_t i = 0; i < b->nact; i++) tc_mark_action(&b->act[i].a, taken);
  tc_mark_operands(b->k, taken);
  for (uint32_t id = b->first; id < b->k->nexpr; id++)
    if (!b->g->pieces || (taken[id] && (v < 0 || b->axes[id] >> v & 1)))
      cost += lo_expr_cost(&b->k->expr[id]);
  return b->ninterval ? cost / b->ninterval + 1 : cost; /* each point is in one of the intervals */
}

static tc_dim work_of(lo_kb *b, int v) {
  const int64_t cost = cost_of(b, v);
  tc_dim points = tc_dim_const(1);
  for (int s = 0; s < b->nslot; s++) {
    if (b->slot[s].dead) continue;
    bool chunks = false; /* counted as the total of the axis that is cut */
    for (int t = 0; t < b->nslot; t++) chunks |= !b->slot[t].dead && b->slot[t].of == s;
    if (!chunks)
      points = lo_estimate(b->L, points, b->slot[s].of >= 0 ? b->slot[s].total : b->slot[s].extent);
  }
  return lo_estimate(b->L, points, tc_dim_const(cost));
}

typedef struct acts {
  lo_act *act;
  uint32_t n;
} acts;

static acts copy_acts(lo_kb *b) {
  acts a = {lo_alloc(b->L, b->L->scratch, (b->nact + 1) * sizeof *a.act), b->nact};
  memcpy(a.act, b->act, b->nact * sizeof *a.act);
  return a;
}

static void take_acts(lo_kb *b, acts a) {
  b->act = a.act;
  b->nact = b->cact = a.n;
}

/* Appends to the acts those of a nest that does not keep rows: `plain`, which load and compute
 * again what they need, with reductions in as few passes as there may be.  None if that is what the
 * others do; their number. */
static uint32_t push_streamed(lo_kb *b, acts plain) {
  const acts kept = copy_acts(b);
  take_acts(b, plain);
  const bool differs = lo_online_softmax(b, false) || kept.n != plain.n; /* LOCAL rows are stored */
  const acts streamed = copy_acts(b);
  take_acts(b, kept);
  for (uint32_t i = 0; differs && i < streamed.n; i++) lo_push_act(b, streamed.act[i]);
  return differs ? streamed.n : 0;
}

/* They are known to be. */
static bool has_long_rows(lo_kb *b) {
  const int64_t from = b->L->target->online_from;
  int64_t points = 1;
  for (int s = 0; s < b->nslot; s++) {
    int64_t least, most;
    if (b->slot[s].dead || !b->slot[s].sequential) continue;
    tc_dim_range(b->L->dims, b->slot[s].extent, &least, &most);
    if (least <= 0 || __builtin_mul_overflow(points, least, &points)) return false;
  }
  return from && points >= from;
}

/* The last so many acts are those of streamed rows. */
static void build_both(lo_kb *b, tc_nest *nest, uint32_t streamed) {
  const acts all = copy_acts(b);
  take_acts(b, (acts){all.act, all.n - streamed});
  nest->nstage = build_stages(b, nest);
  take_acts(b, (acts){all.act + all.n - streamed, streamed});
  nest->nstreamed = build_stages(b, nest);
}

/* One sequential axis, of so few points that a row of vectors is no longer than rows of one point
 * in registers. */
static bool has_lane_rows(const lo_kb *b) {
  int n = 0;
  for (int s = 0; s < b->nslot; s++) {
    if (b->slot[s].dead || !b->slot[s].sequential) continue;
    if (++n > 1 || !tc_dim_is_const(b->slot[s].extent) ||
        tc_dim_value(b->slot[s].extent) >= b->L->target->lane_rows)
      return false;
  }
  return n;
}

void lo_finish_nest(lo_kb *b) {
  lo_coalesce(b);
  if (b->L->target->interleave && !b->ninterval) lo_unroll_channels(b);
  int v = lo_choose_vector(b), order[TC_MAX_AXES], nparallel = 0;
  bool rows = lo_sequential_slots(b) != 0, along = v >= 0 && b->slot[v].sequential;
  const acts plain = copy_acts(b);
  if (rows && along && !b->ninterval && has_long_rows(b)) lo_online_softmax(b, true);
  if (rows && !b->ninterval && (along || (v >= 0 && has_lane_rows(b)))) lo_keep_rows(b);
  if (!rows) schedule_flat(b, v);
  tc_kernel *k = b->k;
  k->nest = lo_grow(b->L, b->L->arena, k->nest, &b->cnest, k->nnest, sizeof *k->nest);
  tc_nest *nest = &k->nest[k->nnest++];
  memset(nest, 0, sizeof *nest);
  nest->work = work_of(b, v);
  if (b->L->target->long_pass && rows && along && !b->ninterval) lo_single_pass_variance(b);
  const uint32_t streamed =
      b->L->target->streams && rows && (along || v < 0) ? push_streamed(b, plain) : 0;
  nest->naxis = final_order(b, v, order, &nparallel);
  nest->nparallel = nparallel;
  nest->vector = -1;
  for (int i = 0; i < nest->naxis; i++)
    if (order[i] == v) nest->vector = i;
  nest->serial = b->g->serial;
  nest->nresult = b->nresult;
  lo_finish_axes(b, order, nest->naxis, nest->axis);
  build_both(b, nest, streamed);
}

void lo_begin_nest(lo_kb *b, lo_group *g) {
  b->g = g;
  b->nact = b->nresult = 0;
  b->result_axes = 0;
  b->scanned = (tc_val){0};
  b->nslot = 0;
  b->interval = b->intervals = NULL;
  b->ninterval = 0;
  if (g->ncut) b->intervals = lo_find_intervals(b->L, g, &b->ninterval);
  for (int a = 0; a < g->naxis; a++) lo_add_slot(b, g->extent[a], g->sequential >> a & 1);
  b->reduced = lo_alloc(b->L, b->L->scratch, (g->nreduce + 1) * sizeof *b->reduced);
  lo_begin_pool(b);
}

void lo_emit_whole(lo_kb *b, lo_group *g) {
  lo_begin_nest(b, g);
  if (g->scan.id) lo_emit_scan(b);
  for (uint32_t i = g->nreduce; i-- > 0;)
    if (!b->reduced[i].id) lo_emit_reduce(b, i);
  lo_emit_stores(b);
  lo_finish_nest(b);
}

void lo_emit_copy(lo_kb *b, tc_ref shape, uint32_t from, uint32_t to) {
  lo *L = b->L;
  const tc_type *t = tc_graph_type(L->g, shape);
  lo_group *g = lo_new_group(L, t);
  const lo_index *at = lo_identity(L, t);
  lo_begin_nest(b, g);
  const tc_val v = lo_load(b, from, lo_element(b, from, t, at), lo_node(L, shape)->loc);
  lo_push_store(b, TC_ACT_STORE, v, to, lo_element(b, to, t, at));
  lo_finish_nest(b);
}

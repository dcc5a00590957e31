/* split.c - reductions and scans of few outer points: chunks of them become outer points.
 *
 * Of a reduction, a first nest leaves one partial result for each chunk, and a second one combines
 * them in order and does the rest.  Of a scan, a second one scans the partial results, and a third
 * one the elements of each chunk, behind what is in front of it (Blelloch, Prefix Sums and Their
 * Applications, 1990).  The cut depends on sizes alone. */
#include "lower/lowering.h"

/* Arrays of partial results; program buffers, one for each accumulator.  Chunks are `step` elements
 * apart, the group's outer points `each`: [chunk][outer point], or the other way round where lanes
 * run along what is scanned. */
typedef struct partial {
  tc_reducer reducer;
  tc_dtype type;
  uint32_t buffer[TC_MAX_ACCUMULATORS];
  tc_dim step, each;
} partial;

static int accumulators(const partial *p) { return tc_reducer_get(p->reducer)->n; }

/* ---- arrays ---------------------------------------------------------------------------------- */

static tc_address partial_address(lo_kb *b, const partial *p, int chunk) {
  tc_address a = {0};
  tc_dim stride = p->each;
  for (int s = b->g->naxis - 1; s >= 0; s--) {
    if (b->g->sequential >> s & 1) continue;
    a.coef[s] = stride;
    stride = tc_dim_mul(b->L->dims, stride, b->g->extent[s]);
  }
  if (chunk >= 0) a.coef[chunk] = p->step;
  return a;
}

static partial new_partial(lo_kb *b, const lo_combined *c, tc_dim step, tc_dim each) {
  partial p = {.reducer = c->reducer, .type = c->type, .step = step, .each = each};
  for (int i = accumulators(&p); i-- > 0;) {
    const tc_dtype d = tc_accumulator_dtype(c->reducer, i, c->type);
    const tc_type t = {.dtype = d, .rank = 1, .dim = {tc_dim_const(0)}};
    p.buffer[i] = lo_new_buffer(b->L, TC_BUF_ARENA, 0, d, &t, "partial");
  }
  return p;
}

static void size_partial(lo *L, const partial *p, tc_dim chunks, tc_dim results) {
  const bool inner = tc_dim_is(p->step, 1);
  for (int i = 0; i < accumulators(p); i++) {
    tc_buffer *x = &L->p->buffer[p->buffer[i]];
    x->type.rank = 2;
    x->type.dim[inner] = chunks;
    x->type.dim[!inner] = results;
    x->numel = tc_dim_mul(L->dims, chunks, results);
  }
}

static tc_dim results_of(lo_kb *b) { return lo_group_numel(b->L, b->g, ~b->g->sequential); }

tc_address lo_result_address(lo_kb *b) {
  const partial all = {.each = tc_dim_const(1)};
  return partial_address(b, &all, -1);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Chunks of `size`, or of a multiple of it where there would be too many of them. */
static tc_dim chunk_size(lo_kb *b, tc_dim extent, int64_t size) {
  tc_dims *c = b->L->dims;
  const tc_target *t = b->L->target;
  const tc_dim unit = tc_dim_const(size);
  if (!t->most_parts) return unit;
  const tc_dim factor = tc_dim_ceildiv(c, extent, tc_dim_const(t->most_parts * size));
  const tc_dim whole = tc_dim_mul(c, unit, tc_dim_max(c, factor, tc_dim_const(1)));
  return tc_dim_bad(whole) ? unit : whole;
}

/* Of what one slot, of so many elements, is cut into, beside `rest` points of the others: `least` at least. */
static tc_dim choose_chunk(lo_kb *b, tc_dim extent, int64_t rest, int64_t least) {
  const tc_target *t = b->L->target;
  int64_t size = t->split / rest;
  if (size < least) size = least;
  return chunk_size(b, extent, size / t->least_part * t->least_part);
}

/* Points of an axis more, of those that count. */
static int64_t times(lo_kb *b, int64_t points, tc_dim extent) {
  const int64_t n = lo_guess(b->L, extent), most = b->L->target->split;
  return n > most / points ? most : points * (n > 0 ? n : 1);
}

/* Stores of the first nest, of which there is one for each chunk. */
static void store_chunks(lo_kb *b, const partial *p, int chunk) {
  for (uint32_t i = 0; i < b->nact; i++)
    if (b->act[i].a.kind == TC_ACT_STORE) b->act[i].a.address.coef[chunk] = p->step;
}

static void store_partial(lo_kb *b, const partial *p, const tc_val *value) {
  const tc_address to = partial_address(b, p, -1);
  for (int i = accumulators(p); i-- > 0;)
    lo_push_store(b, TC_ACT_STORE, value[i], p->buffer[i], to);
}

/* Reduces over the axes of the group and stores all accumulators. */
static void push_partial(lo_kb *b, const partial *p, const lo_combined *c, tc_loc loc) {
  const uint32_t first = lo_push_reduce(b, *c, b->g->sequential);
  tc_val value[TC_MAX_ACCUMULATORS];
  for (int i = 0; i < accumulators(p); i++) value[i] = lo_result(b, first + (uint32_t)i, loc);
  store_partial(b, p, value);
}

void lo_begin_results(lo_kb *b, lo_group *g) {
  lo_begin_nest(b, g);
  b->ninterval = 0; /* parts are combined along an axis of their own */
  for (int s = 0; s < g->naxis; s++) b->slot[s].dead = g->sequential >> s & 1;
}

/* The same and, inside, chunks: the slot of these. */
static int begin_combination(lo_kb *b, lo_group *g, tc_dim chunks) {
  lo_begin_results(b, g);
  return lo_add_slot(b, chunks, true);
}

static lo_combined load_partial(lo_kb *b, const partial *p, int chunk, tc_loc loc) {
  const tc_address from = partial_address(b, p, chunk);
  lo_combined c = {.reducer = p->reducer, .type = p->type};
  for (int i = 0; i < accumulators(p); i++) c.value[i] = lo_load(b, p->buffer[i], from, loc);
  return c;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Cuts the first of the sequential slots; the slot of chunks. */
static int cut_reduced(lo_kb *b) {
  const tc_target *t = b->L->target;
  int64_t rest = 1;
  lo_coalesce(b);
  const int first = __builtin_ctz(lo_sequential_slots(b));
  for (int s = 0; s < b->nslot; s++)
    if (!b->slot[s].dead && s != first) rest = times(b, rest, b->slot[s].extent);
  const int64_t least = t->least_of_row && !b->g->columns ? t->least_of_row : t->least_part;
  return lo_split_slot(b, first, choose_chunk(b, b->slot[first].extent, rest, least));
}

static void combine_partial(lo_kb *b, uint32_t i, const partial *p, int chunk) {
  const tc_loc loc = lo_node(b->L, b->g->reduce[i].node)->loc;
  const lo_combined c = load_partial(b, p, chunk, loc);
  b->reduced[i] = lo_result(
      b, lo_push_reduce(b, c, 1u << chunk) + (uint32_t)tc_reducer_get(c.reducer)->result, loc);
}

/* Reductions of one stage of the group, all where `stage` is NULL. */
static bool is_of(const int *stage, uint32_t i, int at) { return !stage || stage[i] == at; }

void lo_reduce_parts(lo_kb *b, lo_group *g, const int *stage, int at) {
  lo_begin_nest(b, g);
  const tc_dim results = results_of(b);
  partial *p = lo_alloc(b->L, b->L->scratch, (g->nreduce + 1) * sizeof *p);
  for (uint32_t i = g->nreduce; i-- > 0;) {
    tc_val value[TC_MAX_ACCUMULATORS] = {{0}};
    if (!is_of(stage, i, at)) continue;
    const lo_combined c = lo_reduce_all(b, &g->reduce[i], value);
    p[i] = new_partial(b, &c, results, tc_dim_const(1));
    store_partial(b, &p[i], value);
  }
  int chunk = cut_reduced(b);
  const tc_dim chunks = b->slot[chunk].extent;
  for (uint32_t i = 0; i < g->nreduce; i++) {
    if (!is_of(stage, i, at)) continue;
    store_chunks(b, &p[i], chunk);
    size_partial(b->L, &p[i], chunks, results);
  }
  lo_finish_nest(b);
  chunk = begin_combination(b, g, chunks);
  for (uint32_t i = g->nreduce; i-- > 0;)
    if (is_of(stage, i, at)) combine_partial(b, i, &p[i], chunk);
}

static void split_reductions(lo_kb *b, lo_group *g) {
  lo_reduce_parts(b, g, NULL, 0);
  lo_emit_stores(b);
  lo_finish_nest(b);
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* Of the group: the axis, elements of a chunk, and the arrays' chunks, of which the first of
 * `in_front` stands in front of all elements. */
typedef struct cut_scan {
  int axis;
  tc_dim size, chunks, all;
  tc_loc loc;
  partial of_chunk, in_front;
} cut_scan;

static void choose_cut(lo_kb *b, const lo_group *g, cut_scan *x) {
  int64_t rest = 1;
  x->axis = __builtin_ctz(g->sequential);
  x->loc = lo_node(b->L, g->scan)->loc;
  for (int a = 0; a < g->naxis; a++)
    if (a != x->axis) rest = times(b, rest, g->extent[a]);
  x->size = choose_chunk(b, g->extent[x->axis], rest, b->L->target->least_part);
  x->chunks = tc_dim_ceildiv(b->L->dims, g->extent[x->axis], x->size);
  x->all = tc_dim_add(b->L->dims, x->chunks, tc_dim_const(1));
}

static partial new_scan_partial(lo_kb *b, const lo_combined *c, const cut_scan *x) {
  const tc_dim one = tc_dim_const(1), results = results_of(b);
  const partial p = new_partial(b, c, b->g->columns ? results : one, b->g->columns ? one : x->all);
  size_partial(b->L, &p, x->all, results);
  return p;
}

static int cut_scanned(lo_kb *b, const cut_scan *x) {
  lo_coalesce(b);
  return lo_split_slot(b, x->axis, x->size);
}

static void reduce_chunks(lo_kb *b, lo_group *g, cut_scan *x) {
  lo_begin_nest(b, g);
  choose_cut(b, g, x);
  const lo_combined c = lo_operand_of_scan(b);
  x->of_chunk = new_scan_partial(b, &c, x);
  push_partial(b, &x->of_chunk, &c, x->loc);
  store_chunks(b, &x->of_chunk, cut_scanned(b, x));
  lo_finish_nest(b);
}

static void scan_chunks(lo_kb *b, lo_group *g, cut_scan *x) {
  const int chunk = begin_combination(b, g, x->chunks);
  const lo_combined c = load_partial(b, &x->of_chunk, chunk, x->loc);
  const partial *p = &x->in_front;
  x->in_front = new_scan_partial(b, &c, x);
  const tc_address first = partial_address(b, p, -1);
  tc_address next = partial_address(b, p, chunk);
  next.offset = p->step;
  const uint32_t scanned = lo_push_scan(b, c, 1u << chunk);
  for (int i = accumulators(p); i-- > 0;) {
    const tc_expr identity = tc_accumulator_identity(p->reducer, i, p->type);
    lo_push_store(b, TC_ACT_STORE, lo_expr(b, &identity), p->buffer[i], first);
    lo_push_store(b, TC_ACT_STORE, lo_result(b, scanned + (uint32_t)i, x->loc), p->buffer[i], next);
  }
  lo_finish_nest(b);
}

/* What stands in front of the chunk is read chunk by chunk. */
static void load_chunks(lo_kb *b, const partial *p, int chunk) {
  for (int i = 0; i < accumulators(p); i++)
    for (uint32_t id = b->first; id < b->k->nexpr; id++) {
      tc_expr *e = &b->k->expr[id];
      if (e->kind == TC_EX_LOAD && b->k->buffer[e->buffer] == p->buffer[i])
        e->address.coef[chunk] = p->step;
    }
  lo_refresh(b);
}

/* Elements of each chunk, behind what is in front of it. */
static void scan_elements(lo_kb *b, lo_group *g, const cut_scan *x) {
  lo_begin_nest(b, g);
  const lo_combined c = lo_operand_of_scan(b), before = load_partial(b, &x->in_front, -1, x->loc);
  const int n = accumulators(&x->in_front);
  const uint32_t first = lo_push_scan(b, c, g->sequential);
  tc_val from[2 * TC_MAX_ACCUMULATORS], value[TC_MAX_ACCUMULATORS];
  for (int i = 0; i < n; i++) {
    from[i] = before.value[i];
    from[n + i] = lo_result(b, first + (uint32_t)i, x->loc);
  }
  tc_rule rule;
  if (!tc_combine_rule(c.reducer, c.type, &rule)) lo_fail(b->L, x->loc, "a scan without a rule");
  lo_apply(b, &rule, from, x->loc, value);
  b->scanned = value[tc_reducer_get(c.reducer)->result];
  lo_emit_stores(b);
  load_chunks(b, &x->in_front, cut_scanned(b, x));
  lo_finish_nest(b);
}

static void split_scan(lo_kb *b, lo_group *g) {
  cut_scan x = {0};
  reduce_chunks(b, g, &x);
  scan_chunks(b, g, &x);
  scan_elements(b, g, &x);
}

void lo_split(lo_kb *b, lo_group *g) {
  if (g->scan.id) split_scan(b, g);
  else split_reductions(b, g);
}

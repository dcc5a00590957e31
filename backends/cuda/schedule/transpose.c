/* transpose.c - which flat nests are transposes, and the functions of one. */
#include "backends/cuda/schedule/plan.h"

#include <string.h>

enum { STORE = 8, BOUNDARY = 32, ROW = 256, ACCESS = 16 }; /* bytes */

/* ---- axes ------------------------------------------------------------------------------------ */

static int64_t most_points(const tc_program *p, tc_dim extent) {
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(p->graph), extent, &lo, &hi);
  return hi;
}

bool tc_cuda_stores_along(const tc_nest *n, int axis) {
  bool all = n->nstage == 1 && n->stage[0].naction > 0;
  for (uint32_t i = 0; all && i < n->stage[0].naction; ++i)
    all = tc_dim_is(n->stage[0].action[i].address.coef[axis], 1);
  return all;
}

/* The first axis along which every store is of neighbours, or -1. */
static int store_axis(const tc_nest *n) {
  for (int axis = 0; axis < n->naxis; ++axis)
    if (tc_cuda_stores_along(n, axis)) return axis;
  return -1;
}

/* The axis along which load `e` runs; -1: it is no load across. */
static int load_axis(const tc_cuda_plan *x, const tc_expr *e, int along) {
  for (int across = 0; across < x->n->naxis; ++across)
    if (tc_cuda_crosses(e, along, across)) return across;
  return -1;
}

/* Of several axes across the longest. */
bool tc_cuda_plan_transpose(tc_cuda_plan *x) {
  enum { SHORT = 16 };
  const int along = store_axis(x->n);
  int64_t longest = -1;
  if (along < 0 || most_points(x->p, x->n->axis[along].extent) < SHORT) return false;
  for (int i = 0; i < x->n->naxis; ++i)
    if (x->n->axis[i].of >= 0) return false;
  for (uint32_t i = 1; i < x->k->nexpr; ++i) {
    const int across = x->need[i] ? load_axis(x, &x->k->expr[i], along) : -1;
    const int64_t most = across < 0 ? -1 : most_points(x->p, x->n->axis[across].extent);
    if (most <= longest) continue;
    longest = most;
    x->nest->across = across;
  }
  if (longest < 0) return false;
  x->nest->form = TC_CUDA_TRANSPOSE;
  x->nest->along = along;
  return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

static size_t size_of(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  return tc_dtype_bytes(p->buffer[k->buffer[buffer]].dtype);
}

/* Bytes of the largest element that is loaded across. */
static size_t widest_load(const tc_cuda_plan *x) {
  size_t widest = 0;
  for (uint32_t i = 1; i < x->k->nexpr; ++i) {
    const tc_expr *e = &x->k->expr[i];
    if (!x->need[i] || !tc_cuda_crosses(e, x->nest->along, x->nest->across)) continue;
    const size_t bytes = size_of(x->k, x->p, e->buffer);
    if (bytes > widest) widest = bytes;
  }
  return widest;
}

/* One store, whose lanes are neighbours. */
bool tc_cuda_find_tiles(const tc_cuda_plan *x, tc_cuda_tiles *out) {
  const tc_action *a = x->n->stage[0].action;
  if (x->nest->index64 || x->n->stage[0].naction != 1) return false;
  if (a->kind != TC_ACT_STORE || a->guard.id || a->address.nterm) return false;
  const size_t widest = widest_load(x), bytes = size_of(x->k, x->p, a->buffer);
  if (!widest) return false;
  *out = (tc_cuda_tiles){.side = (int64_t)((ROW - ACCESS) / widest),
                         .overlap = (int64_t)(BOUNDARY / bytes),
                         .lanes = (int64_t)(STORE / bytes)};
  return true;
}

/* A function for arrays whose rows begin anywhere, if there is such. */
static bool plan_unaligned(tc_cuda_plan *x, tc_cuda_variant *v) {
  tc_cuda_tiles tiles;
  if (!tc_cuda_find_tiles(x, &tiles)) return false;
  const tc_action *a = x->n->stage[0].action;
  const tc_expr *e = &x->k->expr[a->value.id];
  const bool copies = e->kind == TC_EX_LOAD && x->p->buffer[x->k->buffer[e->buffer]].dtype ==
                                                   x->p->buffer[x->k->buffer[a->buffer]].dtype;
  x->nest->side = tiles.side;
  x->nest->overlap = tiles.overlap;
  v->unaligned = true;
  v->lanes = tiles.lanes;
  if (copies) v->blocks = size_of(x->k, x->p, a->buffer) == 1 ? 4 : 5; /* others would spill */
  return true;
}

/* For few points across, with which most of a tile is empty: those that a thread reads stay in the
 * first cache.  Are there never more? */
static bool add_narrow(tc_cuda_plan *x, tc_cuda_variant f) {
  enum { BYTES = 64, EACH = 8, FULL = 3 * TC_CUDA_SIDE / 8 };
  const int64_t fit = BYTES / (int64_t)widest_load(x), longest = fit < FULL ? fit : FULL;
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->p->graph), x->n->axis[x->nest->across].extent, &least, &most);
  if (least > longest || x->nest->index64) return false;
  f.narrow = true;
  f.longest = longest;
  f.unroll = most >= EACH ? EACH : most > 1 ? most : 1;
  tc_cuda_add(x, f);
  return most <= longest;
}

/* Tiles with 16-byte accesses, unless sizes forbid them, and tiles that begin anywhere; or else
 * with accesses of one element. */
void tc_cuda_plan_tiles(tc_cuda_plan *x, tc_cuda_variant aligned, tc_cuda_variant scalar,
                        bool may_be_unaligned) {
  scalar.unroll = aligned.unroll;
  if (add_narrow(x, scalar)) return;
  const bool any = plan_unaligned(x, &scalar), narrow = any && aligned.lanes < scalar.lanes;
  if (!narrow) tc_cuda_add(x, aligned);
  if (may_be_unaligned || narrow) tc_cuda_add(x, scalar);
  if (!any || may_be_unaligned || narrow) return;
  x->nest->side = x->nest->overlap = 0; /* no function is for such arrays */
}

/* ---- tiles in shared memory ------------------------------------------------------------------ */

int tc_cuda_tile_padding(size_t bytes) {
  return bytes < 4 ? (int)(4 / bytes) : 1; /* one word, so that rows begin in different banks */
}

/* What tc_tile_row begins behind the last row. */
size_t tc_cuda_unaligned_tile(int64_t overlap, size_t bytes) {
  const size_t rows = (size_t)(TC_CUDA_SIDE + overlap), group = ACCESS / bytes;
  return bytes == 1 ? rows * (ROW + 4) : rows * (ROW / bytes) + rows / group * group;
}

static size_t tile_bytes(const tc_cuda_plan *x, bool unaligned, size_t bytes) {
  const size_t all = unaligned
                         ? tc_cuda_unaligned_tile(x->nest->overlap, bytes)
                         : (size_t)(TC_CUDA_SIDE * (TC_CUDA_SIDE + tc_cuda_tile_padding(bytes)));
  return all * bytes;
}

/* Marks the loads that tiles may hold: what stored values are made of. */
static void mark_crossing(const tc_cuda_plan *x, const tc_kernel *k, uint8_t *marked) {
  const tc_stage *st = k->nest[x->n - x->k->nest].stage;
  for (uint32_t i = 0; i < st->naction; ++i)
    marked[st->action[i].value.id] = marked[st->action[i].guard.id] = 1;
  tc_mark_operands(k, marked);
  for (uint32_t i = 1; i < k->nexpr; ++i)
    marked[i] = marked[i] && tc_cuda_crosses(&k->expr[i], x->nest->along, x->nest->across);
}

void tc_cuda_mark_tiles(const tc_cuda_plan *x, bool unaligned, size_t shared, uint8_t *marked) {
  const tc_kernel *k = x->k;
  size_t used = 0;
  mark_crossing(x, k, marked);
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    if (!marked[i]) continue;
    const size_t bytes = tile_bytes(x, unaligned, size_of(k, x->p, k->expr[i].buffer));
    marked[i] = used + bytes <= shared;
    if (marked[i]) used += bytes;
  }
}

size_t tc_cuda_tiles_bytes(const tc_cuda_plan *x, bool unaligned, const tc_schedule_list *l) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < l->n; ++i)
    bytes += tile_bytes(x, unaligned, size_of(x->k, x->p, x->k->expr[l->at[i]].buffer));
  return bytes;
}

/* tiles.c - a flat nest whose loads and stores run along different axes: a transpose.  A block
 * takes a square of points; what lies along the other axis in memory is loaded along that axis into
 * shared memory first, so that all of its accesses are of neighbours. */
#include "backends/cuda/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, SHARED = 49152 };

static bool is_unit(const tc_address *a, int axis) { return tc_dim_is(a->coef[axis], 1); }

static bool is_strided(const tc_address *a, int axis) {
  return !is_unit(a, axis) && !tc_dim_is(a->coef[axis], 0);
}

static bool is_short(const tc_program *p, tc_dim extent) {
  enum { SHORT = 16 };
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(p->graph), extent, &lo, &hi);
  return hi < SHORT;
}

/* The axis along which every store is of neighbours, or -1. */
static int store_axis(const tc_nest *n) {
  for (int axis = 0; axis < n->naxis; ++axis) {
    bool all = n->stage[0].naction > 0;
    for (uint32_t i = 0; i < n->stage[0].naction; ++i)
      all = all && is_unit(&n->stage[0].action[i].address, axis);
    if (all) return axis;
  }
  return -1;
}

bool tc_cuda_crosses(const tc_expr *e, int along, int across) {
  return e->kind == TC_EX_LOAD && !e->guard.id && !e->address.nterm &&
         is_strided(&e->address, along) && is_unit(&e->address, across);
}

bool tc_cuda_plan_tiles(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                        const uint8_t *need, tc_cuda_plan *plan) {
  const int along = n->nstage == 1 ? store_axis(n) : -1;
  if (along < 0 || is_short(p, n->axis[along].extent)) return false;
  for (int i = 0; i < n->naxis; ++i)
    if (n->axis[i].of >= 0) return false;
  for (uint32_t i = 1; i < k->nexpr; ++i)
    for (int across = 0; need[i] && across < n->naxis; ++across)
      if (tc_cuda_crosses(&k->expr[i], along, across) && !is_short(p, n->axis[across].extent)) {
        plan->kind = TC_CUDA_TILES;
        plan->along = along;
        plan->across = across;
        return true;
      }
  return false;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Elements behind a row of a tile: one word, so that rows begin in different banks. */
static int padding(size_t bytes) { return bytes < 4 ? (int)(4 / bytes) : 1; }

/* Marks as early those loads whose tiles fit into shared memory. */
static void choose(tc_cuda_nest *x, const uint8_t *need) {
  size_t used = 0;
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) {
    const tc_expr *e = &x->s.k->expr[i];
    if (!need[i] || !tc_cuda_crosses(e, x->plan.along, x->plan.across)) continue;
    const tc_dtype d = x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype;
    const int row = SIDE + padding(tc_dtype_bytes(d));
    const size_t bytes = (size_t)SIDE * (size_t)row * tc_dtype_bytes(d);
    if (used + bytes > SHARED) continue;
    used += bytes;
    x->early[i] = 1;
    tc_print_line(&x->s, "__shared__ __align__(16) tc_%s t%u[%d][%d];", tc_print_storage(d), i,
                  SIDE, row);
  }
}

/* The point of the thread, TC_L of them along `near`. */
static void open_point(tc_cuda_nest *x, int near, int far) {
  tc_print_line(&x->s, "const tc_int %s = first%d + near, %s = first%d + far;", x->axis_text[near],
                near, x->axis_text[far], far);
  tc_print_line(&x->s, "if (%s < end%d && %s < end%d) {", x->axis_text[near], near,
                x->axis_text[far], far);
  x->s.indent += 2;
}

static void close_points(tc_cuda_nest *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_loads(tc_cuda_nest *x) {
  tc_print_line(&x->s, "_Pragma(\"unroll 8\") for (int e = 0; e < %d / TC_L; ++e) {",
                SIDE * SIDE / TC_CUDA_THREADS);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int item = ((int)threadIdx.x + e * %d) * TC_L;", TC_CUDA_THREADS);
  tc_print_line(&x->s, "const int near = item %% %d, far = item / %d;", SIDE, SIDE);
  open_point(x, x->plan.across, x->plan.along);
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) {
    if (!x->early[i]) continue;
    tc_buf at = {0};
    tc_print_address(&x->s, &x->s.k->expr[i].address, &at);
    tc_print_line(&x->s, "tc_row_put(&t%u[far][near], tc_hold<TC_L>(b%u + (%s)));", i,
                  x->s.k->expr[i].buffer, at.text ? at.text : "0");
    tc_buf_free(&at);
  }
  close_points(x);
}

/* A warp stores the neighbours of `deep` threads for each of 32 / deep rows, such that what it
 * reads from a tile lies in different banks. */
static void put_stores(tc_cuda_nest *x) {
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_line(&x->s, "constexpr int deep = TC_L == 1 ? 32 : TC_L == 8 ? 4 : 8;");
  tc_print_line(&x->s, "constexpr int pieces = %d / (deep * TC_L);", SIDE);
  tc_print_line(&x->s, "_Pragma(\"unroll 8\") for (int e = 0; e < %d / TC_L; ++e) {",
                SIDE * SIDE / TC_CUDA_THREADS);
  x->s.indent += 2;
  tc_print_line(&x->s,
                "const int lane = (int)threadIdx.x %% 32, part = e * %d + (int)threadIdx.x / 32;",
                TC_CUDA_THREADS / 32);
  tc_print_line(&x->s, "const int near = (part %% pieces * deep + lane %% deep) * TC_L;");
  tc_print_line(&x->s, "const int far = part / pieces * (32 / deep) + lane / deep;");
  open_point(x, x->plan.along, x->plan.across);
  x->s.vector = x->plan.along;
  tc_cuda_put_actions(x, x->nest->stage);
  x->s.vector = -1;
  close_points(x);
  tc_print_leave(&x->s, outer);
}

static void declare_axis(tc_cuda_nest *x, int axis) {
  tc_buf e = {0};
  tc_print_extent(&x->s, &x->nest->axis[axis], &e);
  tc_print_line(&x->s, "const tc_int end%d = %s, tiles%d = TC_CEILDIV(end%d, %d);", axis, e.text,
                axis, axis, SIDE);
  tc_buf_free(&e);
}

void tc_cuda_put_tiles(tc_cuda_nest *x) {
  const int v = x->plan.along, w = x->plan.across;
  const uint32_t others = ((1u << x->nest->naxis) - 1) & ~(1u << v) & ~(1u << w);
  uint8_t *need = calloc(x->s.k->nexpr + 1, 1);
  tc_buf count = {0};
  if (!need) {
    x->s.out->failed = true;
    return;
  }
  x->s.vector = -1;
  for (uint32_t i = 0; i < x->nest->stage[0].naction; ++i)
    need[x->nest->stage[0].action[i].value.id] = need[x->nest->stage[0].action[i].guard.id] = 1;
  tc_print_mark(x->s.k, need);
  choose(x, need);
  declare_axis(x, v);
  declare_axis(x, w);
  tc_cuda_put_count(x, others, &count);
  tc_print_line(&x->s, "const tc_int tiles = %s * tiles%d * tiles%d;", count.text, v, w);
  tc_print_line(&x->s, "for (tc_int tile = blockIdx.x; tile < tiles; tile += (tc_int)gridDim.x) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int first%d = tile %% tiles%d * %d;", w, w, SIDE);
  tc_print_line(&x->s, "const tc_int first%d = tile / tiles%d %% tiles%d * %d;", v, w, v, SIDE);
  if (others) {
    tc_print_line(&x->s, "const tc_int other = tile / tiles%d / tiles%d;", w, v);
    tc_cuda_put_decode(x, others, "other");
  }
  put_loads(x);
  tc_print_line(&x->s, "__syncthreads();");
  put_stores(x);
  tc_print_line(&x->s, "__syncthreads();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&count);
  free(need);
}

/* transpose.c - a flat nest whose loads and stores run along different axes: a transpose.  A block
 * takes a square of points; what lies along the other axis in memory is loaded along that axis into
 * shared memory first, so that all of its accesses are of neighbours. */
#include "backends/cuda/nest/nest.h"

enum { SIDE = TC_CUDA_SIDE };

/* ---- text ------------------------------------------------------------------------------------ */

/* Declares the tile of LOAD `id`. */
static void declare_tile(tc_cuda_nest *x, uint32_t id) {
  const tc_dtype d = x->s.p->buffer[x->s.k->buffer[x->s.k->expr[id].buffer]].dtype;
  const size_t size = tc_dtype_bytes(d);
  x->early[id] = 1;
  if (x->unaligned)
    tc_print_line(&x->s, "__shared__ __align__(16) tc_%s t%u[%zu];", tc_print_storage(d), id,
                  tc_cuda_unaligned_tile(x->plan->overlap, size));
  else
    tc_print_line(&x->s, "__shared__ __align__(16) tc_%s t%u[%d][%d];", tc_print_storage(d), id,
                  SIDE, SIDE + tc_cuda_tile_padding(size));
}

static void declare_tiles(tc_cuda_nest *x) {
  const tc_schedule_list *l = x->unaligned ? &x->plan->unaligned_tile : &x->plan->tile;
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i)
    if (tc_schedule_has(l, i)) declare_tile(x, i);
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
  open_point(x, x->plan->across, x->plan->along);
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

/* ---- copies ---------------------------------------------------------------------------------- */

static bool take_copy(tc_print_scope *s, const tc_action *a) {
  const uint32_t id = tc_cuda_copied(s->self, a);
  tc_buf at = {0};
  if (!id) return false;
  tc_print_address(s, &a->address, &at);
  tc_print_line(s, "tc_put_held(b%u + (%s), tc_column_held<TC_L>(&t%u[near][far], sizeof t%u[0]));",
                a->buffer, at.text ? at.text : "0", id, id);
  tc_buf_free(&at);
  return true;
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
  open_point(x, x->plan->along, x->plan->across);
  x->s.vector = x->plan->along;
  x->s.store = take_copy;
  tc_cuda_skip_copied(x);
  tc_cuda_put_actions(x, x->nest->stage);
  x->s.vector = -1;
  close_points(x);
  tc_print_leave(&x->s, outer);
}

static void declare_axis(tc_cuda_nest *x, int axis, int side, int over) {
  tc_buf e = {0};
  tc_print_extent(&x->s, &x->nest->axis[axis], &e);
  tc_print_line(&x->s, "const tc_int end%d = %s, tiles%d = TC_CEILDIV(end%d + %d, %d);", axis,
                e.text ? e.text : "0", axis, axis, over, side);
  tc_buf_free(&e);
}

static void put_tile(tc_cuda_nest *x) {
  if (x->unaligned) tc_cuda_put_unaligned_tile(x);
  else {
    put_loads(x);
    tc_print_line(&x->s, "__syncthreads();");
    put_stores(x);
  }
  tc_print_line(&x->s, "__syncthreads();");
}

/* Neighbouring threads store neighbours; each has all points across, whose loads are neighbours,
 * too. */
static void put_narrow(tc_cuda_nest *x) {
  const tc_cuda_loop across = {.st = x->nest->stage,
                               .axes = 1u << x->plan->across,
                               .first = "0",
                               .step = "1",
                               .hop = "TC_U"};
  const uint32_t others = ((1u << x->nest->naxis) - 1) & ~across.axes;
  tc_buf count = {0};
  x->s.vector = -1;
  tc_cuda_put_count(x, others, &count);
  tc_print_line(&x->s, "const tc_int points = %s;", count.text ? count.text : "1");
  tc_print_line(&x->s, "const tc_int first = (tc_int)blockIdx.x * (tc_int)blockDim.x + (tc_int)threadIdx.x;");
  tc_print_line(&x->s, "for (tc_int point = first; point < points; point += (tc_int)gridDim.x * (tc_int)blockDim.x) {");
  x->s.indent += 2;
  tc_cuda_put_decode(x, others, "point");
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_put_loop(x, &across);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&count);
}

/* Tiles that follow one another are neighbours along the stores. */
static void put_tiles(tc_cuda_nest *x) {
  const int v = x->plan->along, w = x->plan->across,
            side = x->unaligned ? (int)x->plan->side : SIDE;
  const uint32_t others = ((1u << x->nest->naxis) - 1) & ~(1u << v) & ~(1u << w);
  tc_buf count = {0};
  x->s.vector = -1;
  declare_tiles(x);
  declare_axis(x, v, SIDE, x->unaligned ? (int)x->plan->overlap - 1 : 0);
  declare_axis(x, w, side, 0);
  tc_cuda_put_count(x, others, &count);
  tc_print_line(&x->s, "const tc_int tiles = %s * tiles%d * tiles%d;",
                count.text ? count.text : "1", v, w);
  tc_print_line(&x->s, "for (tc_int tile = blockIdx.x; tile < tiles; tile += (tc_int)gridDim.x) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int first%d = tile %% tiles%d * %d;", v, v, SIDE);
  tc_print_line(&x->s, "const tc_int first%d = tile / tiles%d %% tiles%d * %d;", w, v, w, side);
  if (others) {
    tc_print_line(&x->s, "const tc_int other = tile / tiles%d / tiles%d;", w, v);
    tc_cuda_put_decode(x, others, "other");
  }
  put_tile(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&count);
}

void tc_cuda_put_transpose(tc_cuda_nest *x) {
  if (x->narrow) put_narrow(x);
  else put_tiles(x);
}

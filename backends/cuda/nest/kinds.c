/* kinds.c - the table of what prints each form of nest, and how many threads each kind takes. */
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/access.h"

#include <stdlib.h>

static void put_extents(const tc_cuda_launch *x, uint32_t axes, bool lanes, tc_buf *out) {
  bool any = false;
  for (int i = 0; i < x->n->naxis; ++i) {
    if (!(axes >> i & 1)) continue;
    tc_put(out, any ? " * ((" : "((");
    tc_print_dim(x->p, x->n->axis[i].extent, out);
    tc_put(out, lanes && i == x->n->vector ? ") / f->lanes)" : "))");
    any = true;
  }
  if (!any) tc_put(out, "1");
}

static void put_size(const tc_cuda_launch *x, const char *name, uint32_t axes, bool lanes) {
  tc_putf(x->out, "    const int64_t %s = ", name);
  put_extents(x, axes, lanes, x->out);
  tc_put(x->out, ";\n");
}

/* f: the function; items: those of a row, where that matters. */
static void put_pick(const tc_cuda_launch *x, const char *items, const char *points) {
  tc_putf(x->out,
          "    const tc_cuda_form *f = forms;\n"
          "    while (!tc_cuda_fits(c, f, small, vectorized, %s, %s)",
          items, points);
  if (tc_cuda_has_rows_in_phase(x->text->schedule)) tc_put(x->out, " || f->phased > phased");
  if (tc_cuda_has_dense_stores(x->text->schedule)) tc_put(x->out, " || f->dense > dense");
  if (tc_cuda_has_overlap(x->text->schedule)) {
    tc_buf columns = {0};
    put_extents(x, 1u << x->n->vector, false, &columns);
    tc_putf(x->out, " || (f->columns > %s && %s %% f->lanes != 0)", columns.text ? columns.text : "", columns.text ? columns.text : "");
    tc_buf_free(&columns);
  }
  tc_put(x->out, ") ++f;\n");
}

static uint32_t parallel_axes(const tc_cuda_launch *x) { return (1u << x->n->nparallel) - 1; }
static uint32_t all_axes(const tc_cuda_launch *x) { return (1u << x->n->naxis) - 1; }

/* Of some of the axes together, the last of which may be a part of one. */
static void put_whole_items(const tc_cuda_launch *x, uint32_t axes) {
  tc_put(x->out, "tc_cuda_ceildiv(");
  put_extents(x, axes, false, x->out);
  tc_put(x->out, ", f->lanes)");
}

/* Lanes go on from one row to the next, or end with rows. */
static void put_flat_items(const tc_cuda_launch *x) {
  const bool tail = tc_cuda_leaves_tail(x->k, x->p, x->n, x->plan), dense = tc_cuda_has_dense_stores(x->text->schedule);
  tc_putf(x->out, "    const int64_t items = %s", dense && !tail ? "f->dense ? " : "");
  if (dense || tail) put_whole_items(x, all_axes(x));
  if (dense && !tail) tc_put(x->out, " : ");
  if (!tail) put_extents(x, all_axes(x), true, x->out);
  tc_put(x->out, ";\n");
}

static void launch_flat(const tc_cuda_launch *x) {
  put_pick(x, "0", "1");
  put_flat_items(x);
  tc_put(x->out, "    const int64_t group = 1, block = f->threads, shared = 0;\n"
                 "    const int64_t grid = tc_cuda_blocks(c, f, items, block * f->unroll);\n");
}

static void launch_transpose(const tc_cuda_launch *x) {
  const uint32_t v = 1u << x->plan->along, w = 1u << x->plan->across;
  tc_buf across = {0};
  put_extents(x, w, false, &across);
  put_pick(x, across.text ? across.text : "", "1");
  tc_buf_free(&across);
  put_size(x, "along", v, false);
  put_size(x, "across", w, false);
  put_size(x, "others", all_axes(x) & ~v & ~w, false);
  tc_putf(x->out,
          "    const int64_t group = 1, block = %d, shared = 0;\n"
          "    const int64_t grid = f->side ? others * tc_cuda_ceildiv(along + f->over, %d) *\n"
          "                                       tc_cuda_ceildiv(across, f->side)\n"
          "                                 : tc_cuda_ceildiv(others * along, block);\n",
          TC_CUDA_THREADS, TC_CUDA_SIDE);
}

static bool has_tiles(const tc_cuda_launch *x) {
  for (uint32_t i = 0; i < x->text->schedule->nvariant; ++i)
    if (tc_cuda_variant_of(x->text->schedule, i)->tile) return true;
  return false;
}

static void launch_rows(const tc_cuda_launch *x) {
  const uint32_t sequential = all_axes(x) & ~parallel_axes(x);
  const int bytes = tc_cuda_resident_bytes(x->text);
  const bool tiles = has_tiles(x);
  tc_buf items = {0};
  put_extents(x, sequential, true, &items);
  put_size(x, "points", parallel_axes(x), false);
  put_pick(x, items.text ? items.text : "1", "points");
  put_size(x, "items", sequential, true);
  if (bytes)
    tc_putf(x->out,
            "    const int64_t release_from = tc_cuda_release_from(c, points, items%s * %d);\n",
            x->n->vector >= x->n->nparallel ? " * f->lanes" : "", bytes);
  tc_putf(x->out,
          "    const int64_t threads = tc_cuda_group_size(f, items, points)%s;\n"
          "    const int64_t block = threads > 32 ? threads : f->threads;\n"
          "    const int64_t rows = %s;\n"
          "    const int64_t group = threads%s;\n"
          "    const int64_t shared = (threads > 32 ? 1024 : 0)%s%s;\n"
          "    const int64_t grid = %s;\n",
          x->plan->cache.n
              ? ",\n                  cache_items = tc_cuda_cache_items(c, f, items, threads)"
              : "",
          tiles ? "tc_cuda_tile_rows(c, f, items, points, block / threads)" : "block / threads",
          tiles ? " | rows * threads / block << 32" : "",
          x->plan->cache.n ? " + cache_items * f->cache_bytes" : "",
          tiles ? " + tc_cuda_tile_bytes(f, rows * items)" : "",
          tiles ? "tc_cuda_tile_blocks(c, f, tc_cuda_ceildiv(points, rows))" : "tc_cuda_ceildiv(points, rows)");
  tc_buf_free(&items);
}

static void launch_columns(const tc_cuda_launch *x) {
  const int v = x->n->vector;
  put_pick(x, "0", "1");
  tc_put(x->out, "    const int64_t columns = ");
  put_whole_items(x, 1u << v);
  tc_put(x->out, ";\n");
  put_size(x, "others", parallel_axes(x) & ~(1u << v), false);
  if (!tc_cuda_has_kind(x->n, TC_ACT_SCAN))
    put_size(x, "items", all_axes(x) & ~parallel_axes(x), false);
  if (tc_cuda_has_kind(x->n, TC_ACT_SCAN))
    tc_put(x->out, "    const int64_t depth = 1, width = tc_cuda_width(columns);\n");
  else
    tc_put(x->out, "    int64_t width;\n"
                   "    const int64_t depth = tc_cuda_depth(f, columns, items, others, &width);\n");
  tc_putf(x->out,
          "    const int64_t points = others * tc_cuda_ceildiv(columns, width);\n"
          "    const int64_t rows = depth > 1 ? 1 : tc_cuda_rows(width, points);\n"
          "    const int64_t group = depth | rows << 16, block = width * depth * rows;\n"
          "    const int64_t shared = depth > 1 ? block * f->lanes * %d : 0;\n"
          "    const int64_t grid = tc_cuda_ceildiv(points, rows);\n",
          tc_cuda_has_tuples(x->n) ? 16 : 8);
}

static bool scatters(const tc_nest *n) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      if (n->stage[s].action[i].address.nterm) return true;
  return false;
}

/* Threads for slices of the destination that the points of the parallel axes name, times owners of
 * residues of the index. */
static void launch_serial(const tc_cuda_launch *x) {
  put_pick(x, "0", "1");
  put_size(x, "slices", tc_cuda_slice_axes(x->n), false);
  tc_putf(x->out,
          "    const int64_t group = %s, block = 128, shared = 0;\n"
          "    const int64_t grid = tc_cuda_ceildiv(slices * group, block);\n",
          scatters(x->n) ? "tc_cuda_owners(slices)" : "1");
}

/* Blocks for residues of the destination, times parts of the slices, times groups of neighbours
 * with indices of their own; what they find is in shared memory, behind the numbers of matches of
 * their warps. */
static void launch_scatter(const tc_cuda_launch *x) {
  uint32_t *depends = tc_cuda_depends(x->k, x->n);
  if (!depends) {
    x->out->failed = true;
    return;
  }
  const uint32_t slices = tc_cuda_slice_axes(x->n),
                 others = slices & tc_cuda_index_axes(x->n, depends);
  free(depends);
  put_pick(x, "0", "1");
  put_size(x, "sources", all_axes(x) & ~slices, false);
  put_size(x, "others", others, false);
  put_size(x, "slices", slices & ~others, false);
  tc_put(x->out, "    const int64_t places = ");
  tc_print_dim(x->p, x->n->stage->action->address.term[0].bound, x->out);
  tc_put(x->out,
         ";\n"
         "    int64_t grid;\n"
         "    const int64_t group = tc_cuda_scatter(c, places, sources, others, slices, &grid);\n"
         "    const int64_t block = f->threads;\n"
         "    const int64_t shared = 128 + block * f->unroll * (f->small ? 16 : 32);\n");
}

const tc_cuda_printer tc_cuda_kinds[] = {
    [TC_CUDA_FLAT] = {"flat", tc_cuda_put_flat, launch_flat},
    [TC_CUDA_TRANSPOSE] = {"transpose", tc_cuda_put_transpose, launch_transpose},
    [TC_CUDA_ROWS] = {"rows", tc_cuda_put_rows, launch_rows},
    [TC_CUDA_COLUMNS] = {"columns", tc_cuda_put_columns, launch_columns},
    [TC_CUDA_SERIAL] = {"serial", tc_cuda_put_serial, launch_serial},
    [TC_CUDA_SCATTER] = {"scatter", tc_cuda_put_scatter, launch_scatter},
};

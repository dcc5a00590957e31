/* launch.c - the C function that launches a kernel: which function of each nest, with how many
 * threads.  Sizes alone decide, and addresses where alignment counts, so results repeat. */
#include "backends/cuda/emit.h"
#include "backends/cuda/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct launch {
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *n;
  const tc_cuda_plan *plan;
  tc_buf *out;
} launch;

static void put_extents(const launch *x, uint32_t axes, bool lanes, tc_buf *out) {
  bool any = false;
  for (int i = 0; i < x->n->naxis; ++i) {
    if (!(axes >> i & 1)) continue;
    tc_put(out, any ? " * ((" : "((");
    tc_print_dim(x->p, x->n->axis[i].extent, out);
    tc_put(out, lanes && i == x->n->vector ? ") / lanes)" : "))");
    any = true;
  }
  if (!any) tc_put(out, "1");
}

static void put_size(const launch *x, const char *name, uint32_t axes, bool lanes) {
  tc_putf(x->out, "    const int64_t %s = ", name);
  put_extents(x, axes, lanes, x->out);
  tc_put(x->out, ";\n");
}

static uint32_t outer_axes(const launch *x) { return (1u << x->n->nouter) - 1; }
static uint32_t all_axes(const launch *x) { return (1u << x->n->naxis) - 1; }

static void put_flat(const launch *x) {
  put_size(x, "items", all_axes(x), true);
  tc_putf(x->out,
          "    const int64_t group = 1, block = %d, shared = 0;\n"
          "    const int64_t grid = tc_cuda_ceildiv(items, block * (wide ? %d : %d));\n",
          TC_CUDA_THREADS, x->plan->unroll, TC_CUDA_GENERAL);
}

static void put_tiles(const launch *x) {
  const uint32_t v = 1u << x->plan->along, w = 1u << x->plan->across;
  put_size(x, "along", v, false);
  put_size(x, "across", w, false);
  put_size(x, "others", all_axes(x) & ~v & ~w, false);
  tc_putf(x->out,
          "    const int64_t group = 1, block = %d, shared = 0;\n"
          "    const int64_t grid =\n"
          "        others * tc_cuda_ceildiv(along, 64) * tc_cuda_ceildiv(across, 64);\n",
          TC_CUDA_THREADS);
}

static void put_rows(const launch *x) {
  const tc_cuda_plan *plan = x->plan;
  const int each = tc_cuda_each(plan);
  put_size(x, "points", outer_axes(x), false);
  put_size(x, "items", all_axes(x) & ~outer_axes(x), true);
  if (plan->group)
    tc_putf(x->out, "    const int64_t group = wide ? %d : tc_cuda_team(items, %d);\n", plan->group,
            each);
  else tc_putf(x->out, "    const int64_t group = tc_cuda_team(items, %d);\n", each);
  tc_put(x->out,
         "    const int64_t block = group > 32 ? group : 128, shared = group > 32 ? 1024 : 0;\n"
         "    const int64_t grid = tc_cuda_ceildiv(points, block / group);\n");
}

static void put_columns(const launch *x) {
  const int v = x->n->vector;
  put_size(x, "columns", 1u << v, true);
  put_size(x, "others", outer_axes(x) & ~(1u << v), false);
  if (!x->plan->scan) put_size(x, "items", all_axes(x) & ~outer_axes(x), false);
  tc_putf(x->out,
          "    const int64_t group = %s, width = tc_cuda_width(columns, group);\n"
          "    const int64_t block = width * group, shared = group > 1 ? block * lanes * %d : 0;\n"
          "    const int64_t grid = others * tc_cuda_ceildiv(columns, width);\n",
          x->plan->scan ? "1" : "tc_cuda_depth(columns, items)", x->plan->args ? 16 : 8);
}

static bool scatters(const tc_nest *n) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      if (n->stage[s].action[i].address.nterm) return true;
  return false;
}

/* Threads for slices of the destination that the points of the parallel axes name, times owners of
 * residues of the index. */
static void put_serial(const launch *x) {
  put_size(x, "slices", tc_cuda_parallel_axes(x->n), false);
  tc_putf(x->out,
          "    const int64_t group = %s, block = 128, shared = 0;\n"
          "    const int64_t grid = tc_cuda_ceildiv(slices * group, block);\n",
          scatters(x->n) ? "tc_cuda_owners(slices)" : "1");
}

static void put_shape(const launch *x) {
  switch (x->plan->kind) {
  case TC_CUDA_FLAT:
    put_flat(x);
    break;
  case TC_CUDA_TILES:
    put_tiles(x);
    break;
  case TC_CUDA_ROWS:
    put_rows(x);
    break;
  case TC_CUDA_COLUMNS:
    put_columns(x);
    break;
  case TC_CUDA_SERIAL:
    put_serial(x);
    break;
  }
}

static void put_wide(const launch *x) {
  tc_buf t = {0};
  tc_cuda_put_conditions(x->k, x->p, x->n, x->plan, true, &t);
  tc_putf(x->out, "    const int wide = 1%s;\n", t.text ? t.text : "");
  if (t.failed) x->out->failed = true;
  tc_buf_free(&t);
}

/* The function's number.  Rows of any length are kept where they fit the registers of the largest
 * team. */
static void put_function(const launch *x, uint32_t i) {
  if (!x->plan->extra) {
    tc_putf(x->out, "wide ? %u : %u", 2 * i, 2 * i + 1);
    return;
  }
  tc_putf(x->out, "!wide ? %u : items <= %d ? %u : %u", 2 * i + 1, TC_CUDA_TEAM * x->plan->unroll,
          2 * i, x->plan->extra);
}

void tc_cuda_put_nest_launch(const tc_kernel *k, const tc_program *p, uint32_t i,
                             const tc_cuda_plan *plan, const char *body, tc_buf *out) {
  const launch nest = {k, p, &k->nest[i], plan, out}, *x = &nest;
  static const char *const form[] = {"flat", "tiles", "rows", "columns", "serial"};
  tc_putf(x->out, "  { /* nest %u: %s */\n", i, form[x->plan->kind]);
  put_wide(x);
  tc_putf(x->out, "    const int64_t lanes = wide ? %d : 1;\n", x->plan->lanes);
  put_shape(x);
  tc_put(x->out, "    void *const args[] = {");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_ADDRESS, x->out);
  tc_put(x->out, "};\n    (void)wide, (void)lanes;\n"
                 "    const int status = tc_cuda_start(c, &@NAME@_image, ");
  put_function(x, i);
  tc_put(x->out, ", grid, block,\n                                     shared, args, sizeof args / "
                 "sizeof *args);\n    if (status) return status;\n  }\n");
}

/* Sizes as the launchers and conditions name them. */
void tc_cuda_put_host_head(const tc_program *p, const char *body, tc_buf *out) {
  tc_put(out, "static int @NAME@(const tcrt_cuda_call *c, void *const *buf, const int64_t *sym,\n"
              "                  const tc_value *scalar) {\n  (void)sym, (void)scalar;\n");
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(c); ++i) {
    char word[256];
    snprintf(word, sizeof word, "s_%s", tc_dims_sym(c, i)->name);
    if (tc_cuda_names(body, word)) tc_putf(out, "  const int64_t %s = sym[%u];\n", word, i);
  }
}

void tc_cuda_put_launcher(const tc_kernel *k, const tc_program *p, const tc_cuda_plan *plan,
                          const tc_buf *bodies, tc_buf *out) {
  tc_buf text = {0};
  for (uint32_t i = 0; i < k->nnest; ++i) {
    tc_cuda_put_nest_launch(k, p, i, &plan[i], bodies[i].text ? bodies[i].text : "", &text);
  }
  tc_cuda_put_host_head(p, text.text ? text.text : "", out);
  tc_put(out, text.text ? text.text : "");
  tc_put(out, "  return 0;\n}\n");
  if (text.failed) out->failed = true;
  tc_buf_free(&text);
}

/* tc_cuda_team: threads that share a row of `items`, `each` items a thread.  tc_cuda_depth: threads
 * that share a column of `items`; tc_cuda_width: columns of a block. */
static const char helpers[] =
    "#define TC_CUDA_FN static inline __attribute__((unused))\n"
    "TC_CUDA_FN int64_t tc_cuda_ceildiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }\n"
    "TC_CUDA_FN int64_t tc_cuda_team(int64_t items, int64_t each) {\n"
    "  int64_t n = 1;\n"
    "  while (n < 32 && n * each < items) n *= 2;\n"
    "  if (n == 32 && items > 32 * each) n = tc_cuda_ceildiv(items, 32 * each) * 32;\n"
    "  return n > 512 ? 512 : n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_depth(int64_t columns, int64_t items) {\n"
    "  int64_t n = 1, width = 1;\n"
    "  while (width < 32 && width < columns) width *= 2;\n"
    "  while (n < 32 && n * width < 256 && n * 8 <= items) n *= 2;\n"
    "  return n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_width(int64_t columns, int64_t group) {\n"
    "  int64_t n = 1;\n"
    "  while (n * group < 128 && n < columns) n *= 2;\n"
    "  while (n < 32 && n < columns && n * group < 256) n *= 2;\n"
    "  return n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_owners(int64_t slices) {\n"
    "  const int64_t n = slices > 0 ? 131072 / slices : 1;\n"
    "  return n > 1024 ? 1024 : n > 1 ? n : 1;\n"
    "}\n"
    "TC_CUDA_FN int tc_cuda_start(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned "
    "function,\n"
    "                             int64_t grid, int64_t block, int64_t shared, void *const *args,\n"
    "                             unsigned nargs) {\n"
    "  if (grid <= 0) return 0;\n"
    "  if (grid > 1 << 30) grid = 1 << 30; /* threads go on by the size of the grid */\n"
    "  return tcrt_cuda_launch(c, image, function, (unsigned)grid, 1, (unsigned)block, "
    "(unsigned)shared,\n"
    "                          args, nargs);\n"
    "}\n";

void tc_cuda_put_launch_helpers(tc_buf *out) { tc_put(out, helpers); }

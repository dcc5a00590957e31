/* lower.c - tc_lower: placement, emission of kernels in order, names, workspace. */
#include "lower/lowering.h"

#include <string.h>

/* ---- roots ----------------------------------------------------------------------------------- */

static void add_target(lo *L, tc_ref r, uint32_t buffer) {
  lo_target *t = lo_alloc(L, L->scratch, sizeof *t);
  lo_place *p = &L->place[r.id];
  *t = (lo_target){p->target, buffer};
  p->target = t;
}

static void set_roots(lo *L) {
  tc_program *p = L->p;
  p->noutput = tc_graph_output_count(L->g);
  p->output = lo_alloc(L, L->arena, (p->noutput + 1) * sizeof *p->output);
  for (uint32_t i = 0; i < p->noutput; i++) {
    tc_ref r = tc_graph_output_at(L->g, i);
    const tc_type *t = tc_graph_type(L->g, r);
    p->output[i] = lo_new_buffer(L, TC_BUF_OUTPUT, i, t->dtype, t, "result");
    p->buffer[p->output[i]].node = r;
    add_target(L, r, p->output[i]);
  }
  L->nwrite = tc_graph_write_count(L->g);
  L->write = lo_alloc(L, L->scratch, (L->nwrite + 1) * sizeof *L->write);
  for (uint32_t i = 0; i < L->nwrite; i++) {
    lo_write *w = &L->write[i];
    w->value = tc_graph_write_at(L->g, i, &w->input);
    const tc_type *t = tc_graph_type(L->g, w->value);
    w->input = lo_input_buffer(L, w->input);
    w->buffer = lo_new_buffer(L, TC_BUF_ARENA, 0, t->dtype, t, "updated");
    L->p->buffer[w->buffer].node = w->value;
    add_target(L, w->value, w->buffer);
    L->place[w->value.id].update = true;
  }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static tc_kernel *new_kernel(lo *L) {
  tc_program *p = L->p;
  p->kernel = lo_grow(L, L->arena, p->kernel, &L->ckernel, p->nkernel, sizeof *p->kernel);
  tc_kernel *k = &p->kernel[p->nkernel++];
  memset(k, 0, sizeof *k);
  return k;
}

static void add_fused(lo_kb *b, const lo_group *g) {
  tc_kernel *k = b->k;
  for (uint32_t i = 0; i < g->nmember; i++) {
    k->fused = lo_grow(b->L, b->L->arena, k->fused, &b->cfused, k->nfused, sizeof *k->fused);
    k->fused[k->nfused++] = g->member[i];
  }
}

static bool stores_to(const lo_group *g, uint32_t buffer) {
  for (uint32_t i = 0; i < g->nstore; i++)
    if (g->store[i].buffer == buffer) return true;
  return false;
}

/* g is the tail of group `first`: it works on what the other's outer points leave, no more. */
static bool is_tail(lo *L, const lo_group *first, const lo_group *g) {
  enum { TAIL = 4096 };
  uint32_t all = (1u << g->naxis) - 1;
  tc_dim mine = lo_group_numel(L, g, all);
  tc_dim results = lo_group_numel(L, first, ((1u << first->naxis) - 1) & ~first->sequential);
  return first->nreduce && (tc_dim_same(mine, results) || lo_at_most(L, mine, TAIL));
}

/* g reads an array that `first` writes. */
static bool follows(lo *L, const lo_group *first, const lo_group *g) {
  for (uint32_t i = 0; i < g->nmember; i++) {
    const tc_node *n = lo_node(L, g->member[i]);
    for (int k = 0; k < n->nin; k++) {
      const lo_place *p = &L->place[n->in[k].id];
      if (p->buffer && p->group == first->id && stores_to(first, p->buffer - 1)) return true;
    }
  }
  return false;
}

/* Consecutive groups are nests of one kernel when they make one array, when the second is the tail
 * of the first, or when the first is a split reduction, which has a barrier already. */
static bool same_kernel(lo *L, const lo_group *first, const lo_group *g) {
  if (first->matmul.id || g->matmul.id || first->call.id || g->call.id) return false;
  if (first->kernel || g->kernel) return first->kernel == g->kernel;
  if (first->scan.id || g->scan.id || first->serial || g->serial) return false;
  return follows(L, first, g) && (first->split || is_tail(L, first, g));
}

static void estimate_flops(lo *L, tc_kernel *k) {
  k->flops = tc_dim_const(0);
  for (uint32_t i = 0; i < k->nfused; i++) {
    tc_dim sum = tc_dim_add(L->dims, k->flops, tc_node_flops(L->g, k->fused[i]));
    if (!tc_dim_bad(sum)) k->flops = sum;
  }
}

/* Groups first .. last (descending) become one kernel. */
static void emit_kernel(lo *L, uint32_t first, uint32_t last) {
  lo_kb b = {.L = L, .k = new_kernel(L)};
  for (uint32_t id = first; id >= last; id--) {
    lo_group *g = L->group[id];
    if (g->call.id) lo_emit_call(&b, g);
    else if (g->matmul.id) lo_emit_matmul(&b, g);
    else lo_emit_nest(&b, g);
    add_fused(&b, g);
  }
  lo_join_channels(L, b.k);
}

static void emit_all(lo *L) {
  for (uint32_t id = L->ngroup; id > 0;) {
    uint32_t last = id;
    while (last > 1 && same_kernel(L, L->group[last], L->group[last - 1])) last--;
    emit_kernel(L, id, last);
    id = last - 1;
  }
}

/* Values of written inputs that had to wait until everything was read. */
static void copy_writes(lo *L) {
  lo_kb b = {.L = L};
  for (uint32_t i = 0; i < L->nwrite; i++) {
    const lo_write *w = &L->write[i];
    if (w->direct) continue;
    if (!b.k) b.k = new_kernel(L);
    lo_emit_copy(&b, w->value, w->buffer, w->input);
    L->p->buffer[w->input].written = true;
  }
}

/* ---- the program ----------------------------------------------------------------------------- */

static void run(lo *L) {
  L->fact = lo_alloc(L, L->scratch, (L->count + 1) * sizeof *L->fact);
  L->place = lo_alloc(L, L->scratch, (L->count + 1) * sizeof *L->place);
  L->input_buffer =
      lo_alloc(L, L->scratch, (tc_graph_input_count(L->g) + 1) * sizeof *L->input_buffer);
  lo_find_facts(L);
  lo_find_reproducible(L);
  set_roots(L);
  lo_place_all(L);
  lo_choose_layouts(L);
  emit_all(L);
  lo_make_chains(L);
  lo_resolve_writes(L);
  copy_writes(L);
  lo_fuse_outer_loops(L);
  lo_pad_rows(L);
  lo_plan(L);
  lo_choose_pitches(L);
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    lo_name_kernel(L, &L->p->kernel[i], i + 1);
    estimate_flops(L, &L->p->kernel[i]);
    lo_estimate_bytes(L, &L->p->kernel[i]);
    lo_move_bases(L, &L->p->kernel[i]);
  }
  if (L->target->siblings) lo_join_siblings(L);
  if (L->target->share_products) lo_share_product_sizes(L);
  lo_share_constants(L);
}

static tc_program *new_program(tc_graph *g) {
  tc_arena *arena = tc_arena_new();
  tc_program *p = arena ? tc_arena_alloc(arena, sizeof *p) : NULL;
  if (p) *p = (tc_program){.graph = g, .arena = arena};
  else if (arena) tc_arena_free(arena);
  return p;
}

/* Do epilogues store results as they are, of no other array?  Those of several products are stored
 * one after the other, and what the first one writes may lie where the second one reads. */
static bool stores_results_alone(const tc_program *p, const tc_kernel *k) {
  uint8_t *used = tc_arena_alloc(p->arena, k->nexpr + 1u);
  bool alone = used != NULL;
  if (!alone) return false;
  memset(used, 0, k->nexpr + 1u);
  tc_mark_stage(&k->mm.epilogue, used);
  tc_mark_stage(&k->mm.across.epilogue, used);
  tc_mark_operands(k, used);
  for (uint32_t i = 1; alone && i < k->nexpr; i++)
    alone = !used[i] || k->expr[i].kind != TC_EX_LOAD;
  return alone;
}

/* Tiles of scores and sums of their rows' results stay in the near caches: both n and d are few,
 * where they are known. */
static bool takes_chain(const tc_program *p, const tc_kernel *k) {
  enum { NARROW = 256 };
  tc_dims *d = tc_graph_dims(p->graph);
  int64_t least, most;
  tc_dim_range(d, k->mm.axis[k->mm.nbatch + 1].extent, &least, &most);
  const bool one = !tc_mm_has_beside(&k->mm) && !tc_mm_has_across(&k->mm);
  bool narrow = least <= NARROW && (one || stores_results_alone(p, k));
  for (int i = 0; i < k->mm.inner.n; i++) {
    tc_dim_range(d, k->mm.axis[tc_mm_deep(&k->mm, i)].extent, &least, &most);
    narrow = narrow && least <= NARROW;
  }
  return narrow;
}

const tc_target tc_target_cores = {.name = "cores",
                                   .chunk = 4096,
                                   .split = 16384,
                                   .least_part = 16,
                                   .least_of_row = 4096, /* sums of which need no totals in f64 */
                                   .few_rows = 64,
                                   .few_columns = 1024,
                                   .across = 12,
                                   .scan_lanes = true,
                                   .scatter_lanes = true,
                                   .long_pass = 384,
                                   .online_from = 81920,
                                   .siblings = TC_SIBLINGS_NESTS,
                                   .epilogue_in_place = true,
                                   .intervals = true,
                                   .sorts = true,
                                   .lane_rows = 16,
                                   .product_parts = TC_PARTS_ALL,
                                   .windows_summed = true,
                                   .fused_outer = true,
                                   .epilogue_parts = true,
                                   .terms_apart = true,
                                   .interleave = 4,
                                   .pitched = 16,
                                   .chain = takes_chain};

static tc_program *lower(tc_graph *g, const tc_target *target) {
  tc_program *p = new_program(g);
  lo L = {.g = g, .target = target, .p = p, .dims = tc_graph_dims(g), .count = tc_graph_count(g)};
  L.scratch = tc_arena_new();
  if (!p || !L.scratch) {
    if (p) tc_program_free(p);
    if (L.scratch) tc_arena_free(L.scratch);
    tc_report(tc_graph_diag(g), TC_MISSED, (tc_loc){0}, "not compiled: out of memory");
    return NULL;
  }
  L.arena = p->arena;
  tc_graph_update_types(g);
  bool done = false;
  if (!setjmp(L.failed)) {
    run(&L);
    done = true;
  }
  tc_arena_free(L.scratch);
  if (done) return p;
  tc_program_free(p);
  return NULL;
}

typedef tc_graph *graph_pass(tc_graph *g);

/* What the target has no kernels for, or better ones, is another graph: its own, or g. */
static tc_graph *fitted(tc_graph *g, const tc_target *target) {
  const struct {
    bool wanted;
    graph_pass *run;
  } pass[] = {{!target->sorts, lo_without_sorts},
              {target->windows_at_once, lo_with_windows_at_once},
              {!target->windows_at_once, lo_with_rows_reduced_first},
              {target->windows_summed, lo_with_windows_summed},
              {target->fused_outer, lo_with_phases_cropped},
              {target->product_parts != TC_PARTS_NONE, lo_with_folds_in_products},
              {target->channels_last, lo_with_channels_last},
              {target->product_parts == TC_PARTS_ALL, lo_with_batches_in_products},
              {target->terms_apart, lo_without_few_terms}};
  tc_graph *own = g;
  for (size_t i = 0; own && i < sizeof pass / sizeof *pass; i++) {
    tc_graph *before = own;
    if (pass[i].wanted) own = pass[i].run(before);
    if (own != before && before != g) tc_graph_free(before);
  }
  return own;
}

tc_program *tc_lower(tc_graph *g, const tc_target *target) {
  tc_graph *own = fitted(g, target);
  tc_program *p = own ? lower(own, target) : NULL;
  if (p && own != g) p->own = own;
  else if (own != g) tc_graph_free(own);
  return p;
}

void tc_program_free(tc_program *p) {
  if (!p) return;
  if (p->own) tc_graph_free(p->own);
  tc_arena_free(p->arena);
}

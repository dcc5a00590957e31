/* row_parts.c - rows that are reduced and then stored, where there may be few long ones.
 *
 * A nest whose outer points are rows leaves most of a machine idle then.  Beside it there are nests
 * of parts of rows: for each stage of reductions, which wait for those of the stages in front of it,
 * one that reduces chunks and one that combines them (split.c), which leaves totals in arrays; behind
 * them one over all elements.  That takes a pass over the elements for each stage, and several
 * launches: the launcher takes one way or the other by sizes. */
#include "lower/lowering.h"

/* Does the store have an element for each of a row? */
static bool is_along_row(const lo_group *g, const lo_store *s) {
  return ((s->to->axes | s->at->axes) & g->sequential) != 0;
}

static bool stores_rows(const lo_group *g) {
  bool along = false;
  for (uint32_t i = 0; i < g->nstore; i++) {
    if (g->store[i].add) return false;
    along |= is_along_row(g, &g->store[i]);
  }
  return along;
}

/* Is a product's result among what it reads?  Products and rows may yet be one kernel. */
static bool may_read_product(lo *L, const lo_group *g) {
  bool product = g->more_sources;
  for (uint32_t i = 0; i < g->nsource; i++)
    product |= lo_class(lo_node(L, (tc_ref){g->source[i]})) == TC_CLASS_MATMUL;
  for (uint32_t i = 0; i < g->nreduce; i++) product |= lo_node(L, g->reduce[i].node)->op == OP_MATMUL;
  return product;
}

/* Lanes run along results. */
static bool is_columns(const lo_group *g) { return !(g->sequential >> (g->naxis - 1) & 1); }

static bool may_be_few_long_rows(lo *L, const lo_group *g) {
  const tc_target *t = L->target;
  const bool columns = is_columns(g);
  const int64_t few = columns ? t->few_kept_columns : t->few_kept_rows;
  int64_t least, most;
  if (lo_at_most(L, lo_group_numel(L, g, g->sequential), columns ? t->long_kept_column : t->long_kept_row))
    return false;
  tc_dim_range(L->dims, lo_group_numel(L, g, ~g->sequential), &least, &most);
  return columns ? least < few : most < few; /* rows are many where nothing is known */
}

bool lo_may_part_rows(lo *L, const lo_group *g) {
  if (!L->target->few_kept_rows || !g->nreduce || !g->sequential || g->split || g->serial || g->scan.id || g->ncut)
    return false;
  return stores_rows(g) && !may_read_product(L, g) && may_be_few_long_rows(L, g);
}

/* Of each reduction the number of others that have to be there before it, one behind the other; the largest of them. */
static int find_stages(lo_kb *b, lo_group *g, int *stage) {
  int last = 0;
  lo_begin_nest(b, g);
  for (uint32_t i = g->nreduce; i-- > 0;) {
    if (!b->reduced[i].id) lo_emit_reduce(b, i);
    stage[i] = b->level[b->reduced[i].id] - 1;
  }
  for (uint32_t i = 0; i < g->nreduce; i++)
    if (stage[i] > last) last = stage[i];
  return last;
}

static void store_totals(lo_kb *b, const lo_group *g, const int *stage, int at, lo_total *total) {
  const tc_address to = lo_result_address(b);
  for (uint32_t i = g->nreduce; i-- > 0;) {
    if (stage[i] != at) continue;
    const tc_dtype d = b->k->expr[b->reduced[i].id].dtype;
    const tc_type t = {.dtype = d, .rank = 1, .dim = {lo_group_numel(b->L, g, ~g->sequential)}};
    const uint32_t buffer = lo_new_buffer(b->L, TC_BUF_ARENA, 0, d, &t, "total");
    lo_push_store(b, TC_ACT_STORE, b->reduced[i], buffer, to);
    total[i] = (lo_total){.there = true, .buffer = buffer, .at = to};
  }
}

/* Stores of elements of rows, or of one value for each row. */
static void emit_some_stores(lo_kb *b, const lo_group *g, bool along) {
  for (uint32_t i = g->nstore; i-- > 0;)
    if (is_along_row(g, &g->store[i]) == along) lo_emit_store(b, &g->store[i]);
}

static void store_parts(lo_kb *b, lo_group *g) {
  lo_group flat = *g;
  bool any = false;
  flat.sequential = 0;
  lo_begin_nest(b, &flat);
  emit_some_stores(b, g, true);
  lo_finish_nest(b);
  for (uint32_t i = 0; i < g->nstore; i++) any |= !is_along_row(g, &g->store[i]);
  if (!any) return;
  lo_begin_results(b, g);
  emit_some_stores(b, g, false);
  lo_finish_nest(b);
}

/* Sizes up to which, and from which on, one nest does all of a row. */
static void set_limits(const tc_target *t, lo_group *g) {
  g->whole = is_columns(g) ? t->long_kept_column : t->long_kept_row;
  g->many = is_columns(g) ? t->few_kept_columns : t->few_kept_rows;
}

void lo_part_rows(lo_kb *b, lo_group *g) {
  int *stage = lo_alloc(b->L, b->L->scratch, (g->nreduce + 1) * sizeof *stage);
  lo_total *total = lo_alloc(b->L, b->L->scratch, (g->nreduce + 1) * sizeof *total);
  const int last = find_stages(b, g, stage);
  set_limits(b->L->target, g);
  b->total = total;
  for (int at = 0; at <= last; at++) {
    lo_reduce_parts(b, g, stage, at);
    store_totals(b, g, stage, at, total);
    lo_finish_nest(b);
  }
  store_parts(b, g);
  b->total = NULL;
}

/* stage.c - the stages of a nest at one outer point, and what they know of each other. */
#include "backends/openmp/nest/stage.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- how a stage is run ---------------------------------------------------------------------- */

/* The sequential axis along which a window's rows follow each other as those of the outer axis do, of few points; -1: none.
 * Loads of parts of vectors, which are no operands of other instructions, take the registers that rows would be kept in. */
static int window_axis(tc_omp_nest *x, const tc_stage *st) {
  enum { MOST = 16 };
  const uint8_t *need = tc_omp_needs(&x->f, st);
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!need[id] || e->kind != TC_EX_LOAD || !tc_dim_is(e->address.coef[x->plan->vector], 1)) continue;
    if (x->s.lanes && tc_omp_buffer(&x->f, e->buffer)->kind != TC_BUF_PRIVATE) continue;
    for (int i = x->nest->nparallel; i < x->nest->naxis; ++i) {
      const tc_dim extent = x->nest->axis[i].extent;
      if ((st->axes >> i & 1) && tc_dim_same(e->address.coef[i], e->address.coef[x->plan->outer]) && tc_dim_is_const(extent) &&
          tc_dim_value(extent) <= MOST)
        return i;
    }
  }
  return -1;
}

/* The loop along `axis` becomes the innermost one. */
static void move_inside(tc_omp_run *r, int axis) {
  int n = 0;
  for (int i = 0; i < r->nloop; ++i)
    if (r->loop[i] != axis) r->loop[n++] = r->loop[i];
  if (n < r->nloop) r->loop[n] = axis;
}

static tc_omp_run run_of(tc_omp_nest *x, const tc_stage *st, uint32_t index) {
  const int v = x->plan->vector;
  const tc_omp_stage_schedule *s = &x->stage[index];
  tc_omp_run r = {.st = st, .index = index, .along = tc_omp_along(&x->f, st), .acc = "0"};
  for (int i = x->nest->nparallel; i < x->nest->naxis; ++i)
    if ((st->axes >> i & 1) && !(r.along && i == v)) r.loop[r.nloop++] = i;
  if (r.along) r.loop[r.nloop++] = v;
  r.deinterleave = s->deinterleave && !x->jammed;
  r.unroll = x->jammed ? 1 : x->jam_points ? 1 + r.deinterleave : (int)s->unroll;
  if (x->jammed) snprintf(r.count, sizeof r.count, x->interchanged ? "all" : "jam");
  else snprintf(r.count, sizeof r.count, "%d", r.unroll);
  r.block = x->jam_rows ? s->jam_block : s->block;
  r.one = r.block && r.nloop == 1;
  const int window = x->jam_outer && st->axes ? window_axis(x, st) : -1;
  r.unrolled = window >= 0;
  if (r.unrolled) move_inside(&r, window);
  return r;
}

/* ---- a stage --------------------------------------------------------------------------------- */

void tc_omp_declare_results(tc_omp_nest *x, const tc_action *a, const char *name,
                            const char *rest) {
  for (int i = 0; i < tc_reducer_get(a->reducer)->n; ++i)
    tc_print_line(&x->s, "tc_v%s %s%u%s;",
                  tc_print_compute(tc_accumulator_dtype(a->reducer, i, a->dtype)), name,
                  a->index + (uint32_t)i, rest);
}

static void declare_results(tc_omp_nest *x, uint32_t index) {
  const tc_stage *st = &x->nest->stage[index];
  char many[16] = "";
  if (x->collecting) return;
  if (x->plan->group) snprintf(many, sizeof many, "[%lld]", (long long)x->plan->group);
  if (x->jammed) snprintf(many, sizeof many, x->interchanged ? "[all]" : "[jam]");
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_REDUCE) tc_omp_declare_results(x, &st->action[i], "r", many);
  if (tc_omp_may_skip(x, index))
    tc_print_line(&x->s, "int skipped%u%s = {0};", st->action[0].index, many);
}

/* Each stage is a block of its own: what it hoisted in front of its loops is forgotten, because a
 * later stage may find other contents in a buffer that this one wrote. */
static void put_stage(tc_omp_nest *x, const tc_stage *st, uint32_t index) {
  const tc_omp_run r = run_of(x, st, index);
  const bool block = x->nest->nstage > 1 || r.nloop > 0;
  if (block) {
    tc_print_line(&x->s, "{");
    x->s.indent += 2;
  }
  uint8_t *outer = tc_print_enter(&x->s);
  tc_omp_put_accumulators(x, &r);
  tc_omp_put_carries(x, &r);
  const bool tiles = !tc_omp_lanes_are_points(&x->f) && tc_omp_begin_tiles(x, index);
  x->tiled = index;
  if (x->stage[index].short_runs) tc_omp_put_short_runs(x, &r, x->f.parallel);
  else tc_omp_put_loops(x, &r, 0, x->f.parallel);
  if (tiles) tc_omp_end_tiles(x);
  tc_omp_empty_row_tiles(x, index);
  tc_omp_put_results(x, &r);
  tc_print_leave(&x->s, outer);
  if (block) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
}

/* The stage, without the sums that serve a later one where that is not skipped. */
static void put_serving(tc_omp_nest *x, uint32_t index) {
  const tc_stage *st = &x->nest->stage[index];
  const int late = tc_omp_served_stage(x, st);
  const bool skips = late >= 0 && tc_omp_may_skip(x, (uint32_t)late);
  tc_buf pays = {0};
  const bool both = skips && tc_omp_put_skip_pays(x, (uint32_t)late, &pays);
  tc_stage plain = *st;
  plain.action = late >= 0 ? malloc(st->naction * sizeof *plain.action) : NULL;
  plain.naction = 0;
  for (uint32_t i = 0; plain.action && i < st->naction; ++i)
    if (!st->action[i].serves) plain.action[plain.naction++] = st->action[i];
  if (late >= 0 && !plain.action) x->s.out->failed = true;
  if (both) tc_print_line(&x->s, "if (%s)", pays.text);
  if (late < 0 || skips) put_stage(x, st, index);
  if (both) tc_print_line(&x->s, "else");
  if (late >= 0 && (both || !skips)) put_stage(x, &plain, index);
  free(plain.action);
  tc_buf_free(&pays);
}

/* The stage's cheaper actions, for where an earlier stage was skipped, and the `else` of the
 * others. */
static void put_if_skipped(tc_omp_nest *x, uint32_t index) {
  tc_stage st = x->nest->stage[index];
  char skipped[24];
  tc_omp_skipped(x, st.skipped, skipped);
  st.action = st.if_skipped;
  tc_print_line(&x->s, "if (%s)", skipped);
  put_stage(x, &st, index);
  tc_print_line(&x->s, "else");
}

static void put_at_point(tc_omp_nest *x, uint32_t index) {
  const tc_stage *st = &x->nest->stage[index];
  if (tc_omp_may_skip(x, index)) tc_omp_put_skip(x, index);
  if (st->if_skipped && tc_omp_skips_result(x, st->skipped)) put_if_skipped(x, index);
  put_serving(x, index);
}

static void put_stages(tc_omp_nest *x, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; ++i) {
    declare_results(x, i);
    put_at_point(x, i);
  }
}

void tc_omp_point(tc_omp_nest *x) {
  if (tc_omp_has_tiled_rows(x)) tc_omp_fill_row_tiles(x);
  put_stages(x, 0, x->nest->nstage);
}
void tc_omp_put_front_stages(tc_omp_nest *x) { put_stages(x, 0, x->nest->nstage - 1); }
void tc_omp_put_last_stage(tc_omp_nest *x) { put_stages(x, x->nest->nstage - 1, x->nest->nstage); }

/* The stage at point q and the next one: in its cheaper form if it has one, where both allow that,
 * and then in no other, for the function would have too much to keep in registers. */
static void put_jammed_stage(tc_omp_nest *x, uint32_t index) {
  tc_stage st = x->nest->stage[index];
  const char *const nontemporal = x->s.nontemporal;
  tc_buf skipped = {0};
  if (st.if_skipped && tc_omp_skips_result(x, st.skipped)) {
    tc_putf(&skipped, " && skipped%u[q] && skipped%u[q + 1]", st.skipped, st.skipped);
    st.action = st.if_skipped;
  }
  tc_print_line(&x->s, "if (jammed && q + 1 < count%s) {", skipped.text ? skipped.text : "");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t first = q++;");
  x->s.nontemporal = NULL;
  x->jam_points = true;
  put_stage(x, &st, index);
  x->jam_points = false;
  x->s.nontemporal = nontemporal;
  tc_print_line(&x->s, "continue;");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&skipped);
}

void tc_omp_group(tc_omp_nest *x) {
  for (uint32_t i = 0; i < x->nest->nstage; ++i) {
    declare_results(x, i);
    tc_print_line(&x->s, "for (int64_t q = 0; q < count; ++q) {");
    x->s.indent += 2;
    if (x->stage[i].pairs) put_jammed_stage(x, i);
    tc_print_line(&x->s, "const int64_t %s = task + q;", x->axis_text[0]);
    put_at_point(x, i);
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
}

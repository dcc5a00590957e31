/* loops.c - the loops of a stage over sequential axes. */
#include "backends/openmp/nest/stage.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the body -------------------------------------------------------------------------------- */

/* The parallel axis that is unrolled and jammed. */
static int jammed_axis(const tc_omp_nest *x) {
  return x->jam_rows ? tc_omp_jam_axis(x->nest) : x->jam_outer ? x->plan->outer : x->plan->vector;
}

/* It, and the axis of outer points that share a task, as bits. */
static uint32_t jammed_axes(const tc_omp_nest *x) {
  return 1u << jammed_axis(x) | (x->plan->outer >= 0 ? 1u << x->plan->outer : 0);
}

/* What happens at one point of the sequential axes, for every vector of outer points. */
static void put_jammed_actions(tc_omp_nest *x, const tc_omp_run *r) {
  const int v = jammed_axis(x);
  char *i = x->axis_text[v], base[16];
  snprintf(base, sizeof base, "%s", i);
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < jam; ++u) {");
  snprintf(i, sizeof x->axis_text[v], "j%d", v);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t %s = %s + u%s;", i, base, x->jam_rows || x->jam_outer ? "" : " * TC_L");
  uint8_t *outer = tc_print_enter(&x->s);
  tc_omp_put_actions(x, r, "u");
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  snprintf(i, sizeof x->axis_text[v], "%s", base);
  tc_print_line(&x->s, "}");
}

/* At jammed points: what they share is computed once. */
static void put_jammed_points(tc_omp_nest *x, const tc_omp_run *r, const char *u) {
  tc_print_hoist_stage(&x->s, r->st, 1u << x->plan->vector);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_omp_begin_points(x);
  tc_omp_use_hoisted(x);
  tc_omp_put_actions(x, r, u);
  tc_omp_end_points(x);
  tc_print_leave(&x->s, outer);
}

static void put_body(tc_omp_nest *x, const tc_omp_run *r, const char *u) {
  uint8_t *outer = tc_print_enter(&x->s);
  x->s.indent += 2;
  if (x->jammed) put_jammed_actions(x, r);
  else if (x->jam_points) put_jammed_points(x, r, u);
  else tc_omp_put_actions(x, r, u);
  x->s.indent -= 2;
  tc_print_leave(&x->s, outer);
}

/* The last stage of the outer point before, at element j: its axes are h<a>, its results p<i>, and
 * no value that is printed so far belongs to that point. */
static void put_delayed(tc_omp_nest *x) {
  const int v = x->plan->vector;
  const uint32_t last = x->nest->nstage - 1;
  const tc_omp_run late = {.st = &x->nest->stage[last], .index = last, .along = true};
  const tc_print_scope outer = x->s;
  char axis[TC_MAX_AXES][8], (*result)[16] = calloc(x->nest->nresult + 1, sizeof *result);
  const char **name = calloc(x->nest->nresult + 1, sizeof *name);
  uint8_t *printed = calloc(x->s.k->nexpr + 1, 1);
  if (!result || !name || !printed) x->s.out->failed = true;
  for (int i = 0; i < x->nest->nparallel; ++i) {
    snprintf(axis[i], sizeof axis[i], "h%d", i);
    x->s.axis[i] = axis[i];
  }
  for (uint32_t i = 0; result && name && i < x->nest->nresult; ++i) {
    snprintf(result[i], sizeof result[i], "p%u", i);
    name[i] = result[i];
  }
  x->s.axis[v] = "j", x->s.result = name, x->s.printed = printed;
  if (!x->s.out->failed) tc_omp_put_actions(x, &late, "u");
  x->s = outer;
  free(result);
  free(name);
  free(printed);
}

/* The delayed stage at one place of the loop: for as many vectors as are computed there. */
static void put_delayed_vectors(tc_omp_nest *x, const char *i, int vectors) {
  if (x->plan->align) tc_print_line(&x->s, "if (%s + %d * TC_L + shift <= pending)", i, vectors);
  else tc_print_line(&x->s, "if (pending)");
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %d; ++u) {", vectors);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t j = %s + u * TC_L%s;", i, x->plan->align ? " + shift" : "");
  put_delayed(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* The delayed stage in front of the loop, where vectors are shifted: for the elements in front of
 * the first vector and behind the last. */
static void put_delayed_edges(tc_omp_nest *x, const tc_omp_run *r) {
  tc_print_line(&x->s,
                "const int64_t whole = shift + (pending - shift) / (%d * TC_L) * (%d * TC_L);",
                r->unroll, r->unroll);
  tc_print_line(
      &x->s,
      "for (int64_t j = shift ? 0 : whole, n; j < pending; j = j + n == shift ? whole : j + n) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "n = TC_MIN(TC_L, (j < shift ? shift : pending) - j);");
  x->s.lanes = "n";
  put_delayed(x);
  x->s.lanes = NULL;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Is the stage's interval of the axis known to be shorter than a vector?  What is left of a row is
 * all of it then. */
static bool is_short_interval(const tc_omp_nest *x, const tc_stage *st) {
  enum { LANES = 16 };
  const tc_dim points =
      st->interval ? tc_dim_sub(tc_graph_dims(x->s.p->graph), st->end, st->first) : TC_DIM_INVALID;
  return st->interval && tc_dim_is_const(points) && tc_dim_value(points) < LANES;
}

static void put_short_interval(tc_omp_nest *x, const tc_omp_run *r, const char *from,
                               const char *to) {
  const char *i = x->axis_text[x->plan->vector];
  tc_print_line(&x->s, "int64_t %s = %s;", i, from);
  tc_omp_begin_tail(x, false, i, to);
  x->s.indent -= 2;
  put_body(x, r, r->acc);
  x->s.indent += 2;
  tc_omp_end_tail(x, false, i);
}

/* The body for `unroll` vectors from `base` on, each with accumulators of its own. */
static void put_unrolled(tc_omp_nest *x, const tc_omp_run *r, const char *base) {
  const int v = x->plan->vector;
  char *i = x->axis_text[v];
  if (r->deinterleave) tc_omp_begin_deinterleave(x, r->st);
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %d; ++u) {", r->unroll);
  snprintf(i, sizeof x->axis_text[v], "j%d", v);
  tc_print_line(&x->s, "  const int64_t %s = %s + u * TC_L;", i, base);
  put_body(x, r, "u");
  snprintf(i, sizeof x->axis_text[v], "%s", base);
  tc_print_line(&x->s, "}");
  if (r->deinterleave) tc_omp_end_deinterleave(x);
}

/* The loop along the vector axis from `from` to `to`: unrolled vectors, then vectors, then the
 * rest. */
static void put_vector_loop(tc_omp_nest *x, const tc_omp_run *r, const char *from, const char *to,
                            bool exact) {
  char base[16], step[16];
  snprintf(base, sizeof base, "%s", x->axis_text[x->plan->vector]);
  snprintf(step, sizeof step, r->unroll > 1 ? "%d * TC_L" : "TC_L", r->unroll);
  tc_print_line(&x->s, "int64_t %s = %s;", base, from);
  const bool peeled = tc_omp_begin_peeled(x, r->index, from, to);
  if (peeled) tc_print_line(&x->s, "if (%s >= head)", base);
  tc_print_line(&x->s, "for (; %s + %s <= %s; %s += %s) {", base, step, to, base, step);
  x->s.indent += 2;
  tc_omp_put_prefetch(x, r->index, r->unroll);
  if (x->plan->pipeline == (int)r->index) put_delayed_vectors(x, base, r->unroll);
  const bool terms = tc_omp_sums_terms(x, r);
  if (terms) tc_omp_put_term_round(x, r, r->unroll);
  else if (r->unroll > 1) put_unrolled(x, r, base);
  x->s.indent -= 2;
  if (!terms && r->unroll <= 1) put_body(x, r, r->acc);
  tc_print_line(&x->s, "}");
  if (exact && !peeled) return;
  tc_omp_begin_tail(x, peeled, base, to);
  tc_omp_put_prefetch(x, r->index, 1);
  if (x->plan->pipeline == (int)r->index && !x->plan->align) put_delayed_vectors(x, base, 1);
  if (terms) tc_omp_put_term_round(x, r, 1);
  x->s.indent -= 2;
  if (!terms) put_body(x, r, r->acc);
  x->s.indent += 2;
  tc_omp_end_tail(x, peeled, base);
}

/* Along the vector axis in blocks, each with fresh f32 accumulators. */
static void put_blocks(tc_omp_nest *x, const tc_omp_run *r, const char *from, const char *end,
                       bool exact) {
  const int v = x->plan->vector;
  char stop[16], last[48], start[48] = "block", points[48];
  snprintf(stop, sizeof stop, "stop%d", v);
  snprintf(last, sizeof last, "%s == %s", stop, end);
  snprintf(points, sizeof points, "%s", end);
  if (r->st->interval) {
    snprintf(start, sizeof start, "%s + block", from);
    snprintf(points, sizeof points, "%s - %s", end, from);
  }
  tc_omp_open_block(x, r, points);
  tc_print_line(&x->s, "const int64_t %s = TC_MIN(%s + %lld, %s);", stop, start,
                (long long)r->block, end);
  tc_omp_put_fresh(x, r);
  put_vector_loop(x, r, start, stop, exact);
  tc_omp_put_fold(x, r, last);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* A scalar loop over an axis, in blocks. */
static void put_scalar_blocks(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *extent) {
  const char *i = x->axis_text[axis];
  tc_buf last = {0};
  tc_putf(&last, "block + %lld >= %s", (long long)r->block, extent);
  tc_omp_open_block(x, r, extent);
  tc_omp_put_fresh(x, r);
  tc_print_line(&x->s, "for (int64_t %s = block; %s < TC_MIN(block + %lld, %s); ++%s) {", i, i,
                (long long)r->block, extent, i);
  put_body(x, r, "0");
  tc_print_line(&x->s, "}");
  tc_omp_put_fold(x, r, last.text);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&last);
}

/* from<a> and end<a>: the points of the vector axis that the stage takes of the chunk at hand. */
static void put_bounds(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *extent) {
  const tc_axis *a = &x->nest->axis[axis];
  tc_buf first = {0}, end = {0}, start = {0};
  if (!r->st->interval) {
    tc_print_line(&x->s, "const int64_t end%d = %s;", axis, extent);
    return;
  }
  tc_print_dim(x->s.p, r->st->first, &first);
  tc_print_dim(x->s.p, r->st->end, &end);
  if (a->of < 0) {
    tc_print_line(&x->s, "const int64_t from%d = %s, end%d = %s;", axis, first.text, axis,
                  end.text);
  } else {
    tc_print_dim(x->s.p, a->extent, &start);
    tc_print_line(&x->s, "const int64_t from%d = TC_MAX(0, %s - %s * (%s));", axis, first.text,
                  x->s.axis[a->of], start.text);
    tc_print_line(&x->s, "const int64_t end%d = TC_MIN(%s, %s - %s * (%s));", axis, extent,
                  end.text, x->s.axis[a->of], start.text);
  }
  tc_buf_free(&first);
  tc_buf_free(&end);
  tc_buf_free(&start);
}

static void put_innermost(tc_omp_nest *x, const tc_omp_run *r, int axis) {
  tc_buf e = {0};
  tc_print_extent(&x->s, &x->nest->axis[axis], &e);
  const tc_axis *a = &x->nest->axis[axis];
  const int64_t multiple = tc_dim_multiple(tc_graph_dims(x->s.p->graph), a->extent);
  const bool exact = a->of < 0 && !r->st->interval && multiple % (16 * r->unroll) == 0;
  const char *i = x->axis_text[axis];
  if (r->along) {
    put_bounds(x, r, axis, e.text);
    char from[16] = "0", end[16];
    if (r->st->interval) snprintf(from, sizeof from, "from%d", axis);
    snprintf(end, sizeof end, "end%d", axis);
    tc_omp_put_prefetch_distance(x, r->index);
    if (x->plan->pipeline == (int)r->index && x->plan->align) put_delayed_edges(x, r);
    const bool packed = tc_omp_begin_packed_rows(x, r->index, from, end);
    if (r->block) put_blocks(x, r, from, end, exact);
    else if (is_short_interval(x, r->st)) put_short_interval(x, r, from, end);
    else put_vector_loop(x, r, from, end, exact);
    if (packed) tc_omp_end_packed_rows(x);
  } else if (x->interchanged) tc_omp_put_interchanged_loop(x, r, axis, e.text);
  else if (r->block) put_scalar_blocks(x, r, axis, e.text);
  else {
    tc_print_line(&x->s, "%sfor (int64_t %s = 0; %s < %s; ++%s) {", r->unrolled ? "TC_UNROLL " : "", i, i, e.text, i);
    put_body(x, r, r->acc);
    tc_print_line(&x->s, "}");
  }
  tc_buf_free(&e);
}

/* ---- all axes -------------------------------------------------------------------------------- */

void tc_omp_put_loops(tc_omp_nest *x, const tc_omp_run *r, int level, uint32_t mask) {
  if (x->jam_points) tc_omp_hoist_points(x, r->st);
  else tc_print_hoist_stage(&x->s, r->st, x->jammed ? mask & ~jammed_axes(x) : mask);
  if (r->nloop == 0) {
    if (x->interchanged) tc_omp_put_each_vector(x, r);
    else if (x->jammed) put_jammed_actions(x, r);
    else tc_omp_put_actions(x, r, "0");
    return;
  }
  const int axis = r->loop[level];
  if (level == r->nloop - 1) {
    put_innermost(x, r, axis);
    return;
  }
  tc_buf e = {0};
  tc_print_extent(&x->s, &x->nest->axis[axis], &e);
  tc_print_line(&x->s, "%sfor (int64_t %s = 0; %s < %s; ++%s) {", r->unrolled ? "TC_ROLLED " : "", x->axis_text[axis],
                x->axis_text[axis], e.text, x->axis_text[axis]);
  tc_buf_free(&e);
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  tc_omp_put_loops(x, r, level + 1, mask | 1u << axis);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* interchange.c - reductions whose outer points are the lanes, with the loop over what is reduced
 * outside of the one over the vectors of a tile (schedule/interchange.c).
 *
 *   enum { most = vectors of a tile, rows, all };
 *   tc_vf32 acc0[all];
 *   for (; in_order && i1 < stop1; ++i1) ...            rows that follow each other in memory, else:
 *   for (; i1 + rows <= stop1; i1 += rows)
 *     for (w = 0; w < whole; ++w)                       a vector of columns; u = w
 *       TC_UNROLL for (j1 = i1; j1 < i1 + rows / 2; ++j1) acc0[u] += ...
 *       TC_UNROLL for (j1 = i1 + rows / 2; j1 < i1 + rows; ++j1) acc0[most] += ...
 *       acc0[u] += acc0[most]
 *   for (w = 0; w < whole; ++w)                         the rows that are left
 *     for (j1 = i1; j1 < stop1; ++j1) acc0[u] += ...
 *   if (over && !in_order) ...                          the columns behind the last whole vector
 *
 * What runs seldom, or has such a loop inside, is not unrolled: that would be most of the code.
 *
 * Outer points that share a task have accumulators of their own, u = g * (most + 1) + w. */
#include "backends/openmp/nest/stage.h"

#include <stdio.h>

static bool has_outer(const tc_omp_nest *x) { return x->plan->outer >= 0; }

/* A loop over the outer points of the task, if it has several. */
static void open_outer(tc_omp_nest *x) {
  if (!has_outer(x)) return;
  tc_print_line(&x->s, "TC_ROLLED for (int64_t g = 0; g < outers; ++g) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t %s = outer * %lld + g;", x->axis_text[x->plan->outer],
                (long long)x->plan->outer_tile);
}

static void close_outer(tc_omp_nest *x) {
  if (!has_outer(x)) return;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Actions at the points that the loop `head` names j<axis>, or, for head NULL, where the axis is;
 * u: the accumulator. */
static void put_points(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *head,
                       const char *u) {
  char *const k = x->axis_text[axis], row[16];
  snprintf(row, sizeof row, "%s", k);
  if (head) {
    tc_print_line(&x->s, "%s {", head);
    snprintf(k, sizeof *x->axis_text, "j%d", axis);
    x->s.indent += 2;
  }
  uint8_t *outer = tc_print_enter(&x->s);
  tc_omp_put_actions(x, r, u);
  tc_print_leave(&x->s, outer);
  if (!head) return;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  snprintf(k, sizeof *x->axis_text, "%s", row);
}

/* `rows` points, half of them in a chain of dependent operations of their own. */
static void put_jammed_points(tc_omp_nest *x, const tc_omp_run *r, int axis) {
  const char *const i = x->axis_text[axis], *const spare = has_outer(x) ? "g * (most + 1) + most" : "most";
  char head[96];
  snprintf(head, sizeof head, "TC_UNROLL for (int64_t j%d = %s; j%d < %s + rows / 2; ++j%d)", axis,
           i, axis, i, axis);
  put_points(x, r, axis, head, "u");
  tc_omp_put_spare(x, r, spare);
  snprintf(head, sizeof head, "TC_UNROLL for (int64_t j%d = %s + rows / 2; j%d < %s + rows; ++j%d)",
           axis, i, axis, i, axis);
  put_points(x, r, axis, head, spare);
  tc_omp_join_spare(x, r, spare);
}

/* POINT: where the axis is; JAMMED: `rows` points; REST: those that a loop names. */
typedef enum { POINT, JAMMED, REST } points;

/* At vector w of the tile. */
static void put_vector(tc_omp_nest *x, const tc_omp_run *r, int axis, points p, const char *head) {
  char *const i = x->axis_text[x->plan->vector], column[16];
  snprintf(column, sizeof column, "%s", i);
  snprintf(i, sizeof *x->axis_text, "j%d", x->plan->vector);
  tc_print_line(&x->s, "const int64_t %s = %s + w * TC_L, u = %sw;", i, column,
                has_outer(x) ? "g * (most + 1) + " : "");
  if (p == JAMMED) put_jammed_points(x, r, axis);
  else put_points(x, r, axis, p == REST ? head : NULL, "u");
  snprintf(i, sizeof *x->axis_text, "%s", column);
}

/* At all whole vectors: rows in order, or each vector of what is read for all outer points while it
 * is near. */
static void put_whole(tc_omp_nest *x, const tc_omp_run *r, int axis, points p, const char *head) {
  if (p == POINT) open_outer(x);
  tc_print_line(&x->s, "%sfor (int64_t w = 0; w < whole; ++w) {", p == POINT ? "" : "TC_ROLLED ");
  x->s.indent += 2;
  if (p != POINT) open_outer(x);
  put_vector(x, r, axis, p, head);
  if (p != POINT) close_outer(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  if (p == POINT) close_outer(x);
}

/* At the lanes behind them, where the text `condition` holds. */
static void put_over(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *condition, points p,
                     const char *head) {
  tc_print_line(&x->s, "if (%s) {", condition);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t w = whole;");
  open_outer(x);
  x->s.lanes = "over";
  put_vector(x, r, axis, p, head);
  x->s.lanes = NULL;
  close_outer(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_omp_put_each_vector(tc_omp_nest *x, const tc_omp_run *r) {
  put_whole(x, r, x->plan->vector, POINT, NULL);
  put_over(x, r, x->plan->vector, "over", POINT, NULL);
}

/* A loop over `from` .. stop<axis>. */
static void put_head(int axis, const char *from, char head[96]) {
  snprintf(head, 96, "TC_ROLLED for (int64_t j%d = %s; j%d < stop%d; ++j%d)", axis, from, axis,
           axis, axis);
}

/* The axis from `from` to `stop`. */
static void put_rows(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *from,
                     const char *stop) {
  const char *i = x->axis_text[axis];
  char rest[96], all[96];
  put_head(axis, i, rest);
  put_head(axis, from, all);
  tc_print_line(&x->s, "const int64_t stop%d = %s;", axis, stop);
  tc_print_line(&x->s, "int64_t %s = %s;", i, from);
  tc_print_line(&x->s, "for (; in_order && %s < stop%d; ++%s) {", i, axis, i);
  x->s.indent += 2;
  put_whole(x, r, axis, POINT, NULL);
  put_over(x, r, axis, "over", POINT, NULL);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "for (; %s + rows <= stop%d; %s += rows)", i, axis, i);
  x->s.indent += 2;
  put_whole(x, r, axis, JAMMED, NULL);
  x->s.indent -= 2;
  put_whole(x, r, axis, REST, rest);
  put_over(x, r, axis, "over && !in_order", REST, all);
}

void tc_omp_put_interchanged_loop(tc_omp_nest *x, const tc_omp_run *r, int axis,
                                  const char *extent) {
  tc_buf stop = {0}, last = {0};
  if (!r->block) {
    put_rows(x, r, axis, "0", extent);
    return;
  }
  tc_putf(&stop, "TC_MIN(block + %lld, %s)", (long long)r->block, extent);
  tc_putf(&last, "stop%d == %s", axis, extent);
  tc_omp_open_block(x, r, extent);
  tc_omp_put_fresh(x, r);
  put_rows(x, r, axis, "block", stop.text);
  tc_omp_put_fold(x, r, last.text);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&stop);
  tc_buf_free(&last);
}

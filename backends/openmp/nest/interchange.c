/* interchange.c - reductions whose outer points are the lanes, with the loop over what is reduced outside of the one over
 * the vectors of a tile (schedule/interchange.c).
 *
 *   enum { most = vectors of a tile, rows };
 *   tc_vf32 acc0[most + 1];
 *   for (; in_order && i1 < stop1; ++i1) ...            rows that follow each other in memory, else:
 *   for (; i1 + rows <= stop1; i1 += rows)
 *     for (u = 0; u < whole; ++u)                       a vector of columns
 *       TC_UNROLL for (j1 = i1; j1 < i1 + rows / 2; ++j1) acc0[u] += ...
 *       TC_UNROLL for (j1 = i1 + rows / 2; j1 < i1 + rows; ++j1) acc0[most] += ...
 *       acc0[u] += acc0[most]
 *   for (u = 0; u < whole; ++u)                         the rows that are left
 *     for (j1 = i1; j1 < stop1; ++j1) acc0[u] += ...
 *   if (over && !in_order) ...                          the columns behind the last whole vector */
#include "backends/openmp/nest/stage.h"

#include <stdio.h>

/* Vectors of a row from which on storing an accumulator and loading it again at the next row wait for nothing. */
enum { NARROW = 4 };

void tc_omp_put_interchanged(tc_omp_nest *x) {
  const char *i = x->axis_text[x->plan->vector];
  tc_buf columns = {0};
  tc_print_line(&x->s, "enum { most = %lld / TC_L, rows = TC_MAX(1, TC_COLUMNS / %lld) };", (long long)x->plan->tile,
                (long long)x->plan->interchange);
  tc_print_line(&x->s, "const int64_t whole = (end - %s) / TC_L, over = (end - %s) %% TC_L, jam = whole + (over > 0);", i, i);
  tc_print_extent(&x->s, &x->nest->axis[x->plan->vector], &columns);
  tc_print_line(&x->s, "const int in_order = %s <= %lld && whole >= %d;", columns.text, (long long)x->plan->tile, NARROW);
  tc_omp_point(x);
  tc_buf_free(&columns);
}

/* Actions at the points that the loop `head` names j<axis>, or, for head NULL, where the axis is; u: the accumulator. */
static void put_points(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *head, const char *u) {
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
  const char *const i = x->axis_text[axis];
  char head[96];
  snprintf(head, sizeof head, "TC_UNROLL for (int64_t j%d = %s; j%d < %s + rows / 2; ++j%d)", axis, i, axis, i, axis);
  put_points(x, r, axis, head, "u");
  tc_omp_put_spare(x, r);
  snprintf(head, sizeof head, "TC_UNROLL for (int64_t j%d = %s + rows / 2; j%d < %s + rows; ++j%d)", axis, i, axis, i, axis);
  put_points(x, r, axis, head, "most");
  tc_omp_join_spare(x, r);
}

/* At vector u: `rows` points, those that the loop `head` names, or one. */
static void put_vector(tc_omp_nest *x, const tc_omp_run *r, int axis, bool jammed, const char *head) {
  char *const i = x->axis_text[x->plan->vector], column[16];
  snprintf(column, sizeof column, "%s", i);
  snprintf(i, sizeof *x->axis_text, "j%d", x->plan->vector);
  tc_print_line(&x->s, "const int64_t %s = %s + u * TC_L;", i, column);
  if (jammed) put_jammed_points(x, r, axis);
  else put_points(x, r, axis, head, "u");
  snprintf(i, sizeof *x->axis_text, "%s", column);
}

/* At all whole vectors. */
static void put_whole(tc_omp_nest *x, const tc_omp_run *r, int axis, bool jammed, const char *head) {
  tc_print_line(&x->s, "for (int64_t u = 0; u < whole; ++u) {");
  x->s.indent += 2;
  put_vector(x, r, axis, jammed, head);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* At the lanes behind them, where the text `condition` holds. */
static void put_over(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *condition, const char *head) {
  tc_print_line(&x->s, "if (%s) {", condition);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t u = whole;");
  x->s.lanes = "over";
  put_vector(x, r, axis, false, head);
  x->s.lanes = NULL;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_omp_put_each_vector(tc_omp_nest *x, const tc_omp_run *r) {
  put_whole(x, r, x->plan->vector, false, NULL);
  put_over(x, r, x->plan->vector, "over", NULL);
}

/* A loop over `from` .. stop<axis>. */
static void put_head(int axis, const char *from, char head[96]) {
  snprintf(head, 96, "for (int64_t j%d = %s; j%d < stop%d; ++j%d)", axis, from, axis, axis, axis);
}

/* The axis from `from` to `stop`. */
static void put_rows(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *from, const char *stop) {
  const char *i = x->axis_text[axis];
  char rest[96], all[96];
  put_head(axis, i, rest);
  put_head(axis, from, all);
  tc_print_line(&x->s, "const int64_t stop%d = %s;", axis, stop);
  tc_print_line(&x->s, "int64_t %s = %s;", i, from);
  tc_print_line(&x->s, "for (; in_order && %s < stop%d; ++%s) {", i, axis, i);
  x->s.indent += 2;
  put_whole(x, r, axis, false, NULL);
  put_over(x, r, axis, "over", NULL);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "for (; %s + rows <= stop%d; %s += rows)", i, axis, i);
  x->s.indent += 2;
  put_whole(x, r, axis, true, NULL);
  x->s.indent -= 2;
  put_whole(x, r, axis, false, rest);
  put_over(x, r, axis, "over && !in_order", all);
}

void tc_omp_put_interchanged_loop(tc_omp_nest *x, const tc_omp_run *r, int axis, const char *extent) {
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

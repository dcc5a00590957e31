/* tasks.c - the tasks of a nest: products of points of its parallel axes, and the loop over those of a thread. */
#include "backends/openmp/nest/nest.h"

void tc_omp_put_task_loop(tc_omp_nest *x, bool team, const char *step) {
  if (!team) tc_print_line(&x->s, "for (int64_t task = 0, last = tasks; task < last; %s) {", step);
  else
    tc_print_line(&x->s,
                  "for (int64_t task = tc_share(tasks, part, parts), "
                  "last = tc_share(tasks, part + 1, parts); task < last; %s) {",
                  step);
}

/* Points of a parallel axis in a task, 0: one. */
long long tc_omp_tile_of(const tc_omp_nest *x, int axis) {
  if (x->plan->jam_rows) return axis == tc_omp_jam_axis(x->nest) ? x->plan->jam_rows : 0;
  return axis == x->plan->vector ? x->plan->tile : axis == x->plan->outer ? x->plan->outer_tile : 0;
}

/* Points of the axis, or tiles of them. */
static void put_count(const tc_omp_nest *x, int axis, tc_buf *out) {
  tc_buf e = {0};
  tc_print_dim(x->s.p, x->nest->axis[axis].extent, &e);
  if (tc_omp_tile_of(x, axis)) tc_putf(out, "TC_CEILDIV(%s, %lld)", e.text, tc_omp_tile_of(x, axis));
  else tc_putf(out, "(%s)", e.text);
  tc_buf_free(&e);
}

/* Tasks of a nest: product of the outer extents, the vectorised one in tiles. */
void tc_omp_put_task_count(const tc_omp_nest *x, tc_buf *out) {
  const tc_nest *n = x->nest;
  for (int i = 0; i < n->nparallel; ++i) {
    if (out->len) tc_put(out, " * ");
    put_count(x, i, out);
  }
  if (!out->len) tc_put(out, "1");
}

/* The variable of an axis's points, or of its tiles. */
const char *tc_omp_task_variable(const tc_omp_nest *x, int i) {
  return i == x->plan->vector ? "tile" : tc_omp_tile_of(x, i) ? "outer" : x->axis_text[i];
}

/* The variable of every parallel axis at the first task, whose number is divided: last axis fastest; of the vectorised axis the
 * tile number. */
static void put_first(tc_omp_nest *x, const char *task) {
  tc_print_line(&x->s, "int64_t rest = %s;", task);
  for (int i = x->nest->nparallel - 1; i > 0; --i) {
    tc_buf count = {0};
    put_count(x, i, &count);
    tc_print_line(&x->s, "int64_t %s = tc_digit(&rest, %s);", tc_omp_task_variable(x, i), count.text);
    tc_buf_free(&count);
  }
  tc_print_line(&x->s, "int64_t %s = rest;", tc_omp_task_variable(x, 0));
}

/* What moves them on to the next task. */
static void put_next(const tc_omp_nest *x, tc_buf *out) {
  for (int i = x->nest->nparallel - 1; i > 0; --i) {
    const char *const name = tc_omp_task_variable(x, i);
    tc_putf(out, "++%s < ", name);
    put_count(x, i, out);
    tc_putf(out, "%s || (%s = 0, ", i + 1 < x->nest->nparallel ? ")" : "", name);
  }
  tc_putf(out, "++%s)", tc_omp_task_variable(x, 0));
}

/* The loop over a thread's tasks. */
void tc_omp_open_tasks(tc_omp_nest *x, bool team) {
  const bool shared = team && !x->nest->serial;
  const char *const first = shared ? "tc_share(tasks, part, parts)" : "0";
  tc_buf next = {0};
  tc_put(&next, "++task");
  if (x->nest->nparallel > 1) {
    put_first(x, first);
    tc_putf(&next, ",\n%*s", x->s.indent + 5, "");
    put_next(x, &next);
  }
  if (shared || !team) tc_omp_put_task_loop(x, team, next.text);
  else tc_print_line(&x->s, "for (int64_t task = 0; part == 0 && task < tasks; %s) {", next.text);
  x->s.indent += 2;
  if (x->nest->nparallel == 1) tc_print_line(&x->s, "const int64_t %s = task;", tc_omp_task_variable(x, 0));
  tc_buf_free(&next);
}

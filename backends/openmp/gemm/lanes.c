/* lanes.c - loops along m, n and k of a product, by points and in vectors, and where their parts
 * are. */
#include "backends/openmp/gemm/matmul.h"

#include <stdio.h>

static void put_points(const tc_omp_matmul *x, int part, tc_buf *out) {
  tc_put(out, "(");
  tc_print_dim(x->p, x->mm->axis[part].extent, out);
  tc_put(out, ")");
}

void tc_omp_mm_open_parts(tc_omp_matmul *x, int axis, const char *from) {
  const char *const name = x->axis[axis], *const now = x->s.axis[axis];
  const uint32_t parts = tc_mm_parts(x->mm, axis);
  for (int p = 0; p < x->s.naxis; ++p) {
    tc_buf first = {0};
    if (!(parts >> p & 1)) continue;
    x->s.axis[axis] = from;
    tc_print_axis_part(&x->s, x->mm, p, &first);
    x->s.axis[axis] = now;
    snprintf(x->axis[p], sizeof x->axis[p], "%s_%d", name,
             __builtin_popcount(parts & ((1u << p) - 1)));
    tc_print_line(&x->s, "int64_t %s = %s;", x->axis[p], first.text);
    x->s.axis[p] = x->axis[p];
    tc_buf_free(&first);
  }
}

void tc_omp_mm_close_parts(tc_omp_matmul *x, int axis, const char *by) {
  const uint32_t parts = tc_mm_parts(x->mm, axis);
  const int last = tc_mm_innermost(x->mm, axis);
  tc_print_line(&x->s, "%s += %s;", x->axis[last], by);
  for (int p = last, outer; p >= 0; p = outer) {
    tc_buf points = {0};
    for (outer = p - 1; outer >= 0 && !(parts >> outer & 1);) --outer;
    x->s.axis[p] = x->part[p].text;
    if (outer < 0) break;
    put_points(x, p, &points);
    tc_print_line(&x->s, "const int64_t %s_over = %s == %s;", x->axis[p], x->axis[p], points.text);
    tc_print_line(&x->s, "%s = %s_over ? 0 : %s;", x->axis[p], x->axis[p], x->axis[p]);
    tc_print_line(&x->s, "%s += %s_over;", x->axis[outer], x->axis[p]);
    tc_buf_free(&points);
  }
}

bool tc_omp_mm_by_parts(const tc_omp_matmul *x, tc_val v, int axis) {
  return x->s.depends[v.id] & tc_mm_parts(x->mm, axis);
}

void tc_omp_mm_open_points(tc_omp_matmul *x, tc_val v, int axis, const char *from,
                           const char *head) {
  if (tc_omp_mm_by_parts(x, v, axis)) tc_omp_mm_open_parts(x, axis, from);
  tc_print_line(&x->s, "%s {", head);
  x->s.indent += 2;
}

void tc_omp_mm_close_points(tc_omp_matmul *x, tc_val v, int axis) {
  if (tc_omp_mm_by_parts(x, v, axis)) tc_omp_mm_close_parts(x, axis, "1");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_omp_mm_open_runs(tc_omp_matmul *x, int axis, const char *longest, const char *from,
                         const char *to) {
  const char *const i = x->axis[axis];
  const int last = tc_mm_innermost(x->mm, axis);
  tc_buf points = {0};
  x->axis_of_runs = axis;
  tc_omp_mm_open_parts(x, axis, from);
  put_points(x, last, &points);
  tc_print_line(&x->s, "for (int64_t %s = %s, rest; %s < %s; %s += rest) {", i, from, i, to, i);
  x->s.indent += 2;
  tc_print_line(&x->s, "rest = TC_MIN(%s - %s, %s - %s);", to, i, points.text, x->axis[last]);
  if (longest) tc_print_line(&x->s, "rest = TC_MIN(rest, %s);", longest);
  x->s.part = last + 1;
  tc_buf_free(&points);
}

void tc_omp_mm_open_lanes(tc_omp_matmul *x, int axis, uint32_t depends, const char *from,
                          const char *to, bool whole) {
  const char *i = x->axis[axis];
  x->s.lanes = whole ? NULL : "rest";
  x->s.vector = axis;
  if (depends & tc_mm_parts(x->mm, axis)) {
    tc_omp_mm_open_runs(x, axis, x->longest ? x->longest : "TC_L", from, to);
    return;
  }
  tc_print_line(&x->s, "for (int64_t %s = %s; %s < %s; %s += TC_L) {", i, from, i, to, i);
  x->s.indent += 2;
  if (!whole) tc_print_line(&x->s, "const int64_t rest = TC_MIN(TC_L, %s - %s);", to, i);
}

void tc_omp_mm_close_lanes(tc_omp_matmul *x) {
  if (x->s.part) tc_omp_mm_close_parts(x, x->axis_of_runs, "rest");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.lanes = NULL;
  x->s.vector = -1;
  x->s.part = 0;
}

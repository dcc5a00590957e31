/* dense_stores.c - lanes that go on from row to row: an item is TC_L points that follow one another
 * in what is stored, and each lane has indices j<axis> of its own.
 *
 * Rows of TC_L elements or more end once in an item, at most: lanes in front of `left` are in the
 * row of indices i<axis>, others in the next one, of indices next<axis> (the same row, if none is).
 * What all of a row have in common is loaded once for each of the two. */
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/access.h"

#include <stdio.h>

void tc_cuda_open_dense(tc_cuda_nest *x) {
  tc_cuda_stores_densely(x->s.k, x->s.p, x->nest, x->dense_steps);
  x->s.counted = (1u << x->nest->naxis) - 1;
  x->s.dense = x->dense_steps;
  for (int i = 0; i < x->nest->naxis; ++i) {
    snprintf(x->lane_text[i], sizeof x->lane_text[i], "j%d", i);
    x->s.lane_axis[i] = x->lane_text[i];
  }
}

static tc_buf extent_of(const tc_cuda_nest *x, int axis) {
  tc_buf e = {0};
  tc_print_extent(&x->s, &x->nest->axis[axis], &e);
  if (!e.text) tc_put(&e, "1");
  return e;
}

/* Are rows known to be shorter than an item? */
static bool is_short(const tc_cuda_nest *x, tc_dim width) { return tc_dim_is_const(width) && tc_dim_value(width) < x->plan->width; }

static bool has_two_rows(const tc_cuda_nest *x) {
  return x->nest->naxis > 1 && !is_short(x, x->nest->axis[x->nest->vector].extent);
}

/* Lanes along the fastest axis go one further each; where it ends they begin again, and go one
 * further along the axis in front of it. */
static void put_steps(tc_cuda_nest *x, const int list[], int n) {
  tc_print_line(&x->s, "tc_vidx on = tc_first_steps<TC_L, tc_int>();");
  for (int j = n - 1; j >= 0; --j) {
    tc_buf e = extent_of(x, list[j]);
    tc_print_line(&x->s, "const tc_vidx j%d = tc_stepped<tc_int>(i%d, (tc_int)(%s), &on);", list[j], list[j], e.text);
    tc_buf_free(&e);
  }
}

/* next<axis>, and the indices of lanes. */
static void put_next(tc_cuda_nest *x, const int list[], int n) {
  for (int j = n - 2; j >= 0; --j) {
    const int axis = list[j];
    tc_buf e = extent_of(x, list[j + 1]);
    if (j == n - 2) tc_print_line(&x->s, "tc_int next%d = i%d + (left < TC_L);", axis, axis);
    else {
      tc_print_line(&x->s, "tc_int next%d = i%d;", axis, axis);
      tc_print_line(&x->s, "if (next%d == (tc_int)(%s)) next%d = 0, ++next%d;", list[j + 1], e.text, list[j + 1], axis);
    }
    tc_buf_free(&e);
  }
  for (int j = n - 2; j >= 0; --j)
    tc_print_line(&x->s, "const tc_vidx j%d = tc_of_rows<TC_L>(left, tc_two(tc_set<tc_int>(i%d), tc_set<tc_int>(next%d)));", list[j], list[j],
                  list[j]);
}

void tc_cuda_put_lane_indices(tc_cuda_nest *x, const int list[], int n) {
  const int v = x->nest->vector;
  if (n < 2) tc_print_line(&x->s, "const tc_vidx j0 = tc_set<tc_int>(i0) + TC_LANES_IDX;");
  else if (!has_two_rows(x)) put_steps(x, list, n);
  else {
    tc_buf e = extent_of(x, v);
    tc_print_line(&x->s, "const tc_int left = (tc_int)(%s) - i%d;", e.text, v);
    tc_print_line(&x->s, "const tc_vidx j%d = tc_of_rows<TC_L>(left, tc_two(tc_set<tc_int>(i%d), tc_set<tc_int>(-left))) + TC_LANES_IDX;",
                  v, v);
    put_next(x, list, n);
    tc_buf_free(&e);
  }
}

void tc_cuda_put_lane_rows(tc_cuda_nest *x, uint32_t row, tc_dim width) {
  tc_buf w = {0};
  tc_print_dim(x->s.p, width, &w);
  const char *text = w.text ? w.text : "1";
  if (is_short(x, width)) {
    tc_print_line(&x->s, "tc_vidx on%u = tc_first_steps<TC_L, tc_int>();", row);
    tc_print_line(&x->s, "tc_stepped<tc_int>(i0 - row%u * (tc_int)(%s), (tc_int)(%s), &on%u);", row, text, text, row);
    tc_print_line(&x->s, "const tc_vidx rows_of%u = tc_stepped<tc_int>(row%u, TC_NO_END, &on%u);", row, row, row);
  } else {
    tc_print_line(&x->s,
                  "const tc_vidx rows_of%u = tc_of_rows<TC_L>((row%u + 1) * (tc_int)(%s) - i0, tc_two(tc_set<tc_int>(row%u), "
                  "tc_set<tc_int>(row%u + 1)));",
                  row, row, text, row, row);
  }
  tc_buf_free(&w);
}

/* ---- loads ----------------------------------------------------------------------------------- */

static const char *storage_of(const tc_cuda_nest *x, const tc_expr *e) {
  return tc_print_storage(x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype);
}

/* The address of the next row. */
static void put_next_address(tc_cuda_nest *x, const tc_address *a, tc_buf *out) {
  char next[TC_MAX_AXES][16];
  const char *own[TC_MAX_AXES];
  for (int i = 0; i < x->nest->naxis; ++i) {
    snprintf(next[i], sizeof next[i], "next%d", i);
    own[i] = x->s.axis[i];
    x->s.axis[i] = next[i];
  }
  tc_print_address(&x->s, a, out);
  for (int i = 0; i < x->nest->naxis; ++i) x->s.axis[i] = own[i];
}

/* C: do elements follow one another, because rows that might lie apart do not?  Nothing if they never do. */
static void put_follow(const tc_cuda_nest *x, const tc_address *a, tc_buf *out) {
  bool may = true, any = false;
  for (int i = 0; i < x->nest->naxis; ++i) may = may && tc_dim_same(tc_dense_step(x->s.p, a->coef[i]), x->dense_steps[i]);
  for (int i = 0; may && i < x->nest->naxis; ++i) {
    if (tc_dim_same(a->coef[i], x->dense_steps[i])) continue;
    tc_put(out, any ? " && (" : "(");
    tc_print_dim(x->s.p, a->coef[i], out);
    tc_put(out, ") == (");
    tc_print_dim(x->s.p, x->dense_steps[i], out);
    tc_put(out, ")");
    any = true;
  }
}

bool tc_cuda_is_of_rows(const tc_cuda_nest *x, uint32_t id) {
  const tc_address *a = &x->s.k->expr[id].address;
  return x->dense && has_two_rows(x) && !a->nterm && tc_dim_is(a->coef[x->nest->vector], 0);
}

void tc_cuda_put_load_of_lanes(tc_cuda_nest *x, uint32_t id, tc_buf *out) {
  const tc_expr *e = &x->s.k->expr[id];
  const char *t = storage_of(x, e);
  tc_buf at = {0}, next = {0}, follow = {0};
  tc_print_address(&x->s, &e->address, &at);
  put_follow(x, &e->address, &follow);
  if (tc_cuda_is_of_rows(x, id)) {
    put_next_address(x, &e->address, &next);
    tc_putf(out, "tc_two(tc_splat_%s(b%u + (%s)), tc_splat_%s(b%u + (%s)))", t, e->buffer, at.text ? at.text : "0", t, e->buffer,
            next.text ? next.text : "0");
  } else {
    if (follow.len)
      tc_putf(out, "%s ? tc_loaded_from<TC_L, TC_ANYWHERE>(b%u + (%s)) : ", follow.text, e->buffer, at.text ? at.text : "0");
    tc_print_load(&x->s, id, out);
  }
  tc_buf_free(&at);
  tc_buf_free(&next);
  tc_buf_free(&follow);
}

void tc_cuda_put_lanes_by_row(const tc_cuda_nest *x, uint32_t id, uint32_t row, tc_buf *out) {
  const tc_expr *e = &x->s.k->expr[id];
  tc_putf(out, "tc_gather_%s(b%u + (", storage_of(x, e), e->buffer);
  tc_print_address(&x->s, &e->address, out);
  tc_put(out, "), TC_LANES_IDX + (");
  tc_print_dim(x->s.p, e->address.term[0].stride, out);
  tc_putf(out, ") * rows_of%u, TC_L)", row);
}

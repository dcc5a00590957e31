/* flat_rows.c - loads of a nest that counts elements through rows which may lie apart.
 *
 * The row of an item is found once for all of its lanes, by the reciprocal of the rows' length: the launcher takes
 * functions of several lanes only where none of their accesses reaches into a second row, or nothing lies between. */
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/access.h"
#include "lower/flat_rows.h"

#include <stdlib.h>

bool tc_cuda_loads_by_row(const tc_cuda_nest *x, uint32_t id) {
  return tc_cuda_counts_rows(x->s.k, x->nest, x->plan, &x->s.k->expr[id]);
}

static uint32_t row_of(const tc_cuda_nest *x, uint32_t id) { return x->s.k->expr[id].address.term[0].value.id; }

/* Is `id` the first load at hand of those that have its row? */
static bool is_first(const tc_cuda_nest *x, const uint8_t *loads, uint32_t id) {
  if (!loads[id] || !tc_cuda_loads_by_row(x, id)) return false;
  for (uint32_t i = 1; i < id; ++i)
    if (loads[i] && tc_cuda_loads_by_row(x, i) && row_of(x, i) == row_of(x, id)) return false;
  return true;
}

void tc_cuda_put_row_divisors(tc_cuda_nest *x, const tc_stage *st) {
  const uint32_t n = x->s.k->nexpr;
  uint8_t *loads = calloc(n + 1, 1);
  if (loads) tc_cuda_mark_stage(x->s.k, st, loads);
  else x->s.out->failed = true;
  for (uint32_t i = 1; loads && i < n; ++i) {
    if (!is_first(x, loads, i)) continue;
    tc_buf width = {0};
    tc_print_dim(x->s.p, tc_flat_row_width(x->s.k, &x->s.k->expr[i])->dim, &width);
    tc_print_line(&x->s, "const tc_divisor<tc_int> rows%u((tc_int)(%s));", row_of(x, i), width.text ? width.text : "1");
    tc_buf_free(&width);
  }
  free(loads);
}

static void put_row(tc_cuda_nest *x, uint32_t id) {
  const uint32_t row = row_of(x, id);
  tc_print_line(&x->s, "const tc_int row%u = rows%u.quotient(%s);", row, row, x->axis_text[0]);
  if (x->dense) tc_cuda_put_lane_rows(x, row, tc_flat_row_width(x->s.k, &x->s.k->expr[id])->dim);
}

void tc_cuda_put_rows_at_hand(tc_cuda_nest *x, const uint8_t *loads) {
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i)
    if (is_first(x, loads, i)) put_row(x, i);
}

void tc_cuda_put_row_address(const tc_cuda_nest *x, uint32_t id, tc_buf *out) {
  const tc_address *a = &x->s.k->expr[id].address;
  tc_print_address(&x->s, a, out);
  tc_put(out, " + (");
  tc_print_dim(x->s.p, a->term[0].stride, out);
  tc_putf(out, ") * row%u", row_of(x, id));
}

void tc_cuda_put_row_load(const tc_cuda_nest *x, uint32_t id, tc_buf *out) { tc_cuda_put_lanes_by_row(x, id, row_of(x, id), out); }

/* Does the stage take it as a value? */
static bool is_value(const tc_kernel *k, const tc_stage *st, const uint8_t *need, uint32_t id) {
  bool any = false;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    any |= need[i] && (e->in[0].id == id || e->in[1].id == id || e->in[2].id == id || e->guard.id == id);
    for (int t = 0; need[i] && t < e->address.nterm; ++t) any |= e->kind == TC_EX_INDEX && e->address.term[t].value.id == id;
  }
  for (uint32_t i = 0; i < st->naction; ++i) any |= st->action[i].value.id == id || st->action[i].guard.id == id;
  return any;
}

void tc_cuda_skip_rows(tc_cuda_nest *x, const tc_stage *st) {
  const tc_kernel *k = x->s.k;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (need) tc_cuda_mark_stage(k, st, need);
  else x->s.out->failed = true;
  for (uint32_t i = 1; need && i < k->nexpr; ++i)
    if (x->early[i] && tc_cuda_loads_by_row(x, i) && !is_value(k, st, need, row_of(x, i))) x->s.printed[row_of(x, i)] = UINT8_MAX;
  free(need);
}

/* strided_loop.c - the loop of a thread over its items (TC_L neighbouring points each): several items are
 * loaded before the first is used, so that enough loads are in flight. */
#include "backends/cuda/nest/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Items along one axis. */
static void put_items(tc_cuda_nest *x, int axis, tc_buf *out) {
  tc_putf(out, "(");
  tc_print_extent(&x->s, &x->nest->axis[axis], out);
  tc_put(out, axis == x->nest->vector && axis == x->s.vector ? ") / TC_L" : ")");
}

void tc_cuda_put_count(tc_cuda_nest *x, uint32_t axes, tc_buf *out) {
  bool any = false;
  for (int i = 0; i < x->nest->naxis; ++i) {
    if (!(axes >> i & 1)) continue;
    tc_put(out, any ? " * (" : "(");
    put_items(x, i, out);
    tc_put(out, ")");
    any = true;
  }
  if (!any) tc_put(out, "1");
}

/* Axes in the order in which they are decoded from the last to the first. */
static int list_axes(const tc_cuda_nest *x, uint32_t axes, int list[TC_MAX_AXES]) {
  int n = 0;
  for (int i = 0; i < x->nest->naxis; ++i) /* the vector axis is the fastest */
    if ((axes >> i & 1) && i != x->s.vector) list[n++] = i;
  if (x->s.vector >= 0 && (axes >> x->s.vector & 1)) list[n++] = x->s.vector;
  return n;
}

/* Divisors n<i> of the axes whose extents only the launch knows: their reciprocals are found once.
 */
static void put_divisors(tc_cuda_nest *x, uint32_t axes) {
  int list[TC_MAX_AXES];
  const int n = list_axes(x, axes, list);
  x->divisors = 0;
  for (int j = n - 1; j > 0; --j) {
    const tc_axis *a = &x->nest->axis[list[j]];
    if (tc_dim_is_const(a->extent) && a->of < 0) continue;
    tc_buf e = {0};
    put_items(x, list[j], &e);
    tc_print_line(&x->s, "const tc_divisor<tc_int> n%d((tc_int)(%s));", list[j],
                  e.text ? e.text : "1");
    tc_buf_free(&e);
    x->divisors |= 1u << list[j];
  }
}

void tc_cuda_put_decode(tc_cuda_nest *x, uint32_t axes, const char *item) {
  int list[TC_MAX_AXES];
  const int n = list_axes(x, axes, list);
  if (n > 1) tc_print_line(&x->s, "tc_int rest = %s;", item);
  for (int j = n - 1; j >= 0; --j) {
    const int i = list[j];
    const char *name = x->axis_text[i], *lanes = i == x->s.vector ? " * TC_L" : "";
    const char *from = n > 1 ? "rest" : item;
    if (j == 0) {
      tc_print_line(&x->s, "const tc_int %s = %s%s;", name, from, lanes);
      continue;
    }
    if (x->divisors >> i & 1) {
      tc_print_line(&x->s, "const tc_int %s = n%d.split(&rest)%s;", name, i, lanes);
      continue;
    }
    tc_buf e = {0};
    put_items(x, i, &e);
    const char *n_items = e.text ? e.text : "1";
    tc_print_line(&x->s, "const tc_int %s = tc_rest_of(rest, (tc_int)(%s))%s;", name, n_items,
                  lanes);
    tc_print_line(&x->s, "rest = tc_times_in(rest, (tc_int)(%s));", n_items);
    tc_buf_free(&e);
  }
}

/* ---- early loads ----------------------------------------------------------------------------- */

static bool is_early(const tc_cuda_nest *x, const tc_cuda_loop *w, uint32_t id) {
  const tc_expr *e = &x->s.k->expr[id];
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm || x->s.printed[id]) return false;
  if (x->prefetched[id]) return false;
  if (x->s.p->buffer[x->s.k->buffer[e->buffer]].kind == TC_BUF_LOCAL) return false;
  return (x->s.depends[id] & w->axes) != 0;
}

/* How many elements LOAD `id` takes at once where they are neighbours: "TC_L" or "1"; NULL: they
 * are not. */
static const char *neighbours(const tc_cuda_nest *x, uint32_t id) {
  const int v = x->s.vector;
  const tc_address *a = &x->s.k->expr[id].address;
  if (v < 0 || tc_dim_is(a->coef[v], 0)) return "1";
  return tc_dim_is(a->coef[v], 1) ? "TC_L" : NULL;
}

static void declare_early(tc_cuda_nest *x, uint32_t id) {
  const tc_expr *e = &x->s.k->expr[id];
  const char *n = neighbours(x, id);
  const tc_dtype d = x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype;
  if (n) tc_print_line(&x->s, "tc_held<tc_%s, %s> w%u[%s];", tc_print_storage(d), n, id, x->unroll);
  else tc_print_line(&x->s, "tc_v%s w%u[%s];", tc_print_compute(e->dtype), id, x->unroll);
}

static void put_early(tc_cuda_nest *x, uint32_t id) {
  const tc_expr *e = &x->s.k->expr[id];
  const char *n = neighbours(x, id);
  tc_buf t = {0};
  if (n) tc_print_address(&x->s, &e->address, &t);
  else tc_print_load(&x->s, id, &t);
  const char *text = t.text ? t.text : "0";
  const bool smem_cache = x->smem_cache[id] == TC_CUDA_SMEM_FILLED;
  if (smem_cache) tc_print_line(&x->s, "if (item < cached) w%u[u] = s%u[item];", id, id);
  if (n)
    tc_print_line(&x->s, "%sw%u[u] = tc_hold%s<%s%s>(b%u + (%s)%s);", smem_cache ? "else " : "", id,
                  tc_schedule_has(&x->plan->bypass_l1, id) ? "_once" : "", n,
                  x->residency[id] ? ", TC_FULL" : "", e->buffer, text,
                  x->residency[id] ? ", policy" : "");
  else tc_print_line(&x->s, "w%u[u] = %s;", id, text);
  tc_buf_free(&t);
}

bool tc_cuda_take_early(const tc_cuda_nest *x, uint32_t id, tc_buf *out) {
  if (!x->early[id] && !x->prefetched[id]) return false;
  tc_putf(out, neighbours(x, id) ? "tc_arrived(w%u[u])" : "w%u[u]", id);
  return true;
}

/* Opens the loop over the items at hand; the item is decoded.  Are all of them there, none is asked
 * for. */
void tc_cuda_open_items(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %s; ++u) {", x->unroll);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int item = %s + u * %s;", base, w->step);
  if (!x->whole) tc_print_line(&x->s, "if (item < items) {");
  x->s.indent += x->whole ? 0 : 2;
  if (x->unaligned) {
    tc_print_line(&x->s, "const tc_int %s = head + item * TC_L;", x->axis_text[x->nest->vector]);
    return;
  }
  for (int i = 0; i < x->nest->naxis; ++i)
    if (x->decoded && (w->axes >> i & 1))
      tc_print_line(&x->s, "const tc_int %s = k%d[u];", x->axis_text[i], i);
  if (!x->decoded) tc_cuda_put_decode(x, w->axes, "item");
}

void tc_cuda_close_items(tc_cuda_nest *x) {
  x->s.indent -= x->whole ? 0 : 2;
  if (!x->whole) tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Many loads that all rows share are not issued early. */
static void drop_shared(const tc_cuda_nest *x, uint8_t *early) {
  const tc_kernel *k = x->s.k;
  int64_t shared = 0;
  if (!x->plan->late_shared || x->plan->form != TC_CUDA_ROWS || !x->parallel) return;
  for (uint32_t i = 1; i < k->nexpr; ++i) shared += early[i] && !(x->s.depends[i] & x->parallel);
  if (shared < x->plan->late_shared) return;
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (!(x->s.depends[i] & x->parallel)) early[i] = 0;
}

void tc_cuda_put_loads(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  const tc_kernel *k = x->s.k;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) {
    x->s.out->failed = true;
    return;
  }
  tc_cuda_mark_stage(k, w->st, need);
  bool any = false;
  for (uint32_t i = 1; i < k->nexpr; ++i) need[i] = need[i] && is_early(x, w, i);
  drop_shared(x, need);
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    if (!need[i]) continue;
    declare_early(x, i);
    any = true;
  }
  if (any) {
    const uint32_t keep = x->divisors ? w->axes : 0; /* indices that take a while to find */
    for (int i = 0; i < x->nest->naxis; ++i)
      if (keep >> i & 1) tc_print_line(&x->s, "tc_int k%d[%s];", i, x->unroll);
    tc_cuda_open_items(x, w, base);
    for (int i = 0; i < x->nest->naxis; ++i)
      if (keep >> i & 1) tc_print_line(&x->s, "k%d[u] = %s;", i, x->axis_text[i]);
    for (uint32_t i = 1; i < k->nexpr; ++i)
      if (need[i]) put_early(x, i);
    tc_cuda_close_items(x);
    x->decoded = keep != 0;
  }
  memcpy(x->early, need, k->nexpr);
  free(need);
  tc_cuda_put_smem_fill(x, w, base);
}

/* The first stage over the row. */
static uint32_t first_pass(const tc_cuda_nest *x) {
  uint32_t s = 0;
  while (s < x->nest->nstage && !tc_cuda_is_pass(x->nest, &x->nest->stage[s])) ++s;
  return s;
}

void tc_cuda_declare_prefetched(tc_cuda_nest *x) {
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) {
    x->prefetched[i] = tc_schedule_has(&x->plan->prefetch, i);
    if (x->prefetched[i]) declare_early(x, i);
  }
}

static void put_prefetched(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  bool any = false;
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) any |= x->prefetched[i];
  if (!any || w->st != &x->nest->stage[first_pass(x)]) return;
  tc_cuda_open_items(x, w, base);
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i)
    if (x->prefetched[i]) put_early(x, i);
  tc_cuda_close_items(x);
}

void tc_cuda_end_loads(tc_cuda_nest *x) {
  memset(x->early, 0, x->s.k->nexpr);
  x->decoded = false;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void put_hoisted(tc_cuda_nest *x, const tc_cuda_loop *w) {
  for (uint32_t i = 0; i < w->st->naction; ++i)
    tc_print_hoist_action(&x->s, &w->st->action[i], ~w->axes);
}

static void put_release(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  if (!tc_cuda_releases(x, w->st)) return;
  tc_print_line(&x->s, "if (TC_FULL && point >= release_from) {");
  x->s.indent += 2;
  tc_cuda_open_items(x, w, base);
  tc_cuda_put_release(x);
  tc_cuda_close_items(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_pass(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  tc_cuda_put_loads(x, w, base);
  put_prefetched(x, w, base);
  if (tc_cuda_folds(x, w->st)) tc_cuda_put_accumulators(x, w->st, false);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_open_items(x, w, base);
  tc_cuda_put_actions(x, w->st);
  tc_cuda_close_items(x);
  tc_print_leave(&x->s, outer);
  put_release(x, w, base);
  if (tc_cuda_folds(x, w->st)) tc_cuda_put_fold(x, w->st);
  tc_cuda_end_loads(x);
}

static void put_items_of(tc_cuda_nest *x, const tc_cuda_loop *w) {
  tc_buf count = {0};
  tc_cuda_put_count(x, w->axes, &count);
  if (x->unaligned) tc_cuda_put_peeled_bounds(x);
  else
    tc_print_line(&x->s, "const tc_int items = %s%s;",
                  w->once ? "TC_FULL ? threads.first + TC_U * threads.step : " : "",
                  count.text ? count.text : "0");
  tc_buf_free(&count);
}

/* Down a column: TC_U items as long as there are as many, then the others, half as many at a time:
 * their tests and values share registers with the loads of the first loop. */
static void put_column_passes(tc_cuda_nest *x, const tc_cuda_loop *w) {
  tc_print_line(&x->s, "tc_int base = %s;", w->first);
  tc_print_line(&x->s, "for (; base + (TC_U - 1) * %s < items; base += %s) {", w->step, w->hop);
  x->s.indent += 2;
  x->whole = true;
  put_pass(x, w, "base");
  x->whole = false;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  const char *all = x->unroll;
  x->unroll = "(TC_U + 1) / 2";
  tc_print_line(&x->s, "for (; base < items; base += %s * %s) {", x->unroll, w->step);
  x->s.indent += 2;
  put_pass(x, w, "base");
  x->unroll = all;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_put_loop(tc_cuda_nest *x, const tc_cuda_loop *w) {
  put_hoisted(x, w);
  put_divisors(x, w->axes);
  put_items_of(x, w);
  if (w->once) put_pass(x, w, w->first);
  else if (x->plan->form == TC_CUDA_COLUMNS && !x->scan) put_column_passes(x, w);
  else {
    tc_print_line(&x->s, "for (tc_int base = %s; base < items; base += %s) {", w->first, w->hop);
    x->s.indent += 2;
    put_pass(x, w, "base");
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  if (x->unaligned) tc_cuda_put_peeled(x, w->st);
  x->divisors = 0;
}

/* early_loads.c - loads that are issued in front of the loop over the items at hand, so that enough
 * of them are in flight, and in front of a row's first pass. */
#include "backends/cuda/nest/nest.h"

#include <stdlib.h>
#include <string.h>

static bool is_early(const tc_cuda_nest *x, const tc_cuda_loop *w, uint32_t id) {
  const tc_expr *e = &x->s.k->expr[id];
  if (e->kind != TC_EX_LOAD || e->guard.id || x->s.printed[id]) return false;
  if (e->address.nterm && !tc_cuda_loads_by_row(x, id)) return false;
  if (x->prefetched[id] ||
      (x->tiled && tc_cuda_loads_by_tile(x->s.k, x->s.p, x->nest, x->need, id)))
    return false;
  if (x->s.p->buffer[x->s.k->buffer[e->buffer]].kind == TC_BUF_LOCAL) return false;
  return (x->s.depends[id] & w->axes) != 0;
}

/* How many elements LOAD `id` takes at once where they are neighbours: "TC_L" or "1"; NULL: they
 * are not. */
static const char *neighbours(const tc_cuda_nest *x, uint32_t id) {
  const int v = x->s.vector;
  const tc_address *a = &x->s.k->expr[id].address;
  if (x->dense && (a->nterm || tc_print_is_apart(&x->s, a))) return NULL;
  if (v < 0 || tc_dim_is(a->coef[v], 0)) return "1";
  return tc_dim_is(a->coef[v], 1) ? "TC_L" : NULL;
}

/* C: does LOAD `id`, of neighbours, begin anywhere?  NULL: it does not.  Where rows are in phase, what they share is not. */
static const char *anywhere_of(const tc_cuda_nest *x, uint32_t id) {
  const bool changes = tc_cuda_changes(x->nest, &x->s.k->expr[id].address);
  if (x->phased && !changes) return "true";
  return x->anywhere && changes ? "TC_ANYWHERE" : NULL;
}

const char *tc_cuda_load_neighbours(const tc_print_scope *s, uint32_t id) {
  const char *anywhere = anywhere_of(s->self, id);
  if (!anywhere) return NULL;
  return strcmp(anywhere, "true") == 0 ? "tc_loaded_from<TC_L, true>" : "tc_loaded_from<TC_L, TC_ANYWHERE>";
}

static const char *begins_anywhere(const tc_cuda_nest *x, uint32_t id, const char *n) {
  return n && strcmp(n, "TC_L") == 0 ? anywhere_of(x, id) : NULL;
}

static void declare_early(tc_cuda_nest *x, uint32_t id) {
  const tc_expr *e = &x->s.k->expr[id];
  const char *n = neighbours(x, id);
  const tc_dtype d = x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype;
  const char *anywhere = begins_anywhere(x, id, n);
  if (n)
    tc_print_line(&x->s, "tc_held%s<tc_%s, %s%s%s> w%u[%s];", anywhere ? "_from" : "",
                  tc_print_storage(d), n, anywhere ? ", " : "", anywhere ? anywhere : "", id, x->unroll);
  else if (tc_cuda_is_of_rows(x, id)) tc_print_line(&x->s, "tc_vec<tc_%s, 2> w%u[%s];", tc_print_compute(e->dtype), id, x->unroll);
  else tc_print_line(&x->s, "tc_v%s w%u[%s];", tc_print_compute(e->dtype), id, x->unroll);
}

static void put_early(tc_cuda_nest *x, uint32_t id) {
  const tc_expr *e = &x->s.k->expr[id];
  const char *n = neighbours(x, id);
  tc_buf t = {0};
  if (e->address.nterm && x->dense) tc_cuda_put_row_load(x, id, &t);
  else if (e->address.nterm) tc_cuda_put_row_address(x, id, &t);
  else if (n) tc_print_address(&x->s, &e->address, &t);
  else if (x->dense) tc_cuda_put_load_of_lanes(x, id, &t);
  else tc_print_load(&x->s, id, &t);
  const char *text = t.text ? t.text : "0";
  const bool smem_cache = x->smem_cache[id] == TC_CUDA_SMEM_FILLED;
  const char *anywhere = begins_anywhere(x, id, n);
  if (smem_cache) tc_print_line(&x->s, "if (item < cached) w%u[u] = s%u[item];", id, id);
  if (n)
    tc_print_line(&x->s, "%sw%u[u] = tc_hold%s%s<%s%s%s%s>(b%u + (%s)%s);", smem_cache ? "else " : "", id,
                  tc_schedule_has(&x->plan->bypass_l1, id) ? "_once" : "",
                  anywhere ? "_from" : "", n, anywhere ? ", " : "", anywhere ? anywhere : "",
                  x->residency[id] ? ", TC_FULL" : "", e->buffer, text,
                  x->residency[id] ? ", policy" : "");
  else tc_print_line(&x->s, "w%u[u] = %s;", id, text);
  tc_buf_free(&t);
}

bool tc_cuda_take_early(const tc_cuda_nest *x, uint32_t id, tc_buf *out) {
  if (x->peeled || (!x->early[id] && !x->prefetched[id])) return false;
  tc_putf(out, neighbours(x, id) ? "tc_arrived(w%u[u])" : tc_cuda_is_of_rows(x, id) ? "tc_of_rows<TC_L>(left, w%u[u])" : "w%u[u]", id);
  return true;
}

bool tc_cuda_take_rows(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_cuda_nest *x = s->self;
  if (x->peeled || !x->early[id] || neighbours(x, id) || !tc_cuda_is_of_rows(x, id)) return false;
  tc_putf(out, "w%u[u]", id);
  return true;
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
    const bool whole = x->whole;
    x->whole = whole || w->clamped;
    tc_cuda_open_items(x, w, base);
    for (int i = 0; i < x->nest->naxis; ++i)
      if (keep >> i & 1) tc_print_line(&x->s, "k%d[u] = %s;", i, x->axis_text[i]);
    tc_cuda_put_rows_at_hand(x, need);
    for (uint32_t i = 1; i < k->nexpr; ++i)
      if (need[i]) put_early(x, i);
    tc_cuda_close_items(x);
    x->whole = whole;
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

static void declare_all(tc_cuda_nest *x, const tc_schedule_list *l) {
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) {
    x->prefetched[i] = tc_schedule_has(l, i);
    if (x->prefetched[i]) declare_early(x, i);
  }
}

static void put_all(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  tc_cuda_open_items(x, w, base);
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i)
    if (x->prefetched[i]) put_early(x, i);
  tc_cuda_close_items(x);
}

void tc_cuda_declare_prefetched(tc_cuda_nest *x) { declare_all(x, &x->plan->prefetch); }

void tc_cuda_put_prefetched(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  if (x->in_registers && !x->tiled && x->plan->prefetch.n && w->st == &x->nest->stage[first_pass(x)]) put_all(x, w, base);
}

void tc_cuda_put_loads_once(tc_cuda_nest *x) {
  const uint32_t row = 1u << x->nest->vector;
  const tc_cuda_loop w = {.axes = row, .first = "threads.first", .step = "threads.step", .once = true};
  tc_buf items = {0};
  declare_all(x, &x->plan->load_once);
  if (!x->plan->load_once.n) return;
  tc_cuda_put_count(x, row, &items);
  tc_print_line(&x->s, "{ /* what all rows share */");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int items = %s;", items.text);
  put_all(x, &w, w.first);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&items);
}

void tc_cuda_end_loads(tc_cuda_nest *x) {
  memset(x->early, 0, x->s.k->nexpr);
  x->decoded = false;
}

/* actions.c - what a stage does at a point: reductions, scans, stores. */
#include "backends/cuda/nest/nest.h"

#include <stdio.h>
#include <string.h>

/* ---- reductions ------------------------------------------------------------------------------ */

/* The lanes of a row are combined before they join a total: conversions to f64 are slow. */
static const char *total_kind(const tc_cuda_nest *x, const tc_stage *st) {
  return x->plan->form == TC_CUDA_ROWS ? "tc_u" : tc_cuda_kind(x, st);
}

static bool sums_in_f64(const tc_action *a) {
  return a->kind == TC_ACT_REDUCE && tc_print_sums_in_f64(a);
}

/* f32 sums join an f64 total after every TC_U items, but for rows in registers: few items a
 * thread. */
bool tc_cuda_folds(const tc_cuda_nest *x, const tc_stage *st) {
  return tc_schedule_has(&x->plan->f64_totals, (uint32_t)(st - x->stages)) &&
         !(x->in_registers && tc_cuda_is_pass(x->nest, st));
}

bool tc_cuda_is_total(const tc_cuda_nest *x, const tc_stage *st, const tc_action *a) {
  return sums_in_f64(a) && tc_cuda_folds(x, st);
}

static tc_print_name tuple_type(const tc_action *a) {
  return tc_print_tuple_type(a->reducer, a->dtype);
}

void tc_cuda_put_accumulator(tc_cuda_nest *x, const tc_stage *st, const tc_action *a) {
  tc_buf id = {0};
  tc_print_identity(x->s.words, a->reducer, a->dtype, &id);
  tc_print_line(&x->s, "%s%s acc%u = %s; /* %s */", tc_cuda_kind(x, st), tuple_type(a).text,
                a->index, id.text ? id.text : "", tc_reducer_get(a->reducer)->text);
  tc_buf_free(&id);
}

void tc_cuda_put_accumulators(tc_cuda_nest *x, const tc_stage *st, bool totals) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_REDUCE) continue;
    const bool total = tc_cuda_is_total(x, st, a);
    if (totals && total)
      tc_print_line(&x->s, "%sf64 total%u = tc_set_f64(%d);", total_kind(x, st), a->index,
                    tc_print_start(a));
    if (totals != total) tc_cuda_put_accumulator(x, st, a);
  }
}

void tc_cuda_put_fold(tc_cuda_nest *x, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    const tc_print_name name = tc_print_combine(a->reducer);
    const char *op = name.text;
    if (sums_in_f64(a) && x->plan->form == TC_CUDA_ROWS)
      tc_print_line(&x->s,
                    "total%u = tc_%s_f64(total%u, TC_CAST(f64, tc_across(acc%u, "
                    "TC_COMBINE(%s, f32))));",
                    a->index, op, a->index, a->index, op);
    else if (sums_in_f64(a))
      tc_print_line(&x->s, "total%u = tc_%s_f64(total%u, TC_CAST(f64, acc%u));", a->index, op,
                    a->index, a->index);
  }
}

static void put_reduce(tc_cuda_nest *x, const tc_stage *st, const tc_action *a) {
  tc_buf v = {0};
  if (tc_cuda_is_in_order(x, st, a)) {
    tc_cuda_put_in_order(x, st, a);
    return;
  }
  tc_print_tuple(a, &v);
  tc_print_line(&x->s, "acc%u = tc_%s_%s(acc%u, %s);", a->index, tc_print_combine(a->reducer).text,
                tc_print_compute(a->dtype), a->index, v.text ? v.text : "");
  tc_buf_free(&v);
}

/* r<i>, of types with the prefix `declare` or declared before, from all accumulators together. */
static void put_parts(tc_cuda_nest *x, const tc_action *a, const char *declare, const char *all) {
  char name[16];
  snprintf(name, sizeof name, "tuple%u", a->index);
  if (tc_print_is_tuple(a)) tc_print_line(&x->s, "const auto %s = %s;", name, all);
  tc_print_set_results(&x->s, a, declare, tc_print_is_tuple(a) ? name : all);
}

/* What the reduction of a is combined from, of which type, and by which op. */
typedef struct sum {
  const char *kind; /* total or acc */
  const char *type; /* compute type */
  tc_print_name op;
} sum;

static sum sum_of(const tc_cuda_nest *x, const tc_stage *st, const tc_action *a) {
  const bool total = tc_cuda_is_total(x, st, a);
  return (sum){total ? "total" : "acc", total ? "f64" : tc_print_compute(a->dtype),
               tc_print_combine(a->reducer)};
}

static bool is_alike(const tc_cuda_nest *x, const tc_stage *st, const tc_action *a,
                     const tc_action *b) {
  const sum l = sum_of(x, st, a), r = sum_of(x, st, b);
  return b->kind == TC_ACT_REDUCE && !tc_print_is_tuple(b) && !strcmp(l.kind, r.kind) &&
         !strcmp(l.type, r.type) && !strcmp(l.op.text, r.op.text);
}

/* How many reductions from action `first` on are combined by one loop.  In columns that happens
 * once a block, and a combination is long: with the text of one for each of many sums, half of
 * NVRTC's time goes there. */
static uint32_t alike_from(const tc_cuda_nest *x, const tc_stage *st, uint32_t first) {
  enum { FEW = 3 };
  uint32_t n = 0;
  if (x->plan->form != TC_CUDA_COLUMNS) return 1;
  while (first + n < st->naction && is_alike(x, st, &st->action[first], &st->action[first + n]))
    ++n;
  return n > FEW ? n : 1;
}

/* Combines n sums in a loop, of an array that lies in memory meanwhile: all<index>. */
static void put_combined(tc_cuda_nest *x, const tc_stage *st, const tc_action *a, uint32_t n) {
  const sum s = sum_of(x, st, a);
  tc_buf list = {0};
  for (uint32_t i = 0; i < n; ++i) tc_putf(&list, "%s%s%u", i ? ", " : "", s.kind, a[i].index);
  tc_print_line(&x->s, "%s%s all%u[] = {%s};", tc_cuda_kind(x, st), s.type, a->index, list.text ? list.text : "");
  tc_print_line(&x->s, "TC_ROLLED for (int c = 0; c < %u; ++c) all%u[c] = tc_combine(threads, all%u[c], TC_COMBINE(%s, %s));", n,
                a->index, a->index, s.op.text, s.type);
  tc_buf_free(&list);
}

/* The text of all accumulators of a together: number i of n that a loop has combined, or by
 * itself. */
static void put_all(const tc_cuda_nest *x, const tc_stage *st, const tc_action *a, uint32_t i,
                    uint32_t n, tc_buf *out) {
  const sum s = sum_of(x, st, &a[i]);
  const bool total = tc_cuda_is_total(x, st, &a[i]);
  if (total) tc_put(out, "TC_CAST(f32, ");
  if (n > 1) tc_putf(out, "all%u[%u]", a->index, i);
  else tc_putf(out, "tc_combine(threads, %s%u, TC_COMBINE(%s, %s))", s.kind, a->index, s.op.text, s.type);
  if (total) tc_put(out, ")");
}

void tc_cuda_put_results(tc_cuda_nest *x, const tc_stage *st) {
  for (uint32_t first = 0, n; first < st->naction; first += n) {
    const tc_action *a = &st->action[first];
    n = 1;
    if (a->kind != TC_ACT_REDUCE) continue;
    n = tc_print_is_tuple(a) ? 1 : alike_from(x, st, first);
    if (n > 1) put_combined(x, st, a, n);
    for (uint32_t i = 0; i < n; ++i) {
      tc_buf all = {0};
      put_all(x, st, a, i, n, &all);
      put_parts(x, &a[i], NULL, all.text ? all.text : "");
      tc_buf_free(&all);
    }
  }
}

void tc_cuda_declare_results(tc_cuda_nest *x, const tc_stage *st) {
  const bool lanes = x->s.vector >= 0 && (x->parallel >> x->s.vector & 1);
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    for (int j = 0; a->kind == TC_ACT_REDUCE && j < tc_reducer_get(a->reducer)->n; ++j)
      tc_print_line(&x->s, "%s%s r%u;", lanes ? "tc_v" : "tc_u",
                    tc_print_compute(tc_accumulator_dtype(a->reducer, j, a->dtype)),
                    a->index + (uint32_t)j);
  }
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* Of what is before: as the elements, of f32 sums f64. */
static tc_dtype carried(const tc_action *a) { return tc_print_sums_in_f64(a) ? TC_F64 : a->dtype; }
static tc_print_name carry_type(const tc_action *a) {
  return tc_print_tuple_type(a->reducer, carried(a));
}

void tc_cuda_put_carries(tc_cuda_nest *x, const tc_stage *st) {
  const char *prefix = x->plan->form == TC_CUDA_COLUMNS ? tc_cuda_kind(x, st) : "tc_u";
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_SCAN) continue;
    tc_buf id = {0};
    tc_print_identity(x->s.words, a->reducer, carried(a), &id);
    tc_print_line(&x->s, "%s%s carry%u = %s;", prefix, carry_type(a).text, a->index,
                  id.text ? id.text : "");
    tc_buf_free(&id);
  }
}

/* The threads of a column have all points of theirs: the carry is the result. */
static void put_serial_scan(tc_cuda_nest *x, const tc_stage *st, const tc_action *a,
                            const char *v) {
  const uint32_t n = a->index;
  const tc_print_name op = tc_print_combine(a->reducer), c = carry_type(a);
  const char *t = tc_print_compute(a->dtype);
  tc_buf carry = {0};
  if (tc_print_is_tuple(a)) {
    tc_putf(&carry, "carry%u", n);
    tc_print_line(&x->s, "carry%u = tc_%s_%s(carry%u, %s);", n, op.text, t, n, v);
  } else {
    tc_putf(&carry, "TC_CAST(%s, carry%u)", t, n);
    tc_print_line(&x->s, "carry%u = tc_%s_%s(carry%u, TC_CAST(%s, %s));", n, op.text, c.text, n,
                  c.text, v);
  }
  tc_print_set_results(&x->s, a, tc_cuda_kind(x, st), carry.text);
  tc_buf_free(&carry);
}

static void put_scan(tc_cuda_nest *x, const tc_stage *st, const tc_action *a) {
  const uint32_t n = a->index;
  tc_buf v = {0}, id = {0}, all = {0};
  tc_print_hoist_action(&x->s, a, ~0u);
  tc_print_tuple(a, &v);
  if (x->plan->form == TC_CUDA_COLUMNS) {
    put_serial_scan(x, st, a, v.text ? v.text : "");
    tc_buf_free(&v);
    return;
  }
  tc_print_identity(x->s.words, a->reducer, a->dtype, &id);
  tc_print_line(&x->s, "%s%s in%u = %s;", tc_cuda_kind(x, st), tuple_type(a).text, n,
                v.text ? v.text : "");
  tc_print_line(&x->s, "if (!live) in%u = %s;", n, id.text ? id.text : "");
  tc_buf_clear(&id);
  tc_print_identity(x->s.words, a->reducer, carried(a), &id);
  tc_putf(&all, "tc_scan(threads, in%u, &carry%u, %s, TC_COMBINE(%s, %s))", n, n,
          id.text ? id.text : "", tc_print_combine(a->reducer).text, tc_print_compute(carried(a)));
  put_parts(x, a, tc_cuda_kind(x, st), all.text ? all.text : "");
  tc_buf_free(&v);
  tc_buf_free(&id);
  tc_buf_free(&all);
}

/* ---- actions at a point ---------------------------------------------------------------------- */

bool tc_cuda_has_scan(const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_SCAN) return true;
  return false;
}

/* Stores of threads that have no point of their own are left out. */
static bool opens_live(const tc_cuda_nest *x, const tc_stage *st) {
  return x->plan->form == TC_CUDA_COLUMNS ||
         (x->plan->form == TC_CUDA_ROWS && tc_cuda_has_scan(st));
}

/* Rows by tile: threads without a row repeat the last one, and store nothing of it. */
static void put_store(tc_cuda_nest *x, const tc_action *a) {
  const bool live = x->tiled && !tc_cuda_is_local(x->s.k, x->s.p, a->buffer);
  if (live) tc_print_line(&x->s, "if (live) {");
  x->s.indent += live ? 2 : 0;
  tc_print_store(&x->s, a);
  x->s.indent -= live ? 2 : 0;
  if (live) tc_print_line(&x->s, "}");
}

/* All values first, so that an in-place store cannot reach a value of the same point; values that
 * need a scan of this stage come behind it. */
void tc_cuda_put_actions(tc_cuda_nest *x, const tc_stage *st) {
  bool stores = false;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_SCAN) put_scan(x, st, &st->action[i]);
  for (uint32_t i = 0; i < st->naction; ++i) {
    if (tc_cuda_is_in_order(x, st, &st->action[i])) tc_print_hoist(&x->s, st->action[i].value, ~0u);
    else tc_print_hoist_action(&x->s, &st->action[i], ~0u);
    stores |= tc_cuda_is_store(&st->action[i]);
  }
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_REDUCE) put_reduce(x, st, &st->action[i]);
  if (!stores) return;
  const bool live = opens_live(x, st);
  if (live) tc_print_line(&x->s, "if (live) {");
  x->s.indent += live ? 2 : 0;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (tc_cuda_is_store(&st->action[i])) put_store(x, &st->action[i]);
  x->s.indent -= live ? 2 : 0;
  if (live) tc_print_line(&x->s, "}");
}

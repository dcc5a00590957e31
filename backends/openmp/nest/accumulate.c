/* accumulate.c - what reductions and scans keep while a stage runs.
 *
 * A reduction along the vector axis keeps a vector of partial results for each of those that are
 * unrolled; they are combined by a fixed tree, then the lanes are.  f32 sums join an f64 total
 * after every block of points, which bounds their error by that of a short sum. */
#include "backends/openmp/nest/stage.h"

/* The loop over jammed vectors or rows. */
static const char *each_jammed(const tc_omp_nest *x) {
  if (!x->interchanged) return "TC_UNROLL for (int u = 0; u < jam; ++u)";
  if (x->plan->outer < 0) return "TC_ROLLED for (int64_t u = 0; u < jam; ++u)";
  return "TC_ROLLED for (int64_t g = 0; g < outers; ++g) TC_ROLLED for (int64_t u = g * (most + 1); u < g * (most + 1) + jam; ++u)";
}

static void put_start(tc_omp_nest *x, uint32_t n, const char *start) {
  if (x->jammed) tc_print_line(&x->s, "%s total%u[u] = tc_set_f64(%s);", each_jammed(x), n, start);
  else tc_print_line(&x->s, "tc_vf64 total%u = tc_set_f64(%s);", n, start);
}

/* Do totals begin behind the first block?  Those of jammed vectors are in memory, and sums of one block do without. */
static bool starts_late(const tc_omp_nest *x, const tc_omp_run *r) { return r->one && x->jammed && !x->interchanged; }

static void put_total(tc_omp_nest *x, const tc_omp_run *r, uint32_t n, const char *start) {
  if (x->jammed) tc_print_line(&x->s, "tc_vf64 total%u[%s];", n, r->count);
  if (!starts_late(x, r)) put_start(x, n, start);
}

/* Is this reduction folded into an f64 total? */
static bool is_folded(const tc_omp_run *r, const tc_action *a) {
  return a->kind == TC_ACT_REDUCE && r->block && tc_print_sums_in_f64(a);
}

static const char *start_of(const tc_action *a) { return tc_print_start(a) ? "1" : "0"; }

static tc_print_name tuple_type(const tc_action *a) {
  return tc_print_tuple_type(a->reducer, a->dtype);
}

static void put_identity(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  tc_buf id = {0};
  if (tc_omp_is_in_order(x, r, a)) {
    tc_omp_put_first_place(x, r, a, x->jammed ? each_jammed(x) : "TC_UNROLL for (int u = 0; u < 1; ++u)");
    return;
  }
  tc_print_identity(x->s.words, a->reducer, a->dtype, &id);
  if (x->jammed) tc_print_line(&x->s, "%s acc%u[u] = %s;", each_jammed(x), a->index, id.text);
  else tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %s; ++u) acc%u[u] = %s;", r->count, a->index, id.text);
  tc_buf_free(&id);
}

void tc_omp_put_accumulators(tc_omp_nest *x, const tc_omp_run *r) {
  if (tc_omp_sums_terms(x, r)) {
    tc_omp_put_term_accumulators(x, r);
    return;
  }
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    if (a->kind != TC_ACT_REDUCE) continue;
    if (is_folded(r, a)) put_total(x, r, a->index, start_of(a));
    tc_print_line(&x->s, "tc_v%s acc%u[%s]; /* %s */", tuple_type(a).text, a->index, r->count,
                  tc_reducer_get(a->reducer)->text);
    if (!is_folded(r, a)) put_identity(x, r, a);
  }
}

/* At the beginning of a block. */
void tc_omp_put_fresh(tc_omp_nest *x, const tc_omp_run *r) {
  if (tc_omp_sums_terms(x, r)) tc_omp_put_fresh_terms(x, r);
  for (uint32_t i = 0; i < r->st->naction; ++i)
    if (is_folded(r, &r->st->action[i])) put_identity(x, r, &r->st->action[i]);
}

/* acc<i>[0] becomes the combination of all accumulators. */
static void put_join(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  const tc_print_name op = tc_print_combine(a->reducer);
  for (int step = r->unroll / 2; step > 0; step /= 2)
    for (int u = 0; u < step; ++u)
      tc_print_line(&x->s, "acc%u[%d] = tc_%s_%s(acc%u[%d], acc%u[%d]);", a->index, u, op.text,
                    tc_print_compute(a->dtype), a->index, u, a->index, u + step);
}

void tc_omp_put_spare(tc_omp_nest *x, const tc_omp_run *r, const char *spare) {
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    tc_buf id = {0};
    tc_print_identity(x->s.words, r->st->action[i].reducer, r->st->action[i].dtype, &id);
    tc_print_line(&x->s, "acc%u[%s] = %s;", r->st->action[i].index, spare, id.text);
    tc_buf_free(&id);
  }
}

void tc_omp_join_spare(tc_omp_nest *x, const tc_omp_run *r, const char *spare) {
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    tc_print_line(&x->s, "acc%u[u] = tc_%s_%s(acc%u[u], acc%u[%s]);", a->index,
                  tc_print_combine(a->reducer).text, tc_print_compute(a->dtype), a->index, a->index,
                  spare);
  }
}

/* The same where combining is costly: what is too short for all accumulators uses the first of them
 * only, and skips it. */
static void put_used_join(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  const bool costly = r->unroll > 1 && tc_print_is_tuple(a), runs = x->stage[r->index].short_runs;
  if (costly) {
    tc_buf e = {0};
    tc_print_extent(&x->s, &x->nest->axis[runs ? r->loop[0] : x->plan->vector], &e);
    tc_print_line(&x->s, "if (%s >= %d%s) {", e.text, r->unroll, runs ? "" : " * TC_L");
    tc_buf_free(&e);
    x->s.indent += 2;
  }
  put_join(x, r, a);
  if (!costly) return;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* The total of reduction n and the accumulators of its block. */
static void put_sum(const char *op, uint32_t n, const char *of, tc_buf *out) {
  tc_putf(out, "tc_%s_f64(total%u%s, TC_CAST(f64, acc%u%s))", op, n, of, n, *of ? of : "[0]");
}

/* At the end of a block, which may be the last. */
void tc_omp_put_fold(tc_omp_nest *x, const tc_omp_run *r, const char *last) {
  if (tc_omp_sums_terms(x, r)) tc_omp_put_term_fold(x, r);
  for (uint32_t i = 0; !x->jammed && i < r->st->naction; ++i)
    if (is_folded(r, &r->st->action[i])) put_join(x, r, &r->st->action[i]);
  if (r->one) tc_print_line(&x->s, "if (%s) break;", last);
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    if (!is_folded(r, a)) continue;
    const char *each = x->jammed ? each_jammed(x) : "", *of = x->jammed ? "[u]" : "";
    tc_buf sum = {0};
    if (starts_late(x, r)) {
      tc_print_line(&x->s, "if (!block)");
      x->s.indent += 2;
      put_start(x, a->index, start_of(a));
      x->s.indent -= 2;
    }
    put_sum(tc_print_combine(a->reducer).text, a->index, of, &sum);
    tc_print_line(&x->s, "%s%stotal%u%s = %s;", each, *each ? " " : "", a->index, of, sum.text);
    tc_buf_free(&sum);
  }
}

/* `to` = a folded reduction, of vector u where vectors are jammed. */
static void put_folded(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *to) {
  const tc_print_name op = tc_print_combine(a->reducer);
  const char *of = x->jammed ? "[u]" : "", *all = x->jammed ? "[u]" : "[0]";
  tc_buf sum = {0}, lanes = {0};
  if (r->along) tc_putf(&lanes, "tc_lanes_%s", op.text);
  const char *across = r->along ? lanes.text : "";
  if (r->one) put_sum(op.text, a->index, of, &sum);
  else tc_putf(&sum, "total%u%s", a->index, of);
  if (r->one)
    tc_print_line(&x->s, "if (!block) %s = %s%s(acc%u%s);", to, across, r->along ? "_f32" : "",
                  a->index, all);
  tc_print_line(&x->s, "%s%s = TC_CAST(f32, %s%s(%s));", r->one ? "else " : "", to, across,
                r->along ? "_f64" : "", sum.text);
  tc_buf_free(&sum);
  tc_buf_free(&lanes);
}

/* r<i> from accumulator `of` and those that join it. */
static void put_result(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *of) {
  if (is_folded(r, a)) {
    put_folded(x, r, a, x->result[a->index]);
    return;
  }
  if (!x->jammed) put_used_join(x, r, a);
  tc_buf acc = {0}, all = {0};
  tc_putf(&acc, "acc%u%s", a->index, of);
  if (r->along)
    tc_putf(&all, "tc_lanes_%s_%s(%s)", tc_print_combine(a->reducer).text,
            tc_print_compute(a->dtype), acc.text);
  const bool parts = tc_print_is_tuple(a);
  if (r->along && parts) tc_print_line(&x->s, "%s = %s;", acc.text, all.text);
  tc_print_set_results(&x->s, a, NULL, r->along && !parts ? all.text : acc.text);
  tc_buf_free(&acc);
  tc_buf_free(&all);
}

/* Sums of outer points that share loads are computed side by side, whatever is done with each of them. */
static void put_sums_together(tc_omp_nest *x, const tc_omp_run *r) {
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    if (a->kind != TC_ACT_REDUCE || tc_print_is_tuple(a)) continue;
    tc_print_line(&x->s, "TC_OPAQUE_%zu(r%u[u]);", tc_dtype_bytes(tc_accumulator_dtype(a->reducer, 0, a->dtype)), a->index);
  }
}

void tc_omp_put_results(tc_omp_nest *x, const tc_omp_run *r) {
  if (tc_omp_sums_terms(x, r)) {
    tc_omp_put_term_results(x, r);
    return;
  }
  if (!tc_omp_has_kind(r->st, TC_ACT_REDUCE)) return;
  if (x->collecting) {
    for (uint32_t i = 0; i < r->st->naction; ++i) {
      put_join(x, r, &r->st->action[i]);
      tc_print_line(&x->s, "each%u[q] = acc%u[0];", r->st->action[i].index, r->st->action[i].index);
    }
    return;
  }
  if (x->jammed) {
    tc_print_line(&x->s, "%s {", each_jammed(x));
    x->s.indent += 2;
  }
  for (uint32_t i = 0; i < r->st->naction; ++i)
    if (r->st->action[i].kind == TC_ACT_REDUCE)
      put_result(x, r, &r->st->action[i], x->jammed ? "[u]" : "[0]");
  if (x->jam_outer) put_sums_together(x, r);
  if (!x->jammed) return;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* ---- at a point ------------------------------------------------------------------------------ */

/* What the element, as text, makes of accumulator n.  The element of a reduction of one accumulator is the first operand: the
 * machine's maximum takes the second one where either is NaN, so that what is selected then depends on the first, and no
 * addition or comparison but the maximum itself is waited for from element to element. */
static void put_accumulated(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *u, const char *v) {
  const bool tuple = tc_print_is_tuple(a);
  tc_buf acc = {0};
  tc_putf(&acc, "acc%u[%s]", a->index, u);
  tc_print_line(&x->s, "%s = tc_%s%s_%s(%s, %s);", acc.text, tc_omp_is_in_order(x, r, a) ? "later_" : "",
                tc_print_combine(a->reducer).text, tc_print_compute(a->dtype), tuple ? acc.text : v, tuple ? v : acc.text);
  tc_buf_free(&acc);
}

void tc_omp_put_reduce(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *u) {
  tc_buf v = {0}, id = {0}, there = {0};
  tc_print_tuple(a, &v);
  tc_print_identity(x->s.words, a->reducer, a->dtype, &id);
  if (r->along && x->s.lanes)
    tc_putf(&there, "tc_where_%s(TC_TRUTH(TC_FIRST(%s)), %s, %s)", tuple_type(a).text, x->s.lanes, v.text, id.text);
  put_accumulated(x, r, a, u, there.text ? there.text : v.text);
  tc_buf_free(&v);
  tc_buf_free(&id);
  tc_buf_free(&there);
}

/* Of the carry, and of what joins it. */
static tc_print_name carry_type(const tc_action *a) {
  return tc_print_sums_in_f64(a) ? tc_print_tuple_type(a->reducer, TC_F64) : tuple_type(a);
}

/* The carry joins the elements before; r<i> of a tuple is taken from it. */
static void put_serial_scan(tc_omp_nest *x, const tc_action *a, const char *v) {
  const char *of = x->jammed ? "[u]" : "";
  const tc_print_name op = tc_print_combine(a->reducer), c = carry_type(a);
  const uint32_t n = a->index;
  tc_buf carry = {0};
  if (tc_print_is_tuple(a)) {
    tc_putf(&carry, "carry%u%s", n, of);
    tc_print_line(&x->s, "%s = tc_%s_%s(%s, %s);", carry.text, op.text, tc_print_compute(a->dtype),
                  carry.text, v);
  } else {
    tc_putf(&carry, "TC_CAST(%s, carry%u%s)", tc_print_compute(a->dtype), n, of);
    tc_print_line(&x->s, "carry%u%s = tc_%s_%s(carry%u%s, TC_CAST(%s, %s));", n, of, op.text,
                  c.text, n, of, c.text, v);
  }
  tc_print_set_results(&x->s, a, "tc_v", carry.text);
  tc_buf_free(&carry);
}

void tc_omp_put_scan(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  const uint32_t n = a->index;
  tc_buf v = {0}, all = {0};
  tc_print_tuple(a, &v);
  tc_putf(&all, "tc_prefix_%s_%s(&carry%u, %s)", tc_reducer_get(a->reducer)->text,
          tc_print_compute(a->dtype), n, v.text);
  if (!r->along) put_serial_scan(x, a, v.text);
  else if (!tc_print_is_tuple(a)) tc_print_set_results(&x->s, a, "tc_v", all.text);
  else {
    tc_buf name = {0};
    tc_putf(&name, "all%u", n);
    tc_print_line(&x->s, "const tc_v%s %s = %s;", tuple_type(a).text, name.text, all.text);
    tc_print_set_results(&x->s, a, "tc_v", name.text);
    tc_buf_free(&name);
  }
  tc_buf_free(&v);
  tc_buf_free(&all);
}

void tc_omp_put_carries(tc_omp_nest *x, const tc_omp_run *r) {
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    if (a->kind != TC_ACT_SCAN) continue;
    const tc_print_name t = carry_type(a);
    tc_buf id = {0};
    tc_print_identity(x->s.words, a->reducer, tc_print_sums_in_f64(a) ? TC_F64 : a->dtype, &id);
    if (x->jammed) {
      tc_print_line(&x->s, "tc_v%s carry%u[jam];", t.text, a->index);
      tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < jam; ++u) carry%u[u] = %s;", a->index,
                    id.text);
    } else tc_print_line(&x->s, "tc_v%s carry%u = %s;", t.text, a->index, id.text);
    tc_buf_free(&id);
  }
}

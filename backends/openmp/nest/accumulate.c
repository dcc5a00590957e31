/* accumulate.c - what reductions and scans keep while a stage runs.
 *
 * A reduction along the vector axis keeps a vector of partial results for each of those that are
 * unrolled; they are combined by a fixed tree, then the lanes are.  f32 sums join an f64 total after
 * every block of points, which bounds their error by that of a short sum. */
#include "backends/openmp/nest/stage.h"

static void put_total(tc_omp_nest *x, uint32_t n, const char *start) {
  if (!x->jammed) {
    tc_print_line(&x->s, "tc_vf64 total%u = tc_set_f64(%s);", n, start);
    return;
  }
  tc_print_line(&x->s, "tc_vf64 total%u[jam];", n);
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < jam; ++u) total%u[u] = tc_set_f64(%s);", n,
                start);
}

/* Is this reduction folded into an f64 total? */
static bool is_folded(const tc_omp_run *r, const tc_action *a) {
  return a->kind == TC_ACT_REDUCE && r->block && tc_print_sums_in_f64(a);
}

static void put_identity(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  tc_buf id = {0};
  tc_print_identity(&x->s, a, &id);
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %s; ++u) acc%u[u] = %s;", r->count, a->index,
                id.text);
  tc_buf_free(&id);
}

void tc_omp_put_accumulators(tc_omp_nest *x, const tc_omp_run *r) {
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    if (a->kind != TC_ACT_REDUCE) continue;
    const char *t = tc_print_compute(tc_print_operand(x->s.k, a));
    if (is_folded(r, a)) put_total(x, a->index, tc_print_start(a) ? "1" : "0");
    tc_print_line(&x->s, "tc_v%s acc%u[%s]; /* %s */", t, a->index, r->count,
                  tc_op_get(a->op)->text);
    if (tc_print_is_arg(a)) tc_print_line(&x->s, "tc_vi64 at%u[%s];", a->index, r->count);
    if (!is_folded(r, a)) put_identity(x, r, a);
    if (tc_print_is_arg(a))
      tc_print_line(
          &x->s, "TC_UNROLL for (int u = 0; u < %s; ++u) at%u[u] = tc_set_i64(0x7fffffffffffffff);",
          r->count, a->index);
  }
}

/* At the beginning of a block. */
void tc_omp_put_fresh(tc_omp_nest *x, const tc_omp_run *r) {
  for (uint32_t i = 0; i < r->st->naction; ++i)
    if (is_folded(r, &r->st->action[i])) put_identity(x, r, &r->st->action[i]);
}

/* acc<i>[0] becomes the combination of all accumulators. */
static void put_join(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  const char *t = tc_print_compute(tc_print_operand(x->s.k, a)), *op = tc_print_combine(a);
  for (int step = r->unroll / 2; step > 0; step /= 2)
    for (int u = 0; u < step; ++u) {
      if (tc_print_is_arg(a))
        tc_print_line(&x->s, "tc_%s_%s(&acc%u[%d], &at%u[%d], acc%u[%d], at%u[%d], tc_set_b8(1));",
                      op, t, a->index, u, a->index, u, a->index, u + step, a->index, u + step);
      else
        tc_print_line(&x->s, "acc%u[%d] = tc_%s_%s(acc%u[%d], acc%u[%d]);", a->index, u, op, t,
                      a->index, u, a->index, u + step);
    }
}

/* The same where combining is costly: short rows use the first accumulator only, and skip it. */
static void put_used_join(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  const bool costly = r->unroll > 1 && tc_print_is_arg(a);
  if (costly) {
    tc_buf e = {0};
    tc_print_extent(&x->s, &x->nest->axis[x->plan->vector], &e);
    tc_print_line(&x->s, "if (%s >= %d * TC_L) {", e.text, r->unroll);
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
  for (uint32_t i = 0; !x->jammed && i < r->st->naction; ++i)
    if (is_folded(r, &r->st->action[i])) put_join(x, r, &r->st->action[i]);
  if (r->one) tc_print_line(&x->s, "if (%s) break;", last);
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    if (!is_folded(r, a)) continue;
    const char *each = x->jammed ? "TC_UNROLL for (int u = 0; u < jam; ++u) " : "",
               *of = x->jammed ? "[u]" : "";
    tc_buf sum = {0};
    put_sum(tc_print_combine(a), a->index, of, &sum);
    tc_print_line(&x->s, "%stotal%u%s = %s;", each, a->index, of, sum.text);
    tc_buf_free(&sum);
  }
}

/* `to` = a folded reduction, of vector u where vectors are jammed. */
static void put_folded(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *to) {
  const char *op = tc_print_combine(a), *of = x->jammed ? "[u]" : "",
             *all = x->jammed ? "[u]" : "[0]";
  tc_buf sum = {0}, lanes = {0};
  if (r->along) tc_putf(&lanes, "tc_lanes_%s", op);
  const char *across = r->along ? lanes.text : "";
  if (r->one) put_sum(op, a->index, of, &sum);
  else tc_putf(&sum, "total%u%s", a->index, of);
  if (r->one)
    tc_print_line(&x->s, "if (!block) %s = %s%s(acc%u%s);", to, across, r->along ? "_f32" : "",
                  a->index, all);
  tc_print_line(&x->s, "%s%s = TC_CAST(f32, %s%s(%s));", r->one ? "else " : "", to, across,
                r->along ? "_f64" : "", sum.text);
  tc_buf_free(&sum);
  tc_buf_free(&lanes);
}

/* Combines the lanes of accumulator `of`: the place in at<i> stays there, a value becomes r<i>. */
static void put_lanes(tc_omp_nest *x, const tc_action *a, const char *of) {
  const char *t = tc_print_compute(tc_print_operand(x->s.k, a)), *op = tc_print_combine(a);
  const uint32_t n = a->index;
  if (tc_print_is_arg(a))
    tc_print_line(&x->s, "tc_lanes_%s_%s(&acc%u%s, &at%u%s);", op, t, n, of, n, of);
  else tc_print_line(&x->s, "%s = tc_lanes_%s_%s(acc%u%s);", x->result[n], op, t, n, of);
}

/* r<i> from accumulator `of` and those that join it. */
static void put_result(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *of) {
  const char *to = x->result[a->index];
  if (is_folded(r, a)) {
    put_folded(x, r, a, to);
    return;
  }
  if (!x->jammed) put_used_join(x, r, a);
  if (r->along) put_lanes(x, a, of);
  if (tc_print_is_arg(a)) tc_print_line(&x->s, "%s = at%u%s;", to, a->index, of);
  else if (!r->along) tc_print_line(&x->s, "%s = acc%u%s;", to, a->index, of);
}

void tc_omp_put_results(tc_omp_nest *x, const tc_omp_run *r) {
  if (!tc_omp_has_kind(r->st, TC_ACT_REDUCE)) return;
  if (x->jammed) {
    tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < jam; ++u) {");
    x->s.indent += 2;
  }
  for (uint32_t i = 0; i < r->st->naction; ++i)
    if (r->st->action[i].kind == TC_ACT_REDUCE)
      put_result(x, r, &r->st->action[i], x->jammed ? "[u]" : "[0]");
  if (!x->jammed) return;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* ---- at a point ------------------------------------------------------------------------------ */

void tc_omp_put_reduce(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *u) {
  const char *t = tc_print_compute(tc_print_operand(x->s.k, a)), *op = tc_print_combine(a);
  const uint32_t n = a->index, v = a->value.id;
  const bool part = r->along && x->s.lanes;
  tc_buf live = {0}, id = {0};
  if (part) tc_putf(&live, "TC_TRUTH(TC_FIRST(%s))", x->s.lanes);
  else tc_put(&live, "tc_set_b8(1)");
  tc_print_identity(&x->s, a, &id);
  if (tc_print_is_arg(a))
    tc_print_line(&x->s, "tc_%s_%s(&acc%u[%s], &at%u[%s], v%u, v%u, %s);", op, t, n, u, n, u, v,
                  a->position.id, live.text);
  else if (part)
    tc_print_line(&x->s, "acc%u[%s] = tc_%s_%s(acc%u[%s], tc_where_%s(%s, v%u, %s));", n, u, op, t,
                  n, u, t, live.text, v, id.text);
  else tc_print_line(&x->s, "acc%u[%s] = tc_%s_%s(acc%u[%s], v%u);", n, u, op, t, n, u, v);
  tc_buf_free(&live);
  tc_buf_free(&id);
}

void tc_omp_put_scan(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  const char *t = tc_print_compute(a->dtype), *op = tc_print_start(a) ? "prod" : "sum";
  const char *total = tc_print_sums_in_f64(a) ? "f64" : t, *of = x->jammed ? "[u]" : "";
  const uint32_t n = a->index;
  if (r->along)
    tc_print_line(&x->s, "const tc_v%s r%u = tc_prefix_%s_%s(&carry%u, v%u);", t, n, op, t, n,
                  a->value.id);
  else {
    tc_print_line(&x->s, "carry%u%s = tc_%s_%s(carry%u%s, TC_CAST(%s, v%u));", n, of,
                  tc_print_combine(a), total, n, of, total, a->value.id);
    tc_print_line(&x->s, "const tc_v%s r%u = TC_CAST(%s, carry%u%s);", t, n, t, n, of);
  }
}

void tc_omp_put_carries(tc_omp_nest *x, const tc_omp_run *r) {
  for (uint32_t i = 0; i < r->st->naction; ++i) {
    const tc_action *a = &r->st->action[i];
    if (a->kind != TC_ACT_SCAN) continue;
    const char *t = tc_print_sums_in_f64(a) ? "f64" : tc_print_compute(a->dtype),
               *one = tc_print_start(a) ? "1" : "0";
    if (r->along && a->dtype == TC_I64) t = "u64";
    if (x->jammed) {
      tc_print_line(&x->s, "tc_v%s carry%u[jam];", t, a->index);
      tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < jam; ++u) carry%u[u] = tc_set_%s(%s);",
                    a->index, t, one);
    } else tc_print_line(&x->s, "tc_v%s carry%u = (tc_v%s)(tc_%s)%s;", t, a->index, t, t, one);
  }
}

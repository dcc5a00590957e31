/* term_sums.c - a reduction to accumulator 0 and a sum of terms that depend on it (tc_action.term),
 * along the vector axis in one pass: the vectors of one round join accumulator 0 first, then their
 * terms the sums.  All lanes share accumulator 0, most<i>; where a round changes it, which is rare,
 * the sums so far are rescaled, and c<v>, those values v of terms that are equal along the row,
 * computed anew. */
#include "backends/openmp/nest/stage.h"

#include <stdio.h>
#include <stdlib.h>

bool tc_omp_sums_terms(const tc_omp_nest *x, const tc_omp_run *r) {
  return r->st->naction == 1 && r->st->action->term.id && r->along && !x->jammed && !x->jam_points;
}

static const char *type_of(const tc_omp_run *r) { return tc_print_compute(r->st->action->dtype); }

static tc_print_name op_of(const tc_omp_run *r) {
  return tc_print_combine_part(r->st->action->reducer, 0);
}

/* ---- what the terms of a row share ----------------------------------------------------------- */

static bool varies(const tc_omp_nest *x, uint32_t id) {
  return x->f.depends[id] >> x->plan->vector & 1;
}

static void put_declaration(tc_omp_nest *x, uint32_t id) {
  tc_print_line(&x->s, "tc_v%s c%u;", tc_print_compute(x->s.k->expr[id].dtype), id);
}

static void put_assignment(tc_omp_nest *x, uint32_t id) {
  tc_print_value(&x->s, (tc_val){id});
  tc_print_line(&x->s, "c%u = v%u;", id, id);
}

static void put_definition(tc_omp_nest *x, uint32_t id) {
  tc_print_line(&x->s, "const tc_v%s v%u = c%u;", tc_print_compute(x->s.k->expr[id].dtype), id, id);
  x->s.printed[id] |= 1;
}

/* Calls f for each value of the row that one of an element is made of, but for constants. */
static void each_shared(tc_omp_nest *x, const tc_action *a,
                        void (*f)(tc_omp_nest *x, uint32_t id)) {
  const tc_kernel *k = x->s.k;
  uint8_t *need = calloc(k->nexpr + 1, 1), *shared = calloc(k->nexpr + 1, 1);
  if (!need || !shared) x->s.out->failed = true;
  else need[a->term.id] = 1, tc_mark_operands(k, need);
  for (uint32_t id = 1; need && shared && id < k->nexpr; ++id)
    for (int i = 0; i < 3; ++i)
      if (need[id] && varies(x, id)) shared[k->expr[id].in[i].id] = 1;
  for (uint32_t id = 1; need && shared && id < k->nexpr; ++id)
    if (shared[id] && !varies(x, id) && k->expr[id].kind != TC_EX_CONST) f(x, id);
  free(need);
  free(shared);
}

/* Accumulator 0 is most<n> in what is printed until `leave`. */
static uint8_t *enter_most(tc_omp_nest *x, uint32_t n, char most[16]) {
  snprintf(most, 16, "most%u", n);
  uint8_t *outer = tc_print_enter(&x->s);
  x->result[n] = most;
  return outer;
}

static void leave_most(tc_omp_nest *x, uint32_t n, uint8_t *outer, const char *result) {
  x->result[n] = result;
  tc_print_leave(&x->s, outer);
}

static void put_shared(tc_omp_nest *x, const tc_action *a) {
  const char *const result = x->result[a->index];
  char most[16];
  tc_print_line(&x->s, "{");
  x->s.indent += 2;
  uint8_t *outer = enter_most(x, a->index, most);
  each_shared(x, a, put_assignment);
  leave_most(x, a->index, outer, result);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* ---- accumulators ---------------------------------------------------------------------------- */

void tc_omp_put_term_accumulators(tc_omp_nest *x, const tc_omp_run *r) {
  const tc_action *a = r->st->action;
  tc_buf id = {0};
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "tc_v%s most%u = %s; /* %s */", type_of(r), a->index, id.text ? id.text : "",
                tc_reducer_get(a->reducer)->text);
  tc_print_line(&x->s, "tc_v%s sum%u[%d];", type_of(r), a->index, r->unroll);
  tc_print_line(&x->s, "tc_vf64 total%u = tc_set_f64(0);", a->index);
  each_shared(x, a, put_declaration);
  put_shared(x, a);
  if (!r->block) tc_omp_put_fresh_terms(x, r);
  tc_buf_free(&id);
}

void tc_omp_put_fresh_terms(tc_omp_nest *x, const tc_omp_run *r) {
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %d; ++u) sum%u[u] = tc_set_%s(0);", r->unroll,
                r->st->action->index, type_of(r));
}

void tc_omp_put_term_fold(tc_omp_nest *x, const tc_omp_run *r) {
  const uint32_t n = r->st->action->index;
  for (int step = r->unroll / 2; step > 0; step /= 2)
    for (int u = 0; u < step; ++u)
      tc_print_line(&x->s, "sum%u[%d] = tc_add_%s(sum%u[%d], sum%u[%d]);", n, u, type_of(r), n, u,
                    n, u + step);
  tc_print_line(&x->s, "total%u = tc_add_f64(total%u, TC_CAST(f64, sum%u[0]));", n, n, n);
}

void tc_omp_put_term_results(tc_omp_nest *x, const tc_omp_run *r) {
  const uint32_t n = r->st->action->index;
  if (!r->block) tc_omp_put_term_fold(x, r);
  tc_print_line(&x->s, "%s = most%u;", x->result[n], n);
  tc_print_line(&x->s, "%s = TC_CAST(%s, tc_lanes_add_f64(total%u));", x->result[n + 1], type_of(r),
                n);
}

/* ---- one round ------------------------------------------------------------------------------- */

/* in[u] = the element at vector u. */
static void put_elements(tc_omp_nest *x, const tc_omp_run *r) {
  const tc_action *a = r->st->action;
  tc_buf id = {0};
  tc_print_value(&x->s, a->value);
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  if (x->s.lanes)
    tc_print_line(&x->s, "in[u] = tc_where_%s(TC_TRUTH(TC_FIRST(%s)), v%u, %s);", type_of(r),
                  x->s.lanes, a->value.id, id.text ? id.text : "");
  else tc_print_line(&x->s, "in[u] = v%u;", a->value.id);
  tc_buf_free(&id);
}

/* From most<n> to `next`, whose lanes are equal then. */
static void put_rescale(tc_omp_nest *x, const tc_omp_run *r) {
  const tc_action *a = r->st->action;
  const uint32_t n = a->index;
  const char *t = type_of(r);
  char most[16];
  snprintf(most, sizeof most, "most%u", n);
  const char *const from[] = {most, "next"};
  tc_rule rule;
  if (!tc_rescale_rule(a->reducer, a->dtype, &rule)) x->s.out->failed = true;
  if (x->s.out->failed) return;
  tc_print_line(&x->s, "next = tc_lanes_%s_%s(next);", op_of(r).text, t);
  tc_print_rule(x->s.words, &rule, from, x->s.indent, x->s.out);
  const uint32_t factor = rule.value[1].id;
  tc_print_line(&x->s,
                "TC_UNROLL for (int u = 0; u < %d; ++u) sum%u[u] = tc_mul_%s(sum%u[u], v%u);",
                r->unroll, n, t, n, factor);
  tc_print_line(&x->s, "total%u = tc_mul_f64(total%u, TC_CAST(f64, v%u));", n, n, factor);
  tc_print_line(&x->s, "most%u = next;", n);
  put_shared(x, a);
}

static void put_join(tc_omp_nest *x, const tc_omp_run *r, int vectors) {
  const uint32_t n = r->st->action->index;
  const char *t = type_of(r);
  tc_print_line(&x->s, "tc_v%s next = most%u;", t, n);
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %d; ++u) next = tc_%s_%s(next, in[u]);",
                vectors, op_of(r).text, t);
  tc_print_line(&x->s, "if (tc_differs_%s(next, most%u)) {", t, n);
  x->s.indent += 2;
  put_rescale(x, r);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* sum[u] and the term of in[u]. */
static void put_terms(tc_omp_nest *x, const tc_omp_run *r, int vectors) {
  const tc_action *a = r->st->action;
  const char *const result = x->result[a->index];
  char most[16];
  uint8_t *outer = enter_most(x, a->index, most);
  each_shared(x, a, put_definition);
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %d; ++u) {", vectors);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_v%s v%u = in[u];", type_of(r), a->value.id);
  x->s.printed[a->value.id] |= 1;
  tc_print_value(&x->s, a->term);
  tc_print_line(&x->s, "sum%u[u] = tc_add_%s(sum%u[u], v%u);", a->index, type_of(r), a->index,
                a->term.id);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  leave_most(x, a->index, outer, result);
}

void tc_omp_put_term_round(tc_omp_nest *x, const tc_omp_run *r, int vectors) {
  const int v = x->plan->vector;
  char *i = x->axis_text[v], base[16];
  snprintf(base, sizeof base, "%s", i);
  tc_print_line(&x->s, "tc_v%s in[%d];", type_of(r), vectors);
  if (r->deinterleave && vectors > 1) tc_omp_begin_deinterleave(x, r->st);
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %d; ++u) {", vectors);
  snprintf(i, sizeof x->axis_text[v], "j%d", v);
  uint8_t *outer = tc_print_enter(&x->s);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t %s = %s + u * TC_L;", i, base);
  put_elements(x, r);
  x->s.indent -= 2;
  tc_print_leave(&x->s, outer);
  snprintf(i, sizeof x->axis_text[v], "%s", base);
  tc_print_line(&x->s, "}");
  tc_omp_end_deinterleave(x);
  put_join(x, r, vectors);
  put_terms(x, r, vectors);
}

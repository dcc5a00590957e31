/* online_softmax.c - max(v) and the sum of e^(v - max) over one row in one pass (Milakov and Gimelshein,
 * 2018): every thread keeps the largest value so far and the sum of e^(v - largest), which is
 * scaled when a larger one comes.  For rows that registers do not hold: they are read once less. */
#include "backends/cuda/nest/nest.h"

#include <stdio.h>

static const tc_action *only_reduction(const tc_stage *st, tc_reducer r) {
  const tc_action *a = st->naction == 1 ? &st->action[0] : NULL;
  return a && a->kind == TC_ACT_REDUCE && a->reducer == r && a->dtype == TC_F32 ? a : NULL;
}

bool tc_cuda_can_online(const tc_kernel *k, const tc_nest *n, uint32_t stage) {
  const tc_stage *st = &n->stage[stage];
  if (stage + 1 >= n->nstage) return false;
  const tc_action *max = only_reduction(&st[0], TC_REDUCE_MAX), *sum = only_reduction(&st[1], TC_REDUCE_SUM);
  if (!max || !sum || !st[0].axes || st[0].axes != st[1].axes) return false;
  const tc_expr *expr = k->expr, *e = &expr[sum->value.id], *d = &expr[e->in[0].id];
  return e->kind == TC_EX_OP && e->op == OP_EXP && d->kind == TC_EX_OP && d->op == OP_SUB &&
         d->in[0].id == max->value.id && expr[d->in[1].id].kind == TC_EX_RESULT &&
         expr[d->in[1].id].index == max->index;
}

bool tc_cuda_is_online(const tc_cuda_nest *x, uint32_t stage) {
  return !x->in_registers && x->plan->form == TC_CUDA_ROWS &&
         tc_cuda_can_online(x->s.k, x->nest, stage);
}

/* One statement for every item at hand, of its value `v`. */
static void put_each(tc_cuda_nest *x, const tc_cuda_loop *w, tc_val v, const char *statement) {
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_open_items(x, w, "base");
  tc_print_value(&x->s, v);
  tc_print_line(&x->s, statement, v.id);
  tc_cuda_close_items(x);
  tc_print_leave(&x->s, outer);
}

/* While all values are -inf, e^-inf is taken from 0: the sum stays 0. */
static const char from[] = "const tc_uf32 from = tc_where_f32(tc_eq_f32(next, "
                           "tc_set_f32(-TC_INF)), tc_set_f32(0), next);";

static void put_join(tc_cuda_nest *x, const char *part) {
  tc_print_line(&x->s,
                "total = tc_fma_f64(total, TC_CAST(f64, tc_exp_f32(tc_sub_f32(most, from))), "
                "TC_CAST(f64, %s));",
                part);
  tc_print_line(&x->s, "most = next;");
}

static void put_pass(tc_cuda_nest *x, const tc_cuda_loop *w, tc_val v, const char *kind) {
  tc_cuda_put_loads(x, w, "base");
  tc_print_line(&x->s, "%sf32 top = most;", kind);
  put_each(x, w, v, "top = tc_max_f32(top, v%u);");
  tc_print_line(&x->s, "const tc_uf32 next = tc_across(top, TC_COMBINE(max, f32));");
  tc_print_line(&x->s, "%s", from);
  tc_print_line(&x->s, "%sf32 part = tc_set_f32(0);", kind);
  put_each(x, w, v, "part = tc_add_f32(part, tc_exp_f32(tc_sub_uncontracted_f32(v%u, from)));");
  put_join(x, "tc_across(part, TC_COMBINE(add, f32))");
  tc_cuda_end_loads(x);
}

/* The peeled elements of an unaligned row, one by one. */
static void put_ends(tc_cuda_nest *x, tc_val v) {
  char part[64];
  snprintf(part, sizeof part, "tc_exp_f32(tc_sub_uncontracted_f32(v%u, from))", v.id);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_open_peeled(x);
  tc_print_value(&x->s, v);
  tc_print_line(&x->s, "const tc_uf32 next = tc_max_f32(most, v%u);", v.id);
  tc_print_line(&x->s, "%s", from);
  put_join(x, part);
  tc_cuda_close_peeled(x);
  tc_print_leave(&x->s, outer);
}

void tc_cuda_put_online(tc_cuda_nest *x, uint32_t stage) {
  const tc_stage *st = &x->nest->stage[stage + 1];
  const tc_action *max = &x->nest->stage[stage].action[0], *sum = &st->action[0];
  const char *kind = x->s.vector >= 0 && (st->axes >> x->s.vector & 1) ? "tc_v" : "tc_u";
  const tc_cuda_loop w = {.st = &x->nest->stage[stage],
                          .axes = st->axes,
                          .first = "threads.t",
                          .step = "threads.size",
                          .hop = "threads.size * TC_U"};
  tc_buf count = {0};
  tc_cuda_put_count(x, w.axes, &count);
  tc_print_line(&x->s, "tc_uf32 r%u, r%u;", max->index, sum->index);
  tc_print_line(&x->s, "{ /* max and sum in one pass */");
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_hoist_action(&x->s, max, ~w.axes);
  tc_print_line(&x->s, "tc_uf32 most = tc_set_f32(-TC_INF);");
  tc_print_line(&x->s, "tc_uf64 total = tc_set_f64(0);");
  if (x->unaligned) tc_cuda_put_peeled_bounds(x);
  else tc_print_line(&x->s, "const tc_int items = %s;", count.text ? count.text : "0");
  tc_print_line(&x->s, "for (tc_int base = %s; base < items; base += %s) {", w.first, w.hop);
  x->s.indent += 2;
  put_pass(x, &w, max->value, kind);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  if (x->unaligned) put_ends(x, max->value);
  tc_print_line(&x->s, "r%u = tc_combine(threads, most, TC_COMBINE(max, f32));", max->index);
  tc_print_line(&x->s,
                "total = tc_mul_f64(total, TC_CAST(f64, tc_exp_f32(tc_sub_f32(most, r%u))));",
                max->index);
  tc_print_line(&x->s, "r%u = TC_CAST(f32, tc_combine(threads, total, TC_COMBINE(add, f64)));",
                sum->index);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&count);
}

/* term_sums.c - a reduction to accumulator 0 and a sum of terms that depend on it (tc_action.term),
 * in one pass over one row: every thread keeps the accumulator 0 of its items so far and the sum of
 * their terms, which is rescaled as items at hand join them.  For rows that registers do not hold:
 * they are read once less. */
#include "backends/cuda/nest/nest.h"

#include <stdio.h>

bool tc_cuda_sums_terms(const tc_cuda_nest *x, const tc_stage *st) {
  return st->naction == 1 && st->action->term.id && x->plan->form == TC_CUDA_ROWS &&
         !x->in_registers;
}

typedef struct names {
  const char *t; /* type of the elements */
  tc_print_name op; /* that combines accumulator 0 */
  const char *kind; /* of partial results */
} names;

static void put_identity(tc_cuda_nest *x, const tc_action *a, const char *name) {
  tc_buf id = {0};
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "tc_u%s %s = %s;", tc_print_compute(a->dtype), name, id.text ? id.text : "");
  tc_buf_free(&id);
}

/* Values that are made of RESULT `index` are, until `leave`, those of variable `next`. */
static uint8_t *enter_next(tc_cuda_nest *x, const tc_action *a) {
  uint8_t *outer = tc_print_enter(&x->s);
  x->result[a->index] = "next";
  return outer;
}

static void leave_next(tc_cuda_nest *x, const tc_action *a, uint8_t *outer) {
  x->result[a->index] = x->result_text[a->index];
  tc_print_leave(&x->s, outer);
}

/* total = total * rescale + `part`, as accumulator 0 of the thread goes from `most` to `next`. */
static void put_join(tc_cuda_nest *x, const tc_action *a, const char *next, const char *part) {
  const char *const from[] = {"most", next};
  tc_spelling words = tc_cuda_words;
  tc_rule rule;
  words.vector = words.uniform;
  if (!tc_rescale_rule(a->reducer, a->dtype, &rule)) x->s.out->failed = true;
  if (x->s.out->failed) return;
  tc_print_line(&x->s, "{");
  tc_print_rule(&words, &rule, from, x->s.indent + 2, x->s.out);
  const uint32_t factor = rule.value[1].id;
  if (part)
    tc_print_line(&x->s, "  total = tc_fma_f64(total, TC_CAST(f64, v%u), TC_CAST(f64, %s));",
                  factor, part);
  else tc_print_line(&x->s, "  total = tc_mul_f64(total, TC_CAST(f64, v%u));", factor);
  tc_print_line(&x->s, "}");
}

/* The items at hand: their accumulator 0, then their terms. */
static void put_pass(tc_cuda_nest *x, const tc_cuda_loop *w, const tc_action *a, const names *n) {
  tc_cuda_put_loads(x, w, "base");
  tc_print_line(&x->s, "%s%s top = most;", n->kind, n->t);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_open_items(x, w, "base");
  tc_print_value(&x->s, a->value);
  tc_print_line(&x->s, "top = tc_%s_%s(top, v%u);", n->op.text, n->t, a->value.id);
  tc_cuda_close_items(x);
  tc_print_leave(&x->s, outer);
  tc_print_line(&x->s, "const tc_u%s next = tc_across(top, TC_COMBINE(%s, %s));", n->t, n->op.text,
                n->t);
  outer = enter_next(x, a);
  tc_print_hoist(&x->s, a->term, x->parallel);
  tc_print_line(&x->s, "%s%s part = tc_set_%s(0);", n->kind, n->t, n->t);
  tc_cuda_open_items(x, w, "base");
  uint8_t *items = tc_print_enter(&x->s);
  tc_print_value(&x->s, a->term);
  tc_print_line(&x->s, "part = tc_add_%s(part, v%u);", n->t, a->term.id);
  tc_print_leave(&x->s, items);
  tc_cuda_close_items(x);
  leave_next(x, a, outer);
  tc_print_line(&x->s, "const tc_u%s sum = tc_across(part, TC_COMBINE(add, %s));", n->t, n->t);
  put_join(x, a, "next", "sum");
  tc_print_line(&x->s, "most = next;");
  tc_cuda_end_loads(x);
}

/* The peeled elements of an unaligned row, one by one. */
static void put_ends(tc_cuda_nest *x, const tc_action *a, const names *n) {
  tc_cuda_open_peeled(x);
  uint8_t *outer = enter_next(x, a);
  tc_print_value(&x->s, a->value);
  tc_print_line(&x->s, "const tc_u%s next = tc_%s_%s(most, v%u);", n->t, n->op.text, n->t,
                a->value.id);
  tc_print_value(&x->s, a->term);
  tc_print_line(&x->s, "const tc_u%s sum = v%u;", n->t, a->term.id);
  put_join(x, a, "next", "sum");
  tc_print_line(&x->s, "most = next;");
  leave_next(x, a, outer);
  tc_cuda_close_peeled(x);
}

static void put_loop(tc_cuda_nest *x, const tc_stage *st, const names *n) {
  const tc_action *a = st->action;
  const tc_cuda_loop w = {.st = st,
                          .axes = st->axes,
                          .first = "threads.t",
                          .step = "threads.size",
                          .hop = "threads.size * TC_U"};
  tc_buf count = {0};
  tc_cuda_put_count(x, w.axes, &count);
  tc_print_hoist(&x->s, a->value, x->parallel);
  if (x->unaligned) tc_cuda_put_peeled_bounds(x);
  else tc_print_line(&x->s, "const tc_int items = %s;", count.text ? count.text : "0");
  tc_print_line(&x->s, "for (tc_int base = %s; base < items; base += %s) {", w.first, w.hop);
  x->s.indent += 2;
  put_pass(x, &w, a, n);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  if (x->unaligned) put_ends(x, a, n);
  tc_buf_free(&count);
}

void tc_cuda_put_term_sums(tc_cuda_nest *x, const tc_stage *st) {
  const tc_action *a = st->action;
  const bool lanes = x->s.vector >= 0 && (st->axes >> x->s.vector & 1);
  const names n = {tc_print_compute(a->dtype), tc_print_combine_part(a->reducer, 0),
                   lanes ? "tc_v" : "tc_u"};
  char result[16];
  snprintf(result, sizeof result, "r%u", a->index);
  tc_print_line(&x->s, "tc_u%s r%u, r%u;", n.t, a->index, a->index + 1);
  tc_print_line(&x->s, "{ /* %s */", tc_reducer_get(a->reducer)->text);
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  put_identity(x, a, "most");
  tc_print_line(&x->s, "tc_uf64 total = tc_set_f64(0);");
  put_loop(x, st, &n);
  tc_print_line(&x->s, "%s = tc_combine(threads, most, TC_COMBINE(%s, %s));", result, n.op.text,
                n.t);
  put_join(x, a, result, NULL);
  tc_print_line(&x->s, "r%u = TC_CAST(%s, tc_combine(threads, total, TC_COMBINE(add, f64)));",
                a->index + 1, n.t);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

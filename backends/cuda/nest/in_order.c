/* in_order.c - reductions to the place of an element, as argmax is, of which a thread has the
 * elements in their order: it keeps the best one so far, best<i>, and the number of its item,
 * at<i>, lane by lane.  An item that comes later takes the place by the column `later` of the
 * table, without a look at positions; these are found once, behind the loop, for all threads and
 * lanes to be combined as tuples. */
#include "backends/cuda/nest/nest.h"

bool tc_cuda_is_in_order(const tc_cuda_nest *x, const tc_stage *st, const tc_action *a) {
  return a->kind == TC_ACT_REDUCE && tc_reducer_has_later(a->reducer) && !x->peeled &&
         tc_schedule_has(&x->plan->in_order, (uint32_t)(st - x->stages));
}

void tc_cuda_begin_in_order(tc_cuda_nest *x, const tc_cuda_loop *w) {
  for (uint32_t i = 0; i < w->st->naction; ++i) {
    const tc_action *a = &w->st->action[i];
    if (!tc_cuda_is_in_order(x, w->st, a)) continue;
    tc_buf id = {0};
    tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
    tc_print_line(&x->s, "%s%s best%u = %s; /* %s */", tc_cuda_kind(x, w->st),
                  tc_print_compute(a->dtype), a->index, id.text ? id.text : "",
                  tc_reducer_get(a->reducer)->text);
    tc_print_line(&x->s, "%sidx at%u = tc_set<tc_int>(%s);", tc_cuda_kind(x, w->st), a->index,
                  w->first);
    tc_buf_free(&id);
  }
}

void tc_cuda_put_in_order(tc_cuda_nest *x, const tc_stage *st, const tc_action *a) {
  static const char *const from[] = {"best", "next", "element"};
  tc_spelling words = tc_cuda_words;
  tc_rule rule;
  words.vector = tc_cuda_kind(x, st);
  if (!tc_later_rule(a->reducer, a->dtype, &rule)) x->s.out->failed = true;
  if (x->s.out->failed) return;
  tc_print_line(&x->s, "{");
  tc_print_line(&x->s, "  const auto best = best%u;", a->index);
  tc_print_line(&x->s, "  const auto element = v%u;", a->value.id);
  tc_print_line(&x->s, "  const auto next = tc_%s_%s(best, element);",
                tc_print_combine_part(a->reducer, 0).text, tc_print_compute(a->dtype));
  tc_print_rule(&words, &rule, from, x->s.indent + 2, x->s.out);
  tc_print_line(&x->s, "  at%u = tc_later(v%u, item, at%u);", a->index, rule.value[1].id, a->index);
  tc_print_line(&x->s, "  best%u = next;", a->index);
  tc_print_line(&x->s, "}");
}

/* acc<i>, of best and position; that of the thread's first item is base + 0. */
static void put_tuple(tc_cuda_nest *x, const tc_cuda_loop *w, const tc_action *a) {
  const int axis = __builtin_ctz(w->axes);
  const char *const name = x->s.axis[axis];
  tc_print_line(&x->s, "if (%s < items) {", w->first);
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  x->s.axis[axis] = x->unaligned ? "head" : "0";
  tc_print_value(&x->s, a->further[0]);
  x->s.axis[axis] = name;
  tc_print_line(&x->s, "acc%u = tc_pack_%s(best%u, v%u + TC_CAST(i64, %sat%u));", a->index,
                tc_print_tuple_type(a->reducer, a->dtype).text, a->index, a->further[0].id,
                axis == x->s.vector ? "TC_L * " : "", a->index);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_end_in_order(tc_cuda_nest *x, const tc_cuda_loop *w) {
  for (uint32_t i = 0; i < w->st->naction; ++i)
    if (tc_cuda_is_in_order(x, w->st, &w->st->action[i])) put_tuple(x, w, &w->st->action[i]);
}

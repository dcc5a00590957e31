/* strided_loop.c - the loop of a thread over its items, of which it takes several at a time. */
#include "backends/cuda/nest/nest.h"

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

/* Peeled elements of rows in registers are on their way with the items. */
static bool peels_first(const tc_cuda_nest *x, const tc_cuda_loop *w) { return x->phased && w->once; }

static void put_pass(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  tc_cuda_put_loads(x, w, base);
  tc_cuda_put_prefetched(x, w, base);
  if (peels_first(x, w)) tc_cuda_put_peeled(x, w->st);
  if (tc_cuda_folds(x, w->st)) tc_cuda_put_accumulators(x, w->st, false);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_skip_rows(x, w->st);
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
 * their tests and values share registers with the loads of the first loop.  None are left of single
 * ones, which the compiler would not find out. */
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
  tc_print_line(&x->s, "if constexpr (TC_U > 1) for (; base < items; base += %s * %s) {",
                x->unroll, w->step);
  x->s.indent += 2;
  put_pass(x, w, "base");
  x->unroll = all;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_put_loop(tc_cuda_nest *x, const tc_cuda_loop *w) {
  tc_print_hoist_stage(&x->s, w->st, ~w->axes);
  tc_cuda_put_divisors(x, w->axes);
  tc_cuda_put_row_divisors(x, w->st);
  put_items_of(x, w);
  tc_cuda_begin_in_order(x, w);
  if (w->once) put_pass(x, w, w->first);
  else if (x->plan->form == TC_CUDA_COLUMNS && !x->scan) put_column_passes(x, w);
  else {
    tc_print_line(&x->s, "for (tc_int base = %s; base < items; base += %s) {", w->first, w->hop);
    x->s.indent += 2;
    put_pass(x, w, "base");
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  tc_cuda_end_in_order(x, w);
  if (x->unaligned && !peels_first(x, w)) tc_cuda_put_peeled(x, w->st);
  x->divisors = 0;
}

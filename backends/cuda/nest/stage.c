/* stage.c - what happens at an outer point: stages in order. */
#include "backends/cuda/nest/nest.h"

/* A group runs along the scan together: TC_L points a thread, all of them at once, then the
 * next. */
static void put_row_scan(tc_cuda_nest *x, const tc_stage *st) {
  const int axis = __builtin_ctz(st->axes);
  const char *i = x->axis_text[axis], *lanes = axis == x->s.vector ? "TC_L" : "1";
  tc_buf e = {0};
  tc_print_extent(&x->s, &x->nest->axis[axis], &e);
  tc_print_hoist_stage(&x->s, st, x->parallel);
  tc_print_line(&x->s, "const tc_int end = %s;", e.text);
  tc_print_line(&x->s, "for (tc_int base = 0; base < end; base += threads.size * %s) {", lanes);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int at = base + threads.t * %s;", lanes);
  tc_print_line(&x->s, "const bool live = at < end;");
  tc_print_line(&x->s, "const tc_int %s = live ? at : 0;", i);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_put_actions(x, st);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&e);
}

/* Once per outer point: by the first thread of the group. */
static void put_single(tc_cuda_nest *x, const tc_stage *st) {
  tc_print_line(&x->s, "if (threads.t == 0) {");
  x->s.indent += 2;
  tc_cuda_put_actions(x, st);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Passes that write rows have a part of the registers for what they write. */
static bool stores(const tc_cuda_nest *x, const tc_stage *st) {
  bool any = false;
  for (uint32_t i = 0; !x->in_registers && i < st->naction; ++i)
    any |= tc_cuda_is_store(&st->action[i]);
  return any;
}

static void put_stage(tc_cuda_nest *x, const tc_stage *st) {
  tc_cuda_declare_results(x, st);
  tc_print_line(&x->s, "{");
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  /* the group is one thread */
  const bool serial = x->plan->form == TC_CUDA_COLUMNS && tc_cuda_has_scan(st);
  const bool once = x->in_registers && tc_cuda_is_pass(x->nest, st);
  const bool half = x->plan->cache.n && stores(x, st);
  const tc_cuda_loop w = {.st = st,
                          .axes = st->axes,
                          .first = serial ? "0"
                                   : once ? "threads.first"
                                          : "threads.t",
                          .step = serial ? "1"
                                  : once ? "threads.step"
                                         : "threads.size",
                          .hop = serial ? "TC_U"
                                 : half ? "threads.size * TC_HALF"
                                        : "threads.size * TC_U",
                          .once = once};
  x->unroll = half ? "TC_HALF" : "TC_U";
  tc_cuda_put_accumulators(x, st, true);
  tc_cuda_put_carries(x, st);
  if (!st->axes) put_single(x, st);
  else if (tc_cuda_has_scan(st) && !serial) put_row_scan(x, st);
  else tc_cuda_put_loop(x, &w);
  tc_cuda_put_results(x, st);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* A buffer that one stage writes and a later one reads, other than a row of the thread's own. */
static bool crosses(const tc_cuda_nest *x, uint32_t stage) {
  const tc_kernel *k = x->s.k;
  for (uint32_t s = 0; s < stage; ++s)
    for (uint32_t i = 0; i < x->nest->stage[s].naction; ++i) {
      const tc_action *a = &x->nest->stage[s].action[i];
      if (tc_cuda_is_store(a) && x->s.p->buffer[k->buffer[a->buffer]].kind != TC_BUF_LOCAL &&
          tc_print_reads(k, a->buffer))
        return true;
    }
  return false;
}

void tc_cuda_put_stages(tc_cuda_nest *x) {
  for (uint32_t i = 0; i < x->nest->nstage; ++i) {
    if (i && crosses(x, i)) tc_print_line(&x->s, "__syncthreads();");
    const tc_stage *st = &x->nest->stage[i];
    if (tc_cuda_sums_terms(x, st)) tc_cuda_put_term_sums(x, st);
    else put_stage(x, st);
  }
}

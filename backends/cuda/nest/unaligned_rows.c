/* unaligned_rows.c - rows that begin anywhere (a width that is no multiple of the lanes, a view that
 * begins inside of a row): head and tail, the elements up to the first aligned address and behind
 * the last whole item, are peeled; all others are loaded and stored 16 bytes at a time.
 * For nests whose rows are read by one load, in one pass, and not written; and for all others whose
 * rows are in phase (tc_cuda_phase). */
#include "backends/cuda/nest/nest.h"

#include <stdlib.h>

static uint32_t load_of(tc_cuda_nest *x) {
  uint8_t *need = calloc(x->s.k->nexpr + 1, 1);
  if (!need) {
    x->s.out->failed = true;
    return 0;
  }
  tc_cuda_mark(x->s.k, x->nest, need);
  const uint32_t id = tc_cuda_unaligned_load(x->s.k, x->s.p, x->nest, need);
  free(need);
  return id;
}

/* The row that says where items begin. */
static tc_cuda_row row_of(tc_cuda_nest *x) {
  if (x->phased) return tc_cuda_phase(x->s.k, x->s.p, &x->s.k->nest[x->number]);
  const tc_expr *e = &x->s.k->expr[load_of(x)];
  return (tc_cuda_row){&e->address, e->buffer, 0};
}

void tc_cuda_put_peeled_bounds(tc_cuda_nest *x) {
  const int v = x->nest->vector;
  const tc_cuda_row row = row_of(x);
  tc_buf at = {0}, extent = {0};
  x->s.axis[v] = "0";
  tc_print_address(&x->s, row.address, &at);
  x->s.axis[v] = x->axis_text[v];
  tc_print_extent(&x->s, &x->nest->axis[v], &extent);
  const char *n = extent.text ? extent.text : "0";
  tc_print_line(&x->s, "const tc_int head = tc_head<TC_L>(b%u + (%s), (tc_int)(%s));", row.buffer,
                at.text ? at.text : "0", n);
  tc_print_line(&x->s, "const tc_int items = ((%s) - head) / TC_L;", n);
  tc_print_line(&x->s, "const tc_int ends = (%s) - items * TC_L;", n);
  tc_buf_free(&at);
  tc_buf_free(&extent);
}

void tc_cuda_open_peeled(tc_cuda_nest *x) {
  x->s.vector = -1;
  x->peeled = true;
  /* rows in registers have a thread for each */
  tc_print_line(&x->s, x->in_registers ? "if (const tc_int end = threads.t; end < ends) {" : "for (tc_int end = threads.t; end < ends; end += threads.size) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = end < head ? end : end + items * TC_L;",
                x->axis_text[x->nest->vector]);
}

void tc_cuda_close_peeled(tc_cuda_nest *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.vector = x->nest->vector;
  x->peeled = false;
}

/* acc<i> of the stage is a vector: a uniform one of the same name takes the ends, and joins its
 * first lane, or the total. */
void tc_cuda_put_peeled(tc_cuda_nest *x, const tc_stage *st) {
  const tc_action *a = st->action, *end = a + st->naction;
  for (a = st->action; a < end; ++a)
    if (a->kind == TC_ACT_REDUCE && !tc_cuda_is_total(x, st, a))
      tc_print_line(&x->s, "auto &all%u = acc%u;", a->index, a->index);
  tc_print_line(&x->s, "{ /* elements beside the aligned ones */");
  x->s.indent += 2;
  x->s.vector = -1;
  for (a = st->action; a < end; ++a)
    if (a->kind == TC_ACT_REDUCE) tc_cuda_put_accumulator(x, st, a);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_cuda_open_peeled(x);
  tc_cuda_put_actions(x, st);
  tc_cuda_close_peeled(x);
  tc_print_leave(&x->s, outer);
  if (tc_cuda_folds(x, st)) tc_cuda_put_fold(x, st);
  for (a = st->action; a < end; ++a)
    if (a->kind == TC_ACT_REDUCE && !tc_cuda_is_total(x, st, a))
      tc_print_line(&x->s, "all%u.l[0] = tc_%s_%s(tc_one(all%u.l[0]), acc%u).l[0];", a->index,
                    tc_print_combine(a->reducer).text, tc_print_compute(a->dtype), a->index,
                    a->index);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

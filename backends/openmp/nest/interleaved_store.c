/* interleaved_store.c - stores of neighbouring channels: their values are interleaved in registers
 * (schedule/interleave.c). */
#include "backends/openmp/nest/nest.h"

void tc_omp_put_interleaved(tc_omp_nest *x, const tc_stage *st, const tc_action *first) {
  const tc_action *channel[TC_OMP_INTERLEAVE];
  const tc_print_scope *s = &x->s;
  const int64_t n = tc_omp_channels(&x->f, st, first, channel);
  const tc_buffer *b = &s->p->buffer[s->k->buffer[first->buffer]];
  tc_buf at = {0}, values = {0};
  tc_print_address(s, &first->address, &at);
  for (int64_t c = 0; c < n; ++c) tc_putf(&values, ", v%u", channel[c]->value.id);
  tc_print_line(&x->s, "tc_interleave%lld%s_%s(b%u + (%s), %s%s);", (long long)n,
                s->lanes ? "n" : "", tc_print_storage(b->dtype), first->buffer,
                at.text ? at.text : "0",
                s->lanes ? s->lanes : tc_omp_nontemporal_flag(x, first->buffer),
                values.text ? values.text : "");
  tc_buf_free(&at);
  tc_buf_free(&values);
}

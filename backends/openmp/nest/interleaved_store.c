/* interleaved_store.c - stores at distances of 2 to 4 elements that together fill whole vectors, such as
 * those of the channels of pixels: their values are interleaved in registers. */
#include "backends/openmp/nest/nest.h"

/* Elements from lane to lane of the store, where there are few; or 0. */
static int64_t interleave_of(const tc_omp_nest *x, const tc_action *a) {
  const int v = x->nest->vector;
  if (v < 0 || a->kind != TC_ACT_STORE || a->guard.id || a->address.nterm) return 0;
  const tc_dim step = a->address.coef[v];
  if (!tc_dim_is_const(step)) return 0;
  return tc_dim_value(step) >= 2 && tc_dim_value(step) <= TC_OMP_INTERLEAVE ? tc_dim_value(step)
                                                                            : 0;
}

/* How far b is behind a, both of the same pixels; else TC_OMP_CHANNELS. */
static int64_t distance(const tc_omp_nest *x, const tc_action *a, const tc_action *b) {
  if (a->buffer != b->buffer || interleave_of(x, b) != interleave_of(x, a))
    return TC_OMP_INTERLEAVE;
  for (int i = 0; i < TC_MAX_AXES; ++i)
    if (!tc_dim_same(a->address.coef[i], b->address.coef[i])) return TC_OMP_INTERLEAVE;
  const tc_dim far = tc_dim_sub(tc_graph_dims(x->s.p->graph), b->address.offset, a->address.offset);
  return tc_dim_is_const(far) && tc_dim_value(far) >= 0 ? tc_dim_value(far) : TC_OMP_INTERLEAVE;
}

/* The stores of all channels, the first of which is `first`. */
static int64_t collect(const tc_omp_nest *x, const tc_stage *st, const tc_action *first,
                       const tc_action *channel[TC_OMP_INTERLEAVE]) {
  const int64_t n = interleave_of(x, first);
  int64_t found = 0;
  for (int64_t c = 0; c < n; ++c) channel[c] = NULL;
  for (uint32_t i = 0; n && i < st->naction; ++i) {
    const int64_t c = distance(x, first, &st->action[i]);
    if (c >= n) continue;
    found += !channel[c];
    channel[c] = &st->action[i];
  }
  return n && found == n ? n : 0;
}

bool tc_omp_is_interleaved(const tc_omp_nest *x, const tc_stage *st, const tc_action *a,
                           bool *first) {
  const tc_action *channel[TC_OMP_INTERLEAVE];
  for (uint32_t i = 0; interleave_of(x, a) && i < st->naction; ++i) {
    const int64_t n = collect(x, st, &st->action[i], channel);
    for (int64_t c = 0; c < n; ++c)
      if (channel[c] == a) {
        *first = c == 0;
        return true;
      }
  }
  return false;
}

void tc_omp_put_interleaved(tc_omp_nest *x, const tc_stage *st, const tc_action *first) {
  const tc_action *channel[TC_OMP_INTERLEAVE];
  const tc_print_scope *s = &x->s;
  const int64_t n = collect(x, st, first, channel);
  const tc_buffer *b = &s->p->buffer[s->k->buffer[first->buffer]];
  tc_buf at = {0}, values = {0};
  tc_print_address(s, &first->address, &at);
  for (int64_t c = 0; c < n; ++c) tc_putf(&values, ", v%u", channel[c]->value.id);
  tc_print_line(&x->s, "tc_interleave%lld_%s(b%u + (%s), %s%s);", (long long)n,
                tc_print_storage(b->dtype), first->buffer, at.text ? at.text : "0",
                s->nontemporal && b->kind == TC_BUF_OUTPUT ? s->nontemporal : "0",
                values.text ? values.text : "");
  tc_buf_free(&at);
  tc_buf_free(&values);
}

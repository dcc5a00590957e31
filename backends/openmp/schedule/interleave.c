/* interleave.c - stores at distances of 2 to 4 elements that together fill whole vectors, such as
 * those of the channels of pixels. */
#include "backends/openmp/schedule/facts.h"

/* Elements from lane to lane of the store, where there are few; or 0. */
static int64_t interleave_of(const tc_omp_facts *f, const tc_action *a) {
  const int v = f->vector;
  if (v < 0 || a->kind != TC_ACT_STORE || a->guard.id || a->address.nterm) return 0;
  const tc_dim step = a->address.coef[v];
  if (!tc_dim_is_const(step)) return 0;
  return tc_dim_value(step) >= 2 && tc_dim_value(step) <= TC_OMP_INTERLEAVE ? tc_dim_value(step)
                                                                            : 0;
}

/* How far b is behind a, both of the same pixels; else TC_OMP_INTERLEAVE. */
static int64_t distance(const tc_omp_facts *f, const tc_action *a, const tc_action *b) {
  if (a->buffer != b->buffer || interleave_of(f, b) != interleave_of(f, a))
    return TC_OMP_INTERLEAVE;
  for (int i = 0; i < TC_MAX_AXES; ++i)
    if (!tc_dim_same(a->address.coef[i], b->address.coef[i])) return TC_OMP_INTERLEAVE;
  const tc_dim far = tc_dim_sub(tc_graph_dims(f->p->graph), b->address.offset, a->address.offset);
  return tc_dim_is_const(far) && tc_dim_value(far) >= 0 ? tc_dim_value(far) : TC_OMP_INTERLEAVE;
}

int64_t tc_omp_channels(const tc_omp_facts *f, const tc_stage *st, const tc_action *first,
                        const tc_action *channel[TC_OMP_INTERLEAVE]) {
  const int64_t n = interleave_of(f, first);
  int64_t found = 0;
  for (int64_t c = 0; c < n; ++c) channel[c] = NULL;
  for (uint32_t i = 0; n && i < st->naction; ++i) {
    const int64_t c = distance(f, first, &st->action[i]);
    if (c >= n) continue;
    found += !channel[c];
    channel[c] = &st->action[i];
  }
  return n && found == n ? n : 0;
}

bool tc_omp_is_interleaved(const tc_omp_facts *f, const tc_stage *st, const tc_action *a,
                           bool *first) {
  const tc_action *channel[TC_OMP_INTERLEAVE];
  for (uint32_t i = 0; interleave_of(f, a) && i < st->naction; ++i) {
    const int64_t n = tc_omp_channels(f, st, &st->action[i], channel);
    for (int64_t c = 0; c < n; ++c)
      if (channel[c] == a) {
        *first = c == 0;
        return true;
      }
  }
  return false;
}

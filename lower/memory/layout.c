/* layout.c - layouts of buffers as values: the memory that they take. */
#include "lower/loop.h"

/* An axis, or the blocks of one, or the places in a block: `count` steps of `stride` elements. */
typedef struct steps {
  tc_dim count, stride;
} steps;

static int steps_of(tc_dims *c, const tc_type *t, const tc_buf_layout *l, steps *out) {
  int n = 0;
  for (int i = 0; i < t->rank; i++) {
    const tc_buf_axis *x = &l->axis[i];
    const tc_dim block = tc_dim_const(x->block);
    if (tc_dim_is(t->dim[i], 1)) continue;
    if (x->block > 1) out[n++] = (steps){block, x->within};
    out[n] = (steps){x->block > 1 ? tc_dim_ceildiv(c, t->dim[i], block) : t->dim[i], x->stride};
    n += !tc_dim_is(out[n].count, 1);
  }
  return n;
}

/* The shortest steps that are as long as `room`, or -1. */
static int next_steps(tc_dims *c, const steps *s, int n, tc_dim room) {
  int best = -1;
  for (int i = 0; i < n; i++)
    if (tc_dim_known_le(c, room, s[i].stride) &&
        (best < 0 || tc_dim_known_le(c, s[i].stride, s[best].stride)))
      best = i;
  return best;
}

tc_dim tc_layout_numel(tc_dims *c, const tc_type *t, const tc_buf_layout *l) {
  steps s[2 * TC_MAX_RANK];
  tc_dim room = tc_dim_const(1);
  if (!l->strided) return tc_type_numel(c, t);
  for (int n = steps_of(c, t, l, s); n > 0; n--) {
    const int next = next_steps(c, s, n, room);
    if (next < 0) return TC_DIM_INVALID;
    room = tc_dim_mul(c, s[next].stride, s[next].count);
    s[next] = s[n - 1];
  }
  return room;
}

bool tc_layout_same(const tc_buf_layout *a, const tc_buf_layout *b, int rank) {
  if (a->strided != b->strided) return false;
  for (int i = 0; a->strided && i < rank; i++) {
    const tc_buf_axis *x = &a->axis[i], *y = &b->axis[i];
    const bool blocks = x->block > 1 || y->block > 1;
    if (!tc_dim_same(x->stride, y->stride)) return false;
    if (blocks && (x->block != y->block || !tc_dim_same(x->within, y->within))) return false;
  }
  return true;
}

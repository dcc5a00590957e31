/* several.c - ops with several results.  Each result is that of an op with one. */
#include "runtime/libtcrt/src/eager/eager.h"

#include <string.h>

/* Result 1, if it is wanted. */
static bool second(tc_eager_call *c, tc_op op, int nattr, const tc_dim *attr) {
  if (c->out && c->further[0]) *c->further[0] = tc_eager_part(c, op, nattr, attr);
  return c->out && (!c->further[0] || *c->further[0]);
}

bool tc_eager_var_mean(tc_eager_call *c) {
  const int list = 1 + (int)tc_arg(c, 0);
  tc_dim attr[TC_MAX_RANK + 2];
  memcpy(attr, c->attr, (size_t)list * sizeof *attr);
  attr[list] = c->attr[list + 1]; /* keep, without the correction */
  c->out = tc_eager_part(c, OP_VAR, list + 2, c->attr);
  return second(c, OP_MEAN, list + 1, attr);
}

bool tc_eager_with_index(tc_eager_call *c) {
  const bool most = c->op == OP_MAX_WITH_INDEX;
  const int nattr = 2 + (int)tc_arg(c, 0);
  c->out = tc_eager_part(c, most ? OP_AMAX : OP_AMIN, nattr, c->attr);
  return second(c, most ? OP_ARGMAX : OP_ARGMIN, nattr, c->attr);
}

bool tc_eager_cum_extremum(tc_eager_call *c) {
  const bool most = c->op == OP_CUMMAX;
  c->out = tc_eager_part(c, most ? OP_RUNNING_MAX : OP_RUNNING_MIN, 1, c->attr);
  return second(c, most ? OP_RUNNING_ARGMAX : OP_RUNNING_ARGMIN, 1, c->attr);
}

bool tc_eager_frexp(tc_eager_call *c) {
  c->out = tc_eager_part(c, OP_MANTISSA, 0, NULL);
  if (!c->out || !c->further[0]) return c->out;
  tc_tensor *exponent = tc_eager_part(c, OP_EXPONENT, 0, NULL);
  *c->further[0] = exponent ? tc_cast(exponent, TC_I32) : NULL;
  tc_free(exponent);
  return *c->further[0];
}

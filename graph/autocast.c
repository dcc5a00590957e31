/* autocast.c - see autocast.h. */
#include "graph/autocast.h"

/* f16, bf16 or f32 that takes part in promotion. */
static bool may_change(const tc_type *t) {
  return t && !t->weak && tc_dtype_is_float((tc_dtype)t->dtype) && t->dtype != TC_F64;
}

/* A product of f64 or of integers has no smaller dtype that holds what it is of. */
static bool is_low(int nin, const tc_type *const *in) {
  for (int i = 0; i < nin; i++)
    if (in[i] && !in[i]->weak && !may_change(in[i])) return false;
  return true;
}

static tc_dtype widest(int nin, const tc_type *const *in) {
  tc_type all = {.dtype = TC_BOOL};
  for (int i = 0; i < nin; i++) {
    const tc_type each = {.dtype =
                              may_change(in[i]) ? in[i]->dtype : TC_BOOL}; /* ranks do not count */
    all.dtype = (uint8_t)tc_promote(&all, &each);
  }
  return (tc_dtype)all.dtype;
}

tc_dtype tc_autocast_operand(tc_op op, tc_dtype scope, int nin, const tc_type *const *in, int i) {
  const tc_type *t = in[i];
  const tc_dtype own = t ? (tc_dtype)t->dtype : TC_DTYPE_COUNT;
  if (!tc_autocast_is_dtype(scope) || !may_change(t)) return own;
  switch (tc_op_get(op)->autocast) {
  case TC_AUTOCAST_LOW:
    return is_low(nin, in) ? scope : own;
  case TC_AUTOCAST_F32:
    return TC_F32;
  case TC_AUTOCAST_WIDEST:
    return widest(nin, in);
  default:
    return own;
  }
}

uint32_t tc_autocast_alike(tc_op op, tc_dtype scope, int nin, const tc_type *const *in) {
  static const tc_dtype scopes[] = {TC_F16, TC_BF16, TC_NO_AUTOCAST_DTYPE};
  uint32_t alike = 0;
  for (int s = 0; s < 3; s++) {
    bool same = true;
    for (int i = 0; i < nin && same; i++)
      same = tc_autocast_operand(op, scopes[s], nin, in, i) ==
             tc_autocast_operand(op, scope, nin, in, i);
    if (same) alike |= 1u << scopes[s];
  }
  return alike;
}

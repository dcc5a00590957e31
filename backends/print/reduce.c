/* reduce.c - names and identities of reductions. */
#include "backends/print/print.h"

bool tc_print_is_arg(const tc_action *a) {
  return a->op && tc_op_get(a->op)->position_of != OP_NONE;
}

static tc_combine combine_of(const tc_action *a) {
  return a->op ? tc_op_get(a->op)->combine : TC_COMBINE_ADD; /* TC_ACT_ADD */
}

const char *tc_print_combine(const tc_action *a) {
  switch (combine_of(a)) {
  case TC_COMBINE_MUL:
    return "mul";
  case TC_COMBINE_MAX:
    return tc_print_is_arg(a) ? "argmax" : "max";
  case TC_COMBINE_MIN:
    return tc_print_is_arg(a) ? "argmin" : "min";
  default:
    return "add";
  }
}

bool tc_print_sums_in_f64(const tc_action *a) {
  const tc_combine how = combine_of(a);
  return a->dtype == TC_F32 && (how == TC_COMBINE_ADD || how == TC_COMBINE_MUL);
}

int tc_print_start(const tc_action *a) { return combine_of(a) == TC_COMBINE_MUL; }

/* Of integers and bool; of floats it is infinity. */
static const char *lowest(tc_dtype d, bool least) {
  switch (d) {
  case TC_BOOL:
    return least ? "0" : "1";
  case TC_U8:
    return least ? "0" : "255";
  case TC_I8:
    return least ? "-128" : "127";
  case TC_I16:
    return least ? "-32768" : "32767";
  case TC_I32:
    return least ? "-2147483647 - 1" : "2147483647";
  case TC_I64:
    return least ? "-0x7fffffffffffffff - 1" : "0x7fffffffffffffff";
  default:
    return "0";
  }
}

tc_dtype tc_print_operand(const tc_kernel *k, const tc_action *a) {
  return tc_print_is_arg(a) ? k->expr[a->value.id].dtype : a->dtype;
}

void tc_print_identity(const tc_print_scope *s, const tc_action *a, tc_buf *out) {
  const tc_dtype d = tc_print_operand(s->k, a);
  const bool least = combine_of(a) == TC_COMBINE_MAX, most = combine_of(a) == TC_COMBINE_MIN;
  tc_putf(out, "tc_set_%s(", tc_print_compute(d));
  if ((least || most) && tc_dtype_is_float(d))
    tc_putf(out, "%s%s", least ? "-" : "", s->words->inf);
  else if (least || most) tc_put(out, lowest(d, least));
  else tc_putf(out, "%d", tc_print_start(a));
  tc_put(out, ")");
}

void tc_print_result_axes(const tc_nest *n, uint32_t *result_axes) {
  const uint32_t parallel = (1u << n->nparallel) - 1;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == TC_ACT_REDUCE) result_axes[a->index] = parallel;
      if (a->kind == TC_ACT_SCAN) result_axes[a->index] = parallel | n->stage[i].axes;
    }
}

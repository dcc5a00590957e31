/* reduce.c - names and identities of reductions. */
#include "backends/print/print.h"

bool tc_print_is_arg(const tc_action *a) { return a->op == OP_ARGMAX || a->op == OP_ARGMIN; }

const char *tc_print_combine(const tc_action *a) {
  switch (a->op) {
  case OP_PROD:
  case OP_CUMPROD:
    return "mul";
  case OP_AMAX:
  case OP_ANY:
    return "max";
  case OP_AMIN:
  case OP_ALL:
    return "min";
  case OP_ARGMAX:
    return "argmax";
  case OP_ARGMIN:
    return "argmin";
  default:
    return "add";
  }
}

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
  const bool least = a->op == OP_AMAX || a->op == OP_ARGMAX;
  const bool most = a->op == OP_AMIN || a->op == OP_ARGMIN;
  const bool one = a->op == OP_PROD || a->op == OP_CUMPROD || a->op == OP_ALL;
  tc_putf(out, "tc_set_%s(", tc_print_compute(d));
  if ((least || most) && tc_dtype_is_float(d))
    tc_putf(out, "%s%s", least ? "-" : "", s->words->inf);
  else tc_put(out, least || most ? lowest(d, least) : one ? "1" : "0");
  tc_put(out, ")");
}

void tc_print_result_axes(const tc_nest *n, uint32_t *result_axes) {
  const uint32_t outer = (1u << n->nouter) - 1;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == TC_ACT_REDUCE) result_axes[a->index] = outer;
      if (a->kind == TC_ACT_SCAN) result_axes[a->index] = outer | n->stage[i].axes;
    }
}

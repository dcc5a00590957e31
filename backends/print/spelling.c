/* spelling.c - lines, names of types, and numbers. */
#include "backends/print/print_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *tc_print_storage(tc_dtype d) {
  static const char *const text[TC_DTYPE_COUNT] = {
      [TC_BOOL] = "b8", [TC_U8] = "u8",   [TC_I8] = "i8",     [TC_I16] = "i16", [TC_I32] = "i32",
      [TC_I64] = "i64", [TC_F16] = "f16", [TC_BF16] = "bf16", [TC_F32] = "f32", [TC_F64] = "f64"};
  return d < TC_DTYPE_COUNT ? text[d] : "f32";
}

const char *tc_print_compute(tc_dtype d) {
  return tc_dtype_is_half(d) ? "f32" : tc_print_storage(d);
}

const char *tc_print_approximation(const tc_expr *e) {
  if (e->kind != TC_EX_OP || e->dtype != TC_F32 || e->reproducible) return NULL;
  return e->op == OP_EXP ? "tc_expapprox_f32(%0)" : e->op == OP_SIGMOID ? "tc_sigmoidapprox_f32(%0)" : NULL;
}

void tc_print_line(tc_print_scope *s, const char *format, ...) {
  tc_putf(s->out, "%*s", s->indent, "");
  va_list ap;
  va_start(ap, format);
  tc_vputf(s->out, format, ap);
  va_end(ap);
  tc_put(s->out, "\n");
}

void tc_print_float(const tc_spelling *w, tc_buf *out, double v, bool single) {
  if (isnan(v)) tc_put(out, w->nan);
  else if (isinf(v)) tc_putf(out, "%s%s", v < 0 ? "-" : "", w->inf);
  else if (single && (double)(float)v == v) {
    char t[40];
    snprintf(t, sizeof t, "%.9g", v);
    tc_putf(out, "%s%sf", t, strpbrk(t, ".e") ? "" : ".0");
  } else tc_putf(out, "%.17g", v);
}

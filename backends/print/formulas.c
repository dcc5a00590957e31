/* formulas.c - elementwise ops as C functions, by the formulas that the eager library computes
 * with, and its random numbers. */
#include "backends/entry/entry.h"
#include "backends/print/print.h"

/* graph/ops/formulas.h and the eager library's philox.h, embedded */
extern const char tc_formulas_text[], tc_philox_text[];

typedef struct formula {
  tc_op op;
  bool floating;
  const char *text;
} formula;

static const formula formulas[] = {
#define TC_FLOAT1(op, formula) {OP_##op, true, #formula},
#define TC_FLOAT2(op, formula) {OP_##op, true, #formula},
#define TC_FLOAT3(op, formula) {OP_##op, true, #formula},
#define TC_INT1(op, formula) {OP_##op, false, #formula},
#define TC_INT2(op, formula) {OP_##op, false, #formula},
#define TC_INT3(op, formula) {OP_##op, false, #formula},
#include "graph/ops/formulas.def"
};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

bool tc_print_has_formula(tc_op op, bool floating) {
  for (int i = 0; i < FORMULAS; ++i)
    if (formulas[i].op == op && formulas[i].floating == floating) return true;
  return false;
}

/* What formulas call. */
static const char functions[] =
    "#define INFINITY __builtin_inf()\n"
    "#define INT64_MAX 0x7fffffffffffffff\n"
    "double fabs(double), sqrt(double), exp(double), exp2(double), expm1(double), log(double);\n"
    "double log2(double), log10(double), log1p(double), sin(double), cos(double), tan(double);\n"
    "double asin(double), acos(double), atan(double), sinh(double), cosh(double), tanh(double);\n"
    "double asinh(double), acosh(double), atanh(double), erf(double), erfc(double), "
    "floor(double);\n"
    "double ceil(double), rint(double), trunc(double), fmod(double, double), pow(double, double);\n"
    "double atan2(double, double), hypot(double, double), copysign(double, double);\n"
    "double fma(double, double, double), frexp(double, int *);\n";

void tc_print_formulas(tc_buf *out) {
  tc_put(out, functions);
  tc_entry_put_header(tc_formulas_text, out);
  tc_entry_put_header(tc_philox_text, out);
  for (int i = 0; i < FORMULAS; ++i) {
    const char *t = formulas[i].floating ? "double" : "int64_t";
    tc_putf(out, "static inline %s tc_%s_%s(%s x, %s y, %s z, int bits) { return %s; }\n", t,
            formulas[i].floating ? "float" : "int", tc_op_get(formulas[i].op)->text, t, t, t,
            formulas[i].text);
  }
}

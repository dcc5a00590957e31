/* combine.c - the rules of reductions as statements, and which functions of them a text needs. */
#include "backends/print/print.h"

#include <string.h>

void tc_print_rule(const tc_spelling *w, const tc_rule *rule, const char *const *from, int indent, tc_buf *out) {
  uint32_t depends[TC_RULE_EXPRS];
  uint8_t printed[TC_RULE_EXPRS] = {0};
  for (int i = 0; i < TC_RULE_EXPRS; ++i) depends[i] = 1;
  tc_print_scope s = {.k = &rule->kernel,
                      .words = w,
                      .out = out,
                      .indent = indent,
                      .naxis = 1,
                      .result = from,
                      .depends = depends,
                      .printed = printed};
  for (int i = 0; i < TC_MAX_ACCUMULATORS; ++i)
    if (rule->value[i].id) tc_print_value(&s, rule->value[i]);
}

/* By its name, or as TC_COMBINE(function, T). */
static bool mentions(const char *text, const char *function, tc_dtype element) {
  const char *const t = tc_print_compute(element);
  tc_buf name = {0}, pair = {0};
  tc_putf(&name, "_%s_%s", function, t);
  tc_putf(&pair, "(%s, %s)", function, t);
  const bool found = name.text && pair.text && (strstr(text, name.text) || strstr(text, pair.text));
  tc_buf_free(&name);
  tc_buf_free(&pair);
  return found;
}

/* The functions of a scan are named by the row, the others by how two values are combined. */
static bool needs(const char *text, tc_reducer r, tc_dtype element) {
  return mentions(text, tc_print_combine(r).text, element) || mentions(text, tc_reducer_get(r)->text, element);
}

void tc_print_each_reducer(const char *text, void (*each)(tc_reducer r, tc_dtype element, void *arg), void *arg) {
  for (int r = TC_REDUCE_NONE + 1; r < TC_REDUCE_COUNT; ++r)
    for (int d = 0; d < TC_DTYPE_COUNT; ++d)
      if (d != TC_F16 && d != TC_BF16 && needs(text, (tc_reducer)r, (tc_dtype)d)) each((tc_reducer)r, (tc_dtype)d, arg);
}

/* combine.c - the rules of reductions as statements, and the functions of reductions that a text
 * names, in a prelude. */
#include "backends/print/print.h"

#include <stdio.h>
#include <string.h>

void tc_print_rule(const tc_spelling *w, const tc_rule *rule, const char *const *from, int indent,
                   tc_buf *out) {
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

const char *tc_print_part(const tc_print_reducer *f, int i) {
  return tc_print_compute(tc_accumulator_dtype(f->r, i, f->element));
}

void tc_print_combined(const tc_print_reducer *f, const tc_spelling *words, const char *each,
                       tc_rule *rule, tc_buf *out) {
  char name[2 * TC_MAX_ACCUMULATORS][16];
  const char *from[2 * TC_MAX_ACCUMULATORS];
  if (!tc_combine_rule(f->r, f->element, rule)) {
    out->failed = true;
    return;
  }
  for (int i = 0; i < 2 * f->n; ++i) {
    char value[8];
    const char side = i < f->n ? 'a' : 'b';
    if (f->n > 1) snprintf(value, sizeof value, "%c.a%d", side, i % f->n);
    else snprintf(value, sizeof value, "%c", side);
    snprintf(name[i], sizeof name[i], each, value);
    from[i] = name[i];
  }
  tc_print_rule(words, rule, from, 2, out);
}

bool tc_print_has_chunk(const tc_buf *prelude, const char *name) {
  tc_buf head = {0};
  tc_putf(&head, "/* @ %s ", name);
  const bool found = head.text && prelude->text && strstr(prelude->text, head.text);
  tc_buf_free(&head);
  return found;
}

tc_print_reducer tc_print_reducer_of(tc_reducer r, tc_dtype element) {
  return (tc_print_reducer){r,
                            tc_reducer_get(r)->n,
                            element,
                            tc_print_compute(element),
                            tc_print_tuple_type(r, element),
                            tc_print_combine(r)};
}

/* A text names a function as tc_.._NAME_T, or as TC_COMBINE(NAME, T). */
static bool names(const char *text, const char *name, const char *t) {
  char word[64], pair[64];
  snprintf(word, sizeof word, "_%s_%s", name, t);
  snprintf(pair, sizeof pair, "(%s, %s", name, t);
  return strstr(text, word) || strstr(text, pair);
}

/* The functions of a scan are named by the row, the others by how two values are combined. */
static bool needs(const char *text, const char *combine, const char *row, const char *t) {
  return names(text, combine, t) || (strcmp(row, combine) != 0 && names(text, row, t));
}

static void put_reductions(const char *text, tc_print_put_reducer *put, tc_buf *out) {
  for (int r = TC_REDUCE_NONE + 1; r < TC_REDUCE_COUNT; ++r) {
    const tc_print_name combine = tc_print_combine((tc_reducer)r);
    const char *row = tc_reducer_get((tc_reducer)r)->text;
    if (!needs(text, combine.text, row, "")) continue;
    for (int d = 0; d < TC_DTYPE_COUNT; ++d) {
      if (d == TC_F16 || d == TC_BF16 ||
          !needs(text, combine.text, row, tc_print_compute((tc_dtype)d)))
        continue;
      const tc_print_reducer f = tc_print_reducer_of((tc_reducer)r, (tc_dtype)d);
      put(&f, out);
    }
  }
}

bool tc_print_prelude_with_reductions(const char *prelude, const char *text,
                                      tc_print_put_reducer *put, tc_buf *out) {
  tc_buf all = {0};
  tc_put(&all, prelude);
  put_reductions(text, put, &all);
  const bool ok = !all.failed && tc_print_prelude(all.text, text, out);
  tc_buf_free(&all);
  return ok;
}

/* reduce.c - names, tuples and identities of reductions.
 *
 * A reduction of one accumulator is printed with the types of its elements.  Of several, its values
 * are tuples: a type T of the prelude named by the types of its accumulators, f32_i64, with tc_vT,
 * tc_where_T, tc_pack_T(v, w), and tc_part<i>_T(t), which combine.c prints. */
#include "backends/print/print.h"

#include <stdio.h>
#include <string.h>

bool tc_print_is_tuple(const tc_action *a) { return tc_reducer_get(a->reducer)->n > 1; }

static bool is_accumulator(const tc_rule *rule, tc_val v, int i) {
  const tc_expr *e = &rule->expr[v.id];
  return e->kind == TC_EX_RESULT && e->index == (uint32_t)i;
}

/* The X of tc_X_%t(%0, %1), which is all that combines accumulator i; or NULL. */
static const char *function_of(tc_reducer r, int i, size_t *length) {
  static const char front[] = "tc_", back[] = "_%t(%0, %1)";
  const int n = tc_reducer_get(r)->n;
  tc_rule rule;
  if (!tc_combine_rule(r, TC_F32, &rule)) return NULL;
  const tc_expr *e = &rule.expr[rule.value[i].id];
  const bool both = is_accumulator(&rule, e->in[0], i) && is_accumulator(&rule, e->in[1], n + i);
  if (e->kind != TC_EX_OP || !both) return NULL;
  const char *text = tc_op_get(e->op)->expr, *end = strstr(text, back);
  if (strncmp(text, front, strlen(front)) != 0 || !end || end[strlen(back)]) return NULL;
  *length = (size_t)(end - text) - strlen(front);
  return text + strlen(front);
}

tc_print_name tc_print_combine_part(tc_reducer r, int i) {
  tc_print_name name;
  size_t length = 0;
  const char *function = function_of(r, i, &length);
  if (function) snprintf(name.text, sizeof name.text, "%.*s", (int)length, function);
  else snprintf(name.text, sizeof name.text, "%s", tc_reducer_get(r)->text);
  return name;
}

tc_print_name tc_print_combine(tc_reducer r) {
  tc_print_name name;
  if (tc_reducer_get(r)->n == 1) return tc_print_combine_part(r, 0);
  snprintf(name.text, sizeof name.text, "%s", tc_reducer_get(r)->text);
  return name;
}

tc_print_name tc_print_tuple_type(tc_reducer r, tc_dtype element) {
  tc_print_name name;
  size_t at = 0;
  for (int i = 0; i < tc_reducer_get(r)->n && at < sizeof name.text; ++i)
    at += (size_t)snprintf(name.text + at, sizeof name.text - at, "%s%s", i ? "_" : "",
                           tc_print_compute(tc_accumulator_dtype(r, i, element)));
  return name;
}

bool tc_print_is_op(tc_reducer r) {
  size_t length;
  return tc_reducer_get(r)->n == 1 && function_of(r, 0, &length);
}

bool tc_print_widens(tc_reducer r) {
  const tc_reducer_info *info = tc_reducer_get(r);
  return info->n == 1 && info->keep[0].rounds;
}

bool tc_print_sums_in_f64(const tc_action *a) {
  return a->dtype == TC_F32 && tc_print_widens(a->reducer);
}

int tc_print_start(const tc_action *a) {
  return tc_reducer_get(a->reducer)->keep[0].identity == TC_IDENTITY_ONE;
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

void tc_print_accumulator_identity(const tc_spelling *w, tc_reducer r, int i, tc_dtype element,
                                   tc_buf *out) {
  const tc_dtype d = tc_accumulator_dtype(r, i, element);
  const tc_identity id = tc_reducer_get(r)->keep[i].identity;
  const bool least = id == TC_IDENTITY_LEAST, most = id == TC_IDENTITY_MOST;
  tc_putf(out, "tc_set_%s(", tc_print_compute(d));
  if ((least || most) && tc_dtype_is_float(d)) tc_putf(out, "%s%s", least ? "-" : "", w->inf);
  else if (least || most) tc_put(out, lowest(d, least));
  else tc_put(out, id == TC_IDENTITY_ONE ? "1" : "0");
  tc_put(out, ")");
}

void tc_print_identity(const tc_spelling *w, tc_reducer r, tc_dtype element, tc_buf *out) {
  const int n = tc_reducer_get(r)->n;
  if (n > 1) tc_putf(out, "tc_pack_%s(", tc_print_tuple_type(r, element).text);
  for (int i = 0; i < n; ++i) {
    if (i) tc_put(out, ", ");
    tc_print_accumulator_identity(w, r, i, element, out);
  }
  if (n > 1) tc_put(out, ")");
}

void tc_print_tuple(const tc_action *a, tc_buf *out) {
  const int n = tc_reducer_get(a->reducer)->n;
  if (n > 1) tc_putf(out, "tc_pack_%s(", tc_print_tuple_type(a->reducer, a->dtype).text);
  tc_putf(out, "v%u", a->value.id);
  for (int i = 1; i < n; ++i) tc_putf(out, ", v%u", a->further[i - 1].id);
  if (n > 1) tc_put(out, ")");
}

void tc_print_set_results(tc_print_scope *s, const tc_action *a, const char *declare,
                          const char *value) {
  const int n = tc_reducer_get(a->reducer)->n;
  const tc_print_name type = tc_print_tuple_type(a->reducer, a->dtype);
  for (int i = 0; i < n; ++i) {
    tc_buf part = {0}, to = {0};
    if (n > 1) tc_putf(&part, "tc_part%d_%s(%s)", i, type.text, value);
    if (declare)
      tc_putf(&to, "const %s%s ", declare,
              tc_print_compute(tc_accumulator_dtype(a->reducer, i, a->dtype)));
    tc_print_line(s, "%s%s = %s;", to.text ? to.text : "", s->result[a->index + (uint32_t)i],
                  n > 1 && part.text ? part.text : value);
    tc_buf_free(&part);
    tc_buf_free(&to);
  }
}

/* The results of a reduction depend on the parallel axes, those of a scan on the axes of its stage,
 * too. */
void tc_print_result_axes(const tc_nest *n, uint32_t *result_axes) {
  const uint32_t parallel = (1u << n->nparallel) - 1;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind != TC_ACT_REDUCE && a->kind != TC_ACT_SCAN) continue;
      for (int r = 0; r < tc_reducer_get(a->reducer)->n; ++r)
        result_axes[a->index + (uint32_t)r] =
            parallel | (a->kind == TC_ACT_SCAN ? n->stage[i].axes : 0);
    }
}

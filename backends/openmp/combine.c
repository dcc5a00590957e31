/* combine.c - the functions of reductions over vectors, from their table.  Of a reduction OP of
 * elements of type T, whose accumulators together are of type X (tc_print_tuple_type):
 *
 *   tc_OP_T(a, b)           a and b together; of one op, it is that op's function
 *   tc_later_OP_T(a, b)     the same, where b comes behind all of a, of which there is something
 *   tc_lanes_OP_T(v)        all lanes together, in every lane
 *   tc_collect_OP_T(v)      of one accumulator: lane l: all lanes of v[l] together, of TC_L vectors v
 *   tc_prefix_ROW_T(c, v)   lane l: *c and lanes 0 .. l together; *c becomes that of the last lane.  Only *c waits for
 *                           the vector before.  What lanes that count for nothing hold reaches none before them.
 *   tc_vX, tc_pack_X(v, w), tc_part<i>_X(v), tc_where_X(c, a, b)   tuples, where there are several */
#include "backends/openmp/unit.h"

#include <stdio.h>
#include <string.h>

#include "backends/openmp/emit.h"
#include "backends/print/print.h"

/* A value of which each accumulator is `format`, where @ is what names it: nothing, or its member
 * of a tuple. */
static void put_each(const tc_print_reducer *f, const char *format, tc_buf *out) {
  if (f->n > 1) tc_putf(out, "tc_pack_%s(", f->type.text);
  for (int i = 0; i < f->n; ++i) {
    if (i) tc_put(out, ", ");
    for (const char *c = format; *c; ++c)
      if (*c != '@') tc_putn(out, c, 1);
      else if (f->n > 1) tc_putf(out, ".a%d", i);
  }
  if (f->n > 1) tc_put(out, ")");
}

static void put_tuple_type(const tc_print_reducer *f, tc_buf *out) {
  const char *x = f->type.text;
  tc_putf(out, "/* @ tc_v%s tc_pack_%s tc_where_%s", x, x, x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, " tc_part%d_%s", i, x);
  tc_putf(out, " */\ntypedef struct tc_v%s {\n", x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, "  tc_v%s a%d;\n", tc_print_part(f, i), i);
  tc_putf(out, "} tc_v%s;\nTC_FN tc_v%s tc_pack_%s(", x, x, x);
  for (int i = 0; i < f->n; ++i)
    tc_putf(out, "%stc_v%s a%d", i ? ", " : "", tc_print_part(f, i), i);
  tc_putf(out, ") {\n  return (tc_v%s){", x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, "%sa%d", i ? ", " : "", i);
  tc_put(out, "};\n}\n");
  for (int i = 0; i < f->n; ++i)
    tc_putf(out, "TC_FN tc_v%s tc_part%d_%s(tc_v%s v) { return v.a%d; }\n", tc_print_part(f, i), i,
            x, x, i);
  tc_putf(out, "TC_FN tc_v%s tc_where_%s(tc_vb8 c, tc_v%s a, tc_v%s b) {\n  return tc_pack_%s(", x,
          x, x, x, x);
  for (int i = 0; i < f->n; ++i)
    tc_putf(out, "%stc_where_%s(c, a.a%d, b.a%d)", i ? ", " : "", tc_print_part(f, i), i, i);
  tc_put(out, ");\n}\n");
}

static void put_combine(const tc_print_reducer *f, tc_buf *out) {
  const char *x = f->type.text;
  tc_rule rule;
  tc_putf(out, "/* @ tc_%s_%s */\nTC_FN tc_v%s tc_%s_%s(tc_v%s a, tc_v%s b) {\n", f->op.text, f->t,
          x, f->op.text, f->t, x, x);
  tc_print_combined(f, &tc_omp_words, "%s", &rule, out);
  if (out->failed) return;
  tc_put(out, "  return ");
  if (f->n > 1) tc_putf(out, "tc_pack_%s(", x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, "%sv%u", i ? ", " : "", rule.value[i].id);
  tc_putf(out, "%s;\n}\n", f->n > 1 ? ")" : "");
}

/* By the column `later` of the table, without a comparison of positions. */
static void put_later(const tc_print_reducer *f, tc_buf *out) {
  static const char *const from[] = {"a.a0", "next", "b.a0"};
  const char *x = f->type.text, *op = f->op.text, *t = f->t;
  tc_rule rule;
  if (!tc_later_rule(f->r, f->element, &rule)) out->failed = true;
  if (out->failed) return;
  tc_putf(out, "/* @ tc_later_%s_%s */\nTC_FN tc_v%s tc_later_%s_%s(tc_v%s a, tc_v%s b) {\n", op, t, x, op, t, x, x);
  tc_putf(out, "  const tc_v%s next = tc_%s_%s(a.a0, b.a0);\n", tc_print_part(f, 0), tc_print_combine_part(f->r, 0).text, t);
  tc_print_rule(&tc_omp_words, &rule, from, 2, out);
  tc_putf(out, "  return tc_pack_%s(next, tc_where_%s(v%u, b.a1, a.a1));\n}\n", x, tc_print_part(f, 1), rule.value[1].id);
}

static void put_lanes(const tc_print_reducer *f, tc_buf *out) {
  const char *x = f->type.text, *op = f->op.text, *t = f->t;
  tc_putf(out, "/* @ tc_lanes_%s_%s */\nTC_FN tc_v%s tc_lanes_%s_%s(tc_v%s v) {\n", op, t, x, op, t,
          x);
  for (int i = 0, s = 8; i < 4; ++i, s /= 2) {
    char swapped[24];
    snprintf(swapped, sizeof swapped, "TC_SWAP(v@, %d)", s);
    tc_put(out, "  ");
    if (s >= 4) tc_putf(out, "if (TC_L > %d) ", s);
    tc_putf(out, "v = tc_%s_%s(v, ", op, t);
    put_each(f, swapped, out);
    tc_put(out, ");\n");
  }
  tc_put(out, "  return v;\n}\n");
}

/* In log2(TC_L) steps, each of which has half as many vectors: of the lanes of two vectors those
 * that are half a vector apart are combined, and the vectors' take turns.  Lane l is of row l in
 * the end. */
static void put_collect(const tc_print_reducer *f, tc_buf *out) {
  const char *x = f->type.text, *op = f->op.text, *t = f->t;
  tc_putf(out, "/* @ tc_collect_%s_%s */\nTC_FN tc_v%s tc_collect_%s_%s(const tc_v%s *row) {\n", op,
          t, x, op, t, x);
  tc_putf(out,
          "  tc_v%s v[TC_L];\n"
          "  TC_UNROLL for (int i = 0; i < TC_L; ++i) v[i] = row[i];\n"
          "  TC_UNROLL for (int n = TC_L / 2; n > 0; n /= 2)\n"
          "    TC_UNROLL for (int i = 0; i < n; ++i)\n"
          "      v[i] = tc_%s_%s(TC_LOWER(v[i], v[i + n]), TC_UPPER(v[i], v[i + n]));\n"
          "  return v[0];\n}\n",
          x, op, t);
}

/* In log2(TC_L) steps: lane l takes up what stands 1, 2, 4, .. lanes before it.  f: of the carry,
 * x: the type and t the suffix of what is scanned. */
static void put_prefix(const tc_print_reducer *f, const char *x, const char *t, tc_buf *out) {
  const char *row = tc_reducer_get(f->r)->text, *c = f->type.text, *op = f->op.text;
  const bool cast = strcmp(x, c) != 0;
  tc_putf(out, "/* @ tc_prefix_%s_%s */\nTC_FN tc_v%s tc_prefix_%s_%s(tc_v%s *carry, tc_v%s x) {\n",
          row, t, x, row, t, c, x);
  tc_putf(out, "  const tc_v%s before = *carry, none = ", c);
  tc_print_identity(&tc_omp_words, f->r, f->element, out);
  tc_putf(out, cast ? ";\n  tc_v%s v = TC_CAST(%s, x);\n" : ";\n  tc_v%s v = x;\n", c, c);
  for (int i = 0, s = 1; i < 4; ++i, s *= 2) {
    char shifted[32];
    snprintf(shifted, sizeof shifted, "TC_SHIFT(v@, none@, %d)", s);
    tc_put(out, "  ");
    if (s >= 4) tc_putf(out, "if (TC_L > %d) ", s);
    tc_putf(out, "v = tc_%s_%s(", op, f->t);
    put_each(f, shifted, out);
    tc_put(out, ", v);\n");
  }
  tc_putf(out, "  *carry = tc_%s_%s(before, ", op, f->t);
  put_each(f, "TC_LAST(v@)", out);
  tc_put(out, ");\n  return ");
  if (cast) tc_putf(out, "TC_CAST(%s, ", x);
  tc_putf(out, "tc_%s_%s(before, v)%s;\n}\n", op, f->t, cast ? ")" : "");
}

/* Another row may have the same tuples, or the same op, and have put these chunks. */
void tc_omp_put_reducer(const tc_print_reducer *f, tc_buf *out) {
  const bool wide = f->element == TC_F32 && tc_print_widens(f->r);
  const tc_print_reducer carry = wide ? tc_print_reducer_of(f->r, TC_F64) : *f;
  char name[64];
  snprintf(name, sizeof name, "tc_v%s", f->type.text);
  if (f->n > 1 && !tc_print_has_chunk(out, name)) put_tuple_type(f, out);
  if (!tc_print_is_op(f->r)) put_combine(f, out);
  if (tc_reducer_has_later(f->r)) put_later(f, out);
  snprintf(name, sizeof name, "tc_lanes_%s_%s", f->op.text, f->t);
  if (!tc_print_has_chunk(out, name)) {
    put_lanes(f, out);
    if (f->n == 1) put_collect(f, out);
  }
  put_prefix(&carry, f->type.text, f->t, out);
}

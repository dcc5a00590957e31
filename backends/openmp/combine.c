/* combine.c - the functions of reductions over vectors, from their table.  Of a reduction OP of elements of type T,
 * whose accumulators together are of type X (tc_print_tuple_type):
 *
 *   tc_OP_T(a, b)           a and b together; of one op, it is that op's function
 *   tc_lanes_OP_T(v)        all lanes together, in every lane
 *   tc_prefix_ROW_T(c, v)   lane l: *c and lanes 0 .. l together; *c becomes that of the last lane.  Only *c waits for
 *                           the vector before.  What lanes that count for nothing hold reaches none before them.
 *   tc_vX, tc_pack_X(v, w), tc_part<i>_X(v), tc_where_X(c, a, b)   tuples, where there are several */
#include "backends/openmp/unit.h"

#include <stdio.h>
#include <string.h>

#include "backends/openmp/emit.h"
#include "backends/print/print.h"

typedef struct functions {
  tc_reducer r;
  int n; /* accumulators */
  tc_dtype element;
  const char *t;          /* of an element */
  tc_print_name type, op; /* X and OP */
  tc_buf *out;
} functions;

static const char *part(const functions *f, int i) {
  return tc_print_compute(tc_accumulator_dtype(f->r, i, f->element));
}

/* A value of which each accumulator is `format`, where @ is what names it: nothing, or its member of a tuple. */
static void put_each(const functions *f, const char *format) {
  if (f->n > 1) tc_putf(f->out, "tc_pack_%s(", f->type.text);
  for (int i = 0; i < f->n; ++i) {
    if (i) tc_put(f->out, ", ");
    for (const char *c = format; *c; ++c)
      if (*c != '@') tc_putn(f->out, c, 1);
      else if (f->n > 1) tc_putf(f->out, ".a%d", i);
  }
  if (f->n > 1) tc_put(f->out, ")");
}

static void put_tuple_type(const functions *f) {
  const char *x = f->type.text;
  tc_putf(f->out, "/* @ tc_v%s tc_pack_%s tc_where_%s", x, x, x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, " tc_part%d_%s", i, x);
  tc_putf(f->out, " */\ntypedef struct tc_v%s {\n", x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "  tc_v%s a%d;\n", part(f, i), i);
  tc_putf(f->out, "} tc_v%s;\nTC_FN tc_v%s tc_pack_%s(", x, x, x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "%stc_v%s a%d", i ? ", " : "", part(f, i), i);
  tc_putf(f->out, ") {\n  return (tc_v%s){", x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "%sa%d", i ? ", " : "", i);
  tc_put(f->out, "};\n}\n");
  for (int i = 0; i < f->n; ++i)
    tc_putf(f->out, "TC_FN tc_v%s tc_part%d_%s(tc_v%s v) { return v.a%d; }\n", part(f, i), i, x, x, i);
  tc_putf(f->out, "TC_FN tc_v%s tc_where_%s(tc_vb8 c, tc_v%s a, tc_v%s b) {\n  return tc_pack_%s(", x, x, x, x, x);
  for (int i = 0; i < f->n; ++i)
    tc_putf(f->out, "%stc_where_%s(c, a.a%d, b.a%d)", i ? ", " : "", part(f, i), i, i);
  tc_put(f->out, ");\n}\n");
}

static void put_combine(const functions *f) {
  const char *x = f->type.text;
  char name[2 * TC_MAX_ACCUMULATORS][8];
  const char *from[2 * TC_MAX_ACCUMULATORS];
  tc_rule rule;
  if (!tc_combine_rule(f->r, f->element, &rule)) f->out->failed = true;
  if (f->out->failed) return;
  for (int i = 0; i < 2 * f->n; ++i) {
    const char side = i < f->n ? 'a' : 'b';
    if (f->n > 1) snprintf(name[i], sizeof name[i], "%c.a%d", side, i % f->n);
    else snprintf(name[i], sizeof name[i], "%c", side);
    from[i] = name[i];
  }
  tc_putf(f->out, "/* @ tc_%s_%s */\nTC_FN tc_v%s tc_%s_%s(tc_v%s a, tc_v%s b) {\n", f->op.text, f->t, x, f->op.text,
          f->t, x, x);
  tc_print_rule(&tc_omp_words, &rule, from, 2, f->out);
  tc_put(f->out, "  return ");
  if (f->n > 1) tc_putf(f->out, "tc_pack_%s(", x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "%sv%u", i ? ", " : "", rule.value[i].id);
  tc_putf(f->out, "%s;\n}\n", f->n > 1 ? ")" : "");
}

static void put_lanes(const functions *f) {
  const char *x = f->type.text, *op = f->op.text, *t = f->t;
  tc_putf(f->out, "/* @ tc_lanes_%s_%s */\nTC_FN tc_v%s tc_lanes_%s_%s(tc_v%s v) {\n", op, t, x, op, t, x);
  for (int i = 0, s = 8; i < 4; ++i, s /= 2) {
    char swapped[24];
    snprintf(swapped, sizeof swapped, "TC_SWAP(v@, %d)", s);
    tc_put(f->out, "  ");
    if (s >= 4) tc_putf(f->out, "if (TC_L > %d) ", s);
    tc_putf(f->out, "v = tc_%s_%s(v, ", op, t);
    put_each(f, swapped);
    tc_put(f->out, ");\n");
  }
  tc_put(f->out, "  return v;\n}\n");
}

/* In log2(TC_L) steps: lane l takes up what stands 1, 2, 4, .. lanes before it.  f: of the carry, x: the type and t
 * the suffix of what is scanned. */
static void put_prefix(const functions *f, const char *x, const char *t) {
  const char *row = tc_reducer_get(f->r)->text, *c = f->type.text, *op = f->op.text;
  const bool cast = strcmp(x, c) != 0;
  tc_putf(f->out, "/* @ tc_prefix_%s_%s */\nTC_FN tc_v%s tc_prefix_%s_%s(tc_v%s *carry, tc_v%s x) {\n", row, t, x, row,
          t, c, x);
  tc_putf(f->out, "  const tc_v%s before = *carry, none = ", c);
  tc_print_identity(&tc_omp_words, f->r, f->element, f->out);
  tc_putf(f->out, cast ? ";\n  tc_v%s v = TC_CAST(%s, x);\n" : ";\n  tc_v%s v = x;\n", c, c);
  for (int i = 0, s = 1; i < 4; ++i, s *= 2) {
    char shifted[32];
    snprintf(shifted, sizeof shifted, "TC_SHIFT(v@, none@, %d)", s);
    tc_put(f->out, "  ");
    if (s >= 4) tc_putf(f->out, "if (TC_L > %d) ", s);
    tc_putf(f->out, "v = tc_%s_%s(", op, f->t);
    put_each(f, shifted);
    tc_put(f->out, ", v);\n");
  }
  tc_putf(f->out, "  *carry = tc_%s_%s(before, ", op, f->t);
  put_each(f, "TC_LAST(v@)");
  tc_put(f->out, ");\n  return ");
  if (cast) tc_putf(f->out, "TC_CAST(%s, ", x);
  tc_putf(f->out, "tc_%s_%s(before, v)%s;\n}\n", op, f->t, cast ? ")" : "");
}

static functions functions_of(tc_reducer r, tc_dtype element, tc_buf *out) {
  return (functions){r,
                     tc_reducer_get(r)->n,
                     element,
                     tc_print_compute(element),
                     tc_print_tuple_type(r, element),
                     tc_print_combine(r),
                     out};
}

/* Another row has the same tuples, or the same op, and put this chunk. */
static bool is_there(const functions *f, const char *name) {
  tc_buf head = {0};
  tc_putf(&head, "/* @ %s ", name);
  const bool found = head.text && f->out->text && strstr(f->out->text, head.text);
  tc_buf_free(&head);
  return found;
}

static void put_functions(tc_reducer r, tc_dtype element, void *out) {
  const functions f = functions_of(r, element, out);
  const bool wide = element == TC_F32 && tc_print_widens(r);
  const functions carry = functions_of(r, wide ? TC_F64 : element, out);
  char name[64];
  snprintf(name, sizeof name, "tc_v%s", f.type.text);
  if (f.n > 1 && !is_there(&f, name)) put_tuple_type(&f);
  if (!tc_print_is_op(r)) put_combine(&f);
  snprintf(name, sizeof name, "tc_lanes_%s_%s", f.op.text, f.t);
  if (!is_there(&f, name)) put_lanes(&f);
  put_prefix(&carry, f.type.text, f.t);
}

void tc_omp_put_reductions(const char *text, tc_buf *out) { tc_print_each_reducer(text, put_functions, out); }

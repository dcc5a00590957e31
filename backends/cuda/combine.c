/* combine.c - the functions of reductions in a thread, from their table.  Of a reduction OP of
 * elements of type T, whose accumulators together are of type X (tc_print_tuple_type):
 *
 *   tc_OP_T(a, b)      a and b together, lane by lane; of one op, it is that op's function
 *   tc_X               a struct, where there are several accumulators; a vector of tuples has them in its lanes
 *   tc_pack_X(v, w), tc_part<i>_X(v)   tuples from vectors, and a vector from tuples
 *   tc_shuffle(..)     the tuples of other threads */
#include <stdio.h>
#include <string.h>

#include "backends/cuda/emit.h"
#include "backends/cuda/nest/nest.h"

/* The number of lanes of vectors of N0, N1, .. lanes. */
static void put_lanes(const tc_print_reducer *f, tc_buf *out) {
  for (int i = 0; i + 1 < f->n; ++i) tc_putf(out, "tc_most(N%d, ", i);
  tc_putf(out, "N%d", f->n - 1);
  for (int i = 0; i + 1 < f->n; ++i) tc_put(out, ")");
}

static void put_pack(const tc_print_reducer *f, tc_buf *out) {
  const char *x = f->type.text;
  tc_put(out, "template <");
  for (int i = 0; i < f->n; ++i) tc_putf(out, "%sint N%d", i ? ", " : "", i);
  tc_putf(out, ">\nTC_FN tc_vec<tc_%s, ", x);
  put_lanes(f, out);
  tc_putf(out, "> tc_pack_%s(", x);
  for (int i = 0; i < f->n; ++i)
    tc_putf(out, "%sconst tc_vec<tc_%s, N%d> &a%d", i ? ", " : "", tc_print_part(f, i), i, i);
  tc_putf(out, ") {\n  tc_vec<tc_%s, ", x);
  put_lanes(f, out);
  tc_put(out, "> r;\n  TC_UNROLL for (int i = 0; i < ");
  put_lanes(f, out);
  tc_putf(out, "; ++i) r.l[i] = tc_%s{", x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, "%sTC_AT(a%d, i)", i ? ", " : "", i);
  tc_put(out, "};\n  return r;\n}\n");
}

static void put_shuffle(const tc_print_reducer *f, const char *name, const char *before,
                        const char *parameters, const char *arguments, tc_buf *out) {
  const char *x = f->type.text;
  const bool masked = *before;
  tc_putf(out, "TC_FN tc_%s %s(%sconst tc_%s &v%s) {\n  return tc_%s{", x, name, before, x,
          parameters, x);
  for (int i = 0; i < f->n; ++i)
    tc_putf(out, "%s%s(%sv.a%d%s)", i ? ", " : "", name, masked ? "mask, " : "", i, arguments);
  tc_put(out, "};\n}\n");
}

static void put_tuple_type(const tc_print_reducer *f, tc_buf *out) {
  const char *x = f->type.text;
  tc_putf(out, "/* @ tc_%s tc_v%s tc_u%s tc_pack_%s", x, x, x, x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, " tc_part%d_%s", i, x);
  tc_putf(out, " */\nstruct tc_%s {\n", x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, "  tc_%s a%d;\n", tc_print_part(f, i), i);
  tc_putf(out, "};\n#define tc_v%s tc_vec<tc_%s, TC_L>\ntypedef tc_vec<tc_%s, 1> tc_u%s;\n", x, x,
          x, x);
  put_pack(f, out);
  for (int i = 0; i < f->n; ++i)
    tc_putf(out,
            "template <int N> TC_FN tc_vec<tc_%s, N> tc_part%d_%s(const tc_vec<tc_%s, N> &v) {\n"
            "  tc_vec<tc_%s, N> r;\n  TC_UNROLL for (int i = 0; i < N; ++i) r.l[i] = v.l[i].a%d;\n  return r;\n}\n",
            tc_print_part(f, i), i, x, x, tc_print_part(f, i), i);
  put_shuffle(f, "tc_shuffle", "tc_u32 mask, ", ", int with", ", with", out);
  put_shuffle(f, "tc_shuffle_down", "", ", int by", ", by", out);
  put_shuffle(f, "tc_shuffle_first", "", "", "", out);
  put_shuffle(f, "tc_shuffle_up", "tc_u32 mask, ", ", int by, int width", ", by, width", out);
  put_shuffle(f, "tc_shuffle_from", "tc_u32 mask, ", ", int from, int width", ", from, width", out);
}

static void put_combine(const tc_print_reducer *f, tc_buf *out) {
  const char *x = f->type.text, *op = f->op.text;
  tc_spelling words = tc_cuda_words;
  tc_rule rule;
  words.vector = words.uniform;
  tc_putf(out,
          "/* @ tc_%s_%s tc_scan tc_later */\ntemplate <int M, int N>\n" /* these name it as TC_COMBINE(OP, T) alone */
          "TC_FN tc_vec<tc_%s, tc_most(M, N)> tc_%s_%s(const tc_vec<tc_%s, M> &x, const tc_vec<tc_%s, N> &y) {\n"
          "  tc_vec<tc_%s, tc_most(M, N)> r;\n  TC_UNROLL for (int i = 0; i < tc_most(M, N); ++i) {\n"
          "  const tc_%s a = TC_AT(x, i), b = TC_AT(y, i);\n",
          op, f->t, x, op, f->t, x, x, x, x);
  tc_print_combined(f, &words, "tc_one(%s)", &rule, out);
  if (out->failed) return;
  tc_putf(out, "  r.l[i] = tc_%s{", x);
  for (int i = 0; i < f->n; ++i) tc_putf(out, "%sv%u.l[0]", i ? ", " : "", rule.value[i].id);
  tc_put(out, "};\n  }\n  return r;\n}\n");
}

/* Another row may have the same tuples, and have put their chunk. */
void tc_cuda_put_reducer(const tc_print_reducer *f, tc_buf *out) {
  char name[64];
  snprintf(name, sizeof name, "tc_%s", f->type.text);
  if (f->n > 1 && !tc_print_has_chunk(out, name)) put_tuple_type(f, out);
  if (!tc_print_is_op(f->r)) put_combine(f, out);
}

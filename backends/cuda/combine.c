/* combine.c - the functions of reductions in a thread, from their table.  Of a reduction OP of elements of type T, whose
 * accumulators together are of type X (tc_print_tuple_type):
 *
 *   tc_OP_T(a, b)      a and b together, lane by lane; of one op, it is that op's function
 *   tc_X               a struct, where there are several accumulators; a vector of tuples has them in its lanes
 *   tc_pack_X(v, w), tc_part<i>_X(v)   tuples from vectors, and a vector from tuples
 *   tc_shuffle(..)     the tuples of other threads */
#include <stdio.h>
#include <string.h>

#include "backends/cuda/emit.h"
#include "backends/cuda/nest/nest.h"

typedef struct functions {
  tc_reducer r;
  int n; /* accumulators */
  tc_dtype element;
  tc_print_name type; /* X */
  tc_buf *out;
} functions;

static const char *part(const functions *f, int i) {
  return tc_print_compute(tc_accumulator_dtype(f->r, i, f->element));
}

/* The number of lanes of vectors of N0, N1, .. lanes. */
static void put_lanes(const functions *f) {
  for (int i = 0; i + 1 < f->n; ++i) tc_putf(f->out, "tc_most(N%d, ", i);
  tc_putf(f->out, "N%d", f->n - 1);
  for (int i = 0; i + 1 < f->n; ++i) tc_put(f->out, ")");
}

static void put_pack(const functions *f) {
  const char *x = f->type.text;
  tc_put(f->out, "template <");
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "%sint N%d", i ? ", " : "", i);
  tc_putf(f->out, ">\nTC_FN tc_vec<tc_%s, ", x);
  put_lanes(f);
  tc_putf(f->out, "> tc_pack_%s(", x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "%sconst tc_vec<tc_%s, N%d> &a%d", i ? ", " : "", part(f, i), i, i);
  tc_putf(f->out, ") {\n  tc_vec<tc_%s, ", x);
  put_lanes(f);
  tc_put(f->out, "> r;\n  TC_UNROLL for (int i = 0; i < ");
  put_lanes(f);
  tc_putf(f->out, "; ++i) r.l[i] = tc_%s{", x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "%sTC_AT(a%d, i)", i ? ", " : "", i);
  tc_put(f->out, "};\n  return r;\n}\n");
}

static void put_shuffle(const functions *f, const char *name, const char *before, const char *parameters,
                        const char *arguments) {
  const char *x = f->type.text;
  const bool masked = *before;
  tc_putf(f->out, "TC_FN tc_%s %s(%sconst tc_%s &v%s) {\n  return tc_%s{", x, name, before, x, parameters, x);
  for (int i = 0; i < f->n; ++i)
    tc_putf(f->out, "%s%s(%sv.a%d%s)", i ? ", " : "", name, masked ? "mask, " : "", i, arguments);
  tc_put(f->out, "};\n}\n");
}

static void put_tuple_type(const functions *f) {
  const char *x = f->type.text;
  tc_putf(f->out, "/* @ tc_%s tc_v%s tc_u%s tc_pack_%s", x, x, x, x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, " tc_part%d_%s", i, x);
  tc_putf(f->out, " */\nstruct tc_%s {\n", x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "  tc_%s a%d;\n", part(f, i), i);
  tc_putf(f->out, "};\n#define tc_v%s tc_vec<tc_%s, TC_L>\ntypedef tc_vec<tc_%s, 1> tc_u%s;\n", x, x, x, x);
  put_pack(f);
  for (int i = 0; i < f->n; ++i)
    tc_putf(f->out,
            "template <int N> TC_FN tc_vec<tc_%s, N> tc_part%d_%s(const tc_vec<tc_%s, N> &v) {\n"
            "  tc_vec<tc_%s, N> r;\n  TC_UNROLL for (int i = 0; i < N; ++i) r.l[i] = v.l[i].a%d;\n  return r;\n}\n",
            part(f, i), i, x, x, part(f, i), i);
  put_shuffle(f, "tc_shuffle", "tc_u32 mask, ", ", int with", ", with");
  put_shuffle(f, "tc_shuffle_down", "", ", int by", ", by");
  put_shuffle(f, "tc_shuffle_first", "", "", "");
  put_shuffle(f, "tc_shuffle_up", "tc_u32 mask, ", ", int by, int width", ", by, width");
  put_shuffle(f, "tc_shuffle_from", "tc_u32 mask, ", ", int from, int width", ", from, width");
}

static void put_combine(const functions *f) {
  const char *x = f->type.text, *t = tc_print_compute(f->element);
  const tc_print_name op = tc_print_combine(f->r);
  char name[2 * TC_MAX_ACCUMULATORS][16];
  const char *from[2 * TC_MAX_ACCUMULATORS];
  tc_spelling words = tc_cuda_words;
  tc_rule rule;
  if (!tc_combine_rule(f->r, f->element, &rule)) f->out->failed = true;
  if (f->out->failed) return;
  for (int i = 0; i < 2 * f->n; ++i) {
    const char side = i < f->n ? 'a' : 'b';
    if (f->n > 1) snprintf(name[i], sizeof name[i], "tc_one(%c.a%d)", side, i % f->n);
    else snprintf(name[i], sizeof name[i], "tc_one(%c)", side);
    from[i] = name[i];
  }
  words.vector = words.uniform;
  tc_putf(f->out,
          "/* @ tc_%s_%s tc_scan */\ntemplate <int M, int N>\n" /* a scan names it as TC_COMBINE(OP, T) alone */
          "TC_FN tc_vec<tc_%s, tc_most(M, N)> tc_%s_%s(const tc_vec<tc_%s, M> &x, const tc_vec<tc_%s, N> &y) {\n"
          "  tc_vec<tc_%s, tc_most(M, N)> r;\n  TC_UNROLL for (int i = 0; i < tc_most(M, N); ++i) {\n"
          "  const tc_%s a = TC_AT(x, i), b = TC_AT(y, i);\n",
          op.text, t, x, op.text, t, x, x, x, x);
  tc_print_rule(&words, &rule, from, 2, f->out);
  tc_putf(f->out, "  r.l[i] = tc_%s{", x);
  for (int i = 0; i < f->n; ++i) tc_putf(f->out, "%sv%u.l[0]", i ? ", " : "", rule.value[i].id);
  tc_put(f->out, "};\n  }\n  return r;\n}\n");
}

/* Another row has the same tuples, and put their chunk. */
static bool is_there(const functions *f) {
  tc_buf head = {0};
  tc_putf(&head, "/* @ tc_%s ", f->type.text);
  const bool found = head.text && f->out->text && strstr(f->out->text, head.text);
  tc_buf_free(&head);
  return found;
}

static void put_functions(tc_reducer r, tc_dtype element, void *out) {
  const functions f = {r, tc_reducer_get(r)->n, element, tc_print_tuple_type(r, element), out};
  if (f.n > 1 && !is_there(&f)) put_tuple_type(&f);
  if (!tc_print_is_op(r)) put_combine(&f);
}

void tc_cuda_put_reductions(const char *device, tc_buf *out) { tc_print_each_reducer(device, put_functions, out); }

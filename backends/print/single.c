/* single.c - values that are equal in all lanes, as one element.
 *
 * What the reductions of a row lead to - a mean, the reciprocal of a deviation, whether a shortcut
 * holds - is computed once a row; as vectors, that takes as much of the machine as several vectors
 * of elements, in f64 twice as much, and in a short row it is a large part of all.  So arithmetic
 * of such values is printed for one element, u<i>, and v<i> is made of it where something that
 * varies from lane to lane takes it, or an op that only vectors have. */
#include "backends/print/print_impl.h"

/* Floating-point ops as C expressions; they round as those of the prelude do. */
static const char *spelling(tc_op op) {
  static const char *const text[OP_COUNT] = {
      [OP_NEG] = "-%0",
      [OP_ABS] = "__builtin_elementwise_abs(%0)",
      [OP_SQUARE] = "%0 * %0",
      [OP_SQRT] = "__builtin_elementwise_sqrt(%0)",
      [OP_RSQRT] = "1 / __builtin_elementwise_sqrt(%0)",
      [OP_RECIPROCAL] = "1 / %0",
      [OP_ADD] = "%0 + %1",
      [OP_SUB] = "%0 - %1",
      [OP_MUL] = "%0 * %1",
      [OP_DIV] = "%0 / %1",
      [OP_MAXIMUM] = "%0 != %0 || %0 > %1 ? %0 : %1",
      [OP_MINIMUM] = "%0 != %0 || %0 < %1 ? %0 : %1",
      [OP_EQ] = "%0 == %1",
      [OP_NE] = "%0 != %1",
      [OP_LT] = "%0 < %1",
      [OP_LE] = "%0 <= %1",
      [OP_GT] = "%0 > %1",
      [OP_GE] = "%0 >= %1",
      [OP_WHERE] = "%0 ? %1 : %2",
  };
  return text[op];
}

/* Integers wrap as vectors do; as single ones they must not overflow. */
static bool all_floating(const tc_print_scope *s, const tc_expr *e) {
  for (int i = 0; i < 3; ++i)
    if (e->in[i].id && !(tc_op_get(e->op)->mask >> i & 1) &&
        !tc_dtype_is_float(s->k->expr[e->in[i].id].dtype))
      return false;
  return true;
}

bool tc_print_is_single(const tc_print_scope *s, uint32_t id) {
  const tc_expr *e = &s->k->expr[id];
  if (!s->words->single || tc_print_varies(s, (tc_val){id})) return false;
  if (e->kind == TC_EX_CAST) return tc_dtype_is_float(e->dtype);
  return e->kind == TC_EX_OP && !e->reproducible && spelling(e->op) && all_floating(s, e);
}

bool tc_print_is_leaf(const tc_print_scope *s, uint32_t id) {
  const tc_ex_kind kind = s->k->expr[id].kind;
  return s->words->single && !tc_print_varies(s, (tc_val){id}) &&
         (kind == TC_EX_CONST || kind == TC_EX_SCALAR || kind == TC_EX_DIM || kind == TC_EX_RESULT);
}

static void put_spelled(const tc_expr *e, tc_buf *out) {
  for (const char *c = spelling(e->op); *c; ++c) {
    if (*c != '%') tc_putn(out, c, 1);
    else tc_putf(out, "u%u", e->in[*++c - '0'].id);
  }
}

/* In front of a text of type double or int64_t. */
static void put_type(tc_dtype d, tc_buf *out) {
  if (d != TC_F64 && d != TC_I64) tc_putf(out, "(tc_%s)", tc_print_compute(d));
}

static void put_const(const tc_print_scope *s, const tc_expr *e, tc_buf *out) {
  const bool single = e->dtype == TC_F32;
  if (!single || (double)(float)e->f != e->f) put_type(e->dtype, out);
  if (tc_dtype_is_float(e->dtype)) tc_print_float(s->words, out, e->f, single);
  else if (e->i == INT64_MIN) tc_put(out, "-0x7fffffffffffffff - 1");
  else tc_putf(out, "%lld", (long long)e->i);
}

bool tc_print_single(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_expr *e = &s->k->expr[id];
  if (!tc_print_is_single(s, id) && !tc_print_is_leaf(s, id)) return false;
  switch (e->kind) {
  case TC_EX_CONST:
    put_const(s, e, out);
    break;
  case TC_EX_SCALAR:
    if (e->dtype != TC_BOOL) put_type(e->dtype, out);
    tc_putf(out, "a%u%s", e->index, e->dtype == TC_BOOL ? " != 0" : "");
    break;
  case TC_EX_DIM:
    put_type(e->dtype, out);
    tc_put(out, "(");
    tc_dim_print(tc_graph_dims(s->p->graph), e->dim, s->words->size, out);
    tc_put(out, ")");
    break;
  case TC_EX_RESULT:
    tc_putf(out, "%s[0]", s->result[e->index]);
    break;
  case TC_EX_CAST:
    tc_putf(out, "(tc_%s)u%u", tc_print_compute(e->dtype), e->in[0].id);
    break;
  default:
    put_spelled(e, out);
  }
  return true;
}

/* values.c - prints what the values of a kernel are: `const tc_T v<i> = ...;`, operands first. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "serial.h"

void put_line(writer *w, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  tc_putf(w->out, "%*s", w->indent, "");
  tc_vputf(w->out, format, ap);
  tc_put(w->out, "\n");
  va_end(ap);
}

/* ---- addresses ------------------------------------------------------------------------------- */

void put_terms(writer *w, const tc_address *a, tc_val guard, const char *tag) {
  for (int j = 0; j < a->nterm; ++j) {
    tc_putf(w->out, "%*sconst int64_t x%s_%d = tc_index(v%u, ", w->indent, "", tag, j,
            a->term[j].value.id);
    tc_print_dim(w->p, a->term[j].bound, w->out);
    if (guard.id) tc_putf(w->out, ", v%u, &bad);\n", guard.id);
    else tc_put(w->out, ", 1, &bad);\n");
  }
}

void put_place(writer *w, const tc_address *a, const char *tag, tc_buf *out) {
  tc_print_dim(w->p, a->offset, out);
  for (int i = 0; i < TC_MAX_AXES; ++i) {
    if (tc_dim_is(a->coef[i], 0)) continue;
    tc_put(out, " + (");
    tc_print_dim(w->p, a->coef[i], out);
    tc_putf(out, ") * i%d", i);
  }
  for (int j = 0; j < a->nterm; ++j) {
    tc_put(out, " + (");
    tc_print_dim(w->p, a->term[j].stride, out);
    tc_putf(out, ") * x%s_%d", tag, j);
  }
}

/* ---- expressions ----------------------------------------------------------------------------- */

void put_const(const tc_expr *e, tc_buf *out) {
  if (!tc_dtype_is_float(e->dtype)) tc_putf(out, "(int64_t)0x%llxu", (unsigned long long)e->i);
  else if (isnan(e->f)) tc_put(out, "NAN");
  else if (isinf(e->f)) tc_put(out, e->f < 0 ? "-INFINITY" : "INFINITY");
  else tc_putf(out, "%a", e->f);
}

static void put_load(writer *w, const tc_expr *e, const char *tag, tc_buf *out) {
  const char *t = tc_print_storage(w->p->buffer[w->k->buffer[e->buffer]].dtype);
  if (e->guard.id) tc_putf(out, "!v%u ? 0 : ", e->guard.id);
  tc_putf(out, "tc_load_%s(b%u[", t, e->buffer);
  put_place(w, &e->address, tag, out);
  tc_put(out, "])");
}

/* The formula of the op in double or int64, as the eager library has it. */
static void put_op(const writer *w, const tc_expr *e, tc_buf *out) {
  if (e->op == OP_WHERE) {
    tc_putf(out, "v%u ? v%u : v%u", e->in[0].id, e->in[1].id, e->in[2].id);
    return;
  }
  const bool floating = tc_dtype_is_float(w->k->expr[e->in[0].id].dtype);
  tc_putf(out, "tc_%s_%s(", floating ? "float" : "int", tc_op_get(e->op)->text);
  for (int i = 0; i < 3; ++i)
    if (e->in[i].id) tc_putf(out, "v%u, ", e->in[i].id);
    else tc_put(out, "0, ");
  tc_putf(out, "%d)%s", e->dtype == TC_BOOL ? 1 : 8 * (int)tc_dtype_bytes(e->dtype),
          e->dtype == TC_BOOL ? " != 0" : "");
}

static void put_cast(const writer *w, const tc_expr *e, tc_buf *out) {
  static const char *const range[TC_DTYPE_COUNT] = {[TC_U8] = "0, 255",
                                                    [TC_I8] = "-128, 127",
                                                    [TC_I16] = "-32768, 32767",
                                                    [TC_I32] = "-2147483647 - 1, 2147483647",
                                                    [TC_I64] = "-INT64_MAX - 1, INT64_MAX"};
  const uint32_t v = e->in[0].id;
  if (e->dtype == TC_BOOL) tc_putf(out, "v%u != 0", v);
  else if (tc_dtype_is_float(w->k->expr[v].dtype) && !tc_dtype_is_float(e->dtype))
    tc_putf(out, "tc_f_to_int(v%u, %s)", v, range[e->dtype]);
  else tc_putf(out, "v%u", v);
}

static void put_random(writer *w, const tc_expr *e, const char *tag, tc_buf *out) {
  const bool normal = e->op == OP_RANDN, wide = e->storage == TC_F64;
  tc_putf(out, "tc_philox_%s_%s((uint64_t)v%u, (uint64_t)(", normal ? "normal" : "uniform",
          normal && !wide ? "f32" : tc_print_storage(e->storage), e->in[0].id);
  put_place(w, &e->address, tag, out);
  tc_put(out, "))");
}

static void put_expr(writer *w, const tc_expr *e, const char *tag, tc_buf *out) {
  const char *half = tc_print_storage(e->storage);
  switch (e->kind) {
  case TC_EX_CONST:
    put_const(e, out);
    break;
  case TC_EX_SCALAR:
    tc_putf(out, "a%u%s", e->index, e->dtype == TC_BOOL ? " != 0" : "");
    break;
  case TC_EX_DIM:
    tc_print_dim(w->p, e->dim, out);
    break;
  case TC_EX_INDEX:
    put_place(w, &e->address, tag, out);
    break;
  case TC_EX_LOAD:
    put_load(w, e, tag, out);
    break;
  case TC_EX_OP:
    put_op(w, e, out);
    break;
  case TC_EX_CAST:
    put_cast(w, e, out);
    break;
  case TC_EX_ROUND:
    tc_putf(out, "tc_load_%s(tc_store_%s(v%u))", half, half, e->in[0].id);
    break;
  case TC_EX_RESULT:
    tc_putf(out, "r%u", e->index);
    break;
  case TC_EX_RANDOM:
    put_random(w, e, tag, out);
    break;
  default:
    break; /* has_values */
  }
}

static void put_marked(writer *w, uint8_t *need) {
  need[0] = 0;
  tc_mark_operands(w->k, need);
  for (uint32_t id = 1; id < w->k->nexpr; ++id) {
    const tc_expr *e = &w->k->expr[id];
    if (!need[id]) continue;
    tc_buf text = {0}, tag = {0};
    tc_putf(&tag, "%u", id);
    if (e->kind == TC_EX_LOAD || e->kind == TC_EX_INDEX || e->kind == TC_EX_RANDOM)
      put_terms(w, &e->address, e->guard, tag.text);
    put_expr(w, e, tag.text, &text);
    put_line(w, "const tc_%s v%u = %s;", tc_print_compute(e->dtype), id,
             text.text ? text.text : "0");
    tc_buf_free(&text);
    tc_buf_free(&tag);
  }
}

void put_values(writer *w, const tc_action *a) {
  uint8_t *need = calloc(w->k->nexpr + 1, 1);
  if (!need) w->out->failed = true;
  if (!need) return;
  need[a->value.id] = need[a->guard.id] = 1;
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; ++i) need[a->further[i].id] = 1;
  if (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD)
    for (int j = 0; j < a->address.nterm; ++j) need[a->address.term[j].value.id] = 1;
  put_marked(w, need);
  free(need);
}

void put_value(writer *w, tc_val v) {
  const tc_action a = {.kind = TC_ACT_REDUCE, .value = v};
  put_values(w, &a);
}

void put_rule(writer *w, const tc_rule *rule, uint32_t first, uint32_t n) {
  writer inner = *w;
  inner.k = &rule->kernel;
  for (uint32_t id = 1; id < rule->kernel.nexpr; ++id) {
    const tc_expr *e = &rule->expr[id];
    tc_buf text = {0};
    if (e->kind == TC_EX_RESULT && e->index >= n) tc_putf(&text, "b%u", e->index - n);
    else if (e->kind == TC_EX_RESULT) tc_putf(&text, "r%u", first + e->index);
    else put_expr(&inner, e, "", &text);
    put_line(w, "const tc_%s v%u = %s;", tc_print_compute(e->dtype), id, text.text ? text.text : "0");
    tc_buf_free(&text);
  }
}

bool has_values(const tc_kernel *k) {
  for (uint32_t id = 1; id < k->nexpr; ++id) {
    const tc_expr *e = &k->expr[id];
    if (e->kind == TC_EX_OP && e->op != OP_WHERE &&
        !tc_print_has_formula(e->op, tc_dtype_is_float(k->expr[e->in[0].id].dtype)))
      return false;
  }
  return true;
}

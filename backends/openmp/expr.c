/* expr.c - prints expression DAGs: one `const tc_vT v<i> = ...;` a value, operands first. */
#include "backends/openmp/emit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tc_omp_storage(tc_dtype d) {
  static const char *const text[TC_DTYPE_COUNT] = {
      [TC_BOOL] = "b8", [TC_U8] = "u8",   [TC_I8] = "i8",     [TC_I16] = "i16", [TC_I32] = "i32",
      [TC_I64] = "i64", [TC_F16] = "f16", [TC_BF16] = "bf16", [TC_F32] = "f32", [TC_F64] = "f64"};
  return d < TC_DTYPE_COUNT ? text[d] : "f32";
}

const char *tc_omp_compute(tc_dtype d) {
  return d == TC_F16 || d == TC_BF16 ? "f32" : tc_omp_storage(d);
}

void tc_omp_line(tc_omp_scope *s, const char *format, ...) {
  tc_putf(s->out, "%*s", s->indent, "");
  va_list ap;
  va_start(ap, format);
  tc_vputf(s->out, format, ap);
  va_end(ap);
  tc_put(s->out, "\n");
}

/* ---- dependence ---------------------------------------------------------------------------------
 */

static uint32_t address_axes(const tc_address *a, const uint32_t *depends) {
  uint32_t m = 0;
  for (int i = 0; i < TC_MAX_AXES; ++i)
    if (!tc_dim_is(a->coef[i], 0)) m |= 1u << i;
  for (int i = 0; i < a->nterm; ++i) m |= depends[a->term[i].value.id];
  return m;
}

static bool has_address(const tc_expr *e) {
  return e->kind == TC_EX_LOAD || e->kind == TC_EX_INDEX || e->kind == TC_EX_RANDOM;
}

void tc_omp_depends(const tc_kernel *k, const uint32_t *result_axes, uint32_t *depends) {
  depends[0] = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    uint32_t m = depends[e->guard.id];
    for (int j = 0; j < 3; ++j) m |= depends[e->in[j].id];
    if (has_address(e)) m |= address_axes(&e->address, depends);
    if (e->kind == TC_EX_RESULT && result_axes) m |= result_axes[e->index];
    depends[i] = m;
  }
}

/* Does v differ from lane to lane in this scope? */
static bool varies(const tc_omp_scope *s, tc_val v) {
  return s->vector >= 0 && (s->depends[v.id] >> s->vector & 1);
}

/* ---- addresses
 * ------------------------------------------------------------------------------------ */

static bool is_number(const char *t) {
  for (; *t; ++t)
    if (*t < '0' || *t > '9') return false;
  return true;
}

static void put_product(const tc_program *p, tc_dim coef, const char *text, tc_buf *out) {
  if (tc_dim_is(coef, 1)) {
    tc_put(out, text);
    return;
  }
  tc_buf d = {0};
  tc_omp_dim(p, coef, &d);
  tc_putf(out, is_number(d.text ? d.text : "") ? "%s * %s" : "(%s) * %s", d.text ? d.text : "0",
          text);
  tc_buf_free(&d);
}

void tc_omp_address(const tc_omp_scope *s, const tc_address *a, tc_buf *out) {
  bool any = false;
  if (!tc_dim_is(a->offset, 0)) {
    tc_put(out, "(");
    tc_omp_dim(s->p, a->offset, out);
    tc_put(out, ")");
    any = true;
  }
  for (int i = 0; i < s->naxis; ++i) {
    if (tc_dim_is(a->coef[i], 0)) continue;
    if (any) tc_put(out, " + ");
    put_product(s->p, a->coef[i], s->axis[i], out);
    any = true;
  }
  if (!any) tc_put(out, "0");
}

/* An address in parts: a scalar base, and per lane the sum of lane * stride and of varying terms.
 */
typedef struct place {
  tc_buf base; /* scalar C expression, elements */
  tc_buf lane; /* tc_vi64 expression of what varies beyond a unit stride; empty: none */
  bool unit;   /* neighbouring elements */
  bool fixed;  /* the same element in all lanes */
} place;

static void place_free(place *p) {
  tc_buf_free(&p->base);
  tc_buf_free(&p->lane);
}

/* The lanes whose index operands count: valid ones, and where the guard holds. */
static void put_live(const tc_omp_scope *s, tc_val guard, tc_buf *out) {
  if (s->lanes && s->vector >= 0) tc_putf(out, "TC_TRUTH(TC_FIRST(%s))", s->lanes);
  else tc_put(out, "tc_set_b8(1)");
  if (guard.id) tc_putf(out, " & v%u", guard.id);
}

/* Prints the checked index operands of an address as x<tag>_<j>. */
static void put_terms(tc_omp_scope *s, const tc_address *a, tc_val guard, const char *tag) {
  for (int j = 0; j < a->nterm; ++j) {
    const tc_term *t = &a->term[j];
    const bool wide = s->k->expr[t->value.id].dtype == TC_I64;
    tc_buf b = {0}, live = {0};
    tc_omp_dim(s->p, t->bound, &b);
    put_live(s, guard, &live);
    tc_omp_line(s, "const tc_vi64 x%s_%d = tc_index(%sv%u%s, %s, %s, &bad);", tag, j,
                wide ? "" : "TC_CAST(i64, ", t->value.id, wide ? "" : ")", b.text ? b.text : "0",
                live.text ? live.text : "");
    tc_buf_free(&b);
    tc_buf_free(&live);
  }
}

static void put_lane_sum(tc_buf *lane, const char *text) {
  if (lane->len) tc_put(lane, " + ");
  tc_put(lane, text);
}

static place locate(tc_omp_scope *s, const tc_address *a, const char *tag) {
  place p = {0};
  tc_omp_address(s, a, &p.base);
  const tc_dim step = s->vector >= 0 ? a->coef[s->vector] : tc_dim_const(0);
  bool varying = false;
  for (int j = 0; j < a->nterm; ++j) {
    char name[48];
    snprintf(name, sizeof name, "x%s_%d", tag, j);
    if (varies(s, a->term[j].value)) {
      tc_buf t = {0};
      put_product(s->p, a->term[j].stride, name, &t);
      put_lane_sum(&p.lane, t.text ? t.text : "");
      tc_buf_free(&t);
      varying = true;
    } else {
      strcat(name, "[0]");
      tc_put(&p.base, " + ");
      put_product(s->p, a->term[j].stride, name, &p.base);
    }
  }
  if (strchr(p.base.text ? p.base.text : "",
             ' ')) { /* one sum of indices, then one step from b<i> */
    tc_buf whole = {0};
    tc_putf(&whole, "(%s)", p.base.text);
    tc_buf_free(&p.base);
    p.base = whole;
  }
  p.fixed = !varying && tc_dim_is(step, 0);
  p.unit = !varying && tc_dim_is(step, 1);
  if (!p.fixed && !p.unit && !tc_dim_is(step, 0)) {
    tc_buf t = {0};
    put_product(s->p, step, "TC_LANES(i64)", &t);
    put_lane_sum(&p.lane, t.text ? t.text : "");
    tc_buf_free(&t);
  }
  return p;
}

static const char *valid(const tc_omp_scope *s) { return s->lanes ? s->lanes : "TC_L"; }

/* ---- values
 * ------------------------------------------------------------------------------------------ */

static void put_float(tc_buf *out, double v, bool single) {
  if (isnan(v)) tc_put(out, "__builtin_nan(\"\")");
  else if (isinf(v)) tc_put(out, v < 0 ? "-__builtin_inf()" : "__builtin_inf()");
  else if (single && (double)(float)v == v) {
    char t[40];
    snprintf(t, sizeof t, "%.9g", v);
    tc_putf(out, "%s%sf", t, strpbrk(t, ".e") ? "" : ".0");
  } else tc_putf(out, "%.17g", v);
}

static void put_const(const tc_expr *e, tc_buf *out) {
  tc_putf(out, "tc_set_%s(", tc_omp_compute(e->dtype));
  if (tc_dtype_is_float(e->dtype)) put_float(out, e->f, e->dtype == TC_F32);
  else if (e->i == INT64_MIN) tc_put(out, "-0x7fffffffffffffff - 1");
  else tc_putf(out, "%lld", (long long)e->i);
  tc_put(out, ")");
}

static void put_load(tc_omp_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  char tag[16];
  snprintf(tag, sizeof tag, "%u", id);
  put_terms(s, &e->address, e->guard, tag);
  place p = locate(s, &e->address, tag);
  const char *t = tc_omp_storage(s->p->buffer[s->k->buffer[e->buffer]].dtype), *base = p.base.text;
  const uint32_t b = e->buffer, g = e->guard.id;
  if (!base) base = "0";
  if (g && p.fixed && !varies(s, e->guard))
    tc_putf(out, "v%u[0] ? tc_splat_%s(b%u + %s) : tc_set_%s(0)", g, t, b, base,
            tc_omp_compute(e->dtype));
  else if (g && p.unit) tc_putf(out, "tc_loadg_%s(b%u + %s, v%u, %s)", t, b, base, g, valid(s));
  else if (g)
    tc_putf(out, "tc_gatherg_%s(b%u + %s, %s, v%u, %s)", t, b, base,
            p.lane.len ? p.lane.text : "tc_set_i64(0)", g, valid(s));
  else if (p.fixed) tc_putf(out, "tc_splat_%s(b%u + %s)", t, b, base);
  else if (p.unit && s->lanes) tc_putf(out, "tc_loadn_%s(b%u + %s, %s)", t, b, base, s->lanes);
  else if (p.unit) tc_putf(out, "tc_load_%s(b%u + %s)", t, b, base);
  else
    tc_putf(out, "tc_gather_%s(b%u + %s, %s, %s)", t, b, base, p.lane.text ? p.lane.text : "",
            valid(s));
  place_free(&p);
}

/* The value of an address: i64 in every lane. */
static void put_index(tc_omp_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  char tag[16];
  snprintf(tag, sizeof tag, "%u", id);
  put_terms(s, &e->address, (tc_val){0}, tag);
  place p = locate(s, &e->address, tag);
  tc_putf(out, "tc_set_i64(%s)", p.base.text ? p.base.text : "0");
  if (p.unit) tc_put(out, " + TC_LANES(i64)");
  else if (p.lane.len) tc_putf(out, " + %s", p.lane.text);
  place_free(&p);
}

static void put_op(const tc_omp_scope *s, const tc_expr *e, tc_buf *out) {
  const char *spelling = tc_op_get(e->op)->expr;
  tc_dtype t = e->dtype;
  for (int i = 0; i < 3; ++i)
    if (e->in[i].id) t = s->k->expr[e->in[i].id].dtype;
  for (const char *c = spelling ? spelling : "0"; *c; ++c) {
    if (*c != '%') tc_putn(out, c, 1);
    else if (*++c == 't') tc_put(out, tc_omp_compute(t));
    else tc_putf(out, "v%u", e->in[*c - '0'].id);
  }
}

static void put_cast(const tc_omp_scope *s, const tc_expr *e, tc_buf *out) {
  const tc_dtype from = s->k->expr[e->in[0].id].dtype, to = e->dtype;
  const uint32_t v = e->in[0].id;
  const char *f = tc_omp_compute(from), *t = tc_omp_compute(to);
  if (from == to) tc_putf(out, "v%u", v);
  else if (to == TC_BOOL) tc_putf(out, "tc_ne_%s(v%u, tc_set_%s(0))", f, v, f);
  else if (tc_dtype_is_float(from) && (to == TC_U8 || to == TC_I8 || to == TC_I16))
    tc_putf(out, "TC_CAST(%s, TC_CAST(i32, v%u))", t, v);
  else tc_putf(out, "TC_CAST(%s, v%u)", t, v);
}

static void put_random(tc_omp_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  const bool half = e->storage == TC_F16 || e->storage == TC_BF16;
  tc_buf at = {0};
  put_index(s, e, id, &at);
  tc_putf(out, "tc_%s_%s(v%u, %s)", e->op == OP_RAND ? "rand" : "randn",
          tc_omp_storage(e->dtype == TC_F32 && half ? e->storage : e->dtype), e->in[0].id,
          at.text ? at.text : "");
  tc_buf_free(&at);
}

static void put_scalar(const tc_expr *e, tc_buf *out) {
  if (e->dtype == TC_BOOL) tc_putf(out, "tc_set_b8(a%u != 0)", e->index);
  else tc_putf(out, "tc_set_%s(a%u)", tc_omp_compute(e->dtype), e->index);
}

static void put_value(tc_omp_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  switch (e->kind) {
  case TC_EX_NONE:
    break;
  case TC_EX_CONST:
    put_const(e, out);
    break;
  case TC_EX_SCALAR:
    put_scalar(e, out);
    break;
  case TC_EX_DIM:
    tc_putf(out, "tc_set_%s(", tc_omp_compute(e->dtype));
    tc_omp_dim(s->p, e->dim, out);
    tc_put(out, ")");
    break;
  case TC_EX_INDEX:
    put_index(s, e, id, out);
    break;
  case TC_EX_LOAD:
    put_load(s, e, id, out);
    break;
  case TC_EX_OP:
    put_op(s, e, out);
    break;
  case TC_EX_CAST:
    put_cast(s, e, out);
    break;
  case TC_EX_ROUND:
    tc_putf(out, "tc_round_%s(v%u)", tc_omp_storage(e->storage), e->in[0].id);
    break;
  case TC_EX_RESULT:
    tc_put(out, s->result[e->index]);
    break;
  case TC_EX_RANDOM:
    put_random(s, e, id, out);
    break;
  }
}

static void put_definition(tc_omp_scope *s, uint32_t id) {
  const tc_expr *e = &s->k->expr[id];
  tc_buf text = {0};
  put_value(s, e, id, &text);
  if (e->loc.line)
    tc_omp_line(s, "const tc_v%s v%u = %s; /* line %u */", tc_omp_compute(e->dtype), id,
                text.text ? text.text : "0", e->loc.line);
  else
    tc_omp_line(s, "const tc_v%s v%u = %s;", tc_omp_compute(e->dtype), id,
                text.text ? text.text : "0");
  if (text.failed) s->out->failed = true;
  tc_buf_free(&text);
  s->printed[id] = 1;
}

/* ---- walks
 * -----------------------------------------------------------------------------------------------
 */

static void mark_terms(uint8_t *need, const tc_address *a) {
  for (int j = 0; j < a->nterm; ++j) need[a->term[j].value.id] = 1;
}

/* Marks everything that marked values need; operands have smaller indices, so one pass does. */
static void mark_operands(const tc_kernel *k, uint8_t *need) {
  for (uint32_t i = k->nexpr; i-- > 1;) {
    if (!need[i]) continue;
    const tc_expr *e = &k->expr[i];
    for (int j = 0; j < 3; ++j) need[e->in[j].id] = 1;
    need[e->guard.id] = 1;
    if (has_address(e)) mark_terms(need, &e->address);
  }
}

static void print_marked(tc_omp_scope *s, uint8_t *need, uint32_t mask) {
  mark_operands(s->k, need);
  for (uint32_t i = 1; i < s->k->nexpr; ++i)
    if (need[i] && !s->printed[i] && (s->depends[i] & ~mask) == 0) put_definition(s, i);
}

static uint8_t *new_marks(tc_omp_scope *s) {
  uint8_t *need = calloc(s->k->nexpr + 1, 1);
  if (!need) s->out->failed = true;
  return need;
}

void tc_omp_hoist(tc_omp_scope *s, tc_val v, uint32_t mask) {
  uint8_t *need = v.id ? new_marks(s) : NULL;
  if (!need) return;
  need[v.id] = 1;
  print_marked(s, need, mask);
  free(need);
}

void tc_omp_value(tc_omp_scope *s, tc_val v) { tc_omp_hoist(s, v, ~0u); }

void tc_omp_hoist_action(tc_omp_scope *s, const tc_action *a, uint32_t mask) {
  uint8_t *need = new_marks(s);
  if (!need) return;
  need[a->value.id] = need[a->position.id] = need[a->guard.id] = 1;
  if (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) mark_terms(need, &a->address);
  need[0] = 0;
  print_marked(s, need, mask);
  free(need);
}

uint8_t *tc_omp_enter(tc_omp_scope *s) {
  uint8_t *outer = s->printed, *inner = malloc(s->k->nexpr + 1);
  if (!inner) {
    s->out->failed = true;
    return NULL;
  }
  memcpy(inner, outer, s->k->nexpr);
  s->printed = inner;
  return outer;
}

void tc_omp_leave(tc_omp_scope *s, uint8_t *outer) {
  if (!outer) return;
  free(s->printed);
  s->printed = outer;
}

/* ---- stores
 * --------------------------------------------------------------------------------------------------
 */

static void put_add(tc_omp_scope *s, const place *p, const char *t, const tc_action *a,
                    const char *guard) {
  const char *base = p->base.text;
  const uint32_t b = a->buffer, v = a->value.id;
  if (p->fixed) {
    if (a->guard.id) tc_omp_line(s, "if (v%u[0])", a->guard.id);
    tc_omp_line(s, "tc_store1_%s(b%u + %s, tc_splat_%s(b%u + %s) + v%u);", t, b, base, t, b, base,
                v);
  } else
    tc_omp_line(s, "tc_scatteradd_%s(b%u + %s, %s, v%u, %s, %s);", t, b, base,
                p->unit ? "TC_LANES(i64)" : p->lane.text, v, guard, valid(s));
}

static void put_store(tc_omp_scope *s, const place *p, const char *t, const tc_action *a,
                      const char *guard) {
  const tc_buffer *buffer = &s->p->buffer[s->k->buffer[a->buffer]];
  const char *base = p->base.text;
  const uint32_t b = a->buffer, v = a->value.id;
  if (p->fixed) {
    if (a->guard.id) tc_omp_line(s, "if (v%u[0])", a->guard.id);
    tc_omp_line(s, "tc_store1_%s(b%u + %s, v%u);", t, b, base, v);
  } else if (!p->unit || a->guard.id)
    tc_omp_line(s, "tc_scatter_%s(b%u + %s, %s, v%u, %s, %s);", t, b, base,
                p->unit ? "TC_LANES(i64)" : p->lane.text, v, guard, valid(s));
  else if (s->lanes) tc_omp_line(s, "tc_storen_%s(b%u + %s, v%u, %s);", t, b, base, v, s->lanes);
  else if (s->stream && buffer->kind == TC_BUF_OUTPUT)
    tc_omp_line(s, "tc_stream_%s(b%u + %s, v%u, %s);", t, b, base, v, s->stream);
  else tc_omp_line(s, "tc_store_%s(b%u + %s, v%u);", t, b, base, v);
}

void tc_omp_store(tc_omp_scope *s, const tc_action *a) {
  tc_omp_hoist_action(s, a, ~0u);
  const char *t = tc_omp_storage(s->p->buffer[s->k->buffer[a->buffer]].dtype);
  const bool block = a->address.nterm > 0; /* holds the names of the index operands */
  if (block) {
    tc_omp_line(s, "{");
    s->indent += 2;
    put_terms(s, &a->address, a->guard, "s");
  }
  place p = locate(s, &a->address, "s");
  char guard[24] = "tc_set_b8(1)";
  if (a->guard.id) snprintf(guard, sizeof guard, "v%u", a->guard.id);
  if (a->kind == TC_ACT_ADD) put_add(s, &p, t, a, guard);
  else put_store(s, &p, t, a, guard);
  place_free(&p);
  if (block) {
    s->indent -= 2;
    tc_omp_line(s, "}");
  }
}

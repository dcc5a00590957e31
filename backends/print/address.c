/* address.c - which axes values depend on, and addresses as text. */
#include "backends/print/print_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- dependence ------------------------------------------------------------------------------ */

/* Bit j: the address changes along axis j. */
static uint32_t address_axes(const tc_address *a, const uint32_t *depends) {
  uint32_t m = 0;
  for (int i = 0; i < TC_MAX_AXES; ++i)
    if (!tc_dim_is(a->coef[i], 0)) m |= 1u << i;
  for (int i = 0; i < a->nterm; ++i) m |= depends[a->term[i].value.id];
  return m;
}

void tc_print_depends(const tc_kernel *k, const uint32_t *result_axes, uint32_t *depends) {
  depends[0] = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    uint32_t m = depends[e->guard.id];
    for (int j = 0; j < 3; ++j) m |= depends[e->in[j].id];
    if (tc_expr_has_address(e)) m |= address_axes(&e->address, depends);
    if (e->kind == TC_EX_RESULT && result_axes) m |= result_axes[e->index];
    depends[i] = m;
  }
}

uint32_t tc_print_stage_axes(const tc_stage *st, const uint32_t *depends) {
  uint32_t m = 0;
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    m |= depends[a->value.id] | depends[a->guard.id] | address_axes(&a->address, depends);
  }
  return m;
}

/* Does v differ from lane to lane in this scope? */
bool tc_print_varies(const tc_print_scope *s, tc_val v) {
  const uint32_t part = s->part ? 1u << (s->part - 1) : 0;
  return s->vector >= 0 && (s->depends[v.id] & (1u << s->vector | part | s->counted));
}

bool tc_print_is_apart(const tc_print_scope *s, const tc_address *a) {
  bool changes = false, dense = true;
  for (int i = 0; i < s->naxis; ++i) {
    if (!(s->counted >> i & 1)) continue;
    changes |= !tc_dim_is(a->coef[i], 0);
    dense = dense && tc_dim_same(a->coef[i], s->dense[i]);
  }
  return changes && !dense;
}

tc_dim tc_print_step(const tc_print_scope *s, const tc_address *a) {
  if (s->vector < 0) return tc_dim_const(0);
  const tc_dim step = a->coef[s->vector];
  return s->part ? tc_dim_add(tc_graph_dims(s->p->graph), step, a->coef[s->part - 1]) : step;
}

void tc_print_axis_part(const tc_print_scope *s, const tc_mm_loop *mm, int part, tc_buf *out) {
  const int axis = mm->axis[part].of;
  const uint32_t parts = tc_mm_parts(mm, axis);
  const tc_dim inner = tc_mm_inner(tc_graph_dims(s->p->graph), mm, part);
  tc_putf(out, "(%s", s->axis[axis]);
  if (!tc_dim_is(inner, 1)) {
    tc_put(out, " / (");
    tc_print_dim(s->p, inner, out);
    tc_put(out, ")");
  }
  if (parts & ((1u << part) - 1)) {
    tc_put(out, " % (");
    tc_print_dim(s->p, mm->axis[part].extent, out);
    tc_put(out, ")");
  }
  tc_put(out, ")");
}

void tc_print_axis_parts(tc_print_scope *s, const tc_mm_loop *mm, tc_buf *text) {
  for (int i = tc_mm_first_part(mm); i < tc_mm_axes(mm); ++i) {
    tc_print_axis_part(s, mm, i, &text[i]);
    s->axis[i] = text[i].text ? text[i].text : "";
  }
}

void tc_print_extent(const tc_print_scope *s, const tc_axis *a, tc_buf *out) {
  if (a->of < 0) {
    tc_print_dim(s->p, a->extent, out);
    return;
  }
  tc_buf e = {0}, t = {0};
  tc_print_dim(s->p, a->extent, &e);
  tc_print_dim(s->p, a->total, &t);
  tc_putf(out, "TC_MIN((%s)(%s), (%s) - %s * (%s))", s->words->integer, e.text, t.text,
          s->axis[a->of], e.text);
  tc_buf_free(&e);
  tc_buf_free(&t);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static bool is_number(const char *t) {
  for (; *t; ++t)
    if (*t < '0' || *t > '9') return false;
  return true;
}

static void put_product(const tc_program *p, tc_dim coef, const char *symbols, const char *text, tc_buf *out) {
  if (tc_dim_is(coef, 1)) {
    tc_put(out, text);
    return;
  }
  tc_buf d = {0};
  tc_dim_print(tc_graph_dims(p->graph), coef, symbols, &d);
  tc_putf(out, is_number(d.text ? d.text : "") ? "%s * %s" : "(%s) * %s", d.text ? d.text : "0",
          text);
  tc_buf_free(&d);
}

/* The axes from i on that have its step: one, but for steps of unknown size, of which no product is left to be taken twice. */
static void put_indices(const tc_print_scope *s, const tc_address *a, int i, tc_buf *out) {
  int n = 0;
  tc_buf sum = {0};
  for (int j = i; j < s->naxis; ++j) {
    if (j != i && (tc_dim_is_const(a->coef[i]) || !tc_dim_same(a->coef[j], a->coef[i]))) continue;
    tc_putf(&sum, n++ ? " + %s" : "%s", s->axis[j]);
  }
  tc_putf(out, n > 1 ? "(%s)" : "%s", sum.text ? sum.text : "");
  tc_buf_free(&sum);
}

static bool has_step_of_earlier(const tc_address *a, int i) {
  for (int j = 0; j < i; ++j)
    if (!tc_dim_is_const(a->coef[i]) && tc_dim_same(a->coef[j], a->coef[i])) return true;
  return false;
}

/* Numbers are cast to `wide`, if that is not NULL. */
static void put_sum(const tc_print_scope *s, const tc_address *a, const char *symbols, const char *wide, tc_buf *out) {
  bool any = false;
  for (int i = -1; i < s->naxis; ++i) {
    const tc_dim d = i < 0 ? a->offset : a->coef[i];
    if (tc_dim_is(d, 0) || (i > 0 && has_step_of_earlier(a, i))) continue;
    if (any) tc_put(out, " + ");
    if (wide && tc_dim_is_const(d)) tc_putf(out, "(%s)", wide);
    if (i >= 0) {
      tc_buf indices = {0};
      put_indices(s, a, i, &indices);
      put_product(s->p, d, symbols, indices.text ? indices.text : "0", out);
      tc_buf_free(&indices);
    } else {
      tc_put(out, "(");
      tc_dim_print(tc_graph_dims(s->p->graph), d, symbols, out);
      tc_put(out, ")");
    }
    any = true;
  }
  if (!any) tc_put(out, "0");
}

void tc_print_address(const tc_print_scope *s, const tc_address *a, tc_buf *out) {
  put_sum(s, a, "s_", NULL, out);
}

void tc_print_number(const tc_print_scope *s, const tc_address *a, tc_buf *out) {
  put_sum(s, a, s->words->size, s->words->wide, out);
}

void tc_print_place_free(tc_print_place *p) {
  tc_buf_free(&p->base);
  tc_buf_free(&p->lane);
  tc_buf_free(&p->step);
}

/* The lanes whose index operands count: valid ones, and where the guard holds. */
static void put_live(const tc_print_scope *s, tc_val guard, tc_buf *out) {
  if (s->lanes && s->vector >= 0) tc_putf(out, "TC_TRUTH(TC_FIRST(%s))", s->lanes);
  else tc_put(out, "tc_set_b8(1)");
  if (guard.id) tc_putf(out, " & v%u", guard.id);
}

/* An index operand that needs no check, as x<tag>_<j>. */
static void put_free_term(tc_print_scope *s, const tc_term *t, const char *tag, int j) {
  const bool varies = tc_print_varies(s, t->value);
  tc_print_line(s, "const %s x%s_%d = tc_index_free(v%u);",
                varies ? s->words->index : s->words->uniform_index, tag, j, t->value.id);
}

/* Prints the index operands of an address, checked, as x<tag>_<j>. */
void tc_print_terms(tc_print_scope *s, const tc_address *a, tc_val guard, const char *tag) {
  for (int j = 0; j < a->nterm; ++j) {
    const tc_term *t = &a->term[j];
    if (t->free) {
      put_free_term(s, t, tag, j);
      continue;
    }
    const bool wide = s->k->expr[t->value.id].dtype == TC_I64;
    tc_buf b = {0}, live = {0}, value = {0};
    const bool rows = s->rows && !guard.id && s->rows(s, t->value.id, &value);
    if (!rows) tc_putf(&value, "v%u", t->value.id);
    tc_print_dim(s->p, t->bound, &b);
    const bool varies = tc_print_varies(s, t->value),
               one = s->words->index_one && !varies && !guard.id;
    if (!one) put_live(s, guard, &live);
    tc_print_line(s, "const %s x%s_%d = %s%s(%s%s%s, %s%s%s, &bad)%s;",
                  varies ? s->words->index : s->words->uniform_index, tag, j, rows ? s->of_rows : "",
                  one ? "tc_index_one" : "tc_index", wide ? "" : "TC_CAST(i64, ", value.text ? value.text : "0",
                  wide ? "" : ")", b.text ? b.text : "0", one ? "" : ", ",
                  live.text ? live.text : "", rows ? ")" : "");
    tc_buf_free(&value);
    tc_buf_free(&b);
    tc_buf_free(&live);
  }
}

static void put_lane_sum(tc_buf *lane, const char *text) {
  if (lane->len) tc_put(lane, " + ");
  tc_put(lane, text);
}

static void put_lane_product(const tc_print_scope *s, tc_dim coef, const char *text, tc_buf *lane) {
  tc_buf t = {0};
  put_product(s->p, coef, "s_", text, &t);
  put_lane_sum(lane, t.text ? t.text : "");
  tc_buf_free(&t);
}

/* Each lane has its own index along each axis. */
static void put_apart(const tc_print_scope *s, const tc_address *a, tc_print_place *p) {
  tc_print_dim(s->p, a->offset, &p->base);
  for (int i = 0; i < s->naxis; ++i)
    if (!tc_dim_is(a->coef[i], 0)) put_lane_product(s, a->coef[i], s->lane_axis[i], &p->lane);
}

tc_print_place tc_print_locate(tc_print_scope *s, const tc_address *a, const char *tag) {
  tc_print_place p = {0};
  bool varying = tc_print_is_apart(s, a);
  const tc_dim step = varying ? tc_dim_const(0) : tc_print_step(s, a);
  if (varying) put_apart(s, a, &p);
  else tc_print_address(s, a, &p.base);
  for (int j = 0; j < a->nterm; ++j) {
    char name[48];
    snprintf(name, sizeof name, "x%s_%d", tag, j);
    if (tc_print_varies(s, a->term[j].value)) {
      put_lane_product(s, a->term[j].stride, name, &p.lane);
      varying = true;
    } else {
      strcat(name, "[0]");
      tc_put(&p.base, " + ");
      put_product(s->p, a->term[j].stride, "s_", name, &p.base);
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
    put_lane_product(s, step, s->words->lanes, &p.lane);
    if (!varying) tc_print_dim(s->p, step, &p.step);
  }
  return p;
}

const char *tc_print_valid(const tc_print_scope *s) { return s->lanes ? s->lanes : "TC_L"; }

void tc_print_key_bound(tc_print_scope *s, const tc_address *a, int m, bool upper, tc_buf *out) {
  const char *const name = s->axis[m];
  const bool rises = tc_dim_value(a->coef[m]) > 0;
  s->axis[m] = rises == upper ? "last" : "m0";
  tc_print_address(s, a, out);
  s->axis[m] = name;
  if (!out->text) tc_put(out, "0");
}

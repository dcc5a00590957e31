/* expr.c - prints expression DAGs: one `const tc_vT v<i> = ...;` a value, operands first. */
#include "backends/print/print_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

static void put_const(const tc_print_scope *s, const tc_expr *e, tc_buf *out) {
  tc_putf(out, "tc_set_%s(", tc_print_compute(e->dtype));
  if (tc_dtype_is_float(e->dtype)) tc_print_float(s->words, out, e->f, e->dtype == TC_F32);
  else if (e->i == INT64_MIN) tc_put(out, "-0x7fffffffffffffff - 1");
  else tc_putf(out, "%lld", (long long)e->i);
  tc_put(out, ")");
}

/* One of a few elements at each place along the lanes. */
static bool is_channel(const tc_print_scope *s, const tc_address *a) {
  const tc_dim step = tc_print_step(s, a);
  return tc_dim_is_const(step) && tc_dim_value(step) > 1 &&
         tc_dim_value(step) <= s->words->interleave;
}

/* The lanes to load of neighbours, as tc_print_scope.lanes. */
static const char *loaded_lanes(const tc_print_scope *s, const tc_expr *e) {
  const bool whole = s->whole_private && s->p->buffer[s->k->buffer[e->buffer]].kind == TC_BUF_PRIVATE;
  return whole ? NULL : s->lanes;
}

void tc_print_load(tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_expr *e = &s->k->expr[id];
  const char *const lanes = loaded_lanes(s, e);
  char tag[16];
  snprintf(tag, sizeof tag, "%u", id);
  tc_print_terms(s, &e->address, e->guard, tag);
  tc_print_place p = tc_print_locate(s, &e->address, tag);
  const char *t = tc_print_storage(s->p->buffer[s->k->buffer[e->buffer]].dtype),
             *base = p.base.text, *other = s->load_neighbours ? s->load_neighbours(s, id) : NULL;
  const uint32_t b = e->buffer, g = e->guard.id;
  if (!base) base = "0";
  if (g && p.fixed && !tc_print_varies(s, e->guard))
    tc_putf(out, "v%u[0] ? tc_splat_%s(b%u + %s) : tc_set_%s(0)", g, t, b, base,
            tc_print_compute(e->dtype));
  else if (g && p.unit && s->words->unaligned && !tc_print_varies(s, e->guard))
    tc_putf(out, "v%u[0] ? tc_loadn_%s(b%u + %s, %s) : tc_set_%s(0)", g, t, b, base,
            tc_print_valid(s), tc_print_compute(e->dtype));
  else if (g && p.unit)
    tc_putf(out, "tc_loadg_%s(b%u + %s, v%u, %s)", t, b, base, g, tc_print_valid(s));
  else if (g)
    tc_putf(out, "tc_gatherg_%s(b%u + %s, %s, v%u, %s)", t, b, base,
            p.lane.len ? p.lane.text : "tc_set_i64(0)", g, tc_print_valid(s));
  else if (p.fixed) tc_putf(out, "tc_splat_%s(b%u + %s)", t, b, base);
  else if (p.unit && lanes) tc_putf(out, "tc_loadn_%s(b%u + %s, %s)", t, b, base, lanes);
  else if (p.unit && other) tc_putf(out, "%s(b%u + %s)", other, b, base);
  else if (p.unit) tc_putf(out, "tc_load_%s(b%u + %s)", t, b, base);
  else if (!s->lanes && is_channel(s, &e->address) && p.step.len)
    tc_putf(out, "tc_loadstride%s_%s(b%u + %s)", p.step.text, t, b, base);
  else if (s->lanes && s->words->interleave > 1 && tc_dim_is(tc_print_step(s, &e->address), 2) &&
           p.step.len)
    tc_putf(out, "tc_loadstride2n_%s(b%u + %s, %s)", t, b, base, s->lanes);
  else if (s->words->strided && p.step.len)
    tc_putf(out, "tc_strided_%s(b%u + %s, %s, %s)", t, b, base, p.step.text, tc_print_valid(s));
  else
    tc_putf(out, "tc_gather_%s(b%u + %s, %s, %s)", t, b, base, p.lane.text ? p.lane.text : "",
            tc_print_valid(s));
  tc_print_place_free(&p);
}

/* What an address has beside that of lane 0. */
static void put_lane_part(const tc_print_scope *s, const tc_print_place *p, tc_buf *out) {
  if (p->unit) tc_putf(out, " + %s", s->words->lanes);
  else if (p->lane.len) tc_putf(out, " + %s", p->lane.text);
}

/* The value of an address: i64 in every lane. */
static void put_index(tc_print_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  char tag[16];
  snprintf(tag, sizeof tag, "%u", id);
  tc_print_terms(s, &e->address, (tc_val){0}, tag);
  tc_print_place p = tc_print_locate(s, &e->address, tag);
  tc_putf(out, "tc_set_i64(%s)", p.base.text ? p.base.text : "0");
  put_lane_part(s, &p, out);
  tc_print_place_free(&p);
}

static void put_op(const tc_print_scope *s, const tc_expr *e, tc_buf *out) {
  const char *spelling = tc_op_get(e->op)->expr;
  if (s->words->op && s->words->op(s, e, out)) return;
  if (s->reduced_precision && s->reduced_precision[e - s->k->expr] && tc_print_approximation(e))
    spelling = tc_print_approximation(e);
  tc_dtype t = e->dtype;
  for (int i = 0; i < 3; ++i)
    if (e->in[i].id) t = s->k->expr[e->in[i].id].dtype;
  const bool uncontracted = e->reproducible && tc_dtype_is_float(t);
  if (uncontracted && e->op == OP_ADD) spelling = "tc_add_uncontracted_%t(%0, %1)";
  if (uncontracted && e->op == OP_SUB) spelling = "tc_sub_uncontracted_%t(%0, %1)";
  for (const char *c = spelling ? spelling : "0"; *c; ++c) {
    if (*c != '%') tc_putn(out, c, 1);
    else if (*++c == 't') tc_put(out, tc_print_compute(t));
    else tc_putf(out, "v%u", e->in[*c - '0'].id);
  }
}

static void put_cast(const tc_print_scope *s, const tc_expr *e, tc_buf *out) {
  const tc_dtype from = s->k->expr[e->in[0].id].dtype, to = e->dtype;
  const uint32_t v = e->in[0].id;
  const char *f = tc_print_compute(from), *t = tc_print_compute(to);
  if (from == to) tc_putf(out, "v%u", v);
  else if (to == TC_BOOL) tc_putf(out, "tc_ne_%s(v%u, tc_set_%s(0))", f, v, f);
  else if (tc_dtype_is_float(from) && !tc_dtype_is_float(to))
    tc_putf(out, "tc_%s_of_%s(v%u)", t, f, v);
  else tc_putf(out, "TC_CAST(%s, v%u)", t, v);
}

/* Are they uniforms of neighbours, whose blocks a loop may share? */
static bool is_random_run(const tc_print_scope *s, const tc_expr *e) {
  return s->words->random_runs && e->kind == TC_EX_RANDOM && e->op == OP_RAND && e->dtype == TC_F32 &&
         !e->address.nterm && tc_dim_is(tc_print_step(s, &e->address), 1) && !tc_print_varies(s, e->in[0]);
}

static void put_run(tc_print_scope *s, uint32_t id) {
  if (s->printed[id] & TC_PRINT_RUN || !is_random_run(s, &s->k->expr[id])) return;
  tc_print_line(s, "tc_random_run w%u;", id);
  tc_print_line(s, "w%u.first = TC_NO_RANDOM_RUN;", id);
  s->printed[id] |= TC_PRINT_RUN;
}

/* The number of an element: i64 in every lane. */
static void put_number(tc_print_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  if (e->address.nterm) {
    put_index(s, e, id, out);
    return;
  }
  tc_print_place p = tc_print_locate(s, &e->address, "");
  tc_put(out, "tc_set_i64(");
  tc_print_number(s, &e->address, out);
  tc_put(out, ")");
  put_lane_part(s, &p, out);
  tc_print_place_free(&p);
}

const char *tc_print_random_type(const tc_expr *e) {
  return tc_print_storage(e->dtype == TC_F32 && tc_dtype_is_half(e->storage) ? e->storage : e->dtype);
}

static void put_random(tc_print_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  const char *t = tc_print_random_type(e);
  tc_buf at = {0};
  if (s->printed[id] & TC_PRINT_RUN) {
    tc_print_number(s, &e->address, &at);
    tc_putf(out, "tc_randrun_%s(&w%u, v%u[0], %s)", t, id, e->in[0].id, at.text ? at.text : "");
  } else {
    put_number(s, e, id, &at);
    tc_putf(out, "tc_%s_%s(v%u, %s)", e->op == OP_RAND ? "rand" : "randn", t, e->in[0].id, at.text ? at.text : "");
  }
  tc_buf_free(&at);
}

static void put_scalar(const tc_expr *e, tc_buf *out) {
  if (e->dtype == TC_BOOL) tc_putf(out, "tc_set_b8(a%u != 0)", e->index);
  else tc_putf(out, "tc_set_%s(a%u)", tc_print_compute(e->dtype), e->index);
}

static void put_value(tc_print_scope *s, const tc_expr *e, uint32_t id, tc_buf *out) {
  switch (e->kind) {
  case TC_EX_NONE:
    break;
  case TC_EX_CONST:
    put_const(s, e, out);
    break;
  case TC_EX_SCALAR:
    put_scalar(e, out);
    break;
  case TC_EX_DIM:
    tc_putf(out, "tc_set_%s(", tc_print_compute(e->dtype));
    tc_dim_print(tc_graph_dims(s->p->graph), e->dim, s->words->size, out);
    tc_put(out, ")");
    break;
  case TC_EX_INDEX:
    put_index(s, e, id, out);
    break;
  case TC_EX_LOAD:
    if (!s->load || !s->load(s, id, out)) tc_print_load(s, id, out);
    break;
  case TC_EX_OP:
    put_op(s, e, out);
    break;
  case TC_EX_CAST:
    put_cast(s, e, out);
    break;
  case TC_EX_ROUND:
    tc_putf(out, "tc_round_%s(v%u)", tc_print_storage(e->storage), e->in[0].id);
    break;
  case TC_EX_RESULT:
    tc_put(out, s->result[e->index]);
    break;
  case TC_EX_RANDOM:
    put_random(s, e, id, out);
    break;
  }
}

/* const <prefix>T <letter><id> = <text>; */
static void put_named(tc_print_scope *s, uint32_t id, const char *prefix, char letter,
                      const tc_buf *text) {
  const tc_expr *e = &s->k->expr[id];
  char line[48] = ""; /* driver/lines.cpp reads it back */
  if (e->loc.line) snprintf(line, sizeof line, " /* line %u@%u */", e->loc.line, e->loc.file);
  tc_print_line(s, "const %s%s %c%u = %s;%s", prefix, tc_print_compute(e->dtype), letter, id,
                text->text ? text->text : "0", line);
  if (text->failed) s->out->failed = true;
}

static void put_lanes(tc_print_scope *s, uint32_t id) {
  const tc_expr *e = &s->k->expr[id];
  tc_buf text = {0};
  if (tc_print_is_single(s, id)) tc_putf(&text, "tc_set_%s(u%u)", tc_print_compute(e->dtype), id);
  else put_value(s, e, id, &text);
  const bool varies = tc_print_varies(s, (tc_val){id});
  put_named(s, id, varies ? s->words->vector : s->words->uniform, 'v', &text);
  tc_buf_free(&text);
}

static void put_single(tc_print_scope *s, uint32_t id) {
  tc_buf text = {0};
  if (!tc_print_single(s, id, &text)) tc_putf(&text, "v%u[0]", id);
  put_named(s, id, s->words->single, 'u', &text);
  tc_buf_free(&text);
}

/* In the order that what they are made of demands. */
static void put_definition(tc_print_scope *s, uint32_t id, uint8_t forms) {
  const bool first = tc_print_is_single(s, id);
  if (first && forms & TC_PRINT_SINGLE) put_single(s, id);
  if (forms & TC_PRINT_LANES) put_lanes(s, id);
  if (!first && forms & TC_PRINT_SINGLE) put_single(s, id);
  s->printed[id] |= forms;
}

/* ---- walks ----------------------------------------------------------------------------------- */

static void mark_terms(uint8_t *need, const tc_address *a) {
  for (int j = 0; j < a->nterm; ++j) need[a->term[j].value.id] |= TC_PRINT_LANES;
}

/* The forms in which everything is needed that marked values are made of, but for those that are
 * printed. */
static void mark_forms(const tc_print_scope *s, uint8_t *need) {
  for (uint32_t i = s->k->nexpr; i-- > 1;) {
    if (!(need[i] & ~s->printed[i])) continue;
    const tc_expr *e = &s->k->expr[i];
    const bool single = tc_print_is_single(s, i);
    need[i] |= single ? TC_PRINT_SINGLE : tc_print_is_leaf(s, i) ? 0 : TC_PRINT_LANES;
    for (int j = 0; j < 3; ++j) need[e->in[j].id] |= single ? TC_PRINT_SINGLE : TC_PRINT_LANES;
    need[e->guard.id] |= TC_PRINT_LANES;
    if (tc_expr_has_address(e)) mark_terms(need, &e->address);
  }
}

static void print_marked(tc_print_scope *s, uint8_t *need, uint32_t mask) {
  mark_forms(s, need);
  for (uint32_t i = 1; i < s->k->nexpr; ++i) {
    const uint8_t forms = need[i] & ~s->printed[i];
    if (forms && (s->depends[i] & ~mask) == 0) put_definition(s, i, forms);
    else if (forms) put_run(s, i);
  }
}

static uint8_t *new_marks(tc_print_scope *s) {
  uint8_t *need = calloc(s->k->nexpr + 1, 1);
  if (!need) s->out->failed = true;
  return need;
}

static void print_form(tc_print_scope *s, tc_val v, uint8_t form, uint32_t mask) {
  uint8_t *need = v.id ? new_marks(s) : NULL;
  if (!need) return;
  need[v.id] = form;
  print_marked(s, need, mask);
  free(need);
}

void tc_print_hoist(tc_print_scope *s, tc_val v, uint32_t mask) {
  print_form(s, v, TC_PRINT_LANES, mask);
}

void tc_print_value(tc_print_scope *s, tc_val v) { print_form(s, v, TC_PRINT_LANES, ~0u); }

void tc_print_one(tc_print_scope *s, tc_val v) { print_form(s, v, TC_PRINT_SINGLE, ~0u); }

void tc_print_hoist_action(tc_print_scope *s, const tc_action *a, uint32_t mask) {
  uint8_t *need = new_marks(s);
  if (!need) return;
  tc_action action = *a;
  action.term.id = 0; /* its RESULT is not there yet */
  tc_mark_action(&action, need); /* TC_PRINT_LANES */
  print_marked(s, need, mask);
  free(need);
}

void tc_print_hoist_stage(tc_print_scope *s, const tc_stage *st, uint32_t mask) {
  for (uint32_t i = 0; i < st->naction; ++i) tc_print_hoist_action(s, &st->action[i], mask);
}

uint8_t *tc_print_enter(tc_print_scope *s) {
  uint8_t *outer = s->printed, *inner = malloc(s->k->nexpr + 1);
  if (!inner) {
    s->out->failed = true;
    return NULL;
  }
  memcpy(inner, outer, s->k->nexpr);
  s->printed = inner;
  return outer;
}

void tc_print_leave(tc_print_scope *s, uint8_t *outer) {
  if (!outer) return;
  free(s->printed);
  s->printed = outer;
}

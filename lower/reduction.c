/* reduction.c - the columns of the table of reductions as expressions: what combining two tuples,
 * and lifting an element, means to printers, to lowering and to an interpreter. */
#include "lower/loop.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tc_dtype tc_accumulator_dtype(tc_reducer r, int i, tc_dtype element) {
  return tc_reducer_get(r)->keep[i].type == TC_ACCUMULATES_POSITION ? TC_I64 : element;
}

/* The ends of an integer dtype; of bool, false and true. */
static int64_t least_of(tc_dtype d) {
  const int bits = 8 * (int)tc_dtype_bytes(d);
  return d == TC_BOOL || d == TC_U8 ? 0 : -(int64_t)((uint64_t)1 << (bits - 2)) * 2;
}

static int64_t most_of(tc_dtype d) {
  return d == TC_BOOL ? 1 : d == TC_U8 ? 255 : -(least_of(d) + 1);
}

tc_expr tc_accumulator_identity(tc_reducer r, int i, tc_dtype element) {
  const tc_identity id = tc_reducer_get(r)->keep[i].identity;
  const tc_dtype d = tc_accumulator_dtype(r, i, element);
  tc_expr e = {.kind = TC_EX_CONST, .dtype = d};
  switch (id) {
  case TC_IDENTITY_ZERO:
  case TC_IDENTITY_ONE: e.i = id == TC_IDENTITY_ONE, e.f = (double)e.i; break;
  case TC_IDENTITY_LEAST: e.i = least_of(d), e.f = -INFINITY; break;
  case TC_IDENTITY_MOST: e.i = most_of(d), e.f = INFINITY; break;
  }
  return e;
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef enum { LIFT, COMBINE, LATER, TERM, RESCALE } column;

typedef struct reader {
  const char *at;
  tc_reducer reducer;
  tc_dtype element;
  column column;
  tc_rule *rule;
  bool ok;
} reader;

static bool is_same(const tc_expr *a, const tc_expr *b) {
  return a->kind == b->kind && a->op == b->op && a->index == b->index && a->dtype == b->dtype &&
         !(a->f < b->f || a->f > b->f) && !memcmp(a->in, b->in, sizeof a->in);
}

/* The value of e, which equal expressions share. */
static tc_val add(reader *r, const tc_expr *e) {
  tc_kernel *k = &r->rule->kernel;
  for (uint32_t id = 1; id < k->nexpr; id++)
    if (is_same(&k->expr[id], e)) return (tc_val){id};
  if (k->nexpr == TC_RULE_EXPRS) r->ok = false;
  else k->expr[k->nexpr++] = *e;
  return (tc_val){r->ok ? k->nexpr - 1 : 0};
}

static tc_val take(reader *r, uint32_t index, tc_dtype d) {
  const tc_expr e = {.kind = TC_EX_RESULT, .index = index, .dtype = d};
  return add(r, &e);
}

/* LOWEST and HIGHEST. */
static tc_val end_of_finite(reader *r, bool highest) {
  const double most = r->element == TC_F32 ? FLT_MAX : DBL_MAX;
  const tc_expr e = {.kind = TC_EX_CONST, .dtype = r->element, .f = highest ? most : -most};
  return add(r, &e);
}

/* The accumulators of a tuple, a0, a1, .., of which RESULT `first` is the first. */
static tc_val read_accumulator(reader *r, const char *name, char tuple, int count, int first) {
  const int i = name[1] - '0';
  if (*name != tuple || i < 0 || i >= count) return (tc_val){0};
  return take(r, (uint32_t)(first + i), tc_accumulator_dtype(r->reducer, i, r->element));
}

static bool is_name(const char *name, size_t length, const char *text) {
  return length == strlen(text) && !memcmp(name, text, length);
}

static tc_val read_name(reader *r, const char *name, size_t length) {
  const int n = tc_reducer_get(r->reducer)->n;
  const bool of_element = r->column == LIFT || r->column == TERM;
  tc_val v = {0};
  if (is_name(name, length, "LOWEST") || is_name(name, length, "HIGHEST"))
    return end_of_finite(r, *name == 'H');
  if (of_element && is_name(name, length, "x")) return take(r, 0, r->element);
  if (r->column == LATER && is_name(name, length, "x")) return take(r, 2, r->element);
  if (r->column == LIFT && is_name(name, length, "i")) return take(r, 1, TC_I64);
  if (length == 2 && r->column == COMBINE) v = read_accumulator(r, name, 'a', n, 0);
  if (length == 2 && r->column == COMBINE && !v.id) v = read_accumulator(r, name, 'b', n, n);
  if (length == 2 && (r->column == RESCALE || r->column == LATER))
    v = read_accumulator(r, name, 'a', 1, 0);
  if (length == 2 && r->column >= LATER && !v.id) v = read_accumulator(r, name, 'r', 1, 1);
  r->ok = r->ok && v.id;
  return v;
}

static bool accept(reader *r, char c) {
  while (*r->at == ' ') r->at++;
  if (*r->at != c) return false;
  r->at++;
  return true;
}

/* Of its last operand, or bool: conditions come first. */
static tc_dtype type_of(const tc_kernel *k, const tc_expr *e) {
  if (tc_op_get(e->op)->computes_in != TC_IN_RESULT) return TC_BOOL;
  tc_dtype d = TC_BOOL;
  for (int i = 0; i < 3; i++)
    if (e->in[i].id) d = k->expr[e->in[i].id].dtype;
  return d;
}

static tc_val read_value(reader *r) {
  char name[32];
  size_t length = 0;
  while (*r->at == ' ') r->at++;
  const char *const from = r->at;
  while (isalnum((unsigned char)*r->at) || *r->at == '_') r->at++, length++;
  if (!length || length >= sizeof name) r->ok = false;
  if (!r->ok || !accept(r, '(')) return r->ok ? read_name(r, from, length) : (tc_val){0};
  snprintf(name, sizeof name, "%.*s", (int)length, from);
  tc_expr e = {.kind = TC_EX_OP, .op = tc_op_find(name)};
  int n = 0;
  do {
    const tc_val v = read_value(r);
    if (n < 3) e.in[n] = v;
    n++;
  } while (r->ok && accept(r, ','));
  const tc_op_info *op = tc_op_get(e.op);
  r->ok = r->ok && accept(r, ')') && op && op->expr && n >= op->min_in && n <= op->max_in;
  if (!r->ok) return (tc_val){0};
  e.dtype = type_of(&r->rule->kernel, &e);
  /* what x was when it joined accumulator 0 */
  e.reproducible = r->column == TERM && e.op == OP_SUB;
  return add(r, &e);
}

static const char *text_of(const tc_accumulator *a, column c) {
  const char *const text[] = {[LIFT] = a->lift,
                              [COMBINE] = a->combine,
                              [LATER] = a->later,
                              [TERM] = a->term,
                              [RESCALE] = a->rescale};
  return text[c];
}

static tc_dtype type_of_column(tc_reducer r, int i, tc_dtype element, column c) {
  return c == LATER ? TC_BOOL : tc_accumulator_dtype(r, i, element);
}

/* The values of the accumulators from `first` on. */
static bool read_rule(tc_reducer reducer, tc_dtype element, column c, int first, tc_rule *rule) {
  const tc_reducer_info *info = tc_reducer_get(reducer);
  reader r = {.reducer = reducer, .element = element, .column = c, .rule = rule, .ok = true};
  memset(rule, 0, sizeof *rule);
  rule->kernel.expr = rule->expr;
  rule->kernel.nexpr = 1;
  for (int i = first; i < info->n && r.ok; i++) {
    r.at = text_of(&info->keep[i], c);
    rule->value[i] = read_value(&r);
    r.ok = r.ok && !*r.at &&
           rule->expr[rule->value[i].id].dtype == type_of_column(reducer, i, element, c);
  }
  return r.ok;
}

bool tc_combine_rule(tc_reducer r, tc_dtype element, tc_rule *rule) {
  return read_rule(r, element, COMBINE, 0, rule);
}

bool tc_lift_rule(tc_reducer r, tc_dtype element, tc_rule *rule) {
  return read_rule(r, element, LIFT, 0, rule);
}

bool tc_reducer_has_later(tc_reducer r) {
  const tc_reducer_info *info = tc_reducer_get(r);
  return info->n == 2 && info->keep[1].later;
}

bool tc_later_rule(tc_reducer r, tc_dtype element, tc_rule *rule) {
  return tc_reducer_has_later(r) && read_rule(r, element, LATER, 1, rule);
}

bool tc_reducer_has_terms(tc_reducer r) {
  const tc_reducer_info *info = tc_reducer_get(r);
  return info->n == 2 && info->keep[1].term;
}

bool tc_term_rule(tc_reducer r, tc_dtype element, tc_rule *rule) {
  return tc_reducer_has_terms(r) && read_rule(r, element, TERM, 1, rule);
}

bool tc_rescale_rule(tc_reducer r, tc_dtype element, tc_rule *rule) {
  return tc_reducer_has_terms(r) && read_rule(r, element, RESCALE, 1, rule);
}

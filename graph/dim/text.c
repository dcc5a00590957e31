/* Symbolic sizes as text: printing (for people, and as C), parsing, and the value for given
 * symbols. */
#include "graph/dim/dim_impl.h"

#include <inttypes.h>
#include <string.h>

/* ---- printing -------------------------------------------------------------------------------- */

static void put_dim(const tc_dims *c, tc_dim d, const char *prefix, tc_buf *out);

static void put_grouped(const tc_dims *c, tc_dim d, const char *prefix, tc_buf *out) {
  bool simple = tc_dim_is_sym(c, d, NULL) || (tc_dim_is_const(d) && tc_dim_value(d) >= 0);
  if (!simple) tc_put(out, "(");
  put_dim(c, d, prefix, out);
  if (!simple) tc_put(out, ")");
}

static void put_infix(const tc_dims *c, const dim_atom *a, const char *op, const char *prefix,
                      tc_buf *out) {
  put_grouped(c, a->a, prefix, out);
  tc_put(out, op);
  put_grouped(c, a->b, prefix, out);
}

/* C division truncates: where an operand may be negative the quotient or remainder is corrected, by
 * one where the remainder has another sign than the divisor.  By a size that is 0 both are 0:
 * whatever they count is empty then, or what is known of the size is about to be refused by a guard,
 * for guards and what they choose between are computed in front of the checks. */
static void put_c_division(const tc_dims *c, const dim_atom *a, const char *prefix, tc_buf *out) {
  bool div = a->kind == ATOM_DIV;
  tc_dims *know = (tc_dims *)c; /* range queries only fill caches */
  bool plain =
      tc_dim_known_le(know, tc_dim_const(0), a->a) && tc_dim_known_le(know, tc_dim_const(0), a->b);
  tc_put(out, "(");
  if (!tc_dim_is_const(a->b)) {
    put_grouped(c, a->b, prefix, out);
    tc_put(out, " == 0 ? 0 : ");
  }
  put_infix(c, a, div ? " / " : " % ", prefix, out);
  if (!plain && tc_dim_known_le(know, tc_dim_const(1), a->b)) {
    tc_put(out, div ? " - (" : " + (");
    put_infix(c, a, " % ", prefix, out);
    tc_put(out, div ? " < 0)" : " < 0) * ");
    if (!div) put_grouped(c, a->b, prefix, out);
  } else if (!plain) {
    tc_put(out, div ? " - (" : " + (");
    put_infix(c, a, " % ", prefix, out);
    tc_put(out, " != 0 && (");
    put_grouped(c, a->a, prefix, out);
    tc_put(out, " < 0) != (");
    put_grouped(c, a->b, prefix, out);
    tc_put(out, div ? " < 0))" : " < 0)) * ");
    if (!div) put_grouped(c, a->b, prefix, out);
  }
  tc_put(out, ")");
}

static void put_choice(const tc_dims *c, const dim_atom *a, const char *prefix, tc_buf *out) {
  if (!prefix) {
    tc_put(out, a->kind == ATOM_MIN ? "min(" : "max(");
    put_dim(c, a->a, prefix, out);
    tc_put(out, ", ");
    put_dim(c, a->b, prefix, out);
    tc_put(out, ")");
    return;
  }
  tc_put(out, "(");
  put_infix(c, a, a->kind == ATOM_MIN ? " < " : " > ", prefix, out);
  tc_put(out, " ? ");
  put_dim(c, a->a, prefix, out);
  tc_put(out, " : ");
  put_dim(c, a->b, prefix, out);
  tc_put(out, ")");
}

static void put_atom(const tc_dims *c, uint32_t id, const char *prefix, tc_buf *out) {
  const dim_atom *a = c->atom.at[id];
  if (a->kind == ATOM_SYM) tc_putf(out, "%s%s", prefix ? prefix : "", c->sym.at[a->sym]->name);
  else if (a->kind == ATOM_MIN || a->kind == ATOM_MAX) put_choice(c, a, prefix, out);
  else if (prefix) put_c_division(c, a, prefix, out);
  else {
    tc_put(out, "(");
    put_infix(c, a, a->kind == ATOM_DIV ? "/" : "%", prefix, out);
    tc_put(out, ")");
  }
}

static void put_term(const tc_dims *c, dim_term t, bool first, const char *prefix, tc_buf *out) {
  const char *space = prefix ? " " : "", *times = prefix ? " * " : "*";
  uint64_t magnitude = t.coef < 0 ? 0 - (uint64_t)t.coef : (uint64_t)t.coef;
  const dim_mono *m = c->mono.at[t.mono];
  if (!first) tc_putf(out, "%s%c%s", space, t.coef < 0 ? '-' : '+', space);
  else if (t.coef < 0) tc_put(out, "-");
  if (magnitude != 1 || !m->n) tc_putf(out, "%" PRIu64 "%s", magnitude, m->n ? times : "");
  for (uint32_t i = 0; i < m->n; i++) {
    if (i) tc_put(out, times);
    put_atom(c, m->atom[i], prefix, out);
  }
}

static void put_dim(const tc_dims *c, tc_dim d, const char *prefix, tc_buf *out) {
  if (tc_dim_bad(d) || (!c && !tc_dim_is_const(d))) return tc_put(out, "?");
  if (tc_dim_is_const(d)) return tc_putf(out, "%" PRId64, tc_dim_value(d));
  const dim_poly *p = dim_poly_of(c, d);
  for (uint32_t i = 0; i < p->n; i++) put_term(c, p->term[i], i == 0, prefix, out);
}

void tc_dim_print(const tc_dims *c, tc_dim d, const char *prefix, tc_buf *out) {
  bool sum = prefix && c && dim_poly_of(c, d) && dim_poly_of(c, d)->n > 1;
  if (sum) tc_put(out, "(");
  put_dim(c, d, prefix, out);
  if (sum) tc_put(out, ")");
}

/* ---- parsing: expr = term {+- term}, term = factor {*  / % factor} --------------------------- */

enum { MAX_NESTING = 200 };

typedef struct {
  tc_dims *c;
  const char *at, *error;
  int depth;
} parser;

static tc_dim parse_sum(parser *p);

static tc_dim fail(parser *p) {
  if (!p->error) p->error = p->at;
  return TC_DIM_INVALID;
}

static void skip_space(parser *p) {
  while (*p->at == ' ' || *p->at == '\t') p->at++;
}

static bool accept(parser *p, char ch) {
  skip_space(p);
  if (*p->at != ch) return false;
  p->at++;
  return true;
}

static bool is_name(char ch, bool first) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' ||
         (!first && ch >= '0' && ch <= '9');
}

static tc_dim parse_number(parser *p) {
  const char *start = p->at;
  int64_t v = 0;
  for (; *p->at >= '0' && *p->at <= '9'; p->at++) {
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p->at - '0', &v)) {
      p->at = start;
      return fail(p);
    }
  }
  tc_dim d = is_name(*p->at, true) ? TC_DIM_INVALID : tc_dim_const(v);
  if (tc_dim_bad(d)) p->at = start;
  return tc_dim_bad(d) ? fail(p) : d;
}

static tc_dim parse_choice(parser *p, bool least) {
  tc_dim a = parse_sum(p);
  if (!accept(p, ',')) return fail(p);
  tc_dim b = parse_sum(p);
  if (!accept(p, ')')) return fail(p);
  if (p->error) return TC_DIM_INVALID;
  return least ? tc_dim_min(p->c, a, b) : tc_dim_max(p->c, a, b);
}

static tc_dim parse_name(parser *p) {
  const char *start = p->at;
  while (is_name(*p->at, false)) p->at++;
  size_t n = (size_t)(p->at - start);
  bool least = n == 3 && !memcmp(start, "min", 3);
  if ((least || (n == 3 && !memcmp(start, "max", 3))) && accept(p, '('))
    return parse_choice(p, least);
  tc_buf name = {0};
  tc_putn(&name, start, n);
  uint32_t sym;
  tc_dim d = TC_DIM_INVALID;
  if (!name.failed && p->c) {
    bool known = tc_dim_find_sym(p->c, name.text, &sym);
    d = known ? tc_dim_norm(p->c, tc_dims_sym_dim(p->c, sym))
              : tc_dim_sym(p->c, name.text, 0, INT64_MAX, 1);
  }
  tc_buf_free(&name);
  return tc_dim_bad(d) ? fail(p) : d;
}

static tc_dim parse_factor(parser *p) {
  skip_space(p);
  tc_dim d;
  if (++p->depth > MAX_NESTING) d = fail(p);
  else if (accept(p, '-')) d = tc_dim_sub(p->c, tc_dim_const(0), parse_factor(p));
  else if (accept(p, '(')) {
    d = parse_sum(p);
    if (!accept(p, ')')) d = fail(p);
  } else if (*p->at >= '0' && *p->at <= '9') d = parse_number(p);
  else if (is_name(*p->at, true)) d = parse_name(p);
  else d = fail(p);
  p->depth--;
  return d;
}

static tc_dim parse_product(parser *p) {
  tc_dim d = parse_factor(p);
  while (!p->error) {
    skip_space(p);
    const char *op = p->at;
    if (*op != '*' && *op != '/' && *op != '%') break;
    p->at++;
    tc_dim b = parse_factor(p);
    if (p->error) break;
    d = *op == '*'   ? tc_dim_mul(p->c, d, b)
        : *op == '/' ? tc_dim_div(p->c, d, b)
                     : tc_dim_mod(p->c, d, b);
    if (tc_dim_bad(d)) p->error = op; /* overflow, or division by zero */
  }
  return p->error ? TC_DIM_INVALID : d;
}

static tc_dim parse_sum(parser *p) {
  tc_dim d = parse_product(p);
  while (!p->error) {
    skip_space(p);
    const char *op = p->at;
    if (*op != '+' && *op != '-') break;
    p->at++;
    tc_dim b = parse_product(p);
    if (p->error) break;
    d = *op == '+' ? tc_dim_add(p->c, d, b) : tc_dim_sub(p->c, d, b);
    if (tc_dim_bad(d)) p->error = op;
  }
  return p->error ? TC_DIM_INVALID : d;
}

tc_dim tc_dim_parse(tc_dims *c, const char *text, const char **end, const char **error_at) {
  parser p = {.c = c, .at = text};
  tc_dim d = parse_sum(&p);
  if (end) *end = p.at;
  if (error_at) *error_at = p.error;
  return p.error ? TC_DIM_INVALID : d;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool atom_value(const tc_dims *c, const dim_atom *a, const int64_t *sym, int64_t *v) {
  int64_t x, y;
  if (a->kind == ATOM_SYM) return *v = sym[a->sym], true;
  if (!tc_dim_eval(c, a->a, sym, &x) || !tc_dim_eval(c, a->b, sym, &y)) return false;
  switch (a->kind) {
  case ATOM_DIV:
    if (!y || (x == INT64_MIN && y == -1)) return false;
    return *v = floor_div(x, y), true;
  case ATOM_MOD:
    if (!y) return false;
    return *v = floor_mod(x, y), true;
  case ATOM_MIN:
    return *v = x < y ? x : y, true;
  default:
    return *v = x > y ? x : y, true;
  }
}

bool tc_dim_eval(const tc_dims *c, tc_dim d, const int64_t *sym, int64_t *value) {
  if (tc_dim_is_const(d)) return *value = tc_dim_value(d), true;
  if (tc_dim_bad(d) || !c) return false;
  const dim_poly *p = dim_poly_of(c, d);
  int64_t sum = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    const dim_mono *m = c->mono.at[p->term[i].mono];
    int64_t t = p->term[i].coef, v;
    for (uint32_t j = 0; j < m->n; j++)
      if (!atom_value(c, c->atom.at[m->atom[j]], sym, &v) || __builtin_mul_overflow(t, v, &t))
        return false;
    if (__builtin_add_overflow(sum, t, &sum)) return false;
  }
  *value = sum;
  return true;
}

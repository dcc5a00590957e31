/* Reading TC_SHAPE text: "f32[B<=64,T%8,2*N+1,768]".
 *
 * A size is an expression, or a name with facts about it: upper and lower bounds and a multiple, in
 * any number and order ("1<=B<=64", "T<=4096%8").  `N%8` says that N is a multiple of 8; the
 * remainder is written in parentheses: (N%8). */
#include "graph/graph.h"

#include <string.h>

typedef struct {
  tc_dims *c;
  const char *text, *at, *error, *error_at;
} reader;

static bool fail(reader *r, const char *at, const char *why) {
  r->error = why;
  r->error_at = at;
  return false;
}

static void skip_space(reader *r) {
  while (*r->at == ' ' || *r->at == '\t') r->at++;
}

static bool accept(reader *r, const char *s) {
  skip_space(r);
  size_t n = strlen(s);
  if (strncmp(r->at, s, n)) return false;
  r->at += n;
  return true;
}

static bool is_digit(char ch) { return ch >= '0' && ch <= '9'; }
static bool is_name(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || is_digit(ch);
}

static bool read_int(reader *r, int64_t *v) {
  skip_space(r);
  const char *start = r->at;
  if (!is_digit(*start)) return fail(r, start, "expected an integer");
  for (*v = 0; is_digit(*r->at); r->at++)
    if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, *r->at - '0', v))
      return fail(r, start, "the number exceeds 64 bits");
  return tc_dim_bad(tc_dim_const(*v)) ? fail(r, start, "the number exceeds 64 bits") : true;
}

/* "<=" or "<": a bound that is inclusive or not. */
static bool accept_less(reader *r, char sign, int *strict) {
  skip_space(r);
  if (*r->at != sign) return false;
  r->at++;
  *strict = *r->at != '=';
  if (!*strict) r->at++;
  return true;
}

typedef struct {
  int64_t lo, hi, multiple;
} facts;

static bool read_facts(reader *r, facts *f) {
  for (;;) {
    int strict;
    int64_t v;
    if (accept_less(r, '<', &strict)) {
      if (!read_int(r, &v)) return false;
      if (v - strict < f->hi) f->hi = v - strict;
    } else if (accept_less(r, '>', &strict)) {
      if (!read_int(r, &v)) return false;
      if (v + strict > f->lo) f->lo = v + strict;
    } else if (accept(r, "%")) {
      const char *at = r->at;
      if (!read_int(r, &v)) return false;
      if (v < 1) return fail(r, at, "a multiple must be at least 1");
      f->multiple = v; /* a second one is combined by the symbol */
    } else return true;
  }
}

static bool declare(reader *r, const char *name, size_t n, const facts *f, tc_dim *d) {
  tc_buf b = {0};
  tc_putn(&b, name, n);
  *d = b.failed ? TC_DIM_INVALID : tc_dim_sym(r->c, b.text, f->lo, f->hi, f->multiple);
  tc_buf_free(&b);
  return tc_dim_bad(*d) ? fail(r, name, "this contradicts what is known of the size") : true;
}

/* A name followed by facts, or preceded by "1<=".  false without an error: it is an expression. */
static bool read_named(reader *r, tc_dim *d) {
  facts f = {0, INT64_MAX, 1};
  int strict = 0;
  const char *start = r->at;
  if (is_digit(*r->at)) {
    int64_t lo;
    if (!read_int(r, &lo)) return false;
    if (!accept_less(r, '<', &strict)) return r->at = start, false;
    f.lo = lo + strict;
    skip_space(r);
    if (!is_name(*r->at) || is_digit(*r->at)) return fail(r, r->at, "expected a name");
  }
  const char *name = r->at;
  while (is_name(*r->at)) r->at++;
  size_t n = (size_t)(r->at - name);
  skip_space(r);
  bool has_facts = name != start || *r->at == '<' || *r->at == '>' || *r->at == '%';
  if (!n || is_digit(*name) || !has_facts) return r->at = start, false;
  return read_facts(r, &f) && declare(r, name, n, &f, d);
}

static bool read_size(reader *r, tc_dim *d) {
  skip_space(r);
  const char *start = r->at, *end, *error_at;
  int64_t lo, hi;
  if (read_named(r, d)) return true;
  if (r->error) return false;
  *d = tc_dim_parse(r->c, r->at, &end, &error_at);
  if (error_at) return fail(r, error_at, *error_at ? "this is not a size" : "the text ends here");
  r->at = end;
  tc_dim_range(r->c, *d, &lo, &hi);
  return hi < 0 ? fail(r, start, "a size must not be negative") : true;
}

static bool read_type(reader *r, tc_type *t) {
  tc_dtype dtype;
  skip_space(r);
  const char *start = r->at;
  while (is_name(*r->at)) r->at++;
  if (!tc_dtype_parse(start, (size_t)(r->at - start), &dtype))
    return fail(r, start,
                "unknown element type; known are bool u8 i8 i16 i32 i64 f16 bf16 f32 f64");
  *t = (tc_type){.dtype = (uint8_t)dtype};
  if (!accept(r, "[")) return *r->at ? fail(r, r->at, "expected '['") : true;
  if (!accept(r, "]")) {
    do {
      if (t->rank == TC_MAX_RANK) return fail(r, r->at, "more than 8 sizes");
      if (!read_size(r, &t->dim[t->rank++])) return false;
    } while (accept(r, ","));
    if (!accept(r, "]")) return fail(r, r->at, "expected ',' or ']'");
  }
  skip_space(r);
  if (*r->at) return fail(r, r->at, "unexpected text behind the shape");
  return tc_dim_bad(tc_type_numel(r->c, t)) ? fail(r, start, "size product exceeds 64 bits") : true;
}

bool tc_type_parse(tc_dims *c, const char *text, tc_type *t, const char **error, size_t *at) {
  reader r = {.c = c, .text = text, .at = text};
  bool ok = read_type(&r, t);
  if (error) *error = r.error;
  if (at) *at = ok ? 0 : (size_t)(r.error_at - text);
  return ok;
}

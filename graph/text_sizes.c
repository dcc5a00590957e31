/* text_sizes.c - see text_sizes.h. */
#include "graph/text_sizes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing -------------------------------------------------------------------------------- */

static void put_bound(tc_buf *out, int64_t v) {
  if (v == INT64_MIN) tc_put(out, "-inf");
  else if (v == INT64_MAX) tc_put(out, "inf");
  else tc_putf(out, "%" PRId64, v);
}

static bool is_scalar(const tc_sym *s) { return s->input >= 0 && s->axis < 0; }

void tc_put_symbol(const tc_sym *s, tc_buf *out) {
  const bool any = s->lo == 0 && s->hi == INT64_MAX && s->multiple == 1;
  tc_put(out, s->name);
  if (!any || is_scalar(s)) {
    tc_put(out, " ");
    put_bound(out, s->lo);
    tc_put(out, "..");
    put_bound(out, s->hi);
  }
  if (s->multiple != 1) tc_putf(out, " %%%" PRId64, s->multiple);
  if (is_scalar(s)) tc_putf(out, " = scalar %" PRId32, s->input);
  if (s->input == TC_SYM_OWN) tc_put(out, " = own");
  if (s->pitch) tc_putf(out, " = pitch %" PRId32 " %" PRId32, s->input, s->axis);
}

void tc_put_symbols(tc_dims *c, tc_buf *out) {
  for (uint32_t i = 0; i < tc_dims_sym_count(c); i++) {
    const tc_sym *s = tc_dims_sym(c, i);
    if (s->lo == 0 && s->hi == INT64_MAX && s->multiple == 1 && !is_scalar(s)) continue;
    tc_put(out, "sym ");
    tc_put_symbol(s, out);
    tc_put(out, "\n");
  }
}

void tc_put_assumptions(tc_dims *c, tc_buf *out) {
  const tc_dim_pair *pair;
  const tc_dim_bound *bound;
  uint32_t n = tc_dims_assumed(c, &pair), m = tc_dims_bounds(c, &bound);
  for (uint32_t i = 0; i < n; i++) {
    tc_put(out, "assume ");
    tc_dim_print_ordered(c, pair[i].a, out);
    tc_put(out, " = ");
    tc_dim_print_ordered(c, pair[i].b, out);
    tc_put(out, "\n");
  }
  for (uint32_t i = 0; i < m; i++) {
    if (tc_dim_is_sym(c, bound[i].d, NULL)) continue; /* its sym line says it */
    tc_put(out, "assume ");
    tc_dim_print_ordered(c, bound[i].d, out);
    tc_put(out, " in ");
    put_bound(out, bound[i].lo);
    tc_put(out, "..");
    put_bound(out, bound[i].hi);
    tc_put(out, "\n");
  }
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_bound(tc_words *w, int64_t *v) {
  if (tc_words_accept(w, "-inf")) return *v = INT64_MIN, true;
  if (tc_words_accept(w, "inf")) return *v = INT64_MAX, true;
  return tc_words_int(w, v);
}

static bool read_bounds(tc_words *w, int64_t *lo, int64_t *hi) {
  return read_bound(w, lo) && tc_words_expect(w, "..") && read_bound(w, hi);
}

bool tc_words_dtype(tc_words *w, tc_dtype *d) {
  const char *s;
  size_t n = tc_words_next(w, &s);
  return tc_dtype_parse(s, n, d) || tc_words_fail(w, "unknown element type '%.*s'", (int)n, s);
}

bool tc_words_dim(tc_words *w, tc_dims *c, tc_dim *d) {
  const char *end, *error;
  *d = tc_dim_parse(c, w->at, &end, &error);
  if (error) return tc_words_fail(w, "not a size: \"%.20s\"", error);
  w->at = end;
  return true;
}

bool tc_words_number(tc_words *w, double *v) {
  char *end;
  tc_words_skip(w);
  *v = strtod(w->at, &end);
  if (end == w->at) return tc_words_fail(w, "expected a number before \"%.20s\"", w->at);
  w->at = end;
  tc_words_accept(w, "INITY"); /* of INFINITY, for C libraries that read INF only */
  return true;
}

bool tc_words_type(tc_words *w, tc_dims *c, tc_type *t) {
  const char *error;
  size_t at;
  bool weak = tc_words_accept_word(w, "weak");
  tc_words_skip(w);
  size_t n = strcspn(w->at, "]");
  tc_buf text = {0};
  tc_putn(&text, w->at, n + (w->at[n] == ']'));
  if (text.failed) return tc_words_fail(w, "out of memory");
  bool ok = tc_type_parse(c, text.text, t, &error, &at);
  if (!ok) tc_words_fail(w, "%s: \"%.20s\"", error, text.text + at);
  w->at += text.len;
  tc_buf_free(&text);
  t->weak = weak;
  return ok;
}

static bool read_pitch(tc_words *w, tc_sym *s) {
  int64_t input, axis;
  if (!tc_words_int(w, &input) || !tc_words_int(w, &axis)) return false;
  if (input < 0 || input > INT32_MAX || axis < 1 || axis >= TC_MAX_RANK)
    return tc_words_fail(w, "no rows of an input");
  s->input = (int32_t)input, s->axis = (int32_t)axis, s->pitch = true;
  return true;
}

/* Where its value comes from, if that is no size of an input. */
static bool read_origin(tc_words *w, tc_sym *s) {
  int64_t scalar;
  if (!tc_words_accept(w, "=")) return true;
  if (tc_words_accept_word(w, "own")) return s->input = TC_SYM_OWN, true;
  if (tc_words_accept_word(w, "pitch")) return read_pitch(w, s);
  if (!tc_words_expect(w, "scalar") || !tc_words_int(w, &scalar)) return false;
  if (scalar < 0 || scalar > INT32_MAX) return tc_words_fail(w, "no such scalar");
  return s->input = (int32_t)scalar, true;
}

bool tc_words_symbol(tc_words *w, tc_dims *c) {
  const char *start;
  size_t n = tc_words_next(w, &start);
  int64_t lo = 0, hi = INT64_MAX, multiple = 1;
  uint32_t sym;
  if (!n) return tc_words_fail(w, "expected a name");
  if (!tc_words_end(w) && !strchr("%=,", *w->at) && !read_bounds(w, &lo, &hi)) return false;
  if (tc_words_accept(w, "%") && !tc_words_int(w, &multiple)) return false;
  tc_buf name = {0};
  tc_putn(&name, start, n);
  const bool known = name.text && !tc_dim_bad(tc_dim_sym(c, name.text, lo, hi, multiple)) &&
                     tc_dim_find_sym(c, name.text, &sym);
  tc_buf_free(&name);
  if (!known) return tc_words_fail(w, "%.*s contradicts what is known of it", (int)n, start);
  return read_origin(w, tc_dims_sym(c, sym));
}

bool tc_words_assumption(tc_words *w, tc_dims *c) {
  tc_dim a, b;
  int64_t lo, hi;
  if (!tc_words_dim(w, c, &a)) return false;
  if (tc_words_accept_word(w, "in")) {
    if (!read_bounds(w, &lo, &hi)) return false;
    return tc_dim_assume_range(c, a, lo, hi) || tc_words_fail(w, "the assumption cannot hold");
  }
  if (!tc_words_expect(w, "=") || !tc_words_dim(w, c, &b)) return false;
  return !tc_dim_bad(tc_dim_unify(c, a, b)) || tc_words_fail(w, "the assumption cannot hold");
}

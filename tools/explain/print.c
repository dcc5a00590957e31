/* print.c - rows for people, and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "graph/dim/dim.h"
#include "tools/explain/explain.h"

/* ---- expressions of sizes -------------------------------------------------------------------- */

/* Where a text stands, which says what its sizes are called. */
typedef struct place {
  const explain_rows *rows;
  size_t row;
  const explain_sizes *sizes;
} place;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *value_of(const place *at, const char *name, size_t n) {
  const char *written = explain_written(at->rows, at->row, name, n);
  const explain_sizes *sizes = at->sizes;
  for (int i = 0; i < sizes->n; ++i)
    if (explain_names(sizes->at[i], name, n, written)) return strchr(sizes->at[i], '=') + 1;
  return NULL;
}

/* The value of an expression whose sizes are all given.  (Names are replaced by numbers, so that
 * hostile text has no polynomials to blow up.) */
static bool evaluate(const char *s, const place *at, int64_t *value) {
  tc_buf numbers = {0};
  bool known = true;
  while (*s && known) {
    const size_t n = explain_word(s);
    const bool name = n && !is_digit(*s);
    const bool function = n == 3 && (!strncmp(s, "min", 3) || !strncmp(s, "max", 3));
    if (name && !function) {
      const char *given = value_of(at, s, n);
      if (given) tc_putf(&numbers, "(%s)", given);
      known = given != NULL;
    } else {
      tc_putn(&numbers, s, n ? n : 1);
    }
    s += n ? n : 1;
  }
  tc_dims *dims = known && !numbers.failed ? tc_dims_new() : NULL;
  const char *end = NULL, *error = NULL;
  if (dims) {
    const tc_dim d = tc_dim_parse(dims, numbers.text, &end, &error);
    known = !tc_dim_bad(d) && tc_dim_is_const(d) && end && !*end;
    if (known) *value = tc_dim_value(d);
    tc_dims_free(dims);
  }
  tc_buf_free(&numbers);
  return known && dims != NULL;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Without control characters, which terminals act on. */
static void put_text(const char *s, tc_buf *out) {
  for (; *s; ++s) tc_putn(out, (unsigned char)*s < ' ' || *s == 127 ? "?" : s, 1);
}

/* With sizes by the names that the program has. */
static void put_sizes(const char *s, const place *at, tc_buf *out) {
  while (*s) {
    const size_t n = explain_word(s);
    const char *written = n ? explain_written(at->rows, at->row, s, n) : NULL;
    if (written) put_text(written, out);
    for (size_t i = 0; !written && i < (n ? n : 1); ++i) put_text((const char[]){s[i], 0}, out);
    s += n ? n : 1;
  }
}

static void put_amount(const char *s, const place *at, const char *unit, tc_buf *out) {
  static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
  int64_t value;
  if (!evaluate(s, at, &value)) {
    put_sizes(s, at, out);
    tc_putf(out, " %s", unit);
    return;
  }
  double v = (double)value;
  int p = 0;
  for (; p < 5 && v >= 10000; ++p) v /= 1000;
  if (p) tc_putf(out, "%.1f %s%s", v, prefix[p], unit);
  else tc_putf(out, "%lld %s", (long long)value, unit);
}

static void put_list(const char *s, const char *between, tc_buf *out) {
  for (; *s; ++s)
    if (*s == ',') tc_put(out, between);
    else put_text((const char[]){*s, 0}, out);
}

static size_t children(const explain_rows *rows, size_t of, tc_explain_row kind) {
  size_t n = 0;
  for (size_t i = of + 1; i < rows->at[of].end; ++i) n += rows->at[i].kind == kind;
  return n;
}

static void put_count(size_t n, const char *what, tc_buf *out) {
  tc_putf(out, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

static void put_function(const explain_rows *rows, size_t i, tc_buf *out) {
  const char *const *f = rows->at[i].field;
  put_text(f[0], out);
  tc_put(out, " (");
  put_text(f[1], out);
  tc_putf(out, ":%s): ", f[2]);
  const size_t segments = children(rows, i, TC_EXPLAIN_SEGMENT);
  const size_t breaks = children(rows, i, TC_EXPLAIN_BREAK);
  if (segments) {
    put_count(segments, "segment", out);
    tc_put(out, ", ");
    put_count(breaks, "graph break", out);
  } else {
    tc_put(out, "not compiled");
  }
}

/* A line of the function's file, or of the one that is named. */
static void put_place(const char *file, const char *line, tc_buf *out) {
  put_text(file, out);
  tc_putf(out, "%s%s", *file ? ":" : "", line);
}

static void put_profile(const char *const *f, tc_buf *out) {
  const double all = strtod(f[2], NULL);
  tc_put(out, "profile: ");
  put_text(f[0], out);
  tc_putf(out, " in %.0f %% of %s calls", all > 0 ? 100 * strtod(f[1], NULL) / all : 0, f[2]);
}

static void put_break(const char *const *f, bool compiled, tc_buf *out) {
  tc_put(out, compiled ? "graph break at " : "");
  put_place(f[4], f[0], out);
  tc_putf(out, ":%s: ", f[1]);
  put_text(f[2], out);
  if (!*f[3]) return;
  tc_put(out, "\n      remedy: ");
  put_text(f[3], out);
}

static void put_kernel(const char *const *f, const place *at, tc_buf *out) {
  put_text(f[0], out);
  tc_put(out, strchr(f[3], ',') ? ", lines " : *f[3] ? ", line " : "");
  put_list(f[3], ", ", out);
  tc_put(out, ": ");
  put_amount(f[5], at, "flops", out);
  tc_put(out, ", ");
  put_amount(f[6], at, "bytes", out);
  if (*f[2]) tc_put(out, " [");
  put_list(f[2], " ", out);
  tc_put(out, *f[2] ? "]\n          ops: " : "\n          ops: ");
  put_list(f[4], ", ", out);
}

static void put_stop(const char *const *f, const place *at, tc_buf *out) {
  tc_put(out, "not fused into ");
  put_text(f[2], out);
  tc_put(out, ": ");
  put_text(f[0], out);
  tc_put(out, " of line ");
  put_place(f[5], f[1], out);
  tc_put(out, " (");
  put_amount(f[3], at, "bytes", out);
  tc_put(out, "): ");
  put_text(f[4], out);
}

static void put_training(const explain_rows *rows, size_t i, const place *at, tc_buf *out) {
  const char *const *f = rows->at[i].field;
  tc_put(out, "for its gradients a call saves ");
  put_count(children(rows, i, TC_EXPLAIN_SAVED), "tensor", out);
  tc_put(out, ", ");
  put_amount(f[0], at, "bytes", out);
  if (!*f[1]) return;
  tc_put(out, "\n      computed again, which is cheaper than to save: ");
  put_list(f[1], ", ", out);
}

static void put_saved(const char *const *f, const place *at, tc_buf *out) {
  tc_put(out, "saved: ");
  put_text(f[0], out);
  tc_put(out, " ");
  put_sizes(f[1], at, out);
  tc_put(out, " of line ");
  put_place(f[4], f[2], out);
  tc_put(out, ", ");
  put_amount(f[3], at, "bytes", out);
}

static void put_row(const explain_rows *rows, size_t i, bool compiled, const explain_sizes *sizes,
                    tc_buf *out) {
  const char *const *f = rows->at[i].field;
  const place at = {rows, i, sizes};
  switch (rows->at[i].kind) {
  case TC_EXPLAIN_UNIT:
    put_text(f[1], out);
    break;
  case TC_EXPLAIN_FUNCTION:
    put_function(rows, i, out);
    break;
  case TC_EXPLAIN_PROFILE:
    put_profile(f, out);
    break;
  case TC_EXPLAIN_BREAK:
    put_break(f, compiled, out);
    break;
  case TC_EXPLAIN_SEGMENT:
    tc_putf(out, "segment at line %s%s", f[0], *f[1] ? " for " : "");
    put_text(f[1], out);
    tc_putf(out, ": %s operations, ", f[2]);
    put_amount(f[3], &at, "flops", out);
    break;
  case TC_EXPLAIN_GUARD:
    tc_put(out, "guard: ");
    put_sizes(f[0], &at, out);
    break;
  case TC_EXPLAIN_VARIANT:
    tc_put(out, "for ");
    put_text(f[0], out);
    tc_put(out, *f[1] ? ", " : "");
    put_text(f[1], out);
    tc_put(out, ": ");
    put_count(children(rows, i, TC_EXPLAIN_KERNEL), "kernel", out);
    tc_put(out, ", workspace ");
    put_amount(f[2], &at, "bytes", out);
    break;
  case TC_EXPLAIN_TRAINING:
    put_training(rows, i, &at, out);
    break;
  case TC_EXPLAIN_SAVED:
    put_saved(f, &at, out);
    break;
  case TC_EXPLAIN_KERNEL:
    put_kernel(f, &at, out);
    break;
  case TC_EXPLAIN_STOP:
    put_stop(f, &at, out);
    break;
  case TC_EXPLAIN_SIGNATURE: /* is_shown */
  case TC_EXPLAIN_PARAMETER:
  case TC_EXPLAIN_RESULT:
  case TC_EXPLAIN_SIZE:
  case TC_EXPLAIN_NONE:
  case TC_EXPLAIN_COUNT:
    break;
  }
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Kernels of equal content are one. */
static size_t distinct_kernels(const explain_rows *rows, size_t *all) {
  const char **names = calloc(rows->n + 1, sizeof *names);
  size_t distinct = 0;
  *all = 0;
  for (size_t i = 0; names && i < rows->n; ++i)
    if (rows->at[i].kind == TC_EXPLAIN_KERNEL) names[(*all)++] = rows->at[i].field[1];
  if (*all) qsort(names, *all, sizeof *names, by_text);
  for (size_t i = 0; i < *all; ++i) distinct += !i || strcmp(names[i], names[i - 1]) != 0;
  free(names);
  return distinct;
}

/* Rows for people; others are of the texts of these, or for programs. */
static bool is_shown(tc_explain_row kind) {
  return kind != TC_EXPLAIN_SIZE && kind != TC_EXPLAIN_SIGNATURE && kind != TC_EXPLAIN_PARAMETER &&
         kind != TC_EXPLAIN_RESULT;
}

void explain_print(const explain_rows *rows, const explain_sizes *sizes, tc_buf *out) {
  size_t count[TC_EXPLAIN_COUNT] = {0}, all;
  bool compiled = false;
  for (size_t i = 0; i < rows->n; ++i) {
    const tc_explain_row kind = rows->at[i].kind;
    ++count[kind];
    if (!is_shown(kind)) continue;
    if (kind == TC_EXPLAIN_FUNCTION) compiled = children(rows, i, TC_EXPLAIN_SEGMENT) > 0;
    tc_putf(out, "%*s", 2 * explain_kind_of(kind).level, "");
    put_row(rows, i, compiled, sizes, out);
    tc_put(out, "\n");
  }
  const size_t distinct = distinct_kernels(rows, &all);
  put_count(count[TC_EXPLAIN_FUNCTION], "function", out);
  tc_put(out, ", ");
  put_count(count[TC_EXPLAIN_SEGMENT], "segment", out);
  tc_put(out, ", ");
  put_count(count[TC_EXPLAIN_BREAK], "graph break", out);
  tc_put(out, ", ");
  put_count(all, "kernel", out);
  tc_putf(out, " (%zu distinct)\n", distinct);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Bytes of the UTF-8 character at s; 0: it is none. */
static size_t utf8(const unsigned char *s) {
  const size_t n = *s < 0x80 ? 1 : *s >= 0xC2 && *s < 0xE0 ? 2 : (*s & 0xF0) == 0xE0 ? 3 : 4;
  if (*s >= 0xF5 || (*s >= 0x80 && *s < 0xC2)) return 0;
  for (size_t i = 1; i < n; ++i)
    if ((s[i] & 0xC0) != 0x80) return 0;
  const bool overlong = (*s == 0xE0 && s[1] < 0xA0) || (*s == 0xF0 && s[1] < 0x90);
  const bool surrogate = *s == 0xED && s[1] >= 0xA0;
  return overlong || surrogate || (*s == 0xF4 && s[1] >= 0x90) ? 0 : n;
}

void explain_put_json_text(const char *s, size_t n, tc_buf *out) {
  tc_put(out, "\"");
  for (const char *end = s + n; s < end;) {
    const size_t bytes = utf8((const unsigned char *)s);
    if (*s == '"' || *s == '\\') tc_putf(out, "\\%c", *s);
    else if (!bytes) tc_put(out, "\\ufffd");
    else if ((unsigned char)*s < ' ' || *s == 127) tc_putf(out, "\\u%04x", *s);
    else tc_putn(out, s, bytes);
    s += bytes ? bytes : 1;
  }
  tc_put(out, "\"");
}

static void json_list(const char *s, tc_buf *out) {
  tc_put(out, "[");
  for (const char *at = s; *at;) {
    const size_t n = strcspn(at, ",");
    const bool number = n && n < 19 && strspn(at, "0123456789") >= n && (n == 1 || *at != '0');
    if (at != s) tc_put(out, ", ");
    if (number) tc_putn(out, at, n);
    else explain_put_json_text(at, n, out);
    at += n + (at[n] == ',');
  }
  tc_put(out, "]");
}

static void json_field(char kind, const char *s, const place *at, tc_buf *out) {
  int64_t value;
  if (kind == 'n') tc_putf(out, "%lld", atoll(s));
  else if (kind == 'e' && evaluate(s, at, &value)) tc_putf(out, "%lld", (long long)value);
  else if (kind == 'l') json_list(s, out);
  else explain_put_json_text(s, strlen(s), out);
}

static void json_rows(const explain_rows *rows, size_t from, size_t to, tc_explain_row parent,
                      const explain_sizes *sizes, tc_buf *out);

static void json_row(const explain_rows *rows, size_t i, const explain_sizes *sizes, tc_buf *out) {
  const explain_kind k = explain_kind_of(rows->at[i].kind);
  const place at = {rows, i, sizes};
  tc_put(out, "{");
  for (int f = 0; f < k.nfield; ++f) {
    tc_putf(out, "%s\"%.*s\": ", f ? ", " : "", (int)k.field[f].length, k.field[f].name);
    json_field(k.field[f].kind, rows->at[i].field[f], &at, out);
  }
  json_rows(rows, i + 1, rows->at[i].end, rows->at[i].kind, sizes, out);
  tc_put(out, "}");
}

/* The lists of every kind that belongs to `parent`, empty ones too. */
static void json_rows(const explain_rows *rows, size_t from, size_t to, tc_explain_row parent,
                      const explain_sizes *sizes, tc_buf *out) {
  for (int kind = 0; kind < TC_EXPLAIN_COUNT; ++kind) {
    const explain_kind k = explain_kind_of((tc_explain_row)kind);
    if (k.parent != parent) continue;
    tc_putf(out, "%s\n%*s\"%s\": [", k.level ? "," : "", 2 * k.level + 2, "", k.list);
    const char *comma = "";
    for (size_t i = from; i < to; i = rows->at[i].end) {
      if ((int)rows->at[i].kind != kind) continue;
      tc_putf(out, "%s\n%*s", comma, 2 * k.level + 4, "");
      json_row(rows, i, sizes, out);
      comma = ",";
    }
    tc_put(out, "]");
  }
}

void explain_put_json_row(const explain_rows *rows, size_t i, tc_buf *out) {
  json_row(rows, i, &(explain_sizes){0}, out);
}

void explain_print_json(const explain_rows *rows, const explain_sizes *sizes, tc_buf *out) {
  tc_put(out, "{");
  json_rows(rows, 0, rows->n, TC_EXPLAIN_NONE, sizes, out);
  tc_put(out, "\n}\n");
}

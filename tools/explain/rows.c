/* rows.c - the text of sections cut into rows, checked against the table: what later steps read is
 * of the kind that its field has, and belongs to a row of the level above. */
#include <stdlib.h>
#include <string.h>

#include "tools/explain/explain.h"

static const struct {
  const char *word, *list;
  tc_explain_row parent;
  const char *fields;
} table[TC_EXPLAIN_COUNT] = {
#define ROW(id, word, list, parent, fields)                                                        \
  [TC_EXPLAIN_##id] = {word, list, TC_EXPLAIN_##parent, fields},
    TC_EXPLAIN_ROWS(ROW)
#undef ROW
};

explain_kind explain_kind_of(tc_explain_row kind) {
  explain_kind k = {
      .word = table[kind].word, .list = table[kind].list, .parent = table[kind].parent};
  for (tc_explain_row p = k.parent; p != TC_EXPLAIN_NONE; p = table[p].parent) ++k.level;
  for (const char *at = table[kind].fields; *at; at += strspn(at, " ")) {
    const size_t n = strcspn(at, ":");
    k.field[k.nfield++] = (explain_field){at, n, at[n + 1]};
    at += n + 2;
  }
  return k;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Escapes within one field, in place. */
static bool unescape(char *s) {
  char *to = s;
  for (; *s; ++s) {
    if (*s != '\\') {
      *to++ = *s;
      continue;
    }
    ++s;
    if (*s == 't') *to++ = '\t';
    else if (*s == 'n') *to++ = '\n';
    else if (*s == '\\') *to++ = '\\';
    else return false;
  }
  *to = 0;
  return true;
}

static bool is_number(const char *s) {
  const size_t n = strspn(s, "0123456789");
  return n > 0 && n < 19 && !s[n];
}

static bool is_expression(const char *s) {
  static const char legal[] = "0123456789abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "+-*/%(), ";
  return *s && !s[strspn(s, legal)];
}

static bool fits(char kind, const char *s) {
  return kind == 'n' ? is_number(s) : kind == 'e' ? is_expression(s) : true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *parse_row(char *line, struct explain_row *row) {
  char *next = strchr(line, '\t');
  if (!next) return "a row without fields";
  *next++ = 0;
  int kind = 0;
  while (kind < TC_EXPLAIN_COUNT && strcmp(table[kind].word, line) != 0) ++kind;
  if (kind == TC_EXPLAIN_COUNT) return "a row of an unknown kind";
  const explain_kind k = explain_kind_of((tc_explain_row)kind);
  row->kind = (tc_explain_row)kind;
  for (int i = 0; i < k.nfield; ++i) {
    if (!next) return "a row with too few fields";
    row->field[i] = next;
    next = strchr(next, '\t');
    if (next) *next++ = 0;
    if (!unescape((char *)row->field[i]) || !fits(k.field[i].kind, row->field[i]))
      return "a field that is not of its kind";
  }
  if (next && kind != TC_EXPLAIN_UNIT) return "a row with too many fields";
  if (kind == TC_EXPLAIN_UNIT && strcmp(row->field[0], TC_EXPLAIN_VERSION) != 0)
    return "it was written by another version of TCompile";
  return next ? "a row with too many fields" : NULL;
}

/* Rows of this level, and of those below, end here. */
static void close_rows(explain_rows *rows, size_t *open, int level) {
  for (int k = 0; k < TC_EXPLAIN_COUNT; ++k)
    if (open[k] != SIZE_MAX && explain_kind_of((tc_explain_row)k).level >= level)
      rows->at[open[k]].end = rows->n, open[k] = SIZE_MAX;
}

/* Why it cannot be added. */
static const char *add_row(explain_rows *rows, size_t *open, struct explain_row row) {
  const explain_kind k = explain_kind_of(row.kind);
  if (k.parent != TC_EXPLAIN_NONE && open[k.parent] == SIZE_MAX)
    return "a row that belongs to none";
  close_rows(rows, open, k.level);
  open[row.kind] = rows->n;
  return tc_push(rows, row) ? NULL : "out of memory";
}

bool explain_parse(tc_buf *text, explain_rows *rows, const char **error, size_t *line) {
  size_t open[TC_EXPLAIN_COUNT]; /* the row at hand of each kind */
  for (int k = 0; k < TC_EXPLAIN_COUNT; ++k) open[k] = SIZE_MAX;
  char *at = text->text;
  *line = 0;
  for (char *end; (size_t)(at - text->text) < text->len; at = end + 1) {
    ++*line;
    end = memchr(at, '\n', text->len - (size_t)(at - text->text));
    *error = !end ? "the last row is cut off" : NULL;
    if (*error) return false;
    *end = 0;
    if (strlen(at) != (size_t)(end - at)) *error = "a byte of value 0";
    if (*error) return false;
    struct explain_row row = {0};
    *error = parse_row(at, &row);
    if (!*error) *error = add_row(rows, open, row);
    if (*error) return false;
  }
  close_rows(rows, open, 0);
  return true;
}

const char *explain_written(const explain_rows *rows, size_t i, const char *name, size_t n) {
  size_t segment = i;
  while (segment > 0 && rows->at[segment].kind != TC_EXPLAIN_SEGMENT) --segment;
  const size_t end = rows->at[segment].end;
  for (size_t k = segment + 1; i < end && k < end; ++k) {
    const char *const *f = rows->at[k].field;
    if (rows->at[k].kind == TC_EXPLAIN_SIZE && strlen(f[0]) == n && !strncmp(f[0], name, n))
      return f[1];
  }
  return NULL;
}

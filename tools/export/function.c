/* function.c - the function's signature and what was compiled of it, from the object's rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/export/export.h"

bool export_is_kind(const char *kind, const char *want) { return !strcmp(kind, want); }

bool export_is_number(const char *kind) {
  return export_is_kind(kind, "int") || export_is_kind(kind, "float") ||
         export_is_kind(kind, "bool");
}

/* ---- finding it ------------------------------------------------------------------------------ */

/* "f, g", for who wrote another name. */
static const char *names(const export_request *r, const explain_rows *rows) {
  const char *list = "";
  for (size_t i = 0; i < rows->n; ++i)
    if (rows->at[i].kind == TC_EXPLAIN_FUNCTION)
      list = export_text(r, "%s%s%s", list, *list ? ", " : "", rows->at[i].field[0]);
  return list;
}

static bool find(const export_request *r, const explain_rows *rows, export_function *f) {
  size_t found = 0;
  for (size_t i = 0; i < rows->n; ++i)
    if (rows->at[i].kind == TC_EXPLAIN_FUNCTION && !strcmp(rows->at[i].field[0], r->function))
      f->row = i, ++found;
  if (found == 1) return true;
  if (found) return export_fail("%s: there are %zu functions '%s'", r->input, found, r->function);
  return export_fail("%s: no function '%s' is marked TC_COMPILE there; those that are: %s",
                     r->input, r->function, names(r, rows));
}

/* ---- its signature --------------------------------------------------------------------------- */

/* NAME.h includes what is in the list; not a file of its own name. */
static bool check_needs(const export_request *r, const char *list) {
  const char *own = export_text(r, "\"%s.h\"", export_base(r->name));
  for (size_t n; *list; list += n + (list[n] == ',')) {
    n = strcspn(list, ",");
    if (n == strlen(own) && !strncmp(list, own, n))
      return export_fail(
          "%s.h has to include %s of the source, and so cannot have its name; -o gives another",
          r->name, own);
  }
  return true;
}

static bool add_parameter(const export_request *r, const char *const *field, export_function *f) {
  const export_parameter p = {.name = field[0],
                              .declaration = field[1],
                              .kind = field[2],
                              .shape = field[3],
                              .needs = field[4],
                              .obstacle = field[5],
                              .bound = -1};
  if (*p.obstacle) return export_fail("%s: parameter '%s': %s", r->function, p.name, p.obstacle);
  return check_needs(r, p.needs) && (tc_push(&f->parameter, p) || export_fail("out of memory"));
}

static bool read_signature(const export_request *r, export_function *f) {
  const explain_rows *rows = f->rows;
  for (size_t i = f->row + 1; i < rows->at[f->row].end; ++i) {
    const char *const *field = rows->at[i].field;
    if (rows->at[i].kind == TC_EXPLAIN_PARAMETER && !add_parameter(r, field, f)) return false;
    if (rows->at[i].kind != TC_EXPLAIN_SIGNATURE) continue;
    f->symbol = field[0], f->returns = field[1], f->kind = field[2], f->needs = field[3];
    if (*field[4]) return export_fail("%s cannot be exported: %s", r->function, field[4]);
    if (!check_needs(r, f->needs)) return false;
  }
  return f->symbol ||
         export_fail("%s: the object says nothing of the signature of '%s'", r->input, r->function);
}

/* ---- what was compiled ----------------------------------------------------------------------- */

static size_t children(const explain_rows *rows, size_t i, tc_explain_row kind, size_t *last) {
  size_t n = 0;
  for (size_t k = i + 1; k < rows->at[i].end; ++k)
    if (rows->at[k].kind == kind) *last = k, ++n;
  return n;
}

static void warn(const export_request *r, const export_function *f) {
  size_t segment, why;
  if (children(f->rows, f->row, TC_EXPLAIN_SEGMENT, &segment)) return;
  const bool told = children(f->rows, f->row, TC_EXPLAIN_BREAK, &why);
  fprintf(stderr, "tc-export: warning: '%s' was not compiled%s%s; what is exported runs its body\n",
          r->function, told ? ": " : "", told ? f->rows->at[why].field[2] : "");
}

/* The type of its result, where one segment for all sizes gives just that. */
static const char *result_of(const export_function *f) {
  size_t segment, last;
  if (children(f->rows, f->row, TC_EXPLAIN_BREAK, &last) ||
      !children(f->rows, f->row, TC_EXPLAIN_SEGMENT, &segment))
    return NULL;
  for (size_t i = f->row + 1; i < segment; ++i)
    if (f->rows->at[i].kind == TC_EXPLAIN_SEGMENT &&
        !strcmp(f->rows->at[i].field[1], f->rows->at[segment].field[1]))
      return NULL; /* in parts */
  return children(f->rows, segment, TC_EXPLAIN_RESULT, &last) == 1 ? f->rows->at[last].field[0]
                                                                   : NULL;
}

static bool read_rows(const export_request *r, const char *object, explain_rows *rows,
                      tc_buf *text) {
  tc_buf file = {0};
  const char *why = NULL;
  size_t line;
  bool ok = export_read(object, &file);
  if (ok && !explain_read((const unsigned char *)file.text, file.len, text, &why))
    ok = export_fail("%s: %s", r->input, why);
  if (ok && !text->len)
    ok = export_fail("%s: no function there is marked TC_COMPILE%s", r->input,
                     r->from_object ? ", or no plugin compiled it" : "");
  if (ok && !explain_parse(text, rows, &why, &line))
    ok = export_fail("%s: the section " TC_EXPLAIN_SECTION " is damaged: %s (row %zu)", r->input,
                     why, line);
  tc_buf_free(&file);
  return ok;
}

bool export_find(const export_request *r, const char *object, explain_rows *rows, tc_buf *text,
                 export_function *f) {
  if (!read_rows(r, object, rows, text)) return false;
  f->rows = rows;
  if (!find(r, rows, f)) return false;
  const char *const *field = rows->at[f->row].field;
  f->name = field[0], f->file = field[1], f->line = field[2];
  if (!read_signature(r, f)) return false;
  f->result = result_of(f);
  warn(r, f);
  return true;
}

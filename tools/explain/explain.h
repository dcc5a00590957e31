/* explain.h - inside of tc-explain: files -> text of their sections -> rows -> output. */
#ifndef TC_TOOL_EXPLAIN_H
#define TC_TOOL_EXPLAIN_H

#include "backends/explain_rows.h"
#include "graph/support/support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- read.c: ELF and ar ---------------------------------------------------------------------- */

/* Appends what an object, executable, shared library or archive (file of n bytes) holds in
 * TC_EXPLAIN_SECTION.  false: *error says what is wrong with the file. */
bool explain_read(const unsigned char *file, size_t n, tc_buf *out, const char **error);

/* ---- rows.c ---------------------------------------------------------------------------------- */

enum { EXPLAIN_FIELDS = 7 };

typedef struct explain_field {
  const char *name; /* "line" */
  size_t length;    /* of the name */
  char kind;        /* s n l e */
} explain_field;

typedef struct explain_kind {
  const char *word, *list;
  tc_explain_row parent;
  int level, nfield; /* level: how many rows it belongs to */
  explain_field field[EXPLAIN_FIELDS];
} explain_kind;

typedef struct explain_rows {
  struct explain_row {
    tc_explain_row kind;
    const char *field[EXPLAIN_FIELDS];
    size_t end; /* rows up to here belong to this one */
  } * at;
  size_t n, cap;
} explain_rows;

/* The table of backends/explain_rows.h. */
explain_kind explain_kind_of(tc_explain_row kind);

/* What the program calls the size `name` (n bytes) of row i or of one that it belongs to; NULL:
 * that. */
const char *explain_written(const explain_rows *rows, size_t i, const char *name, size_t n);

/* Cuts text (which is changed, and lives as long as the rows).  false: *error, and *line of the
 * text, say what is wrong. */
bool explain_parse(tc_buf *text, explain_rows *rows, const char **error, size_t *line);

/* ---- sizes.c --------------------------------------------------------------------------------- */

/* Sizes given by the user, NAME=VALUE with a name as in TC_SHAPE or of a member (b->H=8), and the
 * names that the files have. */
typedef struct explain_sizes {
  int n;
  char **at;
  bool *met;    /* whether a file has a size of that name */
  tc_buf names; /* "B, T": sizes that flops and bytes depend on */
} explain_sizes;

size_t explain_word(const char *s); /* length of the name or number at s */
/* Is text, NAME=..., about the size `name` (n bytes), which the program calls `written` (or
 * NULL)? */
bool explain_names(const char *text, const char *name, size_t n, const char *written);
bool explain_is_size(const char *s); /* NAME=VALUE, with a value that sizes can have */
void explain_meet_sizes(const explain_rows *rows, explain_sizes *sizes);

/* ---- print.c --------------------------------------------------------------------------------- */

void explain_print(const explain_rows *rows, const explain_sizes *sizes, tc_buf *out);
void explain_print_json(const explain_rows *rows, const explain_sizes *sizes, tc_buf *out);
/* One row with those that belong to it, as in there; a string of n bytes. */
void explain_put_json_row(const explain_rows *rows, size_t i, tc_buf *out);
void explain_put_json_text(const char *s, size_t n, tc_buf *out);

#ifdef __cplusplus
}
#endif
#endif

/* file.c - see file.h. */
#include "graph/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes/pass.h"
#include "graph/text.h"
#include "graph/words.h"

enum { HEAD = 32 };
static const unsigned char magic[8] = {0x89, 'T', 'C', 'G', '\r', '\n', 0x1a, '\n'};

/* ---- writing --------------------------------------------------------------------------------- */

void tc_file_put_head(const char *function, const char *file, uint32_t line, tc_buf *out) {
  tc_putf(out, "tcg %d\n", TC_FILE_VERSION);
  if (!*function) return;
  tc_put(out, "function ");
  tc_put_quoted(out, function);
  tc_put(out, " ");
  tc_put_quoted(out, file);
  tc_putf(out, " %" PRIu32 "\n", line);
}

void tc_file_put_graph(tc_graph *g, const char *sizes, tc_buf *out) {
  tc_put(out, "variant ");
  tc_put_quoted(out, sizes);
  tc_put(out, "\n");
  tc_graph_print(g, out);
}

void tc_file_put_end(tc_buf *out) { tc_put(out, "end\n"); }

void tc_file_put_text(const tc_file *f, tc_buf *out) {
  tc_file_put_head(f->function, f->file, f->line, out);
  for (size_t i = 0; i < f->graph.n; i++)
    tc_file_put_graph(f->graph.at[i].graph, f->graph.at[i].sizes, out);
  tc_file_put_end(out);
}

static void put_number(uint64_t v, int bytes, tc_buf *out) {
  for (int i = 0; i < bytes; i++) tc_putn(out, &(char){(char)(v >> (8 * i))}, 1);
}

void tc_file_put_binary(const tc_file *f, tc_buf *out) {
  tc_buf text = {0};
  tc_file_put_text(f, &text);
  tc_putn(out, (const char *)magic, sizeof magic);
  put_number(TC_FILE_VERSION, 4, out);
  put_number(0, 4, out);
  put_number(HEAD + text.len, 8, out);
  put_number(tc_hash(text.text, text.len, TC_FILE_VERSION), 8, out);
  tc_putn(out, text.text, text.len);
  out->failed |= text.failed;
  tc_buf_free(&text);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
  tc_words w;
  tc_diag *diag;
  tc_file *f;
  const char *text; /* from the line behind the one being read on */
  uint32_t line;    /* that is read, from 1 */
} reader;

static const char *keep(reader *r, const tc_buf *b) {
  return tc_arena_str(r->f->arena, b->text ? b->text : "");
}

/* A string in quotes; NULL after failing. */
static const char *read_string(reader *r) {
  tc_buf b = {0};
  const char *kept = tc_words_quoted(&r->w, &b) ? keep(r, &b) : NULL;
  tc_buf_free(&b);
  if (!kept) tc_words_fail(&r->w, "out of memory");
  return kept;
}

/* The next line that says something goes to `line`; false: there is none. */
static bool next_line(reader *r, tc_buf *line) {
  while (*r->text) {
    const size_t n = strcspn(r->text, "\n");
    tc_buf_clear(line);
    tc_putn(line, r->text, tc_words_meaning(r->text, n));
    r->text += n + (r->text[n] == '\n');
    r->line++;
    r->w.at = line->text ? line->text : "";
    if (!tc_words_end(&r->w)) return true;
  }
  return false;
}

/* Whether a graph is over there. */
static bool is_behind(const char *text) {
  tc_words w = {.at = text};
  return tc_words_accept_word(&w, "variant") || tc_words_accept_word(&w, "end");
}

/* The text of the graph that begins behind the line that was read; its first line is *first. */
static char *take_graph(reader *r, uint32_t *first) {
  const char *end = r->text;
  *first = r->line + 1;
  while (*end && !is_behind(end)) {
    end += strcspn(end, "\n");
    end += *end == '\n';
    r->line++;
  }
  char *text = strndup(r->text, (size_t)(end - r->text));
  r->text = end;
  return text;
}

/* false: it has been reported. */
static bool add_graph(reader *r, const char *text, uint32_t first, const char *sizes) {
  char why[512];
  tc_graph *g = tc_graph_parse_part(text, first, r->diag);
  if (!g) return false;
  if (tc_graph_verify(g, why, sizeof why)) {
    if (tc_push(&r->f->graph, ((tc_file_graph){g, sizes}))) return true;
    snprintf(why, sizeof why, "out of memory");
  }
  tc_report(r->diag, TC_ERROR, (tc_loc){.line = first}, "line %u: %s", first, why);
  tc_graph_free(g);
  return false;
}

static bool read_function(reader *r) {
  int64_t line;
  if (!(r->f->function = read_string(r)) || !(r->f->file = read_string(r))) return false;
  if (!tc_words_int(&r->w, &line)) return false;
  r->f->line = (uint32_t)line;
  return line >= 0 && line <= INT32_MAX ? tc_words_end(&r->w) || tc_words_expect(&r->w, "\n")
                                        : tc_words_fail(&r->w, "no line number");
}

static bool read_version(reader *r) {
  int64_t version;
  if (!tc_words_int(&r->w, &version)) return false;
  if (version > TC_FILE_VERSION)
    return tc_words_fail(&r->w, "the file has format version %lld, and this program reads up to %d",
                         (long long)version, TC_FILE_VERSION);
  return version >= 1 ||
         tc_words_fail(&r->w, "there is no format version %lld", (long long)version);
}

static bool read_end(reader *r, tc_buf *line) {
  if (!tc_words_end(&r->w) && !tc_words_expect(&r->w, "\n")) return false;
  return !next_line(r, line) || tc_words_fail(&r->w, "there is text behind the end");
}

static bool read_variants(reader *r, tc_buf *line) {
  while (next_line(r, line)) {
    if (tc_words_accept_word(&r->w, "function") && !r->f->graph.n) {
      if (!read_function(r)) return false;
      continue;
    }
    if (r->f->graph.n && tc_words_accept_word(&r->w, "end")) return read_end(r, line);
    if (!tc_words_expect(&r->w, "variant")) return false;
    const char *sizes = read_string(r);
    if (!sizes) return false;
    uint32_t first;
    char *text = take_graph(r, &first);
    const bool ok = text && add_graph(r, text, first, sizes);
    free(text);
    if (!ok) return text ? false : tc_words_fail(&r->w, "out of memory");
  }
  return tc_words_fail(&r->w, r->f->graph.n ? "the file is truncated: it ends without 'end'"
                                            : "the file ends before its first graph");
}

static bool read_text(reader *r, tc_buf *line) {
  const char *whole = r->text;
  if (!next_line(r, line)) return tc_words_fail(&r->w, "there is no graph in it");
  if (!tc_words_accept_word(&r->w, "tcg")) return add_graph(r, whole, 1, "");
  return read_version(r) && read_variants(r, line);
}

/* ---- the binary form ------------------------------------------------------------------------- */

static uint64_t number(const unsigned char *at, int bytes) {
  uint64_t v = 0;
  for (int i = 0; i < bytes; i++) v |= (uint64_t)at[i] << (8 * i);
  return v;
}

/* What is wrong with the head, or NULL. */
static const char *check_head(const unsigned char *at, size_t size) {
  if (size < HEAD) return "the file is truncated: it ends within its head";
  if (number(at + 8, 4) > TC_FILE_VERSION) return "the file has a newer format version";
  if (!number(at + 8, 4) || number(at + 12, 4)) return "the file is altered: its head is none";
  if (number(at + 16, 8) > size) return "the file is truncated: it is shorter than its head says";
  if (number(at + 16, 8) < size) return "the file is altered: it is longer than its head says";
  if (number(at + 24, 8) != tc_hash(at + HEAD, size - HEAD, number(at + 8, 4)))
    return "the file is altered: its checksum is another";
  return NULL;
}

/* The text in the file; NULL after reporting. */
static char *text_of(const unsigned char *at, size_t size, tc_diag *diag) {
  const size_t same = size < sizeof magic ? size : sizeof magic;
  const bool binary = size && at[0] == magic[0];
  const char *why = !binary                   ? NULL
                    : memcmp(at, magic, same) ? "this is no file of graphs (.tcg)"
                                              : check_head(at, size);
  const size_t skip = binary && !why ? HEAD : 0;
  if (!why && size > skip && memchr(at + skip, 0, size - skip))
    why = "this is no file of graphs (.tcg)";
  char *text = why ? NULL : strndup((const char *)at + skip, size - skip);
  if (!text) tc_report(diag, TC_ERROR, (tc_loc){0}, "%s", why ? why : "out of memory");
  return text;
}

static tc_file *file_new(void) {
  tc_file *f = calloc(1, sizeof *f);
  if (f && (f->arena = tc_arena_new())) {
    f->function = f->file = "";
    return f;
  }
  free(f);
  return NULL;
}

tc_file *tc_file_read(const void *bytes, size_t size, tc_diag *diag) {
  char *text = text_of(bytes, size, diag);
  if (!text) return NULL;
  tc_buf line = {0};
  reader r = {.diag = diag, .f = file_new(), .text = text};
  const bool ok = r.f && read_text(&r, &line);
  if (!r.f) tc_report(diag, TC_ERROR, (tc_loc){0}, "out of memory");
  else if (!ok && r.w.error[0])
    tc_report(diag, TC_ERROR, (tc_loc){.line = r.line}, "line %u: %s", r.line, r.w.error);
  if (!ok) tc_file_free(r.f);
  tc_buf_free(&line);
  free(text);
  return ok ? r.f : NULL;
}

void tc_file_free(tc_file *f) {
  if (!f) return;
  for (size_t i = 0; i < f->graph.n; i++) tc_graph_free(f->graph.at[i].graph);
  free(f->graph.at);
  tc_arena_free(f->arena);
  free(f);
}

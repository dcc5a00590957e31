/* text.c - profiles as text, written and read. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/profile.h"

static const char head[] = "tcompile profile ";
enum { VERSION = 1, NAME = 4096 };

/* ---- writing --------------------------------------------------------------------------------- */

static void put_quoted(FILE *out, const char *s) {
  fputs(" \"", out);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') fputc('\\', out);
    fputc(*s == '\n' ? ' ' : *s, out);
  }
  fputc('"', out);
}

static bool same_function(const tc_profile_segment *a, const tc_profile_segment *b) {
  return a->line == b->line && !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
}

static void put_segment(FILE *out, const tc_profile_segment *s) {
  for (size_t i = 0; i < s->n; i++) {
    fprintf(out, "calls %" PRIu64, s->at[i].calls);
    for (uint32_t k = 0; k < s->nsize; k++)
      fprintf(out, " %s=%" PRId64, s->size[k], s->at[i].value[k]);
    fputc('\n', out);
  }
  if (s->others) fprintf(out, "others %" PRIu64 "\n", s->others);
}

char *tc_profile_text(tc_profile *p, size_t *n) {
  char *text = NULL;
  FILE *out = open_memstream(&text, n);
  if (!out) return NULL;
  tc_profile_sort(p);
  fprintf(out, "%s%d\n", head, VERSION);
  for (size_t i = 0; i < p->n; i++) {
    const tc_profile_segment *s = &p->at[i], *before = i ? s - 1 : NULL;
    const bool same = before && same_function(before, s);
    if (!same) {
      fputs("function", out);
      put_quoted(out, s->function);
      put_quoted(out, s->file);
      fprintf(out, " %u\n", (unsigned)s->line);
    }
    if (!same || before->segment != s->segment) fprintf(out, "segment %u\n", (unsigned)s->segment);
    put_segment(out, s);
  }
  fputs("end\n", out);
  const bool failed = ferror(out);
  if (fclose(out) == 0 && !failed && !p->failed) return text;
  free(text);
  return NULL;
}

/* ---- reading: one line ----------------------------------------------------------------------- */

/* The rest of a line. */
typedef struct words {
  const char *at, *end;
} words;

static void skip(words *w) {
  while (w->at < w->end && *w->at == ' ') w->at++;
}

static bool at_end(words *w) {
  skip(w);
  return w->at == w->end;
}

static bool take_word(words *w, const char *word) {
  const size_t n = strlen(word);
  skip(w);
  if ((size_t)(w->end - w->at) < n || memcmp(w->at, word, n) != 0) return false;
  if (w->at + n < w->end && w->at[n] != ' ') return false;
  w->at += n;
  return true;
}

static bool take_count(words *w, uint64_t most, uint64_t *v) {
  skip(w);
  const char *start = w->at;
  for (*v = 0; w->at < w->end && *w->at >= '0' && *w->at <= '9'; w->at++) {
    const uint64_t digit = (uint64_t)(*w->at - '0');
    if (*v > (most - digit) / 10) return false;
    *v = *v * 10 + digit;
  }
  return w->at > start;
}

static bool take_number(words *w, int64_t *v) {
  const bool negative = w->at < w->end && *w->at == '-';
  uint64_t u;
  if (negative) w->at++;
  if (w->at == w->end || *w->at == ' ' || !take_count(w, INT64_MAX, &u)) return false;
  *v = negative ? -(int64_t)u : (int64_t)u;
  return true;
}

/* A text in quotes, into out[NAME]. */
static bool take_quoted(words *w, char *out) {
  size_t n = 0;
  skip(w);
  if (w->at == w->end || *w->at != '"') return false;
  for (w->at++; w->at < w->end && *w->at != '"'; w->at++) {
    if (*w->at == '\\' && ++w->at == w->end) return false;
    if (n + 1 == NAME || !*w->at) return false;
    out[n++] = *w->at;
  }
  out[n] = 0;
  return n && w->at++ < w->end;
}

static bool in_path(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c && strchr("_-.>[]", c));
}

/* B=8: the name goes to out[NAME]. */
static bool take_size(words *w, char *out, int64_t *value) {
  size_t n = 0;
  for (skip(w); w->at < w->end && *w->at != '='; w->at++) {
    if (n + 1 == NAME || !in_path(*w->at)) return false;
    out[n++] = *w->at;
  }
  out[n] = 0;
  return n && w->at++ < w->end && take_number(w, value);
}

/* ---- reading: a profile ---------------------------------------------------------------------- */

typedef struct reader {
  tc_profile *p;
  char function[NAME], file[NAME], (*size)[NAME];
  const char *name[TC_PROFILE_SIZES];
  int64_t value[TC_PROFILE_SIZES];
  uint32_t line, segment;
  enum { OUTSIDE, HEADED, FUNCTION, SEGMENT } in;
  tc_profile_segment *last; /* with calls in this segment */
} reader;

static const char *read_head(reader *r, words *w) {
  uint64_t version;
  if (!take_word(w, "tcompile") || !take_word(w, "profile") || !take_count(w, UINT32_MAX, &version))
    return "this is no profile: expected 'tcompile profile 1'";
  if (version != VERSION) return "a profile of another version";
  r->in = HEADED;
  return NULL;
}

static const char *read_function(reader *r, words *w) {
  uint64_t line;
  if (!take_quoted(w, r->function) || !take_quoted(w, r->file) || !take_count(w, UINT32_MAX, &line))
    return "expected 'function \"NAME\" \"FILE\" LINE'";
  r->line = (uint32_t)line;
  r->in = FUNCTION;
  return NULL;
}

static const char *read_segment(reader *r, words *w) {
  uint64_t line;
  if (r->in < FUNCTION) return "a segment without a function";
  if (!take_count(w, UINT32_MAX, &line)) return "expected 'segment LINE'";
  r->segment = (uint32_t)line;
  r->in = SEGMENT;
  r->last = NULL;
  return NULL;
}

static const char *read_calls(reader *r, words *w) {
  uint64_t calls;
  uint32_t n = 0;
  if (r->in < SEGMENT) return "calls without a segment";
  if (!take_count(w, UINT64_MAX, &calls)) return "expected 'calls COUNT NAME=SIZE ...'";
  for (; !at_end(w); n++) {
    if (n == TC_PROFILE_SIZES) return "too many sizes";
    if (!take_size(w, r->size[n], &r->value[n])) return "expected NAME=SIZE";
    r->name[n] = r->size[n];
  }
  if (!n) return "calls without sizes";
  const tc_profile_place place = {r->function, r->file, r->line, r->segment, n, r->name};
  r->last = tc_profile_find(r->p, &place);
  if (r->last) tc_profile_add(r->p, r->last, r->value, calls);
  return NULL;
}

static const char *read_others(reader *r, words *w) {
  uint64_t calls;
  if (r->in < SEGMENT || !r->last) return "others without calls";
  if (!take_count(w, UINT64_MAX, &calls)) return "expected 'others COUNT'";
  tc_profile_add_others(r->last, calls);
  return NULL;
}

static const char *read_line(reader *r, words w) {
  const char *why = NULL;
  if (at_end(&w) || *w.at == ';') return NULL;
  if (r->in == OUTSIDE) why = read_head(r, &w);
  else if (take_word(&w, "function")) why = read_function(r, &w);
  else if (take_word(&w, "segment")) why = read_segment(r, &w);
  else if (take_word(&w, "calls")) why = read_calls(r, &w);
  else if (take_word(&w, "others")) why = read_others(r, &w);
  else if (take_word(&w, "end")) r->in = OUTSIDE;
  else return "expected 'function', 'segment', 'calls', 'others' or 'end'";
  return why ? why : at_end(&w) ? NULL : "more than is expected on this line";
}

bool tc_profile_read(tc_profile *p, const char *text, size_t n, uint32_t *line, const char **why) {
  reader *r = calloc(1, sizeof *r);
  const char *at = text, *const end = text + n;
  *why = NULL;
  *line = 0;
  if (r) r->p = p, r->size = calloc(TC_PROFILE_SIZES, sizeof *r->size);
  if (!r || !r->size) p->failed = true;
  while (!p->failed && !*why && at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    ++*line;
    *why = read_line(r, (words){at, stop ? stop : end});
    at = stop ? stop + 1 : end;
  }
  if (!*why && p->failed) *why = "out of memory";
  if (!*why && (r->in != OUTSIDE || !*line)) {
    ++*line;
    *why = *line > 1 ? "the file is truncated: expected 'end'" : "the file is empty";
  }
  if (r) free(r->size);
  free(r);
  return !*why;
}

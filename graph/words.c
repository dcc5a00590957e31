/* words.c - see words.h. */
#include "graph/words.h"

#include <stdlib.h>
#include <string.h>

bool tc_words_fail(tc_words *w, const char *format, ...) {
  if (w->error[0]) return false;
  tc_buf b = {0};
  va_list ap;
  va_start(ap, format);
  tc_vputf(&b, format, ap);
  va_end(ap);
  strncpy(w->error, b.text ? b.text : "out of memory", sizeof w->error - 1);
  tc_buf_free(&b);
  return false;
}

void tc_words_skip(tc_words *w) {
  while (*w->at == ' ' || *w->at == '\t' || *w->at == '\r') w->at++;
}

bool tc_words_end(tc_words *w) {
  tc_words_skip(w);
  return !*w->at;
}

bool tc_words_accept(tc_words *w, const char *s) {
  tc_words_skip(w);
  size_t n = strlen(s);
  if (strncmp(w->at, s, n)) return false;
  w->at += n;
  return true;
}

bool tc_words_expect(tc_words *w, const char *s) {
  return tc_words_accept(w, s) || tc_words_fail(w, "expected '%s' before \"%.20s\"", s, w->at);
}

bool tc_is_word(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
         ch == '_';
}

size_t tc_words_next(tc_words *w, const char **start) {
  tc_words_skip(w);
  *start = w->at;
  while (tc_is_word(*w->at)) w->at++;
  return (size_t)(w->at - *start);
}

bool tc_words_accept_word(tc_words *w, const char *s) {
  const char *before = w->at, *start;
  size_t n = tc_words_next(w, &start);
  if (n == strlen(s) && !memcmp(start, s, n)) return true;
  w->at = before;
  return false;
}

bool tc_words_int(tc_words *w, int64_t *v) {
  tc_words_skip(w);
  char *end;
  *v = strtoll(w->at, &end, 10);
  if (end == w->at) return tc_words_fail(w, "expected an integer before \"%.20s\"", w->at);
  w->at = end;
  return true;
}

bool tc_words_quoted(tc_words *w, tc_buf *out) {
  if (!tc_words_expect(w, "\"")) return false;
  for (; *w->at && *w->at != '"'; w->at++) {
    char ch = *w->at;
    if (ch == '\\' && w->at[1] == 'x') {
      char hex[3] = {0};
      strncpy(hex, w->at + 2, 2);
      ch = (char)strtol(hex, NULL, 16);
      w->at += strlen(hex) + 1;
    } else if (ch == '\\' && w->at[1]) ch = *++w->at;
    tc_putn(out, &ch, 1);
  }
  return tc_words_expect(w, "\"");
}

size_t tc_words_meaning(const char *line, size_t n) {
  bool quoted = false;
  for (size_t i = 0; i < n; i++) {
    if (line[i] == '\\' && quoted) i++;
    else if (line[i] == '"') quoted = !quoted;
    else if (line[i] == ';' && !quoted) return i;
  }
  return n;
}

void tc_put_quoted(tc_buf *out, const char *s) {
  tc_put(out, "\"");
  for (; *s; s++) {
    unsigned char ch = (unsigned char)*s;
    if (ch == '"' || ch == '\\') tc_putf(out, "\\%c", ch);
    else if (ch < 32) tc_putf(out, "\\x%02x", ch);
    else tc_putn(out, s, 1);
  }
  tc_put(out, "\"");
}

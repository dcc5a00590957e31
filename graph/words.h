/* words.h - reading a line of text word by word, and the quoting of its strings: what the text form
 * of a graph and that of a file of graphs share. */
#ifndef TC_WORDS_H
#define TC_WORDS_H

#include "graph/support/support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_words {
  const char *at;  /* what is left of the line, NUL-terminated */
  char error[512]; /* the first thing that is wrong; "": nothing */
} tc_words;

/* Keeps the first error, and gives false. */
bool tc_words_fail(tc_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

void tc_words_skip(tc_words *w); /* white space */
bool tc_words_end(tc_words *w);  /* nothing is left but that */
bool tc_words_accept(tc_words *w, const char *s);
bool tc_words_accept_word(tc_words *w, const char *s); /* "weak" but not "weaker" */
bool tc_words_expect(tc_words *w, const char *s);
bool tc_is_word(char ch); /* letters, digits and _ */
size_t tc_words_next(tc_words *w,
                     const char **start); /* length of the word taken; 0: there is none */
bool tc_words_int(tc_words *w, int64_t *v);
bool tc_words_quoted(tc_words *w, tc_buf *out); /* "...", appended without its quotes */

/* The length of a line without its comment: a ';' outside of quotes. */
size_t tc_words_meaning(const char *line, size_t n);

/* s in quotes, so that tc_words_quoted reads it back. */
void tc_put_quoted(tc_buf *out, const char *s);

#ifdef __cplusplus
}
#endif
#endif

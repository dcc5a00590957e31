/* json.h - a strict pull reader for JSON (RFC 8259): the caller knows what it expects and takes it.
 *
 * No tree, no recursion, no allocation but for strings.  The first failure is kept with its byte
 * offset; every function then returns false. */
#ifndef TC_JSON_H
#define TC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tc_json {
  const char *text;
  size_t at, size;
  const char *error; /* what is wrong at byte `at`; NULL: nothing */
} tc_json;

bool tc_json_fail(tc_json *j, const char *error); /* false */

/* Takes the punctuation c after white space; _if: false without an error when another one is next.
 */
bool tc_json_take(tc_json *j, char c);
bool tc_json_take_if(tc_json *j, char c);

/* Steps through {...} or [...], after the opening was taken: true while another element follows.
 * `first` is true before the first call. */
bool tc_json_more(tc_json *j, bool *first, char close);

/* A string, unescaped to UTF-8 and NUL-terminated, for the caller to free.  U+0000 is an error. */
bool tc_json_string(tc_json *j, char **out);

/* A number that is an integer in [0, 2^63): digits alone. */
bool tc_json_natural(tc_json *j, int64_t *out);

/* Nothing but white space is left. */
bool tc_json_end(tc_json *j);

#endif

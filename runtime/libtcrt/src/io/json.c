#include "runtime/libtcrt/src/io/json.h"

#include <stdlib.h>
#include <string.h>

bool tc_json_fail(tc_json *j, const char *error) {
  if (!j->error) j->error = error;
  return false;
}

static void skip_space(tc_json *j) {
  while (j->at < j->size && memchr(" \t\r\n", j->text[j->at], 4)) j->at++;
}

bool tc_json_take_if(tc_json *j, char c) {
  skip_space(j);
  if (j->error || j->at == j->size || j->text[j->at] != c) return false;
  j->at++;
  return true;
}

bool tc_json_take(tc_json *j, char c) {
  if (tc_json_take_if(j, c)) return true;
  switch (c) {
  case '{':
    return tc_json_fail(j, "an object is expected");
  case '[':
    return tc_json_fail(j, "an array is expected");
  case ':':
    return tc_json_fail(j, "':' is expected");
  case ',':
    return tc_json_fail(j, "',' or the closing bracket is expected");
  default:
    return tc_json_fail(j, "a closing bracket is expected");
  }
}

bool tc_json_more(tc_json *j, bool *first, char close) {
  bool was_first = *first;
  *first = false;
  if (j->error || tc_json_take_if(j, close)) return false;
  return was_first || tc_json_take(j, ',');
}

bool tc_json_end(tc_json *j) {
  skip_space(j);
  return !j->error && (j->at == j->size || tc_json_fail(j, "text after the end"));
}

bool tc_json_natural(tc_json *j, int64_t *out) {
  skip_space(j);
  size_t start = j->at;
  int64_t v = 0;
  if (j->error) return false;
  for (; j->at < j->size && j->text[j->at] >= '0' && j->text[j->at] <= '9'; j->at++)
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, j->text[j->at] - '0', &v))
      return tc_json_fail(j, "a number past 2^63");
  if (j->at == start) return tc_json_fail(j, "a non-negative integer is expected");
  if (j->text[start] == '0' && j->at > start + 1)
    return tc_json_fail(j, "a number with a leading 0");
  if (j->at < j->size && memchr(".eE", j->text[j->at], 3))
    return tc_json_fail(j, "an integer is expected, without fraction or exponent");
  *out = v;
  return true;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Length of the UTF-8 sequence at s, or 0: overlong forms, surrogates and values past U+10FFFF
 * are none. */
static size_t utf8_length(const unsigned char *s, size_t n) {
  static const struct {
    unsigned char lo, hi, second_lo, second_hi;
    size_t length;
  } form[] = {
      {0x20, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
      {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
      {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
  };
  for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
    if (s[0] < form[i].lo || s[0] > form[i].hi) continue;
    size_t length = form[i].length;
    if (length > n) return 0;
    if (length > 1 && (s[1] < form[i].second_lo || s[1] > form[i].second_hi)) return 0;
    for (size_t k = 2; k < length; k++)
      if ((s[k] & 0xC0) != 0x80) return 0;
    return length;
  }
  return 0;
}

static size_t put_utf8(char *out, uint32_t c) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
  out[0] = (char)(0xF00u >> n | c);
  return n;
}

/* Four hexadecimal digits. */
static bool read_hex(tc_json *j, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, j->at++) {
    const char *digits = "0123456789abcdef";
    char c = j->at < j->size ? j->text[j->at] : 0;
    if (c >= 'A' && c <= 'F') c = (char)(c - 'A' + 'a');
    const char *found = c ? strchr(digits, c) : NULL;
    if (!found) return tc_json_fail(j, "\\u needs four hexadecimal digits");
    *out = *out << 4 | (uint32_t)(found - digits);
  }
  return true;
}

/* What follows \u, a second half of a surrogate pair included. */
static bool read_unicode(tc_json *j, uint32_t *out) {
  uint32_t low;
  if (!read_hex(j, out)) return false;
  if (*out == 0) return tc_json_fail(j, "\\u0000 in a string");
  if (*out < 0xD800 || *out > 0xDFFF) return true;
  if (*out > 0xDBFF || j->size - j->at < 6 || j->text[j->at] != '\\' || j->text[j->at + 1] != 'u')
    return tc_json_fail(j, "half of a surrogate pair");
  j->at += 2;
  if (!read_hex(j, &low)) return false;
  if (low < 0xDC00 || low > 0xDFFF) return tc_json_fail(j, "half of a surrogate pair");
  *out = 0x10000 + ((*out - 0xD800) << 10) + (low - 0xDC00);
  return true;
}

/* After a backslash. */
static bool read_escape(tc_json *j, char *out, size_t *n) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  char c = j->at < j->size ? j->text[j->at++] : 0;
  uint32_t code;
  if (c == 'u') {
    if (!read_unicode(j, &code)) return false;
    *n += put_utf8(out + *n, code);
    return true;
  }
  const char *found = c ? strchr(from, c) : NULL;
  if (!found) return tc_json_fail(j, "an escape that JSON does not have");
  out[(*n)++] = to[found - from];
  return true;
}

/* The text between the quotes into out, which is large enough: escapes only shrink. */
static bool read_characters(tc_json *j, char *out) {
  size_t n = 0;
  for (;;) {
    if (j->at == j->size) return tc_json_fail(j, "a string without its closing quote");
    if (j->text[j->at] == '"') break;
    if (j->text[j->at] == '\\') {
      j->at++;
      if (!read_escape(j, out, &n)) return false;
      continue;
    }
    size_t length = utf8_length((const unsigned char *)j->text + j->at, j->size - j->at);
    if (length == 0) return tc_json_fail(j, "a control character or bad UTF-8 in a string");
    memcpy(out + n, j->text + j->at, length);
    j->at += length;
    n += length;
  }
  j->at++;
  out[n] = 0;
  return true;
}

/* Bytes up to the closing quote, or to the end. */
static size_t raw_length(const tc_json *j) {
  size_t i = j->at;
  while (i < j->size && j->text[i] != '"') i += j->text[i] == '\\' ? 2 : 1;
  return (i < j->size ? i : j->size) - j->at;
}

bool tc_json_string(tc_json *j, char **out) {
  if (!tc_json_take_if(j, '"')) return tc_json_fail(j, "a string is expected");
  char *text = malloc(raw_length(j) + 1);
  if (!text) return tc_json_fail(j, "out of memory");
  if (!read_characters(j, text)) {
    free(text);
    return false;
  }
  *out = text;
  return true;
}

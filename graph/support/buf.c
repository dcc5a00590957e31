/* Text buffers and growing arrays: capacity doubles, failure leaves the object as it was. */
#include "graph/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tc_grow(void **items, size_t *cap, size_t count, size_t size) {
  if (count < *cap) return true;
  size_t want = *cap ? *cap * 2 : 8, bytes;
  if (want < *cap || __builtin_mul_overflow(want, size, &bytes)) return false;
  void *p = realloc(*items, bytes);
  if (!p) return false;
  *items = p;
  *cap = want;
  return true;
}

void tc_buf_free(tc_buf *b) {
  free(b->text);
  *b = (tc_buf){0};
}

void tc_buf_clear(tc_buf *b) {
  b->len = 0;
  b->failed = false;
  if (b->text) b->text[0] = 0;
}

/* Makes room for n more bytes and the NUL. */
static bool reserve(tc_buf *b, size_t n) {
  size_t want = b->len + n + 1;
  if (b->failed || want < n) return false;
  if (want <= b->cap) return true;
  size_t cap = b->cap ? b->cap : 64;
  while (cap < want) cap = cap > SIZE_MAX / 2 ? want : cap * 2;
  char *p = realloc(b->text, cap);
  if (!p) {
    b->failed = true;
    return false;
  }
  b->text = p;
  b->cap = cap;
  return true;
}

void tc_putn(tc_buf *b, const char *s, size_t n) {
  if (!reserve(b, n)) return;
  if (n) memcpy(b->text + b->len, s, n);
  b->len += n;
  b->text[b->len] = 0;
}

void tc_put(tc_buf *b, const char *s) { tc_putn(b, s, strlen(s)); }

bool tc_put_rest(tc_buf *b, FILE *file) {
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) tc_putn(b, part, n);
  return !ferror(file) && !b->failed;
}

void tc_vputf(tc_buf *b, const char *format, va_list ap) {
  enum { USUAL = 128 }; /* characters, which are printed once */
  va_list again;
  va_copy(again, ap);
  int n = reserve(b, USUAL) ? vsnprintf(b->text + b->len, USUAL + 1, format, ap) : 0;
  if (n > USUAL && reserve(b, (size_t)n)) vsnprintf(b->text + b->len, (size_t)n + 1, format, again);
  if (n < 0) b->failed = true;
  if (b->failed) n = 0;
  b->len += (size_t)n;
  if (b->text) b->text[b->len] = 0;
  va_end(again);
}

void tc_putf(tc_buf *b, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  tc_vputf(b, format, ap);
  va_end(ap);
}

void tc_put_double(tc_buf *b, double v) {
  if (isnan(v)) return tc_put(b, signbit(v) ? "-NAN" : "NAN");
  if (isinf(v)) return tc_put(b, v < 0 ? "-INFINITY" : "INFINITY");
  char s[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(s, sizeof s, "%.*g", digits, v);
    if (strtod(s, NULL) == v) break;
  }
  tc_put(b, s);
  if (!strpbrk(s, ".e")) tc_put(b, ".0");
}

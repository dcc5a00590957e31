/* verify_message.c - the rule that is broken, as text. */
#include "lower/verify.h"

#include <stdarg.h>
#include <stdio.h>

void lo_wrong(lo_checker *c, const char *format, ...) {
  if (!c->ok) return;
  c->ok = false;
  int n = snprintf(c->message, c->size, "%s: ", c->k && c->k->name ? c->k->name : "program");
  if (n < 0 || (size_t)n >= c->size) return;
  va_list ap;
  va_start(ap, format);
  vsnprintf(c->message + n, c->size - (size_t)n, format, ap);
  va_end(ap);
}

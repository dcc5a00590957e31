/* Errors are values: a thread keeps the message of its first error until it is cleared. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/libtcrt/src/internal.h"

typedef struct error_state {
  const char *file;
  int line;
  bool pending;
  char message[1024];
} error_state;

static _Thread_local error_state state;

void tc_here(const char *file, int line) {
  state.file = file;
  state.line = line;
}

const char *tc_error(void) { return state.pending ? state.message : NULL; }

void tc_clear_error(void) { state.pending = false; }

void *tc_fail(const char *format, ...) {
  if (state.pending) return NULL;
  int at = 0;
  if (state.file) {
    const char *slash = strrchr(state.file, '/');
    const char *name = slash ? slash + 1 : state.file;
    at = snprintf(state.message, sizeof state.message, "%s:%d: ", name, state.line);
    if (at < 0 || at >= (int)sizeof state.message) at = 0;
  }
  va_list ap;
  va_start(ap, format);
  vsnprintf(state.message + at, sizeof state.message - (size_t)at, format, ap);
  va_end(ap);
  state.pending = true;
  return NULL;
}

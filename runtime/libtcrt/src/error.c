/* Errors are values: a thread keeps the message of its first error until it is cleared, and
 * counts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/libtcrt/src/memory/check.h"
#include "runtime/libtcrt/src/internal.h"
#include "runtime/libtcrt/src/settings.h"

typedef struct error_state {
  const char *file;
  int line;
  tc_error_kind kind; /* of the first error */
  int count;
  char message[1024];
} error_state;

static _Thread_local error_state state;

void tc_here(const char *file, int line) {
  state.file = file;
  state.line = line;
}

tc_place_called tc_last_place(void) { return (tc_place_called){state.file, state.line}; }

const char *tc_error(void) { return state.count ? state.message : NULL; }
tc_error_kind tc_error_code(void) { return state.count ? state.kind : TC_ERROR_NONE; }
int tc_error_count(void) { return state.count; }
void tc_clear_error(void) { state.count = 0; }

static void put_message(char *out, size_t size, const char *format, va_list ap) {
  int at = 0;
  if (state.file) {
    const char *slash = strrchr(state.file, '/');
    const char *name = slash ? slash + 1 : state.file;
    at = snprintf(out, size, "%s:%d: ", name, state.line);
    if (at < 0 || at >= (int)size) at = 0;
  }
  vsnprintf(out + at, size - (size_t)at, format, ap);
}

void *tc_fail_as(tc_error_kind kind, const char *format, ...) {
  char later[sizeof state.message], *message = state.count ? later : state.message;
  const tc_errors wish = tc_settings_now.errors;
  if (state.count && kind == TC_ERROR_NULL) return NULL; /* passes on that something failed */
  if (!state.count || wish) {
    va_list ap;
    va_start(ap, format);
    put_message(message, sizeof later, format, ap);
    va_end(ap);
  }
  if (!state.count) state.kind = kind;
  if (state.count < INT32_MAX) state.count++;
  if (wish) fprintf(stderr, "tcompile: error: %s\n", message);
  if (wish == TC_ERRORS_ABORT) abort();
  return NULL;
}

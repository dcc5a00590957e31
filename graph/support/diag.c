/* Diagnostics: formats the text and hands it to whoever shows messages. */
#include "graph/support/support.h"

void tc_vreport(tc_diag *d, tc_severity s, tc_loc loc, const char *format, va_list ap) {
  if (!d || !d->emit) return;
  tc_buf text = {0};
  tc_vputf(&text, format, ap);
  d->emit(d->self, s, loc, text.text && !text.failed ? text.text : "out of memory");
  tc_buf_free(&text);
}

void tc_report(tc_diag *d, tc_severity s, tc_loc loc, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  tc_vreport(d, s, loc, format, ap);
  va_end(ap);
}

/* text.c - C strings, and headers within texts. */
#include "backends/entry/entry.h"

#include <string.h>

void tc_entry_put_quoted(tc_buf *out, const char *s) {
  tc_put(out, "\"");
  for (; s && *s; ++s) {
    if (*s == '"' || *s == '\\') tc_put(out, "\\");
    if ((unsigned char)*s >= ' ') tc_putn(out, s, 1);
  }
  tc_put(out, "\"");
}

void tc_entry_put_header(const char *text, tc_buf *out) {
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    const size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
    if (strncmp(line, "#include", 8) != 0) tc_putn(out, line, n);
    line += n;
  }
}

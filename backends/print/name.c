/* name.c - the last steps of a kernel's text: unused declarations go, the name comes from the hash.
 */
#include "backends/print/print.h"

#include <string.h>

/* Appends the text without comments: equal kernels of different lines have one name. */
static void strip(const char *text, tc_buf *out) {
  while (*text) {
    const char *open = strstr(text, "/*"), *close = open ? strstr(open, "*/") : NULL;
    if (!close) break;
    tc_putn(out, text, (size_t)(open - text));
    text = close + 2;
  }
  tc_put(out, text);
}

/* Within the function: functions end with a brace in the first column. */
static bool names_again(const char *line_end, const char *name, size_t n) {
  const char *end = strstr(line_end, "\n}");
  for (const char *p = line_end; (p = strstr(p, name)) && (!end || p < end); p += n) {
    const char c = p[n];
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return true;
  }
  return false;
}

/* The name that a line `  const <type> s_B = ...` or `  const <type> a0 = ...` declares, or NULL.
 */
static const char *declared(const char *line) {
  if (strncmp(line, "  const ", 8) != 0) return NULL;
  const char *name = strchr(line + 8, ' ');
  if (!name++ || memchr(line, '\n', (size_t)(name - line))) return NULL;
  const bool symbol = name[0] == 's' && name[1] == '_';
  const bool scalar = name[0] == 'a' && name[1] >= '0' && name[1] <= '9';
  return symbol || scalar ? name : NULL;
}

/* Copies text without the symbols and scalars (`  const int64_t s_B = ...`) that nothing below
 * names. */
static void drop_unused(const char *text, tc_buf *out) {
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    const size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
    const char *name = declared(line);
    char word[256];
    const size_t length = name ? strcspn(name, " ") : 0;
    bool keep = true;
    if (name && length < sizeof word) {
      memcpy(word, name, length);
      word[length] = 0;
      keep = names_again(line + n, word, length);
    }
    if (keep) tc_putn(out, line, n);
    line += n;
  }
}

/* A C identifier: the kernel's readable name without its number, and the hash. */
static void put_name(const tc_kernel *k, uint64_t hash, const char *suffix, tc_buf *name) {
  const char *text = k->name ? k->name : "kernel", *end = text + strlen(text);
  while (end > text && end[-1] >= '0' && end[-1] <= '9') --end;
  while (end > text && end[-1] == '_') --end;
  tc_put(name, "tck_");
  for (const char *c = text; c < end && name->len < 60; ++c) {
    const bool ok =
        (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    tc_putn(name, ok ? c : "_", 1);
  }
  tc_putf(name, "_%016llx%s", (unsigned long long)hash, suffix);
}

void tc_print_named(const char *text, const char *name, tc_buf *out) {
  for (const char *at; (at = strstr(text, "@NAME@")); text = at + 6) {
    tc_putn(out, text, (size_t)(at - text));
    tc_put(out, name);
  }
  tc_put(out, text);
}

bool tc_print_finish_numbered(const tc_kernel *k, const char *raw, tc_kernel_text *t, tc_buf *out) {
  tc_buf body = {0}, numbered = {0}, nameless = {0}, bare = {0};
  drop_unused(raw, &body);
  bool ok = body.text && !body.failed && tc_print_arguments(body.text, t, &numbered, &nameless);
  if (ok) strip(nameless.text, &bare);
  ok = ok && bare.text && !bare.failed;
  if (ok) {
    put_name(k, tc_hash(bare.text, bare.len, 0), "", &t->name);
    tc_print_named(numbered.text, t->name.text ? t->name.text : "", out);
  }
  tc_buf_free(&body);
  tc_buf_free(&numbered);
  tc_buf_free(&nameless);
  tc_buf_free(&bare);
  return ok && !out->failed && !t->name.failed;
}

bool tc_print_finish(const tc_kernel *k, const char *raw, const char *also, const char *suffix,
                     tc_buf *name, tc_buf *out) {
  tc_buf body = {0}, bare = {0};
  drop_unused(raw, &body);
  strip(body.text ? body.text : "", &bare);
  const bool ok = body.text && bare.text && !body.failed && !bare.failed;
  if (ok) {
    const uint64_t seed = also ? tc_hash(also, strlen(also), 0) : 0;
    put_name(k, tc_hash(bare.text, bare.len, seed), suffix, name);
    tc_print_named(body.text, name->text ? name->text : "", out);
  }
  tc_buf_free(&body);
  tc_buf_free(&bare);
  return ok && !out->failed && !name->failed;
}

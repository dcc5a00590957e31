/* name.c - the last steps of a kernel's text: unused declarations go, the name comes from the hash.
 */
#include "backends/backend.h"
#include "backends/print/print.h"

#include <string.h>

void tc_put_bare(const char *text, tc_buf *out) {
  for (const char *open = text; (open = strstr(open, "/*"));) {
    const char *close = strstr(open, "*/");
    const bool within = close && !memchr(open, '\n', (size_t)(close - open));
    if (within) tc_putn(out, text, (size_t)(open - text));
    open = within ? close + 2 : open + 2;
    if (within) text = open;
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

/* Text and launcher with their arguments numbered: one text in `numbered`, of which the first
 * `*body` characters are the kernel's; the name. */
static bool finish(const tc_kernel *k, const char *raw, const char *launcher, const char *suffix,
                   tc_kernel_text *t, tc_buf *numbered, size_t *body) {
  tc_buf whole = {0}, nameless = {0}, bare = {0};
  drop_unused(raw, &whole);
  *body = whole.len;
  tc_put(&whole, launcher);
  bool ok = whole.text && !whole.failed && tc_print_arguments(whole.text, t, numbered, &nameless);
  if (ok) tc_put_bare(nameless.text, &bare);
  ok = ok && bare.text && !bare.failed;
  if (ok) put_name(k, tc_hash(bare.text, bare.len, 0), suffix, &t->name);
  tc_buf_free(&whole);
  tc_buf_free(&nameless);
  tc_buf_free(&bare);
  return ok && !t->name.failed;
}

bool tc_print_finish(const tc_kernel *k, const char *raw, tc_kernel_text *t, tc_buf *out) {
  tc_buf numbered = {0};
  size_t body;
  const bool ok = finish(k, raw, "", "", t, &numbered, &body);
  if (ok) tc_print_named(numbered.text, t->name.text, out);
  tc_buf_free(&numbered);
  return ok && !out->failed;
}

bool tc_print_finish_pair(const tc_kernel *k, const char *raw, const char *launcher,
                          const char *suffix, tc_kernel_text *t) {
  tc_buf numbered = {0}, kernel = {0};
  size_t body;
  bool ok = finish(k, raw, launcher, suffix, t, &numbered, &body);
  if (ok) tc_putn(&kernel, numbered.text, body); /* declares nothing by number: as long as it was */
  ok = ok && kernel.text && !kernel.failed;
  if (ok) tc_print_named(kernel.text, t->name.text, &t->text);
  if (ok) tc_print_named(numbered.text + body, t->name.text, &t->launcher);
  tc_buf_free(&numbered);
  tc_buf_free(&kernel);
  return ok && !t->text.failed && !t->launcher.failed;
}

/* name.c - the last steps of a kernel's text: unused declarations go, the name comes from the hash.
 */
#include "backends/backend.h"
#include "backends/print/print.h"

#include <stdlib.h>
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

static bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A symbol or scalar: s_B, a0. */
static bool is_argument(const char *word) {
  return (word[0] == 's' && word[1] == '_') || (word[0] == 'a' && word[1] >= '0' && word[1] <= '9');
}

/* The name that a line `  const <type> s_B = ...` or `  const <type> a0 = ...` declares, or NULL.
 */
static const char *declared(const char *line) {
  if (strncmp(line, "  const ", 8) != 0) return NULL;
  const char *name = strchr(line + 8, ' ');
  if (!name++ || memchr(line, '\n', (size_t)(name - line))) return NULL;
  return is_argument(name) ? name : NULL;
}

static const char *next_line(const char *line) {
  const char *end = strchr(line, '\n');
  return end ? end + 1 : line + strlen(line);
}

typedef struct declaration {
  const char *line, *name;
  size_t length;
  bool used; /* below its line */
} declaration;

typedef TC_VEC(declaration) declarations;

/* Marks those of the list that the words of text, up to end, name. */
static void mark_used(declarations *list, const char *text, const char *end) {
  while (text < end) {
    size_t n = 0;
    while (in_word(text[n])) ++n;
    const size_t candidates = n && is_argument(text) ? list->n : 0;
    for (size_t i = 0; i < candidates; ++i) {
      declaration *d = &list->at[i];
      if (!d->used && d->name < text && d->length == n && !memcmp(d->name, text, n)) d->used = true;
    }
    text += n ? n : 1;
  }
}

/* One function, up to end, without the symbols and scalars (`  const int64_t s_B = ...`) that
 * nothing below names.  false: out of memory. */
static bool drop_unused_of(const char *function, const char *end, declarations *list, tc_buf *out) {
  list->n = 0;
  for (const char *line = function; line < end; line = next_line(line)) {
    const char *name = declared(line);
    const declaration d = {line, name, name ? strcspn(name, " ") : 0, false};
    if (name && !tc_push(list, d)) return false;
  }
  mark_used(list, function, end);
  const char *from = function; /* what is not copied yet */
  for (size_t i = 0; i < list->n; ++i) {
    const declaration *d = &list->at[i];
    if (d->used) continue;
    tc_putn(out, from, (size_t)(d->line - from));
    from = next_line(d->line);
  }
  tc_putn(out, from, (size_t)(end - from));
  return true;
}

/* The text without what its functions, which end with a brace in the first column, do not use. */
static bool drop_unused(const char *text, tc_buf *out) {
  declarations list = {0};
  bool ok = true;
  while (ok && *text) {
    const char *brace = strstr(text, "\n}"), *end = brace ? brace + 2 : text + strlen(text);
    ok = drop_unused_of(text, end, &list, out);
    text = end;
  }
  free(list.at);
  return ok;
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
  bool ok = drop_unused(raw, &whole);
  *body = whole.len;
  tc_put(&whole, launcher);
  ok = ok && whole.text && !whole.failed && tc_print_arguments(whole.text, t, numbered, &nameless);
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

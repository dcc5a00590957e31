/* sizes.c - what --size names, beside the names that the rows have. */
#include <string.h>

#include "tools/explain/explain.h"

size_t explain_word(const char *s) {
  return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

bool explain_names(const char *text, const char *name, size_t n, const char *written) {
  const size_t length = strcspn(text, "=");
  return (length == n && !strncmp(text, name, n)) ||
         (written && length == strlen(written) && !strncmp(text, written, length));
}

bool explain_is_size(const char *s) {
  const size_t name = strcspn(s, "=");
  const char *value = s + name + 1;
  if (!explain_word(s) || (*s >= '0' && *s <= '9') || s[name] != '=') return false;
  const size_t n = strspn(value, "0123456789");
  return n > 0 && n < 18 && !value[n];
}

/* Whether `names`, "B, T", has the word. */
static bool has_name(const tc_buf *names, const char *word, size_t n) {
  for (const char *at = names->text ? names->text : ""; *at; at += strspn(at, ", ")) {
    const size_t length = strcspn(at, ", ");
    if (length == n && !strncmp(at, word, n)) return true;
    at += length;
  }
  return false;
}

static void meet(const char *word, size_t n, const char *written, bool expression,
                 explain_sizes *sizes) {
  for (int i = 0; i < sizes->n; ++i)
    if (explain_names(sizes->at[i], word, n, written)) sizes->met[i] = true;
  const bool function = n == 3 && (!strncmp(word, "min", 3) || !strncmp(word, "max", 3));
  if (written) word = written, n = strlen(written);
  if (!expression || function || has_name(&sizes->names, word, n)) return;
  tc_putf(&sizes->names, "%s%.*s", sizes->names.len ? ", " : "", (int)n, word);
}

/* Where the sizes of a guard begin: "x is f32[N,M]", "N == M". */
static const char *sizes_of_guard(const char *s) {
  const char *bracket = strchr(s, '[');
  return strstr(s, " is ") && bracket ? bracket : s;
}

/* Guards name sizes too, that nothing may depend on. */
void explain_meet_sizes(const explain_rows *rows, explain_sizes *sizes) {
  for (size_t i = 0; i < rows->n; ++i) {
    const explain_kind k = explain_kind_of(rows->at[i].kind);
    for (int f = 0; f < k.nfield; ++f) {
      const bool expression = k.field[f].kind == 'e';
      if (!expression && rows->at[i].kind != TC_EXPLAIN_GUARD) continue;
      const char *text = rows->at[i].field[f];
      for (const char *s = expression ? text : sizes_of_guard(text); *s;) {
        const size_t n = explain_word(s);
        if (n && !(*s >= '0' && *s <= '9'))
          meet(s, n, explain_written(rows, i, s, n), expression, sizes);
        s += n ? n : 1;
      }
    }
  }
}

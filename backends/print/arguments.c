/* arguments.c - a kernel takes those symbols and scalars of its program that it names, numbered in
 * the order of its text; and it is known by its text without their names.  So the same kernel of
 * two layers, whose sizes are other symbols of the program, is one. */
#include <stdlib.h>
#include <string.h>

#include "backends/print/print.h"

typedef struct argument {
  const char *name; /* in the text */
  size_t length;
  bool scalar;
  uint32_t program, number; /* index in the program, and of the kernel */
} argument;

typedef TC_VEC(argument) arguments;

/* `  const int64_t s_B = sym[2];` or `  const double a0 = scalar[0].f;`: the index's place; else
 * NULL. */
static const char *declaration(const char *line, size_t n, argument *a) {
  static const char head[] = "  const ";
  if (n < sizeof head || strncmp(line, head, sizeof head - 1) != 0) return NULL;
  const char *name = memchr(line + sizeof head - 1, ' ', n - (sizeof head - 1));
  if (!name++) return NULL;
  const size_t left = n - (size_t)(name - line);
  const char *space = memchr(name, ' ', left);
  if (!space) return NULL;
  const bool symbol = !strncmp(space, " = sym[", 7), scalar = !strncmp(space, " = scalar[", 10);
  if (!symbol && !scalar) return NULL;
  const char *index = space + (symbol ? 7 : 10);
  *a = (argument){name, (size_t)(space - name), scalar, (uint32_t)strtoul(index, NULL, 10), 0};
  return index;
}

static const argument *find(const arguments *list, const char *word, size_t n) {
  for (size_t i = 0; i < list->n; ++i)
    if (list->at[i].length == n && !memcmp(list->at[i].name, word, n)) return &list->at[i];
  return NULL;
}

/* false: out of memory. */
static bool add(arguments *list, argument *a) {
  const argument *known = find(list, a->name, a->length);
  if (known) {
    a->number = known->number;
    return true;
  }
  for (size_t i = 0; i < list->n; ++i) a->number += list->at[i].scalar == a->scalar;
  return tc_push(list, *a);
}

static bool renumber(const char *text, arguments *list, tc_buf *out) {
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    const size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
    argument a;
    const char *index = declaration(line, n, &a);
    if (index) {
      if (!add(list, &a)) return false;
      tc_putn(out, line, (size_t)(index - line));
      tc_putf(out, "%u", a.number);
      index += strspn(index, "0123456789");
      tc_putn(out, index, n - (size_t)(index - line));
    } else {
      tc_putn(out, line, n);
    }
    line += n;
  }
  return true;
}

static bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The argument that a word names; z_B is symbol s_B as a parameter of device text. */
static const argument *named(const arguments *list, const char *word, size_t n) {
  for (size_t i = 0; i < list->n; ++i) {
    const argument *a = &list->at[i];
    if (a->length != n || memcmp(a->name + 1, word + 1, n - 1) != 0) continue;
    if (word[0] == a->name[0] || (!a->scalar && word[0] == 'z')) return a;
  }
  return NULL;
}

/* Names become what no C text has: $s0, $z0, $a1. */
static void put_nameless(const char *text, const arguments *list, tc_buf *out) {
  const char *from = text; /* what is not copied yet */
  while (*text) {
    size_t n = 0;
    while (in_word(text[n])) ++n;
    const argument *a = n ? named(list, text, n) : NULL;
    if (a) {
      tc_putn(out, from, (size_t)(text - from));
      tc_putf(out, "$%c%u", text[0], a->number);
      from = text + n;
    }
    text += n ? n : 1;
  }
  tc_put(out, from);
}

static bool keep(const arguments *list, tc_kernel_text *t) {
  t->sym = calloc(list->n + 1, sizeof *t->sym);
  t->scalar = calloc(list->n + 1, sizeof *t->scalar);
  if (!t->sym || !t->scalar) return false;
  for (size_t i = 0; i < list->n; ++i) {
    const argument *a = &list->at[i];
    if (a->scalar) t->scalar[t->nscalar++] = a->program;
    else t->sym[t->nsym++] = a->program;
  }
  return true;
}

bool tc_print_arguments(const char *text, tc_kernel_text *t, tc_buf *out, tc_buf *nameless) {
  arguments list = {0};
  const bool ok = renumber(text, &list, out) && keep(&list, t);
  if (ok && out->text) put_nameless(out->text, &list, nameless);
  free(list.at);
  return ok && !out->failed && !nameless->failed;
}

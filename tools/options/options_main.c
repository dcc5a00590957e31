/* tc-options - lists the options of the compiler: defaults, meanings, and where each may stand. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/registry.h"

typedef struct {
  const char *key, *values, *fallback;
  bool of_file;
  const char *meaning;
} option_row;

static const option_row rows[] = {
#define TC_OPTION(key, setter, values, fallback, of_file, meaning)                                 \
  {key, values, fallback, of_file, meaning},
#include "frontend/options.def"
};

/* The table, then what the backends of this build add to it.  false: there are no more. */
static bool row_at(size_t i, option_row *row) {
  const size_t n = sizeof rows / sizeof *rows;
  if (i < n) {
    *row = rows[i];
    return true;
  }
  i -= n;
  for (uint32_t b = 0; tc_backend_of_build(b); i -= tc_backend_of_build(b++)->noption) {
    if (i >= tc_backend_of_build(b)->noption) continue;
    const tc_backend_option *o = &tc_backend_of_build(b)->option[i];
    *row = (option_row){o->key, o->values, o->fallback, o->of_file, o->meaning};
    return true;
  }
  return false;
}

/* Words of `text` in lines of at most `width` characters behind an indent. */
static void put_wrapped(const char *text, int width) {
  int column = 0;
  while (*text) {
    const int n = (int)strcspn(text, " ");
    if (column && column + 1 + n > width) column = 0;
    printf("%s%.*s", column ? " " : "\n    ", n, text);
    column += n + (column ? 1 : 0);
    text += n;
    text += strspn(text, " ");
  }
  printf("\n");
}

static void print_text(void) {
  printf("At a function: TC_COMPILE_WITH(\"KEY=VALUE\", ...).  For a file: "
         "-fplugin-arg-tc-KEY=VALUE.\n"
         "What stands at a function wins.  A flag without a value is true.\n");
  option_row row, *const r = &row;
  for (size_t i = 0; row_at(i, &row); ++i) {
    printf("\n%s=%s\n    default: %s; %s", r->key, r->values, r->fallback,
           r->of_file ? "for a file" : "at a function or for a file");
    put_wrapped(r->meaning, 90);
  }
}

static void put_json_string(const char *text) {
  putchar('"');
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar(*text);
  }
  putchar('"');
}

static void print_json(void) {
  printf("[");
  option_row row, *const r = &row;
  for (size_t i = 0; row_at(i, &row); ++i) {
    const char *const field[][2] = {
        {"key", r->key}, {"values", r->values}, {"default", r->fallback}, {"meaning", r->meaning}};
    printf("%s\n  {", i ? "," : "");
    for (int j = 0; j < 4; ++j) {
      printf("\"%s\": ", field[j][0]);
      put_json_string(field[j][1]);
      printf(", ");
    }
    printf("\"at_function\": %s}", r->of_file ? "false" : "true");
  }
  printf("\n]\n");
}

static void print_usage(FILE *to) {
  fputs("usage: tc-options [--json]\n"
        "  lists the options of the compiler: defaults, meanings, and where each may stand\n"
        "  --json  for programs\n",
        to);
}

static void print_help(void) { print_usage(stdout); }

int main(int argc, char **argv) {
  const bool json = argc == 2 && !strcmp(argv[1], "--json");
  const bool help = argc == 2 && !strcmp(argv[1], "--help");
  if (argc > 1 && !json && !help) {
    fprintf(stderr, "tc-options: '%s' is not understood\n", argv[argc > 2 ? 2 : 1]);
    print_usage(stderr);
    return 2;
  }
  (help ? print_help : json ? print_json : print_text)();
  return fflush(stdout) || ferror(stdout);
}

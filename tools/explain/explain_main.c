/* tc-explain - how the functions in an object, executable or archive were compiled.
 *
 *   tc-explain [--json] [--size NAME=VALUE]... FILE...
 *
 * --size gives a size that TC_SHAPE names a value, so that flops and bytes come out as numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/explain.h"

static bool read_all(const char *path, tc_buf *file) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  char part[65536];
  for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) tc_putn(file, part, n);
  const bool ok = !ferror(f) && !file->failed;
  fclose(f);
  return ok;
}

static bool complain(const char *path, const char *why) {
  fprintf(stderr, "tc-explain: %s: %s\n", path, why);
  return false;
}

static bool show(const char *path, tc_buf *text, bool json, const explain_sizes *sizes) {
  explain_rows rows = {0};
  tc_buf out = {0};
  const char *error = NULL;
  size_t line = 0;
  bool ok = explain_parse(text, &rows, &error, &line);
  if (!ok) {
    fprintf(stderr, "tc-explain: %s: the section " TC_EXPLAIN_SECTION " is damaged: %s (row %zu)\n",
            path, error, line);
  } else {
    (json ? explain_print_json : explain_print)(&rows, sizes, &out);
    ok = !out.failed && fwrite(out.text, 1, out.len, stdout) == out.len;
    if (!ok) complain(path, "the output could not be written");
  }
  tc_buf_free(&out);
  free(rows.at);
  return ok;
}

static bool explain(const char *path, bool json, const explain_sizes *sizes) {
  tc_buf file = {0}, text = {0};
  const char *error = NULL;
  bool ok = read_all(path, &file) || complain(path, "cannot be read");
  if (ok && !explain_read((const unsigned char *)file.text, file.len, &text, &error))
    ok = complain(path, error);
  if (ok && (text.failed || !text.len))
    ok = complain(path, text.failed ? "out of memory"
                                    : "has no section " TC_EXPLAIN_SECTION
                                      ": no marked function was compiled with the plugin");
  ok = ok && show(path, &text, json, sizes);
  tc_buf_free(&text);
  tc_buf_free(&file);
  return ok;
}

/* NAME=VALUE, with a value that sizes can have. */
static bool is_size(const char *s) {
  const char *value = strchr(s, '=');
  const size_t n = value ? strspn(value + 1, "0123456789") : 0;
  return value && value > s && n > 0 && n < 18 && !value[1 + n];
}

static int usage(const char *what) {
  fprintf(stderr,
          "tc-explain: '%s' is not understood\n"
          "usage: tc-explain [--json] [--size NAME=VALUE]... FILE...\n",
          what);
  return 2;
}

int main(int argc, char **argv) {
  bool json = false;
  explain_sizes sizes = {0, calloc((size_t)argc + 1, sizeof(char *))};
  int first = 1;
  for (; first < argc && !strncmp(argv[first], "--", 2); ++first) {
    const bool size =
        !strcmp(argv[first], "--size") && first + 1 < argc && is_size(argv[first + 1]);
    if (size && sizes.at) sizes.at[sizes.n++] = argv[++first];
    else if (!strcmp(argv[first], "--json")) json = true;
    else return usage(argv[first]);
  }
  if (first >= argc) return usage("no file");
  bool ok = sizes.at != NULL;
  for (int i = first; ok && i < argc; ++i) ok = explain(argv[i], json, &sizes);
  free(sizes.at);
  return ok ? 0 : 1;
}

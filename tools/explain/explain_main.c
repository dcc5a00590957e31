/* tc-explain - how the functions in an object, executable or archive were compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/explain.h"

static bool read_all(const char *path, tc_buf *file) {
  FILE *f = fopen(path, "rb");
  const bool ok = f && tc_put_rest(file, f);
  if (f) fclose(f);
  return ok;
}

static bool complain(const char *path, const char *why) {
  fprintf(stderr, "tc-explain: %s: %s\n", path, why);
  return false;
}

static bool show(const char *path, tc_buf *text, bool json, explain_sizes *sizes) {
  explain_rows rows = {0};
  tc_buf out = {0};
  const char *error = NULL;
  size_t line = 0;
  bool ok = explain_parse(text, &rows, &error, &line);
  if (!ok) {
    fprintf(stderr, "tc-explain: %s: the section " TC_EXPLAIN_SECTION " is damaged: %s (row %zu)\n",
            path, error, line);
  } else {
    explain_meet_sizes(&rows, sizes);
    (json ? explain_print_json : explain_print)(&rows, sizes, &out);
    ok = !out.failed && fwrite(out.text, 1, out.len, stdout) == out.len;
    if (!ok) complain(path, "the output could not be written");
  }
  tc_buf_free(&out);
  free(rows.at);
  return ok;
}

static bool explain(const char *path, bool json, explain_sizes *sizes) {
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

/* A size that no file has is a slip of the pen. */
static bool sizes_are_known(const explain_sizes *sizes) {
  bool known = true;
  for (int i = 0; i < sizes->n; ++i) {
    if (sizes->met[i]) continue;
    known = false;
    fprintf(stderr, "tc-explain: --size %s: nothing here has a size of that name%s%s\n",
            sizes->at[i], sizes->names.len ? "; there are " : "",
            sizes->names.len ? sizes->names.text : "");
  }
  return known;
}

static const char usage[] =
    "usage: tc-explain [--json] [--size NAME=VALUE]... FILE...\n"
    "  tells how the functions in objects, executables, shared libraries and archives were "
    "compiled\n"
    "  --json             for programs: one JSON document a file\n"
    "  --size NAME=VALUE  flops and bytes as numbers, for a size that TC_SHAPE names\n";

static int refuse(const char *what, const char *why) {
  fprintf(stderr, "tc-explain: '%s' %s\n%s", what, why, usage);
  return 2;
}

/* The index of the first file, or minus the exit status - 1 when there is nothing to do. */
static int parse(int argc, char **argv, bool *json, explain_sizes *sizes) {
  int i = 1;
  for (; i < argc && !strncmp(argv[i], "--", 2); ++i) {
    if (!strcmp(argv[i], "--help")) return fputs(usage, stdout) < 0 ? -2 : -1;
    if (!strcmp(argv[i], "--json")) *json = true;
    else if (strcmp(argv[i], "--size") != 0) return -1 - refuse(argv[i], "is not understood");
    else if (i + 1 >= argc || !explain_is_size(argv[i + 1]))
      return -1 - refuse(i + 1 < argc ? argv[i + 1] : "--size",
                         "is no size: --size NAME=VALUE takes a name and a number, such as B=32");
    else sizes->at[sizes->n++] = argv[++i];
  }
  return i < argc ? i : -1 - refuse("FILE", "is missing");
}

int main(int argc, char **argv) {
  bool json = false;
  explain_sizes sizes = {.at = calloc((size_t)argc + 1, sizeof(char *)),
                         .met = calloc((size_t)argc + 1, sizeof(bool))};
  int i = sizes.at && sizes.met ? parse(argc, argv, &json, &sizes) : -2;
  int status = i < 0 ? -1 - i : 0;
  for (; i > 0 && i < argc; ++i)
    if (!explain(argv[i], json, &sizes)) status = 1;
  if (i > 0 && !status && !sizes_are_known(&sizes)) status = 1;
  tc_buf_free(&sizes.names);
  free(sizes.at);
  free(sizes.met);
  return status;
}

/* tcompile - the compiler without a C frontend: reads a graph in text form, prints C.
 *
 *   tcompile [--host | --kernels | --loops] [file]     (standard input without a file)
 *
 * Prints both texts by default; the kernel text wants -DTC_LEVEL=v2|v3|v4|bf16|amx.  The name of
 * the graph becomes the entry's symbol. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "graph/pass.h"
#include "graph/text.h"

static void print_diag(void *self, tc_severity s, tc_loc loc, const char *text) {
  static const char *const name[] = {"note", "remark", "missed", "warning", "error"};
  (void)self;
  fprintf(stderr, "%u:%u: %s: %s\n", loc.line, loc.col, name[s], text);
}

static bool read_all(FILE *file, tc_buf *text) {
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) tc_putn(text, part, n);
  return !ferror(file) && !text->failed;
}

static int print_loops(tc_graph *g) {
  g = tc_graph_optimize(g);
  tc_program *p = g ? tc_lower(g, &tc_target_cores) : NULL;
  tc_buf out = {0};
  if (p) tc_program_print(p, &out);
  fputs(out.text ? out.text : "", stdout);
  tc_buf_free(&out);
  const int status = p ? 0 : 1;
  if (p) tc_program_free(p);
  if (g) tc_graph_free(g);
  return status;
}

static int print_texts(tc_graph *g, const char *file, bool host, bool kernels) {
  tc_function f = {.symbol = tc_graph_name(g),
                   .name = tc_graph_name(g),
                   .file = file,
                   .line = 1,
                   .graph = g,
                   .ops = (int)tc_graph_count(g)};
  char *name = strdup(f.name);
  f.symbol = f.name = name;
  tc_result result;
  tc_texts texts = {0};
  const bool ok =
      name && tc_compile_functions(&f, 1, NULL, &result, &texts) && result.compiled;
  if (ok && kernels) fputs(texts.kernels.text, stdout);
  if (ok && host) fputs(texts.host.text, stdout);
  tc_texts_free(&texts);
  free(name);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  bool host = true, kernels = true, loops = false;
  const char *path = NULL;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--host")) kernels = false;
    else if (!strcmp(argv[i], "--kernels")) host = false;
    else if (!strcmp(argv[i], "--loops")) loops = true;
    else path = argv[i];
  }
  FILE *file = path ? fopen(path, "r") : stdin;
  tc_buf text = {0};
  if (!file || !read_all(file, &text)) {
    fprintf(stderr, "tcompile: cannot read %s\n", path ? path : "standard input");
    return 1;
  }
  if (path) fclose(file);
  tc_diag diag = {print_diag, NULL};
  tc_graph *g = tc_graph_parse(text.text ? text.text : "", &diag);
  tc_buf_free(&text);
  if (!g) return 1;
  return loops ? print_loops(g) : print_texts(g, path ? path : "-", host, kernels);
}

/* pass_test.c - see pass_test.h. */
#include "tests/passes/pass_test.h"

#include "graph/text.h"

#include <stdio.h>
#include <string.h>

static void say(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s;
  fprintf(stderr, "line %u: %s\n", loc.line, text);
}
static tc_diag loud = {say, NULL};

tc_graph *graph_of(const char *text) {
  tc_graph *g = tc_graph_parse(text, &loud);
  cr_assert_not_null(g, "does not parse:\n%s", text);
  return g;
}

/* Without locations, which differ between the two texts, and without dead nodes.  Frees g. */
static tc_buf text_of(tc_graph *g) {
  tc_buf b = {0}, plain = {0};
  tc_graph *live = tc_pass_dce(g);
  tc_graph_print(live, &b);
  for (const char *line = b.text; line && *line; line += strcspn(line, "\n") + 1) {
    size_t n = strcspn(line, ";\n");
    while (n && line[n - 1] == ' ') n--;
    tc_putn(&plain, line, n);
    tc_put(&plain, "\n");
  }
  tc_buf_free(&b);
  if (live != g) tc_graph_free(live);
  tc_graph_free(g);
  return plain;
}

void check_pass(const char *title, tc_pass_fn *pass, const char *before, const char *after) {
  char message[256] = "";
  tc_graph *g = graph_of(before), *want = graph_of(after), *got = pass(g);
  cr_assert_not_null(got, "%s: refused", title);
  cr_assert(tc_graph_verify(got, message, sizeof message), "%s: %s", title, message);
  if (got != g) tc_graph_free(g);
  tc_buf a = text_of(got), b = text_of(want);
  cr_expect_str_eq(a.text, b.text, "%s: got\n%swanted\n%s", title, a.text, b.text);
  tc_buf_free(&a);
  tc_buf_free(&b);
}

tc_graph *optimized(tc_graph *g) {
  tc_graph *y = tc_graph_optimize(g);
  cr_assert_not_null(y);
  return y;
}

int count_after(const char *text, tc_op op) {
  tc_graph *g = optimized(graph_of(text));
  int n = 0;
  for (uint32_t id = 1; id <= tc_graph_count(g); id++)
    n += tc_graph_node(g, (tc_ref){id})->op == op;
  tc_graph_free(g);
  return n;
}

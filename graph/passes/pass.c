/* pass.c - the pipeline and its driver.
 *
 * The list below runs from top to bottom, again and again until a whole round changes nothing; one
 * round is nearly always enough for a second that finds nothing, and the bound stops rules that
 * would chase each other. */
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"
#include "graph/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tc_pass_desc tc_graph_pipeline[] = {
    {"decompose", tc_pass_decompose},
    {"simplify", tc_pass_simplify},
    {"fold", tc_pass_fold},
    {"views", tc_pass_views},
    {"scales", tc_pass_scales},
    {"products", tc_pass_products},
    {"cse", tc_pass_cse},
    {"dce", tc_pass_dce},
};
const int tc_graph_pipeline_length = sizeof tc_graph_pipeline / sizeof tc_graph_pipeline[0];

enum { MAX_ROUNDS = 6 };

/* Is `name` in the comma-separated list, or the list "all"? */
static bool listed(const char *list, const char *name) {
  size_t n = strlen(name);
  while (list && *list) {
    size_t len = strcspn(list, ",");
    if ((len == n && !memcmp(list, name, n)) || (len == 3 && !memcmp(list, "all", 3))) return true;
    list += len + (list[len] == ',');
  }
  return false;
}

static void dump(tc_graph *g, const char *pass, bool changed) {
  if (!listed(getenv("TC_DUMP"), pass)) return;
  tc_buf text = {0};
  if (changed) tc_graph_print(g, &text);
  fprintf(stderr, "; %s after %s%s\n%s", tc_graph_name(g), pass, changed ? "" : " (unchanged)",
          text.text ? text.text : "");
  tc_buf_free(&text);
}

/* The root types of b are those of a. */
static bool keeps_types(tc_graph *a, tc_graph *b) {
  if (tc_graph_output_count(a) != tc_graph_output_count(b)) return false;
  for (uint32_t i = 0; i < tc_graph_output_count(a); i++)
    if (!tc_type_alike(tc_graph_type(a, tc_graph_output_at(a, i)),
                       tc_graph_type(b, tc_graph_output_at(b, i))))
      return false;
  return true;
}

static bool verified(tc_graph *before, tc_graph *after, const char *pass) {
  char message[256] = "a result changed its type";
  tc_loc nowhere = {0};
  if (!tc_graph_same_effects(before, after))
    snprintf(message, sizeof message, "effects are others, or in another order");
  else if (keeps_types(before, after) && tc_graph_verify(after, message, sizeof message))
    return true;
  tc_report(tc_graph_diag(after), TC_MISSED, nowhere,
            "not compiled: pass %s broke the graph (internal error): %s", pass, message);
  return false;
}

/* Runs one pass on g, which it takes over. */
static tc_graph *run_pass(const tc_pass_desc *pass, tc_graph *g, bool *changed) {
  tc_graph *next = pass->run(g);
  if (next == g) {
    dump(g, pass->name, false);
    return g;
  }
  *changed = true;
  if (next && !verified(g, next, pass->name)) {
    tc_graph_free(next);
    next = NULL;
  }
  tc_graph_free(g);
  if (next) dump(next, pass->name, true);
  return next;
}

tc_graph *tc_graph_optimize(tc_graph *g) {
  bool changed = true;
  for (int round = 0; round < MAX_ROUNDS && changed; round++) {
    changed = false;
    for (int i = 0; g && i < tc_graph_pipeline_length; i++)
      g = run_pass(&tc_graph_pipeline[i], g, &changed);
    if (!g) return NULL;
  }
  return g;
}

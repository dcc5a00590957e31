/* check.h - what the graph tests share: collected diagnostics, and graphs written as text. */
#ifndef TC_TESTS_GRAPH_CHECK_H
#define TC_TESTS_GRAPH_CHECK_H

#include <criterion/criterion.h>
#include <string.h>

#include "graph/passes/pass.h"
#include "graph/text.h"

/* Keeps the last message. */
typedef struct messages {
  tc_diag diag;
  char last[1024];
  int n;
} messages;

static inline void collect(void *self, tc_severity s, tc_loc loc, const char *text) {
  messages *m = self;
  (void)s, (void)loc;
  strncpy(m->last, text, sizeof m->last - 1);
  m->n++;
}

static inline tc_diag *listen(messages *m) {
  *m = (messages){0};
  m->diag = (tc_diag){collect, m};
  return &m->diag;
}

/* The graph of a text that must parse and verify. */
static inline tc_graph *parse(const char *text, messages *m) {
  tc_graph *g = tc_graph_parse(text, listen(m));
  char why[512];
  cr_assert(g, "%s\nof\n%s", m->last, text);
  cr_assert(tc_graph_verify(g, why, sizeof why), "%s\nof\n%s", why, text);
  return g;
}

/* Type of the last node. */
static inline const char *last_type(tc_graph *g, tc_buf *b) {
  tc_buf_clear(b);
  tc_type_print(tc_graph_dims(g), tc_graph_type(g, (tc_ref){tc_graph_count(g)}), b);
  return b->text;
}

static inline const char *dim_text(tc_dims *c, tc_dim d, tc_buf *b) {
  tc_buf_clear(b);
  tc_dim_print(c, d, NULL, b);
  return b->text;
}

static inline tc_dim dim(tc_dims *c, const char *text) {
  const char *end, *error;
  tc_dim d = tc_dim_parse(c, text, &end, &error);
  cr_assert(!error && !*end, "not a size: %s", text);
  return d;
}

#endif

/* pass_test.h - text of a graph in, text of a graph out. */
#ifndef TC_TEST_PASS_TEST_H
#define TC_TEST_PASS_TEST_H

#include <criterion/criterion.h>

#include "graph/passes/pass.h"

/* Asserts that `pass` turns the graph `before` into `after`, but for nodes that nobody reads. */
void check_pass(const char *title, tc_pass_fn *pass, const char *before, const char *after);
/* The passes of the pipeline until nothing changes. */
tc_graph *optimized(tc_graph *g);
/* Parses, or fails the test. */
tc_graph *graph_of(const char *text);
/* How many nodes of `op` the optimised graph of `text` has. */
int count_after(const char *text, tc_op op);

/* T_PASS(suite, name, "title", pass, "before", "after") */
#define T_PASS(suite, name, title, pass, before, after)                                            \
  Test(suite, name) { check_pass(title, pass, before, after); }

#endif

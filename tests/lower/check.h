/* check.h - lowering compared with the graph interpreter. */
#ifndef TC_TEST_LOWER_CHECK_H
#define TC_TEST_LOWER_CHECK_H

#include <criterion/criterion.h>

#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/loop_interp.h"

/* The program of g as text, to stderr. */
void show_lowering(tc_graph *g, const tc_program *p);

/* Lowers g (optimised), verifies, runs both on the arguments and compares; `near` are slightly other
 * arguments, which show how well conditioned g is (NULL: no allowance).  Returns the kernel count. */
uint32_t check_lowering(tc_graph *g, interp_array *const *input, interp_array *const *near,
                        const tc_value *scalar);
uint32_t check_lowering_for(const tc_target *target, tc_graph *g, interp_array *const *input,
                            interp_array *const *near, const tc_value *scalar);

/* The program that the text of p stands for, whose text is the same. */
tc_program *read_back(const tc_program *p);
void free_read(tc_program *p); /* and its graph */

/* The text form, optimised; diagnostics go to stderr. */
tc_graph *graph_of(const char *text);
/* Arguments for g: sizes from its types, `symbol` for each symbol, small values. */
interp_array **arguments_of(tc_graph *g, int64_t symbol);
void free_arguments(tc_graph *g, interp_array **input);
/* check_lowering_for of the text's graph, for CPUs, with each of n sizes as `symbol`. */
void check_sizes(const char *text, const int64_t *size, size_t n);

#endif

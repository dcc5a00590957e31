/* schedules.h - planned schedules of random graphs: they are allowed, and read back as they are printed. */
#ifndef TC_TEST_SCHEDULES_H
#define TC_TEST_SCHEDULES_H

#include "backends/backend.h"
#include "tests/common/random_graph.h"

/* All schedules, and all kernels, of a planned program as text; to be freed. */
char *schedules_text(const tc_backend *b, const tc_program *p);
char *schedules_kernels(const tc_backend *b, const tc_program *p);
/* Plans the program, named "g", as `stated` says in the words of the backend; NULL: as it would be.  false: *why not. */
bool schedules_plan(const tc_backend *b, tc_program *p, const char *stated, tc_buf *why);
/* Does the graph, which is taken over, have a planned schedule that the stated one takes the place of?  false: *why
 * not; made: it has one. */
bool schedules_are_allowed(const tc_backend *b, tc_graph *g, const char *stated, bool *made, tc_buf *why);
/* Values for operand number `input`, exact in the dtype. */
void schedules_fill(interp_array *a, uint32_t input);
/* Of the graphs of o[n], which is freed: how many there are; *wrong: of how many, after printing why, the
 * schedule is refused, or becomes another one or other kernels when it is read. */
int schedules_check_random(const tc_backend *b, random_options *o, int n, int *wrong);

#endif

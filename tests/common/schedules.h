/* schedules.h - planned schedules of random graphs: they are allowed, and read back as they are printed. */
#ifndef TC_TEST_SCHEDULES_H
#define TC_TEST_SCHEDULES_H

#include "backends/backend.h"
#include "tests/common/random_graph.h"

/* All schedules, and all kernels, of a planned program as text; to be freed. */
char *schedules_text(const tc_backend *b, const tc_program *p);
char *schedules_kernels(const tc_backend *b, const tc_program *p);
/* Of the graphs of o[n], which is freed: how many there are; *wrong: of how many, after printing why, the
 * schedule is refused, or becomes another one or other kernels when it is read. */
int schedules_check_random(const tc_backend *b, random_options *o, int n, int *wrong);

#endif

/* plan.h - how the kernels of a program run: by a backend's plan, or as the user states. */
#ifndef TC_PLAN_H
#define TC_PLAN_H

#include "backends/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does TC_DUMP list `what`? */
bool tc_dumps(const char *what);
/* By the backend's plan, and what the file of the option `schedule` says of the program called
 * `symbol`.  false: why, or nothing: out of memory. */
bool tc_plan_program(const tc_backend *b, tc_program *p, const tc_setting *setting,
                     uint32_t nsetting, const char *symbol, tc_buf *why);
/* TC_DUMP=loops, and TC_DUMP=schedule.  name: the user's function. */
void tc_dump_loops(const tc_backend *b, const tc_program *p, const char *name);
void tc_dump_schedule(const tc_backend *b, const tc_program *p, const char *name,
                      const char *symbol);

#ifdef __cplusplus
}
#endif
#endif

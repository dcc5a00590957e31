/* jobs.h - how much of a compilation may run side by side. */
#ifndef TC_JOBS_H
#define TC_JOBS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TC_MOST_JOBS = 64 };

/* Under GNU make's jobserver, of which this process is a client (see "POSIX Jobserver Interaction"
 * in make's manual): every job but one holds a token. */
typedef struct tc_jobs {
  uint32_t n; /* at least 1 */
  uint32_t held;
  int server;               /* -1: none */
  char token[TC_MOST_JOBS]; /* given back as they came */
} tc_jobs;

/* wanted: 0: as many as there are tokens left now, at most one for each processor; without a
 * jobserver one for each processor, at most 4, for builds run several compilers already. */
tc_jobs tc_jobs_take(uint32_t wanted);
void tc_jobs_give_back(tc_jobs *j);

#ifdef __cplusplus
}
#endif
#endif

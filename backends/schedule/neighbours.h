/* neighbours.h - schedules of a kernel that are like a given one but for one decision, or for the
 * plan of one nest.
 *
 * All are allowed by the verifier: what it refuses is left out.  Which values of a word are tried,
 * and which words are not to be varied, says the backend's table (tc_schedule_word.tries); its
 * other plans are those of tc_schedule_words.other_plan. */
#ifndef TC_SCHEDULE_NEIGHBOURS_H
#define TC_SCHEDULE_NEIGHBOURS_H

#include "backends/schedule/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* change: the decision, as its line would say it: "stage 0 unroll 8", "no group".  s is in the
 * program's arena, change the caller's until the return.  false: stop. */
typedef bool tc_schedule_neighbour_fn(void *self, const tc_schedule *s, const char *change);

/* Calls `each` for every neighbour of the kernel's schedule, which stays as it is.  variant: of
 * each nest, the one whose decisions are varied.  false: out of memory, or `each` said so. */
bool tc_schedule_each_neighbour(const tc_schedule_words *w, tc_program *p, tc_kernel *k,
                                const uint32_t *variant, tc_schedule_neighbour_fn *each,
                                void *self);

/* The variant of nest n that runs for these values of the program's symbols, where a vector has so
 * many lanes. */
uint32_t tc_schedule_running(const tc_program *p, const tc_kernel *k, uint32_t n,
                             const int64_t *sym, int64_t lanes);

#ifdef __cplusplus
}
#endif
#endif

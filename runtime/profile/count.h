/* count.h - inside of libtcrt-profile. */
#ifndef TC_PROFILE_COUNT_H
#define TC_PROFILE_COUNT_H

#include "runtime/profile/abi.h"
#include "runtime/profile/profile.h"

/* Under the lock of units.  Adds the calls that are not written (p NULL: to nothing); then, what
 * was taken is written. */
void tc_sizes_take(tcrt_sizes *s, tc_profile *p);
void tc_sizes_settle(tcrt_sizes *s);
bool tc_sizes_waiting(const tcrt_sizes *s); /* are there such calls? */

/* Writes the counts of all units, unless another thread does or the last time is less than a second
 * ago. */
void tc_sizes_write_now_and_then(void);

/* Adds the profile to that at `path`, which other processes may be doing, too.  NULL, or what is
 * wrong: why[256]. */
const char *tc_profile_merge_into(const char *path, const tc_profile *p, char *why);

#endif

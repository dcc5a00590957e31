/* Teams of one thread, in place of libtcrt's (team.c), which looks for an OpenMP runtime by name: for programs that are
 * linked with -static, where no shared object can be opened.  Results do not depend on the number of threads. */
#include <tcompile/abi.h>

void tcrt_team(tcrt_share *share, void *arg, int most) {
  (void)most;
  share(arg, 0, 1);
}

void tcrt_barrier(void) {}

int tcrt_max_threads(void) { return 1; }

int tcrt_team_pays(int64_t work, int64_t least) { return (void)work, (void)least, 0; }

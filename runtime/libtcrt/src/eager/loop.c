/* Loops of eager operations, by a team of threads where that pays.  Every thread takes one range;
 * ranges are cut by sizes and the number of threads alone, and no result depends on them. */
#include "runtime/libtcrt/src/eager/eager.h"

enum { TC_PARALLEL = 1 << 15 }; /* elements from which threads pay */

typedef struct loop {
  tc_range_fn *body;
  const void *context;
  int64_t n, grain;
} loop;

static void run_range(void *p, int thread, int threads) {
  const loop *l = p;
  const int64_t grains = (l->n + l->grain - 1) / l->grain, each = grains / threads,
                more = grains % threads;
  const int64_t first = each * thread + (thread < more ? thread : more);
  const int64_t begin = first * l->grain,
                end = (first + each + (thread < more)) * l->grain;
  if (begin < l->n) l->body(l->context, begin, end < l->n ? end : l->n);
}

void tc_for(int64_t n, int64_t grain, int64_t work, tc_range_fn *body, const void *context) {
  loop l = {body, context, n, grain};
  if (n <= 0) return;
  /* Not even a team of one, which costs as much. */
  if (work < TC_PARALLEL || !tcrt_team_pays(work, TC_PARALLEL)) body(context, 0, n);
  else tcrt_team(run_range, &l, 0);
}

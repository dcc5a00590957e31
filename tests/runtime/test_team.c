/* Teams of threads (tcompile/abi.h), by the OpenMP runtime of this program, and the loops over them. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/libtcrt/src/eager/eager.h"

void omp_set_num_threads(int n);

enum { MOST = 64 };

typedef struct record {
  atomic_int ran[MOST], threads, early;
  atomic_int here; /* in front of the barrier */
} record;

static void take_part(void *p, int thread, int threads) {
  record *r = p;
  r->threads = threads;
  if (thread < MOST) r->ran[thread]++;
}

Test(team, every_thread_runs_once) {
  for (int n = 1; n <= 7; n += 2) {
    record r = {0};
    omp_set_num_threads(n);
    cr_assert_eq(tcrt_max_threads(), n);
    tcrt_team(take_part, &r, 0);
    cr_assert_eq(r.threads, n);
    for (int i = 0; i < MOST; i++) cr_assert_eq(r.ran[i], i < n);
  }
}

Test(team, at_most) {
  record r = {0};
  omp_set_num_threads(5);
  tcrt_team(take_part, &r, 3);
  cr_assert_eq(r.threads, 3);
  tcrt_team(take_part, &r, 1);
  cr_assert_eq(r.threads, 1);
  cr_assert_eq(r.ran[0], 2);
}

static void meet(void *p, int thread, int threads) {
  record *r = p;
  for (int round = 1; round <= 100; round++) {
    if (thread % 2) usleep(10);
    r->here++;
    tcrt_barrier();
    r->early += r->here != round * threads;
    tcrt_barrier();
  }
}

Test(team, barrier) {
  record r = {0};
  omp_set_num_threads(4);
  tcrt_team(meet, &r, 0);
  cr_assert_eq(r.here, 400);
  cr_assert_eq(r.early, 0);
}

static void start_another(void *p, int thread, int threads) {
  record *r = p;
  (void)threads;
  if (thread == 0) tcrt_team(take_part, r, 0);
}

Test(team, nested) {
  record r = {0};
  omp_set_num_threads(3);
  tcrt_team(start_another, &r, 0);
  cr_assert_geq(r.threads, 1);
  cr_assert_eq(r.ran[0], 1);
}

Test(team, in_a_child) {
  record r = {0};
  omp_set_num_threads(3);
  tcrt_team(take_part, &r, 0);
  const pid_t child = fork();
  if (!child) {
    alarm(20);
    tcrt_team(take_part, &r, 0);
    _exit(r.ran[0] == 2 ? 0 : 1);
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert_eq(status, 0);
}

static void come_late(void *p, int thread, int threads) {
  (void)threads;
  if (thread) usleep(*(useconds_t *)p);
}

/* Another program has the processor of the second thread. */
Test(team, small_work_is_done_alone_while_teams_lose) {
  useconds_t late = 50000;
  omp_set_num_threads(1);
  cr_assert_not(tcrt_team_pays(2000, 1000));
  omp_set_num_threads(2);
  cr_assert(tcrt_team_pays(2000, 1000));
  tcrt_team(come_late, &late, 0);
  cr_assert_not(tcrt_team_pays(2000, 1000));
  cr_assert(tcrt_team_pays((int64_t)1 << 40, 1000));
  int tries = 0;
  while (!tcrt_team_pays(2000, 1000) && tries < 1000) usleep(10000), tries++;
  cr_assert(tries < 1000);
}

typedef struct covered {
  _Atomic unsigned char *times;
  int64_t grain;
  atomic_bool odd_begin;
} covered;

static void cover(const void *p, int64_t begin, int64_t end) {
  covered *c = (covered *)(uintptr_t)p;
  if (begin % c->grain) c->odd_begin = true;
  for (int64_t i = begin; i < end; i++) c->times[i]++;
}

Test(loop, ranges_make_up_the_whole) {
  static _Atomic unsigned char times[5000];
  for (int threads = 1; threads <= 7; threads += 3)
    for (int64_t grain = 1; grain <= 256; grain *= 16)
      for (int64_t n = 0; n < 5000; n = 3 * n + 1) {
        memset((void *)times, 0, sizeof times);
        covered c = {times, grain, false};
        omp_set_num_threads(threads);
        tc_for(n, grain, INT64_MAX, cover, &c);
        cr_assert_not(c.odd_begin);
        for (int64_t i = 0; i < 5000; i++) cr_assert_eq(times[i], i < n, "%d of %d", (int)i, (int)n);
      }
}

/* units.c - objects that count, and when what they counted is written: at the first call, then at
 * most once a second while calls come, and when the object goes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/profile/count.h"

#define DEFAULT_PATH "tcompile.profile"
enum { EVERY = 1000000000 }; /* ns between writes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tcrt_sizes_unit *first;
static int64_t next; /* when the next write is due, ns */
static bool told;    /* that nothing can be written */

static int64_t now(void) {
  struct timespec t;
#ifdef CLOCK_MONOTONIC_COARSE
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
#else
  clock_gettime(CLOCK_MONOTONIC, &t);
#endif
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static const char *pattern_of(const tcrt_sizes_unit *unit) {
  const char *wish = getenv("TC_PROFILE");
  if (wish && *wish) return wish;
  return unit->path && *unit->path ? unit->path : DEFAULT_PATH;
}

/* %p is the number of the process, %% a percent sign.  For free(). */
static char *expand(const char *pattern) {
  char *path = NULL;
  size_t n;
  FILE *out = open_memstream(&path, &n);
  if (!out) return NULL;
  for (; *pattern; pattern++) {
    if (*pattern == '%' && pattern[1] == 'p') fprintf(out, "%ld", (long)getpid()), pattern++;
    else if (*pattern == '%' && pattern[1] == '%') fputc('%', out), pattern++;
    else fputc(*pattern, out);
  }
  if (fclose(out) == 0) return path;
  free(path);
  return NULL;
}

/* ---- writing, under the lock ----------------------------------------------------------------- */

static bool shares(const tcrt_sizes_unit *a, const tcrt_sizes_unit *b) {
  return !strcmp(pattern_of(a), pattern_of(b));
}

/* A unit in front of this one goes to the same file. */
static bool is_covered(const tcrt_sizes_unit *unit) {
  for (const tcrt_sizes_unit *u = first; u != unit; u = u->next)
    if (shares(u, unit)) return true;
  return false;
}

/* Each entry of the units from this one on that go to its file. */
static void each_sharing(const tcrt_sizes_unit *unit, void (*act)(tcrt_sizes *s, void *arg),
                         void *arg) {
  for (const tcrt_sizes_unit *u = unit; u; u = u->next)
    for (uint32_t i = 0; i < u->count && shares(u, unit); i++) act(u->entry[i], arg);
}

static void ask(tcrt_sizes *s, void *waiting) { *(bool *)waiting |= tc_sizes_waiting(s); }
static void take(tcrt_sizes *s, void *profile) { tc_sizes_take(s, profile); }
static void settle(tcrt_sizes *s, void *arg) { (void)arg, tc_sizes_settle(s); }

static void write_file(const tcrt_sizes_unit *unit) {
  char *path = expand(pattern_of(unit)), why[256];
  tc_profile p = {0};
  each_sharing(unit, take, &p);
  const char *problem = path && !p.failed ? tc_profile_merge_into(path, &p, why) : "out of memory";
  if (!problem) each_sharing(unit, settle, NULL);
  else if (!told)
    fprintf(stderr, "tcompile: the profile %s is not written: %s\n", path ? path : "", problem);
  told |= problem != NULL;
  tc_profile_free(&p);
  free(path);
}

static void write_all(void) {
  for (const tcrt_sizes_unit *u = first; u; u = u->next) {
    bool waiting = false;
    if (is_covered(u)) continue;
    each_sharing(u, ask, &waiting);
    if (waiting) write_file(u);
  }
  __atomic_store_n(&next, now() + EVERY, __ATOMIC_RELAXED);
}

void tc_sizes_write_now_and_then(void) {
  const int64_t due = __atomic_load_n(&next, __ATOMIC_RELAXED);
  if ((due && now() < due) || pthread_mutex_trylock(&lock) != 0) return;
  write_all();
  pthread_mutex_unlock(&lock);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* What a process counted before it forked is the parent's to write. */
static void before_fork(void) { pthread_mutex_lock(&lock); }
static void in_parent(void) { pthread_mutex_unlock(&lock); }
static void in_child(void) {
  for (tcrt_sizes_unit *u = first; u; u = u->next)
    for (uint32_t i = 0; i < u->count; i++) {
      tc_sizes_take(u->entry[i], NULL);
      tc_sizes_settle(u->entry[i]);
    }
  next = 0;
  pthread_mutex_unlock(&lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, in_parent, in_child); }

void tcrt_sizes_open(tcrt_sizes_unit *unit) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&lock);
  unit->next = first;
  first = unit;
  pthread_mutex_unlock(&lock);
}

void tcrt_sizes_close(tcrt_sizes_unit *unit) {
  pthread_mutex_lock(&lock);
  write_all();
  for (tcrt_sizes_unit **link = &first; *link; link = &(*link)->next)
    if (*link == unit) {
      *link = unit->next;
      break;
    }
  pthread_mutex_unlock(&lock);
}

/* team.c - teams of threads, by the OpenMP runtime that the process has.
 *
 * What GCC compiles with -fopenmp brings libgomp, what Clang compiles libomp.  A second one would
 * start threads of its own beside those of the first, and follow other settings.  So libtcrt is
 * linked with none: it looks for one when the first team is wanted, and opens one only where there
 * is none yet.  All of them have GCC's entry points (GOMP_parallel, GOMP_barrier), which generated
 * kernels and eager operations are run through. */
#define _GNU_SOURCE /* RTLD_DEFAULT, dl_iterate_phdr */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <tcompile/abi.h>

static bool forked; /* a child of a process whose libgomp cannot start threads again */

/* ---- without OpenMP: this thread alone ------------------------------------------------------- */

static void run_alone(void (*body)(void *), void *arg, unsigned most, unsigned flags) {
  (void)most, (void)flags;
  body(arg);
}
static void no_barrier(void) {}
static int none(void) { return 0; }
static int one(void) { return 1; }

static struct {
  void (*parallel)(void (*body)(void *), void *arg, unsigned most, unsigned flags);
  void (*barrier)(void);
  int (*max_threads)(void), (*thread_num)(void), (*num_threads)(void);
} openmp = {run_alone, no_barrier, one, none, one};

/* ---- finding one ----------------------------------------------------------------------------- */

typedef struct search {
  bool dynamic; /* there is a dynamic linker: what dlopen brings shares the process's libc */
  char path[PATH_MAX];
} search;

/* Copies such as libgomp-a34b3233.so.1, which Python packages bring, count. */
static int look_at(struct dl_phdr_info *info, size_t size, void *p) {
  static const char *const names[] = {"libgomp", "libomp", "libiomp5"};
  search *s = p;
  const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
  (void)size;
  s->dynamic |= !strncmp(name, "libc.", 5) || !strncmp(name, "ld-", 3);
  for (size_t i = 0; i < sizeof names / sizeof *names && !*s->path; i++) {
    const size_t n = strlen(names[i]);
    if (!strncmp(name, names[i], n) && (name[n] == '.' || name[n] == '-') &&
        strlen(info->dlpi_name) < sizeof s->path)
      strcpy(s->path, info->dlpi_name);
  }
  return 0;
}

static void enter_child(void) { forked = true; }

/* Takes the functions of a library, if it has them all. */
static bool take(void *library) {
  static const char *const names[] = {"GOMP_parallel", "GOMP_barrier", "omp_get_max_threads",
                                      "omp_get_thread_num", "omp_get_num_threads"};
  void *function[5];
  for (int i = 0; i < 5; i++)
    if (!(function[i] = dlsym(library, names[i]))) return false;
  memcpy(&openmp, function, sizeof openmp);
  /* LLVM's starts anew in a child. */
  if (!dlsym(library, "__kmpc_fork_call")) pthread_atfork(NULL, NULL, enter_child);
  return true;
}

static bool take_file(const char *name, int flags) {
  void *const library = dlopen(name, flags | RTLD_LAZY);
  return library && take(library);
}

static void find(void) {
  static search found;
  dl_iterate_phdr(look_at, &found);
  if (!found.dynamic) return;
  (void)(take(RTLD_DEFAULT) || (*found.path && take_file(found.path, RTLD_NOLOAD)) ||
         take_file("libomp.so.5", RTLD_LOCAL) || take_file("libomp.so", RTLD_LOCAL) ||
         take_file("libgomp.so.1", RTLD_LOCAL));
}

static void prepare(void) {
  static atomic_bool ready;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (atomic_load_explicit(&ready, memory_order_acquire)) return;
  pthread_once(&once, find);
  atomic_store_explicit(&ready, true, memory_order_release);
}

/* ---- whether teams pay ----------------------------------------------------------------------- */

/* A team takes as long as its last thread.  On a processor that another program has, that one begins when the
 * scheduler takes the processor back: after milliseconds, whatever the work.  So what teams save and lose is measured.
 * Once they have lost more than they saved, work that costs less than what a team lost last is done by one thread, for
 * a while: long enough for another try, which may lose as much, to take a small part of the time; the longer the more
 * tries failed. */
enum {
  SAVED_MOST = 8000000, /* ns: as much is lost now and then where all processors are free */
  PAUSE_MOST = 1000000000,
  TIMES_LEAST = 16,
  TIMES_MOST = 1 << 16,
  LEAST_TIME = 4096 /* of work that just pays for a team, about */
};

static _Atomic int64_t saved = SAVED_MOST, cost, pause_end; /* ns; pause_end: 0, none */
static _Atomic int64_t times = TIMES_LEAST;                 /* that a pause is longer than the loss */
static _Thread_local int64_t at_barriers;

#define GET(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define SET(x, value) atomic_store_explicit(&(x), value, memory_order_relaxed)

/* Nanoseconds, up to a factor of two: the clock itself takes longer to read than some teams may lose. */
static int64_t now(void) {
#ifdef __x86_64__
  return (int64_t)(__builtin_ia32_rdtsc() / 2);
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
#endif
}

static void account(int64_t gain, int64_t time) {
  int64_t all = GET(saved) + (gain < SAVED_MOST / 8 ? gain : SAVED_MOST / 8), n = GET(times);
  if (GET(pause_end)) return;
  if (all > SAVED_MOST) {
    all = SAVED_MOST;
    n = TIMES_LEAST;
  }
  if (all < 0) {
    const int64_t length = -gain * n;
    all = 0;
    if (n < TIMES_MOST) n *= 2;
    SET(cost, -gain);
    SET(pause_end, time + (length < PAUSE_MOST ? length : PAUSE_MOST));
  }
  SET(saved, all);
  SET(times, n);
}

int tcrt_team_pays(int64_t work, int64_t least) {
  if (tcrt_max_threads() == 1) return 0;
  if (!GET(pause_end)) return 1;
  if (now() < GET(pause_end)) return work / (least + 1) > GET(cost) * 2 / LEAST_TIME;
  SET(pause_end, 0);
  return 1;
}

/* ---- teams ----------------------------------------------------------------------------------- */

typedef struct team {
  tcrt_share *share;
  void *arg;
  int threads;
  int64_t own; /* time that this thread's share took: the largest, or nearly */
} team;

static void run_share(void *p) {
  team *t = p;
  const int thread = openmp.thread_num(), threads = openmp.num_threads();
  const int64_t begin = now();
  at_barriers = 0;
  t->share(t->arg, thread, threads);
  if (thread) return;
  t->threads = threads;
  t->own = now() - begin - at_barriers;
}

void tcrt_team(tcrt_share *share, void *arg, int most) {
  team t = {share, arg, 1, 0};
  prepare();
  if (forked || most == 1) {
    share(arg, 0, 1);
    return;
  }
  const int64_t begin = now();
  openmp.parallel(run_share, &t, (unsigned)most, 0);
  if (t.threads == 1) return;
  const int64_t end = now();
  /* Others may have twice as much to do: rows of a triangle. */
  account(t.own * (2 * t.threads - 1) - (end - begin), end);
}

void tcrt_barrier(void) {
  const int64_t begin = now();
  openmp.barrier();
  at_barriers += now() - begin;
}

int tcrt_max_threads(void) {
  prepare();
  return forked ? 1 : openmp.max_threads();
}

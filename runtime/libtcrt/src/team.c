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

/* ---- teams ----------------------------------------------------------------------------------- */

typedef struct team {
  tcrt_share *share;
  void *arg;
} team;

static void run_share(void *p) {
  const team *t = p;
  t->share(t->arg, openmp.thread_num(), openmp.num_threads());
}

void tcrt_team(tcrt_share *share, void *arg, int most) {
  team t = {share, arg};
  prepare();
  if (forked || most == 1) share(arg, 0, 1);
  else openmp.parallel(run_share, &t, (unsigned)most, 0);
}

void tcrt_barrier(void) { openmp.barrier(); }

int tcrt_max_threads(void) {
  prepare();
  return forked ? 1 : openmp.max_threads();
}

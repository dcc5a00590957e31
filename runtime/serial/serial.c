/* OpenMP for one thread: the functions that clang calls for the directives of kernels and of libtcrt,
 * for programs that are linked without an OpenMP runtime (-static, where that is seldom installed as
 * an archive).  Results do not depend on the number of threads.  Signatures are those of LLVM's kmp.h;
 * `ident` says where a directive stands and is not looked at.
 *
 * The program may have threads of its own: what one of them is in the middle of is its own. */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

enum { MOST_SHARED = 16 }; /* variables of a parallel region that its function takes; clang: 15 */

typedef void region(int32_t *thread, int32_t *bound, ...);

int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void) { return 0; }
int omp_get_num_threads(void) { return 1; }
int omp_get_max_threads(void) { return 1; }

/* ---- regions --------------------------------------------------------------------------------- */

#define ENTRY(type, name, ...)                                                                     \
  type __kmpc_##name(__VA_ARGS__);                                                                 \
  type __kmpc_##name(__VA_ARGS__)

ENTRY(int32_t, global_thread_num, void *ident) {
  (void)ident;
  return 0;
}

ENTRY(void, push_num_threads, void *ident, int32_t thread, int32_t n) {
  (void)ident, (void)thread, (void)n;
}

ENTRY(void, fork_call, void *ident, int32_t n, region *run, ...) {
  void *v[MOST_SHARED] = {0};
  int32_t thread = 0, bound = 0;
  va_list ap;
  (void)ident;
  va_start(ap, run);
  for (int32_t i = 0; i < n && i < MOST_SHARED; i++) v[i] = va_arg(ap, void *);
  va_end(ap);
  run(&thread, &bound, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11],
      v[12], v[13], v[14], v[15]);
}

ENTRY(void, serialized_parallel, void *ident, int32_t thread) { (void)ident, (void)thread; }
ENTRY(void, end_serialized_parallel, void *ident, int32_t thread) { (void)ident, (void)thread; }
ENTRY(void, barrier, void *ident, int32_t thread) { (void)ident, (void)thread; }

static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;

ENTRY(void, critical, void *ident, int32_t thread, int32_t *name) {
  (void)ident, (void)thread, (void)name;
  pthread_mutex_lock(&critical);
}

ENTRY(void, end_critical, void *ident, int32_t thread, int32_t *name) {
  (void)ident, (void)thread, (void)name;
  pthread_mutex_unlock(&critical);
}

/* ---- loops: the only thread takes all rounds, in one piece ----------------------------------- */

#define STATIC_LOOP(name, count, step)                                                             \
  ENTRY(void, for_static_init_##name, void *ident, int32_t thread, int32_t schedule,               \
        int32_t *last, count *lower, count *upper, step *stride, step by, step chunk) {            \
    (void)ident, (void)thread, (void)schedule, (void)by, (void)chunk;                              \
    *last = 1;                                                                                     \
    *stride = (step)(*upper - *lower + 1);                                                         \
  }
STATIC_LOOP(4, int32_t, int32_t)
STATIC_LOOP(4u, uint32_t, int32_t)
STATIC_LOOP(8, int64_t, int64_t)
STATIC_LOOP(8u, uint64_t, int64_t)

ENTRY(void, for_static_fini, void *ident, int32_t thread) { (void)ident, (void)thread; }

static _Thread_local struct {
  int64_t lower, upper, stride;
  int taken;
} loop;

ENTRY(void, dispatch_init_8, void *ident, int32_t thread, int32_t schedule, int64_t lower,
      int64_t upper, int64_t stride, int64_t chunk) {
  (void)ident, (void)thread, (void)schedule, (void)chunk;
  loop.lower = lower;
  loop.upper = upper;
  loop.stride = stride;
  loop.taken = stride > 0 ? lower > upper : lower < upper; /* nothing to do */
}

ENTRY(int, dispatch_next_8, void *ident, int32_t thread, int32_t *last, int64_t *lower,
      int64_t *upper, int64_t *stride) {
  (void)ident, (void)thread;
  if (loop.taken) return 0;
  loop.taken = 1;
  *last = 1;
  *lower = loop.lower;
  *upper = loop.upper;
  *stride = loop.stride;
  return 1;
}

ENTRY(void, dispatch_deinit, void *ident, int32_t thread) { (void)ident, (void)thread; }

/* workspace.c - scratch memory of compiled functions: one block per thread, grown and never shrunk.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <tcompile/abi.h>

#include <pthread.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { SMALLEST = 1 << 16, HUGE_PAGE = 1 << 21 };

typedef struct {
  void *data;
  size_t size;
} workspace;

/* A few bytes, so the static TLS block has room even when the library comes through dlopen. */
static _Thread_local workspace mine __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static bool have_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* At the thread's end; a later use by another destructor starts afresh. */
static void release(void *p) {
  mine = (workspace){0};
  free(p);
}

static void make_key(void) { have_key = pthread_key_create(&key, release) == 0; }

/* 64-byte aligned, or whole huge pages for large blocks; NULL. */
static void *allocate(size_t bytes) {
  if (bytes < 2 * (size_t)HUGE_PAGE) return aligned_alloc(64, bytes);
  void *p = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
  if (p) madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return p;
}

/* bytes rounded up to the unit of allocate(); 0 for more than an object can have. */
static size_t round_up(size_t bytes) {
  size_t unit = bytes < 2 * (size_t)HUGE_PAGE ? 64 : HUGE_PAGE;
  return bytes > PTRDIFF_MAX - unit ? 0 : (bytes + unit - 1) & ~(unit - 1);
}

/* The thread's end frees what pthread_setspecific last named. */
static bool own(void *p) { return have_key && pthread_setspecific(key, p) == 0; }

static void *grow(size_t bytes) {
  pthread_once(&once, make_key);
  size_t need = round_up(bytes), more = mine.size > need / 2 ? round_up(2 * mine.size) : need;
  if (need == 0 || !own(NULL)) return NULL;
  free(mine.data);
  mine = (workspace){0};
  size_t size = more > need ? more : need;
  void *p = allocate(size);
  if (!p) p = allocate(size = need);
  if (!p || !own(p)) {
    free(p);
    return NULL;
  }
  mine = (workspace){p, size};
  return p;
}

void *tcrt_workspace(size_t bytes) {
  if (bytes <= mine.size && mine.data) return mine.data;
  return grow(bytes < SMALLEST ? SMALLEST : bytes);
}

/* The cache of freed storages.
 *
 * Sizes are rounded up to classes, four per power of two, so that a freed block serves the next
 * result of about its size.  Each thread keeps a few small blocks and tensor headers for itself,
 * which need no lock; everything else goes to one list per class under a mutex, and when the cap is
 * passed the oldest blocks go back to the system.  A cap of 0, and TC_CHECK, keep nothing, and
 * blocks are as long as what they hold.  Counters live with their thread, each written by its
 * thread only, and are summed when asked for. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/libtcrt/src/memory/check.h"
#include "runtime/libtcrt/src/device.h"
#include "runtime/libtcrt/src/memory/poison.h"

enum {
  ALIGN = 64,
  PAGE_BYTES = 8 << 10, /* from here on, blocks begin at pages */
  PAGE = 4096,
  CLASSES = 4 * 64,
  LOCAL_CLASSES = 37,   /* a thread keeps blocks of these classes for itself: up to 64 KiB */
  LOCAL_DEPTH = 8,      /* so many of each */
  LOCAL_HEADERS = 64,   /* so many headers; more are everybody's */
  HUGE_BYTES = 4 << 20, /* from here on, pages of 2 MiB */
  HUGE_PAGE = 2 << 20
};

_Static_assert(sizeof(tc_storage) <= ALIGN + ALIGN, "a storage header is at most two cache lines");
enum { HEADER = (sizeof(tc_storage) + ALIGN - 1) / ALIGN * ALIGN };

/* ---- size classes ---------------------------------------------------------------------------- */

/* Class c = 4*e + q holds (4+q) * 2^e * 32 bytes: 128, 160, 192, 224, 256, 320, ... */
static size_t class_bytes(int c) { return (size_t)(4 + c % 4) << (c / 4 + 5); }

/* Smallest class of at least `bytes`, or -1. */
static int class_of(size_t bytes) {
  if (bytes > SIZE_MAX / 8) return -1;
  if (bytes <= 128) return 0;
  int e = 63 - __builtin_clzll((unsigned long long)bytes - 1) - 7; /* 2^(e+7) < bytes <= 2^(e+8) */
  int c = 4 * e;
  while (class_bytes(c) < bytes) c++;
  return c;
}

/* ---- per thread ------------------------------------------------------------------------------ */

typedef struct local_cache {
  tc_storage *block[LOCAL_CLASSES];
  uint8_t count[LOCAL_CLASSES];
  tc_tensor *header; /* linked by scope_next */
  int headers;
  _Atomic int64_t live, cached; /* bytes this thread added less those it took away */
  _Atomic uint64_t mallocs, reuses;
  bool used; /* by a thread that runs */
  struct local_cache *next;
} local_cache;

static struct {
  pthread_mutex_t lock;
  tc_storage *block[CLASSES];
  tc_storage *oldest, *newest;
  size_t bytes, cap;
  _Atomic(tc_tensor *) header; /* linked by scope_next */
  local_cache *locals;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_end;
static TC_FAST_TLS local_cache *mine;

static void count(_Atomic int64_t *counter, int64_t n) {
  int64_t v = atomic_load_explicit(counter, memory_order_relaxed);
  atomic_store_explicit(counter, v + n, memory_order_relaxed);
}

static void count_one(_Atomic uint64_t *counter) {
  uint64_t v = atomic_load_explicit(counter, memory_order_relaxed);
  atomic_store_explicit(counter, v + 1, memory_order_relaxed);
}

/* "512M" in bytes; the default, after one line on stderr, where it is no such number. */
static size_t parse_bytes(const char *text, size_t otherwise) {
  char *end = NULL;
  if (!text || !*text) return otherwise;
  unsigned long long n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
  int shift = !end ? 0 : *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  if (!end || end[shift != 0] != 0) {
    fprintf(stderr,
            "tcompile: TC_CACHE=%s is no number of bytes such as 0, 4096, 64K, 512M or 2G; it is "
            "ignored\n",
            text);
    return otherwise;
  }
  return n > SIZE_MAX >> shift ? SIZE_MAX : (size_t)n << shift;
}

static void lock_cache(void) { pthread_mutex_lock(&cache.lock); }
static void unlock_cache(void) { pthread_mutex_unlock(&cache.lock); }

static void flush_local(local_cache *l);

static void leave_thread(void *p) {
  local_cache *l = p;
  flush_local(l);
  mine = NULL;
  lock_cache();
  l->used = false;
  unlock_cache();
}

static void start(void) {
  cache.cap = tc_checks ? 0 : parse_bytes(getenv("TC_CACHE"), (size_t)1 << 30);
  pthread_key_create(&thread_end, leave_thread);
  pthread_atfork(lock_cache, unlock_cache, unlock_cache); /* a child gets a whole cache */
}

/* This thread's cache, one of an ended thread where there is one. NULL: out of memory. */
static local_cache *enter_thread(void) {
  pthread_once(&once, start);
  lock_cache();
  local_cache *l = cache.locals;
  while (l && l->used) l = l->next;
  if (l) l->used = true;
  unlock_cache();
  if (!l) {
    l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->used = true;
    lock_cache();
    l->next = cache.locals;
    cache.locals = l;
    unlock_cache();
  }
  mine = l;
  pthread_setspecific(thread_end, l);
  return l;
}

static local_cache *local(void) { return mine ? mine : enter_thread(); }

/* ---- the shared lists ------------------------------------------------------------------------ */

static void unlink_age(tc_storage *s) {
  if (s->older) s->older->newer = s->newer;
  else cache.oldest = s->newer;
  if (s->newer) s->newer->older = s->older;
  else cache.newest = s->older;
}

static void unlink_class(tc_storage *s) {
  tc_storage **at = &cache.block[s->size_class];
  while (*at != s) at = &(*at)->next;
  *at = s->next;
}

static tc_storage *take_shared(int c) {
  lock_cache();
  tc_storage *s = cache.block[c];
  if (s) {
    cache.block[c] = s->next;
    unlink_age(s);
    cache.bytes -= s->bytes;
  }
  unlock_cache();
  return s;
}

/* Takes the oldest blocks out until at most `limit` bytes are left; gives them linked by next. */
static tc_storage *evict(size_t limit) {
  tc_storage *out = NULL;
  while (cache.oldest && cache.bytes > limit) {
    tc_storage *s = cache.oldest;
    unlink_age(s);
    unlink_class(s);
    cache.bytes -= s->bytes;
    s->next = out;
    out = s;
  }
  return out;
}

static void *data_of(tc_storage *s) { return (char *)s + HEADER; }

/* What the owner of a block sees of it. */
static void poison(tc_storage *s) { tc_poison(data_of(s), s->bytes - HEADER); }
static void unpoison(tc_storage *s) { tc_unpoison(data_of(s), s->bytes - HEADER); }

static size_t free_list(tc_storage *s) {
  size_t bytes = 0;
  for (tc_storage *next; s; s = next) {
    next = s->next;
    bytes += s->bytes;
    free(s);
  }
  return bytes;
}

static void put_shared(tc_storage *s) {
  lock_cache();
  bool fits = s->bytes <= cache.cap;
  tc_storage *out = fits ? evict(cache.cap - s->bytes) : NULL;
  if (fits) {
    s->next = cache.block[s->size_class];
    cache.block[s->size_class] = s;
    s->older = cache.newest;
    s->newer = NULL;
    if (cache.newest) cache.newest->newer = s;
    else cache.oldest = s;
    cache.newest = s;
    cache.bytes += s->bytes;
  }
  unlock_cache();
  int64_t gone = (int64_t)free_list(out);
  if (!fits) {
    gone += (int64_t)s->bytes;
    free(s);
  }
  if (mine) count(&mine->cached, -gone);
}

/* Threads keep blocks of their own only where the cap is no tight one. */
static bool kept_local(int c) { return c < LOCAL_CLASSES && cache.cap >= (size_t)64 << 20; }

static void give_headers(local_cache *l);

static void flush_local(local_cache *l) {
  for (int c = 0; c < LOCAL_CLASSES; c++) {
    for (tc_storage *s = l->block[c], *next; s; s = next) {
      next = s->next;
      put_shared(s);
    }
    l->block[c] = NULL;
    l->count[c] = 0;
  }
  give_headers(l);
}

/* ---- storages -------------------------------------------------------------------------------- */

static tc_storage *take_cached(local_cache *l, int c) {
  tc_storage *s = NULL;
  if (kept_local(c) && l->block[c]) {
    s = l->block[c];
    l->block[c] = s->next;
    l->count[c]--;
  } else {
    s = take_shared(c);
  }
  if (!s) return NULL;
  unpoison(s);
  count(&l->cached, -(int64_t)s->bytes);
  count_one(&l->reuses);
  return s;
}

/* Rows that are read together run best where they begin at the same place within a page: measured
 * on a Zen 4, where rows of 16 KiB and weights that began elsewhere took 15 % longer. */
static size_t alignment_of(size_t bytes) {
  return bytes >= HUGE_BYTES ? HUGE_PAGE : bytes >= PAGE_BYTES ? PAGE : ALIGN;
}

/* Large blocks ask for large pages: fewer faults, and fewer misses of the address translation. */
static tc_storage *take_system(local_cache *l, int c, size_t needed) {
  size_t bytes = cache.cap ? class_bytes(c) : needed;
  void *p = NULL;
  if (posix_memalign(&p, alignment_of(bytes), bytes)) return NULL;
#ifdef MADV_HUGEPAGE
  if (bytes >= HUGE_BYTES) madvise(p, bytes, MADV_HUGEPAGE);
#endif
  tc_storage *s = p;
  s->size_class = c;
  s->bytes = bytes;
  count_one(&l->mallocs);
  return s;
}

static tc_storage *block_new(size_t bytes) {
  local_cache *l = local();
  int c = bytes > SIZE_MAX - HEADER ? -1 : class_of(bytes + HEADER);
  tc_storage *s = NULL;
  if (l && c >= 0) s = take_cached(l, c);
  if (l && c >= 0 && !s) s = take_system(l, c, bytes + HEADER);
  if (l && c >= 0 && !s && tc_trim()) s = take_system(l, c, bytes + HEADER);
  if (!s) return tc_fail_as(TC_ERROR_MEMORY, "out of memory: %zu bytes", bytes);
  count(&l->live, (int64_t)s->bytes);
  atomic_store_explicit(&s->refs, 1, memory_order_relaxed);
  s->release = NULL;
  s->context = NULL;
  atomic_store_explicit(&s->version, 0, memory_order_relaxed);
  atomic_store_explicit(&s->recorded, 0, memory_order_relaxed);
  atomic_store_explicit(&s->saved, 0, memory_order_relaxed);
  atomic_store_explicit(&s->leaves, 0, memory_order_relaxed);
  s->written = NULL;
  return s;
}

tc_storage *tc_storage_new(size_t bytes) {
  tc_storage *s = block_new(bytes);
  if (s) s->data = data_of(s);
  return s;
}

tc_storage *tc_storage_foreign(void *data, void (*release)(void *), void *context) {
  tc_storage *s = block_new(0);
  if (!s) return NULL;
  s->data = data;
  s->release = release;
  s->context = context;
  return s;
}

tc_storage *tc_storage_described(void (*release)(void *), size_t bytes) {
  tc_storage *s = block_new(bytes);
  if (!s) return NULL;
  s->data = NULL;
  s->release = release;
  s->context = data_of(s);
  return s;
}

/* The only reference cannot be shared any more, so it is dropped without a locked instruction. */
static bool drop_reference(tc_storage *s) {
  return atomic_load_explicit(&s->refs, memory_order_acquire) == 1 ||
         atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1;
}

/* TC_CHECK: the block that is freed in its place, if any; what waits counts as cached. */
static tc_storage *wait(tc_storage *s) {
  tc_storage *out = tc_check_block_free(s, data_of(s));
  poison(s);
  return out;
}

void tc_storage_unref(tc_storage *s) {
  if (!s || !drop_reference(s)) return;
  if (s->release) s->release(s->context);
  local_cache *l = local();
  if (!l) {
    free(s);
    return;
  }
  int c = s->size_class;
  count(&l->live, -(int64_t)s->bytes);
  count(&l->cached, (int64_t)s->bytes);
  if (tc_checks && !(s = wait(s))) return;
  poison(s);
  if (kept_local(c) && l->count[c] < LOCAL_DEPTH) {
    s->next = l->block[c];
    l->block[c] = s;
    l->count[c]++;
  } else {
    put_shared(s);
  }
}

/* ---- tensor headers -------------------------------------------------------------------------- */

/* A freed header keeps its key, which says so, and the link; the rest is nobody's. */
static void mark_freed(tc_tensor *t) {
  t->key = TC_KEY_FREED;
  tc_poison(t->dim, offsetof(tc_tensor, scope_next) - offsetof(tc_tensor, dim));
  tc_poison(&t->scope, sizeof t->scope);
}

static tc_tensor *revive(tc_tensor *t) {
  tc_unpoison(t->dim, sizeof *t - offsetof(tc_tensor, dim));
  return t;
}

/* The headers of a thread become everybody's.  They stay headers, so that a freed one can be
 * told. */
static void give_headers(local_cache *l) {
  if (!l->header) return;
  tc_tensor *last = l->header;
  while (last->scope_next) last = last->scope_next;
  lock_cache();
  last->scope_next = cache.header;
  cache.header = l->header;
  unlock_cache();
  l->header = NULL;
  l->headers = 0;
}

/* Half as many as it may keep, where there are any. */
static void take_headers(local_cache *l) {
  lock_cache();
  tc_tensor *first = cache.header, *last = first;
  for (l->headers = first != NULL; last && last->scope_next && l->headers < LOCAL_HEADERS / 2;
       l->headers++)
    last = last->scope_next;
  if (first) {
    cache.header = last->scope_next;
    last->scope_next = NULL;
  }
  unlock_cache();
  l->header = first;
}

tc_tensor *tc_header_new(void) {
  if (tc_checks) return tc_check_header_new();
  local_cache *l = local();
  if (l && !l->header && atomic_load_explicit(&cache.header, memory_order_relaxed)) take_headers(l);
  tc_tensor *t = l ? l->header : NULL;
  if (t) {
    l->header = t->scope_next;
    l->headers--;
    return revive(t);
  }
  t = malloc(sizeof *t);
  return t ? t : tc_fail_as(TC_ERROR_MEMORY, "out of memory: a tensor header");
}

void tc_header_free(tc_tensor *t) {
  local_cache *l = local();
  mark_freed(t);
  if (tc_checks) {
    tc_check_header_free(t);
    return;
  }
  if (!l || !cache.cap) {
    free(t);
    return;
  }
  t->scope_next = l->header;
  l->header = t;
  if (++l->headers > LOCAL_HEADERS) give_headers(l);
}

static void free_headers(tc_tensor *t) {
  for (tc_tensor *next; t; t = next) {
    next = t->scope_next;
    free(t);
  }
}

/* ---- the public view ------------------------------------------------------------------------- */

/* Blocks that other threads keep for themselves stay with them: a few per thread, of 64 KiB at
 * most. */
size_t tc_trim(void) {
  local_cache *l = local();
  if (l) flush_local(l);
  lock_cache();
  tc_storage *out = evict(0);
  tc_tensor *header = cache.header;
  cache.header = NULL;
  unlock_cache();
  free_headers(header);
  size_t bytes = free_list(out);
  if (l) count(&l->cached, -(int64_t)bytes);
  return bytes + tc_cuda_trim();
}

tc_memory_stats tc_memory(void) {
  int64_t live = 0, cached = 0;
  tc_memory_stats m = {0};
  lock_cache();
  for (local_cache *l = cache.locals; l; l = l->next) {
    live += atomic_load_explicit(&l->live, memory_order_relaxed);
    cached += atomic_load_explicit(&l->cached, memory_order_relaxed);
    m.mallocs += atomic_load_explicit(&l->mallocs, memory_order_relaxed);
    m.reuses += atomic_load_explicit(&l->reuses, memory_order_relaxed);
  }
  unlock_cache();
  m.live = live > 0 ? (size_t)live : 0;
  m.cached = cached > 0 ? (size_t)cached : 0;
  return m;
}

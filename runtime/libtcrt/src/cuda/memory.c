/* Device and page-locked memory.
 *
 * Device memory is taken and given back in the order of a stream, so that a freed block serves the
 * next allocation while kernels that use it are still queued.  With pools the driver does this; the
 * fallback keeps freed blocks in a list and gives them only to the stream that freed them. */
#include "runtime/libtcrt/src/cuda/device.h"

#include <stdlib.h>

#include "runtime/libtcrt/src/device.h"

/* ---- copies that still read host memory ------------------------------------------------------ */

/* Lets go of what finished copies held. */
static void reap(tc_cuda_device *d) {
  tc_cuda_pending *done = NULL, **link = &d->pending;
  pthread_mutex_lock(&d->lock);
  while (*link) {
    tc_cuda_pending *p = *link;
    if (d->cu->event_query(p->event) == CU_NOT_READY) {
      link = &p->next;
      continue;
    }
    *link = p->next;
    p->next = done;
    done = p;
  }
  pthread_mutex_unlock(&d->lock);
  for (tc_cuda_pending *next; done; done = next) {
    next = done->next;
    d->cu->event_destroy(done->event);
    tc_storage_unref(done->storage);
    free(done);
  }
}

cu_result tc_cuda_hold(tc_cuda_device *d, tc_storage *s, cu_stream on) {
  reap(d);
  tc_cuda_pending *p = malloc(sizeof *p);
  if (!p) return d->cu->stream_wait(on);
  cu_result r = d->cu->event_create(&p->event, CU_EVENT_NO_TIMING);
  if (r == CU_SUCCESS && (r = d->cu->event_record(p->event, on)) != CU_SUCCESS)
    d->cu->event_destroy(p->event);
  if (r != CU_SUCCESS) { /* nothing to watch: wait instead */
    free(p);
    return d->cu->stream_wait(on);
  }
  p->storage = tc_storage_ref(s);
  pthread_mutex_lock(&d->lock);
  p->next = d->pending;
  d->pending = p;
  pthread_mutex_unlock(&d->lock);
  return r;
}

/* ---- without pools --------------------------------------------------------------------------- */

enum { GRAIN = 512, LARGE_GRAIN = 2 << 20 };

static size_t round_up(size_t bytes) {
  size_t grain = bytes < LARGE_GRAIN ? GRAIN : LARGE_GRAIN;
  return bytes > SIZE_MAX - grain ? bytes : (bytes + grain - 1) / grain * grain;
}

/* The smallest kept block of this stream that serves without wasting half of it. */
static tc_cuda_block *take_kept(tc_cuda_device *d, size_t bytes, cu_stream s) {
  tc_cuda_block **best = NULL, *b = NULL;
  for (tc_cuda_block **at = &d->kept; *at; at = &(*at)->next)
    if ((*at)->stream == s && (*at)->bytes >= bytes && (*at)->bytes / 2 <= bytes &&
        (!best || (*at)->bytes < (*best)->bytes))
      best = at;
  if (!best) return NULL;
  b = *best;
  *best = b->next;
  d->cached -= b->bytes;
  return b;
}

/* Gives every kept block back to the driver, which waits for their use. */
static size_t drop_kept(tc_cuda_device *d) {
  pthread_mutex_lock(&d->lock);
  tc_cuda_block *b = d->kept;
  size_t bytes = d->cached;
  d->kept = NULL;
  d->cached = 0;
  pthread_mutex_unlock(&d->lock);
  for (tc_cuda_block *next; b; b = next) {
    next = b->next;
    d->cu->free(b->data);
    free(b);
  }
  return bytes;
}

static cu_result alloc_plain(tc_cuda_device *d, size_t *bytes, cu_stream s, cu_ptr *p) {
  *bytes = round_up(*bytes);
  pthread_mutex_lock(&d->lock);
  tc_cuda_block *b = take_kept(d, *bytes, s);
  pthread_mutex_unlock(&d->lock);
  if (!b) return d->cu->alloc(p, *bytes);
  *p = b->data;
  *bytes = b->bytes;
  free(b);
  return CU_SUCCESS;
}

static void free_plain(tc_cuda_device *d, cu_ptr p, size_t bytes, cu_stream s) {
  tc_cuda_block *b = malloc(sizeof *b);
  if (!b) {
    d->cu->free(p);
    return;
  }
  *b = (tc_cuda_block){.data = p, .bytes = bytes, .stream = s};
  pthread_mutex_lock(&d->lock);
  b->next = d->kept;
  d->kept = b;
  d->cached += b->bytes;
  pthread_mutex_unlock(&d->lock);
}

/* ---- allocation ------------------------------------------------------------------------------ */

static cu_result alloc_once(tc_cuda_device *d, size_t *bytes, cu_stream s, cu_ptr *p) {
  return d->pool ? d->cu->pool_alloc(p, *bytes, d->pool, s) : alloc_plain(d, bytes, s, p);
}

/* Unused memory of one device goes back; bytes where they are known. */
static size_t trim(tc_cuda_device *d) {
  uint64_t before = 0, after = 0;
  reap(d);
  if (!d->pool) return drop_kept(d);
  d->cu->pool_get(d->pool, CU_POOL_RESERVED, &before);
  d->cu->pool_trim(d->pool, 0);
  d->cu->pool_get(d->pool, CU_POOL_RESERVED, &after);
  return before > after ? (size_t)(before - after) : 0;
}

/* Kernels read words of 16 bytes, of which the last may lie in an array with its first bytes alone. */
cu_result tc_cuda_alloc(tc_cuda_device *d, size_t *bytes, cu_stream s, cu_ptr *p) {
  enum { WORD = 16 };
  *p = 0;
  if (*bytes == 0) return CU_SUCCESS;
  if (*bytes <= SIZE_MAX - WORD) *bytes = (*bytes + WORD - 1) / WORD * WORD;
  cu_result r = alloc_once(d, bytes, s, p);
  if (r == CU_OUT_OF_MEMORY) {
    d->cu->context_wait();
    trim(d);
    r = alloc_once(d, bytes, s, p);
  }
  if (r != CU_SUCCESS) *p = 0;
  else __atomic_fetch_add(&d->live, *bytes, __ATOMIC_RELAXED);
  return r;
}

void tc_cuda_release(tc_cuda_device *d, cu_ptr p, size_t bytes, cu_stream s) {
  if (!p) return;
  __atomic_fetch_sub(&d->live, bytes, __ATOMIC_RELAXED);
  if (!d->pool) free_plain(d, p, bytes, s);
  else if (d->cu->free_async(p, s)) d->cu->free(p); /* at once, after what uses it */
}

/* ---- storages -------------------------------------------------------------------------------- */

typedef struct owned {
  tc_cuda_device *device;
  cu_ptr data;
  size_t bytes;
  tc_stream *stream; /* NULL: the default one */
} owned;

static void release_device(void *context) {
  owned *o = context;
  tc_cuda_current(o->device);
  tc_cuda_release(o->device, o->data, o->bytes, o->stream ? o->stream->stream : NULL);
  tc_cuda_stream_unref(o->stream);
}

tc_storage *tc_cuda_storage(tc_cuda_device *d, size_t bytes) {
  tc_stream *stream;
  cu_stream s = tc_cuda_stream(d, &stream);
  tc_storage *storage = tc_storage_described(release_device, sizeof(owned));
  if (!storage) return NULL;
  owned *o = storage->context;
  *o = (owned){.device = d, .bytes = bytes};
  cu_result r = tc_cuda_alloc(d, &o->bytes, s, &o->data);
  if (r == CU_SUCCESS) {
    o->stream = stream;
    if (stream) atomic_fetch_add_explicit(&stream->refs, 1, memory_order_relaxed);
    storage->data = (void *)(uintptr_t)o->data;
    return storage;
  }
  tc_storage_unref(storage);
  if (r != CU_OUT_OF_MEMORY) return tc_cuda_fail("device memory", "allocation", r);
  return tc_fail_as(TC_ERROR_MEMORY, "out of memory: %zu bytes on cuda:%d", bytes, d->index);
}

static void release_pinned(void *context) {
  owned *o = context;
  tc_cuda_current(o->device);
  o->device->cu->host_free((void *)(uintptr_t)o->data);
}

bool tc_cuda_is_pinned(const tc_storage *s) { return s && s->release == release_pinned; }

tc_tensor *tc_empty_pinned(tc_ints dims, tc_dtype dtype) {
  if (!tc_check_dims("tc_empty_pinned", dtype, &dims)) return NULL;
  tc_device at = tc_default_device();
  tc_cuda_device *d = tc_cuda_enter("tc_empty_pinned", at >> 8);
  tc_tensor *t = d ? tc_tensor_header(dtype, dims.n, dims.v, TC_CPU) : NULL;
  tc_storage *s = t ? tc_storage_described(release_pinned, sizeof(owned)) : NULL;
  if (!s) {
    tc_free(t);
    return NULL;
  }
  size_t bytes = (size_t)tc_elements(t) * tc_dtype_size(dtype);
  void *data = NULL;
  cu_result r = d->cu->host_alloc(&data, bytes ? bytes : 1, CU_HOSTALLOC_PORTABLE);
  if (r != CU_SUCCESS) {
    s->release = NULL;
    tc_storage_unref(s);
    tc_free(t);
    return tc_cuda_fail("tc_empty_pinned", "page-locked memory", r);
  }
  *(owned *)s->context = (owned){.device = d, .data = (cu_ptr)(uintptr_t)data, .bytes = bytes};
  s->data = data;
  tc_tensor_adopt(t, s);
  return t;
}

/* ---- scratch --------------------------------------------------------------------------------- */

typedef struct scratch {
  owned memory;
  tc_scratch_use use;
  struct scratch *next;
} scratch;

static TC_FAST_TLS scratch *mine;
static pthread_key_t thread_end;
static bool have_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *p) {
  for (scratch *s = p, *next; s; s = next) {
    next = s->next;
    release_device(&s->memory);
    free(s);
  }
  mine = NULL;
}

static void make_key(void) { have_key = pthread_key_create(&thread_end, forget) == 0; }

void tc_cuda_forget_scratch(void) {
  if (mine) pthread_setspecific(thread_end, NULL);
  forget(mine);
}

static scratch *find_scratch(tc_cuda_device *d, tc_scratch_use use, tc_stream *stream) {
  for (scratch *s = mine; s; s = s->next)
    if (s->memory.device == d && s->use == use && s->memory.stream == stream) return s;
  pthread_once(&once, make_key);
  scratch *s = have_key ? calloc(1, sizeof *s) : NULL;
  if (!s) return NULL;
  s->use = use;
  s->memory.device = d;
  s->memory.stream = stream;
  if (stream) atomic_fetch_add_explicit(&stream->refs, 1, memory_order_relaxed);
  s->next = mine;
  mine = s;
  pthread_setspecific(thread_end, mine);
  return s;
}

enum { SMALLEST = 1 << 20 };

void *tc_cuda_scratch(tc_cuda_device *d, tc_scratch_use use, size_t bytes) {
  tc_stream *stream;
  cu_stream on = tc_cuda_stream(d, &stream);
  scratch *s = find_scratch(d, use, stream);
  if (!s) return NULL;
  owned *o = &s->memory;
  if (bytes <= o->bytes) return (void *)(uintptr_t)o->data;
  size_t more = o->bytes > SIZE_MAX / 2 ? bytes : 2 * o->bytes;
  more = more < SMALLEST ? SMALLEST : more;
  size_t want = more > bytes ? more : bytes;
  tc_cuda_release(d, o->data, o->bytes, on);
  o->data = 0;
  o->bytes = want;
  if (tc_cuda_alloc(d, &o->bytes, on, &o->data) == CU_SUCCESS) return (void *)(uintptr_t)o->data;
  o->bytes = bytes;
  if (tc_cuda_alloc(d, &o->bytes, on, &o->data)) o->bytes = 0;
  return (void *)(uintptr_t)o->data;
}

/* ---- the public view ------------------------------------------------------------------------- */

size_t tc_cuda_trim(void) {
  size_t bytes = 0;
  int n = tc_cuda_any() ? tc_cuda()->devices : 0;
  for (int i = 0; i < n; i++) {
    tc_cuda_device *d = tc_cuda_opened(i);
    if (!d) continue;
    tc_cuda_current(d);
    tc_cuda_forget_graphs();
    tc_cuda_forget_scratch();
    d->cu->context_wait();
    bytes += trim(d);
  }
  return bytes;
}

tc_memory_stats tc_device_memory(tc_device device) {
  tc_memory_stats m = {0};
  if (device == TC_CPU) return tc_memory();
  tc_cuda_device *d = tc_cuda_enter("tc_device_memory", device >> 8);
  if (!d) return m;
  uint64_t reserved = 0;
  m.live = __atomic_load_n(&d->live, __ATOMIC_RELAXED);
  if (d->pool) {
    d->cu->pool_get(d->pool, CU_POOL_RESERVED, &reserved);
    m.cached = reserved > m.live ? (size_t)reserved - m.live : 0;
  } else {
    pthread_mutex_lock(&d->lock);
    m.cached = d->cached;
    pthread_mutex_unlock(&d->lock);
  }
  return m;
}

/* Images: which of an image's blobs a device takes, loaded once per device. */
#include "runtime/libtcrt/src/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/libtcrt/src/cuda/unpack.h"
#include "runtime/libtcrt/src/settings.h"

/* An image on one device.  failed: why it could not be loaded, so that nobody tries again. */
typedef struct loaded {
  cu_module module;
  cu_result failed;
  int arch; /* that the code was made for */
  struct {
    cu_function function;
    unsigned shared; /* dynamic shared memory it may use */
  } at[];
} loaded;

enum { STATIC_SHARED = 48 << 10 }; /* what a kernel gets without asking */

_Atomic unsigned tc_cuda_epoch;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One slot per device, made when an image is first used. */
static _Atomic(loaded *) *slots_of(tcrt_cuda_image *image) {
  return __atomic_load_n(&image->loaded, __ATOMIC_ACQUIRE);
}

/* The best blob of a kind for the device: machine code of the same major version and at most the
 * minor one, or PTX for at most the architecture. */
static const tcrt_cuda_blob *choose(const tcrt_cuda_image *image, int arch, bool ptx) {
  const tcrt_cuda_blob *best = NULL;
  for (uint32_t i = 0; i < image->nblob; i++) {
    const tcrt_cuda_blob *b = &image->blob[i];
    if ((b->ptx != 0) != ptx || (int)b->arch > arch) continue;
    if (!ptx && (int)b->arch / 10 != arch / 10) continue;
    if (!best || b->arch > best->arch) best = b;
  }
  return best;
}

static void log_packed(const char *why) {
  if (tc_settings_now.logs & TC_LOG_FALLBACK)
    fprintf(stderr, "tcompile: kernels for GPUs cannot be unpacked: %s\n", why);
}

/* Makes p->bytes.  Under the lock. */
static cu_result unpack(tcrt_cuda_packed *p) {
  if (p->bytes) return CU_SUCCESS;
  void *bytes = malloc((size_t)p->size);
  if (!bytes) return CU_OUT_OF_MEMORY;
  const char *why = tcrt_decompress(p->data, (size_t)p->packed, bytes, (size_t)p->size);
  if (!why) {
    p->bytes = bytes;
    return CU_SUCCESS;
  }
  log_packed(why);
  free(bytes);
  return CU_INVALID_IMAGE;
}

static cu_result load_blob(const tc_cuda_device *d, const tcrt_cuda_blob *b, cu_module *m) {
  if (b->data) return d->cu->module_load(m, b->data);
  const cu_result r = unpack(b->pack);
  return r == CU_SUCCESS ? d->cu->module_load(m, (const char *)b->pack->bytes + b->at) : r;
}

static cu_result load_module(const tc_cuda_device *d, const tcrt_cuda_image *image, loaded *l) {
  cu_result r = CU_NO_BINARY_FOR_GPU;
  for (int ptx = 0; ptx < 2; ptx++) {
    const tcrt_cuda_blob *b = choose(image, d->info.arch, ptx);
    if (b) l->arch = (int)b->arch;
    if (b && (r = load_blob(d, b, &l->module)) == CU_SUCCESS) return r;
  }
  return r;
}

static cu_result find_functions(const tc_cuda_device *d, const tcrt_cuda_image *image, loaded *l) {
  cu_result r = load_module(d, image, l);
  if (r != CU_SUCCESS) return r;
  for (uint32_t i = 0; i < image->nfunction && r == CU_SUCCESS; i++) {
    r = d->cu->module_function(&l->at[i].function, l->module, image->function[i]);
    l->at[i].shared = STATIC_SHARED;
  }
  if (r != CU_SUCCESS) d->cu->module_unload(l->module);
  return r;
}

static void log_failure(const tc_cuda_device *d, const tcrt_cuda_image *image, cu_result r) {
  if (!(tc_settings_now.logs & TC_LOG_FALLBACK)) return;
  fprintf(stderr, "tcompile: the kernels of %s cannot be loaded on cuda:%d (sm_%d): %s\n",
          image->name, d->index, (int)d->info.arch, tc_cuda_describe(r).text);
}

/* Under the lock.  NULL: no memory now. */
static loaded *load(const tc_cuda_device *d, tcrt_cuda_image *image) {
  _Atomic(loaded *) *slots = image->loaded;
  if (!slots) slots = calloc((size_t)d->cu->devices, sizeof *slots);
  if (!slots) return NULL;
  __atomic_store_n(&image->loaded, (void *)slots, __ATOMIC_RELEASE);
  loaded *l = atomic_load(&slots[d->index]);
  if (l) return l;
  l = calloc(1, sizeof *l + image->nfunction * sizeof l->at[0]);
  if (!l) return NULL;
  l->failed = find_functions(d, image, l);
  if (l->failed == CU_OUT_OF_MEMORY) { /* may pass */
    free(l);
    return NULL;
  }
  if (l->failed != CU_SUCCESS) log_failure(d, image, l->failed);
  atomic_store_explicit(&slots[d->index], l, memory_order_release);
  return l;
}

static loaded *find(const tc_cuda_device *d, tcrt_cuda_image *image) {
  _Atomic(loaded *) *slots = slots_of(image);
  loaded *l = slots ? atomic_load_explicit(&slots[d->index], memory_order_acquire) : NULL;
  if (l) return l;
  pthread_mutex_lock(&lock);
  l = load(d, image);
  pthread_mutex_unlock(&lock);
  return l;
}

cu_result tc_cuda_function(tc_cuda_device *d, tcrt_cuda_image *image, unsigned index,
                           unsigned shared, cu_function *f) {
  loaded *l = find(d, image);
  if (!l) return CU_OUT_OF_MEMORY;
  if (l->failed != CU_SUCCESS) return l->failed;
  if (index >= image->nfunction || shared > (unsigned)d->info.max_shared) return CU_INVALID_VALUE;
  *f = l->at[index].function;
  if (shared <= __atomic_load_n(&l->at[index].shared, __ATOMIC_RELAXED)) return CU_SUCCESS;
  cu_result r = d->cu->function_set(*f, CU_FUNC_MAX_SHARED, (int)shared);
  if (r == CU_SUCCESS) __atomic_store_n(&l->at[index].shared, shared, __ATOMIC_RELAXED);
  return r;
}

bool tc_cuda_waits(tc_cuda_device *d, tcrt_cuda_image *image) {
  enum { HOPPER = 90 };
  const loaded *l = find(d, image);
  return l && l->failed == CU_SUCCESS && l->arch >= HOPPER;
}

/* At the program's end the driver may be gone before us; it then refuses, which is fine. */
void tcrt_cuda_unload(tcrt_cuda_image *image) {
  _Atomic(loaded *) *slots = image ? slots_of(image) : NULL;
  if (!slots) return;
  pthread_mutex_lock(&lock);
  __atomic_store_n(&image->loaded, NULL, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  tc_cuda_epoch++;
  for (int i = 0; i < tc_cuda()->devices; i++) {
    loaded *l = atomic_load(&slots[i]);
    tc_cuda_device *d = l ? tc_cuda_opened(i) : NULL;
    if (d && l->failed == CU_SUCCESS) {
      tc_cuda_current(d);
      d->cu->module_unload(l->module);
    }
    free(l);
  }
  free((void *)slots);
}

void tcrt_cuda_drop(tcrt_cuda_packed *pack) {
  pthread_mutex_lock(&lock);
  free(pack->bytes);
  pack->bytes = NULL;
  pthread_mutex_unlock(&lock);
}

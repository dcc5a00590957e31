/* Devices: opening, the current one of a thread, waiting, and the default for creation. */
#include "runtime/libtcrt/src/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  pthread_mutex_t lock;
  _Atomic(tc_cuda_device *) *at; /* one per device of the driver; NULL: not opened */
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *tc_cuda_fail(const char *function, const char *what, cu_result r) {
  return tc_fail_as(TC_ERROR_DEVICE, "%s: %s: %s", function, what, tc_cuda_describe(r).text);
}

/* ---- opening --------------------------------------------------------------------------------- */

static cu_result read_info(tc_cuda_device *d) {
  int major = 0, minor = 0;
  const struct {
    int attribute;
    int32_t *to;
  } want[] = {{CU_MAJOR, &major},
              {CU_MINOR, &minor},
              {CU_SMS, &d->info.sms},
              {CU_SHARED_OPTIN, &d->info.max_shared},
              {CU_SHARED_PER_SM, &d->info.shared_per_sm},
              {CU_THREADS_PER_SM, &d->info.threads_per_sm},
              {CU_REGISTERS_PER_SM, &d->info.registers_per_sm},
              {CU_L2_BYTES, &d->info.l2_bytes},
              {CU_MAX_GRID_X, &d->info.max_grid_x},
              {CU_MAX_GRID_Y, &d->info.max_grid_y}};
  cu_result r = CU_SUCCESS;
  for (size_t i = 0; i < sizeof want / sizeof *want && r == CU_SUCCESS; i++)
    r = d->cu->device_attribute(want[i].to, want[i].attribute, d->handle);
  d->info.arch = 10 * major + minor;
  return r;
}

/* A pool of our own, which keeps what is freed; without one memory is kept by us (memory.c). */
static void make_pool(tc_cuda_device *d) {
  int supported = 0;
  uint64_t keep = UINT64_MAX;
  cu_pool_props props = {.alloc_type = 1, .location = {1, d->handle}};
  if (!d->cu->pools || d->cu->device_attribute(&supported, CU_POOLS_SUPPORTED, d->handle) ||
      !supported || d->cu->pool_create(&d->pool, &props))
    d->pool = NULL;
  else if (d->cu->pool_set(d->pool, CU_POOL_RELEASE_THRESHOLD, &keep)) {
    d->cu->pool_destroy(d->pool);
    d->pool = NULL;
  }
}

/* The word for indices out of range: host memory that kernels can write. */
static cu_result make_word(tc_cuda_device *d) {
  void *word = NULL;
  cu_result r = d->cu->host_alloc(&word, sizeof(int), CU_HOSTALLOC_MAPPED | CU_HOSTALLOC_PORTABLE);
  if (r != CU_SUCCESS) return r;
  d->bad = word;
  *d->bad = 0;
  r = d->cu->host_address(&d->bad_address, word, 0);
  if (r != CU_SUCCESS) d->cu->host_free(word);
  return r;
}

static cu_result fill_device(tc_cuda_device *d) {
  cu_result r = d->cu->device_get(&d->handle, d->index);
  if (r == CU_SUCCESS) r = read_info(d);
  if (r == CU_SUCCESS) r = d->cu->context_retain(&d->context, d->handle);
  if (r != CU_SUCCESS) return r;
  r = d->cu->context_set(d->context);
  if (r == CU_SUCCESS) r = make_word(d);
  if (r == CU_SUCCESS) make_pool(d);
  else d->cu->context_release(d->handle);
  return r;
}

static tc_cuda_device *open_device(const char *function, const tc_cuda_driver *cu, int index) {
  tc_cuda_device *d = calloc(1, sizeof *d);
  if (!d) return tc_fail_as(TC_ERROR_MEMORY, "%s: out of memory", function);
  d->index = index;
  d->cu = cu;
  pthread_mutex_init(&d->lock, NULL);
  cu_result r = fill_device(d);
  if (r == CU_SUCCESS) return d;
  free(d);
  char what[40];
  snprintf(what, sizeof what, "opening cuda:%d", index);
  return tc_cuda_fail(function, what, r);
}

/* The device if it is open, without the lock. */
static tc_cuda_device *look_up(int index) {
  _Atomic(tc_cuda_device *) *at = __atomic_load_n(&devices.at, __ATOMIC_ACQUIRE);
  return at ? atomic_load_explicit(&at[index], memory_order_acquire) : NULL;
}

/* Under the lock. */
static tc_cuda_device *find_device(const char *function, const tc_cuda_driver *cu, int index) {
  if (!devices.at)
    __atomic_store_n(&devices.at, calloc((size_t)cu->devices, sizeof *devices.at),
                     __ATOMIC_RELEASE);
  if (!devices.at) return tc_fail_as(TC_ERROR_MEMORY, "%s: out of memory", function);
  tc_cuda_device *d = look_up(index);
  if (!d && (d = open_device(function, cu, index)))
    atomic_store_explicit(&devices.at[index], d, memory_order_release);
  return d;
}

tc_cuda_device *tc_cuda_enter(const char *function, int index) {
  const tc_cuda_driver *cu = tc_cuda();
  if (!cu) return tc_fail_as(TC_ERROR_DEVICE, "%s: %s", function, tc_cuda_absent());
  if (index < 0 || index >= cu->devices)
    return tc_fail_as(TC_ERROR_DEVICE, "%s: there is no cuda:%d; the driver has %d device%s",
                      function, index, cu->devices, cu->devices == 1 ? "" : "s");
  tc_cuda_device *d = look_up(index);
  if (!d) {
    pthread_mutex_lock(&devices.lock);
    d = find_device(function, cu, index);
    pthread_mutex_unlock(&devices.lock);
  }
  cu_result r = d ? tc_cuda_current(d) : CU_SUCCESS;
  return r == CU_SUCCESS ? d : tc_cuda_fail(function, "entering the device", r);
}

bool tc_cuda_any(void) { return __atomic_load_n(&devices.at, __ATOMIC_ACQUIRE) != NULL; }

tc_cuda_device *tc_cuda_opened(int index) { return look_up(index); }

/* Other libraries change the thread's context, so it is asked for each time. */
cu_result tc_cuda_current(const tc_cuda_device *d) {
  cu_context now = NULL;
  cu_result r = d->cu->context_get(&now);
  return r == CU_SUCCESS && now != d->context ? d->cu->context_set(d->context) : r;
}

/* ---- waiting --------------------------------------------------------------------------------- */

bool tc_cuda_indices_fine(const char *function, tc_cuda_device *d) {
  if (!__atomic_exchange_n(d->bad, 0, __ATOMIC_RELAXED)) return true;
  tc_fail_as(TC_ERROR_INDEX, "%s: an index operand of an earlier op on cuda:%d was out of range",
             function, d->index);
  return false;
}

bool tc_cuda_wait(const char *function, tc_cuda_device *d, cu_stream s) {
  cu_result r = d->cu->stream_wait(s);
  if (r != CU_SUCCESS) tc_cuda_fail(function, "an earlier kernel or copy failed", r);
  return r == CU_SUCCESS && tc_cuda_indices_fine(function, d);
}

bool tc_synchronize(void) {
  const tc_cuda_driver *cu = tc_cuda_any() ? tc_cuda() : NULL;
  bool fine = true;
  for (int i = 0; cu && i < cu->devices; i++) {
    tc_cuda_device *d = tc_cuda_opened(i);
    if (!d) continue;
    cu_result r = tc_cuda_current(d);
    if (r == CU_SUCCESS) r = cu->context_wait();
    if (r != CU_SUCCESS) tc_cuda_fail("tc_synchronize", "an earlier kernel or copy failed", r);
    fine = r == CU_SUCCESS && tc_cuda_indices_fine("tc_synchronize", d) && fine;
  }
  return fine;
}

/* ---- which device ---------------------------------------------------------------------------- */

int tc_device_count(tc_device kind) {
  if ((kind & 0xff) == TC_CPU) return 1;
  const tc_cuda_driver *cu = tc_cuda();
  return cu ? cu->devices : 0;
}

static _Atomic int standard; /* a tc_device */

/* "cpu", "cuda", "cuda:1"; -1: none of them. */
static int parse_device(const char *text) {
  char *end;
  if (!strcmp(text, "cpu")) return TC_CPU;
  if (!strcmp(text, "cuda")) return TC_CUDA;
  if (strncmp(text, "cuda:", 5) || text[5] < '0' || text[5] > '9') return -1;
  long index = strtol(text + 5, &end, 10);
  return *end || index > TC_LAST_DEVICE >> 8 ? -1 : (int)tc_gpu((int)index);
}

/* Before the program's constructors; no driver is opened here. */
__attribute__((constructor(101))) static void read_environment(void) {
  const char *text = getenv("TC_DEVICE");
  int device = text && *text ? parse_device(text) : TC_CPU;
  if (device < 0)
    fprintf(stderr, "tcompile: TC_DEVICE=%s is not known; it can be cpu, cuda or cuda:<index>\n",
            text);
  else standard = device;
}

tc_device tc_default_device(void) { return (tc_device)standard; }

bool tc_set_default_device(tc_device device) {
  bool known = device == TC_CPU || (device & 0xff) == TC_CUDA;
  if (!known) tc_fail_as(TC_ERROR_DEVICE, "tc_set_default_device: %d is no device", (int)device);
  if (known && device != TC_CPU) known = tc_cuda_enter("tc_set_default_device", device >> 8);
  if (known) standard = (int)device;
  return known;
}

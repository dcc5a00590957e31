/* The stub's books: calls, faults, objects, kernels. */
#include "tests/cuda_stub/stub_impl.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SYMBOLS = 128, MOST_KERNELS = 128, MOST_GONE = 256, FILLED = 16 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stub_object *objects, *gone;
static char misuse[300];
static int fail_at, all_calls;
static bool failed;
static const char *always_symbol;
static int always_result;

static struct {
  const char *symbol;
  int calls;
} symbols[MOST_SYMBOLS];

static struct {
  char name[64];
  int nargs, launches;
  void (*run)(const stub_launch *l);
} kernels[MOST_KERNELS];

/* ---- calls ----------------------------------------------------------------------------------- */

static int *calls_of(const char *symbol) {
  int i = 0;
  while (i < MOST_SYMBOLS - 1 && symbols[i].symbol && strcmp(symbols[i].symbol, symbol)) i++;
  symbols[i].symbol = symbol;
  return &symbols[i].calls;
}

static bool takes_memory(const char *symbol) {
  return strstr(symbol, "Alloc") || !strcmp(symbol, "cuModuleLoadData");
}

cu_result stub_enter(const char *symbol) {
  pthread_mutex_lock(&lock);
  ++*calls_of(symbol);
  all_calls++;
  if (always_symbol && !strcmp(always_symbol, symbol)) return always_result;
  if (fail_at == 0 || --fail_at > 0) return CU_SUCCESS;
  failed = true;
  return takes_memory(symbol) ? CU_OUT_OF_MEMORY : 999;
}

cu_result stub_leave(cu_result r) {
  pthread_mutex_unlock(&lock);
  return r;
}

cu_result stub_wrong(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  if (!misuse[0]) vsnprintf(misuse, sizeof misuse, format, ap);
  va_end(ap);
  return CU_INVALID_VALUE;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool is_memory(const stub_object *o) {
  return o->kind == STUB_DEVICE_MEMORY || o->kind == STUB_HOST_MEMORY;
}

/* The beginning of a block, so that huge ones cost nothing. */
static void fill(stub_object *o, int byte) {
  memset(o->at, byte, o->bytes < FILLED ? o->bytes : FILLED);
}

stub_object *stub_make(stub_kind kind, size_t bytes) {
  stub_object *o = calloc(1, sizeof *o);
  if (!o) return NULL;
  o->kind = kind;
  bool memory = is_memory(o);
  void *block = NULL;
  if (memory && posix_memalign(&block, 512, bytes + 1)) {
    free(o);
    return NULL;
  }
  o->at = memory ? block : (void *)o;
  o->bytes = bytes;
  if (memory) fill(o, 0xA5);
  o->next = objects;
  return objects = o;
}

stub_object *stub_find(const char *symbol, stub_kind kind, const void *handle) {
  for (stub_object *o = objects; o; o = o->next)
    if (o->at == handle && o->kind == kind) return o;
  stub_wrong("%s: %p is no live object of kind %d", symbol, handle, (int)kind);
  return NULL;
}

/* What was destroyed lately is kept for a while, so that late uses are found by the books. */
static void bury(stub_object *o) {
  stub_object **at = &gone;
  o->next = gone;
  gone = o;
  for (int n = 0; *at && n < MOST_GONE; n++) at = &(*at)->next;
  stub_object *old = *at;
  if (!old) return;
  *at = NULL;
  if (is_memory(old)) free(old->at);
  free(old->node);
  free(old->text);
  free(old);
}

static stub_object *function_of(const stub_object *module) {
  stub_object *o = objects;
  while (o && !(o->kind == STUB_FUNCTION && o->owner == module)) o = o->next;
  return o;
}

void stub_drop(stub_object *o) {
  stub_object **at = &objects;
  while (*at != o) at = &(*at)->next;
  *at = o->next;
  if (is_memory(o)) fill(o, 0xDD);
  if (o->kind == STUB_MODULE)
    for (stub_object *f; (f = function_of(o));) stub_drop(f);
  bury(o);
}

static bool holds(const stub_object *o, const void *p, size_t bytes) {
  size_t offset = (uintptr_t)p - (uintptr_t)o->at;
  return offset < o->bytes + (bytes == 0) && bytes <= o->bytes - offset;
}

bool stub_owns(stub_kind kind, const void *p) {
  for (const stub_object *o = objects; o; o = o->next)
    if (o->kind == kind && holds(o, p, 1)) return true;
  return false;
}

bool stub_inside(const char *symbol, stub_kind kind, const void *p, size_t bytes) {
  for (const stub_object *o = objects; o; o = o->next)
    if (o->kind == kind && holds(o, p, bytes)) return true;
  stub_wrong("%s: [%p, +%zu) is not inside a live block of kind %d", symbol, p, bytes, (int)kind);
  return false;
}

size_t stub_used(void) {
  size_t bytes = 0;
  for (const stub_object *o = objects; o; o = o->next)
    if (o->kind == STUB_DEVICE_MEMORY) bytes += o->bytes;
  return bytes;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int find_kernel(const char *name) {
  int i = 0;
  while (i < MOST_KERNELS - 1 && kernels[i].name[0] && strcmp(kernels[i].name, name)) i++;
  if (!kernels[i].name[0]) snprintf(kernels[i].name, sizeof kernels[i].name, "%s", name);
  return i;
}

int stub_nargs(const char *name) { return kernels[find_kernel(name)].nargs; }

/* A first parameter that points to device memory must be alive: what every kernel writes or reads.
 */
static bool arguments_live(const char *symbol, const char *name, void **args, int n) {
  for (const stub_object *o = gone; o; o = o->next)
    for (int i = 0; i < n; i++) {
      void *p;
      memcpy(&p, args[i], sizeof p);
      if (o->kind == STUB_DEVICE_MEMORY && holds(o, p, 1)) {
        stub_wrong("%s: argument %d of %s points to freed memory", symbol, i, name);
        return false;
      }
    }
  return true;
}

cu_result stub_run(const char *symbol, const cu_kernel_node *k) {
  stub_object *f = stub_find(symbol, STUB_FUNCTION, k->function);
  if (!f) return CU_INVALID_VALUE;
  if (!k->grid_x || !k->grid_y || !k->grid_z || !k->block_x || k->block_x > 1024 ||
      k->grid_y > 65535)
    return stub_wrong("%s: %s with a grid of %u x %u and blocks of %u", symbol, f->name, k->grid_x,
                      k->grid_y, k->block_x);
  if (k->shared > f->bytes)
    return stub_wrong("%s: %s with %u bytes of shared memory, allowed %zu", symbol, f->name,
                      k->shared, f->bytes);
  int i = find_kernel(f->name);
  if (!arguments_live(symbol, f->name, k->params, kernels[i].nargs)) return CU_INVALID_VALUE;
  kernels[i].launches++;
  stub_launch l = {k->grid_x, k->grid_y, k->block_x, k->shared, k->params};
  if (kernels[i].run) kernels[i].run(&l);
  return CU_SUCCESS;
}

/* ---- what tests ask -------------------------------------------------------------------------- */

void stub_kernel(const char *name, int nargs, void (*run)(const stub_launch *)) {
  pthread_mutex_lock(&lock);
  int i = find_kernel(name);
  kernels[i].nargs = nargs;
  kernels[i].run = run;
  pthread_mutex_unlock(&lock);
}

int stub_calls(const char *symbol) { return symbol ? *calls_of(symbol) : all_calls; }

int stub_launches(const char *name) {
  int n = 0;
  for (int i = 0; i < MOST_KERNELS; i++)
    if (!name || !strcmp(kernels[i].name, name)) n += kernels[i].launches;
  return n;
}

int stub_live(stub_kind kind) {
  int n = 0;
  for (const stub_object *o = objects; o; o = o->next) n += o->kind == kind;
  return n;
}

size_t stub_live_bytes(void) { return stub_used(); }

const char *stub_misuse(void) { return misuse[0] ? misuse : NULL; }

void stub_fail_at(int n) {
  fail_at = n;
  failed = false;
}

bool stub_failed(void) { return failed; }

void stub_fail_always(const char *symbol, int result) {
  always_symbol = symbol;
  always_result = result;
}

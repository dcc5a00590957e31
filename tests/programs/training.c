/* The step of samples/fashion_train, on images that are made here: 200 losses by kernels and by bodies agree, runs of
 * kernels are equal to the bit, and steps behind the first take no memory and touch no new page.  Prints a hash
 * of what was learned, which same_for_threads compares.
 *
 * This program's malloc and friends stand in front of the C library's, for all threads and libraries. */
#define _GNU_SOURCE
#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fashion_train/step.h"

#ifdef TC_SANITIZED
enum { IMAGES = 2048, STEPS = 20 };
#else
enum { IMAGES = 2048, STEPS = 200 };
#endif

/* ---- counting -------------------------------------------------------------------------------- */

static atomic_long allocations;

#ifndef TC_SANITIZED /* which have allocators of their own */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

void *malloc(size_t n) { return (void)allocations++, __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return (void)allocations++, __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return (void)allocations++, __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) {
  return (void)allocations++, __libc_memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n) {
  allocations++;
  return (*out = __libc_memalign(align, n)) ? 0 : 12; /* ENOMEM */
}

void *mmap(void *at, size_t n, int protection, int flags, int file, off_t offset) {
  allocations++;
  return (void *)syscall(SYS_mmap, at, n, protection, flags, file, offset);
}
#endif

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/* ---- images ---------------------------------------------------------------------------------- */

/* Each class has a pattern; half of what an image shows is noise.  The generator of MMIX (Knuth). */
static images make_images(void) {
  static uint8_t pattern[CLASSES][PIXELS], pixel[IMAGES][PIXELS];
  static int64_t class[IMAGES];
  uint64_t seed = 1;
#define RANDOM(n) ((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33) % (n)
  for (int i = 0; i < CLASSES * PIXELS; i++) pattern[i / PIXELS][i % PIXELS] = RANDOM(128);
  for (int i = 0; i < IMAGES; i++) {
    class[i] = RANDOM(CLASSES);
    for (int k = 0; k < PIXELS; k++) pixel[i][k] = pattern[class[i]][k] + RANDOM(128);
  }
#undef RANDOM
  const tc_device place = tc_default_device();
  images all = {tc_to(tc_from(TC_DIMS(IMAGES, PIXELS), pixel, TC_U8), place),
                tc_to(tc_from(TC_DIMS(IMAGES), class, TC_I64), place)};
  CHECK(all.pixels && all.classes);
  return all;
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct run {
  double loss[STEPS];
  uint64_t hash;            /* of all losses and weights, bit by bit */
  long allocations, faults; /* behind the first step */
  uint64_t storages;        /* taken from the system, likewise */
} run;

static uint64_t hash_of(uint64_t hash, const void *data, size_t n) {
  const unsigned char *byte = data;
  for (size_t i = 0; i < n; i++) hash = (hash ^ byte[i]) * 1099511628211u;
  return hash;
}

static double step_at(const training *t, const images *all, const tc_tensor *numbers, int step) {
  double loss = 0;
  TC_SCOPE {
    const int64_t at = step * BATCH % IMAGES;
    const tc_tensor *batch = tc_slice(numbers, 0, at, at + BATCH, 1);
    loss = tc_item(train_step(t, all, batch, 1e-3 * (STEPS - step) / STEPS, step + 1));
  }
  return loss;
}

static void learn(const images *all, bool kernels, run *r) {
  const bool before = tc_set_enabled(kernels);
  memset(r, 0, sizeof *r);
  TC_SCOPE {
    const training t = start();
    const tc_tensor *numbers = tc_arange(IMAGES, 0, 1, TC_I64);
    r->loss[0] = step_at(&t, all, numbers, 0);
    const long allocated = allocations, faulted = faults();
    const uint64_t storages = tc_memory().mallocs;
    for (int i = 1; i < STEPS; i++) r->loss[i] = step_at(&t, all, numbers, i);
    r->allocations = allocations - allocated, r->faults = faults() - faulted;
    r->storages = tc_memory().mallocs - storages;
    tc_tensor *p[PARAMETERS];
    list(&t.net, p);
    r->hash = hash_of(1469598103934665603u, r->loss, sizeof r->loss);
    for (int i = 0; i < PARAMETERS; i++)
      r->hash = hash_of(r->hash, tc_cdata(tc_to(tc_detach(p[i]), TC_CPU)),
                        (size_t)tc_numel(p[i]) * sizeof(float));
  }
  tc_set_enabled(before);
}

/* Rounding is another in kernels, and steps carry it on. */
static void compare(const run *kernels, const run *bodies) {
  double apart = 0;
  for (int i = 0; i < STEPS; i++)
    apart = fmax(apart, fabs(kernels->loss[i] - bodies->loss[i]) / bodies->loss[i]);
  fprintf(stderr, "losses from %g to %g by kernels, %g by bodies, apart by %.1e at most\n",
          kernels->loss[0], kernels->loss[STEPS - 1], bodies->loss[STEPS - 1], apart);
  CHECK(apart < 1e-3 && kernels->loss[STEPS - 1] < 0.5 * kernels->loss[0]);
}

int main(void) {
  static run first, second, bodies;
  const char *threads = getenv("OMP_NUM_THREADS"); /* once is enough: kernels do not depend on them */
  const bool compares = !threads || !strcmp(threads, "1");
  TC_SCOPE {
    const images all = make_images();
    learn(&all, true, &first);
    learn(&all, true, &second);
    if (compares) learn(&all, false, &bodies);
  }
  if (compares) compare(&first, &bodies);
  CHECK(first.hash == second.hash);
  fprintf(stderr, "steps behind the first: %ld allocations, %llu storages, %ld page faults\n",
          first.allocations, (unsigned long long)first.storages, first.faults);
#ifdef TC_HAS_PLUGIN
  CHECK(hits_of("train_step") == 2 * STEPS && fallbacks_of("train_step") == 0);
  const bool here = tc_default_device() == TC_CPU; /* drivers of GPUs do as they like */
  CHECK(!here || (first.storages == 0 && first.allocations == 0));
#ifndef TC_SANITIZED
  /* The C library's or the system's own, if any, and where other programs have the processors, of threads that
   * take part later than in the first step: not one a step. */
  const int most = 2 * (threads ? atoi(threads) : 1);
  CHECK(!here || (most < STEPS - 1 && first.faults <= most));
#endif
#endif
  printf("%016llx\n", (unsigned long long)first.hash);
  return 0;
}

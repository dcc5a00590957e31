/* bench_gpu.c - the measured library: compiled functions on the tensors of the process that loads
 * it (gpu.py, gpu_sweep.py), timed by CUDA events on the default stream, which both sides use.
 *
 * Functions give NULL, or a text that says what failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/cpu/cases.h"

#define EXPORT __attribute__((visibility("default")))

enum { MAX_SETS = 64, MAX_OPERANDS = 800, MAX_RESULTS = 4 };

static struct {
  const bench_case *what;
  int sets, next;
  tc_tensor *operand[MAX_SETS][MAX_OPERANDS];
} bench;

/* ---- events of the driver -------------------------------------------------------------------- */

typedef struct event *event;
static struct {
  int (*create)(event *, unsigned flags);
  int (*record)(event, void *stream);
  int (*wait)(event);
  int (*elapsed)(float *ms, event from, event to);
} cu;
static event from, to;

static bool open_driver(void) {
  static const char *const name[] = {"cuEventCreate", "cuEventRecord", "cuEventSynchronize",
                                     "cuEventElapsedTime"};
  void *const function[] = {&cu.create, &cu.record, &cu.wait, &cu.elapsed};
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  for (int i = 0; i < 4; i++) {
    void *address = driver ? dlsym(driver, name[i]) : NULL;
    if (!address) return false;
    memcpy(function[i], &address, sizeof address);
  }
  return cu.create(&from, 0) == 0 && cu.create(&to, 0) == 0;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const bench_case *find_case(const char *family, const char *dtype) {
  for (const bench_table *t = bench_tables; t->cases; t++)
    for (int i = 0; i < t->count; i++)
      if (!strcmp(t->cases[i].family, family) && !strcmp(t->cases[i].dtype, dtype))
        return &t->cases[i];
  return NULL;
}

EXPORT void bench_unload(void) {
  for (int s = 0; s < bench.sets; s++)
    for (int i = 0; i < bench.what->operands; i++) tc_free(bench.operand[s][i]);
  bench.sets = 0;
}

/* in: the operands of set 0, of set 1, ...; taken over. */
EXPORT const char *bench_load(const char *family, const char *dtype, int sets,
                              struct DLManagedTensor *const *in) {
  if (!from && !open_driver()) return "libcuda has no events";
  bench_unload();
  bench.what = find_case(family, dtype);
  if (!bench.what || sets < 1 || sets > MAX_SETS) return "no such case";
  for (int s = 0; s < sets; s++)
    for (int i = 0; i < bench.what->operands; i++) {
      bench.operand[s][i] = tc_from_dlpack(*in++);
      if (i < bench.what->leaves) tc_requires_grad_(bench.operand[s][i], true);
    }
  bench.sets = sets;
  bench.next = 0;
  return tc_error();
}

/* The operands of the call. */
static tc_tensor *const *call(tc_tensor **out) {
  tc_tensor *const *in = bench.operand[bench.next++ % bench.sets];
  bench.what->run(in, out);
  return in;
}

static void free_results(tc_tensor **out) {
  for (int i = 0; i < bench.what->results; i++) tc_free(out[i]);
}

/* Runs set 0 and copies the results, and behind them the operands that are written, into `to`;
 * taken over. */
EXPORT const char *bench_save(int n, struct DLManagedTensor *const *to) {
  tc_clear_error();
  bench.next = 0;
  if (n != bench.what->results + bench.what->written) return "another number of results";
  TC_SCOPE {
    tc_tensor *out[MAX_RESULTS] = {NULL}, *const *in = call(out);
    for (int i = 0; i < n; i++) {
      const int written = i - bench.what->results;
      tc_copy_(tc_from_dlpack(to[i]), written < 0 ? out[i] : tc_detach(in[written]));
    }
  }
  tc_synchronize();
  return tc_error();
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* n calls, one behind the other: device time by events, and time until the host was through with
 * them, both per call. */
EXPORT const char *bench_time(int n, float *ms, double *host_us) {
  const double start = now_us();
  int failed = cu.record(from, NULL);
  for (int i = 0; i < n; i++) {
    tc_tensor *out[MAX_RESULTS] = {NULL};
    call(out);
    free_results(out);
  }
  *host_us = (now_us() - start) / n;
  failed |= cu.record(to, NULL) | cu.wait(to) | cu.elapsed(ms, from, to);
  *ms /= (float)n;
  return failed ? "an event failed" : tc_error();
}

/* Calls since the last time that ran as compiled, and that ran the original body. */
EXPORT void bench_counters(uint64_t *hits, uint64_t *fallbacks) {
  static tc_stats before;
  const tc_stats now = tc_stats_of(NULL);
  *hits = now.hits - before.hits;
  *fallbacks = now.fallbacks - before.fallbacks;
  before = now;
}

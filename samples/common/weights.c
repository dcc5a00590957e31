#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "common/weights.h"

#include <stdlib.h>
#include <time.h>

#include "common/sample.h"

tc_safetensors *weights_open(const char *path) {
  tc_safetensors *file = path ? tc_safetensors_open(path) : NULL;
  if (path && !file) sample_check(NULL);
  return file;
}

/* FNV-1a (Fowler, Noll, Vo): of equal names, the same numbers. */
static uint64_t seed_of(const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  while (*name) hash = (hash ^ (unsigned char)*name++) * 0x100000001b3u;
  return hash;
}

static tc_tensor *random_numbers(const char *name, tc_ints dims, double deviation) {
  if (deviation == 1) return tc_ones(dims, TC_F32);
  return tc_mul_s(tc_randn(dims, seed_of(name), TC_F32), deviation);
}

tc_tensor *weights_get(const tc_safetensors *file, const char *name, tc_ints dims, double deviation,
                       tc_dtype dtype) {
  tc_tensor *made = NULL;
  TC_SCOPE TC_NO_GRAD {
    tc_tensor *t =
        sample_check(file ? tc_safetensors_get(file, name) : random_numbers(name, dims, deviation));
    bool fits = tc_rank(t) == dims.n;
    for (int i = 0; fits && i < dims.n; i++) fits = tc_size(t, i) == dims.v[i];
    if (!fits) fprintf(stderr, "%s has other sizes than the model\n", name), exit(1);
    made = tc_keep(sample_check(tc_clone(tc_to(tc_cast(t, dtype), tc_default_device()))));
  }
  return made;
}

void weights_cast(int n, tc_tensor *p[], tc_dtype dtype) {
  for (int i = 0; i < n; i++) {
    p[i] = sample_check(tc_clone(tc_cast(tc_detach(p[i]), dtype)));
    tc_requires_grad_(p[i], true);
  }
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

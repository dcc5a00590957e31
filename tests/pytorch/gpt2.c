/* gpt2.c - 50 steps of the training of samples/gpt2, small, from weights that PyTorch was given too: by kernels and by
 * bodies, the losses are PyTorch's (gpt2_expected.h).  Steps behind the first two take no memory and no page. */
#include <sys/resource.h>

#include "../programs/check.h"
#include "gpt2/step.h"
#include "gpt2_expected.h"

enum { LAYERS = 4, HEADS = 4, D = 32, V = 61, P = 24, B = 3, T = 17, STEPS = 50 };

static uint64_t state;

static int64_t next_number(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(state >> 33);
}

/* Multiples of 1/1024 from the generator of MMIX; gpt2_expected.py has the same. */
static tc_tensor *numbers(tc_ints dims, double around) {
  static float v[V * 4 * D];
  int64_t n = 1;
  for (int i = 0; i < dims.n; i++) n *= dims.v[i];
  CHECK(n <= (int64_t)(sizeof v / sizeof *v));
  for (int64_t i = 0; i < n; i++)
    v[i] = (float)(floor(0.25 * ((double)next_number() / (1 << 30) - 1) * 1024) / 1024 + around);
  return tc_requires_grad_(tc_from(dims, v, TC_F32), true);
}

static gpt2 make(void) {
  static const int64_t rows[] = {0, 1, 1, 0, 1, 4}, columns[] = {1, 3, 1, 1, 4, 1};
  tc_tensor *z[MOST] = {numbers(TC_DIMS(V, D), 0), numbers(TC_DIMS(P, D), 0)};
  z[2] = numbers(TC_DIMS(D), 1);
  z[3] = numbers(TC_DIMS(D), 0);
  for (int i = 0; i < 6 * LAYERS; i++) {
    const int64_t in = rows[i % 6], out = columns[i % 6];
    z[4 + 2 * i] = numbers(in ? TC_DIMS(in * D, out * D) : TC_DIMS(D), in ? 0 : 1);
    z[5 + 2 * i] = numbers(TC_DIMS(out * D), 0);
  }
  return model_of(LAYERS, HEADS, z);
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static void check(const char *way, bool kernels) {
  double apart = 0;
  uint64_t mallocs = 0;
  long pages = 0;
  state = 5;
  const training t = training_of(make(), false);
  int64_t token[B * (T + 1)];
  for (int i = 0; i < B * (T + 1); i++) token[i] = next_number() % V;
  const tc_tensor *pieces = tc_from(TC_DIMS(B, T + 1), token, TC_I64);
  for (int i = 0; i < STEPS; i++) TC_SCOPE {
      if (i == 2) mallocs = tc_memory().mallocs, pages = faults();
      const tc_tensor *loss = train_step(&t, pieces, 1e-3, i + 1);
      CHECK(loss);
      apart = fmax(apart, fabs(tc_item(loss) - expected[i]) / expected[i]);
    }
  mallocs = tc_memory().mallocs - mallocs, pages = faults() - pages;
  printf("gpt2, %s: losses are apart from PyTorch's by %.1e, and end at %.6f; %d storages, %ld pages\n", way, apart,
         expected[STEPS - 1], (int)mallocs, pages);
  CHECK(apart < 2e-5);
  if (!kernels) return; /* bodies take some */
  CHECK(mallocs == 0);
#ifndef TC_SANITIZED
  CHECK(pages <= 2); /* of the C library */
#endif
}

int main(void) {
#ifdef TC_HAS_PLUGIN
  TC_SCOPE check("kernels", true);
  CHECK(hits_of("train_step") == STEPS && fallbacks_of("train_step") == 0);
#endif
  tc_set_enabled(false);
  TC_SCOPE check("bodies", false);
  CHECK(tc_memory().live == 0);
  return 0;
}

/* Time of five() against: a result from tcrt_new, and the form of KERNEL for this CPU called on the
 * same buffers. */
#include <time.h>

#include "check.h"

tc_tensor *five(const tc_tensor *a, const tc_tensor *b, const tc_tensor *c, const tc_tensor *d, const tc_tensor *e);

#define JOIN(name, level) name##_##level
#define FORM(name, level) JOIN(name, level)
tcrt_kernel FORM(KERNEL, v2), FORM(KERNEL, v3), FORM(KERNEL, v4);

enum { CALLS = 20000, ROUNDS = 31 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  tc_tensor *in[5] = {tc_ones(TC_DIMS(2, 8), TC_F32), tc_ones(TC_DIMS(2, 8), TC_F32), tc_ones(TC_DIMS(8), TC_F32),
                      tc_ones(TC_DIMS(8), TC_F32), tc_ones(TC_DIMS(2, 1), TC_F32)};
  static _Alignas(64) float memory[8][16]; /* whatever the kernel's order of buffers is, each is large enough */
  void *buffer[8];
  for (int i = 0; i < 8; i++) buffer[i] = memory[i];
  tcrt_kernel *const form[] = {FORM(KERNEL, v2), FORM(KERNEL, v3), FORM(KERNEL, v4)};
  tcrt_kernel *const kernel = form[tcrt_isa < TC_ISA_V4 ? tcrt_isa : TC_ISA_V4];
  double through[ROUNDS], direct[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    double start = now_ns();
    for (int i = 0; i < CALLS; i++) tc_free(five(in[0], in[1], in[2], in[3], in[4]));
    through[r] = (now_ns() - start) / CALLS;
    start = now_ns();
    for (int i = 0; i < CALLS; i++) {
      tc_tensor *y = tcrt_new(TC_F32, 2, (int64_t[]){2, 8});
      kernel(buffer, (int64_t[]){2, 8}, NULL);
      tc_free(y);
    }
    direct[r] = (now_ns() - start) / CALLS;
  }
  qsort(through, ROUNDS, sizeof *through, ascending);
  qsort(direct, ROUNDS, sizeof *direct, ascending);
  double cost = through[ROUNDS / 2] - direct[ROUNDS / 2];
  printf("call %.1f ns, kernel and result directly %.1f ns: guards cost %.1f ns (bound 50)\n", through[ROUNDS / 2],
         direct[ROUNDS / 2], cost);
  CHECK(hits_of("five") == (uint64_t)CALLS * ROUNDS);
  return cost > 50;
}

/* The same compiled functions in many threads at once, each with its own shapes. */
#include <pthread.h>

#include "check.h"

TC_COMPILE static tc_tensor *work(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *w TC_SHAPE("f32[C,K]")) {
  return tc_softmax(tc_tanh(tc_matmul(x, w)), -1);
}

enum { THREADS = 6, CALLS = 60 };

static void *run(void *arg) {
  int64_t n = 10 + 7 * (int64_t)(intptr_t)arg;
  intptr_t wrong = 0;
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(n, 2 * n), (uint64_t)n, TC_F32), *w = tc_randn(TC_DIMS(2 * n, 33), 5, TC_F32);
    tc_tensor *want = tc_softmax(tc_tanh(tc_matmul(x, w)), -1);
    for (int i = 0; i < CALLS; i++)
      TC_SCOPE wrong += !tc_allclose(work(x, w), want, 1.3e-6, 2e-5);
  }
  return (void *)wrong;
}

int main(void) {
  pthread_t thread[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) CHECK(pthread_create(&thread[i], NULL, run, (void *)i) == 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(thread[i], &wrong);
    CHECK(wrong == NULL);
  }
  CHECK(hits_of("work") == THREADS * CALLS && fallbacks_of("work") == 0);
  puts("concurrent: ok");
  return 0;
}

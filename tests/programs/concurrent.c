/* The same compiled functions in many threads at once, each with its own shapes; and tapes of their own, with leaves that
 * they share. */
#include <pthread.h>

#include "check.h"

TC_COMPILE static tc_tensor *work(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                  const tc_tensor *w TC_SHAPE("f32[C,K]")) {
  return tc_softmax(tc_tanh(tc_matmul(x, w)), -1);
}

enum { THREADS = 6, CALLS = 60 };

static void *run(void *arg) {
  int64_t n = 10 + 7 * (int64_t)(intptr_t)arg;
  intptr_t wrong = 0;
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(n, 2 * n), (uint64_t)n, TC_F32),
              *w = tc_randn(TC_DIMS(2 * n, 33), 5, TC_F32);
    tc_tensor *want = tc_softmax(tc_tanh(tc_matmul(x, w)), -1);
    for (int i = 0; i < CALLS; i++) TC_SCOPE wrong += !tc_allclose(work(x, w), want, 1.3e-6, 2e-5);
  }
  return (void *)wrong;
}

static void *learn(void *weights) {
  tc_tensor *w = weights;
  intptr_t wrong = 0;
  for (int i = 0; i < CALLS; i++) TC_SCOPE {
      tc_tensor *x = tc_requires_grad_(tc_full(TC_DIMS(4), i, TC_F32), true), *g;
      tc_tensor *loss = tc_sum(tc_mul(tc_square(x), w), TC_ALL, false);
      wrong +=
          !tc_grad_with(loss, NULL, 1, &x, TC_CREATE_GRAPH, &g) || tc_at(g, TC_INTS(2)) != 2 * i;
      wrong += !tc_backward(tc_sum(tc_mul(g, w), TC_ALL, false)) ||
               tc_at(tc_grad_of(x), TC_INTS(1)) != 2;
      TC_NO_GRAD wrong += tc_requires_grad(tc_exp(x));
    }
  return (void *)wrong;
}

static void in_all_threads(void *(*what)(void *), void *shared) {
  pthread_t thread[THREADS];
  for (intptr_t i = 0; i < THREADS; i++)
    CHECK(pthread_create(&thread[i], NULL, what, shared ? shared : (void *)i) == 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(thread[i], &wrong);
    CHECK(wrong == NULL);
  }
}

int main(void) {
  in_all_threads(run, NULL);
  tc_tensor *w = tc_requires_grad_(tc_ones(TC_DIMS(4), TC_F32), true);
  in_all_threads(learn, w);
  TC_SCOPE CHECK(tc_at(tc_grad_of(w), TC_INTS(0)) == 4 * THREADS * CALLS * (CALLS - 1) / 2);
  tc_free(w);
  CHECK(hits_of("work") == THREADS * CALLS && fallbacks_of("work") == 0);
  puts("concurrent: ok");
  return 0;
}

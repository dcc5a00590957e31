/* Threads that call one compiled function, which has threads of its own. */
#include <pthread.h>
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"),
                        const tc_tensor *w TC_SHAPE("f32[M,K]")) {
  return tc_softmax(tc_relu(tc_matmul(tc_exp(x), w)), -1);
}

static tc_tensor *x, *w;

static void *work(void *sum) {
  for (int i = 0; i < 10; i++) TC_SCOPE {
      *(double *)sum += tc_item(tc_sum(f(x, w), TC_ALL, false));
    }
  return NULL;
}

int main(void) {
  x = tc_randn(TC_DIMS(500, 400), 1, TC_F32), w = tc_randn(TC_DIMS(400, 300), 2, TC_F32);
  pthread_t thread[3];
  double sum[3] = {0};
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, work, &sum[i]);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  printf("%g %g %g, compiled calls: %llu\n", sum[0], sum[1], sum[2],
         (unsigned long long)tc_stats_of("f").hits);
  tc_free(x), tc_free(w);
}

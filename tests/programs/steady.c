/* No malloc and no page fault in the steady state: after a warm-up, calls take result memory from
 * the cache of freed tensors and their workspace from the thread. */
#include <malloc.h>
#include <sys/resource.h>

#include "check.h"

TC_COMPILE static tc_tensor *mlp(const tc_tensor *x TC_SHAPE("f32[B,784]"), const tc_tensor *w1 TC_SHAPE("f32[784,512]"),
                                 const tc_tensor *b1 TC_SHAPE("f32[512]"), const tc_tensor *w2 TC_SHAPE("f32[512,10]"),
                                 const tc_tensor *b2 TC_SHAPE("f32[10]")) {
  tc_tensor *h = tc_relu(tc_add(tc_matmul(x, w1), b1));
  return tc_softmax(tc_add(tc_matmul(h, w2), b2), -1);
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(128, 784), 1, TC_F32), *w1 = tc_randn(TC_DIMS(784, 512), 2, TC_F32);
  tc_tensor *b1 = tc_randn(TC_DIMS(512), 3, TC_F32), *w2 = tc_randn(TC_DIMS(512, 10), 4, TC_F32);
  tc_tensor *b2 = tc_randn(TC_DIMS(10), 5, TC_F32);
  tc_tensor *t = tc_transpose(x, 0, 1), *columns = tc_contiguous(t);
  tc_tensor *xt = tc_transpose(columns, 0, 1); /* strided: is packed at each call */
  for (int i = 0; i < 20; i++) {
    tc_free(mlp(x, w1, b1, w2, b2));
    tc_free(mlp(xt, w1, b1, w2, b2));
  }
  tc_memory_stats before = tc_memory();
  struct mallinfo2 heap = mallinfo2();
  long f = faults();
  for (int i = 0; i < 200; i++) {
    tc_free(mlp(x, w1, b1, w2, b2));
    tc_free(mlp(xt, w1, b1, w2, b2));
  }
  long new_faults = faults() - f;
  tc_memory_stats after = tc_memory();
  struct mallinfo2 heap_after = mallinfo2();
  printf("400 calls: %llu storages from the system, %llu reused, heap grew by %zd bytes, %ld page faults\n",
         (unsigned long long)(after.mallocs - before.mallocs), (unsigned long long)(after.reuses - before.reuses),
         (ssize_t)(heap_after.uordblks - heap.uordblks), new_faults);
  CHECK(hits_of("mlp") == 440 && fallbacks_of("mlp") == 0);
  CHECK(after.mallocs == before.mallocs && heap_after.uordblks == heap.uordblks);
#ifndef TC_SANITIZED
  CHECK(new_faults <= 2); /* the C library's own, if any; a fresh result would be 2 faults a call */
#endif
  size_t cached = tc_memory().cached;
  CHECK(cached > 0 && tc_trim() >= cached && tc_memory().cached == 0);
  tc_tensor *all[] = {x, w1, b1, w2, b2, t, columns, xt};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tc_free(all[i]);
  return 0;
}

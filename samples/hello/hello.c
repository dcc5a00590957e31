/* hello - a linear classifier.  With the plugin `scores` is one kernel behind guards; without, or
 * when a guard fails, it is what stands here. */
#include "common/sample.h"

TC_COMPILE static tc_tensor *scores(const tc_tensor *x TC_SHAPE("f32[B,784]"),
                                    const tc_tensor *w TC_SHAPE("f32[784,10]"),
                                    const tc_tensor *b TC_SHAPE("f32[10]")) {
  return tc_softmax(tc_add(tc_matmul(x, w), b), -1);
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "");
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(256, 784), 1, TC_F32), *b = tc_randn(TC_DIMS(10), 3, TC_F32);
    tc_tensor *w = tc_mul_s(tc_randn(TC_DIMS(784, 10), 2, TC_F32), 0.05);
    tc_tensor *y = sample_check(scores(x, w, b));
    sample_print("scores of the first row", tc_select(y, 0, 0));
    SAMPLE_MEASURE(scores, x, w, b);

    /* Two batches at once: rank 3 was not declared, so the guard sends the call to the body. */
    tc_tensor *foreign = tc_reshape(x, TC_DIMS(2, 128, 784));
    uint64_t before = tc_stats_of("scores").fallbacks;
    tc_tensor *z = sample_check(tc_reshape(scores(foreign, w, b), TC_DIMS(256, 10)));
    printf("a foreign shape gives the same scores: %s\n",
           tc_allclose(z, y, 1e-4, 1e-5) ? "yes" : "no");
    printf("# scores of a foreign shape: %d fallback\n",
           (int)(tc_stats_of("scores").fallbacks - before));
  }
}

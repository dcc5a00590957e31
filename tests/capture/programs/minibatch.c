// Epochs of mini-batches over gathered rows: softmax regression by hand, accuracy at the end of each.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct data {
  const tc_tensor *x TC_SHAPE("f32[N,D]");
  const tc_tensor *y TC_SHAPE("i64[N]");
};

struct classifier {
  tc_tensor *w TC_SHAPE("f32[D,C]");
  tc_tensor *b TC_SHAPE("f32[C]");
};

struct report { double loss, accuracy; };

/* Row numbers of a batch: a stride through all rows, another one in each epoch. */
static tc_tensor *batch_rows(int64_t n, int64_t first, int64_t size, int epoch) {
  return tc_remainder_s(tc_arange(size, (double)(first * (2 * epoch + 1)), 2 * epoch + 1, TC_I64), (double)n);
}

/* Loss and gradient of one batch, then a step against it. */
static double batch_step(struct classifier *c, const tc_tensor *x, const tc_tensor *y, double rate) {
  const int64_t n = tc_size(x, 0), classes = tc_size(c->b, 0);
  tc_tensor *logp = tc_log_softmax(tc_add(tc_matmul(x, c->w), c->b), -1);
  tc_tensor *truth = tc_cast(tc_one_hot(y, classes), TC_F32);
  tc_tensor *d = tc_div_s(tc_sub(tc_exp(logp), truth), (double)n);
  tc_sub_(c->w, tc_mul_s(tc_matmul(tc_transpose(x, 0, 1), d), rate));
  tc_sub_(c->b, tc_mul_s(tc_sum(d, TC_AXES(0), false), rate));
  return -tc_item(tc_sum(tc_mul(logp, truth), TC_ALL, false));
}

static double accuracy(const struct classifier *c, const struct data *s) {
  tc_tensor *best = tc_argmax(tc_add(tc_matmul(s->x, c->w), c->b), TC_AXES(1), false);
  return tc_item(tc_mean(tc_eq(best, s->y), TC_ALL, false));
}

TC_COMPILE static struct report train(struct classifier *c, const struct data *s, int epochs, int64_t batch, double rate) {
  struct report r = {0};
  const int64_t n = tc_size(s->x, 0);
  for (int epoch = 0; epoch < epochs; epoch++) {
    r.loss = 0;
    for (int64_t first = 0; first < n; first += batch) {
      const int64_t size = first + batch < n ? batch : n - first;
      TC_SCOPE {
        tc_tensor *rows = batch_rows(n, first, size, epoch);
        r.loss += batch_step(c, tc_index_select(s->x, 0, rows), tc_index_select(s->y, 0, rows), rate);
      }
    }
    r.loss /= (double)n;
    TC_SCOPE { r.accuracy = accuracy(c, s); }
    rate *= 0.9;
  }
  return r;
}

static void run(int scale) {
  int64_t n = 96 * scale, d = 6 * scale, classes = 3;
  TC_SCOPE {
    tc_tensor *y = tc_remainder_s(tc_arange(n, 0, 1, TC_I64), (double)classes);
    tc_tensor *centre = tc_mul_s(tc_randn(TC_DIMS(classes, d), 2, TC_F32), 2);
    struct data s = {.x = tc_add(tc_randn(TC_DIMS(n, d), 1, TC_F32), tc_embedding(centre, y)), .y = y};
    struct classifier c = {.w = tc_zeros(TC_DIMS(d, classes), TC_F32), .b = tc_zeros(TC_DIMS(classes), TC_F32)};
    struct report r = train(&c, &s, 3, 20, 0.1);
    printf("loss %.4f accuracy %.3f\n", r.loss, r.accuracy);
    show(c.w);
    show(c.b);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'train' compiled: 28 ops in {{[0-9]+}} kernel{{s?}}, 2 segments 
// CHECK-DAG: remark: graph break in 'train': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: remark: graph break in 'train': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: train {{.*}} 6 0 0 
// CHECK-DAG: train {{.*}} 60 0 0 

// Top-p sampling without a sort: the threshold by bisection, then the first token past a random share.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct sampler {
  double temperature, top_p;
  int top_k;
  uint64_t seed;
};

enum { BISECTIONS = 16 };

/* Largest t with sum of p where p >= t at least top_p; p [B,V], gives [B,1]. */
static tc_tensor *threshold(const tc_tensor *p, double top_p) {
  tc_tensor *lo = tc_zeros(TC_DIMS(tc_size(p, 0), 1), TC_F32), *hi = tc_max(p, TC_AXES(1), true);
  for (int i = 0; i < BISECTIONS; i++) {
    tc_tensor *mid = tc_mul_s(tc_add(lo, hi), 0.5);
    tc_tensor *mass = tc_sum(tc_where(tc_ge(p, mid), p, tc_zeros_like(p)), TC_AXES(1), true);
    tc_tensor *enough = tc_ge_s(mass, top_p);
    lo = tc_where(enough, mid, lo);
    hi = tc_where(enough, hi, mid);
  }
  return lo;
}

static inline tc_tensor *penalised(const tc_tensor *logits, const tc_tensor *history, double penalty) {
  tc_tensor *at = tc_gather(logits, 1, history);
  tc_tensor *less = tc_where(tc_gt_s(at, 0), tc_div_s(at, penalty), tc_mul_s(at, penalty));
  return tc_scatter(logits, 1, history, less);
}

/* Next tokens [B] for logits [B,V] with the last tokens in history [B,L]. */
TC_COMPILE static tc_tensor *sample(const struct sampler *s, const tc_tensor *logits TC_SHAPE("f32[B,V]"),
                                    const tc_tensor *history TC_SHAPE("i64[B,L]"), double penalty, int position) {
  if (penalty != 1) logits = penalised(logits, history, penalty);
  if (s->temperature <= 0) return tc_argmax(logits, TC_AXES(1), false);
  tc_tensor *p = tc_softmax(tc_div_s(logits, s->temperature), -1);
  if (s->top_p < 1) p = tc_where(tc_ge(p, threshold(p, s->top_p)), p, tc_zeros_like(p));
  tc_tensor *c = tc_cumsum(p, 1);
  tc_tensor *total = tc_slice(c, 1, tc_size(c, 1) - 1, tc_size(c, 1), 1);
  tc_tensor *u = tc_mul(tc_rand(TC_DIMS(tc_size(c, 0), 1), s->seed + (uint64_t)position, TC_F32), total);
  tc_tensor *token = tc_sum(tc_le(c, u), TC_AXES(1), false);
  return tc_minimum_s(token, (double)(tc_size(c, 1) - 1));
}

static void run(int scale) {
  int64_t batch = 2 * scale, vocabulary = 50 * scale;
  const struct sampler samplers[] = {
      {.temperature = 0}, {.temperature = 1, .top_p = 1, .seed = 1}, {.temperature = 0.8, .top_p = 0.9, .seed = 2}};
  TC_SCOPE {
    tc_tensor *history = tc_cast(tc_mul_s(tc_rand(TC_DIMS(batch, 5), 3, TC_F32), 40), TC_I64);
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++)
      for (int position = 0; position < 4; position++)
        TC_SCOPE {
          tc_tensor *logits = tc_mul_s(tc_randn(TC_DIMS(batch, vocabulary), 10 + (uint64_t)position, TC_F32), 2);
          show(sample(&samplers[i], logits, history, position % 2 ? 1.3 : 1, position));
        }
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'sample' compiled: 165 ops in {{[0-9]+}} kernel{{s?}}, 5 segments 
// CHECK-DAG: remark: graph break in 'sample': the branch depends on a value that is not known at build time
// CHECK-DAG: remark: graph break in 'sample': the branch depends on a value that is not known at build time
// CHECK-DAG: remark: graph break in 'sample': the branch depends on a value that is not known at build time
// CHECK-DAG: sample {{.*}} 16 0 0 
// CHECK-DAG: sample {{.*}} 8 0 0 
// CHECK-DAG: sample {{.*}} 16 0 0 
// CHECK-DAG: sample {{.*}} 8 0 0 
// CHECK-DAG: sample {{.*}} 12 0 0 

// TC_CUSTOM_OP: a function of the program's own is an operation: its kernel runs between the generated ones, on
// tensors over workspace and results; what it refuses runs the body.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static int kernel_calls;

// Sorts each row; numbers below `least` come out as `least`.
static bool sort_kernel(tc_tensor *out, const tc_tensor *x, double least, int limit) {
  const int64_t rows = tc_size(x, 0), n = tc_size(x, 1);
  float *y = tc_data(out);
  if (n > limit) return false;
  memcpy(y, tc_cdata(x), (size_t)(rows * n) * sizeof *y);
  kernel_calls++;
  for (int64_t r = 0; r < rows; r++, y += n)
    for (int64_t i = 0; i < n; i++) {
      if (y[i] < least) y[i] = (float)least;
      for (int64_t j = i; j > 0 && y[j] < y[j - 1]; j--) {
        const float t = y[j];
        y[j] = y[j - 1], y[j - 1] = t;
      }
    }
  return true;
}
TC_CUSTOM_OP("f32[R,C]", sort_kernel)
static tc_tensor *sorted(const tc_tensor *x TC_SHAPE("f32[R,C]"), double least, int limit) {
  tc_tensor *c = tc_contiguous(x), *y = tc_empty(TC_DIMS(tc_size(x, 0), tc_size(x, 1)), TC_F32);
  sort_kernel(y, c, least, limit < 100 ? 100 : limit);
  return y;
}

// Sizes of the result are expressions of those of the operands.
static bool pairs_kernel(tc_tensor *out, const tc_tensor *x, const tc_tensor *y) {
  double *p = tc_data(out);
  for (int64_t i = 0; i < tc_numel(x); i++)
    for (int64_t j = 0; j < tc_numel(y); j++) *p++ = ((const float *)tc_cdata(x))[i] * ((const float *)tc_cdata(y))[j];
  return true;
}
TC_CUSTOM_OP("f64[2*M+1,M]", pairs_kernel)
static tc_tensor *pairs(const tc_tensor *x TC_SHAPE("f32[2*M+1]"), const tc_tensor *y TC_SHAPE("f32[M]")) {
  tc_tensor *out = tc_empty(TC_DIMS(tc_numel(x), tc_numel(y)), TC_F64);
  pairs_kernel(out, tc_contiguous(x), tc_contiguous(y));
  return out;
}

// Between two kernels, on workspace.
TC_COMPILE_WITH("fullgraph") tc_tensor *middle(const tc_tensor *x TC_SHAPE("f32[N,M]"), double least) {
  return tc_exp(sorted(tc_mul_s(x, 0.5), least, 10));
}
// Of an operand, as a result, twice the same call: one.
TC_COMPILE_WITH("fullgraph") tc_tensor *ends(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **same) {
  *same = tc_neg(sorted(x, -1, 10));
  return sorted(x, -1, 10);
}
TC_COMPILE_WITH("fullgraph") tc_tensor *two(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[K]")) {
  return tc_sum(pairs(tc_abs(x), y), TC_AXES(0), false);
}
// The operand is written after the call has read it.
TC_COMPILE_WITH("fullgraph") void in_place(tc_tensor *x TC_SHAPE("f32[N,M]")) { tc_copy_(x, sorted(x, 0, 10)); }

// A kernel that runs compiled code itself, while values wait in the workspace of the code that called it.
TC_COMPILE tc_tensor *inner(const tc_tensor *x TC_SHAPE("f32[N,N]")) {
  return tc_matmul(tc_softmax(tc_matmul(x, x), -1), x);
}
static bool nested_kernel(tc_tensor *out, const tc_tensor *x) {
  bool done = false;
  TC_SCOPE {
    tc_tensor *y = inner(tc_from(TC_DIMS(tc_size(x, 0), tc_size(x, 1)), tc_cdata(x), TC_F32));
    if (y) memcpy(tc_data(out), tc_cdata(y), (size_t)tc_numel(y) * sizeof(float)), done = true;
  }
  return done;
}
TC_CUSTOM_OP("f32[N,N]", nested_kernel)
static tc_tensor *nested(const tc_tensor *x TC_SHAPE("f32[N,N]")) {
  tc_tensor *y = tc_empty(TC_DIMS(tc_size(x, 0), tc_size(x, 1)), TC_F32);
  nested_kernel(y, tc_contiguous(x));
  return y;
}
TC_COMPILE_WITH("fullgraph") tc_tensor *outer(const tc_tensor *x TC_SHAPE("f32[N,N]")) {
  tc_tensor *y = tc_softmax(tc_matmul(x, x), -1);
  return tc_matmul(nested(y), y);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *same = NULL;
  show(middle(x, -0.1));
  const int once = kernel_calls;
  show(middle(tc_transpose(x, 0, 1), -0.1));
  printf("%d\n", kernel_calls > once);
  show(middle(tc_randn(TC_DIMS(3, 11), 2, TC_F32), 0)); // the kernel refuses: the body runs
  show(ends(x, &same));
  show(same);
  show(two(tc_randn(TC_DIMS(7), 5, TC_F32), tc_randn(TC_DIMS(3), 3, TC_F32)));
  show(two(tc_randn(TC_DIMS(7), 5, TC_F32), tc_randn(TC_DIMS(4), 3, TC_F32))); // 7 is not 2 * 4 + 1
  in_place(x);
  show(x);
  show(outer(tc_randn(TC_DIMS(9, 9), 4, TC_F32)));
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'middle' compiled: 3 ops in 3 kernels
// CHECK-DAG: remark: 'ends' compiled: 3 ops in 2 kernels
// CHECK-DAG: remark: 'two' compiled: 3 ops in 3 kernels
// CHECK-DAG: remark: 'in_place' compiled: 2 ops in 2 kernels
// CHECK-DAG: middle {{.*}} 2 1 1 {{.*}}
// CHECK-DAG: ends {{.*}} 1 0 0 
// CHECK-DAG: two {{.*}} 1 0 1 
// CHECK-DAG: in_place {{.*}} 1 0 0 
// CHECK-DAG: outer {{.*}} 1 0 0 

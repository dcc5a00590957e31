// A custom operation works on the data of tensors in memory: a function that uses one has no kernels for
// CUDA, which is said, and those for the CPU run.  The others of the file have both.
// REQUIRES: nvrtc
// RUN: %tc_cuda -fplugin-arg-tc-backend=cuda %s -o %t -Rpass=tc -Rpass-missed=tc %run 2>&1 | %check %s
// RUN: %t | %check --check-prefix=PRINTS %s
// RUN: %not %tc_cuda -fplugin-arg-tc-backend=cuda -fplugin-arg-tc-fullgraph -c %s -o %t.o 2>&1 | %check --check-prefix=FULL %s
#include <stdio.h>
#include <tcompile.h>

static bool twice(tc_tensor *out, const tc_tensor *x) {
  tc_copy_(out, tc_add(x, x));
  return true;
}
TC_CUSTOM_OP("f32[N]", twice) static tc_tensor *doubled(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_add(x, x);
}

// CHECK-DAG: remark: 'own' has no kernels for CUDA: the cuda backend has no code for {{.*}}, whose function works on data of the host
// CHECK-DAG: remark: 'own' compiled: 3 ops in 3 kernels {{\[}}
// CHECK-DAG: remark: 'plain' compiled: {{.*}}, for CPU and CUDA
// FULL: error: 'own' has no kernels for CUDA: the cuda backend has no code for {{.*}}, whose function works on data of the host
TC_COMPILE tc_tensor *own(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_neg(doubled(tc_neg(x))); }
TC_COMPILE tc_tensor *plain(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(tc_neg(x)); }

// PRINTS: own 8, 1 of 1
int main(void) {
  TC_SCOPE {
    const double sum = tc_item(tc_sum(own(tc_ones(TC_DIMS(4), TC_F32)), TC_ALL, false));
    printf("own %g, %d of 1\n", sum, (int)tc_stats_of("own").hits);
  }
  return 0;
}

// TC_SPECIALIZE for CUDA: the kernels of the certain sizes and those of any are both there, and each
// variant's guard is in front of its launch.
// REQUIRES: nvrtc
// RUN: env TC_DUMP=cuda,c %tc_cuda -fplugin-arg-tc-backend=cuda -fplugin-arg-tc-cuda-arch=90 -c %s -o %t.o 2>&1 | %check %s
// RUN: %tc_cuda -fplugin-arg-tc-backend=cuda -fplugin-arg-tc-cuda-arch=90 -c %s -o %t.one.o && %nm %t.one.o | grep -c "_cuda_image" | %check --check-prefix=TWO %s
#include <tcompile.h>

// CHECK-DAG: f32[R,64] */
// CHECK-DAG: f32[R,C] */
// TWO: {{^}}2{{$}}
TC_COMPILE TC_SPECIALIZE("C=64") tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_softmax(x, -1);
}

// Where a file waits long for its kernels for GPUs, the compiler says how to do without; not when it was
// told to be silent, nor when they were asked for.
// RUN: rm -rf %t && mkdir %t
// RUN: env STUB_NVRTC_SECONDS=15 %tc -Werror -c %s -o %t/main.o -fplugin-arg-tc-nvrtc=%nvrtc_stub -fplugin-arg-tc-cuda-arch=90 -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-cache=off 2> %t/told & \
// RUN: env STUB_NVRTC_SECONDS=15 %tc -w -c %s -o %t/silent.o -fplugin-arg-tc-nvrtc=%nvrtc_stub -fplugin-arg-tc-cuda-arch=90 -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-cache=off 2> %t/silent & \
// RUN: env STUB_NVRTC_SECONDS=15 %tc -c %s -o %t/wanted.o -fplugin-arg-tc-nvrtc=%nvrtc_stub -fplugin-arg-tc-cuda-arch=90 -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-cache=off -fplugin-arg-tc-backend=cuda 2> %t/wanted & \
// RUN: wait
// RUN: %check %s < %t/told && cmp %t/main.o %t/silent.o && cmp %t/main.o %t/wanted.o
// RUN: test ! -s %t/silent && test ! -s %t/wanted
#include <tcompile.h>

// CHECK: remark: tcompile: {{[0-9]+}} of {{[0-9]+}} seconds went into kernels for CUDA; -fplugin-arg-tc-backend=openmp leaves them out
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }

// Without NVRTC: kernels for the CPU and one remark; what asks for CUDA by name is told so (also in what
// tc-explain reads, which is left out to compare the code).
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-explain=false -Rpass=tc 2>&1 | %check --check-prefix=NONE %s
// RUN: %tc -c %s -o %t.openmp.o -fplugin-arg-tc-explain=false -fplugin-arg-tc-backend=openmp -Rpass=tc 2>&1 | %check --check-prefix=OPENMP %s
// RUN: cmp %t.o %t.openmp.o
// RUN: %tc -c %s -o %t.cuda.o -fplugin-arg-tc-explain=false -fplugin-arg-tc-backend=cuda -Rpass-missed=tc 2>&1 | %check --check-prefix=WANTED %s
// RUN: cmp %t.o %t.cuda.o
// RUN: %not %tc -c %s -o %t.full.o -fplugin-arg-tc-backend=cuda -fplugin-arg-tc-fullgraph 2>&1 | %check --check-prefix=FULL %s
// RUN: %tc -c %s -o %t.gone.o -fplugin-arg-tc-explain=false -fplugin-arg-tc-nvrtc=%t.no.such.so -Rpass=tc 2>&1 | %check --check-prefix=NONE %s
// RUN: echo "no library" > %t.text.so
// RUN: %tc -c %s -o %t.text.o -fplugin-arg-tc-explain=false -fplugin-arg-tc-nvrtc=%t.text.so -Rpass=tc 2>&1 | %check --check-prefix=NONE %s
// RUN: cmp %t.o %t.text.o
#include <tcompile.h>

// NONE: cuda_missing.c:[[#@LINE+6]]:23: remark: 'first' compiled: 1 ops in 1 kernel [-Rpass=tc]
// NONE: remark: 'first' has no kernels for CUDA: libnvrtc of CUDA 11.1 or newer was not found: install a CUDA toolkit, or run tools/setup --cuda [-Rpass=tc]
// NONE-NOT: has no kernels
// OPENMP-NOT: CUDA
// WANTED: cuda_missing.c:[[#@LINE+2]]:23: remark: 'first' has no kernels for CUDA: libnvrtc {{.*}} [-Rpass-missed=tc]
// FULL: cuda_missing.c:[[#@LINE+1]]:23: error: 'first' has no kernels for CUDA: libnvrtc
TC_COMPILE tc_tensor *first(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }

// WANTED: remark: 'second' has no kernels for CUDA: libnvrtc {{.*}} [-Rpass-missed=tc]
// FULL: error: 'second' has no kernels for CUDA: libnvrtc
TC_COMPILE tc_tensor *second(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_log(x); }

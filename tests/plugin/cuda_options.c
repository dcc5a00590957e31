// Options that concern CUDA, and what is wrong with them.
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-cuda-arch=turing 2>&1 | %check --check-prefix=ARCH %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-cuda-arch=80,,90 2>&1 | %check --check-prefix=ARCH %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-cuda-arch=80,ptx80,ptx90 2>&1 | %check --check-prefix=ARCH %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-cuda-arch= 2>&1 | %check --check-prefix=ARCH %s
// RUN: %tc -Werror -c %s -DGOOD -o %t.o -fplugin-arg-tc-cuda-arch=sm_86,90,compute_80 -fplugin-arg-tc-mode=default
// RUN: %tc -c %s -o %t.o 2>&1 | %check --check-prefix=ATTRIBUTE %s
#include <tcompile.h>

// ARCH: error: -fplugin-arg-tc-cuda-arch={{.*}}: option 'cuda-arch' cannot be '{{.*}}'; it can be a list such as 80,90,ptx80
#ifndef GOOD
// ATTRIBUTE: cuda_options.c:[[#@LINE+1]]:17: warning: option 'cuda-arch' is for a whole file: -fplugin-arg-tc-cuda-arch=90
TC_COMPILE_WITH("cuda-arch=90") tc_tensor *of_file(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_exp(x);
}
// ATTRIBUTE: cuda_options.c:[[#@LINE+1]]:17: warning: option 'mode' cannot be 'fast'; it can be default, reduce-overhead, max-autotune or max-autotune-no-cudagraphs
TC_COMPILE_WITH("mode=fast") tc_tensor *fast(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_exp(x);
}
#endif
TC_COMPILE_WITH("mode=reduce-overhead", "backend=openmp")
tc_tensor *recorded(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_exp(x);
}

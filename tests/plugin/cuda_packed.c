// The images of the kernels of one source file are packed together.  Those of a header by themselves,
// so that they are equal in the objects of all files, whatever else those have, and one in the program.
// REQUIRES: nvrtc
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s main.c && cp %s other.c
// RUN: printf '#include <tcompile.h>\nTC_COMPILE static inline tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }\n' > header.h
// RUN: %tc_cuda -c main.c -o main.o -fplugin-arg-tc-cuda-arch=90
// RUN: %nm main.o | grep -c "_cuda_image" | %check --check-prefix=THREE %s
// RUN: %nm main.o | grep -c " V tcd_" | %check --check-prefix=TWO %s
// RUN: %tc_cuda -DOTHER -c other.c -o other.o -fplugin-arg-tc-cuda-arch=90
// RUN: %nm other.o | grep -c " V tcd_" | %check --check-prefix=TWO %s
// RUN: %clang_bare -r main.o other.o -o joined.o && %nm joined.o | grep -c " V tcd_" | %check --check-prefix=THREE %s
#include "header.h"

// TWO: {{^}}2{{$}}
// THREE: {{^}}3{{$}}

#ifndef OTHER
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_sqrt(x);
}
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_add(h(x), x);
}
#else
TC_COMPILE tc_tensor *other(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_add(h(x), tc_log(x));
}
#endif

// With NVRTC: both variants in one object, in every kind of output; equal images are merged; nothing
// is put beside the object.
// REQUIRES: nvrtc
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s main.c && cp %s other.c
// RUN: %tc_cuda -c main.c -o main.o -Rpass=tc 2>&1 | %check --check-prefix=REMARK %s
// RUN: ls | tr '\n' ' ' | %check --check-prefix=FILES %s
// RUN: %tc_cuda -c main.c -o again.o && cmp main.o again.o
// RUN: %nm main.o | grep -c " V tcd_" | %check --check-prefix=TWO %s
// RUN: %tc_cuda -c main.c -o one.o -fplugin-arg-tc-cuda-arch=90 && %nm one.o | grep -c " V tcd_" | %check --check-prefix=ONE %s
// RUN: %tc_cuda -c main.c -o none.o -fplugin-arg-tc-backend=openmp && %not grep -q tcd_ none.o
// RUN: %tc_cuda -S main.c -o - | %check --check-prefix=ASSEMBLY %s
// RUN: %tc_cuda -S -emit-llvm main.c -o - | %check --check-prefix=IR %s
//
// RUN: %tc_cuda -DOTHER -c other.c -o other.o
// RUN: %clang_bare main.o other.o -o both %run && ./both | %check --check-prefix=PRINTS %s
// RUN: %tc_cuda -O0 -g main.c -DALONE -o alone %run && ./alone | %check --check-prefix=PRINTS %s
// RUN: %tc_cuda -flto -fPIC -O2 main.c -DALONE -o lto %run && ./lto | %check --check-prefix=PRINTS %s
// RUN: %clang_bare -r main.o other.o -o joined.o && %nm joined.o | grep -c " V tcd_" | %check --check-prefix=TWO %s
//
// RUN: env TC_DUMP=cuda %tc_cuda -c main.c -o dump.o 2>&1 | %check --check-prefix=DUMP %s
#include <stdio.h>
#include <tcompile.h>

// REMARK: main.c:{{.*}}: remark: 'f' compiled: 2 ops in 1 kernel, for CPU and CUDA
// FILES: {{^}}main.c main.o other.c {{$}}
// TWO: {{^}}2{{$}}
// ONE: {{^}}1{{$}}
// ASSEMBLY: .section .rodata.tcd_[[HASH:[0-9a-f]+]],"aG",@progbits,tcd_[[HASH]],comdat
// ASSEMBLY: .weak tcd_[[HASH]]
// ASSEMBLY-NEXT: .hidden tcd_[[HASH]]
// IR: @tcd_[[HASH:[0-9a-f]+]] = linkonce_odr hidden constant [{{[0-9]+}} x i8] {{.*}} comdat, align 64
// DUMP: extern "C" __global__ void {{.*}}tck_exp_add_{{[0-9a-f]+}}_cuda_0(
// DUMP: static int tck_exp_add_{{[0-9a-f]+}}_cuda(const tcrt_cuda_call *
// PRINTS: 8 elements, sum 29.7

#ifdef OTHER
#define f g
#endif
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]")) {
  return tc_add(tc_exp(x), y);
}

#ifndef OTHER
tc_tensor *g(const tc_tensor *x, const tc_tensor *y);
#ifdef ALONE
tc_tensor *g(const tc_tensor *x, const tc_tensor *y) { return tc_add(tc_exp(x), y); }
#endif
int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(8), TC_F32);
    tc_tensor *y = f(x, x), *z = g(x, x);
    if (tc_stats_of("f").hits == 1 && tc_item(tc_sum(tc_eq(y, z), TC_ALL, false)) == 8)
      printf("%lld elements, sum %.1f\n", (long long)tc_numel(y), tc_item(tc_sum(y, TC_ALL, false)));
  }
  return 0;
}
#endif

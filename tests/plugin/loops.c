// What each backend gets: of rows that registers (GPUs) or caches (CPUs) do not hold, a maximum and a sum of exponentials are one
// stage, of one reduction of two values.  tc-opt prints the same.
// RUN: rm -rf %t && mkdir %t && env TC_DUMP=loops %cuda_texts -fplugin-arg-tc-save-graphs=%t -c %s -o %t/gpu.o 2> %t/gpu
// RUN: %check --check-prefixes=CHECK,GPU %s < %t/gpu
// RUN: env TC_DUMP=loops %tc -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-opt=0 -fsyntax-only %s 2> %t/cpu
// RUN: %check --check-prefixes=CHECK,CPU %s < %t/cpu
// RUN: env TC_DUMP=loops %graph_tool --backend=cuda --kernels %t/loss.tcg 2> %t/told > %t/text && grep -v remark %t/told > %t/alone
// RUN: sed '1,/^; loops of loss for cuda/d' %t/gpu > %t/device && sed 1d %t/alone | diff - %t/device
// RUN: env TC_DUMP=loops %graph_tool --backend=openmp %t/loss.tcg 2> %t/told > %t/text && grep -v remark %t/told | diff - %t/cpu
#include <tcompile.h>

TC_COMPILE tc_tensor *loss(const tc_tensor *x TC_SHAPE("f32[R,600000]")) { return tc_logsumexp(x, TC_AXES(1), false); }
// GPU: ; loops of loss for cuda
// GPU: or, where rows are not kept
// CPU: ; loops of loss for openmp
// CHECK: stage { j }
// CHECK-NOT: stage
// CHECK: #0, #1 = online_softmax
// CHECK-NEXT: stage { }
// CHECK: store result

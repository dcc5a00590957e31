// Updates that do not depend on each other are one launch: the sizes in which they differ are arguments.
// RUN: env TC_DUMP=loops,kernels,entries %tc -O2 -fsyntax-only -fplugin-arg-tc-backend=openmp -Rpass=tc %s 2>&1 | %check %s
#include <tcompile/optim.h>

TC_COMPILE bool step(tc_tensor *const p[3] TC_SHAPE("f32[N]"), tc_tensor *const g[3] TC_SHAPE("f32[N]"),
                     tc_tensor *q TC_SHAPE("f32[M,4]"), tc_tensor *h TC_SHAPE("f32[M,4]")) {
  tc_tensor *to[] = {p[0], p[1], p[2], q}, *by[] = {g[0], g[1], g[2], h};
  return tc_sgd(4, to, by, NULL, (tc_sgd_options){.rate = 0.1});
}
// CHECK: program step: 4 kernels in 1 launch, workspace 0 bytes
// CHECK: the first of a launch
// CHECK-NEXT: own0 is ((N+4095)/4096)
// CHECK-NEXT: own1 is N
// CHECK-NEXT: nest i < own0 | j < 4096 (chunk i of own1)
// CHECK: in the launch in front
// CHECK: own1 is 4*M
// CHECK: // ---- [[KERNEL:tck_[a-z_0-9]+]]
// CHECK: return tc_run_siblings(TC_NAME([[KERNEL]]_thread), buf, 2, sym, scalar, {{[0-9]+}});
// CHECK-NOT: // ---- tck
// CHECK: .kernels = 1
// CHECK: const int64_t own_sym[] = {4, 2, 0, {{.*}} s_N, {{.*}} 4 * s_M};
// CHECK-NEXT: own_scalar = 0;
// CHECK-NEXT: [[KERNEL]][tcrt_isa](buf, own_sym, own_scalar);
// CHECK: remark: {{.*}}, 4 times beside each other

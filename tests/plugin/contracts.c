// Promises about the generated code: what does not keep them does not build.
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-backend=openmp 2>&1 | %check %s
// RUN: %tc -DKEPT -c %s -o %t.o -fplugin-arg-tc-backend=openmp -Werror
#include <tcompile.h>

#ifdef KEPT
#define KERNELS(few, enough) "max_kernels=" enough
#define BYTES(few, enough) "max_workspace=" enough
#else
#define KERNELS(few, enough) "max_kernels=" few
#define BYTES(few, enough) "max_workspace=" few
#endif

TC_COMPILE_WITH(KERNELS("1", "2"))
tc_tensor *mlp(const tc_tensor *x TC_SHAPE("f32[B,784]"), const tc_tensor *v TC_SHAPE("f32[784,512]"),
               const tc_tensor *w TC_SHAPE("f32[512,10]")) {
  tc_tensor *h = tc_relu(tc_matmul(x, v));
  return tc_matmul(h, w);
}
// CHECK: contracts.c:[[#@LINE-5]]:12: error: 'mlp' needs 2 kernels, and max_kernels=1
// CHECK: contracts.c:[[#@LINE-4]]:{{[0-9]+}}: note: fused 2 operations into kernel {{.*}}: matmul, maximum
// CHECK: contracts.c:[[#@LINE-4]]:10: note: kernel {{.*}}: matmul

TC_COMPILE_WITH(BYTES("4K", "512K"))
tc_tensor *bounded(const tc_tensor *x TC_SHAPE("f32[B<=64,784]"), const tc_tensor *v TC_SHAPE("f32[784,512]"),
                   const tc_tensor *w TC_SHAPE("f32[512,10]")) {
  return tc_matmul(tc_relu(tc_matmul(x, v)), w);
}
// CHECK: contracts.c:[[#@LINE-4]]:12: error: 'bounded' needs a workspace of up to 131072 bytes, and max_workspace=4096

#ifndef KEPT
TC_COMPILE_WITH("max_workspace=1G")
tc_tensor *unbounded(const tc_tensor *x TC_SHAPE("f32[B,784]"), const tc_tensor *v TC_SHAPE("f32[784,512]"),
                     const tc_tensor *w TC_SHAPE("f32[512,10]")) {
  return tc_matmul(tc_relu(tc_matmul(x, v)), w);
}
// CHECK: contracts.c:[[#@LINE-4]]:12: error: 'unbounded' needs a workspace that has no bound, and max_workspace=1073741824; bound the sizes of its operands, as in "f32[B<=64,10]"
#endif

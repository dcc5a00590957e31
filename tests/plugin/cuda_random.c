// Random numbers in kernels for CUDA.
// RUN: %cuda_texts -fplugin-arg-tc-fullgraph -c %s -o %t.o -Rpass=tc 2>&1 | %check %s
// RUN: %if nvrtc %{ %machine_code -fplugin-arg-tc-fullgraph -c %s -o %t.o -Rpass=tc 2>&1 | %check %s %}
#include <tcompile/init.h>

#ifdef MACHINE_CODE
#define X const tc_tensor *x TC_SHAPE("bf16[N,M]")
#else
#define X const tc_tensor *x TC_SHAPE("f32|f64|f16|bf16[N,M]")
#endif
TC_COMPILE tc_tensor *dropped(X, double p, tc_generator *g) { return tc_dropout(tc_exp(x), p, true, g); }
// CHECK-DAG: remark: 'dropped' compiled{{.*}}, for CPU and CUDA
TC_COMPILE tc_tensor *uniform(X, tc_generator *g) { return tc_add(x, tc_uniform(tc_shape(x), -1, 2, TC_F32, g)); }
// CHECK-DAG: remark: 'uniform' compiled{{.*}}, for CPU and CUDA
TC_COMPILE tc_tensor *normal(X, tc_generator *g) { return tc_add(x, tc_normal(tc_shape(x), -1, 2, TC_BF16, g)); }
// CHECK-DAG: remark: 'normal' compiled{{.*}}, for CPU and CUDA
TC_COMPILE tc_tensor *integers(const tc_tensor *x TC_SHAPE("i32[N,M]"), tc_generator *g) { return tc_add(x, tc_randint(tc_shape(x), -9, 9, TC_I32, g)); }
// CHECK-DAG: remark: 'integers' compiled{{.*}}, for CPU and CUDA
TC_COMPILE tc_tensor *coins(X, tc_generator *g) { return tc_bernoulli(x, g); }
// CHECK-DAG: remark: 'coins' compiled{{.*}}, for CPU and CUDA
TC_COMPILE tc_tensor *samples(const tc_tensor *x TC_SHAPE("f32[N,M]"), bool replacement, tc_generator *g) { return tc_multinomial(x, 3, replacement, g); }
// CHECK-DAG: remark: 'samples' compiled{{.*}}, for CPU and CUDA
TC_COMPILE tc_tensor *weights(tc_tensor *w TC_SHAPE("bf16[N,M]"), tc_generator *g) { return tc_trunc_normal_(w, 0, 1, -2, 2, g); }
// CHECK-DAG: remark: 'weights' compiled{{.*}}, for CPU and CUDA
TC_COMPILE tc_tensor *gradient(tc_tensor *x TC_SHAPE("f32[N,M]"), double p, tc_generator *g) {
  tc_tensor *d;
  return tc_grad(tc_sum(tc_square(tc_dropout(x, p, true, g)), TC_ALL, false), 1, &x, &d) ? d : NULL;
}
// CHECK-DAG: remark: 'gradient' compiled{{.*}}, for CPU and CUDA

// Kernels of different functions that are equal but for the names of sizes and scalars are one: the
// images of one.
// REQUIRES: nvrtc
// RUN: %machine_code -c %s -o %t.o && %nm %t.o | grep -c "_cuda_image" | %check --check-prefix=ONE %s
// RUN: %machine_code -DMORE -c %s -o %t.more.o && %nm %t.more.o | grep -c "_cuda_image" | %check --check-prefix=TWO %s
#include <tcompile.h>

// ONE: {{^}}1{{$}}
// TWO: {{^}}2{{$}}

TC_COMPILE tc_tensor *first(const tc_tensor *x TC_SHAPE("f32[R,C]"), double s) {
  return tc_softmax(tc_mul_s(x, s), -1);
}
TC_COMPILE tc_tensor *second(const tc_tensor *y TC_SHAPE("f32[K]"), const tc_tensor *x TC_SHAPE("f32[B,T]"),
                             double r, double t) {
  return tc_softmax(tc_mul_s(x, t), -1);
}
#ifdef MORE
TC_COMPILE tc_tensor *third(const tc_tensor *x TC_SHAPE("f32[R,R]"), double s) {
  return tc_softmax(tc_mul_s(x, s), -1);
}
#endif

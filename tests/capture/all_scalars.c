// Parameters of all C scalar types.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum e { A, B = 7 };
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), char a, signed char b, unsigned char c, short d, unsigned short e, int g, unsigned h, long i, unsigned long j,
                        long long k, unsigned long long l, float m, double n, _Bool o, enum e p, size_t q) {
  return tc_add_s(x, a + b + c + d + e + g + h + (double)i + (double)j + (double)k + (double)l + m + n + o + p + (double)(q % 5));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 1, -2, 200, -300, 60000, -7, 8u, -9, 10, -11, 12, 0.5f, 0.25, 1, B, 99));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 

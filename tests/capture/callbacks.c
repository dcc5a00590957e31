// More than eight ways through the statements of a block: segments of fewer statements.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"
typedef void report_fn(int step, double loss, void *arg);
struct solver { report_fn *report; void *arg; double tol; int max; tc_tensor *(*precond)(const tc_tensor *); };
static void print_it(int step, double loss, void *arg) { printf("%s %d %.3f\n", (const char *)arg, step, loss); }
static void store_it(int step, double loss, void *arg) { (void)step; *(double *)arg = loss; }
static tc_tensor *half(const tc_tensor *r) { return tc_mul_s(r, 0.5); }
static tc_tensor *same(const tc_tensor *r) { return tc_mul_s(r, 0.25); }
TC_COMPILE bool solve(struct solver *s, const tc_tensor *a TC_SHAPE("f32[N,N]"), const tc_tensor *b TC_SHAPE("f32[N]"), tc_tensor *x TC_SHAPE("f32[N]")) {
  for (int i = 0; i < s->max; i++) {
    double norm = 0;
    TC_SCOPE {
      tc_tensor *r = tc_sub(b, tc_matmul(a, x));
      tc_tensor *z = s->precond ? s->precond(r) : r;
      tc_add_(x, z);
      norm = tc_item(tc_sum(tc_square(r), TC_ALL, false));
      if (s->report) s->report(i, norm, s->arg);
    }
    if (norm < s->tol) return true;
  }
  return false;
}
int main(void) {
  tc_tensor *a = tc_add(tc_mul_s(tc_eye(4, 4, TC_F32), 1.2), tc_mul_s(tc_randn(TC_DIMS(4, 4), 1, TC_F32), 0.05)), *b = tc_ones(TC_DIMS(4), TC_F32);
  double last = 0;
  struct solver s[] = {{print_it, "it", 1e-3, 5, half}, {store_it, &last, 1e-3, 9, same}, {NULL, NULL, 1e-3, 9, NULL}};
  for (int i = 0; i < 3; i++) { tc_tensor *x = tc_zeros(TC_DIMS(4), TC_F32); printf("%d ", solve(&s[i], a, b, x)); show(x); }
  printf("%.4f\n", last);
  return finish();
}
// CHECK-DAG: remark: 'solve' compiled for s->precond != 0 && s->precond == half:
// CHECK-DAG: remark: 'solve' compiled for !(s->precond != 0):
// CHECK-NOT: variable 'z' has no TC_SHAPE
// CHECK-DAG: solve [s->precond != 0 && s->precond == half] {{.*}} 5 0 0
// CHECK-DAG: solve [!(s->precond != 0)] {{.*}} 4 0 0

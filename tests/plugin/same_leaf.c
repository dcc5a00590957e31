// A leaf that is given twice, whose gradient is the sum of both: the body runs, and the message says which operands it is.
// RUN: %tc -w %s -o %t %run && env TC_LOGS=guards %t 2>&1 | %check %s
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE tc_tensor *slope(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]")) {
  tc_tensor *g;
  return tc_grad(tc_sum(tc_mul(x, tc_exp(y)), TC_ALL, false), 1, &x, &g) ? g : NULL;
}

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_requires_grad_(tc_ones(TC_DIMS(1), TC_F32), true);
    slope(x, tc_ones(TC_DIMS(1), TC_F32));
    printf("%.4f\n", tc_item(slope(x, x)));
    slope(tc_ones(TC_DIMS(1), TC_F32), x);
  }
  return 0;
}
// CHECK: slope ({{.*}}same_leaf.c:6) ran its body: operand {{[12]}} ({{[xy]}}) is the same leaf as operand {{[12]}}
// CHECK: slope ({{.*}}same_leaf.c:6) ran its body: operand 1 (x) is no leaf, or no gradients are recorded
// CHECK: 5.4366

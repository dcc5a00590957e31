// Functions with several results: each is a value of its own, those that nobody asked for cost nothing.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE_WITH("fullgraph") tc_tensor *normed(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *mean, *var = tc_var_mean(x, TC_AXES(1), 0, true, &mean);
  return tc_div(tc_sub(x, mean), tc_sqrt(tc_add_s(var, 1e-5)));
}
TC_COMPILE_WITH("fullgraph") tc_tensor *both(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **index) {
  return tc_max_with_index(x, TC_AXES(-1), false, index);
}
TC_COMPILE_WITH("fullgraph") tc_tensor *first(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_min_with_index(x, TC_AXES(0), true, NULL);
}
TC_COMPILE_WITH("fullgraph") tc_tensor *running(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **index) {
  return tc_cummax(x, 1, index);
}
TC_COMPILE_WITH("fullgraph") tc_tensor *highest(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **index) {
  return tc_topk(x, 2, 1, true, index);
}
TC_COMPILE_WITH("fullgraph") tc_tensor *lowest(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_cummin(x, 0, NULL); }
typedef struct parts {
  tc_tensor *part[2];
} parts;
TC_COMPILE_WITH("fullgraph") void split_up(const tc_tensor *x TC_SHAPE("f32[N,M]"), parts *p) {
  p->part[0] = tc_frexp(x, &p->part[1]);
}
TC_COMPILE_WITH("fullgraph") tc_tensor *twice(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *a, *b;
  tc_tensor *m = tc_frexp(x, &a), *n = tc_frexp(tc_mul_s(x, 4), &b);
  return tc_add(tc_sub(m, n), tc_cast(tc_sub(b, a), TC_F32)); // 0 + 2
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(5, 7), 1, TC_F32), *index = NULL;
  parts p;
  show(normed(x));
  show(both(x, &index));
  show(index);
  show(first(x));
  show(running(x, &index));
  show(index);
  show(highest(x, &index));
  show(index);
  show(lowest(x));
  split_up(x, &p);
  show(p.part[0]), show(p.part[1]);
  show(twice(x));
  index = x;
  tc_tensor *empty = both(tc_zeros(TC_DIMS(5, 0), TC_F32), &index);
  printf("%d %d %d\n", empty == NULL, index == NULL, tc_error() != NULL);
  tc_clear_error();
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'normed' compiled: {{.*}} in 1 kernel
// CHECK-DAG: remark: 'first' compiled: 1 ops in 1 kernel
// CHECK-DAG: normed {{.*}} 1 0 0 
// CHECK-DAG: first {{.*}} 1 0 0 
// CHECK-DAG: twice {{.*}} 1 0 0 
// CHECK-DAG: running {{.*}} 1 0 0 
// CHECK-DAG: highest {{.*}} 1 0 0 
// CHECK-DAG: lowest {{.*}} 1 0 0 

// Calls through pointers that are known at run time only: a segment for each function that the pointer may lead to. Of
// a constant table these are its own, else those of the pointer's type whose address the file takes.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

typedef tc_tensor *op(const tc_tensor *);
static tc_tensor *twice(const tc_tensor *x) { return tc_mul_s(x, 2); }
static tc_tensor *shifted(const tc_tensor *x) { return tc_add_s(tc_exp(x), 1); }
static tc_tensor *none(const tc_tensor *x) { return tc_neg(x); } // whose address nobody takes
static op *const table[] = {twice, tc_tanh};
static const struct { const char *name; op *f; } named[] = {{"shifted", shifted}, {"abs", tc_abs}};
static tc_tensor *later(const tc_tensor *x); // a name is enough
struct layer { op *act; tc_tensor *w TC_SHAPE("f32[D,D]"); };

TC_COMPILE tc_tensor *indexed(const tc_tensor *x TC_SHAPE("f32[N,M]"), int which) { return tc_exp(table[which](none(x))); }

TC_COMPILE tc_tensor *by_name(const tc_tensor *x TC_SHAPE("f32[N,M]"), int which) {
  op *const f = named[which].f;
  return f(f(x));
}

static tc_tensor *run(const struct layer *l, const tc_tensor *x) {
  tc_tensor *y = tc_matmul(x, l->w);
  return l->act ? l->act(y) : y;
}
// CHECK-DAG: call_pointer.c:[[#@LINE-2]]:19: remark: graph break in 'member': this pointer may lead to functions of other files, or such as are declared further on
TC_COMPILE tc_tensor *member(const tc_tensor *x TC_SHAPE("f32[N,D]"), const struct layer *l) { return run(l, x); }

TC_COMPILE tc_tensor *given(const tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor *(*f)(const tc_tensor *, int)) { return f(tc_exp(x), 2); }
static tc_tensor *power(const tc_tensor *x, int n) { return tc_pow_s(x, n); } // no name in front of `given`
static tc_tensor *later(const tc_tensor *x) { return tc_square(x); }

// What a call makes that not all ways are compiled of goes on behind it.
static tc_tensor *act(const tc_tensor *x, int kind) {
  switch (kind) {
  case 0: return tc_relu(x);
  case 1: return tc_exp(x);
  case 2: return tc_tanh(x);
  case 3: return tc_abs(x);
  case 4: return tc_sin(x);
  case 5: return tc_cos(x);
  case 6: return tc_square(x);
  case 7: return tc_sign(x);
  default: return tc_neg(x);
  }
}
TC_COMPILE tc_tensor *rounds(const tc_tensor *x TC_SHAPE("f32[N,D]"), const struct layer *l, int n, int kind) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++) h = l->act(h);
  for (int i = 0; i < n; i++) h = act(h, kind);
  return tc_matmul(h, l->w);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 4), 1, TC_F32);
  show(indexed(x, 0)), show(indexed(x, 1));
  show(by_name(x, 0)), show(by_name(x, 1));
  struct layer l[] = {{twice, x}, {later, x}, {NULL, x}};
  for (int i = 0; i < 3; i++) show(member(x, &l[i]));
  show(rounds(x, l, 2, 6));
  show(given(tc_select(x, 0, 0), power));
  return finish();
}
// CHECK-DAG: remark: 'indexed' compiled for table[which] == twice: 3 ops
// CHECK-DAG: remark: 'indexed' compiled for !(table[which] == twice) && table[which] == tc_tanh: 3 ops
// CHECK-DAG: remark: 'by_name' compiled for named[which].f == shifted: 4 ops
// CHECK-DAG: remark: 'by_name' compiled for !(named[which].f == shifted) && named[which].f == tc_abs: 2 ops
// CHECK-DAG: remark: 'member' compiled for l->act != 0 && l->act == twice: 2 ops
// CHECK-DAG: remark: 'member' compiled for !(l->act != 0): 1 ops
// CHECK-DAG: remark: 'given' {{.*}} a function is called through a pointer
// CHECK-DAG: remark: 'rounds' compiled for l->act == twice: 1 ops
// CHECK-NOT: graph break in 'indexed'
// CHECK-NOT: graph break in 'rounds': variable 'h' has no TC_SHAPE
// CHECK-DAG: indexed [table[which] == twice] {{.*}} 1 0 0 
// CHECK-DAG: by_name [!(named[which].f == shifted) && named[which].f == tc_abs] {{.*}} 1 0 0 
// CHECK-DAG: member {{.*}} == later] {{.*}} 1 0 0 
// CHECK-DAG: member [!(l->act != 0)] {{.*}} 1 0 0 

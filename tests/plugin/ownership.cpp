// Bodies of C++ that can have no scope of their own; those that are C can.
// RUN: %tc -Rpass=tc -c %s -o %t.o 2>&1 | %check %s
#include <tcompile.h>

struct made {
  made() : count(1) {}
  int count;
};
struct counted {
  ~counted() {}
  int count;
};
struct plain {
  int n;
};

extern "C" TC_COMPILE tc_tensor *constructs(const tc_tensor *x TC_SHAPE("f32[N]")) {
  // CHECK-DAG: ownership.cpp:[[#@LINE-1]]:34: remark: 'constructs' frees nothing {{.*}}: an operator, a constructor or a member of a class is called
  made here;
  return tc_exp(tc_add_s(x, here.count));
}

extern "C" TC_COMPILE tc_tensor *destroys(const tc_tensor *x TC_SHAPE("f32[N]"), counted &from) {
  // CHECK-DAG: ownership.cpp:[[#@LINE-1]]:34: remark: 'destroys' frees nothing {{.*}}: it has a variable with a destructor
  counted here = from;
  return tc_exp(tc_add_s(x, here.count));
}

extern "C" TC_COMPILE tc_tensor *asks(const tc_tensor *x TC_SHAPE("f32[N]"), plain (*unseen)(int)) {
  // CHECK-DAG: ownership.cpp:[[#@LINE-1]]:34: remark: 'asks' frees nothing {{.*}}: it calls a function that returns an object of a class
  plain here = unseen(1);
  return tc_exp(tc_add_s(x, here.n));
}

extern "C" TC_COMPILE tc_tensor *like_c(const tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor **out) {
  tc_tensor *h;
  h = tc_exp(x);
  *out = tc_neg(h);
  return tc_add(h, tc_abs(h));
}
// CHECK-NOT: 'like_c' frees nothing

extern "C" TC_COMPILE tc_tensor *shaped(const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *h = tc_reshape(tc_exp(x), TC_DIMS(1, -1));
  return tc_sum(h, TC_AXES(1), true);
}
// CHECK-NOT: 'shaped' frees nothing

extern "C" TC_COMPILE tc_tensor *copies(const tc_tensor *x TC_SHAPE("f32[N]"), const plain &from) {
  plain here = from;
  return tc_exp(tc_add_s(x, here.n));
}
// CHECK-NOT: 'copies' frees nothing

// Its elements leave, of a list whose inner braces are left out.
struct both {
  tc_tensor *of[2];
};
TC_COMPILE both listed(const tc_tensor *x TC_SHAPE("f32[N]")) { return {tc_exp(x), tc_exp(tc_neg(x))}; }
// CHECK-NOT: 'listed' frees nothing

// Members that are known are functions of the object: what they make is the body's, unless they put it there.
struct model {
  const tc_tensor *w TC_SHAPE("f32[N]");
  tc_tensor *last = nullptr;
  int power(int n = 2) const { return n; }
  tc_tensor *weighted(const tc_tensor *x) const { return tc_mul(tc_exp(x), w); }
  void remember(const tc_tensor *x) { last = tc_neg(x); }
  virtual tc_tensor *other(const tc_tensor *x) const { return tc_neg(x); }
  static tc_tensor *twice(const tc_tensor *x) { return tc_add(x, x); }
  TC_COMPILE tc_tensor *run(const tc_tensor *x TC_SHAPE("f32[N]")) const { return tc_pow_s(twice(this->weighted(weighted(x))), power()); }
  TC_COMPILE tc_tensor *stores(const tc_tensor *x TC_SHAPE("f32[N]")) {
    // CHECK-DAG: ownership.cpp:[[#@LINE-1]]:25: remark: 'stores' frees nothing {{.*}}: an operator, a constructor or a member of a class is called
    remember(x);
    return tc_exp(tc_neg(x));
  }
  TC_COMPILE tc_tensor *dispatches(const tc_tensor *x TC_SHAPE("f32[N]")) const {
    // CHECK-DAG: ownership.cpp:[[#@LINE-1]]:25: remark: 'dispatches' frees nothing {{.*}}: an operator, a constructor or a member of a class is called
    return tc_exp(other(x));
  }
};
// CHECK-NOT: 'run' frees nothing

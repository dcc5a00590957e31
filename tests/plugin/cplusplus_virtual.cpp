// C++: which function a virtual operator is, is not known when the call is captured.
// RUN: %tcxx -w -fsyntax-only %s -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile.h>

struct scaling {
  double by;
  virtual double operator()(double x) const { return x * by; }
};

TC_COMPILE static tc_tensor *by_virtual(const tc_tensor *x TC_SHAPE("f32[N]"), const scaling &s) { return tc_mul_s(x, s(2)); }
// CHECK: cplusplus_virtual.cpp:[[#@LINE-1]]:119: remark: 'by_virtual' not compiled: 'operator()' is called, which is virtual

tc_tensor *use(const tc_tensor *x, const scaling &s) { return by_virtual(x, s); }

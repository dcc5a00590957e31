#ifndef SHARED_H
#define SHARED_H
#include <tcompile.h>

static inline TC_COMPILE tc_tensor *standardised(const tc_tensor *x TC_SHAPE("f32[B,N]")) {
  tc_tensor *centred = tc_sub(x, tc_mean(x, TC_AXES(-1), true));
  return tc_div(centred, tc_std(x, TC_AXES(-1), 1, true));
}

tc_tensor *first(const tc_tensor *x TC_SHAPE("f32[B,N]"));
tc_tensor *second(const tc_tensor *x TC_SHAPE("f32[B,N]"));
#endif

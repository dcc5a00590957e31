#include <tcompile.h>

TC_COMPILE tc_tensor *five(const tc_tensor *a TC_SHAPE("f32[M,N]"), const tc_tensor *b TC_SHAPE("f32[M,N]"),
                           const tc_tensor *c TC_SHAPE("f32[N]"), const tc_tensor *d TC_SHAPE("f32[N]"),
                           const tc_tensor *e TC_SHAPE("f32[M,1]")) {
  return tc_add(tc_mul(tc_add(tc_mul(a, c), d), e), b);
}

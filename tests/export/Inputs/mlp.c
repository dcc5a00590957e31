// The network of README.md.
#include <tcompile.h>

TC_COMPILE tc_tensor *mlp(const tc_tensor *x TC_SHAPE("f32[B,784]"), const tc_tensor *w1 TC_SHAPE("f32[784,H]"),
                          const tc_tensor *b1 TC_SHAPE("f32[H]"), const tc_tensor *w2 TC_SHAPE("f32[H,10]"),
                          const tc_tensor *b2 TC_SHAPE("f32[10]")) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_relu(tc_add(tc_matmul(x, w1), b1));
  return tc_keep(tc_softmax(tc_add(tc_matmul(h, w2), b2), -1));
}

/* rows.c - five functions of rows: norms, softmax, losses. */
#include <tcompile.h>

TC_COMPILE tc_tensor *norm(const tc_tensor *x TC_SHAPE("f32[N,D]"),
                           const tc_tensor *w TC_SHAPE("f32[D]"),
                           const tc_tensor *b TC_SHAPE("f32[D]")) {
  return tc_layer_norm(x, 1, w, b, 1e-5);
}

TC_COMPILE tc_tensor *rms(const tc_tensor *x TC_SHAPE("f32[N,D]"),
                          const tc_tensor *w TC_SHAPE("f32[D]")) {
  return tc_rms_norm(x, 1, w, 1e-6);
}

TC_COMPILE tc_tensor *probabilities(const tc_tensor *x TC_SHAPE("f32[N,C]"), double temperature) {
  return tc_softmax(tc_div_s(x, temperature), -1);
}

TC_COMPILE tc_tensor *loss(const tc_tensor *x TC_SHAPE("f32[N,C]"),
                           const tc_tensor *label TC_SHAPE("i64[N]")) {
  return tc_cross_entropy(x, label, TC_MEAN);
}

TC_COMPILE tc_tensor *cosine(const tc_tensor *a TC_SHAPE("f32[N,D]"),
                             const tc_tensor *b TC_SHAPE("f32[N,D]")) {
  tc_ints last = TC_AXES(-1);
  tc_tensor *lengths = tc_mul(tc_norm(a, 2, last, false), tc_norm(b, 2, last, false));
  return tc_div(tc_sum(tc_mul(a, b), last, false), lengths);
}

/* Gradients through compiled functions: with an operand that is tracked kernels run that bring those of its gradients, or
 * the body, which is recorded; and what kernels write is seen by the tape. */
#include "check.h"

TC_COMPILE static tc_tensor *model(const tc_tensor *x TC_SHAPE("f32[B,D]"),
                                   const tc_tensor *w TC_SHAPE("f32[D,E]")) {
  return tc_tanh(tc_matmul(x, w));
}

TC_COMPILE_WITH("grad=off") static tc_tensor *loss_of(const tc_tensor *y TC_SHAPE("f32[B,E]"),
                                     const tc_tensor *target TC_SHAPE("f32[B,E]")) {
  return tc_mean(tc_square(tc_sub(y, target)), TC_ALL, false);
}

TC_COMPILE static void step(tc_tensor *w TC_SHAPE("f32[D,E]"),
                            const tc_tensor *g TC_SHAPE("f32[D,E]")) {
  tc_sub_(w, tc_mul_s(g, 0.5));
}

/* Graph breaks: what is asked for of gradients stands between segments. */
TC_COMPILE static double train(const tc_tensor *x TC_SHAPE("f32[B,D]"),
                               const tc_tensor *target TC_SHAPE("f32[B,E]"),
                               tc_tensor *w TC_SHAPE("f32[D,E]")) {
  tc_tensor *g;
  tc_tensor *y = tc_tanh(tc_matmul(x, w));
  tc_tensor *loss = tc_mean(tc_square(tc_sub(y, target)), TC_ALL, false);
  if (!tc_grad(loss, 1, &w, &g)) return -1;
  TC_NO_GRAD tc_sub_(w, tc_mul_s(g, 0.5));
  return tc_item(loss);
}

static tc_tensor *weights(void) {
  TC_FUNCTION_SCOPE;
  return tc_keep(tc_requires_grad_(tc_mul_s(tc_randn(TC_DIMS(6, 3), 2, TC_F32), 0.5), true));
}

static void learn(const tc_tensor *x, const tc_tensor *target) {
  tc_tensor *w = weights(), *again = weights();
  double before = 0, after = 0;
  for (int i = 0; i < 20; i++) TC_SCOPE {
      tc_tensor *y = model(x, w), *loss = loss_of(y, target), *g;
      CHECK(tc_requires_grad(y) && tc_requires_grad(loss));
      after = tc_item(loss);
      if (i == 0) before = after;
      CHECK(tc_grad(loss, 1, &w, &g));
      TC_NO_GRAD step(w, g);
      const double other = train(x, target, again);
      CHECK(other > after - 1e-4 && other < after + 1e-4);
    }
  CHECK(after < 0.5 * before && tc_allclose(w, again, 1e-4, 1e-5));
#ifdef TC_HAS_PLUGIN
  CHECK(hits_of("step") == 20 && fallbacks_of("step") == 0);
  CHECK(hits_of("model") == 20 + 20 && fallbacks_of("model") == 0); /* forward and backward */
  CHECK(hits_of("loss_of") == 0 && fallbacks_of("loss_of") == 20);
  TC_SCOPE TC_NO_GRAD CHECK(!tc_requires_grad(model(x, w)));
  CHECK(hits_of("model") == 41);
#endif
  tc_free(w);
  tc_free(again);
}

/* A kernel writes what a gradient needs. */
static void overwrite(void) {
  TC_SCOPE {
    tc_tensor *leaf = weights(), *saved = tc_ones(TC_DIMS(6, 3), TC_F32);
    tc_tensor *y = tc_sum(tc_mul(leaf, saved), TC_ALL, false), *g;
    step(saved, tc_ones(TC_DIMS(6, 3), TC_F32));
    CHECK(!tc_grad(y, 1, &leaf, &g) && tc_error());
    tc_clear_error();
    y = tc_sum(tc_mul(tc_mul_s(leaf, 2), leaf), TC_ALL, false);
    TC_NO_GRAD step(leaf, tc_ones(TC_DIMS(6, 3), TC_F32));
    CHECK(!tc_backward(y) && tc_error());
    tc_clear_error();
  }
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(8, 6), 1, TC_F32), *target = tc_full(TC_DIMS(8, 3), 0.25, TC_F32);
  learn(x, target);
  overwrite();
  tc_free(x);
  tc_free(target);
  CHECK(tc_memory().live == 0);
  return 0;
}

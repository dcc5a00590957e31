/* tcompile/nn/norm.h, and norms of tcompile.h: values, gradients, running statistics, and the number of kernels. */
#define NN_NORM
#include "nn.h"

static inline tc_tensor *running(const tc_tensor *x, const tc_tensor *mean, const tc_tensor *var) {
  tc_tensor *m = tc_clone(mean), *v = tc_clone(var);
  const tc_tensor *both[] = {m, v};
  return tc_batch_norm_train(x, m, v, NULL, NULL, 0.3, 1e-5) ? tc_concat(both, 2, 0) : NULL;
}

#define X "f32[N,C,H,W]"
NN3(batch, 3, X, "f32[C]", "f32[C]", tc_batch_norm_train(a, NULL, NULL, b, c, 0, 1e-3))
NN1(batch_rows, 1, "f32[N,C]", tc_batch_norm_train(a, NULL, NULL, NULL, NULL, 0, 1e-5))
NN3(batch_running, 0, X, "f32[C]", "f32[C]", running(a, b, c))
NN3(group, 3, "f32[N,6,H,W]", "f32[6]", "f32[6]", tc_group_norm(a, 3, b, c, 1e-4))
NN1(group_rows, 1, "f32[N,8]", tc_group_norm(a, 2, NULL, NULL, 1e-5))
NN3(instance, 3, X, "f32[C]", "f32[C]", tc_instance_norm(a, b, c, 1e-5))
NN1(response, 1, X, tc_local_response_norm(a, 4, 0.2, 0.6, 1.5))
NN2(weight, 2, "f32[O,C,K]", "f32[O,1,1]", tc_weight_norm(a, b, 0))
NN2(weight_last, 2, "f32[O,I]", "f32[1,I]", tc_weight_norm(a, b, -1))
NN3(layer, 3, "f32[N,C,L]", "f32[C,L]", "f32[C,L]", tc_layer_norm(a, 2, b, c, 1e-5))
NN2(rms, 2, "f32[N,D]", "f32[D]", tc_rms_norm(a, 1, b, 1e-5))

static const nn_function functions[] = {
    NN_ROW(batch),    NN_ROW(batch_rows), NN_ROW(batch_running), NN_ROW(group), NN_ROW(group_rows), NN_ROW(instance),
    NN_ROW(response), NN_ROW(weight),     NN_ROW(weight_last),   NN_ROW(layer), NN_ROW(rms),
};

/* Statistics, result and update of the running ones: one kernel. */
TC_COMPILE_WITH("fullgraph", "max_kernels=1")
static tc_tensor *train(NN_OPERAND(x, X), tc_tensor *mean TC_SHAPE("f32[C]"), tc_tensor *var TC_SHAPE("f32[C]"),
                        NN_OPERAND(weight, "f32[C]"), NN_OPERAND(bias, "f32[C]")) {
  return tc_batch_norm_train(x, mean, var, weight, bias, 0.1, 1e-5);
}
TC_COMPILE_WITH("fullgraph", "max_kernels=1", "max_workspace=0")
static tc_tensor *group_fused(NN_OPERAND(x, "bf16[N,8,H,W]"), NN_OPERAND(weight, "f32[8]"), NN_OPERAND(bias, "f32[8]")) {
  return tc_group_norm(x, 4, weight, bias, 1e-5);
}

static void check_in_place(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_add_s(tc_randn(TC_DIMS(4, 3, 9, 10), 1, TC_F32), 3), *w = tc_full(TC_DIMS(3), 2, TC_F32);
    const tc_tensor *b = tc_full(TC_DIMS(3), -1, TC_F32), *y[2];
    tc_tensor *mean[2], *var[2];
    for (int i = 0; i < 2; i++) {
      tc_set_enabled(i == 0);
      mean[i] = tc_zeros(TC_DIMS(3), TC_F32), var[i] = tc_ones(TC_DIMS(3), TC_F32);
      y[i] = train(x, mean[i], var[i], w, b);
      CHECK(y[i] && fabs(tc_item(tc_mean(y[i], TC_ALL, false)) + 1) < 1e-5);
    }
    tc_set_enabled(true);
    CHECK(!NN_COMPILED || hits_of("train") == 1);
    CHECK(tc_allclose(y[0], y[1], 1e-5, 1e-5) && tc_allclose(mean[0], mean[1], 1e-5, 1e-6) && tc_allclose(var[0], var[1], 1e-5, 1e-6));
    CHECK(fabs(tc_at(mean[0], TC_INTS(0)) - 0.3) < 0.03);
    const tc_tensor *z = tc_randn(TC_DIMS(2, 8, 5, 9), 1, TC_BF16), *w8 = tc_rand(TC_DIMS(8), 2, TC_F32);
    const tc_tensor *fused = group_fused(z, w8, w8);
    CHECK(tc_allclose(fused, tc_group_norm(z, 4, w8, w8, 1e-5), 1.6e-2, 1e-2));
  }
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(2, 6, 5), TC_F32), *row = tc_ones(TC_DIMS(6), TC_F32);
    nn_refused(tc_batch_norm_train(row, NULL, NULL, NULL, NULL, 0.1, 1e-5), "x has 1 axes");
    nn_refused(tc_group_norm(x, 4, NULL, NULL, 1e-5), "4 groups");
    nn_refused(tc_instance_norm(tc_select(x, 0, 0), NULL, NULL, 1e-5), "x has 2 axes");
    nn_refused(tc_local_response_norm(x, 0, 1, 1, 1), "0 channels");
    nn_refused(tc_weight_norm(x, row, 0), "6 lengths of 1 axes for axis 0 of 3");
    CHECK(!tc_group_norm(NULL, 1, NULL, NULL, 0));
    tc_clear_error();
  }
}

int main(void) {
  NN_CHECK(norm, functions);
  check_in_place();
  check_refused();
  return 0;
}

/* tcompile/nn/activation.h, embedding.h and linear.h. */
#define NN_OTHER
#include "nn.h"

#define M "f32[N,D%2]"
#define X3 "f32[N,8,L]"

static inline tc_tensor *sum3(const tc_tensor *x, const tc_tensor *y, const tc_tensor *z) {
  return tc_add(x, tc_add(tc_mul_s(y, 2), tc_mul_s(z, 3)));
}
/* From how many elements the bags have to where they begin. */
static inline tc_tensor *begins(const tc_tensor *sizes) { return tc_sub(tc_cumsum(sizes, 0), tc_slice(sizes, 0, 0, 1, 1)); }

NN1(shrinks, 1, M, sum3(tc_hardshrink(a, 0.7), tc_softshrink(a, 0.4), tc_tanhshrink(a)))
NN1(units, 1, M, sum3(tc_celu(a, 0.6), tc_selu(a), tc_elu(a, 0.6)))
NN1(signs, 1, M, sum3(tc_softsign(a), tc_logsigmoid(tc_mul_s(a, 3)), tc_softmin(a, 1)))
NN1(bounds, 1, M, tc_add(tc_threshold(a, 0.3, -2), tc_mul_s(tc_hardtanh(a, -0.8, 0.6), 2)))
NN2(prelu, 2, X3, "f32[8]", tc_prelu(a, b))
NN2(prelu_one, 2, M, "f32[1]", tc_prelu(a, b))
NN1(glu, 1, X3, tc_glu(a, 1))
NN1(gated, 1, X3, sum3(tc_reglu(a, 1), tc_geglu(a, 1), tc_swiglu(a, 1)))
NN4(bilinear, 4, "f32[N,I]", "f32[N,J]", "f32[O,I,J]", "f32[O]", tc_bilinear(a, b, c, tc_neg(tc_neg(d))))
NN2(embedding_padded, 1, "f32[V,D]", "i64[N,L]", tc_embedding_padded(a, b, 2))
NN3(bag_sum, 1, "f32[V,D]", "i64[N,L]", "f32[N,L]", tc_embedding_bag(a, b, TC_BAG_SUM, c, -1))
NN2(bag_mean, 1, "f32[V,D]", "i64[N,L]", tc_embedding_bag(a, b, TC_BAG_MEAN, NULL, 2))
NN2(bag_max, 1, "f32[V,D]", "i64[N,L]", tc_embedding_bag(a, b, TC_BAG_MAX, NULL, 2))
NN4(bag_offsets, 1, "f32[V,D]", "i64[N]", "i64[B]", "f32[N]", tc_embedding_bag_offsets(a, b, begins(c), TC_BAG_SUM, d))
NN3(bag_offsets_mean, 1, "f32[V,D]", "i64[N]", "i64[B]", tc_embedding_bag_offsets(a, b, begins(c), TC_BAG_MEAN, NULL))

static const nn_function functions[] = {
    NN_ROW(shrinks), NN_ROW(units),   NN_ROW(signs),            NN_ROW(bounds),      NN_ROW(prelu),
    NN_ROW(glu),     NN_ROW(gated),   NN_ROW(prelu_one),        NN_ROW(bag_sum),     NN_ROW(bag_mean),
    NN_ROW(bag_max), NN_ROW(bag_offsets), NN_ROW(embedding_padded), NN_ROW(bag_offsets_mean), NN_ROW(bilinear),
};

TC_COMPILE_WITH("fullgraph") static tc_tensor *sampled(NN_OPERAND(x, "f32[N,C]"), tc_generator *g, bool hard) {
  return tc_gumbel_softmax(x, 0.5, hard, -1, g);
}

static void check_gumbel(void) {
  TC_SCOPE {
    const double p[] = {0.5, 0.3, 0.2};
    const tc_tensor *logits = tc_expand(tc_log(tc_cast(tc_from(TC_DIMS(1, 3), p, TC_F64), TC_F32)), TC_DIMS(20000, 3));
    tc_generator g = tc_generator_of(3), again = g;
    const tc_tensor *y = sampled(tc_contiguous(logits), &g, true), *z = tc_gumbel_softmax(logits, 0.5, true, -1, &again);
    CHECK(y && z && g.offset == 1 && again.offset == 1 && tc_max_abs_diff(y, z) < 1e-5);
    for (int i = 0; i < 3; i++) CHECK(fabs(tc_at(tc_mean(y, TC_AXES(0), false), TC_INTS(i)) - p[i]) < 0.02);
    const tc_tensor *soft = sampled(tc_contiguous(logits), &g, false);
    CHECK(tc_allclose(tc_sum(soft, TC_AXES(1), false), tc_ones(TC_DIMS(20000), TC_F32), 1e-5, 1e-5));
  }
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(3, 5), TC_F32), *i = tc_zeros(TC_DIMS(3), TC_I64), *two = tc_zeros(TC_DIMS(3, 2), TC_I64);
    nn_refused(tc_glu(x, 1), "tc_glu: axis 1 of 2 has no halves");
    nn_refused(tc_swiglu(x, 2), "tc_swiglu: axis 2 of 2");
    nn_refused(tc_softshrink(x, -1), "lambda is -1");
    nn_refused(tc_celu(x, 0), "alpha is 0");
    nn_refused(tc_prelu(x, tc_ones(TC_DIMS(3), TC_F32)), "3 weights of 1 axes for 2");
    nn_refused(tc_bilinear(x, x, x, NULL), "weights of 2 axes");
    nn_refused(tc_gumbel_softmax(x, 0, false, -1, NULL), "tau is 0");
    nn_refused(tc_embedding_bag(x, i, TC_BAG_SUM, NULL, -1), "indices of 1");
    nn_refused(tc_embedding_bag(x, two, TC_BAG_MEAN, x, -1), "shares are of sums");
    nn_refused(tc_embedding_bag_offsets(x, two, i, TC_BAG_SUM, NULL), "indices and offsets of 2 and 1");
    nn_refused(tc_embedding_bag_offsets(x, i, i, TC_BAG_MAX, NULL), "of sums and means");
    CHECK(!tc_embedding_padded(x, tc_full(TC_DIMS(2), 3, TC_I64), 0) && tc_error_code() == TC_ERROR_INDEX);
    tc_clear_error();
    CHECK(!tc_glu(NULL, 0) && !tc_hardshrink(NULL, 1));
    tc_clear_error();
  }
}

int main(void) {
  NN_CHECK(other, functions);
  check_gumbel();
  check_refused();
  return 0;
}

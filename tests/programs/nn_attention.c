/* tcompile/nn/attention.h: attention with every option is one kernel, which holds no array of scores; rotary positions. */
#define NN_ATTENTION
#include "nn.h"

#define Q "f32[B,H,T,D]"
#define K "f32[B,H,S,D]"
#define V "f32[B,H,S,E]"
#define OPTIONS(...) ((tc_attention_options){__VA_ARGS__})

/* A mask without rows 1 and 3, and keys 0 and 1. */
static inline tc_tensor *behind(const tc_tensor *mask) {
  const tc_tensor *row = tc_reshape(tc_arange(tc_size(mask, 2), 0, 1, TC_I64), TC_DIMS(tc_size(mask, 2), 1));
  const tc_tensor *empty = tc_logical_or(tc_eq_s(row, 1), tc_eq_s(row, 3)), *key = tc_arange(tc_size(mask, 3), 0, 1, TC_I64);
  return tc_logical_and(mask, tc_logical_and(tc_logical_not(empty), tc_ge_s(key, 2)));
}

NN3(plain, 3, Q, K, V, tc_attention(a, b, c, OPTIONS(0)))
NN3(scaled, 3, Q, K, V, tc_attention(a, b, c, OPTIONS(.scale = 0.3)))
NN3(causal, 3, Q, K, V, tc_attention(a, b, c, OPTIONS(.causal = true)))
NN3(late, 3, Q, K, V, tc_attention(a, b, c, OPTIONS(.causal = true, .offset = tc_size(b, 2) - tc_size(a, 2), .window = 6)))
NN3(local, 3, Q, K, V, tc_attention(a, b, c, OPTIONS(.window = 3)))
NN3(grouped, 3, "f32[B,6,T,D]", "f32[B,2,S,D]", "f32[B,2,S,E]", tc_attention(a, b, c, OPTIONS(.causal = true)))
NN3(shared, 3, "f32[B,4,T,D]", "f32[B,1,S,D]", "f32[B,1,S,E]", tc_attention(a, b, c, OPTIONS(0)))
NN5(masked, 4, Q, K, V, "f32[H,1,S]", "bool[B,1,T,S]", tc_attention(a, b, c, OPTIONS(.bias = d, .mask = e)))
NN5(capped, 4, Q, K, V, "f32[H]", "i64[B]",
    tc_attention(a, b, c, OPTIONS(.softcap = 2.5, .slopes = d, .lengths = tc_add_s(e, 1))))
/* Queries that see no key are 0, and have gradients. */
NN4(padded, 3, Q, K, V, "bool[B,1,T,S]", tc_attention(a, b, c, OPTIONS(.mask = behind(d), .empty_is_zero = true)))
NN4(shorter, 3, Q, K, V, "i64[B]",
    tc_attention(a, b, c, OPTIONS(.causal = true, .window = 4, .lengths = d, .empty_is_zero = true)))
NN3(images, 3, "f32[T,D]", "f32[S,D]", "f32[S,E]", tc_attention(a, b, c, OPTIONS(0)))
NN3(rope_halves, 3, "f32[B,H,T,8]", "f32[T,4]", "f32[T,4]", tc_rope(a, b, c, false))
NN3(rope_pairs, 3, "f32[B,H,T,D%2]", "f32[T,J]", "f32[T,J]", tc_rope(a, b, c, true))

static const nn_function functions[] = {
    NN_ROW(plain),  NN_ROW(scaled), NN_ROW(causal), NN_ROW(late),        NN_ROW(local),      NN_ROW(grouped), NN_ROW(shared),
    NN_ROW(masked), NN_ROW(capped), NN_ROW(images), NN_ROW(rope_halves), NN_ROW(rope_pairs),
    NN_ROW(padded), NN_ROW(shorter),
};

/* One kernel, in f32 and bf16; gradients are not asked for. */
#define FUSED(name, q, k, v, ...) FUSED_WITH(name, "max_kernels=1", q, k, v, __VA_ARGS__)
#define FUSED_WITH(name, kernels, q, k, v, ...)                                                                        \
  TC_COMPILE_WITH("fullgraph", "grad=off", kernels)                                                                    \
  static tc_tensor *name(NN_OPERAND(a, q), NN_OPERAND(b, k), NN_OPERAND(c, v), NN_OPERAND(slopes, "f32[H]"),           \
                         NN_OPERAND(lengths, "i64[B]"), tc_generator *g) {                                             \
    (void)slopes, (void)lengths, (void)g;                                                                              \
    return tc_attention(a, b, c, OPTIONS(__VA_ARGS__));                                                                \
  }
FUSED(all_options, Q, K, V, .causal = true, .window = 5, .lengths = lengths, .slopes = slopes, .softcap = 20,
      .offset = tc_size(b, 2) - tc_size(a, 2))
FUSED(all_options_bf16, "bf16[B,H,T,D]", "bf16[B,H,S,D]", "bf16[B,H,S,E]", .causal = true, .window = 5,
      .lengths = lengths, .slopes = slopes, .softcap = 20, .offset = tc_size(b, 2) - tc_size(a, 2))
FUSED(groups, "f32[B,4,T,D]", "f32[B,2,S,D]", "f32[B,2,S,E]", .causal = true, .lengths = lengths)
FUSED_WITH(never_empty, "max_kernels=2", Q, K, V, .causal = true, .lengths = lengths, .empty_is_zero = true) /* and who sees any */
FUSED(dropping, Q, K, V, .causal = true, .dropout = 0.3, .generator = g)

typedef tc_tensor *fused(const tc_tensor *, const tc_tensor *, const tc_tensor *, const tc_tensor *, const tc_tensor *,
                         tc_generator *);

static void compare(fused *f, const char *name, int64_t groups, tc_dtype dtype, double tolerance) {
  TC_SCOPE {
    const tc_tensor *q = tc_randn(TC_DIMS(2, 4, 19, 8), 1, dtype), *k = tc_randn(TC_DIMS(2, groups, 25, 8), 2, dtype);
    const tc_tensor *v = tc_randn(TC_DIMS(2, groups, 25, 6), 3, dtype), *slopes = tc_alibi_slopes(4);
    const tc_tensor *lengths = tc_from(TC_DIMS(2), (int64_t[]){25, 17}, TC_I64);
    tc_generator first = tc_generator_of(5), second = first;
    const uint64_t hits = hits_of(name);
    const tc_tensor *got = f(q, k, v, slopes, lengths, &first);
    CHECK(!NN_COMPILED || hits_of(name) == hits + 1);
    tc_set_enabled(false);
    const tc_tensor *want = f(q, k, v, slopes, lengths, &second);
    tc_set_enabled(true);
    CHECK(got && want && first.offset == second.offset);
    if (!(tc_max_abs_diff(got, want) <= tolerance)) fprintf(stderr, "%s: off by %g\n", name, tc_max_abs_diff(got, want));
    CHECK(tc_max_abs_diff(got, want) <= tolerance);
  }
}

/* Half of the weights are dropped, others doubled: of equal values the mean is the value. */
static void check_dropout(void) {
  TC_SCOPE {
    const tc_tensor *q = tc_zeros(TC_DIMS(1, 8, 64, 4), TC_F32), *v = tc_ones(TC_DIMS(1, 8, 64, 4), TC_F32);
    tc_generator g = tc_generator_of(9);
    const tc_tensor *y = tc_attention(q, q, v, OPTIONS(.dropout = 0.5, .generator = &g));
    const double mean = tc_item(tc_mean(y, TC_ALL, false)), spread = tc_item(tc_std(y, TC_ALL, 0, false));
    CHECK(g.offset == 1 && fabs(mean - 1) < 0.02 && fabs(spread - 0.125) < 0.02);
  }
}

static void check_tables(void) {
  TC_SCOPE {
    tc_tensor *sines, *cosines = tc_rope_tables(3, 5, 4, 10000, &sines);
    CHECK(fabs(tc_at(cosines, TC_INTS(2, 1)) - cos(7 * 0.01)) < 1e-6 && fabs(tc_at(sines, TC_INTS(1, 0)) - sin(6)) < 1e-6);
    CHECK(fabs(tc_at(tc_alibi_slopes(8), TC_INTS(1)) - 0.25) < 1e-7);
  }
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *q = tc_ones(TC_DIMS(2, 4, 3, 8), TC_F32), *k = tc_ones(TC_DIMS(2, 3, 3, 8), TC_F32);
    tc_tensor *sin;
    nn_refused(tc_attention(q, tc_select(k, 0, 0), k, OPTIONS(0)), "q, k and v have 4, 3 and 4 axes");
    nn_refused(tc_attention(q, k, k, OPTIONS(0)), "4 heads of queries, 3 of keys and 3 of values");
    nn_refused(tc_attention(q, q, q, OPTIONS(.dropout = 1)), "1 is no probability");
    nn_refused(tc_attention(q, q, q, OPTIONS(.slopes = q)), "slopes [H]");
    nn_refused(tc_attention(q, tc_ones(TC_DIMS(2, 4, 3, 7), TC_F32), q, OPTIONS(0)), "inner sizes differ");
    nn_refused(tc_rope(q, tc_ones(TC_DIMS(3, 3), TC_F32), tc_ones(TC_DIMS(3, 4), TC_F32), false), "8 elements, cosines for 3");
    nn_refused(tc_rope_tables(3, 0, 5, 10000, &sin), "3 places of 5 elements");
    nn_refused(tc_alibi_slopes(0), "0 heads");
    CHECK(!tc_attention(NULL, q, q, OPTIONS(0)));
    tc_clear_error();
  }
}

int main(void) {
  NN_CHECK(attention, functions);
  compare(all_options, "all_options", 4, TC_F32, 1e-5);
  compare(all_options_bf16, "all_options_bf16", 4, TC_BF16, 0.05);
  compare(never_empty, "never_empty", 4, TC_F32, 1e-5);
  compare(groups, "groups", 2, TC_F32, 1e-5);
  compare(dropping, "dropping", 4, TC_F32, 1e-5);
  check_dropout();
  check_tables();
  check_refused();
  return 0;
}

/* Philox4x32-10 against the known answers of its authors, and the numbers made from it. */
#include <criterion/criterion.h>

#include "runtime/libtcrt/src/eager/philox.h"

static void expect(tc_philox_block b, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
  cr_expect_eq(b.word[0], w0);
  cr_expect_eq(b.word[1], w1);
  cr_expect_eq(b.word[2], w2);
  cr_expect_eq(b.word[3], w3);
}

Test(philox, known_answer_for_zero) {
  expect(tc_philox(0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
}

/* The definition again, written with arrays and all of the counter, as the paper has it. */
static tc_philox_block reference(const uint32_t counter[4], const uint32_t key[2]) {
  uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int r = 0; r < 10; r++) {
    uint64_t a = 0xD2511F53ull * x[0], b = 0xCD9E8D57ull * x[2];
    uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k[0], (uint32_t)b,
                     (uint32_t)(a >> 32) ^ x[3] ^ k[1], (uint32_t)a};
    for (int i = 0; i < 4; i++) x[i] = y[i];
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return (tc_philox_block){{x[0], x[1], x[2], x[3]}};
}

/* The vectors for philox4x32 with 10 rounds of Random123's kat_vectors. */
Test(philox, known_answers_of_random123) {
  const uint32_t ones[4] = {~0u, ~0u, ~0u, ~0u},
                 pi[6] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0};
  expect(reference((uint32_t[4]){0}, (uint32_t[2]){0}), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
         0x9b00dbd8);
  expect(reference(ones, ones), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expect(reference(pi, pi + 4), 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}

Test(philox, follows_the_definition_for_all_words) {
  uint64_t s = 0x0123456789abcdef;
  for (int i = 0; i < 1000; i++) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    const uint64_t block = s >> 7 | s << 57;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)i, 0};
    tc_philox_block want = reference(counter, (uint32_t[2]){(uint32_t)s, (uint32_t)(s >> 32)});
    expect(tc_philox(s, block, (uint32_t)i), want.word[0], want.word[1], want.word[2],
           want.word[3]);
  }
}

Test(philox, uniforms_stay_below_one_and_are_exact_in_their_type) {
  for (uint64_t i = 0; i < 100000; i++) {
    float f = tc_philox_uniform_f32(1, i), h = tc_philox_uniform_f16(1, i);
    float b = tc_philox_uniform_bf16(1, i);
    double d = tc_philox_uniform_f64(1, i);
    cr_assert(f >= 0 && f < 1 && h >= 0 && h < 1 && b >= 0 && b < 1 && d >= 0 && d < 1);
    cr_assert_eq(f * 0x1p24f, (float)(uint32_t)(f * 0x1p24f));
    cr_assert_eq(h, floorf(f * 0x1p11f) * 0x1p-11f);
    cr_assert_eq(b, floorf(f * 0x1p8f) * 0x1p-8f);
  }
}

/* Mean 0, variance 1, fourth moment 3, within five standard errors of n samples. */
static void expect_normal(double (*sample)(uint64_t i)) {
  enum { N = 1000000 };
  double s1 = 0, s2 = 0, s4 = 0, pair = 0, before = 0;
  for (uint64_t i = 0; i < N; i++) {
    double z = sample(i);
    s1 += z;
    s2 += z * z;
    s4 += z * z * z * z;
    pair += z * before;
    before = z;
  }
  cr_expect_lt(fabs(s1 / N), 5 / sqrt(N));
  cr_expect_lt(fabs(s2 / N - 1), 5 * sqrt(2.0 / N));
  cr_expect_lt(fabs(s4 / N - 3), 5 * sqrt(96.0 / N));
  cr_expect_lt(fabs(pair / N), 5 / sqrt(N));
}

static double normal_f32(uint64_t i) { return tc_philox_normal_f32(42, i); }
static double normal_f64(uint64_t i) { return tc_philox_normal_f64(42, i); }

Test(philox, normals_have_the_moments_of_normals) {
  expect_normal(normal_f32);
  expect_normal(normal_f64);
}

Test(philox, seeds_and_far_counters_differ) {
  cr_expect_neq(tc_philox_uniform_f64(1, 0), tc_philox_uniform_f64(2, 0));
  cr_expect_neq(tc_philox_uniform_f64(1, 0), tc_philox_uniform_f64(1ull << 32 | 1, 0));
  cr_expect_neq(tc_philox_uniform_f64(1, 0), tc_philox_uniform_f64(1, 1ull << 40));
  cr_expect_neq(tc_philox_uniform_f32(1, 0), tc_philox_uniform_f32(1, 1ull << 34));
}

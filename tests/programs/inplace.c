/* Writes to parameters: compiled when the written tensor overlaps nothing else, nor itself, the body otherwise. */
#include "check.h"

TC_COMPILE static void update(tc_tensor *w TC_SHAPE("f32[N]"), const tc_tensor *g TC_SHAPE("f32[N]"), double rate) {
  tc_sub_(w, tc_mul_s(g, rate));
}

TC_COMPILE static tc_tensor *shifted(tc_tensor *w TC_SHAPE("f32[N]"), const tc_tensor *g TC_SHAPE("f32[N]")) {
  tc_tensor *old = tc_mul_s(w, 10);
  tc_add_(w, g);
  return tc_add(old, w);
}

static void check_update(tc_tensor *w, const tc_tensor *g, bool hit, int line) {
  tc_tensor *want = tc_sub(w, tc_mul_s(g, 0.5));
  uint64_t hits = hits_of("update");
  update(w, g, 0.5);
  if (!tc_allclose(w, want, 1.3e-6, 1e-6) || (hits_of("update") - hits) != hit) {
    fprintf(stderr, "inplace.c:%d: %s\n", line, tc_allclose(w, want, 1.3e-6, 1e-6) ? "counters" : "wrong values");
    exit(1);
  }
}

int main(void) {
  TC_SCOPE {
    tc_tensor *w = tc_randn(TC_DIMS(1000), 1, TC_F32), *g = tc_randn(TC_DIMS(1000), 2, TC_F32);
    check_update(w, g, true, __LINE__);
    check_update(w, tc_flip(g, TC_AXES(0)), true, __LINE__);       /* a strided operand is packed */
    check_update(w, tc_slice(w, 0, 0, 1000, 1), false, __LINE__);  /* the same memory */
    tc_tensor *all = tc_randn(TC_DIMS(1500), 3, TC_F32);
    check_update(tc_slice(all, 0, 0, 1000, 1), tc_slice(all, 0, 500, 1500, 1), false, __LINE__); /* overlap */
    check_update(tc_slice(all, 0, 0, 500, 1), tc_slice(all, 0, 500, 1000, 1), true, __LINE__);   /* neighbours */
    check_update(tc_slice(all, 0, 0, 1000, 2), tc_slice(g, 0, 0, 500, 1), true, __LINE__);       /* strided target: packed, and copied back */

    tc_tensor *before = tc_clone(w), *want_w = tc_add(w, g), *want = tc_add(tc_mul_s(before, 10), want_w);
    uint64_t hits = hits_of("shifted");
    tc_tensor *got = shifted(w, g);
    CHECK(got && tc_allclose(got, want, 1.3e-6, 1e-5) && tc_allclose(w, want_w, 1.3e-6, 1e-5));
    CHECK(hits_of("shifted") == hits + 1);

    float *constant = malloc(1000 * sizeof *constant);
    CHECK(constant);
    for (int i = 0; i < 1000; i++) constant[i] = 1;
    tc_tensor *frozen = tc_wrap_const(TC_DIMS(1000), NULL, constant, TC_F32);
    update(frozen, g, 0.5); /* read-only: the guard refuses, the body reports, nothing is written */
    CHECK(tc_error() && constant[0] == 1 && constant[999] == 1);
    tc_clear_error();
    free(constant);
  }
  puts("inplace: ok");
  return 0;
}

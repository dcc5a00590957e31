/* pointwise.c - five functions of elements, columns and whole tensors. */
#include <tcompile.h>

TC_COMPILE tc_tensor *adam_step(tc_tensor *w TC_SHAPE("f32[N]"), tc_tensor *m TC_SHAPE("f32[N]"),
                                tc_tensor *v TC_SHAPE("f32[N]"),
                                const tc_tensor *g TC_SHAPE("f32[N]"), double rate) {
  tc_copy_(m, tc_lerp(m, g, 0.1));
  tc_copy_(v, tc_lerp(v, tc_square(g), 0.001));
  return tc_sub_(w, tc_mul_s(tc_div(m, tc_add_s(tc_sqrt(v), 1e-8)), rate));
}

TC_COMPILE tc_tensor *standardize(const tc_tensor *x TC_SHAPE("f32[N,D]")) {
  tc_tensor *mean = tc_mean(x, TC_AXES(0), true), *deviation = tc_std(x, TC_AXES(0), 0, true);
  return tc_div(tc_sub(x, mean), tc_add_s(deviation, 1e-6));
}

TC_COMPILE tc_tensor *heat(const tc_tensor *u TC_SHAPE("f32[H,W]")) {
  tc_tensor *rows = tc_add(tc_roll(u, 1, 0), tc_roll(u, -1, 0)),
            *columns = tc_add(tc_roll(u, 1, 1), tc_roll(u, -1, 1));
  return tc_add(u, tc_mul_s(tc_sub(tc_add(rows, columns), tc_mul_s(u, 4)), 0.1));
}

TC_COMPILE tc_tensor *huber(const tc_tensor *x TC_SHAPE("f32[N]"),
                            const tc_tensor *y TC_SHAPE("f32[N]")) {
  tc_tensor *d = tc_abs(tc_sub(x, y));
  return tc_mean(tc_where(tc_lt_s(d, 1), tc_mul_s(tc_square(d), 0.5), tc_sub_s(d, 0.5)), TC_ALL,
                 false);
}

TC_COMPILE tc_tensor *turned(const tc_tensor *x TC_SHAPE("f32[B,C,H,W]")) {
  return tc_contiguous(tc_permute(tc_clamp(x, 0, 1), TC_AXES(0, 2, 3, 1)));
}

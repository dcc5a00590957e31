// A step with a number that is a size's factor, two results and a written operand; the program writes operands, and
// what the body gives, to .npy files.
#include <tcompile.h>

TC_COMPILE TC_SPECIALIZE("N=1") tc_tensor *step(tc_tensor *m TC_SHAPE("f32[N,4]"), const tc_tensor *g TC_SHAPE("f32[N,4]"),
                                                double decay, int power, tc_tensor **norm) {
  tc_add_(tc_mul_s_(m, decay), tc_mul_s(g, 1 - decay));
  *norm = tc_sqrt(tc_sum(tc_square(g), TC_ALL, false));
  return tc_pow_s(tc_div(m, *norm), power);
}

static void save(int64_t rows, const char *m_path, const char *g_path) {
  tc_save_npy(m_path, tc_randn(TC_DIMS(rows, 4), 1, TC_F32));
  tc_save_npy(g_path, tc_randn(TC_DIMS(rows, 4), 2, TC_F32));
}

int main(void) {
  TC_SCOPE {
    save(6, "m.npy", "g.npy");
    save(1, "one_m.npy", "one_g.npy");
    tc_set_enabled(false);
    tc_tensor *m = tc_load_npy("m.npy"), *norm, *y = step(m, tc_load_npy("g.npy"), 0.9, 3, &norm);
    return !(y && tc_save_npy("body0.npy", y) && tc_save_npy("body1.npy", norm) && tc_save_npy("body2.npy", m));
  }
}

// Signals: pre-emphasis, overlapping windows through an FIR bank, and biquads along the samples.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { WINDOW = 16, HOP = 8, BANDS = 4, SECTIONS = 2 };

struct biquad { double b0, b1, b2, a1, a2; };

static const struct biquad lowpass[SECTIONS] = {
    {0.0675, 0.1349, 0.0675, -1.1430, 0.4128},
    {0.0976, 0.1953, 0.0976, -0.9428, 0.3333},
};

static tc_tensor *hann(void) {
  tc_tensor *phase = tc_arange(WINDOW, 0, 2 * 3.14159265358979 / WINDOW, TC_F32);
  return tc_mul_s(tc_rsub_s(tc_cos(phase), 1), 0.5);
}

/* Log energy of each band in each window: x [C,T], bank [WINDOW,BANDS], out [C,frames,BANDS]; rows
 * past the end stay.  Returns the number of frames. */
TC_COMPILE static int64_t features(const tc_tensor *x TC_SHAPE("f32[C,T]"), const tc_tensor *bank TC_SHAPE("f32[16,4]"),
                                   tc_tensor *out TC_SHAPE("f32[C,F,4]"), float emphasis) {
  const int64_t n = tc_size(x, 1);
  int64_t frame = 0;
  TC_SCOPE {
    tc_tensor *first = tc_slice(x, 1, 0, 1, 1);
    tc_tensor *rest = tc_sub(tc_slice(x, 1, 1, n, 1), tc_mul_s(tc_slice(x, 1, 0, n - 1, 1), emphasis));
    tc_tensor *e = tc_concat((const tc_tensor *[]){first, rest}, 2, 1);
    tc_tensor *window = hann();
    for (int64_t at = 0; at + WINDOW <= n && frame < tc_size(out, 1); at += HOP, frame++)
      TC_SCOPE {
        tc_tensor *w = tc_mul(tc_slice(e, 1, at, at + WINDOW, 1), window);
        tc_tensor *energy = tc_square(tc_matmul(w, bank));
        tc_copy_(tc_select(out, 1, frame), tc_log(tc_add_s(energy, 1e-6)));
      }
  }
  return frame;
}

/* Direct form II transposed, all channels of x [T,C] at once, in place. */
TC_COMPILE static void cascade(tc_tensor *x TC_SHAPE("f32[T,C]")) {
  for (int s = 0; s < SECTIONS; s++) {
    const struct biquad *q = &lowpass[s];
    TC_SCOPE {
      tc_tensor *z1 = tc_zeros(TC_DIMS(tc_size(x, 1)), TC_F32), *z2 = tc_zeros_like(z1);
      for (int64_t t = 0; t < tc_size(x, 0); t++)
        TC_SCOPE {
          tc_tensor *in = tc_clone(tc_select(x, 0, t));
          tc_tensor *y = tc_add(tc_mul_s(in, q->b0), z1);
          tc_copy_(z1, tc_add(tc_sub(tc_mul_s(in, q->b1), tc_mul_s(y, q->a1)), z2));
          tc_copy_(z2, tc_sub(tc_mul_s(in, q->b2), tc_mul_s(y, q->a2)));
          tc_copy_(tc_select(x, 0, t), y);
        }
    }
  }
}

static void run(int scale) {
  int64_t channels = 3 * scale, samples = 64 * scale;
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(channels, samples), 1, TC_F32);
    tc_tensor *bank = tc_randn(TC_DIMS(WINDOW, BANDS), 2, TC_F32);
    tc_tensor *out = tc_zeros(TC_DIMS(channels, 1 + (samples - WINDOW) / HOP, BANDS), TC_F32);
    printf("%d frames\n", (int)features(x, bank, out, 0.97f));
    show(out);
    tc_tensor *rows = tc_clone(tc_transpose(x, 0, 1));
    cascade(rows);
    show(rows);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'features' compiled: 18 ops in {{[0-9]+}} kernel{{s?}}, 2 segments 
// CHECK-DAG: remark: graph break in 'features': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: remark: 'cascade' compiled: 17 ops in {{[0-9]+}} kernel{{s?}}, 2 segments 
// CHECK-DAG: remark: graph break in 'cascade': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: cascade {{.*}} 512 0 0 
// CHECK-DAG: cascade {{.*}} 4 0 0 
// CHECK-DAG: features {{.*}} 30 0 0 
// CHECK-DAG: features {{.*}} 2 0 0 

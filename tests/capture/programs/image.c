// Images by bands of rows: padding after the border mode, a separable blur, gradients, a tone curve.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum border { BORDER_ZERO, BORDER_EDGE, BORDER_MIRROR };
enum { TAPS = 5, R = TAPS / 2, BAND = 8 };

static const float gauss[TAPS] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* r more rows or columns at both ends of an axis. */
static tc_tensor *pad_axis(const tc_tensor *x, int axis, int64_t r, enum border mode) {
  int64_t n = tc_size(x, axis);
  tc_tensor *head = NULL, *tail = NULL;
  switch (mode) {
  case BORDER_ZERO: {
    tc_ints by = axis == 0 ? TC_DIMS(r, 0) : TC_DIMS(0, r);
    return tc_pad(x, by, by, 0);
  }
  case BORDER_EDGE: {
    tc_ints to = axis == 0 ? TC_DIMS(r, -1) : TC_DIMS(-1, r);
    head = tc_expand(tc_slice(x, axis, 0, 1, 1), to);
    tail = tc_expand(tc_slice(x, axis, n - 1, n, 1), to);
    break;
  }
  case BORDER_MIRROR:
    head = tc_flip(tc_slice(x, axis, 1, r + 1, 1), TC_AXES(axis));
    tail = tc_flip(tc_slice(x, axis, n - 1 - r, n - 1, 1), TC_AXES(axis));
    break;
  }
  return tc_concat((const tc_tensor *[]){head, x, tail}, 3, axis);
}

/* The padded axis shrinks by 2 R. */
static tc_tensor *convolve(const tc_tensor *padded, int axis, const float k[static TAPS]) {
  int64_t n = tc_size(padded, axis) - 2 * R;
  tc_tensor *sum = NULL;
  for (int i = 0; i < TAPS; i++) {
    tc_tensor *term = tc_mul_s(tc_slice(padded, axis, i, n + i, 1), k[i]);
    sum = sum ? tc_add(sum, term) : term;
  }
  return sum;
}

static tc_tensor *blur(const tc_tensor *x, enum border mode) {
  return convolve(pad_axis(convolve(pad_axis(x, 0, R, mode), 0, gauss), 1, R, mode), 1, gauss);
}

/* Unsharp masking of a whole picture: u8 in, u8 out. */
TC_COMPILE static int sharpen(tc_tensor *out TC_SHAPE("u8[H,W]"), const tc_tensor *in TC_SHAPE("u8[H,W]"),
                   enum border mode, float amount) {
  int status = -1;
  tc_tensor *soft = NULL, *sharp = NULL, *x = tc_cast(in, TC_F32);
  if (!x) goto cleanup;
  TC_SCOPE {
    soft = blur(x, mode);
    if (!soft) goto cleanup;
    sharp = tc_add(x, tc_mul_s(tc_sub(x, soft), amount));
    if (!tc_copy_(out, tc_round(tc_clamp(sharp, 0, 255)))) goto cleanup;
  }
  status = 0;
cleanup:
  tc_free(x);
  return status;
}

/* |gradient| by bands of rows, so that the working set stays in the cache. */
TC_COMPILE static bool edges(tc_tensor *out TC_SHAPE("f32[H,W]"), const tc_tensor *in TC_SHAPE("f32[H,W]"), double gamma) {
  const int64_t h = tc_size(in, 0), w = tc_size(in, 1);
  for (int64_t y = 0; y < h; y += BAND) {
    int64_t y1 = min64(y + BAND, h), lo = max64(y - 1, 0), hi = min64(y1 + 1, h);
    bool ok = false;
    TC_SCOPE {
      tc_tensor *band = tc_slice(in, 0, lo, hi, 1);
      band = tc_pad(band, TC_DIMS(lo == y, 1), TC_DIMS(hi == y1, 1), 0);
      int64_t rows = y1 - y;
      tc_tensor *gx = tc_sub(tc_slice(band, 1, 2, w + 2, 1), tc_slice(band, 1, 0, w, 1));
      tc_tensor *gy = tc_sub(tc_slice(band, 0, 2, rows + 2, 1), tc_slice(band, 0, 0, rows, 1));
      tc_tensor *m = tc_hypot(tc_slice(gx, 0, 1, rows + 1, 1), tc_slice(gy, 1, 1, w + 1, 1));
      ok = tc_copy_(tc_slice(out, 0, y, y1, 1), tc_pow_s(m, gamma)) != NULL;
    }
    if (!ok) return false;
  }
  return true;
}

static void run(int scale) {
  int64_t h = 19 * scale, w = 22 * scale;
  TC_SCOPE {
    tc_tensor *f = tc_mul_s(tc_rand(TC_DIMS(h, w), 5, TC_F32), 255);
    tc_tensor *in = tc_cast(f, TC_U8), *out = tc_zeros_like(in), *e = tc_zeros_like(f);
    for (enum border mode = BORDER_ZERO; mode <= BORDER_MIRROR; mode++) {
      printf("%d\n", sharpen(out, in, mode, 0.75f));
      show(out);
    }
    printf("%d\n", edges(e, f, 0.8));
    show(e);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK: remark: 'sharpen' compiled for mode == 2: 45 ops in {{[0-9]+}} kernels [
// CHECK: remark: 'sharpen' compiled for !(mode == 2) && mode == 1: 45 ops in {{[0-9]+}} kernels [
// CHECK: remark: 'sharpen' compiled for !(mode == 2) && !(mode == 1) && mode == 0: 37 ops in {{[0-9]+}} kernels [
// CHECK-NOT: graph break in 'sharpen'
// CHECK: remark: 'edges' compiled: 14 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK: remark: graph break in 'edges': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: edges {{.*}} 11 0 0 
// CHECK-DAG: sharpen [mode == 2] {{.*}} 2 0 0 
// CHECK-DAG: sharpen [!(mode == 2) && mode == 1] {{.*}} 2 0 0 
// CHECK-DAG: sharpen [!(mode == 2) && !(mode == 1) && mode == 0] {{.*}} 2 0 0 

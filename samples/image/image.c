/* image - a darkroom: 10,000 photographs of clothes on one contact sheet of 2800 x 2800 pixels,
 * blurred, sharpened, outlined and toned.  Every filter is slices, sums and elementwise functions
 * of the whole picture; compiled, `develop` reads and writes the picture a few times instead of
 * once per line. */
#include "common/idx.h"
#include "common/sample.h"

#include <stdlib.h>

/* u8[R*C, 28, 28] to f32[R*28, C*28] in [0,1]: R rows of C pictures. */
TC_COMPILE static tc_tensor *contact_sheet(const tc_tensor *pictures TC_SHAPE("u8[10000,28,28]")) {
  tc_tensor *grid =
      tc_permute(tc_reshape(pictures, TC_DIMS(100, 100, 28, 28)), TC_AXES(0, 2, 1, 3));
  return tc_div_s(tc_cast(tc_reshape(grid, TC_DIMS(2800, 2800)), TC_F32), 255);
}

/* The picture that lies `shift` pixels further along an axis, of one with a margin on both sides.
 */
static tc_tensor *shifted(const tc_tensor *padded, int axis, int shift, int margin) {
  return tc_slice(padded, axis, shift, tc_size(padded, axis) - 2 * margin + shift, 1);
}

static tc_tensor *with_margin(const tc_tensor *p, int axis, int margin) {
  tc_ints sides = axis == 0 ? TC_INTS(margin, 0) : TC_INTS(0, margin);
  return tc_pad(p, sides, sides, 0);
}

/* Weights 1 4 6 4 1 along one axis: a Gaussian of variance 1. */
static tc_tensor *blur_axis(const tc_tensor *p, int axis) {
  tc_tensor *q = with_margin(p, axis, 2);
  tc_tensor *outer = tc_add(shifted(q, axis, 0, 2), shifted(q, axis, 4, 2));
  tc_tensor *inner = tc_add(shifted(q, axis, 1, 2), shifted(q, axis, 3, 2));
  tc_tensor *sum = tc_add(tc_add(outer, tc_mul_s(inner, 4)), tc_mul_s(shifted(q, axis, 2, 2), 6));
  return tc_div_s(sum, 16);
}

TC_COMPILE static tc_tensor *blur(const tc_tensor *p TC_SHAPE("f32[H,W]")) {
  return blur_axis(blur_axis(p, 0), 1);
}

/* Weights 1 2 1 along one axis, and -1 0 1. */
static tc_tensor *smooth(const tc_tensor *p, int axis) {
  tc_tensor *q = with_margin(p, axis, 1);
  tc_tensor *sides = tc_add(shifted(q, axis, 0, 1), shifted(q, axis, 2, 1));
  return tc_add(sides, tc_mul_s(p, 2));
}

static tc_tensor *difference(const tc_tensor *p, int axis) {
  tc_tensor *q = with_margin(p, axis, 1);
  return tc_sub(shifted(q, axis, 2, 1), shifted(q, axis, 0, 1));
}

/* Sobel's gradient, by its length: 0 on plain areas, up to about 1 on hard edges. */
TC_COMPILE static tc_tensor *outline(const tc_tensor *p TC_SHAPE("f32[H,W]")) {
  tc_tensor *across = difference(smooth(p, 0), 1), *down = difference(smooth(p, 1), 0);
  return tc_div_s(tc_sqrt(tc_add(tc_square(across), tc_square(down))), 4);
}

static tc_tensor *unsharp_mask(const tc_tensor *p, double amount) {
  return tc_clamp(tc_add(p, tc_mul_s(tc_sub(p, blur_axis(blur_axis(p, 0), 1)), amount)), 0, 1);
}

static tc_tensor *gamma_correct(const tc_tensor *p, double gamma) { return tc_pow_s(p, 1 / gamma); }

/* 3 x^2 - 2 x^3: deeper shadows, brighter lights. */
static tc_tensor *tone_curve(const tc_tensor *p) {
  return tc_mul(tc_square(p), tc_rsub_s(tc_mul_s(p, 2), 3));
}

/* The whole chain. */
TC_COMPILE static tc_tensor *develop(const tc_tensor *p TC_SHAPE("f32[H,W]")) {
  tc_tensor *toned = tone_curve(gamma_correct(unsharp_mask(p, 0.8), 1.4));
  return tc_clamp(tc_sub(toned, tc_mul_s(outline(p), 0.25)), 0, 1);
}

TC_COMPILE static tc_tensor *to_bytes(const tc_tensor *p TC_SHAPE("f32[H,W]")) {
  return tc_cast(tc_round(tc_mul_s(p, 255)), TC_U8);
}

/* u8[H,W], wherever it is, as a PGM file. */
static void write_pgm(const char *path, const tc_tensor *on_device) {
  const tc_tensor *picture = sample_check(tc_to(on_device, TC_CPU));
  size_t h = (size_t)tc_size(picture, 0), w = (size_t)tc_size(picture, 1);
  FILE *f = fopen(path, "wb");
  bool ok = f && fprintf(f, "P5\n%zu %zu\n255\n", w, h) > 0;
  ok = ok && fwrite(tc_cdata(picture), w, h, f) == h;
  if (f && fclose(f) != 0) ok = false;
  if (ok) return;
  perror(path);
  exit(1);
}

static void print_mean(const char *what, const tc_tensor *picture) {
  TC_SCOPE printf("%s: mean %.3f\n", what,
                  tc_item(sample_check(tc_mean(tc_cast(picture, TC_F64), TC_ALL, false))));
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "[--data FOLDER] [--out FILE.pgm]");
  const char *out = sample_option("--out", NULL);
  TC_SCOPE {
    tc_tensor *pictures =
        idx_load(sample_option("--data", FASHION_MNIST), "t10k-images-idx3-ubyte.gz", 10000);
    tc_tensor *sheet = sample_check(contact_sheet(pictures));
    tc_tensor *soft = sample_check(blur(sheet)), *edges = sample_check(outline(sheet));
    tc_tensor *print = sample_check(develop(sheet));
    print_mean("contact sheet", sheet);
    print_mean("blurred", soft);
    print_mean("outline", edges);
    print_mean("developed", print);
    if (out) write_pgm(out, sample_check(to_bytes(print)));
    SAMPLE_MEASURE(contact_sheet, pictures);
    SAMPLE_MEASURE(blur, sheet);
    SAMPLE_MEASURE(outline, sheet);
    SAMPLE_MEASURE(develop, sheet);
    SAMPLE_MEASURE(to_bytes, print);
  }
}

/* One thing wrong at a time: the guard sees it, the body runs, the answer is the body's. */
#include "check.h"

TC_COMPILE static tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[A,A%4,6]"), const tc_tensor *y TC_SHAPE("f32[B<=16,6]"),
                               double s) {
  return tc_add(tc_mul_s(x, s), tc_sum(y, TC_AXES(0), false));
}

static tc_tensor *f_eager(const tc_tensor *x, const tc_tensor *y, double s) {
  return tc_add(tc_mul_s(x, s), tc_sum(y, TC_AXES(0), false));
}

/* Both versions agree, or fail alike; the counters say which ran. */
static void expect(bool hit, const tc_tensor *x, const tc_tensor *y, int line) {
  uint64_t hits = hits_of("f"), misses = fallbacks_of("f");
  tc_tensor *got = f(x, y, 1.5);
  bool failed = got == NULL;
  tc_clear_error();
  uint64_t new_hits = hits_of("f") - hits, new_misses = fallbacks_of("f") - misses;
  tc_tensor *want = f_eager(x, y, 1.5);
  tc_clear_error();
  bool right = failed ? want == NULL : want && tc_allclose(got, want, 1.3e-6, 1e-5) && tc_dtype_of(got) == tc_dtype_of(want);
  if (!right || new_hits != hit || new_misses != !hit) {
    fprintf(stderr, "guards.c:%d: answer %s, hits +%d, fallbacks +%d\n", line, right ? "right" : "wrong", (int)new_hits, (int)new_misses);
    exit(1);
  }
}
#define EXPECT(hit, x, y) expect(hit, x, y, __LINE__)

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(8, 8, 6), 1, TC_F32), *y = tc_randn(TC_DIMS(5, 6), 2, TC_F32);
    EXPECT(true, x, y);
    EXPECT(true, tc_randn(TC_DIMS(4, 4, 6), 1, TC_F32), y);                 /* other symbolic sizes */
    EXPECT(true, x, tc_randn(TC_DIMS(16, 6), 1, TC_F32));                   /* the end of the range */
    EXPECT(true, tc_randn(TC_DIMS(0, 0, 6), 1, TC_F32), y);                 /* empty: 0 is a multiple of 4 */
    EXPECT(false, tc_randn(TC_DIMS(8, 4, 6), 1, TC_F32), y);                /* A twice, unequal */
    EXPECT(false, tc_randn(TC_DIMS(6, 6, 6), 1, TC_F32), y);                /* not a multiple of 4 */
    EXPECT(false, x, tc_randn(TC_DIMS(17, 6), 1, TC_F32));                  /* past the range */
    EXPECT(false, tc_randn(TC_DIMS(8, 8, 1), 1, TC_F32), y);                /* fixed size */
    EXPECT(false, tc_randn(TC_DIMS(8, 8, 7), 1, TC_F32), y);                /* and the body fails too */
    EXPECT(false, tc_randn(TC_DIMS(8, 6), 1, TC_F32), y);                   /* rank */
    EXPECT(false, x, tc_randn(TC_DIMS(1, 5, 6), 1, TC_F32));
    EXPECT(false, tc_randn(TC_DIMS(8, 8, 6), 1, TC_F64), y);                /* dtype */
    EXPECT(false, tc_cast(x, TC_BF16), y);
    EXPECT(false, x, tc_cast(y, TC_I32));
    EXPECT(false, NULL, y);                                                 /* NULL */
    EXPECT(false, x, NULL);
    EXPECT(true, tc_transpose(tc_contiguous(tc_transpose(x, 0, 2)), 0, 2), y); /* strided: packed */
    EXPECT(true, tc_flip(x, TC_AXES(2)), y);                                /* negative stride */
    EXPECT(true, tc_expand(tc_select(x, 0, 0), TC_DIMS(8, 8, 6)), y);       /* stride 0 */
    EXPECT(true, x, tc_slice(tc_randn(TC_DIMS(11, 6), 3, TC_F32), 0, 1, 11, 2));
    char *bytes = malloc(5 * 6 * sizeof(float) + 1);
    CHECK(bytes);
    tc_tensor *unaligned = tc_wrap(TC_DIMS(5, 6), NULL, bytes + 1, TC_F32, NULL, NULL);
    if (unaligned) {
      tc_copy_(unaligned, y);
      EXPECT(true, x, unaligned);                                           /* unaligned data */
    } else {
      tc_clear_error();
    }
    free(bytes);
    tc_set_enabled(false);
    uint64_t hits = hits_of("f");
    CHECK(tc_allclose(f(x, y, 2), f_eager(x, y, 2), 0, 0) && hits_of("f") == hits);
    tc_set_enabled(true);
    EXPECT(true, x, y);
  }
  puts("guards: ok");
  return 0;
}

#include "tests/cuda_stub/device.h"

#include <stdlib.h>
#include <string.h>

static uint64_t word(const stub_launch *l, int i) {
  uint64_t v;
  memcpy(&v, l->args[i], sizeof v);
  return v;
}

enum { AXES = 8, STRIDED_WORDS = 5 + 5 * AXES };

/* What runtime/libtcrt/src/cuda/strided.c says its PTX does, element by element: with its divisions. */
static void strided(const stub_launch *l, size_t size) {
  uint64_t count = word(l, 3), axes = word(l, 4), value = word(l, 2);
  for (uint64_t at = 0; at < count; at++) {
    uint64_t to = word(l, 0), from = word(l, 1), i = at;
    for (int k = 0; k < AXES; k++) {
      const int p = 5 + 5 * k;
      uint64_t step = i;
      bool outermost = axes <= (uint64_t)k + 1;
      if (!outermost) {
        const uint64_t q = (i * word(l, p + 1) >> 32) >> word(l, p + 2);
        step = i - q * word(l, p), i = q;
      }
      to += step * word(l, p + 3);
      from += step * word(l, p + 4);
      if (outermost) break;
    }
    memcpy((void *)(uintptr_t)to, word(l, 1) ? (const void *)(uintptr_t)from : &value, size);
  }
}

static void strided_1(const stub_launch *l) { strided(l, 1); }
static void strided_2(const stub_launch *l) { strided(l, 2); }
static void strided_4(const stub_launch *l) { strided(l, 4); }
static void strided_8(const stub_launch *l) { strided(l, 8); }

/* What runtime/libtcrt/src/cuda/transpose.c says: the source along y, the destination along x, six other
 * axes. */
static void turn(const stub_launch *l, size_t size) {
  const uint64_t nx = word(l, 3), ny = word(l, 4), outer = word(l, 9);
  for (uint64_t at = 0; at < outer * nx * ny; at++) {
    uint64_t x = at % nx, y = at / nx % ny, i = at / (nx * ny);
    uint64_t to = word(l, 0) + x * size + y * word(l, 6);
    uint64_t from = word(l, 1) + x * word(l, 5) + y * size;
    for (int k = 0; k < 6; k++) {
      to += i % word(l, 10 + k) * word(l, 16 + k);
      from += i % word(l, 10 + k) * word(l, 22 + k);
      i /= word(l, 10 + k);
    }
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
  }
}

static void transpose_1(const stub_launch *l) { turn(l, 1); }
static void transpose_2(const stub_launch *l) { turn(l, 2); }
static void transpose_4(const stub_launch *l) { turn(l, 4); }
static void transpose_8(const stub_launch *l) { turn(l, 8); }

void device_begin(void) {
  setenv("TC_CUDA_LIBRARY", TC_STUB_LIBRARY, 1);
  setenv("TC_CUBLASLT_LIBRARY", TC_STUB_LT_LIBRARY, 0);
  setenv("TC_CUDA_OPS", "/nowhere/libtcrt-cuda.so", 0);
  stub_kernel("tc_strided_1", STRIDED_WORDS, strided_1);
  stub_kernel("tc_strided_2", STRIDED_WORDS, strided_2);
  stub_kernel("tc_strided_4", STRIDED_WORDS, strided_4);
  stub_kernel("tc_strided_8", STRIDED_WORDS, strided_8);
  stub_kernel("tc_transpose_1", 28, transpose_1);
  stub_kernel("tc_transpose_2", 28, transpose_2);
  stub_kernel("tc_transpose_4", 28, transpose_4);
  stub_kernel("tc_transpose_8", 28, transpose_8);
}

void device_end(void) {
  stub_fail_at(0);
  tc_trim(); /* copies that were asked for once are done when asked again */
  tc_trim();
  cr_expect_null(stub_misuse(), "%s", stub_misuse());
  cr_expect_eq(stub_live_bytes(), 0, "%zu bytes of device memory are left", stub_live_bytes());
  cr_expect_eq(stub_live(STUB_STREAM), 0);
  cr_expect_eq(stub_live(STUB_EVENT), 0);
  cr_expect_eq(stub_live(STUB_GRAPH), 0);
  cr_expect_eq(stub_live(STUB_EXEC), 0);
  cr_expect_leq(stub_live(STUB_HOST_MEMORY), tc_device_count(TC_CUDA)); /* the index words */
}

tc_tensor *device_counting(tc_ints dims) {
  tc_tensor *x = tc_empty(dims, TC_F32);
  float *v = tc_data(x);
  for (int64_t i = 0; i < tc_numel(x); i++) v[i] = (float)i;
  return x;
}

void device_expect_error(const char *text) {
  const char *error = tc_error();
  cr_expect(error && strstr(error, text), "expected '%s', got '%s'", text, error ? error : "none");
  tc_clear_error();
}

/* What is packed into objects is what the runtime unpacks; corrupt bytes are refused, and nothing
 * outside of the buffers is touched (guards around them; sanitizer builds). */
#include <criterion/criterion.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc/pack.h"
#include "runtime/libtcrt/src/cuda/unpack.h"

static uint64_t state = 88172645463325252u;

static uint32_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 16);
}

/* Texts of every kind: runs, words that repeat at all distances, noise. */
static void fill(unsigned char *bytes, size_t n, int kind) {
  for (size_t i = 0; i < n; ++i) {
    const size_t back = 1 + next() % 90000;
    switch (kind) {
    case 0:
      bytes[i] = 0;
      break;
    case 1:
      bytes[i] = (unsigned char)next();
      break;
    case 2:
      bytes[i] = (unsigned char)("ld.param.u64 %rd1;\n"[i % 19] + (next() % 50 == 0));
      break;
    default:
      bytes[i] = (unsigned char)next();
      for (size_t k = next() % 400; back <= i && k > 0 && i + 1 < n; --k, ++i)
        bytes[i] = bytes[i - back];
    }
  }
}

static bool unpacks(const unsigned char *packed, size_t n, const unsigned char *bytes,
                    size_t size) {
  unsigned char *out = malloc(size + 2);
  out[0] = out[size + 1] = 0xa5;
  const bool done = !tcrt_decompress(packed, n, out + 1, size);
  cr_expect(out[0] == 0xa5 && out[size + 1] == 0xa5, "bytes around the result");
  const bool same = done && memcmp(out + 1, bytes, size) == 0;
  free(out);
  return same;
}

Test(pack, round_trip) {
  static const size_t sizes[] = {1, 63, 64, 65, 77, 100, 4095, 4096, 70000, 300000};
  for (int kind = 0; kind < 4; ++kind)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      const size_t size = sizes[s];
      unsigned char *bytes = malloc(size);
      fill(bytes, size, kind);
      size_t n = 0;
      unsigned char *packed = tc_image_pack(bytes, size, &n);
      if (packed) {
        cr_expect_lt(n, size);
        cr_expect(unpacks(packed, n, bytes, size), "kind %d, %zu bytes", kind, size);
      } else cr_expect(kind == 1 || size < 128, "kind %d, %zu bytes were not packed", kind, size);
      free(packed);
      free(bytes);
    }
}

Test(pack, saves) {
  unsigned char *bytes = malloc(60000);
  size_t n = 0;
  fill(bytes, 60000, 2);
  unsigned char *packed = tc_image_pack(bytes, 60000, &n);
  cr_assert_not_null(packed);
  cr_expect_lt(n, 60000 / 6);
  free(packed);
  free(bytes);
}

/* Several at once are packed as one by one; one that is empty and one of noise stay as they are. */
Test(pack, several) {
  enum { N = 9 };
  for (uint32_t jobs = 0; jobs < 4; ++jobs) {
    tc_pack pack[N] = {0};
    for (int i = 0; i < N; ++i) {
      static unsigned char bytes[30000];
      const size_t size = i == 4 ? 0 : 3000 * (size_t)(i + 1);
      fill(bytes, size, i % 4);
      tc_putn(&pack[i].bytes, (const char *)bytes, size);
    }
    tc_image_pack_all(NULL, pack, N, jobs);
    for (int i = 0; i < N; ++i) {
      size_t n = 0;
      const unsigned char *bytes = (const unsigned char *)pack[i].bytes.text;
      unsigned char *alone = i == 4 ? NULL : tc_image_pack(bytes, pack[i].bytes.len, &n);
      cr_expect((alone == NULL) == (i == 4 || i % 4 == 1), "%d", i);
      cr_expect_eq(alone == NULL, pack[i].packed == NULL, "%d", i);
      cr_expect(!alone || (n == pack[i].size && memcmp(alone, pack[i].packed, n) == 0), "%d", i);
      free(alone);
      free(pack[i].packed);
      tc_buf_free(&pack[i].bytes);
    }
  }
}

/* Every prefix, and bytes changed at random: the exact text or a refusal, never more than the room.
 */
Test(pack, corrupt) {
  unsigned char bytes[3000];
  fill(bytes, sizeof bytes, 2);
  size_t n = 0;
  unsigned char *packed = tc_image_pack(bytes, sizeof bytes, &n);
  cr_assert_not_null(packed);
  for (size_t cut = 0; cut < n; ++cut) {
    unsigned char *part = malloc(cut + 1);
    memcpy(part, packed, cut);
    cr_expect_not(unpacks(part, cut, bytes, sizeof bytes), "cut at %zu", cut);
    free(part);
  }
  cr_expect_not(unpacks(packed, n, bytes, sizeof bytes - 1));
  for (int i = 0; i < 20000; ++i) {
    unsigned char *bad = malloc(n);
    memcpy(bad, packed, n);
    for (int k = 0; k < 3; ++k) bad[next() % n] = (unsigned char)next();
    unpacks(bad, n, bytes, sizeof bytes);
    free(bad);
  }
  free(packed);
}

/* Registers are numbered by their first place in a function, from 0 on, each kind by itself; what looks
 * like one and is none stays. */
Test(pack, ptx_registers) {
  static const char text[] = ".entry a(.param .u64 a_param_0)\n{\n.reg .f32 %f<9>;\n"
                             "mov.u32 %r7, %tid.x;\nadd.s32 %r3, %r7, %r7;\n"
                             "ld.v2.f32 {%f8, %f1}, [%rd12+%r3];\n@%p5 bra $L_3;\n}\n"
                             ".entry b()\n{\nadd.s32 %r3, %r9, 7; // 100%\n}\n";
  static const char want[] = ".entry a(.param .u64 a_param_0)\n{\n.reg .f32 %f<9>;\n"
                             "mov.u32 %r0, %tid.x;\nadd.s32 %r1, %r0, %r0;\n"
                             "ld.v2.f32 {%f0, %f1}, [%rd0+%r1];\n@%p0 bra $L_3;\n}\n"
                             ".entry b()\n{\nadd.s32 %r0, %r1, 7; // 100%\n}\n";
  tc_buf out = {0};
  tc_ptx_renumber(text, &out);
  cr_assert_not(out.failed);
  cr_expect_str_eq(out.text, want);
  cr_expect_eq(out.len, sizeof want, "with its zero byte");
  tc_buf_free(&out);
}

/* Packed bytes are what they were, whatever they are; damaged ones are refused, or something else. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "graph/support/lz.h"

/* Packs and unpacks behind other text; the packed size. */
static size_t round_trip(const char *bytes, size_t n) {
  tc_buf packed = {0}, out = {0};
  tc_lz_pack(bytes, n, &packed);
  tc_put(&out, "before");
  cr_assert(!packed.failed && tc_lz_unpack(packed.text, packed.len, n, &out), "%zu bytes", n);
  cr_expect(out.len == n + 6 && !memcmp(out.text, "before", 6) &&
                (!n || !memcmp(out.text + 6, bytes, n)),
            "%zu bytes", n);
  const size_t size = packed.len;
  tc_buf_free(&packed);
  tc_buf_free(&out);
  return size;
}

static uint64_t next(uint64_t *random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return *random >> 33;
}

Test(lz, any_bytes) {
  uint64_t random = 1;
  enum { MOST = 3000 };
  char bytes[MOST];
  for (int i = 0; i < 2000; ++i) {
    const size_t n = next(&random) % MOST, letters = 1 + next(&random) % (i % 2 ? 256 : 3);
    for (size_t k = 0; k < n; ++k) bytes[k] = (char)(next(&random) % letters);
    if (n > 100) memcpy(bytes + n / 2, bytes, next(&random) % (n / 2)); /* far matches */
    round_trip(bytes, n);
  }
}

Test(lz, what_repeats_is_small) {
  tc_buf rows = {0};
  for (int i = 0; i < 1000; ++i) tc_putf(&rows, "kernel\tmatmul_%d\t12288*B*T+7087104\n", i);
  const size_t size = round_trip(rows.text, rows.len);
  cr_expect(size < rows.len / 4, "%zu of %zu", size, rows.len);
  tc_buf_free(&rows);
  char same[20000];
  memset(same, 'a', sizeof same); /* a match that reaches into itself */
  cr_expect(round_trip(same, sizeof same) < 16);
}

Test(lz, damage_is_seen) {
  static const char text[] = "what stands here, what stands there, and what stands here again";
  tc_buf packed = {0};
  tc_lz_pack(text, sizeof text, &packed);
  uint64_t random = 7;
  for (int i = 0; i < 20000; ++i) {
    tc_buf out = {0};
    unsigned char *damaged = malloc(packed.len); /* of its size, for sanitizers */
    memcpy(damaged, packed.text, packed.len);
    damaged[next(&random) % packed.len] = (unsigned char)next(&random);
    const bool fine = tc_lz_unpack(damaged, packed.len, sizeof text, &out);
    cr_expect(out.len <= sizeof text && (!fine || out.len == sizeof text));
    free(damaged);
    tc_buf_free(&out);
  }
  tc_buf out = {0};
  for (size_t n = 0; n < packed.len; ++n)
    cr_expect_not(tc_lz_unpack(packed.text, n, sizeof text, &out), "%zu", n);
  cr_expect_not(tc_lz_unpack(packed.text, packed.len, sizeof text - 1, &out));
  cr_expect_not(tc_lz_unpack(packed.text, packed.len, sizeof text + 1, &out));
  cr_expect_not(tc_lz_unpack("\1a\1\2", 4, 2, &out), "a distance to before the beginning");
  tc_buf_free(&out);
  tc_buf_free(&packed);
}

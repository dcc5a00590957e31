/* Text buffers, arrays, arenas, hashes, tables. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "graph/support/names.h"
#include "graph/support/table.h"

Test(support, buffers_grow) {
  tc_buf b = {0};
  for (int i = 0; i < 1000; i++) tc_putf(&b, "%d,", i);
  cr_expect_eq(b.len, 3890);
  cr_expect_eq(strlen(b.text), b.len);
  tc_buf_clear(&b);
  cr_expect(b.len == 0 && !*b.text && !b.failed);
  tc_putn(&b, "abc", 2);
  cr_expect_str_eq(b.text, "ab");
  tc_buf_free(&b);
  cr_expect(!b.text);
}

Test(support, doubles_read_back) {
  static const double values[] = {0.0,
                                  -0.0,
                                  1.0,
                                  0.1,
                                  1.0 / 3,
                                  1e300,
                                  5e-324,
                                  -2.5,
                                  1e22,
                                  123456.0,
                                  0x1.fffffep127,
                                  3.0e-5,
                                  9007199254740993.0};
  tc_buf b = {0};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    tc_buf_clear(&b);
    tc_put_double(&b, values[i]);
    double back = strtod(b.text, NULL);
    cr_expect(back == values[i] && signbit(back) == signbit(values[i]), "%s", b.text);
    cr_expect(strpbrk(b.text, ".e"), "%s is an integer literal", b.text);
  }
  tc_buf_clear(&b);
  tc_put_double(&b, 0.1);
  tc_put_double(&b, -INFINITY);
  tc_put_double(&b, NAN);
  cr_expect_str_eq(b.text, "0.1-INFINITYNAN");
  tc_buf_free(&b);
}

Test(support, arena_memory_is_zeroed_and_aligned) {
  tc_arena *a = tc_arena_new();
  for (size_t n = 0; n < 3000; n += 7) {
    unsigned char *p = tc_arena_alloc(a, n * 11);
    cr_assert(p && (uintptr_t)p % 16 == 0);
    for (size_t i = 0; i < n * 11; i++) cr_assert_eq(p[i], 0);
    memset(p, 0xAA, n * 11);
  }
  cr_expect_str_eq(tc_arena_str(a, "text"), "text");
  cr_expect(!tc_arena_alloc(a, SIZE_MAX));
  tc_arena_free(a);
  tc_arena_free(NULL);
}

/* Kernel names are made of these: the values must never change. */
Test(support, hash_is_stable) {
  cr_expect_eq(tc_hash("", 0, 0), tc_hash("", 0, 0));
  cr_expect_neq(tc_hash("a", 1, 0), tc_hash("a", 1, 1));
  cr_expect_neq(tc_hash("a", 1, 0), tc_hash("a\0", 2, 0));
  cr_expect_eq(tc_hash("kernel", 6, 0), UINT64_C(0x16752FDA37B3AB3B));
}

typedef struct {
  int key[5000];
} keys;

static bool equal(const void *owner, uint32_t id, const void *key) {
  return ((const keys *)owner)->key[id] == *(const int *)key;
}

Test(support, table_finds_what_was_added) {
  static keys k;
  tc_table t = {0};
  for (int i = 1; i < 5000; i++) {
    k.key[i] = i * 7;
    cr_assert_eq(tc_table_find(&t, (uint64_t)(i % 50), equal, &k, &k.key[i]), 0u);
    cr_assert(tc_table_add(&t, (uint64_t)(i % 50), (uint32_t)i)); /* many collisions */
  }
  for (int i = 1; i < 5000; i++)
    cr_assert_eq(tc_table_find(&t, (uint64_t)(i % 50), equal, &k, &k.key[i]), (uint32_t)i);
  tc_table_free(&t);
}

Test(support, names_are_numbered) {
  tc_names s = {0};
  bool fresh;
  char text[16];
  for (int i = 0; i < 1000; i++) {
    snprintf(text, sizeof text, "name%d", i);
    cr_assert_eq(tc_names_number(&s, text, &fresh), (uint32_t)i + 1);
    cr_assert(fresh);
    cr_assert_str_eq(s.at[i], text);
  }
  cr_expect_eq(tc_names_number(&s, "name17", &fresh), 18u);
  cr_expect_not(fresh);
  cr_expect_eq(tc_names_number(&s, "", NULL), 1001u);
  tc_names_free(&s);
  cr_expect_eq(s.n, 0u);
}

Test(support, reports_are_optional) {
  messages m;
  tc_report(NULL, TC_ERROR, (tc_loc){0}, "nobody listens");
  tc_report(listen(&m), TC_ERROR, (tc_loc){0}, "%d %s", 7, "words");
  cr_expect_str_eq(m.last, "7 words");
}

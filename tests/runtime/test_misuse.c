/* Handles that were freed, and lists of results of functions that fail. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcompile.h>
#include <tcompile/dlpack.h>

/* Sanitizers stop the program where a freed handle is used: see tests/programs/misuse.c. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static tc_tensor *freed(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  tc_free(x);
  return x;
}

/* The error that the statements left, without its place. */
static const char *message(void) {
  static char text[256];
  const char *error = tc_error(), *at = error ? strstr(error, ": ") : NULL;
  snprintf(text, sizeof text, "%s", at ? at + 2 : "none");
  tc_clear_error();
  return text;
}

#define EXPECT(call, text)                                                                         \
  do {                                                                                             \
    call;                                                                                          \
    cr_expect_str_eq(message(), text);                                                             \
  } while (0)

Test(misuse, a_tensor_is_freed_once, .disabled = SANITIZED) {
  tc_tensor *x = freed();
  EXPECT(tc_free(x), "tc_free: operand 1 was freed already");
  tc_tensor *a = tc_zeros(TC_DIMS(2), TC_F32), *b = tc_zeros(TC_DIMS(2), TC_F32);
  cr_expect_neq(a, b, "one header for two tensors");
  tc_free(a);
  tc_free(b);
  cr_expect_eq(tc_memory().live, 0);
}

Test(misuse, every_way_in_refuses_what_was_freed, .disabled = SANITIZED) {
  tc_tensor *gone = freed(), *out[2];
  EXPECT(cr_expect_null(tc_exp(gone)), "tc_exp: operand 1 was freed already");
  EXPECT(cr_expect_eq(tc_split(gone, 2, 0, out), -1), "tc_split: operand 1 was freed already");
  EXPECT(cr_expect_eq(tc_size(gone, 0), -1), "tc_size: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_data(gone)), "tc_data: operand 1 was freed already");
  EXPECT(tc_item(gone), "tc_item: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_keep(gone)), "tc_keep: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_clone(gone)), "tc_clone: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_fill_(gone, 1)), "tc_fill_: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_zeros_like(gone)), "tc_zeros_like: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_to(gone, TC_CPU)), "tc_to: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_to_dlpack(gone)), "tc_to_dlpack: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_to_dlpack_versioned(gone)),
         "tc_to_dlpack_versioned: operand 1 was freed already");
  EXPECT(cr_expect_not(tc_save_npy("/dev/null", gone)), "tc_save_npy: operand 1 was freed already");
  EXPECT(cr_expect_not(tc_is_contiguous(gone)), "tc_is_contiguous: operand 1 was freed already");
  EXPECT(cr_expect_not(tc_allclose(gone, gone, 0, 0)), "tc_allclose: operand 1 was freed already");
  EXPECT(cr_expect_null(tc_concat((const tc_tensor *[]){gone}, 1, 0)),
         "tc_concat: operand 1 was freed already");
}

/* More headers than a thread keeps for itself. */
Test(misuse, of_many, .disabled = SANITIZED) {
  enum { MANY = 500 };
  tc_tensor *x[MANY];
  for (int i = 0; i < MANY; i++) x[i] = tc_zeros(TC_DIMS(1), TC_F32);
  for (int i = 0; i < MANY; i++) tc_free(x[i]);
  for (int i = 0; i < MANY; i++) {
    tc_free(x[i]);
    cr_expect_str_eq(message(), "tc_free: operand 1 was freed already", "tensor %d", i);
  }
  tc_tensor *y[MANY];
  for (int i = 0; i < MANY; i++) {
    y[i] = tc_zeros(TC_DIMS(1), TC_F32);
    for (int k = 0; k < i; k++) cr_assert_neq(y[i], y[k]);
  }
  for (int i = 0; i < MANY; i++) tc_free(y[i]);
}

/* ---- lists that a failing function leaves ---------------------------------------------------- */

static void split_fails(const tc_tensor *x, int n, int axis) {
  tc_tensor *out[4] = {(tc_tensor *)8, (tc_tensor *)8, (tc_tensor *)8, (tc_tensor *)8};
  cr_expect_eq(tc_split(x, n, axis, out), -1);
  for (int i = 0; i < n; i++) cr_expect_null(out[i], "piece %d of %d", i, n);
  for (int i = n < 0 ? 0 : n; i < 4; i++) cr_expect_eq(out[i], (tc_tensor *)8);
  cr_expect_not_null(tc_error());
  tc_clear_error();
}

Test(misuse, split_that_fails_leaves_nulls) {
  tc_tensor *x = tc_ones(TC_DIMS(4, 6), TC_F32);
  split_fails(x, 4, 1);
  split_fails(x, 2, 2);
  split_fails(x, 0, 0);
  split_fails(x, -1, 0);
  split_fails(NULL, 3, 0);
  cr_expect_eq(tc_split(x, 2, 0, NULL), -1);
  tc_clear_error();
  tc_free(x);
}

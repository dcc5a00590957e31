/* Errors are values: first message, place, propagation through NULL. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <tcompile.h>

#include "runtime/libtcrt/src/settings.h"

static tc_tensor *ones(int64_t n) { return tc_ones(TC_DIMS(n), TC_F32); }

Test(error, names_place_function_and_shapes) {
  TC_SCOPE {
    tc_tensor *a = tc_ones(TC_DIMS(3, 4), TC_F32), *b = ones(5);
    char place[64];
    snprintf(place, sizeof place, "test_error.c:%d: tc_add: ", __LINE__ + 1);
    cr_expect_null(tc_add(a, b));
    cr_expect_eq(strncmp(tc_error(), place, strlen(place)), 0, "%s", tc_error());
    cr_expect(strstr(tc_error(), "[3,4] and [5]"), "%s", tc_error());
  }
}

Test(error, the_first_one_stays_until_it_is_cleared) {
  TC_SCOPE {
    tc_tensor *bad = tc_matmul(ones(3), ones(4));
    tc_tensor *end = tc_relu(tc_add(tc_mul_s(bad, 2), ones(7)));
    cr_expect(!bad && !end && strstr(tc_error(), "tc_matmul"));
    cr_expect_not_null(tc_relu(ones(2))); /* ops on good operands go on */
    tc_clear_error();
    cr_expect_null(tc_error());
  }
}

Test(error, those_after_the_first_are_counted) {
  TC_SCOPE {
    cr_expect(tc_error_count() == 0 && tc_error_code() == TC_ERROR_NONE);
    tc_tensor *bad = tc_matmul(ones(3), ones(4));
    tc_relu(tc_add(tc_mul_s(bad, 2), ones(7))); /* only passes it on */
    cr_expect_eq(tc_error_count(), 1);
    tc_add(ones(2), ones(3));
    tc_load_npy("/nowhere");
    cr_expect_eq(tc_error_count(), 3);
    cr_expect(strstr(tc_error(), "tc_matmul") && tc_error_code() == TC_ERROR_ARGUMENT);
    tc_clear_error();
    cr_expect(tc_error_count() == 0 && tc_error_code() == TC_ERROR_NONE);
  }
}

/* The kind of the error of what was called; cleared. */
static tc_error_kind kind_of(const void *result) {
  tc_error_kind kind = result ? TC_ERROR_NONE : tc_error_code();
  tc_clear_error();
  return kind;
}

Test(error, says_what_it_is_about) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32), *far = tc_full(TC_DIMS(1), 9, TC_I64);
    cr_expect_eq(kind_of(tc_add(x, ones(7))), TC_ERROR_ARGUMENT);
    cr_expect_eq(kind_of(tc_bit_not(x)), TC_ERROR_ARGUMENT);
    cr_expect_eq(kind_of(tc_sum(x, TC_AXES(5), false)), TC_ERROR_ARGUMENT);
    cr_expect_eq(kind_of(tc_add(x, NULL)), TC_ERROR_NULL);
    cr_expect_eq(kind_of(tc_index_select(x, 0, far)), TC_ERROR_INDEX);
    cr_expect_eq(kind_of(tc_zeros(TC_DIMS(INT64_C(1) << 40, 1 << 20), TC_F64)), TC_ERROR_MEMORY);
    cr_expect_eq(kind_of(tc_load_npy("/nowhere")), TC_ERROR_FILE);
    cr_expect_eq(kind_of(tc_safetensors_open("/nowhere")), TC_ERROR_FILE);
    cr_expect_eq(kind_of(tc_to(x, (tc_device)77)), TC_ERROR_DEVICE);
  }
}

Test(error, shorthands_are_named) {
  tc_tensor *(*function[])(tc_ints, tc_dtype) = {tc_zeros, tc_ones};
  static const char *const name[] = {"tc_zeros: ", "tc_ones: "};
  for (int i = 0; i < 2; i++) {
    cr_expect_null(function[i](TC_DIMS(3, -1), TC_F32));
    cr_expect(strstr(tc_error(), name[i]) && !strstr(tc_error(), "full"), "%s", tc_error());
    tc_clear_error();
  }
}

Test(error, numbers_past_all_sizes_stand_as_they_were_given) {
  TC_SCOPE {
    tc_tensor *x = ones(4);
    cr_expect_null(tc_select(x, 0, INT64_MAX));
    cr_expect(strstr(tc_error(), "tc_select: 9223372036854775807 "), "%s", tc_error());
    tc_clear_error();
    cr_expect_null(tc_reshape(x, TC_DIMS(INT64_MIN)));
    cr_expect(strstr(tc_error(), "tc_reshape: -9223372036854775808 "), "%s", tc_error());
    tc_clear_error();
    cr_expect_null(tc_roll(x, INT64_MAX, 0)); /* not that of a smaller number */
    tc_clear_error();
    cr_expect_eq(tc_numel(tc_slice(x, 0, 1, INT64_MAX, 1)), 3);
    cr_expect_eq(tc_numel(tc_slice(x, 0, INT64_MAX, INT64_MIN, -1)), 4);
    tc_tensor *square = tc_ones(TC_DIMS(3, 3), TC_F32);
    cr_expect_eq(tc_item(tc_sum(tc_tril(square, INT64_MAX), TC_ALL, false)), 9);
    cr_expect_eq(tc_item(tc_sum(tc_triu(square, INT64_MIN), TC_ALL, false)), 9);
    cr_expect_null(tc_error());
  }
}

Test(error, print_says_each, .init = cr_redirect_stderr) {
  char text[1024];
  tc_settings_now.errors = TC_ERRORS_PRINT;
  TC_SCOPE {
    tc_relu(tc_add(ones(2), ones(3)));
    tc_matmul(ones(3), ones(4));
  }
  fflush(stderr);
  size_t n = fread(text, 1, sizeof text - 1, cr_get_redirected_stderr());
  text[n] = 0;
  const char *second = strchr(text, '\n') + 1;
  cr_expect(strstr(text, "tcompile: error: test_error.c:") == text && strstr(text, "tc_add: "),
            "%s", text);
  cr_expect(strstr(second, "tcompile: error: test_error.c:") == second &&
                strstr(second, "tc_matmul: ") && strchr(second, '\n')[1] == 0,
            "%s", text);
  cr_expect_eq(tc_error_count(), 2);
}

Test(error, abort_ends_the_program_at_the_first, .init = cr_redirect_stderr, .signal = SIGABRT) {
  tc_settings_now.errors = TC_ERRORS_ABORT;
  tc_add(ones(2), ones(3));
}

Test(error, null_out_of_nowhere_is_one) {
  TC_SCOPE {
    cr_expect_null(tc_add(ones(2), NULL));
    cr_expect_eq(tc_error_code(), TC_ERROR_NULL);
    cr_expect(strstr(tc_error(), "operand 2 is NULL"), "%s", tc_error());
  }
}

Test(error, optional_operands) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32), *w = tc_ones(TC_DIMS(4, 3), TC_F32);
    cr_expect_not_null(tc_linear(x, w, NULL));
    cr_expect_null(tc_error());
    cr_expect_null(tc_linear(x, w, tc_add(x, ones(7)))); /* a bias that failed is not "no bias" */
    cr_expect(strstr(tc_error(), "tc_add"));
  }
}

Test(error, every_function_of_one_or_two_tensors_takes_null) {
  TC_SCOPE {
    tc_tensor *x = ones(2);
#define TC_API(function, op, arguments)
#define TC_API1(function, op)                                                                      \
  tc_clear_error();                                                                                \
  cr_expect_null(function(NULL));                                                                  \
  cr_expect(tc_error() && strstr(tc_error(), #function ": operand 1 is NULL"));
#define TC_API2(function, op)                                                                      \
  tc_clear_error();                                                                                \
  cr_expect_null(function(x, NULL));                                                               \
  cr_expect(tc_error() && strstr(tc_error(), #function ": operand 2 is NULL"));
#include "graph/ops/api.def"
  }
}

/* What the preprocessor makes of a call. */
#define TEXT_(call) #call
#define TEXT(call) TEXT_(call)

Test(error, every_function_of_the_table_notes_its_place) {
#define TC_API(function, op, arguments)                                                            \
  cr_expect_eq(strncmp(TEXT(function(0)), "(tc_here", 8), 0, "%s", #function);
#include "graph/ops/api.def"
}

Test(error, plain_function_pointers_work) {
  TC_SCOPE {
    tc_tensor *(*f)(const tc_tensor *, const tc_tensor *) = tc_add;
    cr_expect_eq(tc_at((tc_mul)(f(ones(2), ones(2)), ones(2)), TC_INTS(1)), 2);
  }
}

static void *clean(void *message) {
  *(const char **)message = tc_error();
  return NULL;
}

Test(error, belongs_to_its_thread) {
  pthread_t t;
  const char *there = "none";
  tc_add(NULL, NULL);
  pthread_create(&t, NULL, clean, &there);
  pthread_join(t, NULL);
  cr_expect_null(there);
  cr_expect_not_null(tc_error());
}

Test(error, lists_that_are_not_lists) {
  TC_SCOPE {
    tc_tensor *x = ones(2);
    cr_expect_null(tc_concat(NULL, 2, 0));
    tc_clear_error();
    cr_expect_null(tc_concat((const tc_tensor *[]){x}, -1, 0));
    tc_clear_error();
    cr_expect_null(tc_concat((const tc_tensor *[]){x}, 0, 0));
    tc_clear_error();
    cr_expect_null(tc_stack((const tc_tensor *[]){x, NULL}, 2, 0));
    tc_clear_error();
    cr_expect_null(tc_sum(x, (tc_ints){.n = 12}, false));
    tc_clear_error();
    cr_expect_null(tc_sum(x, (tc_ints){.n = -1}, false));
    tc_clear_error();
    cr_expect_null(tc_einsum(NULL, (const tc_tensor *[]){x}, 1));
    tc_clear_error();
    cr_expect_null(tc_cast(x, (tc_dtype)99));
    cr_expect_not_null(tc_error());
  }
}

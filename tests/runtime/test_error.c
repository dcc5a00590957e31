/* Errors are values: first message, place, propagation through NULL. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tcompile.h>

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

Test(error, null_out_of_nowhere_is_one) {
  TC_SCOPE {
    cr_expect_null(tc_add(ones(2), NULL));
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
#include "graph/api.def"
  }
}

/* What the preprocessor makes of a call. */
#define TEXT_(call) #call
#define TEXT(call) TEXT_(call)

Test(error, every_function_of_the_table_notes_its_place) {
#define TC_API(function, op, arguments)                                                            \
  cr_expect_eq(strncmp(TEXT(function(0)), "(tc_here", 8), 0, "%s", #function);
#include "graph/api.def"
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

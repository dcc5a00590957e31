/* What tests of the runtime say of errors and memory. */
#ifndef TC_TESTS_RUNTIME_EXPECT_H
#define TC_TESTS_RUNTIME_EXPECT_H

#include <criterion/criterion.h>
#include <string.h>

#include <tcompile.h>

/* The statement fails with a message that has the text. */
#define REFUSED(failed, text)                                                                      \
  do {                                                                                             \
    cr_expect(failed, "%s is taken", #failed);                                                     \
    cr_expect(tc_error() && strstr(tc_error(), text), "'%s' is not in: %s", text, tc_error());     \
    tc_clear_error();                                                                              \
  } while (0)

/* No error is pending, and no memory is held. */
static inline void expect_nothing_left(void) {
  cr_expect_null(tc_error(), "%s", tc_error());
  cr_expect_eq(tc_memory().live, 0, "%zu bytes are held", tc_memory().live);
}

#endif

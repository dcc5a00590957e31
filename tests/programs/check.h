/* check.h - a failed check names its line and ends the test program with status 1. */
#ifndef TC_TESTS_CHECK_H
#define TC_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <tcompile.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not true: %s%s%s\n", __FILE__, __LINE__, #condition,                 \
              tc_error() ? "; error: " : "", tc_error() ? tc_error() : "");                        \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* Sum over the misses and hits of one compiled function. */
static inline uint64_t hits_of(const char *function) { return tc_stats_of(function).hits; }
static inline uint64_t fallbacks_of(const char *function) { return tc_stats_of(function).fallbacks; }

/* `got` is the call compiled, which is to be a hit of the function, and `want` the same by its body: `compare` is of these. */
#define COMPARE_TO_BODY(name, call, compare)                                                       \
  TC_SCOPE {                                                                                       \
    const uint64_t before = hits_of(name);                                                         \
    tc_tensor *got = call;                                                                         \
    CHECK(got &&hits_of(name) == before + 1);                                                      \
    const tc_stance stance = tc_set_stance(TC_STANCE_EAGER);                                       \
    tc_tensor *want = call;                                                                        \
    tc_set_stance(stance);                                                                         \
    compare;                                                                                       \
  }

#endif

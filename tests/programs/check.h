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

#endif

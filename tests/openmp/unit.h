/* unit.h - compiles graphs with the OpenMP backend, builds the texts with clang, loads and runs
 * them. */
#ifndef TC_TEST_OMP_UNIT_H
#define TC_TEST_OMP_UNIT_H

#include "backends/compile.h"

typedef struct omp_unit {
  void *library;
  tc_texts texts;
  tc_result *result; /* of each function */
  tcrt_entry **entry;
  int n;
} omp_unit;

/* Compiles graphs (taken over; entries are named test_<i>) for the levels in `levels` that this
 * machine runs.  false after printing why. */
bool omp_unit_build(omp_unit *u, tc_graph **graph, int n, uint32_t levels, tc_diag *diag);
/* The same with `edit` between: what it returns (from malloc) replaces the host text. */
bool omp_unit_build_edited(omp_unit *u, tc_graph **graph, int n, uint32_t levels, tc_diag *diag,
                           char *(*edit)(const char *host));
/* The same by another backend of this folder's kind. */
bool omp_unit_build_by(omp_unit *u, tc_graph **graph, int n, uint32_t levels, const tc_backend *b);
/* The same as texts alone, for tests of what they say: nothing is built, and there are no entries. */
bool omp_unit_print(omp_unit *u, tc_graph **graph, int n, uint32_t levels);
void omp_unit_free(omp_unit *u);

uint32_t omp_levels_here(void); /* bit i: this machine runs tc_isa i */

#endif

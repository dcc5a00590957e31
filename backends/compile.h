/* compile.h - the driver: turns graphs into C text and device code, by the backends that are asked
 * for. */
#ifndef TC_COMPILE_H
#define TC_COMPILE_H

#include "backends/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of one function. */
typedef struct tc_result {
  bool compiled;
  uint32_t made;     /* bit i: it has a variant from choice i */
  int kernels;       /* of the first */
  int64_t workspace; /* bytes of arrays between them at most; INT64_MAX: no bound is known */
  /* bytes that a call saves for its gradients, for the sizes that the partition expects */
  int64_t saved;
} tc_result;

/* Compiles n functions into texts.  A function that its first backend cannot compile is reported
 * (TC_MISSED) to its graph's diag and left out; result[i] says which.  One that another of its
 * backends cannot compile stays without that variant.  Fusion is reported as TC_REMARK.  o: NULL
 * for the defaults.  false: internal failure (reported); nothing is to be used then. */
bool tc_compile_functions(tc_function *f, int n, const tc_unit_options *o, tc_result *result,
                          tc_texts *out);

/* The same in two steps.  Behind the first, out->kernels are what they will be, and may be
 * compiled; device code is made meanwhile, if tc_unit_waits.  NULL: internal failure.  The second
 * frees the unit; *o stays until then. */
typedef struct tc_unit tc_unit;
tc_unit *tc_unit_begin(tc_function *f, int n, const tc_unit_options *o, tc_texts *out);
bool tc_unit_waits(const tc_unit *u);
bool tc_unit_finish(tc_unit *u, tc_result *result, tc_texts *out);

#ifdef __cplusplus
}
#endif
#endif

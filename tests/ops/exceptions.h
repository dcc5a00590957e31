/* exceptions.h - runs an op and says which floating-point exceptions this thread raised meanwhile. */
#ifndef TC_TESTS_OPS_EXCEPTIONS_H
#define TC_TESTS_OPS_EXCEPTIONS_H

#include <tcompile.h>

/* The exceptions that kernels must not raise where their bodies do not. */
int watched_exceptions(void);
/* " invalid overflow" */
void name_exceptions(int exceptions, char text[64]);

typedef tc_tensor *watched_fn(void *context);

/* Runs f with traps for the exceptions of `traps`.  *raised: those that f raised; with the bit `trapped`
 * where one fired, which ends f: the result then is NULL. */
enum { EXCEPTION_TRAPPED = 1 << 30 };
tc_tensor *run_watched(watched_fn *f, void *context, int traps, int *raised);

#endif

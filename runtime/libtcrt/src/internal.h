/* internal.h - what the files of libtcrt share beyond the public headers. */
#ifndef TC_INTERNAL_H
#define TC_INTERNAL_H

#define TC_NO_LOCATIONS /* these files define the functions themselves */
#include <tcompile.h>

/* For the few thread-local pointers on the path of every op: no call to find them, also when the
 * library is loaded late (eight bytes each are in reserve). */
#define TC_FAST_TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* Records an error of this thread, with the C location of tc_here; the message of one that is recorded
 * already stays.  Always NULL, so that an op ends with `return tc_fail(...)`.  tc_fail: an argument that
 * the function does not take. */
void *tc_fail_as(tc_error_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define tc_fail(...) tc_fail_as(TC_ERROR_ARGUMENT, __VA_ARGS__)

#endif

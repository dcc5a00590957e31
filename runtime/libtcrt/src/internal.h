/* internal.h - what the files of libtcrt share beyond the public headers. */
#ifndef TC_INTERNAL_H
#define TC_INTERNAL_H

#define TC_NO_LOCATIONS /* these files define the functions themselves */
#include <tcompile.h>

/* For the few thread-local pointers on the path of every op: no call to find them, also when the
 * library is loaded late (eight bytes each are in reserve). */
#define TC_FAST_TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* An argument that the function does not take: an op ends with `return tc_fail(...)`. */
#define tc_fail(...) tc_fail_as(TC_ERROR_ARGUMENT, __VA_ARGS__)

#endif

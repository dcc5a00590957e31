/* autocast.h - the scope of TC_AUTOCAST that this thread is in. */
#ifndef TC_AUTOCAST_STATE_H
#define TC_AUTOCAST_STATE_H

#include "runtime/libtcrt/src/internal.h"

/* Its dtype; TC_BOOL, which no scope has: there is none. */
extern TC_FAST_TLS tc_dtype tc_autocast_now;

#endif

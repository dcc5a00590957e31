/* autocast.c - scopes of TC_AUTOCAST.  What they do to operands is done in front of ops:
 * dispatch.c. */
#include "runtime/libtcrt/src/autocast.h"

#include "graph/autocast.h"

TC_FAST_TLS tc_dtype tc_autocast_now;
int tcrt_autocasts;

tc_dtype tc_autocast_dtype(void) { return tc_autocast_now ? tc_autocast_now : TC_DTYPE_COUNT; }

tc_dtype tcrt_autocast(void) { return tc_autocast_dtype(); }

static void set(tc_dtype dtype) {
  const tc_dtype now = dtype == TC_DTYPE_COUNT ? TC_BOOL : dtype;
  const int more = (now != TC_BOOL) - (tc_autocast_now != TC_BOOL);
  if (more) __atomic_fetch_add(&tcrt_autocasts, more, __ATOMIC_RELAXED);
  tc_autocast_now = now;
}

tc_dtype tc_set_autocast(tc_dtype dtype) {
  const tc_dtype before = tc_autocast_dtype();
  if (dtype == TC_DTYPE_COUNT || tc_autocast_is_dtype(dtype)) set(dtype);
  else
    tc_fail("tc_set_autocast: %s is none of f16 and bf16",
            (unsigned)dtype < TC_DTYPE_COUNT ? tc_dtype_name(dtype) : "an unknown dtype");
  return before;
}

void tc_autocast_end(tc_autocast_mode *m) { set(m->before); }

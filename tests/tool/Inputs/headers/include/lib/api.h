#ifndef LIB_API_H
#define LIB_API_H
#define INNER "inner.h"
#include INNER
static inline tc_tensor *api(const tc_tensor *x) { return tc_add(inner(x), x); }
#endif

/* module_impl.h - what the registry asks of module.c. */
#ifndef TC_MODULE_IMPL_H
#define TC_MODULE_IMPL_H

#include "backends/backend.h"

/* The backend in a shared object, which stays loaded.  NULL: why says one sentence. */
const tc_backend *tc_module_load(const char *path, tc_buf *why);

/* Those on the search path, each name once. */
typedef void tc_module_each_fn(const char *name, const char *path, void *arg);
void tc_module_each(tc_module_each_fn *each, void *arg);

#endif

/* module.h - a backend in a shared object: libtc_backend_<name>.so holds one, and says so by
 *
 *   TC_BACKEND_MODULE(my_backend);     // a tc_backend
 *
 * at file scope.  Everything that the two sides hand each other is as the headers of this interface
 * say, so that both must be built with the same ones: TC_BACKEND_ABI is made from their text. */
#ifndef TC_MODULE_H
#define TC_MODULE_H

#include "backends/backend.h"
#include "backends/backend_abi.h"

typedef struct tc_backend_module {
  uint64_t abi; /* stays the first member, whatever else changes */
  const tc_backend *backend;
} tc_backend_module;

#define TC_BACKEND_MODULE_SYMBOL "tc_backend_module_v"
#define TC_BACKEND_MODULE(backend)                                                                 \
  extern __attribute__((visibility("default"))) const tc_backend_module tc_backend_module_v;       \
  const tc_backend_module tc_backend_module_v = {TC_BACKEND_ABI, &(backend)}

#endif

/* dispatch.h - from a public function's C arguments to an op. */
#ifndef TC_DISPATCH_H
#define TC_DISPATCH_H

#include "runtime/libtcrt/src/eager.h"

/* Numbers of the public functions of graph/api.def. */
typedef enum tc_api {
#define TC_API(function, op, arguments) TC_API_##function,
#include "graph/api.def"
  TC_API_COUNT
} tc_api;

/* Runs the function on its arguments: tensors; tc_ints by address; ints, axes and bools as int64_t;
 * doubles; seeds as uint64_t; arrays of tensors followed by their int64_t count; strings. */
tc_tensor *tc_call(tc_api function, ...);

#endif

/* dispatch.h - from a public function's C arguments to an op. */
#ifndef TC_DISPATCH_H
#define TC_DISPATCH_H

#include "runtime/libtcrt/src/eager/eager.h"

/* Numbers of the public functions of graph/ops/api.def. */
typedef enum tc_api {
#define TC_API(function, op, arguments) TC_API_##function,
#include "graph/ops/api.def"
  TC_API_COUNT
} tc_api;

/* Runs the function on its arguments: tensors; tc_ints by address; ints, axes and bools as int64_t;
 * doubles; seeds as uint64_t; arrays of tensors followed by their int64_t count; strings. */
tc_tensor *tc_call(tc_api function, ...);
/* The same for a function that is a shorthand of it: messages name that one. */
tc_tensor *tc_call_as(const char *name, tc_api function, ...);

/* Of its functions that work in place. */
typedef enum tc_in_place {
#define TC_IN_PLACE(function, op, arguments) TC_IN_PLACE_##function,
#include "graph/ops/api.def"
  TC_IN_PLACE_COUNT
} tc_in_place;

/* The same for these; x, the first argument, or NULL. */
tc_tensor *tc_call_in_place(tc_in_place function, tc_tensor *x, ...);

#endif

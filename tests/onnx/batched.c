/* Two examples at once: the case, and its operands with their elements in another order. */
#include <string.h>

#include "driver.h"

bool onnx_is_floating(const tc_tensor *x) {
  const tc_dtype d = tc_dtype_of(x);
  return d == TC_F32 || d == TC_F64 || d == TC_F16 || d == TC_BF16;
}

/* Elements in reverse order: each is in the domain of the operator as before.  Indices stay. */
static tc_tensor *other(const tc_tensor *x) {
  return onnx_is_floating(x) ? tc_clone(tc_flip(x, TC_ALL)) : tc_clone(x);
}

/* x and y as the places 0 and 1 of a new axis. */
static tc_tensor *both(const tc_tensor *x, const tc_tensor *y, int axis) {
  const tc_tensor *parts[] = {x, y};
  return tc_stack(parts, 2, axis);
}

bool onnx_run_batched(onnx_run *r) {
  bool ok = true;
  TC_SCOPE {
    tc_tensor *x[ONNX_MOST], *second[ONNX_MOST], *want[ONNX_MOST] = {NULL};
    for (int i = 0; i < r->c->operands; i++) {
      const int axis = r->c->axes[i];
      second[i] = axis == TC_UNMAPPED ? r->x[i] : other(r->x[i]);
      x[i] = axis == TC_UNMAPPED ? r->x[i] : both(r->x[i], second[i], axis);
    }
    r->c->call(second, want);
    memset(r->y, 0, sizeof r->y);
    r->c->batched(x, r->y);
    for (int i = 0; i < r->c->results && ok; i++)
      ok = onnx_compare(r, i, r->want[i], 0) && onnx_compare(r, i, want[i], 1);
    tc_clear_error();
  }
  return ok;
}

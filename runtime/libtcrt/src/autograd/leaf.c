/* leaf.c - the public functions about single tensors, and the switch of recording. */
#include "runtime/libtcrt/src/autograd/tape.h"

#include <stdlib.h>
#include <string.h>

/* ---- leaves ---------------------------------------------------------------------------------- */

static tc_tensor *make_leaf(tc_tensor *t) {
  if (!tc_is_float((tc_dtype)t->key.dtype))
    return tc_fail("tc_requires_grad_: gradients are of floating tensors, and operand 1 is %s",
                   tc_describe(t).text);
  tape_value *v = tc_tape_value(t, NULL, 0);
  if (!v) return NULL;
  v->leaf = true;
  v->at.autograd = v;
  if (t->storage) atomic_fetch_add_explicit(&t->storage->leaves, 1, memory_order_relaxed);
  tc_tape_relink(t, v);
  return t;
}

tc_tensor *tc_requires_grad_(tc_tensor *t, bool on) {
  if (!tc_given("tc_requires_grad_", 1, t)) return NULL;
  const tape_value *v = tc_tape_link(t);
  if (on) return v ? t : make_leaf(t);
  if (v && !v->leaf)
    return tc_fail(
        "tc_requires_grad_: operand 1 is a result that depends on leaves; tc_detach gives a "
        "tensor that does not");
  tc_tape_relink(t, NULL);
  return t;
}

bool tc_requires_grad(const tc_tensor *t) {
  return tc_given("tc_requires_grad", 1, t) && t->autograd;
}

tc_tensor *tc_detach(const tc_tensor *x) {
  if (!tc_given("tc_detach", 1, x)) return NULL;
  tc_tensor *y = tc_tensor_header((tc_dtype)x->key.dtype, x->key.rank, x->dim, tc_place(x));
  if (!y) return NULL;
  memcpy(y->stride, x->stride, sizeof y->stride);
  tc_tensor_share(y, x, 0);
  y->key.flags = (uint8_t)(y->key.flags | (x->key.flags & TC_FLAG_WEAK));
  return y;
}

/* ---- what is wanted of a value --------------------------------------------------------------- */

static tape_value *tracked(const char *name, const tc_tensor *t) {
  if (!tc_given(name, 1, t)) return NULL;
  if (t->autograd) return t->autograd;
  return tc_fail("%s: operand 1 is not tracked: see tc_requires_grad_", name);
}

bool tc_retain_grad(tc_tensor *t) {
  tape_value *v = tracked("tc_retain_grad", t);
  if (v) v->retain = true;
  return v != NULL;
}

bool tc_register_hook(tc_tensor *t, void (*hook)(const tc_tensor *grad, void *context),
                      void *context) {
  if (!hook) return tc_fail("tc_register_hook: hook is NULL");
  tape_value *v = tracked("tc_register_hook", t);
  tape_hook *h = v ? malloc(sizeof *h) : NULL;
  if (v && !h) tc_fail_as(TC_ERROR_MEMORY, "out of memory: a hook");
  if (!h) return false;
  *h = (tape_hook){NULL, hook, context};
  tape_hook **last = &v->hook;
  while (*last) last = &(*last)->next;
  *last = h;
  return true;
}

/* Another header over it, so that it is owned as any result. */
tc_tensor *tc_grad_of(const tc_tensor *t) {
  const tape_value *v = tracked("tc_grad_of", t);
  if (!v) return NULL;
  if (!v->leaf && !v->retain)
    return tc_fail("tc_grad_of: operand 1 is no leaf, so that its gradient was not kept; call "
                   "tc_retain_grad in front of tc_backward, or ask for it with tc_grad");
  tc_tensor *grad = v->grad ? tc_detach(v->grad) : NULL;
  if (!grad || !v->grad->autograd) return grad;
  tc_tape_ref(v->grad->autograd);
  tc_tape_relink(grad, v->grad->autograd);
  return grad;
}

bool tc_zero_grad(int n, tc_tensor_list list) {
  const tc_tensor *const *t = list.at;
  if (n < 0 || (n > 0 && !t))
    return tc_fail("tc_zero_grad: a list of %d tensors%s", n, t ? "" : " that is NULL");
  for (int i = 0; i < n; i++)
    if (!tc_given("tc_zero_grad", i + 1, t[i])) return false;
  for (int i = 0; i < n; i++) {
    tape_value *v = tc_tape_link(t[i]);
    tc_tensor *grad = v ? v->grad : NULL;
    if (v) v->grad = NULL;
    tc_free(grad);
  }
  return true;
}

/* ---- recording ------------------------------------------------------------------------------- */

bool tc_is_grad_enabled(void) { return !tc_tape_off; }

bool tc_set_grad_enabled(bool enabled) {
  const bool before = !tc_tape_off;
  tc_tape_off = !enabled;
  return before;
}

bool tcrt_recording(void) { return !tc_tape_off; }

void tcrt_written(const tc_tensor *x) { tc_written(x); }

void tc_grad_mode_end(tc_grad_mode *m) { tc_tape_off = !m->before; }

bool tcrt_leaf(const tc_tensor *x) {
  const tape_value *v = tc_tape_link(x);
  return v && v->leaf && !tc_tape_off;
}

bool tcrt_may_write(const tc_tensor *x) {
  return tc_tape_off || !x->storage ||
         atomic_load_explicit(&x->storage->leaves, memory_order_relaxed) == 0;
}

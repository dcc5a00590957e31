/* write.c - writes in place: the tensor gets another value, of the op that computed what it takes.
 *
 * Memory is shared by views, to which the history has to go as well (alias.c).  A leaf is not
 * written. */
#include "runtime/libtcrt/src/autograd/tape.h"
#include "runtime/libtcrt/src/dispatch.h"

#include <string.h>

static bool may_write(const char *name, tc_tensor *x) {
  const tape_value *v = tc_tape_link(x);
  const tc_storage *s = x->storage;
  const char *why = NULL;
  if (v && v->leaf)
    why = "is a leaf that requires gradients; update it inside of TC_NO_GRAD { }, or write to a "
          "tc_clone";
  else if (s && atomic_load_explicit(&s->leaves, memory_order_relaxed) > 0)
    why = "shares its memory with a leaf that requires gradients; update it inside of "
          "TC_NO_GRAD { }, or write to a tc_clone";
  else if (!v && s && !tc_tape_find_others(x))
    why = "shares its memory with tensors outside of all scopes, which gradients do not reach; "
          "open a TC_SCOPE, or use tc_stack";
  return !why || tc_fail("%s: operand 1 %s", name, why);
}

/* ---- what x takes ---------------------------------------------------------------------------- */

static bool same_shape(const tc_tensor *a, const tc_tensor *b) {
  bool same = a->key.rank == b->key.rank;
  for (int i = 0; i < a->key.rank && same; i++) same = a->dim[i] == b->dim[i];
  return same;
}

static tc_tensor *replace(tc_tensor *old, tc_tensor *new) {
  tc_free(old);
  return new;
}

/* y with the shape, dtype and place of x, made by recorded ops, of which there is one at least. */
static tc_tensor *fitted(const char *name, const tc_tensor *x, const tc_tensor *y) {
  tc_ints dims = {x->key.rank, {0}};
  memcpy(dims.v, x->dim, (size_t)dims.n * sizeof *dims.v);
  tc_tensor *t = tc_call_as(name, TC_API_tc_contiguous, y);
  if (t && !same_shape(x, t)) t = replace(t, tc_call_as(name, TC_API_tc_expand, t, &dims));
  if (t && t->key.dtype != x->key.dtype)
    t = replace(t, tc_call_as(name, TC_API_tc_cast, t, (int64_t)x->key.dtype));
  if (t && tc_place(t) != tc_place(x)) t = replace(t, tc_to(t, tc_place(x)));
  return t;
}

static bool fits(const tc_tensor *x, const tc_tensor *y) {
  return same_shape(x, y) && x->key.dtype == y->key.dtype && tc_place(x) == tc_place(y);
}

/* Another value is in x's memory: v, which it then links to; NULL: a constant.  That is a link as
 * well where others share the memory, since what they write later has to be followed. */
static bool replaced(tc_tensor *x, tape_value *v) {
  const bool shared = x->storage && tc_tape_headers(x->storage) > 1;
  tc_written(x);
  if (x->storage)
    atomic_store_explicit(&x->storage->recorded, tc_tape_version(x), memory_order_relaxed);
  if (v) v->version = tc_tape_version(x);
  tc_tape_relink(x, v);
  return (v || !shared || tc_tape_link_constant(x)) && tc_tape_note(x, v);
}

/* t, which fits, into x, which becomes what t is on the tape. */
static bool take(tc_tensor *x, const tc_tensor *t) {
  const tape_value *of = tc_tape_link(t);
  tape_value *v = of ? tc_tape_value(x, of->maker, of->result) : NULL;
  if (of && !v) return false;
  if (tc_assign(x, t)) return replaced(x, v);
  tc_tape_unref(v);
  return false;
}

bool tc_tape_assign(const char *name, tc_tensor *x, const tc_tensor *y, bool own) {
  const bool records = tc_tape_records(x, y) && tc_is_float((tc_dtype)x->key.dtype);
  if (records && !may_write(name, x)) return false;
  if (records && own && fits(x, y)) return take(x, y);
  if (records && y->autograd) {
    tc_tensor *t = fitted(name, x, y);
    const bool done = t && take(x, t);
    tc_free(t);
    return done;
  }
  if (!tc_assign(x, y)) return false;
  if (records) return replaced(x, NULL);
  tc_written(x);
  return true;
}

bool tc_tape_fill(const char *name, tc_tensor *x, double value) {
  const bool records = tc_tape_records(x, NULL);
  if ((records && !may_write(name, x)) || !tc_assign_f(x, value)) return false;
  if (records) return replaced(x, NULL);
  tc_written(x);
  return true;
}

/* write.c - writes in place: the tensor gets another value, of the op that computed what it takes.
 *
 * Memory is shared by views.  What has been written on the tape is seen by all of them, but only the tensor that
 * was written has the history; so a leaf is not written, nor what untracked tensors share, and other views are
 * refused when they are used again (record.c). */
#include "runtime/libtcrt/src/autograd/tape.h"
#include "runtime/libtcrt/src/dispatch.h"

#include <string.h>

static bool may_write(const char *name, const tc_tensor *x) {
  const tape_value *v = tc_tape_link(x);
  const tc_storage *s = x->storage;
  const char *why = NULL;
  if (v && v->leaf)
    why = "is a leaf that requires gradients; update it inside of TC_NO_GRAD { }, or write to a "
          "tc_clone of it";
  else if (s && atomic_load_explicit(&s->leaves, memory_order_relaxed) > 0)
    why = "shares its memory with a leaf that requires gradients; update it inside of "
          "TC_NO_GRAD { }, or write to a tc_clone";
  else if (!v && s && tc_tape_headers(s) > 1)
    why = "shares its memory with other tensors, to which gradients of what is written do not "
          "follow; make the whole of its parts (tc_stack, tc_concat), or write to a tc_clone";
  return !why || tc_fail("%s: operand 1 %s", name, why);
}

/* ---- what x takes ------------------------------------------------------------------------------ */

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

/* Another value is in x's memory: v, which it then links to. */
static void replaced(tc_tensor *x, tape_value *v) {
  tc_written(x);
  if (x->storage)
    atomic_store_explicit(&x->storage->recorded, tc_tape_version(x), memory_order_relaxed);
  if (v) v->version = tc_tape_version(x);
  tc_tape_relink(x, v);
}

/* t, which fits, into x, which becomes what t is on the tape. */
static bool take(tc_tensor *x, const tc_tensor *t) {
  const tape_value *of = tc_tape_link(t);
  tape_value *v = of ? tc_tape_value(x, of->maker, of->result) : NULL;
  if (of && !v) return false;
  const bool done = tc_assign(x, t);
  if (done) replaced(x, v);
  else tc_tape_unref(v);
  return done;
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
  if (records) replaced(x, NULL);
  else tc_written(x);
  return true;
}

bool tc_tape_fill(const char *name, tc_tensor *x, double value) {
  const bool records = tc_tape_records(x, NULL);
  if ((records && !may_write(name, x)) || !tc_assign_f(x, value)) return false;
  if (records) replaced(x, NULL);
  else tc_written(x);
  return true;
}

/* storage.h - reference-counted memory and the cache that keeps it between uses. */
#ifndef TC_STORAGE_H
#define TC_STORAGE_H

#include <stdatomic.h>

#include "runtime/libtcrt/src/internal.h"

/* In front of the data it owns (one cache line), or alone for memory that belongs to somebody else.
 */
typedef struct tc_storage {
  _Atomic int32_t refs;
  int32_t size_class; /* index of a size class */
  size_t bytes;       /* of the whole block, a size class */
  void *data;
  void (*release)(void *context); /* called in place of freeing foreign data; may be NULL */
  void *context;
  struct tc_storage *next;          /* in a list of one class of the cache */
  struct tc_storage *older, *newer; /* among all cached storages */
  const char *file; /* check.h: where it was freed, and what is filled from there to the end */
  int line;
  const void *waits;
  /* For gradients (autograd/tape.h): writes in place so far; how many there were with the last one
   * that was recorded; references of tapes among refs; leaves over this memory. */
  _Atomic uint32_t version, recorded;
  _Atomic int32_t saved, leaves;
  /* recorded writes that other tensors over this memory have to follow */
  struct tape_write *written;
} tc_storage;

/* Memory for `bytes` of data, 64-byte aligned, contents undefined, one reference.  NULL with an
 * error. */
tc_storage *tc_storage_new(size_t bytes);
/* A storage of memory that `release` gives back. NULL with an error. */
tc_storage *tc_storage_foreign(void *data, void (*release)(void *), void *context);
/* Likewise, with room for a description of `bytes` bytes: `context` points to it, `data` is
 * NULL. */
tc_storage *tc_storage_described(void (*release)(void *), size_t bytes);
static inline tc_storage *tc_storage_ref(tc_storage *s) {
  atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
  return s;
}
void tc_storage_unref(tc_storage *s); /* NULL is fine */

/* Tensor headers, from a list of this thread; a freed one says so (TC_KEY_FREED) until it is used
 * again.  NULL with an error. */
tc_tensor *tc_header_new(void);
void tc_header_free(tc_tensor *t);

#endif

/* poison.h - memory that the cache holds belongs to nobody: AddressSanitizer and memcheck are told,
 * where the process runs under one of them, so that they report whoever touches it.  libtcrt itself
 * need not be built for either. */
#ifndef TC_POISON_H
#define TC_POISON_H

#include <stddef.h>

#include "runtime/libtcrt/src/internal.h"

/* Is there anybody to tell?  Constant after load. */
extern bool tc_poisons;

void tc_poison_now(const void *p, size_t n);
void tc_unpoison_now(const void *p, size_t n);

/* n bytes at p, 8-byte aligned, belong to nobody / to their new owner, contents undefined. */
static inline void tc_poison(const void *p, size_t n) {
  if (__builtin_expect(tc_poisons, 0)) tc_poison_now(p, n);
}
static inline void tc_unpoison(const void *p, size_t n) {
  if (__builtin_expect(tc_poisons, 0)) tc_unpoison_now(p, n);
}

/* A use of a freed header was refused: under these tools also a report with the stacks, made by
 * touching the poisoned bytes. */
void tc_report_use(const tc_tensor *freed);

#endif

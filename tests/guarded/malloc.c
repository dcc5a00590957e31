/* malloc.c - malloc and its kin on guarded pages (pages.h): for LD_PRELOAD.  No block is aligned to more than 64
 * bytes, whatever is asked for, so that its end stays close to the closed page. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

enum { USUAL = 16, MOST = 64 };

static void *aligned(size_t alignment, size_t bytes) {
  void *p = guarded_new(bytes, alignment < USUAL ? USUAL : alignment > MOST ? MOST : alignment);
  if (!p) errno = ENOMEM;
  return p;
}

void *malloc(size_t bytes) { return aligned(USUAL, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return aligned(alignment, bytes); }
void *memalign(size_t alignment, size_t bytes) { return aligned(alignment, bytes); }
void *valloc(size_t bytes) { return aligned(MOST, bytes); }
void free(void *p) { guarded_free(p); }
size_t malloc_usable_size(void *p) { return p ? guarded_size(p) : 0; }

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  void *p = aligned(alignment, bytes);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

void *calloc(size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) return NULL;
  void *p = malloc(bytes);
  return p ? memset(p, 0, bytes) : NULL;
}

void *realloc(void *old, size_t bytes) {
  void *p = malloc(bytes);
  if (!p || !old) return p;
  const size_t had = guarded_size(old);
  memcpy(p, old, had < bytes ? had : bytes);
  free(old);
  return p;
}

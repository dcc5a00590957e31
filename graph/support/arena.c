/* Arena: a list of blocks, each at least twice the last, so that n bytes cost O(log n) mallocs. */
#include "graph/support/support.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

typedef struct block {
  struct block *next;
  size_t used, size; /* of the bytes behind this header */
  _Alignas(ALIGN) unsigned char bytes[];
} block;

struct tc_arena {
  block *newest;
};

tc_arena *tc_arena_new(void) { return calloc(1, sizeof(tc_arena)); }

void tc_arena_free(tc_arena *a) {
  if (!a) return;
  for (block *b = a->newest, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  free(a);
}

static block *add_block(tc_arena *a, size_t bytes) {
  size_t size = a->newest ? a->newest->size * 2 : FIRST_BLOCK;
  if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
  if (size < bytes) size = bytes;
  if (size > SIZE_MAX - sizeof(block)) return NULL;
  block *b = calloc(1, sizeof(block) + size);
  if (!b) return NULL;
  b->size = size;
  b->next = a->newest;
  a->newest = b;
  return b;
}

void *tc_arena_alloc(tc_arena *a, size_t bytes) {
  if (bytes > SIZE_MAX - ALIGN) return NULL;
  bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  block *b = a->newest;
  if ((!b || b->size - b->used < bytes) && !(b = add_block(a, bytes))) return NULL;
  void *p = b->bytes + b->used;
  b->used += bytes;
  return p;
}

char *tc_arena_str(tc_arena *a, const char *s) {
  size_t n = strlen(s) + 1;
  char *p = tc_arena_alloc(a, n);
  return p ? memcpy(p, s, n) : NULL;
}

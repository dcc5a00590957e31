/* pages.c - see pages.h.  One range of addresses is reserved, and handed out from its beginning.  A block stands
 * at the end of its pages behind a note of where these begin; the page behind them stays closed. */
#define _GNU_SOURCE
#include "pages.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, TAIL = 0xa5 };

typedef struct note {
  char *pages;
  size_t bytes; /* of the block */
} note;

static const size_t range_bytes = (size_t)1 << 44; /* of addresses, not of memory */
static _Atomic(char *) range;
static _Atomic size_t used;

static void *reserve(void *at, size_t bytes) {
  const int where = at ? MAP_FIXED : 0;
  void *p = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | where, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static char *range_begin(void) {
  char *now = atomic_load(&range), *mine;
  if (now) return now;
  mine = reserve(NULL, range_bytes);
  if (!mine || atomic_compare_exchange_strong(&range, &now, mine)) return mine;
  munmap(mine, range_bytes);
  return now;
}

static note *note_of(const void *block) {
  return (note *)(((uintptr_t)block & ~(uintptr_t)15) - sizeof(note));
}

/* Of the pages of a block, as guarded_new made them. */
static size_t length(const note *n, const char *block) {
  return ((size_t)(block + n->bytes - n->pages) + PAGE - 1) & ~(size_t)(PAGE - 1);
}

void *guarded_new(size_t bytes, size_t alignment) {
  char *begin = range_begin();
  if (!begin || bytes > range_bytes / 4) return NULL;
  const size_t room = (bytes + alignment + 15 + sizeof(note) + PAGE - 1) & ~(size_t)(PAGE - 1);
  const size_t at = atomic_fetch_add(&used, room + PAGE);
  if (at + room + PAGE > range_bytes) return NULL;
  char *pages = begin + at, *end = pages + room;
  if (mprotect(pages, room, PROT_READ | PROT_WRITE)) return NULL;
  char *block = (char *)((uintptr_t)(end - bytes) & ~(uintptr_t)(alignment - 1));
  *note_of(block) = (note){pages, bytes};
  memset(block, 0xff, bytes);
  memset(block + bytes, TAIL, (size_t)(end - block) - bytes);
  return block;
}

size_t guarded_size(const void *block) { return note_of(block)->bytes; }

void guarded_seal(void *block) {
  const note *n = note_of(block);
  mprotect(n->pages, length(n, block), PROT_READ);
}

void guarded_free(void *block) {
  static const char words[] = "guarded: memory behind the end of a block was written\n";
  if (!block) return;
  const note n = *note_of(block);
  const size_t room = length(&n, block);
  for (const char *p = (char *)block + n.bytes; p < n.pages + room; p++)
    if (*p != (char)TAIL) {
      if (write(2, words, sizeof words - 1) < 0) _exit(2);
      abort();
    }
  reserve(n.pages, room);
}

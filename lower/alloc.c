/* alloc.c - memory of a lowering, and how it gives up. */
#include "lower/lowering.h"

#include <string.h>

_Noreturn void lo_fail(lo *L, tc_loc loc, const char *why) {
  tc_report(tc_graph_diag(L->g), TC_MISSED, loc, "not compiled: %s", why);
  longjmp(L->failed, 1);
}

void *lo_alloc(lo *L, tc_arena *a, size_t bytes) {
  void *p = tc_arena_alloc(a, bytes);
  if (!p) lo_fail(L, (tc_loc){0}, "out of memory");
  return p;
}

void *lo_grow(lo *L, tc_arena *a, void *items, uint32_t *cap, uint32_t n, size_t size) {
  if (n < *cap) return items;
  uint32_t old = *cap;
  uint32_t grown = old ? old : 8;
  while (grown <= n) grown *= 2;
  void *p = lo_alloc(L, a, grown * size);
  if (old) memcpy(p, items, old * size);
  *cap = grown;
  return p;
}

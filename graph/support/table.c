/* Open addressing with linear probing; the hash is kept beside the id so that growing needs no
 * keys. */
#include "graph/support/table.h"

#include <stdlib.h>

static uint32_t short_hash(uint64_t h) { return (uint32_t)(h ^ (h >> 32)); }

static void place(tc_slot *slot, uint32_t cap, tc_slot s) {
  uint32_t i = s.hash & (cap - 1);
  while (slot[i].id) i = (i + 1) & (cap - 1);
  slot[i] = s;
}

void tc_table_free(tc_table *t) {
  free(t->slot);
  *t = (tc_table){0};
}

uint32_t tc_table_find(const tc_table *t, uint64_t hash, tc_table_equal *equal, const void *owner,
                       const void *key) {
  if (!t->cap) return 0;
  uint32_t h = short_hash(hash);
  for (uint32_t i = h & (t->cap - 1); t->slot[i].id; i = (i + 1) & (t->cap - 1))
    if (t->slot[i].hash == h && equal(owner, t->slot[i].id, key)) return t->slot[i].id;
  return 0;
}

static bool enlarge(tc_table *t) {
  uint32_t cap = t->cap ? t->cap * 2 : 64;
  if (cap < t->cap) return false;
  tc_slot *slot = calloc(cap, sizeof *slot);
  if (!slot) return false;
  for (uint32_t i = 0; i < t->cap; i++)
    if (t->slot[i].id) place(slot, cap, t->slot[i]);
  free(t->slot);
  t->slot = slot;
  t->cap = cap;
  return true;
}

bool tc_table_add(tc_table *t, uint64_t hash, uint32_t id) {
  if (t->n >= t->cap - t->cap / 4 && !enlarge(t)) return false;
  place(t->slot, t->cap, (tc_slot){id, short_hash(hash)});
  t->n++;
  return true;
}

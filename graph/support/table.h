/* table.h - a hash table of ids for interning: the owner keeps the keys in an array of its own and
 * gives an equality; the table maps a hash to candidate ids in O(1). */
#ifndef TC_TABLE_H
#define TC_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tc_slot {
  uint32_t id; /* 0: free */
  uint32_t hash;
} tc_slot;

typedef struct tc_table {
  tc_slot *slot;
  uint32_t cap, n; /* cap: 0 or a power of two; at most 3/4 full */
} tc_table;

/* Whether the entry `id` of owner has this key. */
typedef bool tc_table_equal(const void *owner, uint32_t id, const void *key);

void tc_table_free(tc_table *t);
/* Id of the entry equal to key, or 0. */
uint32_t tc_table_find(const tc_table *t, uint64_t hash, tc_table_equal *equal, const void *owner,
                       const void *key);
/* Adds id (not 0, not there yet); false: out of memory. */
bool tc_table_add(tc_table *t, uint64_t hash, uint32_t id);

#endif

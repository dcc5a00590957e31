/* count.c - counts the sizes of calls in tables without locks.
 *
 * A table is an array of slots with open addressing.  A slot is claimed by one compare-and-swap,
 * filled, and then released by its key.  A thread that meets a slot that is being filled goes on to
 * the next one: at worst the same sizes have two slots, which are added up where they are
 * written. */
#include <string.h>

#include "runtime/profile/count.h"

enum { KEY, CALLS, TAKEN, WRITTEN, VALUES = TCRT_SIZES_SLOT };
enum { PROBES = 64 }; /* slots that are looked at */
enum { CLOCK = 16 };  /* calls between looks at the clock */

/* splitmix64 over the values; never a key that means something else. */
static uint64_t key_of(const int64_t *value, uint32_t n) {
  uint64_t h = n;
  for (uint32_t i = 0; i < n; i++) {
    h += (uint64_t)value[i] + UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    h ^= h >> 31;
  }
  return h | 2;
}

static uint64_t *slot_at(const tcrt_sizes *s, uint64_t i) {
  return s->slot + i % TCRT_SIZES_SLOTS * (VALUES + s->nsize);
}

/* The slot is free: claims it for these sizes.  false: another thread was first. */
static bool claim(uint64_t *slot, uint64_t key, const int64_t *value, uint32_t n) {
  uint64_t is_free = 0;
  if (!__atomic_compare_exchange_n(&slot[KEY], &is_free, 1, false, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED))
    return false;
  memcpy(&slot[VALUES], value, n * sizeof *value);
  __atomic_store_n(&slot[KEY], key, __ATOMIC_RELEASE);
  return true;
}

/* The slot of these sizes, or NULL. */
static uint64_t *find(const tcrt_sizes *s, const int64_t *value) {
  const uint64_t key = key_of(value, s->nsize);
  for (uint64_t i = 0; i < PROBES; i++) {
    uint64_t *slot = slot_at(s, (key >> 2) + i);
    const uint64_t has = __atomic_load_n(&slot[KEY], __ATOMIC_ACQUIRE);
    if (has == key && memcmp(&slot[VALUES], value, s->nsize * sizeof *value) == 0) return slot;
    if (!has && claim(slot, key, value, s->nsize)) return slot;
  }
  return NULL;
}

void tcrt_sizes_count(tcrt_sizes *s, const int64_t *value) {
  uint64_t *slot = find(s, value);
  uint64_t *counter = slot ? &slot[CALLS] : &s->others;
  const uint64_t before = __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  if (before % CLOCK == 0) tc_sizes_write_now_and_then();
}

/* ---- what is written ------------------------------------------------------------------------- */

/* Each slot that is filled. */
static void each(const tcrt_sizes *s, void (*act)(uint64_t *slot, void *arg), void *arg) {
  for (uint64_t i = 0; i < TCRT_SIZES_SLOTS; i++) {
    uint64_t *slot = slot_at(s, i);
    if (__atomic_load_n(&slot[KEY], __ATOMIC_ACQUIRE) > 1) act(slot, arg);
  }
}

static uint64_t calls_of(const uint64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

typedef struct taking {
  tc_profile *p;
  tc_profile_segment *to;
} taking;

static void take(uint64_t *slot, void *arg) {
  const taking *t = arg;
  int64_t value[TC_PROFILE_SIZES];
  slot[TAKEN] = calls_of(&slot[CALLS]);
  if (!t->to || slot[TAKEN] == slot[WRITTEN]) return;
  memcpy(value, &slot[VALUES], t->to->nsize * sizeof *value);
  tc_profile_add(t->p, t->to, value, slot[TAKEN] - slot[WRITTEN]);
}

void tc_sizes_take(tcrt_sizes *s, tc_profile *p) {
  const tc_profile_place place = {s->function, s->file, s->line, s->segment, s->nsize, s->size};
  taking t = {p, p ? tc_profile_find(p, &place) : NULL};
  each(s, take, &t);
  s->others_taken = calls_of(&s->others);
  if (t.to) t.to->others += s->others_taken - s->others_written;
}

static void settle(uint64_t *slot, void *arg) {
  (void)arg;
  slot[WRITTEN] = slot[TAKEN];
}

void tc_sizes_settle(tcrt_sizes *s) {
  each(s, settle, NULL);
  s->others_written = s->others_taken;
}

static void look(uint64_t *slot, void *waiting) {
  *(bool *)waiting |= calls_of(&slot[CALLS]) != slot[WRITTEN];
}

bool tc_sizes_waiting(const tcrt_sizes *s) {
  bool waiting = calls_of(&s->others) != s->others_written;
  each(s, look, &waiting);
  return waiting;
}

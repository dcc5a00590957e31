/* check.c - see check.h.
 *
 * A header stands behind a record of where it was made and freed.  Records of live headers form a
 * list, which is what was never freed when the program ends; those of freed headers, and freed
 * blocks, form queues.  A block in its queue is filled with FILL: a number that is none of the
 * program's (f32: -1.3e8, i32: -857.7e6), and whoever writes there is found when its time is over.
 * One lock for everything: this is for finding mistakes. */
#include "runtime/libtcrt/src/memory/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "runtime/libtcrt/src/memory/poison.h"
#include "runtime/libtcrt/src/tensor.h"

enum {
  FILL = 0xcc,
  MOST_HEADERS = 1 << 20, /* freed headers that wait */
  MOST_PLACES = 50        /* lines of the last report */
};
static const size_t most_bytes = (size_t)256 << 20; /* of freed blocks that wait */

typedef struct record {
  struct record *prev, *next; /* among live ones; next: in the queue of freed ones */
  tc_place_called made, freed;
  tc_tensor header;
} record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static record *live, *first_freed, *last_freed;
static int freed_count;
static tc_storage *first_block, *last_block;
static size_t waiting; /* bytes of blocks */

bool tc_checks;

__attribute__((constructor(101))) static void load_wish(void) {
  const char *wish = getenv("TC_CHECK");
  tc_checks = wish && *wish && strcmp(wish, "0") != 0;
}

/* ---- headers --------------------------------------------------------------------------------- */

static record *record_of(const tc_tensor *t) {
  return (record *)((char *)(uintptr_t)t - offsetof(record, header));
}

tc_tensor *tc_check_header_new(void) {
  record *r = calloc(1, sizeof *r);
  if (!r) return tc_fail("out of memory: a tensor header");
  r->made = tc_last_place();
  pthread_mutex_lock(&lock);
  r->next = live;
  if (live) live->prev = r;
  live = r;
  pthread_mutex_unlock(&lock);
  return &r->header;
}

/* The queue without its first one, which is returned, when too many wait. */
static record *enqueue(record *r) {
  r->next = NULL;
  if (last_freed) last_freed->next = r;
  else first_freed = r;
  last_freed = r;
  if (++freed_count <= MOST_HEADERS) return NULL;
  record *out = first_freed;
  first_freed = out->next;
  freed_count--;
  return out;
}

void tc_check_header_free(tc_tensor *t) {
  record *r = record_of(t);
  r->freed = tc_last_place();
  pthread_mutex_lock(&lock);
  if (r->prev) r->prev->next = r->next;
  else live = r->next;
  if (r->next) r->next->prev = r->prev;
  record *out = enqueue(r);
  pthread_mutex_unlock(&lock);
  free(out);
}

typedef struct text {
  char text[160];
} text;

static text place_text(tc_place_called p) {
  text t;
  const char *slash = p.file ? strrchr(p.file, '/') : NULL;
  if (p.file) snprintf(t.text, sizeof t.text, "%s:%d", slash ? slash + 1 : p.file, p.line);
  else snprintf(t.text, sizeof t.text, "an unknown place");
  return t;
}

void tc_check_refused(const char *function, int number, const tc_tensor *freed) {
  const record *r = record_of(freed);
  fprintf(
      stderr,
      "tcompile: TC_CHECK: %s at %s is given a freed tensor as operand %d; it was made at %s and "
      "freed at %s\n",
      function, place_text(tc_last_place()).text, number, place_text(r->made).text,
      place_text(r->freed).text);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Was the block written since it was freed? */
static bool is_written(const tc_storage *s) {
  if (tc_poisons) return false; /* said already */
  const unsigned char *p = (const unsigned char *)s->waits;
  size_t n = s->bytes - (size_t)((const char *)s->waits - (const char *)s);
  return n > 0 && (p[0] != FILL || memcmp(p, p + 1, n - 1) != 0);
}

static void look_at(const tc_storage *s) {
  if (!is_written(s)) return;
  const tc_place_called at = {s->file, s->line};
  fprintf(
      stderr,
      "tcompile: TC_CHECK: memory of a tensor was written after it was freed at %s (%zu bytes)\n",
      place_text(at).text, s->bytes);
}

tc_storage *tc_check_block_free(tc_storage *s, void *data) {
  const tc_place_called here = tc_last_place();
  tc_storage *out = NULL;
  s->waits = data;
  s->file = here.file;
  s->line = here.line;
  s->next = NULL;
  memset(data, FILL, s->bytes - (size_t)((char *)data - (char *)s));
  pthread_mutex_lock(&lock);
  if (last_block) last_block->next = s;
  else first_block = s;
  last_block = s;
  waiting += s->bytes;
  if (waiting > most_bytes) {
    out = first_block;
    first_block = out->next;
    if (!first_block) last_block = NULL;
    waiting -= out->bytes;
  }
  pthread_mutex_unlock(&lock);
  if (out) look_at(out);
  return out;
}

/* ---- the end --------------------------------------------------------------------------------- */

typedef struct group {
  tc_place_called made;
  const tc_tensor *first;
  int64_t count, bytes;
} group;

/* The group of tensors made there, or a new one; the last one takes what has no place left. */
static group *group_of(group *g, int *n, tc_place_called made) {
  for (int i = 0; i < *n; i++)
    if (g[i].made.line == made.line && g[i].made.file && made.file &&
        !strcmp(g[i].made.file, made.file))
      return &g[i];
  if (*n < MOST_PLACES) g[(*n)++].made = made;
  return &g[*n - 1];
}

/* What was not freed, by the place where it was made. */
__attribute__((destructor(101))) static void report(void) {
  group g[MOST_PLACES] = {0};
  int n = 0;
  int64_t tensors = 0;
  for (tc_storage *s = first_block; s; s = s->next) look_at(s);
  for (const record *r = live; r; r = r->next, tensors++) {
    group *at = group_of(g, &n, r->made);
    if (!at->first) at->first = &r->header;
    at->count++;
    at->bytes += tc_elements(&r->header) * (int64_t)tc_dtype_bytes(r->header.key.dtype);
  }
  if (!tensors) return;
  fprintf(stderr, "tcompile: TC_CHECK: %" PRId64 " tensor%s never freed; %zu bytes are held\n",
          tensors, tensors == 1 ? " was" : "s were", tc_memory().live);
  for (int i = 0; i < n; i++)
    fprintf(stderr,
            "tcompile:   %" PRId64 " made at %s, %" PRId64 " bytes of elements, such as %s\n",
            g[i].count, place_text(g[i].made).text, g[i].bytes, tc_describe(g[i].first).text);
}

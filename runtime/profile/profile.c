/* profile.c - a profile in memory. */
#include "runtime/profile/profile.h"

#include <stdlib.h>
#include <string.h>

static bool grow(void **at, size_t *cap, size_t n, size_t size) {
  if (n < *cap) return true;
  const size_t more = *cap ? *cap * 2 : 8;
  void *bigger = realloc(*at, more * size);
  if (!bigger) return false;
  *at = bigger;
  *cap = more;
  return true;
}

static void free_segment(tc_profile_segment *s) {
  for (uint32_t i = 0; s->size && i < s->nsize; i++) free(s->size[i]);
  for (size_t i = 0; i < s->n; i++) free(s->at[i].value);
  free(s->function), free(s->file), free(s->size), free(s->at);
}

void tc_profile_free(tc_profile *p) {
  for (size_t i = 0; i < p->n; i++) free_segment(&p->at[i]);
  free(p->at);
  *p = (tc_profile){0};
}

static bool is_at(const tc_profile_segment *s, const tc_profile_place *place) {
  if (s->segment != place->segment || s->line != place->line || s->nsize != place->nsize ||
      strcmp(s->function, place->function) != 0 || strcmp(s->file, place->file) != 0)
    return false;
  for (uint32_t i = 0; i < s->nsize; i++)
    if (strcmp(s->size[i], place->size[i]) != 0) return false;
  return true;
}

static bool make_segment(tc_profile_segment *s, const tc_profile_place *place) {
  *s = (tc_profile_segment){.line = place->line, .segment = place->segment, .nsize = place->nsize};
  s->function = strdup(place->function);
  s->file = strdup(place->file);
  s->size = calloc(place->nsize + 1, sizeof *s->size);
  bool made = s->function && s->file && s->size;
  for (uint32_t i = 0; made && i < place->nsize; i++)
    made = (s->size[i] = strdup(place->size[i])) != NULL;
  return made;
}

/* Rows of one segment stand together: the last one first. */
tc_profile_segment *tc_profile_find(tc_profile *p, const tc_profile_place *place) {
  for (size_t i = p->n; i-- > 0;)
    if (is_at(&p->at[i], place)) return &p->at[i];
  if (!grow((void **)&p->at, &p->cap, p->n, sizeof *p->at)) return p->failed = true, NULL;
  tc_profile_segment *s = &p->at[p->n];
  if (make_segment(s, place)) return p->n++, s;
  free_segment(s);
  p->failed = true;
  return NULL;
}

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

void tc_profile_add(tc_profile *p, tc_profile_segment *s, const int64_t *value, uint64_t calls) {
  const size_t bytes = s->nsize * sizeof *value;
  for (size_t i = 0; i < s->n; i++)
    if (memcmp(s->at[i].value, value, bytes) == 0) {
      s->at[i].calls = sum(s->at[i].calls, calls);
      return;
    }
  int64_t *copy = malloc(bytes + 1);
  if (!copy || !grow((void **)&s->at, &s->cap, s->n, sizeof *s->at)) {
    free(copy);
    p->failed = true;
    return;
  }
  memcpy(copy, value, bytes);
  s->at[s->n++] = (tc_profile_calls){calls, copy};
}

void tc_profile_add_others(tc_profile_segment *s, uint64_t calls) {
  s->others = sum(s->others, calls);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_frequency(const void *a, const void *b) {
  const tc_profile_calls *x = a, *y = b;
  if (x->calls != y->calls) return x->calls < y->calls ? 1 : -1;
  return (*x->value > *y->value) - (*x->value < *y->value);
}

static int by_place(const void *a, const void *b) {
  const tc_profile_segment *x = a, *y = b;
  int order = strcmp(x->file, y->file);
  if (!order && x->line != y->line) order = x->line < y->line ? -1 : 1;
  if (!order) order = strcmp(x->function, y->function);
  if (!order && x->segment != y->segment) order = x->segment < y->segment ? -1 : 1;
  for (uint32_t i = 0; !order && i < x->nsize && i < y->nsize; i++)
    order = strcmp(x->size[i], y->size[i]);
  return order ? order : (x->nsize > y->nsize) - (x->nsize < y->nsize);
}

/* What there is no room for goes to the others. */
static void cut(tc_profile_segment *s) {
  while (s->n > TC_PROFILE_CALLS) {
    tc_profile_calls *last = &s->at[--s->n];
    tc_profile_add_others(s, last->calls);
    free(last->value);
  }
}

void tc_profile_sort(tc_profile *p) {
  if (p->n) qsort(p->at, p->n, sizeof *p->at, by_place);
  for (size_t i = 0; i < p->n; i++) {
    if (p->at[i].n) qsort(p->at[i].at, p->at[i].n, sizeof *p->at[i].at, by_frequency);
    cut(&p->at[i]);
  }
}

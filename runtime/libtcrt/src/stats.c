/* stats.c - counters of compiled functions, summed and printed. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

static uint64_t count(const uint64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Calls that ran the body because a guard failed. */
static uint64_t fallbacks(const tcrt_function *f) {
  uint64_t sum = 0;
  if (f->passes) return 0;
  for (int i = 0; i < TC_MISS_COUNT; i++)
    if (i != TC_MISS_DISABLED) sum += count(&f->miss[i]);
  return sum;
}

static void add(tc_stats *s, const tcrt_function *f) {
  s->functions++;
  s->ops += (uint64_t)f->ops;
  s->kernels += (uint64_t)f->kernels;
  s->hits += count(&f->hits);
  s->packed += count(&f->packed);
  s->fallbacks += fallbacks(f);
}

tc_stats tc_stats_of(const char *function) {
  tc_stats sum = {0};
  tc_lock_functions();
  for (const tcrt_function *f = tc_first_function(); f; f = tc_next_function(f))
    if (!function || !strcmp(function, f->name)) add(&sum, f);
  tc_unlock_functions();
  return sum;
}

void tc_stats_reset(void) {
  tc_lock_functions();
  for (tcrt_function *f = tc_first_function(); f; f = tc_next_function(f)) {
    __atomic_store_n(&f->hits, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&f->packed, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < TC_MISS_COUNT; i++) __atomic_store_n(&f->miss[i], 0, __ATOMIC_RELAXED);
  }
  tc_unlock_functions();
}

/* "another size 2, overlap 1" */
static void print_reasons(const tcrt_function *f) {
  const char *before = "";
  for (int i = 0; i < TC_MISS_COUNT; i++) {
    uint64_t n = count(&f->miss[i]);
    if (!n) continue;
    fprintf(stderr, "%s%s %llu", before, tc_miss_text((tc_miss)i), (unsigned long long)n);
    before = ", ";
  }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { NAME, PLACE, OPS, KERNELS, HITS, PACKED, FALLBACKS, COLUMNS, CELL = 512 };

static const char *const heading[COLUMNS] = {"function", "place",  "ops",      "kernels",
                                             "hits",     "packed", "fallbacks"};

static void put_cell(char out[CELL], int column, const tcrt_function *f) {
  const uint64_t number[COLUMNS] = {[OPS] = (uint64_t)f->ops,
                                    [KERNELS] = (uint64_t)f->kernels,
                                    [HITS] = count(&f->hits),
                                    [PACKED] = count(&f->packed),
                                    [FALLBACKS] = fallbacks(f)};
  if (column == NAME) snprintf(out, CELL, f->sizes ? "%s [%s]" : "%s", f->name, f->sizes);
  else if (column == PLACE) snprintf(out, CELL, "%s", f->location);
  else snprintf(out, CELL, "%llu", (unsigned long long)number[column]);
}

/* Columns are as wide as their widest cell; words stand at the left, numbers at the right. */
static void widen(int width[COLUMNS], const tcrt_function *f) {
  char cell[CELL];
  for (int i = 0; i < COLUMNS; i++) {
    if (f) put_cell(cell, i, f);
    const int n = (int)strlen(f ? cell : heading[i]);
    if (n > width[i]) width[i] = n;
  }
}

static void print_row(const int width[COLUMNS], const tcrt_function *f) {
  char cell[CELL];
  for (int i = 0; i < COLUMNS; i++) {
    if (f) put_cell(cell, i, f);
    fprintf(stderr, "%*s ", i <= PLACE ? -width[i] : width[i], f ? cell : heading[i]);
  }
  fputs(f ? " " : " reasons", stderr);
  if (f) print_reasons(f);
  fputc('\n', stderr);
}

void tc_stats_print(void) {
  int width[COLUMNS] = {0};
  tc_lock_functions();
  widen(width, NULL);
  for (const tcrt_function *f = tc_first_function(); f; f = tc_next_function(f)) widen(width, f);
  print_row(width, NULL);
  for (const tcrt_function *f = tc_first_function(); f; f = tc_next_function(f))
    print_row(width, f);
  tc_unlock_functions();
}

const char *tc_version(void) { return TC_VERSION; }

void tc_print_totals(const tcrt_function *f) {
  if (!fallbacks(f)) return;
  fprintf(stderr, "tcompile: %s (%s) in all: %llu calls ran kernels, %llu the body: ", f->name,
          f->location, (unsigned long long)count(&f->hits), (unsigned long long)fallbacks(f));
  print_reasons(f);
  fputc('\n', stderr);
}

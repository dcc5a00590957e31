/* bench_main.c - the measured program: obeys one-line commands on stdin, answers one line each.
 *
 *   ready                           "ok": the program has started
 *   load FAMILY DTYPE SETS FOLDER   reads FOLDER/in<set>_<operand>.npy, SETS sets of operands
 *   save FILE                       runs set 0 once and writes the result (as f32) for checking
 *   time N                          N timed calls, rotating the sets: "ok ns ns ns ..."
 *   counters                        "ok hits fallbacks mallocs page-faults", since its last call
 *   ceiling NAME                    a measured ceiling of the machine: "ok" and several values
 *   quit
 *
 * Errors answer "error text". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cases.h"
#include "ceilings.h"

enum { MAX_SETS = 32, MAX_OPERANDS = 5 };

typedef struct bench_state {
  const bench_case *what;
  int sets, next;
  tc_tensor *operand[MAX_SETS][MAX_OPERANDS];
  tc_stats stats;
  tc_memory_stats memory;
  long faults;
} bench_state;

static const bench_case *find_case(const char *family, const char *dtype) {
  const bench_case *cases = strcmp(dtype, "bf16") == 0 ? bench_cases_bf16 : bench_cases_f32;
  for (int i = 0; i < BENCH_FAMILIES; i++)
    if (strcmp(cases[i].family, family) == 0 && strcmp(cases[i].dtype, dtype) == 0)
      return &cases[i];
  return NULL;
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const tc_tensor *const *operands(bench_state *b) {
  return (const tc_tensor *const *)b->operand[b->next++ % b->sets];
}

static void unload(bench_state *b) {
  for (int s = 0; s < b->sets; s++)
    for (int i = 0; i < b->what->operands; i++) tc_free(b->operand[s][i]);
  b->sets = 0;
}

/* Operands come as f32 (values) or i64 (indices); values take the dtype of the case. */
static tc_tensor *load_operand(const char *folder, int set, int i, tc_dtype dtype) {
  char path[4096];
  snprintf(path, sizeof path, "%s/in%d_%d.npy", folder, set, i);
  tc_tensor *file = tc_load_npy(path);
  if (!file || tc_dtype_of(file) == TC_I64) return file;
  tc_tensor *x = tc_cast(file, dtype);
  tc_free(file);
  return x;
}

static void load(bench_state *b, const char *args) {
  char family[64], dtype[16], folder[2048];
  int sets;
  if (sscanf(args, "%63s %15s %d %2047s", family, dtype, &sets, folder) != 4 || sets < 1 ||
      sets > MAX_SETS) {
    puts("error usage: load FAMILY DTYPE SETS FOLDER");
    return;
  }
  if (b->sets) unload(b);
  b->what = find_case(family, dtype);
  if (!b->what) {
    puts("error no such case");
    return;
  }
  for (int s = 0; s < sets; s++)
    for (int i = 0; i < b->what->operands; i++)
      b->operand[s][i] = load_operand(folder, s, i, strcmp(dtype, "bf16") == 0 ? TC_BF16 : TC_F32);
  b->sets = sets;
  b->next = 0;
  if (tc_error()) {
    printf("error %s\n", tc_error());
    tc_clear_error();
  } else {
    puts("ok");
  }
}

static void save(bench_state *b, const char *path) {
  TC_SCOPE {
    b->next = 0;
    tc_tensor *y = tc_cast(b->what->run(operands(b)), TC_F32);
    if (y && tc_save_npy(path, y)) puts("ok");
    else printf("error %s\n", tc_error() ? tc_error() : "no result");
    tc_clear_error();
  }
}

static void time_calls(bench_state *b, int n) {
  double *ns = malloc(sizeof(double) * (size_t)n);
  if (!ns) {
    puts("error out of memory");
    return;
  }
  for (int i = 0; i < n; i++) {
    const tc_tensor *const *in = operands(b);
    double start = now_ns();
    tc_tensor *y = b->what->run(in);
    ns[i] = now_ns() - start;
    tc_free(y);
  }
  printf("ok");
  for (int i = 0; i < n; i++) printf(" %.0f", ns[i]);
  putchar('\n');
  free(ns);
}

static void counters(bench_state *b) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  tc_stats s = tc_stats_of(NULL);
  tc_memory_stats m = tc_memory();
  printf("ok %llu %llu %llu %ld\n", (unsigned long long)(s.hits - b->stats.hits),
         (unsigned long long)(s.fallbacks - b->stats.fallbacks),
         (unsigned long long)(m.mallocs - b->memory.mallocs), usage.ru_minflt - b->faults);
  b->stats = s;
  b->memory = m;
  b->faults = usage.ru_minflt;
}

static bool obey(bench_state *b, char *line) {
  line[strcspn(line, "\n")] = 0;
  char *args = strchr(line, ' ');
  if (args) *args++ = 0;
  else args = line + strlen(line);
  if (strcmp(line, "quit") == 0) return false;
  if (strcmp(line, "ready") == 0) puts("ok");
  else if (strcmp(line, "load") == 0) load(b, args);
  else if (strcmp(line, "ceiling") == 0) bench_ceiling(args);
  else if (strcmp(line, "counters") == 0) counters(b);
  else if (!b->sets) puts("error nothing is loaded");
  else if (strcmp(line, "save") == 0) save(b, args);
  else if (strcmp(line, "time") == 0) time_calls(b, atoi(args) > 0 ? atoi(args) : 1);
  else puts("error unknown command");
  return true;
}

int main(void) {
  static bench_state state;
  static char line[8192];
  while (fgets(line, sizeof line, stdin) && obey(&state, line)) fflush(stdout);
  if (state.sets) unload(&state);
  return 0;
}

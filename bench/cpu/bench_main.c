/* bench_main.c - the measured program: obeys one-line commands on stdin, answers one line each.
 *
 *   ready                           "ok": the program has started
 *   load FAMILY DTYPE SETS FOLDER   reads FOLDER/in<set>_<operand>.npy, SETS sets of operands, which lie as FOLDER/layout says
 *   save FILE                       runs set 0 once and writes the results (as f32) for checking: to FILE, FILE.1.npy ...
 *   time N                          N timed calls, rotating the sets: "ok ns ns ns ..."
 *   memory N                        N calls: "ok bytes", by which the resident memory of this process grew at most
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

enum { MAX_SETS = 8, MAX_OPERANDS = 800, MAX_RESULTS = 16 };

typedef struct bench_state {
  const bench_case *what;
  int sets, next;
  tc_tensor *operand[MAX_SETS][MAX_OPERANDS];
  tc_stats stats;
  tc_memory_stats memory;
  long faults;
} bench_state;

static const bench_case *find_case(const char *family, const char *dtype) {
  for (const bench_table *t = bench_tables; t->cases; t++)
    for (int i = 0; i < t->count; i++)
      if (strcmp(t->cases[i].family, family) == 0 && strcmp(t->cases[i].dtype, dtype) == 0)
        return &t->cases[i];
  return NULL;
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static tc_tensor *const *operands(bench_state *b) { return b->operand[b->next++ % b->sets]; }

static void free_results(const bench_case *what, tc_tensor **out) {
  for (int i = 0; i < what->results; i++) tc_free(out[i]);
}

static void unload(bench_state *b) {
  for (int s = 0; s < b->sets; s++)
    for (int i = 0; i < b->what->operands; i++) tc_free(b->operand[s][i]);
  b->sets = 0;
}

/* A copy of x that is dense but for its last axis; takes x over. */
static tc_tensor *columns_of_wider(tc_tensor *x, int64_t left, int64_t right) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    tc_ints dims = tc_shape(x);
    const int last = dims.n - 1;
    const int64_t columns = dims.v[last];
    dims.v[last] += left + right;
    y = tc_keep(tc_slice(tc_zeros(dims, tc_dtype_of(x)), last, left, left + columns, 1));
    tc_copy_(y, x);
  }
  tc_free(x);
  return y;
}

/* A dense copy of x that begins `left` elements behind an aligned address; takes x over. */
static tc_tensor *behind_offset(tc_tensor *x, int64_t left) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    tc_tensor *all = tc_zeros(TC_DIMS(left + tc_numel(x)), tc_dtype_of(x));
    y = tc_keep(tc_reshape(tc_slice(all, 0, left, INT64_MAX, 1), tc_shape(x)));
    tc_copy_(y, x);
  }
  tc_free(x);
  return y;
}

/* x where FOLDER/layout says: a line "OPERAND columns LEFT RIGHT" makes it columns of a wider matrix, "OPERAND offset
 * LEFT 0" begins it LEFT elements behind an aligned address.  Takes x over. */
static tc_tensor *placed(tc_tensor *x, const char *folder, int operand) {
  char path[4096], kind[16];
  int i, left, right;
  snprintf(path, sizeof path, "%s/layout", folder);
  FILE *f = fopen(path, "r");
  tc_tensor *y = x;
  while (f && fscanf(f, "%d %15s %d %d", &i, kind, &left, &right) == 4)
    if (i == operand) y = strcmp(kind, "columns") == 0 ? columns_of_wider(x, left, right) : behind_offset(x, left);
  if (f) fclose(f);
  return y;
}

/* Operands come as f32 (values) or integers; values take the dtype of the case. */
static tc_tensor *load_operand(const char *folder, int set, int i, tc_dtype dtype, bool leaf) {
  char path[4096];
  snprintf(path, sizeof path, "%s/in%d_%d.npy", folder, set, i);
  tc_tensor *file = tc_load_npy(path);
  if (!file || tc_dtype_of(file) != TC_F32) return file;
  tc_tensor *x = tc_cast(file, dtype);
  tc_free(file);
  x = placed(x, folder, i);
  return leaf ? tc_requires_grad_(x, true) : x;
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
      b->operand[s][i] = load_operand(folder, s, i, strcmp(dtype, "bf16") == 0 ? TC_BF16 : TC_F32,
                                      i < b->what->leaves);
  b->sets = sets;
  b->next = 0;
  if (tc_error()) {
    printf("error %s\n", tc_error());
    tc_clear_error();
  } else {
    puts("ok");
  }
}

/* Result number i, as f32, to PATH, or PATH.i.npy. */
static bool save_result(const char *path, int i, const tc_tensor *y) {
  char name[4096];
  bool done = false;
  if (i) snprintf(name, sizeof name, "%s.%d.npy", path, i);
  else snprintf(name, sizeof name, "%s", path);
  TC_SCOPE TC_NO_GRAD done = tc_save_npy(name, tc_cast(y, TC_F32));
  return done;
}

static void save(bench_state *b, const char *path) {
  tc_tensor *out[MAX_RESULTS];
  b->next = 0;
  tc_tensor *const *in = operands(b);
  const int results = b->what->results;
  bool done = b->what->run(in, out);
  for (int i = 0; i < results + b->what->written && done; i++)
    done = save_result(path, i, i < results ? out[i] : in[i - results]);
  if (done) puts("ok");
  else printf("error %s\n", tc_error() ? tc_error() : "no result");
  tc_clear_error();
  free_results(b->what, out);
}

static void time_calls(bench_state *b, int n) {
  double *ns = malloc(sizeof(double) * (size_t)n);
  tc_tensor *out[MAX_RESULTS];
  if (!ns) {
    puts("error out of memory");
    return;
  }
  for (int i = 0; i < n; i++) {
    tc_tensor *const *in = operands(b);
    double start = now_ns();
    b->what->run(in, out);
    ns[i] = now_ns() - start;
    free_results(b->what, out);
  }
  printf("ok");
  for (int i = 0; i < n; i++) printf(" %.0f", ns[i]);
  putchar('\n');
  free(ns);
}

/* A line of /proc/self/status, in bytes; 0: there is none. */
static long resident(const char *key) {
  char line[256];
  long found = 0;
  FILE *f = fopen("/proc/self/status", "r");
  if (!f) return 0;
  while (!found && fgets(line, sizeof line, f))
    if (strncmp(line, key, strlen(key)) == 0) found = atol(line + strlen(key)) * 1024;
  fclose(f);
  return found;
}

static void memory(bench_state *b, int n) {
  tc_tensor *out[MAX_RESULTS];
  tc_trim();
  FILE *f = fopen("/proc/self/clear_refs", "w");
  const bool reset = f && fputs("5", f) > 0; /* VmHWM starts anew */
  if (!f || fclose(f) != 0 || !reset) {
    puts("error no peaks of memory here");
    return;
  }
  const long before = resident("VmRSS:");
  for (int i = 0; i < n; i++) {
    b->what->run(operands(b), out);
    free_results(b->what, out);
  }
  printf("ok %ld\n", resident("VmHWM:") - before);
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
  else if (strcmp(line, "memory") == 0) memory(b, atoi(args));
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

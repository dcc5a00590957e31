/* What measured schedules stand on: kernels by themselves, schedules like a given one, and the database. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/openmp/unit.h"
#include "backends/schedule/neighbours.h"
#include "backends/tuning/tuning.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/random_graph.h"

static void ignore(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}
static tc_diag quiet = {ignore, NULL};

static const tc_backend *const backend = &tc_backend_openmp;

static tc_program *planned(tc_graph *g) {
  tc_program *p = g ? tc_lower(g, backend->target) : NULL;
  if (p) cr_assert(backend->plan(p));
  return p;
}

static char *key_of(const tc_program *p, uint32_t kernel) {
  tc_buf key = {0};
  cr_assert(tc_tuning_put_key(backend, p, kernel, NULL, &key));
  return key.text;
}

static char *text_of(const tc_program *p, const tc_kernel *k) {
  tc_program one = *p;
  tc_buf text = {0};
  one.nkernel = 1;
  one.kernel = (tc_kernel *)k;
  tc_schedule_print(backend->schedule, &one, "kernel", &text);
  return text.text;
}

/* ---- a kernel by itself ---------------------------------------------------------------------- */

/* Its text is read back, and is planned as the kernel was. */
static void check_alone(const tc_program *p, uint32_t i) {
  tc_program alone;
  tc_buf text = {0}, again = {0};
  cr_assert(tc_kernel_alone(p, i, tc_tuning_nests(p, i), &alone));
  tc_program_print(&alone, &text);
  tc_program *read = tc_program_read(text.text, &quiet);
  cr_assert_not_null(read, "%s", text.text);
  tc_program_print(read, &again);
  cr_expect_str_eq(strchr(again.text, '\n'), strchr(text.text, '\n'));
  cr_assert(backend->plan(read));
  char *by = text_of(read, &read->kernel[0]), *was = text_of(&alone, &alone.kernel[0]);
  cr_expect_str_eq(by, was);
  free(by);
  free(was);
  tc_graph *g = read->graph;
  tc_program_free(read);
  tc_graph_free(g);
  tc_buf_free(&text);
  tc_buf_free(&again);
}

Test(tuning, kernels_by_themselves) {
  int n = 120, kernels = 0;
  random_options *o = random_many_ops(771000, &n);
  for (int i = 0; i < n; i++) {
    random_graph r;
    const bool made = random_graph_make(&o[i], &quiet, &r);
    random_graph_free_input(&r, r.input);
    tc_graph *g = made ? tc_graph_optimize(r.g) : NULL;
    if (!made) tc_graph_free(r.g);
    tc_program *p = planned(g);
    for (uint32_t k = 0; p && k < p->nkernel; k++)
      if (tc_tuning_nests(p, k)) check_alone(p, k), kernels++;
    if (p) tc_program_free(p);
    if (g) tc_graph_free(g);
  }
  free(o);
  cr_expect_gt(kernels, 100);
}

static tc_program *program_of(const char *text, tc_graph **g) {
  *g = tc_graph_optimize(tc_graph_parse(text, &quiet));
  tc_program *p = planned(*g);
  cr_assert_not_null(p);
  return p;
}

/* Of the sizes and of what is computed, not of names; of the schedule that is planned. */
Test(tuning, keys) {
  static const char *const text[] = {
      "graph g\n%1 = param f32[64,512] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n",
      "graph h\n%1 = param f32[64,512] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n",
      "graph g\n%1 = param f32[64,513] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n",
      "graph g\n%1 = param f32[64,512] \"x\"\n%2 = max %1 axes=[1] keep=0\nret %2\n"};
  char *key[5];
  for (int i = 0; i < 5; i++) {
    tc_graph *g;
    tc_program *p = program_of(text[i % 4], &g);
    cr_assert(tc_tuning_is_fixed(p, 0));
    if (i == 4) ((tc_schedule *)p->kernel[0].schedule)->nest[0].nvariant = 0;
    key[i] = key_of(p, 0);
    tc_program_free(p);
    tc_graph_free(g);
  }
  cr_expect_str_eq(key[0], key[1]);
  for (int i = 2; i < 5; i++) cr_expect_str_neq(key[0], key[i], "%d", i);
  for (int i = 0; i < 5; i++) free(key[i]);
  tc_graph *g;
  tc_program *p = program_of("graph g\n%1 = param f32[R,512] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n", &g);
  cr_expect_not(tc_tuning_is_fixed(p, 0));
  tc_program_free(p);
  tc_graph_free(g);
}

/* ---- schedules like a given one -------------------------------------------------------------- */

typedef struct neighbours {
  const tc_program *p;
  tc_buf all;
  int n;
} neighbours;

static bool note(void *self, const tc_schedule *s, const char *change) {
  neighbours *x = self;
  tc_kernel k = x->p->kernel[0];
  tc_kernel_text t = {0};
  tc_buf why = {0};
  k.schedule = s;
  tc_putf(&x->all, "%s\n", change);
  cr_expect(tc_schedule_verify_kernel(backend->schedule, x->p, &k, &why), "%s: %s", change, why.text);
  cr_expect(backend->emit_kernel(&k, x->p, &t), "%s", change);
  tc_kernel_text_free(&t);
  tc_buf_free(&why);
  x->n++;
  return true;
}

static char *neighbours_of(const char *graph) {
  tc_graph *g;
  tc_program *p = program_of(graph, &g);
  neighbours x = {.p = p};
  const uint32_t variant[8] = {0};
  const tc_schedule *before = p->kernel[0].schedule;
  cr_assert(tc_schedule_each_neighbour(backend->schedule, p, &p->kernel[0], variant, note, &x));
  cr_expect_eq(p->kernel[0].schedule, before);
  tc_program_free(p);
  tc_graph_free(g);
  return x.all.text;
}

Test(tuning, neighbours_of_a_sum) {
  char *all = neighbours_of("graph g\n%1 = param f32[640,512] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n");
  static const char *const wanted[] = {"threads 1\n", "no threads\n", "stage 0 unroll 2\n", "stage 0 unroll 8\n",
                                       "vector i, tile 256", "vector j, jam-rows 4\n", "vector j, collect\n"};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) cr_expect(strstr(all, wanted[i]), "%s in\n%s", wanted[i], all);
  cr_expect_not(strstr(all, "block"), "%s", all); /* it would change what is computed */
  cr_expect_not(strstr(all, "unroll 3"), "%s", all);
  free(all);
}

/* Rows without totals are collected only where these have no use. */
Test(tuning, long_rows_are_not_collected) {
  char *all = neighbours_of("graph g\n%1 = param f32[640,5120] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n");
  cr_expect_not(strstr(all, "collect"), "%s", all);
  free(all);
}

/* By its conditions and the lanes of a vector. */
Test(tuning, the_variant_that_runs) {
  tc_graph *g;
  tc_program *p = program_of("graph g\n%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n", &g);
  static const struct {
    int64_t rows, columns, lanes;
    uint32_t variant;
  } row[] = {{100, 8, 16, 0}, {10, 8, 16, 2}, {10, 8, 8, 0}, {100, 64, 16, 1}, {100, 128, 16, 2}, {3, 5000, 16, 2}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const int64_t sym[] = {row[i].rows, row[i].columns};
    cr_expect_eq(tc_schedule_running(p, &p->kernel[0], 0, sym, row[i].lanes), row[i].variant, "%zu", i);
  }
  tc_program_free(p);
  tc_graph_free(g);
}

/* ---- the database ---------------------------------------------------------------------------- */

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

static char *temporary(char path[32]) {
  strcpy(path, "/tmp/tc-tuning-XXXXXX");
  const int fd = mkstemp(path);
  cr_assert_geq(fd, 0);
  close(fd);
  return path;
}

static tc_tuning *read_all(const char *path) {
  tc_buf why = {0};
  tc_tuning *t = tc_tuning_read(path, &why);
  cr_assert_not_null(t, "%s", why.text);
  return t;
}

Test(tuning, is_read_back) {
  char path[32];
  tc_buf why = {0};
  unlink(temporary(path));
  cr_assert(tc_tuning_add(path, &(tc_tuning_entry){.key = KEY "0", .kernel = "sum_1", .machine = "a b, v3", .planned = 12.5},
                          &why));
  const tc_tuning_entry taken = {.key = KEY "1", .kernel = "max_2", .machine = "a b, v3", .planned = 8, .taken = 4.25,
                                 .change = "stage 0 unroll 8", .schedule = "  threads 1\n  nest 0\n    vector j\n"};
  cr_assert(tc_tuning_add(path, &taken, &why));
  cr_assert(tc_tuning_add(path, &(tc_tuning_entry){.key = KEY "1", .kernel = "x", .machine = "a b, v3", .planned = 1}, &why));
  tc_tuning *t = read_all(path);
  cr_assert_eq(tc_tuning_count(t), 2);
  const tc_tuning_entry *stays = tc_tuning_find(t, KEY "0", "a b, v3"), *e = tc_tuning_find(t, KEY "1", "a b, v3");
  cr_assert(stays && e);
  cr_expect(stays->planned == 12.5 && stays->taken == 0);
  cr_expect(e->planned == 8 && e->taken == 4.25);
  cr_expect_str_eq(e->kernel, "max_2");
  cr_expect_str_eq(e->change, taken.change);
  cr_expect_str_eq(e->schedule, taken.schedule);
  cr_expect_eq(e->line, 12);
  cr_expect_null(tc_tuning_find(t, KEY "1", "another, v3"));
  tc_tuning_free(t);
  unlink(path);
}

#define ENTRY "kernel " KEY "0 k\n  machine m\n  version 0.1.0\n"

Test(tuning, is_refused_with_the_line) {
  static const struct {
    const char *text, *why;
  } row[] = {
      {"nothing\n", "f: line 1: expected an entry"},
      {"; a comment\n\n<<<<<<< ours\n", "f: line 3: expected an entry"},
      {"kernel 12 k\n", "f: line 1: expected 'kernel', 64 hexadecimal digits and a name"},
      {"kernel " KEY "0\n", "f: line 1: expected 'kernel', 64 hexadecimal digits and a name"},
      {ENTRY "  planned fast\n", "f: line 4: expected microseconds"},
      {ENTRY "  planned nan\n", "f: line 4: expected microseconds"},
      {ENTRY "  planned 3 4\n", "f: line 4: nothing stands behind the time"},
      {ENTRY "  planned 3\n  taken 2\n", "f: line 5: expected 'by' and what is done otherwise"},
      {ENTRY "  planned 3\n  taken 2 by x\nend\n", "f: line 6: the entry has no schedule"},
      {ENTRY "  planned 3\n  slow 2\n", "f: line 5: expected machine, version, planned, taken, or 'end'"},
      {ENTRY "end\n", "f: line 4: the entry does not say machine, version and planned"},
      {ENTRY "  planned 3\n", "f: line 5: the file ends within an entry"},
      {ENTRY "  planned 3\n" ENTRY, "f: line 5: the entry in front of this line has no 'end'"},
      {"end\n", "f: line 1: 'end' of no entry"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tc_buf why = {0};
    cr_expect_null(tc_tuning_parse(row[i].text, "f", &why), "%s", row[i].text);
    cr_expect_str_eq(why.text ? why.text : "", row[i].why);
    tc_buf_free(&why);
  }
}

/* Several processes add at once, some of it twice; one that is wrong is not added to. */
Test(tuning, loses_nothing) {
  enum { PROCESSES = 4, EACH = 25 };
  char path[32];
  unlink(temporary(path));
  for (int process = 0; process < PROCESSES; process++) {
    if (fork()) continue;
    for (int i = 0; i < EACH; i++) {
      char key[TC_TUNING_KEY + 1];
      tc_buf why = {0};
      snprintf(key, sizeof key, "%.60s%04x", KEY, i + (process / 2) * EACH);
      if (!tc_tuning_add(path, &(tc_tuning_entry){.key = key, .kernel = "k", .machine = "m", .planned = 1 + i}, &why)) _exit(1);
    }
    _exit(0);
  }
  for (int process = 0; process < PROCESSES; process++) {
    int status;
    cr_assert(wait(&status) > 0 && status == 0);
  }
  tc_tuning *t = read_all(path);
  cr_expect_eq(tc_tuning_count(t), PROCESSES / 2 * EACH);
  tc_tuning_free(t);
  FILE *f = fopen(path, "a");
  fputs("broken\n", f);
  fclose(f);
  tc_buf why = {0};
  cr_expect_not(tc_tuning_add(path, &(tc_tuning_entry){.key = KEY "f", .kernel = "k", .machine = "m", .planned = 1}, &why));
  cr_expect(strstr(why.text, "expected an entry"), "%s", why.text);
  tc_buf_free(&why);
  unlink(path);
}

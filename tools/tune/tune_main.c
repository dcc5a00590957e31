/* tc-tune - measures schedules of kernels on this machine: see tune.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/registry.h"
#include "backends/schedule/words.h"
#include "backends/tuning/tuning.h"
#include "graph/file.h"
#include "graph/passes/pass.h"
#include "tools/tune/tune.h"

static const char usage[] =
    "usage: tc-tune [--kernel=NAME] [--database=FILE] [--seconds=N] [--compiler=CLANG] [--isa=LIST]\n"
    "               [--schedule=FILE] [-DNAME=N] [--quiet] FILE.tcg... [SIZE=N,...]\n"
    "       tc-tune ... --program=LOOPS\n"
    "  runs each kernel of nests for the CPU by the schedules that are like its planned one, in turns with it, and\n"
    "  prints the times, the fastest first, and of several kernels what the planned schedules lose against these;\n"
    "  SIZE=N: what sizes are, that are no numbers in the graph\n"
    "  --kernel     this one alone\n"
    "  --database   where results of kernels whose sizes are all known are written, and read by builds: tune=FILE\n"
    "  --seconds    that new candidates are begun for each kernel (10)\n"
    "  --compiler   what compiles them (" TC_TUNE_COMPILER ")\n"
    "  --isa        levels of the CPU: the best that this machine has is measured\n"
    "  --schedule   in place of planned schedules, in the form that TC_DUMP=schedule prints\n"
    "  --program    one kernel, in the form that TC_DUMP=loops prints\n"
    "  --quiet      only what is wrong\n";

typedef struct request {
  const char *program, *schedule, *database, *compiler, *kernel, *name, *key, *sizes;
  double seconds;
  uint32_t levels;
  bool quiet;
  TC_VEC(const char *) macro;
  TC_VEC(const char *) path;
  TC_VEC(double) loss; /* of each kernel: planned time / time of the fastest - 1 */
} request;

static void print_diag(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "tc-tune: %u:%u: %s\n", loc.line, loc.col, text);
}

static bool complain(const char *what, const char *why) {
  fprintf(stderr, "tc-tune: %s: %s\n", what, why ? why : "out of memory");
  return false;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static const char *const state_text[] = {
    "not run", "", "the same", "the compiler refuses it", "crashed", "hangs", "other results"};

static int by_ratio(const void *a, const void *b) {
  const tune_candidate *x = *(tune_candidate *const *)a, *y = *(tune_candidate *const *)b;
  if (x->state != y->state)
    return x->state == TUNE_MEASURED ? -1 : y->state == TUNE_MEASURED ? 1 : 0;
  return x->times.ratio < y->times.ratio ? -1 : x->times.ratio > y->times.ratio;
}

static void print_candidate(const tune_candidate *c) {
  if (c->state == TUNE_SAME) return;
  if (c->state == TUNE_MEASURED)
    printf("  %10.2f us  %5.2f +- %.2f  %s\n", c->times.us, c->times.ratio, c->times.noise,
           c->change);
  else printf("  %13s  %13s  %s: %s\n", "", "", c->change, state_text[c->state]);
}

static void print_result(const char *kernel, const tune_result *r) {
  TC_VEC(const tune_candidate *) order = {0};
  const tune_candidate *best = &r->tried.at[r->best];
  printf("%s: planned %.2f us, noise %.1f %%, %zu candidates%s\n", kernel, r->tried.at[0].times.us,
         100 * r->noise, r->tried.n - 1,
         r->idle ? "" : "; the machine is busy, and threads stay as planned");
  for (size_t i = 1; i < r->tried.n; ++i)
    if (!tc_push(&order, (const tune_candidate *)&r->tried.at[i])) break;
  if (order.n) qsort(order.at, order.n, sizeof *order.at, by_ratio);
  for (size_t i = 0; i < order.n; ++i) print_candidate(order.at[i]);
  if (r->best) printf("%s: taken %.2f us: %s\n", kernel, best->times.us, best->change);
  else printf("%s: stays as planned\n", kernel);
  free(order.at);
}

/* The lines of the kernel alone. */
static const char *body_of(const char *schedule) {
  for (int line = 0; line < 2 && schedule; ++line)
    schedule = strchr(schedule, '\n') ? strchr(schedule, '\n') + 1 : NULL;
  return schedule ? schedule : "";
}

static bool save(const request *r, const char *kernel, const char *key, const tune_result *found) {
  const tune_candidate *planned = &found->tried.at[0], *best = &found->tried.at[found->best];
  tc_buf machine = {0}, why = {0};
  tc_tuning_put_machine(r->levels, &machine);
  tc_tuning_entry e = {
      .key = key, .kernel = kernel, .machine = machine.text, .planned = planned->times.us};
  if (found->best) {
    e.planned = best->times.us / best->times.ratio;
    e.taken = best->times.us, e.change = best->change, e.schedule = body_of(best->text);
  }
  const bool ok = !machine.failed && tc_tuning_add(r->database, &e, &why);
  if (!ok) fprintf(stderr, "tc-tune: %s\n", why.text ? why.text : "out of memory");
  tc_buf_free(&machine);
  tc_buf_free(&why);
  return ok;
}

/* ---- one kernel ------------------------------------------------------------------------------ */

static int64_t lanes_at(int level) { return level == TC_ISA_V2 ? 4 : level == TC_ISA_V3 ? 8 : 16; }

/* Kernel i of p, which is planned. */
static bool tune(request *r, const tc_backend *b, const tc_program *p, uint32_t i,
                 const int64_t *sym) {
  tc_program alone;
  tune_result found;
  tc_buf key = {0};
  const char *name = r->name ? r->name : p->kernel[i].name;
  const bool fixed = tc_tuning_is_fixed(p, i);
  bool ok = tc_kernel_alone(p, i, tc_tuning_nests(p, i), &alone) &&
            tc_tuning_put_key(b, p, i, fixed ? NULL : sym, &key);
  if (!ok) return complain(name, NULL);
  const int level = tc_tuning_level(r->levels);
  tune_problem x = {.b = b,
                    .p = &alone,
                    .k = alone.kernel,
                    .sym = sym,
                    .level = level,
                    .lanes = lanes_at(level),
                    .compiler = r->compiler,
                    .macro = r->macro.at,
                    .nmacro = r->macro.n,
                    .end = tc_tuning_now() + r->seconds};
  ok = tune_search(&x, &found);
  if (ok && !r->quiet) print_result(name, &found);
  if (ok) ok = tc_push(&r->loss, found.best ? 1 / found.tried.at[found.best].times.ratio - 1 : 0);
  if (ok && r->database) ok = save(r, name, r->key ? r->key : key.text, &found);
  tune_result_free(&found);
  tc_buf_free(&key);
  return ok;
}

static bool tune_program(request *r, const tc_backend *b, tc_program *p, const char *symbol,
                         const int64_t *sym) {
  const tc_setting schedule = {"schedule", r->schedule};
  tc_buf why = {0};
  bool ok = tc_program_verify(p, (char[256]){0}, 256) && b->plan(p);
  if (ok && r->schedule) ok = tc_schedule_read_file(b->schedule, schedule.value, p, symbol, &why);
  if (!ok) complain(r->schedule ? r->schedule : symbol, why.text);
  tc_buf_free(&why);
  for (uint32_t i = 0; ok && i < p->nkernel; ++i)
    if (tc_tuning_nests(p, i) && (!r->kernel || !strcmp(r->kernel, p->kernel[i].name)))
      ok = tune(r, b, p, i, sym);
  return ok;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool size_in(const char *list, const char *name, int64_t *value) {
  const size_t n = strlen(name);
  for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
    if (!strncmp(at, name, n) && at[n] == '=') return (*value = strtoll(at + n + 1, NULL, 10)) > 0;
  return false;
}

/* Rows follow each other in the operands that are measured. */
static void set_pitches(tc_graph *g, int64_t *sym) {
  tc_dims *dims = tc_graph_dims(g);
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); ++i) {
    const tc_sym *s = tc_dims_sym(dims, i);
    if (s->pitch && (uint32_t)s->input < tc_graph_input_count(g))
      tc_dim_eval(dims, tc_graph_input_at(g, (uint32_t)s->input)->type.dim[s->axis], sym, &sym[i]);
  }
}

/* [symbols]; NULL after saying which is missing.  The kernel of --program may depend on none of
 * them. */
static int64_t *sizes_of(const request *r, tc_graph *g) {
  tc_dims *dims = tc_graph_dims(g);
  const uint32_t n = tc_dims_sym_count(dims);
  int64_t *sym = calloc(n + 1u, sizeof *sym);
  for (uint32_t i = 0; sym && i < n; ++i) {
    const tc_sym *s = tc_dims_sym(dims, i);
    if (s->pitch || size_in(r->sizes, s->name, &sym[i])) continue;
    if (s->lo == s->hi || (r->program && !r->sizes)) {
      sym[i] = s->lo > 0 ? s->lo : 1;
      continue;
    }
    fprintf(stderr, "tc-tune: what is %s? Say %s=N behind the file\n", s->name, s->name);
    free(sym);
    return NULL;
  }
  if (sym) set_pitches(g, sym);
  return sym;
}

static bool read_text(const char *path, tc_buf *text) {
  FILE *f = fopen(path, "r");
  const bool ok = f && tc_put_rest(text, f);
  if (f) fclose(f);
  return ok || complain(path, "it cannot be read");
}

static bool tune_loops(request *r, const tc_backend *b, const char *text) {
  tc_diag diag = {print_diag, NULL};
  tc_program *p = tc_program_read(text, &diag);
  if (!p) return false;
  tc_graph *g = p->graph;
  int64_t *sym = sizes_of(r, g);
  const bool ok = sym && tune_program(r, b, p, TC_TUNING_NAME, sym);
  free(sym);
  tc_program_free(p);
  tc_graph_free(g);
  return ok;
}

static bool tune_graph(request *r, const tc_backend *b, tc_graph *g) {
  g = tc_graph_optimize(g);
  tc_program *p = g ? tc_lower(g, b->target) : NULL;
  int64_t *sym = p ? sizes_of(r, g) : NULL;
  const bool ok = sym && tune_program(r, b, p, tc_graph_name(g), sym);
  free(sym);
  if (p) tc_program_free(p);
  if (g) tc_graph_free(g);
  return ok;
}

static bool tune_file(request *r, const tc_backend *b, const tc_buf *text) {
  tc_diag diag = {print_diag, NULL};
  tc_file *f = tc_file_read(text->text ? text->text : "", text->len, &diag);
  bool ok = f;
  for (size_t i = 0; ok && i < f->graph.n; ++i) {
    tc_graph *g = f->graph.at[i].graph;
    f->graph.at[i].graph = NULL; /* taken over */
    ok = tune_graph(r, b, g);
  }
  if (f) tc_file_free(f);
  return ok;
}

static bool takes(const char *text, const char *key, const char **value) {
  const size_t n = strlen(key);
  if (strncmp(text, key, n) != 0 || !text[n]) return false;
  *value = text + n;
  return true;
}

static bool read_levels(const char *list, uint32_t *levels) {
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    int i = 0;
    const size_t n = strcspn(at, ",");
    while (i < TC_ISA_COUNT && (strlen(tc_isa_name[i]) != n || strncmp(at, tc_isa_name[i], n) != 0))
      ++i;
    if (i == TC_ISA_COUNT) return false;
    *levels |= 1u << i;
  }
  return *levels;
}

static bool parse(const char *text, request *r) {
  const char *value;
  if (takes(text, "--kernel=", &r->kernel) || takes(text, "--database=", &r->database) ||
      takes(text, "--compiler=", &r->compiler) || takes(text, "--schedule=", &r->schedule) ||
      takes(text, "--program=", &r->program) || takes(text, "--name=", &r->name) ||
      takes(text, "--key=", &r->key))
    return true;
  if (takes(text, "--seconds=", &value)) return (r->seconds = strtod(value, NULL)) > 0;
  if (takes(text, "--isa=", &value)) return read_levels(value, &r->levels);
  if (!strcmp(text, "--quiet")) return r->quiet = true;
  if (!strncmp(text, "-D", 2)) return tc_push(&r->macro, text);
  if (*text == '-') return false;
  if (!strchr(text, '=')) return tc_push(&r->path, text);
  if (r->sizes) return false;
  r->sizes = text;
  return true;
}

static void print_losses(const request *r) {
  const size_t n = r->loss.n;
  if (r->quiet || n < 2) return;
  const double median = tune_median(r->loss.at, n); /* and sorts them */
  printf("%zu kernels: planned schedules lose %.1f %% (median), %.1f %% (95th percentile), %.1f %% (most)\n", n,
         100 * median, 100 * r->loss.at[(n - 1) * 95 / 100], 100 * r->loss.at[n - 1]);
}

static bool tune_path(request *r, const char *path) {
  const tc_backend *b = tc_backend_of_build(0);
  tc_buf text = {0};
  bool ok = read_text(path, &text);
  if (ok) ok = r->program ? tune_loops(r, b, text.text ? text.text : "") : tune_file(r, b, &text);
  tc_buf_free(&text);
  return ok;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--help")) return fputs(usage, stdout) < 0;
  request r = {.compiler = TC_TUNE_COMPILER, .seconds = 10};
  bool ok = true;
  for (int i = 1; ok && i < argc; ++i)
    if (!(ok = parse(argv[i], &r)))
      fprintf(stderr, "tc-tune: '%s' is not understood\n%s", argv[i], usage);
  if (ok && !r.path.n == !r.program) ok = false, fputs(usage, stderr);
  if (!ok) return 2;
  if (r.program) ok = tune_path(&r, r.program);
  for (size_t i = 0; ok && i < r.path.n; ++i) ok = tune_path(&r, r.path.at[i]);
  if (ok) print_losses(&r);
  free(r.macro.at);
  free(r.path.at);
  free(r.loss.at);
  return !ok;
}

/* tc-opt - the compiler without a C frontend: reads a graph in text form, prints C.  The name of
 * the graph becomes the entry's symbol. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/compile.h"
#include "backends/plan.h"
#include "backends/registry.h"
#include "graph/file.h"
#include "graph/passes/pass.h"
#include "tools/opt/run.h"

static void print_diag(void *self, tc_severity s, tc_loc loc, const char *text) {
  static const char *const name[] = {"note", "remark", "missed", "warning", "error"};
  (void)self;
  fprintf(stderr, "%u:%u: %s: %s\n", loc.line, loc.col, name[s], text);
}

typedef struct request {
  bool host, kernels, loops, check, text, binary, run;
  bool told; /* what is wrong */
  int graph; /* of --run */
  const char *out;
  TC_VEC(const char *) operand;
  tc_choices backends;
  TC_VEC(tc_setting) setting;
  const char *path;
} request;

/* The one that was asked for: the first is for the CPU. */
static const tc_backend *backend_of(const request *r) {
  return r->backends.at[r->backends.n - 1].backend;
}

/* --check, --text, --binary: the file itself, and no code of it. */
static int print_file(const tc_file *f, const request *r) {
  tc_buf out = {0};
  if (r->text) tc_file_put_text(f, &out);
  else if (r->binary) tc_file_put_binary(f, &out);
  else
    tc_putf(&out, "%s: %zu graph%s%s%s, verified\n", r->path ? r->path : "-", f->graph.n,
            f->graph.n == 1 ? "" : "s", *f->function ? " of " : "", f->function);
  const bool ok = !out.failed && fwrite(out.text, 1, out.len, stdout) == out.len && !fflush(stdout);
  if (!ok) fprintf(stderr, "tc-opt: the output could not be written\n");
  tc_buf_free(&out);
  return !ok;
}

/* Nothing where a graph returns nothing. */
static void print_text(const tc_buf *b) { fputs(b->text ? b->text : "", stdout); }

static int print_loops(tc_graph *g, const tc_target *target) {
  g = tc_graph_optimize(g);
  tc_program *p = g ? tc_lower(g, target) : NULL;
  tc_buf out = {0};
  if (p) tc_program_print(p, &out);
  print_text(&out);
  tc_buf_free(&out);
  const int status = p ? 0 : 1;
  if (p) tc_program_free(p);
  if (g) tc_graph_free(g);
  return status;
}

static bool print_kernel(const tc_backend *b, const tc_kernel *k, const tc_program *p) {
  tc_kernel_text t = {0};
  tc_buf whole = {0};
  const bool ok = b->supports(k, p) && b->emit_kernel(k, p, &t) && b->complete(t.text.text, &whole);
  if (ok) puts(whole.text);
  else
    fprintf(stderr, "tc-opt: the %s backend has no code for %s\n", b->name, k->name ? k->name : "");
  tc_buf_free(&whole);
  tc_kernel_text_free(&t);
  return ok;
}

/* By the plan, or as --schedule says. */
static bool plan(tc_program *p, const request *r) {
  const tc_backend *b = backend_of(r);
  const char *name = tc_graph_name(p->graph);
  tc_buf why = {0};
  const bool ok = tc_plan_program(b, p, r->setting.at, (uint32_t)r->setting.n, name, &why);
  tc_dump_loops(b, p, name);
  if (ok) tc_dump_schedule(b, p, name, name);
  else fprintf(stderr, "tc-opt: %s\n", why.text ? why.text : "out of memory");
  tc_buf_free(&why);
  return ok;
}

/* Every kernel is a text of its own. */
static int print_apart(tc_graph *g, const request *r) {
  const tc_backend *b = backend_of(r);
  g = tc_graph_optimize(g);
  tc_program *p = g ? tc_lower(g, b->target) : NULL;
  bool ok = p && plan(p, r);
  for (uint32_t i = 0; ok && i < p->nkernel; ++i) ok = print_kernel(b, &p->kernel[i], p);
  if (p) tc_program_free(p);
  if (g) tc_graph_free(g);
  return ok ? 0 : 1;
}

static int print_texts(tc_graph *g, const request *r) {
  const tc_unit_options options = {.setting = r->setting.at, .nsetting = (uint32_t)r->setting.n};
  tc_function f = {.file = r->path ? r->path : "-",
                   .line = 1,
                   .graph = g,
                   .ops = (int)tc_graph_count(g),
                   .choice = r->backends.at,
                   .nchoice = r->backends.n,
                   .setting = options.setting,
                   .nsetting = options.nsetting};
  char *name = strdup(tc_graph_name(g));
  f.symbol = f.name = name;
  tc_result result;
  tc_texts texts = {0};
  const bool ok = name && tc_compile_functions(&f, 1, &options, &result, &texts) && result.compiled;
  for (size_t i = 0; ok && r->kernels && i < texts.nkernels; ++i)
    print_text(&texts.kernels[i].text);
  if (ok && r->host) print_text(&texts.host);
  tc_texts_free(&texts);
  free(name);
  return ok && result.made + 1 == 1u << r->backends.n ? 0 : 1;
}

static bool choose(const char *text, request *r) {
  tc_buf why = {0};
  const bool ok = tc_choose(text, true, &r->backends, &why) && !tc_chose_eager(&r->backends);
  if (!ok) fprintf(stderr, "tc-opt: %s\n", why.len ? why.text : "nothing is compiled by 'eager'");
  tc_buf_free(&why);
  r->told = !ok;
  return ok;
}

/* --KEY=VALUE: an option that the backend has; `text` stays. */
static bool set(char *text, request *r) {
  const tc_backend *b = backend_of(r);
  char *value = strchr(text, '=');
  if (!value) return false;
  *value++ = 0;
  for (uint32_t i = 0; i < b->noption; ++i)
    if (!strcmp(text, b->option[i].key))
      return !b->option[i].check(value) && tc_push(&r->setting, ((tc_setting){text, value}));
  return false;
}

/* The file, and behind it what --run takes. */
static bool take_path(char *text, request *r) {
  if (!r->path) r->path = text;
  else return r->run && tc_push(&r->operand, (const char *)text);
  return true;
}

static bool parse_argument(char *text, request *r) {
  if (!strcmp(text, "--host")) r->kernels = false;
  else if (!strcmp(text, "--kernels")) r->host = false;
  else if (!strcmp(text, "--loops")) r->loops = true;
  else if (!strcmp(text, "--check")) r->check = true;
  else if (!strcmp(text, "--text")) r->text = true;
  else if (!strcmp(text, "--binary")) r->binary = true;
  else if (!strcmp(text, "--run")) r->run = true;
  else if (!strncmp(text, "--graph=", 8)) return (r->graph = atoi(text + 8)) > 0;
  else if (!strncmp(text, "--backend=", 10)) return choose(text + 10, r);
  else if (!strncmp(text, "--schedule=", 11))
    return text[11] && tc_push(&r->setting, ((tc_setting){"schedule", text + 11}));
  else if (!strncmp(text, "--", 2)) return set(text + 2, r);
  else return take_path(text, r);
  return true;
}

static const char usage[] =
    "usage: tc-opt [--backend=NAME|PATH] [--host | --kernels | --loops] [--schedule=FILE]\n"
    "              [--KEY=VALUE] [FILE]\n"
    "       tc-opt --check | --text | --binary [FILE]\n"
    "       tc-opt --run [--graph=N] [-o RESULT.npy] FILE [OPERAND.npy | NUMBER]...\n"
    "  prints the C that graphs (FILE, or standard input: a .tcg in either form, or the text of "
    "one\n"
    "  graph) become: kernels, and the entry\n"
    "  --backend    which one makes the kernels (tc-backends lists them), or its shared object\n"
    "  --host       the entry alone; of a backend for another device with its machine code\n"
    "  --kernels    the kernels alone, as that backend's compiler gets them; those of openmp want\n"
    "               -DTC_LEVEL=v2|v3|v4|bf16|amx\n"
    "  --loops      the loops instead, as the backend gets them\n"
    "  --schedule=FILE  kernels run as the file says, in the form that TC_DUMP=schedule prints\n"
    "  --KEY=VALUE  an option of the backend named before it (tc-options)\n"
    "  --check      only reads the file: whether it is whole, and its types are right\n"
    "  --text, --binary  the file in that form\n"
    "  --run        runs the first graph that takes the operands, which are in the order of its\n"
    "               parameters, one op after the other, and prints its results\n"
    "  --graph=N    that graph of the file, from 1\n"
    "  -o           a file for each result in place of that; %d is its number, from 0\n";

static int print_code(tc_graph *g, const request *r) {
  if (r->loops) return print_loops(g, backend_of(r)->target);
  return r->kernels && backend_of(r)->compiler ? print_apart(g, r) : print_texts(g, r);
}

/* Every variant on its own. */
static int print_all(tc_file *f, const request *r) {
  int status = 0;
  for (size_t i = 0; i < f->graph.n && !status; ++i) {
    tc_graph *g = f->graph.at[i].graph;
    f->graph.at[i].graph = NULL; /* taken over */
    status = print_code(g, r);
  }
  return status;
}

static int run(request *r) {
  FILE *file = r->path ? fopen(r->path, "r") : stdin;
  tc_buf text = {0};
  if (!file || !tc_put_rest(&text, file)) {
    fprintf(stderr, "tc-opt: cannot read %s\n", r->path ? r->path : "standard input");
    return 1;
  }
  if (r->path) fclose(file);
  tc_diag diag = {print_diag, NULL};
  tc_file *f = tc_file_read(text.text ? text.text : "", text.len, &diag);
  tc_buf_free(&text);
  if (!f) return 1;
  const run_request wanted = {r->path ? r->path : "-", r->graph, r->out, r->operand.at,
                              r->operand.n};
  const int status = r->run                             ? run_file(f, &wanted)
                     : r->check || r->text || r->binary ? print_file(f, r)
                                                        : print_all(f, r);
  tc_file_free(f);
  return status;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--help")) return fputs(usage, stdout) < 0;
  request r = {.host = true, .kernels = true};
  r.backends = (tc_choices){1, {{tc_backend_of_build(0), TC_WISH_WANT}}};
  for (int i = 1; i < argc; ++i)
    if (!strcmp(argv[i], "-o") && i + 1 < argc) r.out = argv[++i];
    else if (!parse_argument(argv[i], &r)) {
      if (!r.told) fprintf(stderr, "tc-opt: '%s' is not understood\n%s", argv[i], usage);
      return 2;
    }
  const int status = run(&r);
  free(r.setting.at);
  free(r.operand.at);
  return status;
}

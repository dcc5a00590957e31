/* tcompile - the compiler without a C frontend: reads a graph in text form, prints C.  The name of the
 * graph becomes the entry's symbol. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "graph/passes/pass.h"
#include "graph/text.h"

static void print_diag(void *self, tc_severity s, tc_loc loc, const char *text) {
  static const char *const name[] = {"note", "remark", "missed", "warning", "error"};
  (void)self;
  fprintf(stderr, "%u:%u: %s: %s\n", loc.line, loc.col, name[s], text);
}

static bool read_all(FILE *file, tc_buf *text) {
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) tc_putn(text, part, n);
  return !ferror(file) && !text->failed;
}

typedef struct request {
  bool host, kernels, cuda, loops;
  const tc_target *target;
  tc_cuda_options gpu;
  const char *path;
} request;

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

static bool print_device(const tc_kernel *k, const tc_program *p) {
  const tc_backend *b = &tc_backend_cuda;
  tc_kernel_text t = {0};
  tc_buf whole = {0};
  const bool ok = b->supports(k, p) && b->emit_kernel(k, p, &t) && b->complete(t.text.text, &whole);
  if (ok) puts(whole.text);
  else fprintf(stderr, "tcompile: the cuda backend has no code for %s\n", k->name ? k->name : "");
  tc_buf_free(&whole);
  tc_kernel_text_free(&t);
  return ok;
}

/* Every kernel is a text of its own. */
static int print_cuda(tc_graph *g) {
  g = tc_graph_optimize(g);
  tc_program *p = g ? tc_lower(g, tc_backend_cuda.target) : NULL;
  bool ok = p != NULL;
  for (uint32_t i = 0; ok && i < p->nkernel; ++i) ok = print_device(&p->kernel[i], p);
  if (p) tc_program_free(p);
  if (g) tc_graph_free(g);
  return ok ? 0 : 1;
}

static int print_texts(tc_graph *g, const request *r) {
  tc_function f = {.file = r->path ? r->path : "-",
                   .line = 1,
                   .graph = g,
                   .ops = (int)tc_graph_count(g),
                   .cuda = r->cuda ? TC_CUDA_WANT : TC_CUDA_NO};
  char *name = strdup(tc_graph_name(g));
  f.symbol = f.name = name;
  tc_result result;
  tc_texts texts = {0};
  const bool ok = name && tc_compile_functions(&f, 1, &r->gpu, &result, &texts) && result.compiled;
  if (ok && r->kernels) print_text(&texts.kernels);
  if (ok && r->host) print_text(&texts.host);
  tc_texts_free(&texts);
  free(name);
  return ok && (!r->cuda || result.cuda) ? 0 : 1;
}

static bool parse_argument(const char *text, request *r) {
  if (!strcmp(text, "--host")) r->kernels = false;
  else if (!strcmp(text, "--kernels")) r->host = false;
  else if (!strcmp(text, "--cuda")) r->cuda = true;
  else if (!strcmp(text, "--loops")) r->loops = true;
  else if (!strcmp(text, "--loops=cuda")) r->loops = true, r->target = tc_backend_cuda.target;
  else if (!strncmp(text, "--arch=", 7)) return tc_cuda_parse_arch(text + 7, &r->gpu);
  else if (!strncmp(text, "--", 2)) return false;
  else r->path = text;
  return true;
}

static const char usage[] =
    "usage: tcompile [--host | --kernels | --cuda | --loops[=cuda]] [--arch=LIST] [FILE]\n"
    "  prints the C that a graph in text form (FILE, or standard input) becomes: the texts for the "
    "CPU\n"
    "  --host       the entry alone\n"
    "  --kernels    the kernels alone; their text wants -DTC_LEVEL=v2|v3|v4|bf16|amx\n"
    "  --cuda       the device text of every kernel; with --host the entry that launches them too, "
    "with\n"
    "               images from NVRTC for the architectures of LIST\n"
    "  --arch=LIST  80,90,ptx80\n"
    "  --loops      the loops instead, as the OpenMP backend (=cuda: the CUDA backend) gets them\n";

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--help")) return fputs(usage, stdout) < 0;
  request r = {.host = true, .kernels = true, .target = &tc_target_cores, .gpu = tc_cuda_defaults};
  for (int i = 1; i < argc; ++i)
    if (!parse_argument(argv[i], &r)) {
      fprintf(stderr, "tcompile: '%s' is not understood\n%s", argv[i], usage);
      return 2;
    }
  FILE *file = r.path ? fopen(r.path, "r") : stdin;
  tc_buf text = {0};
  if (!file || !read_all(file, &text)) {
    fprintf(stderr, "tcompile: cannot read %s\n", r.path ? r.path : "standard input");
    return 1;
  }
  if (r.path) fclose(file);
  tc_diag diag = {print_diag, NULL};
  tc_graph *g = tc_graph_parse(text.text ? text.text : "", &diag);
  tc_buf_free(&text);
  if (!g) return 1;
  if (r.loops) return print_loops(g, r.target);
  return r.cuda && r.kernels ? print_cuda(g) : print_texts(g, &r);
}

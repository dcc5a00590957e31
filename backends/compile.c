/* compile.c - the driver: optimise, lower, ask the backend for text.
 *
 * A function's texts are appended only when all of its parts succeeded, so that one that cannot be
 * compiled leaves no trace. */
#include "backends/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/pass.h"

/* One function on its way. */
typedef struct job {
  const tc_backend *b;
  tc_function *f;
  tc_program *p;
  tc_buf *name; /* external name of each kernel */
  const char **names;
  uint32_t *levels;
} job;

static bool dumps(const char *what) {
  const char *list = getenv("TC_DUMP");
  for (const char *at = list; at && *at;) {
    const size_t n = strcspn(at, ",");
    if ((n == strlen(what) && strncmp(at, what, n) == 0) || (n == 3 && strncmp(at, "all", 3) == 0))
      return true;
    at += n + (at[n] == ',');
  }
  return false;
}

static void dump_loops(const job *j) {
  if (!dumps("loops")) return;
  tc_buf text = {0};
  tc_program_print(j->p, &text);
  fprintf(stderr, "; loops of %s\n%s", j->f->name, text.text ? text.text : "");
  tc_buf_free(&text);
}

/* -Rpass=tc: what became one kernel. */
static void remark_kernels(const job *j) {
  for (uint32_t i = 0; i < j->p->nkernel; ++i) {
    const tc_kernel *k = &j->p->kernel[i];
    tc_buf ops = {0};
    for (uint32_t n = 0; n < k->nfused; ++n)
      tc_putf(&ops, "%s%s", n ? ", " : "",
              tc_op_get(tc_graph_node(j->p->graph, k->fused[n])->op)->text);
    if (k->nfused > 1)
      tc_report(tc_graph_diag(j->p->graph), TC_REMARK, k->loc,
                "fused %u operations into kernel %s: %s", k->nfused, k->name ? k->name : "",
                ops.text ? ops.text : "");
    else
      tc_report(tc_graph_diag(j->p->graph), TC_REMARK, k->loc, "kernel %s: %s",
                k->name ? k->name : "", ops.text ? ops.text : "");
    tc_buf_free(&ops);
  }
}

static bool check(const job *j) {
  char message[256];
  tc_diag *d = tc_graph_diag(j->p->graph);
  if (!tc_program_verify(j->p, message, sizeof message)) {
    tc_report(d, TC_MISSED, (tc_loc){0}, "'%s' stays as written: internal: %s", j->f->name,
              message);
    return false;
  }
  for (uint32_t i = 0; i < j->p->nkernel; ++i)
    if (!j->b->supports(&j->p->kernel[i], j->p)) {
      tc_report(d, TC_MISSED, j->p->kernel[i].loc,
                "'%s' stays as written: the %s backend has no code for %s", j->f->name, j->b->name,
                j->p->kernel[i].name ? j->p->kernel[i].name : "a kernel");
      return false;
    }
  return true;
}

static bool emit(job *j, tc_buf *host, tc_buf *kernels) {
  for (uint32_t i = 0; i < j->p->nkernel; ++i) {
    if (!j->b->emit_kernel(&j->p->kernel[i], j->p, kernels, &j->name[i])) return false;
    j->names[i] = j->name[i].text;
    j->levels[i] = j->b->levels(&j->p->kernel[i], j->p);
  }
  return j->b->emit_entry(j->f, j->p, j->names, j->levels, host);
}

/* The texts are rolled back to their lengths when a part fails. */
static void cut(tc_buf *b, size_t len) {
  b->len = len;
  if (b->text) b->text[len] = 0;
}

static bool emit_all(job *j, tc_texts *out) {
  const size_t host = out->host.len, kernels = out->kernels.len;
  const uint32_t n = j->p->nkernel;
  j->name = calloc(n + 1, sizeof *j->name);
  j->names = calloc(n + 1, sizeof *j->names);
  j->levels = calloc(n + 1, sizeof *j->levels);
  bool ok = j->name && j->names && j->levels && emit(j, &out->host, &out->kernels);
  if (ok) {
    for (uint32_t i = 0; i < n; ++i) out->levels |= j->levels[i];
    out->kernel_count += (int)n;
    ++out->functions;
  } else {
    cut(&out->host, host);
    cut(&out->kernels, kernels);
    tc_report(tc_graph_diag(j->p->graph), TC_MISSED, (tc_loc){0},
              "'%s' stays as written: internal: no text from the %s backend", j->f->name,
              j->b->name);
  }
  for (uint32_t i = 0; j->name && i < n; ++i) tc_buf_free(&j->name[i]);
  free(j->name);
  free(j->names);
  free(j->levels);
  return ok;
}

static void compile_one(const tc_backend *b, tc_function *f, tc_result *result, tc_texts *out) {
  f->graph = tc_graph_optimize(f->graph);
  job j = {.b = b, .f = f, .p = f->graph ? tc_lower(f->graph, b->target) : NULL};
  if (!j.p) return;
  dump_loops(&j);
  if (check(&j) && emit_all(&j, out)) {
    remark_kernels(&j);
    *result = (tc_result){true, (int)j.p->nkernel};
  }
  tc_program_free(j.p);
}

bool tc_compile_functions(const tc_backend *b, tc_function *f, int n, tc_result *result,
                          tc_texts *out) {
  memset(result, 0, (size_t)n * sizeof *result);
  for (int i = 0; i < n; ++i) {
    compile_one(b, &f[i], &result[i], out);
    tc_graph_free(f[i].graph);
    f[i].graph = NULL;
  }
  return out->functions == 0 ||
         (b->emit_unit(f, result, n, out) && !out->host.failed && !out->kernels.failed);
}

/* compile.c - the driver: optimise, lower for each device, ask the backends for text.
 *
 * A variant's texts are made in buffers of their own and used only when all of its parts succeeded,
 * so that what cannot be compiled leaves no trace.  Programs live until the entries are printed,
 * when it is known which variants there are. */
#include "backends/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/images.h"
#include "backends/cuda/unit.h"
#include "backends/entry/entry.h"
#include "backends/explain.h"
#include "graph/passes/pass.h"

enum { VARIANTS = 2 }; /* by tc_device */
static const tc_backend *const backends[VARIANTS] = {&tc_backend_openmp, &tc_backend_cuda};

/* What one backend makes of one function. */
typedef struct variant {
  const tc_backend *b;
  tc_program *p; /* NULL: there is no such variant */
  tc_kernel_text *kernel;
  const char **names; /* of kernels */
  uint32_t *levels;
} variant;

typedef struct job {
  tc_function *f;
  tc_graph *graph;
  variant v[VARIANTS];
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

/* ---- one variant ----------------------------------------------------------------------------- */

static void variant_free(variant *v) {
  for (uint32_t i = 0; v->p && v->kernel && i < v->p->nkernel; ++i)
    tc_kernel_text_free(&v->kernel[i]);
  free(v->kernel);
  free(v->names);
  free(v->levels);
  if (v->p) tc_program_free(v->p);
  *v = (variant){0};
}

static tc_severity severity(const job *j, const variant *v) {
  return v->b == &tc_backend_cuda && j->f->cuda != TC_CUDA_WANT ? TC_REMARK : TC_MISSED;
}

/* What a missing variant means to the user. */
static const char *consequence(const variant *v) {
  return v->b == &tc_backend_cuda ? "has no kernels for CUDA" : "stays as written";
}

static void dump_loops(const job *j, const variant *v) {
  if (!dumps("loops")) return;
  tc_buf text = {0};
  tc_program_print(v->p, &text);
  fprintf(stderr, "; loops of %s for %s\n%s", j->f->name, v->b->name, text.text ? text.text : "");
  tc_buf_free(&text);
}

static void dump_kernels(const variant *v) {
  if (!dumps(v->b->name)) return;
  for (uint32_t i = 0; i < v->p->nkernel; ++i)
    fprintf(stderr, "// ---- %s\n%s%s", v->names[i], v->kernel[i].text.text,
            v->kernel[i].launcher.text ? v->kernel[i].launcher.text : "");
}

/* Why a backend has no code for a kernel. */
static const char *reason(const tc_kernel *k) {
  return k->kind == TC_KERNEL_CALL ? ", whose function works on data of the host" : "";
}

static bool check(const job *j, const variant *v) {
  char message[256];
  tc_diag *d = tc_graph_diag(j->graph);
  if (!tc_program_verify(v->p, message, sizeof message)) {
    tc_report(d, severity(j, v), (tc_loc){0}, "'%s' %s: internal: %s", j->f->name, consequence(v),
              message);
    return false;
  }
  for (uint32_t i = 0; i < v->p->nkernel; ++i)
    if (!v->b->supports(&v->p->kernel[i], v->p)) {
      tc_report(d, severity(j, v), v->p->kernel[i].loc,
                "'%s' %s: the %s backend has no code for %s%s", j->f->name, consequence(v),
                v->b->name, v->p->kernel[i].name ? v->p->kernel[i].name : "a kernel",
                reason(&v->p->kernel[i]));
      return false;
    }
  return true;
}

/* Of the levels that a kernel has texts for, those that run where the levels wanted do. */
static uint32_t limit_levels(uint32_t levels, uint32_t wanted) {
  uint32_t out = 0;
  for (int i = 0; i < TC_ISA_COUNT; ++i) {
    if (!(wanted >> i & 1)) continue;
    int best = i;
    while (best > 0 && !(levels >> best & 1)) --best;
    out |= levels & 1u << best;
  }
  return wanted ? out : levels;
}

static bool emit_kernels(const job *j, variant *v) {
  const uint32_t n = v->p->nkernel;
  v->kernel = calloc(n + 1, sizeof *v->kernel);
  v->names = calloc(n + 1, sizeof *v->names);
  v->levels = calloc(n + 1, sizeof *v->levels);
  bool ok = v->kernel && v->names && v->levels;
  for (uint32_t i = 0; ok && i < n; ++i) {
    tc_kernel_text *t = &v->kernel[i];
    ok = v->b->emit_kernel(&v->p->kernel[i], v->p, t) && t->name.text && t->text.text &&
         !t->name.failed && !t->text.failed && !t->launcher.failed;
    v->names[i] = t->name.text;
    v->levels[i] = limit_levels(t->levels, j->f->levels);
  }
  if (!ok)
    tc_report(tc_graph_diag(j->graph), severity(j, v), (tc_loc){0},
              "'%s' %s: internal: no text from the %s backend", j->f->name, consequence(v),
              v->b->name);
  return ok;
}

static bool make_variant(job *j, int device) {
  const tc_backend *b = backends[device];
  variant *v = &j->v[device];
  *v = (variant){.b = b, .p = tc_lower(j->graph, b->target)};
  if (!v->p) return false;
  dump_loops(j, v);
  if (check(j, v) && emit_kernels(j, v)) {
    dump_kernels(v);
    return true;
  }
  variant_free(v);
  return false;
}

/* ---- the unit -------------------------------------------------------------------------------- */

/* The operations of a kernel, of many the first ones. */
static void list_operations(const tc_graph *g, const tc_kernel *k, tc_buf *out) {
  enum { LISTED = 48 };
  const uint32_t n = k->nfused > LISTED ? LISTED - 8 : k->nfused;
  for (uint32_t i = 0; i < n; ++i)
    tc_putf(out, "%s%s", i ? ", " : "", tc_op_get(tc_graph_node(g, k->fused[i])->op)->text);
  if (n < k->nfused) tc_putf(out, " and %u more", k->nfused - n);
  if (!n) tc_put(out, "copies");
}

/* -Rpass=tc: what became one kernel. */
static void remark_kernels(const job *j) {
  const tc_program *p = j->v[TC_CPU].p;
  for (uint32_t i = 0; i < p->nkernel; ++i) {
    const tc_kernel *k = &p->kernel[i];
    tc_buf ops = {0};
    list_operations(p->graph, k, &ops);
    const char *name = k->name ? k->name : "", *list = ops.text ? ops.text : "";
    const char *sizes = j->f->sizes ? j->f->sizes : "", *given = *sizes ? " for " : "";
    if (k->nfused > 1)
      tc_report(tc_graph_diag(p->graph), TC_REMARK, k->loc,
                "fused %u operations into kernel %s%s%s: %s", k->nfused, name, given, sizes, list);
    else
      tc_report(tc_graph_diag(p->graph), TC_REMARK, k->loc, "kernel %s%s%s: %s", name, given, sizes,
                list);
    tc_buf_free(&ops);
  }
}

static void explain(const job *j) {
  static const char *const device[VARIANTS] = {"cpu", "cuda"};
  tc_buf *out = j->f->explain;
  if (!out) return;
  tc_explain_segment(j->f, j->graph, out);
  for (int i = 0; i < VARIANTS; ++i) {
    const variant *v = &j->v[i];
    if (v->p) tc_explain_variant(j->f, device[i], v->p, v->names, v->levels, out);
  }
}

static void dump_entries(const job *j, const tc_buf *host, size_t from) {
  if (host->text && dumps("entries"))
    fprintf(stderr, "// ---- entry of %s\n%s", j->f->name, host->text + from);
}

static bool put_entries(const job *j, tc_texts *out) {
  const bool alone = !j->v[TC_CUDA].p;
  const size_t from = out->host.len;
  tc_entry_record(j->f, (int)j->v[TC_CPU].p->nkernel, &out->host);
  for (int i = 0; i < VARIANTS; ++i) {
    const variant *v = &j->v[i];
    if (v->p &&
        !tc_entry_emit(v->b->entry, j->f, v->p, v->names, v->levels, v->kernel, alone, &out->host))
      return false;
  }
  if (!alone) tc_entry_dispatch(j->f, tc_graph_input_count(j->graph) > 0, &out->host);
  dump_entries(j, &out->host, from);
  return true;
}

static bool use(const job *j, tc_result *result, tc_texts *out) {
  const variant *cpu = &j->v[TC_CPU], *cuda = &j->v[TC_CUDA];
  out->cuda_count += cuda->p != NULL;
  ++out->functions;
  int64_t least, workspace;
  tc_dim_range(tc_graph_dims(cpu->p->graph), cpu->p->workspace, &least, &workspace);
  *result = (tc_result){true, cuda->p != NULL, (int)cpu->p->nkernel, workspace};
  remark_kernels(j);
  explain(j);
  return put_entries(j, out);
}

/* Adds a name to a table with open addressing that has room for it; false: it was there. */
static bool is_new(const char **table, size_t size, const char *name) {
  size_t i = (size_t)tc_hash(name, strlen(name), 0) & (size - 1);
  for (; table[i]; i = (i + 1) & (size - 1))
    if (!strcmp(table[i], name)) return false;
  table[i] = name;
  return true;
}

/* Equal kernels, which are named by their text, are put once.  false: out of memory. */
static bool put_kernels(const job *j, int n, tc_texts *out) {
  size_t count = 0, size = 2;
  for (int i = 0; i < n; ++i) count += j[i].v[TC_CPU].p ? j[i].v[TC_CPU].p->nkernel : 0;
  while (size < 2 * count) size *= 2;
  const char **names = calloc(size, sizeof *names);
  for (int i = 0; names && i < n; ++i) {
    const variant *cpu = &j[i].v[TC_CPU];
    for (uint32_t k = 0; cpu->p && k < cpu->p->nkernel; ++k) {
      if (is_new(names, size, cpu->names[k])) tc_put(&out->kernels, cpu->kernel[k].text.text);
      out->levels |= cpu->levels[k];
    }
  }
  free(names);
  out->kernel_count = (int)count;
  return names != NULL;
}

/* Starts the compilation of all CUDA kernels. */
static void start_cuda(const job *job, int n, const tc_cuda_options *o, tc_images *images) {
  for (int i = 0; i < n; ++i) {
    const variant *v = &job[i].v[TC_CUDA];
    for (uint32_t k = 0; v->p && k < v->p->nkernel; ++k)
      tc_images_add(images, &v->kernel[k], v->p->kernel[k].loc.file);
  }
  tc_images_start(images, &tc_backend_cuda, o ? o : &tc_cuda_defaults);
}

/* Images of all CUDA kernels (together: packed so), and their launchers.  A variant with a kernel
 * that NVRTC refuses is dropped. */
static void finish_cuda(job *job, int n, tc_images *images, bool together, tc_texts *out) {
  tc_images_wait(images);
  bool reported = false; /* one remark about the machine is enough */
  for (int i = 0; i < n; ++i) {
    variant *v = &job[i].v[TC_CUDA];
    const char *why = images->problem;
    for (uint32_t k = 0; v->p && !why && k < v->p->nkernel; ++k)
      why = tc_images_problem(images, v->names[k]);
    if (!v->p || !why) continue;
    if (!images->problem || !reported || job[i].f->cuda == TC_CUDA_WANT)
      tc_report(tc_graph_diag(job[i].graph), severity(&job[i], v), (tc_loc){0}, "'%s' %s: %s",
                job[i].f->name, consequence(v), why);
    reported |= images->problem != NULL;
    variant_free(v);
  }
  for (int i = 0; i < n; ++i)
    for (uint32_t k = 0; job[i].v[TC_CUDA].p && k < job[i].v[TC_CUDA].p->nkernel; ++k)
      tc_images_use(images, job[i].v[TC_CUDA].names[k]);
  tc_images_put(images, together, out);
}

/* Puts what the host text uses in front of it, and behind it what happens when it is loaded and
 * unloaded. */
static void put_around(tc_texts *out, const tc_function *f, const tc_result *result, int n) {
  tc_buf host = {0};
  const char *close = out->close.text ? out->close.text : "";
  tc_entry_put_abi(out->cuda_count > 0, &host);
  tc_entry_put_helpers(&host);
  if (out->cuda_count > 0) tc_cuda_put_host_helpers(&host);
  tc_put(&host, out->host.text ? out->host.text : "");
  tc_entry_put_registration(f, result, n, close, &host);
  host.failed |= out->host.failed | out->close.failed;
  tc_buf_free(&out->host);
  out->host = host;
}

static bool complete_kernels(tc_texts *out) {
  tc_buf kernels = {0};
  bool ok = tc_backend_openmp.complete(out->kernels.text ? out->kernels.text : "", &kernels);
  ok = ok && !kernels.failed && !out->kernels.failed;
  tc_buf_free(&out->kernels);
  out->kernels = kernels;
  return ok;
}

/* Takes the graphs over.  NULL: out of memory. */
static job *begin(tc_function *f, int n) {
  job *job = calloc((size_t)n + 1, sizeof *job);
  for (int i = 0; i < n; ++i) {
    tc_graph *g = tc_graph_optimize(f[i].graph);
    f[i].graph = NULL;
    if (job) job[i].f = &f[i], job[i].graph = g;
    else tc_graph_free(g);
  }
  return job;
}

static void end(job *job, int n) {
  for (int i = 0; job && i < n; ++i) {
    for (int b = 0; b < VARIANTS; ++b) variant_free(&job[i].v[b]);
    tc_graph_free(job[i].graph);
  }
  free(job);
}

struct tc_unit {
  tc_function *f;
  int n;
  job *job;
  tc_images images;
  bool ok;
};

tc_unit *tc_unit_begin(tc_function *f, int n, const tc_cuda_options *cuda, tc_texts *out) {
  tc_unit *u = calloc(1, sizeof *u);
  job *job = begin(f, n);
  if (!u || !job) {
    end(job, n);
    free(u);
    return NULL;
  }
  *u = (tc_unit){.f = f, .n = n, .job = job, .ok = true};
  for (int i = 0; i < n; ++i)
    if (job[i].graph && make_variant(&job[i], TC_CPU) && f[i].cuda != TC_CUDA_NO)
      make_variant(&job[i], TC_CUDA);
  start_cuda(job, n, cuda, &u->images);
  u->ok = put_kernels(job, n, out) && (!out->kernel_count || complete_kernels(out));
  return u;
}

bool tc_unit_waits(const tc_unit *u) { return u->images.n > 0; }

bool tc_unit_finish(tc_unit *u, tc_result *result, tc_texts *out) {
  memset(result, 0, (size_t)u->n * sizeof *result);
  finish_cuda(u->job, u->n, &u->images, true, out);
  for (int i = 0; i < u->n && u->ok; ++i)
    if (u->job[i].v[TC_CPU].p) u->ok = use(&u->job[i], &result[i], out);
  if (u->ok && out->functions > 0) {
    put_around(out, u->f, result, u->n);
    u->ok = !out->host.failed;
  }
  const bool ok = u->ok;
  tc_images_free(&u->images);
  end(u->job, u->n);
  free(u);
  return ok;
}

bool tc_compile_functions(tc_function *f, int n, const tc_cuda_options *cuda, tc_result *result,
                          tc_texts *out) {
  memset(result, 0, (size_t)n * sizeof *result);
  tc_unit *u = tc_unit_begin(f, n, cuda, out);
  return u && tc_unit_finish(u, result, out);
}

bool tc_compile_for_cuda(tc_function *f, int n, const tc_cuda_options *cuda, tc_result *result,
                         tc_texts *out) {
  memset(result, 0, (size_t)n * sizeof *result);
  job *job = begin(f, n);
  bool ok = job != NULL;
  for (int i = 0; ok && i < n; ++i)
    if (job[i].graph) make_variant(&job[i], TC_CUDA);
  tc_images images = {0};
  if (ok) {
    start_cuda(job, n, cuda, &images);
    finish_cuda(job, n, &images, false, out);
  }
  for (int i = 0; i < n && ok; ++i) {
    const variant *v = &job[i].v[TC_CUDA];
    if (!v->p) continue;
    tc_entry_record(&f[i], (int)v->p->nkernel, &out->host);
    ok = tc_entry_emit(v->b->entry, &f[i], v->p, v->names, v->levels, v->kernel, true, &out->host);
    ++out->functions, ++out->cuda_count;
    result[i] = (tc_result){true, true, (int)v->p->nkernel, 0};
  }
  if (ok) put_around(out, f, result, n);
  tc_images_free(&images);
  end(job, n);
  return ok && !out->host.failed;
}

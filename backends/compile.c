/* compile.c - the driver: optimise, lower for each backend, ask the backends for text.
 *
 * A variant is what one backend makes of one function.  Its texts are made in buffers of their own and
 * used only when all of its parts succeeded, so that what cannot be compiled leaves no trace.  Programs
 * live until the entries are printed, when it is known which variants there are. */
#include "backends/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/entry/entry.h"
#include "backends/explain.h"
#include "backends/registry.h"
#include "graph/passes/pass.h"

typedef struct variant {
  const tc_backend *b;
  tc_wish wish;
  bool first;    /* of its function, which is not compiled without it */
  tc_program *p; /* NULL: there is no such variant */
  tc_kernel_text *kernel;
  const char **names; /* of kernels */
  uint32_t *levels;
} variant;

typedef struct job {
  tc_function *f;
  tc_graph *graph;
  uint32_t nvariant;
  variant *v;
} job;

/* A backend that the unit has functions from. */
typedef struct part {
  const tc_backend *b;
  void *code; /* of its compiler; NULL: there is none, or nothing to compile */
} part;

struct tc_unit {
  tc_function *f;
  int n;
  job *job;
  part *part;
  size_t nparts;
  const tc_unit_options *o;
  bool ok;
};

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
  *v = (variant){.b = v->b, .wish = v->wish, .first = v->first};
}

static tc_severity severity(const variant *v) {
  return v->first || v->wish == TC_WISH_WANT ? TC_MISSED : TC_REMARK;
}

/* "'f' <what a missing variant means to the user>: <why>" */
static void report_missing(const job *j, const variant *v, tc_loc loc, const char *why) {
  if (v->first)
    tc_report(tc_graph_diag(j->graph), severity(v), loc, "'%s' stays as written: %s", j->f->name,
              why);
  else
    tc_report(tc_graph_diag(j->graph), severity(v), loc, "'%s' has no kernels for %s: %s",
              j->f->name, v->b->device_label, why);
}

static void dump_loops(const job *j, const variant *v) {
  if (!dumps("loops")) return;
  tc_buf text = {0};
  tc_program_print(v->p, &text);
  fprintf(stderr, "; loops of %s for %s\n%s", j->f->name, v->b->name, text.text ? text.text : "");
  tc_buf_free(&text);
}

static void dump_kernels(const variant *v) {
  if (!dumps(v->b->name) && !dumps("kernels")) return;
  for (uint32_t i = 0; i < v->p->nkernel; ++i) {
    const tc_kernel_text *t = &v->kernel[i];
    fprintf(stderr, "// ---- %s\n%s%s", v->names[i], t->text.text ? t->text.text : "",
            t->launcher.text ? t->launcher.text : "");
  }
}

/* Why a backend has no code for a kernel. */
static const char *reason(const tc_kernel *k) {
  return k->kind == TC_KERNEL_CALL ? ", whose function works on data of the host" : "";
}

static bool check(const job *j, const variant *v) {
  char message[256], why[512];
  if (!tc_program_verify(v->p, message, sizeof message)) {
    snprintf(why, sizeof why, "internal: %s", message);
    report_missing(j, v, (tc_loc){0}, why);
    return false;
  }
  for (uint32_t i = 0; i < v->p->nkernel; ++i) {
    const tc_kernel *k = &v->p->kernel[i];
    if (v->b->supports(k, v->p)) continue;
    snprintf(why, sizeof why, "the %s backend has no code for %s%s", v->b->name,
             k->name ? k->name : "a kernel", reason(k));
    report_missing(j, v, k->loc, why);
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
  char why[128];
  snprintf(why, sizeof why, "internal: no text from the %s backend", v->b->name);
  if (!ok) report_missing(j, v, (tc_loc){0}, why);
  return ok;
}

static bool make_variant(const job *j, variant *v) {
  v->p = tc_lower(j->graph, v->b->target);
  if (!v->p) return false;
  if (v->b->plan) v->b->plan(v->p);
  dump_loops(j, v);
  if (check(j, v) && emit_kernels(j, v)) {
    dump_kernels(v);
    return true;
  }
  variant_free(v);
  return false;
}

static void make_variants(const job *j) {
  for (uint32_t i = 0; i < j->nvariant; ++i)
    if (!make_variant(j, &j->v[i]) && i == 0) return;
}

/* ---- one function -------------------------------------------------------------------------------- */

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
  const tc_program *p = j->v[0].p;
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
  tc_buf *out = j->f->explain;
  if (!out) return;
  tc_explain_segment(j->f, j->graph, out);
  for (uint32_t i = 0; i < j->nvariant; ++i) {
    const variant *v = &j->v[i];
    if (v->p) tc_explain_variant(j->f, v->b->device_name, v->p, v->names, v->levels, out);
  }
}

static uint32_t made(const job *j) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < j->nvariant; ++i) bits |= (uint32_t)(j->v[i].p != NULL) << i;
  return bits;
}

/* Others than the first are taken where their device has the operands. */
static void put_dispatch(const job *j, tc_buf *out) {
  tc_entry_dispatch_begin(j->f, out);
  for (uint32_t i = 1; i < j->nvariant; ++i)
    if (j->v[i].p) tc_entry_dispatch_to(j->v[i].b, j->f, tc_graph_input_count(j->graph) > 0, out);
  tc_entry_dispatch_end(j->v[0].b, j->f, out);
}

static void dump_entries(const job *j, const tc_buf *host, size_t from) {
  if (host->text && dumps("entries"))
    fprintf(stderr, "// ---- entry of %s\n%s", j->f->name, host->text + from);
}

static bool put_entries(const job *j, tc_texts *out) {
  const bool alone = made(j) == 1;
  const size_t from = out->host.len;
  tc_entry_record(j->f, (int)j->v[0].p->nkernel, &out->host);
  for (uint32_t i = 0; i < j->nvariant; ++i) {
    const variant *v = &j->v[i];
    if (v->p && !tc_entry_emit(v->b, j->f, v->p, v->names, v->levels, v->kernel, alone, &out->host))
      return false;
  }
  if (!alone) put_dispatch(j, &out->host);
  dump_entries(j, &out->host, from);
  return true;
}

static bool use(const job *j, tc_result *result, tc_texts *out) {
  const tc_program *p = j->v[0].p;
  ++out->functions;
  int64_t least, workspace;
  tc_dim_range(tc_graph_dims(p->graph), p->workspace, &least, &workspace);
  *result = (tc_result){true, made(j), (int)p->nkernel, workspace};
  remark_kernels(j);
  explain(j);
  return put_entries(j, out);
}

/* ---- kernels for the compiler of the host text ------------------------------------------------ */

/* Adds a name to a table with open addressing that has room for it; false: it was there. */
static bool is_new(const char **table, size_t size, const char *name) {
  size_t i = (size_t)tc_hash(name, strlen(name), 0) & (size - 1);
  for (; table[i]; i = (i + 1) & (size - 1))
    if (!strcmp(table[i], name)) return false;
  table[i] = name;
  return true;
}

/* The variant of function i that comes from the backend, if there is one. */
static const variant *variant_of(const tc_unit *u, int i, const tc_backend *b) {
  for (uint32_t v = 0; v < u->job[i].nvariant; ++v)
    if (u->job[i].v[v].b == b && u->job[i].v[v].p) return &u->job[i].v[v];
  return NULL;
}

/* Whether some function has a variant from the backend. */
static bool has_variants(const tc_unit *u, const tc_backend *b) {
  for (int i = 0; i < u->n; ++i)
    if (variant_of(u, i, b)) return true;
  return false;
}

static size_t count_kernels(const tc_unit *u, const tc_backend *b) {
  size_t count = 0;
  for (int i = 0; i < u->n; ++i) {
    const variant *v = variant_of(u, i, b);
    count += v ? v->p->nkernel : 0;
  }
  return count;
}

/* Equal kernels, which are named by their text, are put once.  false: out of memory. */
static bool put_kernels(const tc_unit *u, size_t count, tc_kernels *out) {
  size_t size = 2;
  while (size < 2 * count) size *= 2;
  const char **names = calloc(size, sizeof *names);
  tc_buf bare = {0};
  for (int i = 0; names && i < u->n; ++i) {
    const variant *v = variant_of(u, i, out->backend);
    for (uint32_t k = 0; v && k < v->p->nkernel; ++k) {
      if (is_new(names, size, v->names[k])) tc_put(&bare, v->kernel[k].text.text);
      out->levels |= v->levels[k];
    }
  }
  const bool ok = names && !bare.failed &&
                  out->backend->complete(bare.text ? bare.text : "", &out->text) &&
                  !out->text.failed;
  free(names);
  tc_buf_free(&bare);
  return ok;
}

static bool add_kernels(const tc_unit *u, const tc_backend *b, tc_texts *out) {
  const size_t count = count_kernels(u, b);
  if (!count) return true;
  tc_kernels *more = realloc(out->kernels, (out->nkernels + 1) * sizeof *more);
  if (!more) return false;
  out->kernels = more;
  more[out->nkernels] = (tc_kernels){.backend = b};
  return put_kernels(u, count, &more[out->nkernels++]);
}

/* ---- kernels for compilers of their own ------------------------------------------------------- */

static bool start_compiler(const tc_unit *u, part *part) {
  const size_t count = count_kernels(u, part->b);
  if (!count) return true;
  tc_device_kernel *kernel = calloc(count, sizeof *kernel);
  size_t n = 0;
  for (int i = 0; kernel && i < u->n; ++i) {
    const variant *v = variant_of(u, i, part->b);
    for (uint32_t k = 0; v && k < v->p->nkernel; ++k)
      kernel[n++] = (tc_device_kernel){&v->kernel[k], v->p->kernel[k].loc.file};
  }
  part->code = kernel ? part->b->compiler->start(kernel, n, u->o) : NULL;
  free(kernel);
  return part->code != NULL;
}

/* Why the variant has no code; NULL: it has. */
static const char *compiler_problem(const part *part, const variant *v, const char *all) {
  for (uint32_t k = 0; !all && k < v->p->nkernel; ++k)
    all = part->b->compiler->problem(part->code, v->names[k]);
  return all;
}

/* Code of all kernels, and their launchers.  A variant with a kernel that the compiler refuses is
 * dropped. */
static void finish_compiler(tc_unit *u, part *part, tc_texts *out) {
  const tc_device_compiler *compiler = part->b->compiler;
  const char *all = compiler->wait(part->code);
  bool reported = false; /* one remark about the machine is enough */
  for (int i = 0; i < u->n; ++i) {
    variant *v = (variant *)variant_of(u, i, part->b);
    const char *why = v ? compiler_problem(part, v, all) : NULL;
    if (!why) continue;
    if (!all || !reported || severity(v) == TC_MISSED)
      report_missing(&u->job[i], v, (tc_loc){0}, why);
    reported |= all != NULL;
    variant_free(v);
  }
  for (int i = 0; i < u->n; ++i) {
    const variant *v = variant_of(u, i, part->b);
    for (uint32_t k = 0; v && k < v->p->nkernel; ++k) compiler->use(part->code, v->names[k]);
  }
  compiler->put(part->code, out);
}

/* ---- the unit -------------------------------------------------------------------------------- */

/* Puts what the host text uses in front of it, and behind it what happens when it is loaded and
 * unloaded. */
static bool put_around(const tc_unit *u, tc_texts *out, const tc_result *result) {
  tc_buf host = {0};
  bool *compiled = calloc((size_t)u->n + 1, sizeof *compiled);
  for (int i = 0; compiled && i < u->n; ++i) compiled[i] = result[i].compiled;
  const char *close = out->close.text ? out->close.text : "";
  tc_entry_put_abi(&host);
  for (size_t i = 0; i < u->nparts; ++i) {
    const tc_entry_style *style = u->part[i].b->entry;
    if (style->helpers && has_variants(u, u->part[i].b)) style->helpers(&host);
  }
  tc_put(&host, out->host.text ? out->host.text : "");
  if (compiled) tc_entry_put_registration(u->f, compiled, u->n, close, &host);
  const bool ok = compiled && !host.failed && !out->host.failed && !out->close.failed;
  free(compiled);
  tc_buf_free(&out->host);
  out->host = host;
  return ok;
}

/* The choices of a function that says none. */
static const tc_choice *choices(const tc_function *f, tc_choice *one, uint32_t *n) {
  *one = (tc_choice){tc_backend_of_build(0), TC_WISH_MAY};
  *n = f->nchoice ? f->nchoice : 1;
  return f->nchoice ? f->choice : one;
}

/* Takes the graph over.  false: out of memory. */
static bool begin_job(tc_function *f, job *j) {
  tc_choice one;
  uint32_t n;
  const tc_choice *choice = choices(f, &one, &n);
  *j = (job){.f = f, .graph = tc_graph_optimize(f->graph), .v = calloc(n, sizeof *j->v)};
  f->graph = NULL;
  if (!j->v) return false;
  j->nvariant = n;
  for (uint32_t i = 0; i < n; ++i)
    j->v[i] = (variant){.b = choice[i].backend, .wish = choice[i].wish, .first = i == 0};
  return true;
}

static void unit_free(tc_unit *u) {
  for (int i = 0; u->job && i < u->n; ++i) {
    for (uint32_t v = 0; v < u->job[i].nvariant; ++v) variant_free(&u->job[i].v[v]);
    free(u->job[i].v);
    tc_graph_free(u->job[i].graph);
  }
  for (size_t i = 0; i < u->nparts; ++i)
    if (u->part[i].code) u->part[i].b->compiler->free(u->part[i].code);
  free(u->job);
  free(u->part);
  free(u);
}

/* Lists each backend once.  false: out of memory. */
static bool list_parts(tc_unit *u) {
  size_t most = 0;
  for (int i = 0; i < u->n; ++i) most += u->job[i].nvariant;
  u->part = calloc(most + 1, sizeof *u->part);
  for (int i = 0; u->part && i < u->n; ++i)
    for (uint32_t v = 0; v < u->job[i].nvariant; ++v) {
      size_t at = 0;
      while (at < u->nparts && u->part[at].b != u->job[i].v[v].b) ++at;
      if (at == u->nparts) u->part[u->nparts++].b = u->job[i].v[v].b;
    }
  return u->part != NULL;
}

/* Device code first: it is made by others, beside what follows. */
static bool start(tc_unit *u, tc_texts *out) {
  bool ok = true;
  for (size_t i = 0; i < u->nparts; ++i)
    if (u->part[i].b->compiler) ok = start_compiler(u, &u->part[i]) && ok;
  for (size_t i = 0; i < u->nparts; ++i)
    if (!u->part[i].b->compiler) ok = add_kernels(u, u->part[i].b, out) && ok;
  return ok;
}

tc_unit *tc_unit_begin(tc_function *f, int n, const tc_unit_options *o, tc_texts *out) {
  static const tc_unit_options defaults = {0};
  tc_unit *u = calloc(1, sizeof *u);
  if (u) *u = (tc_unit){.f = f, .n = n, .o = o ? o : &defaults};
  if (u) u->job = calloc((size_t)n + 1, sizeof *u->job);
  bool ok = u && u->job;
  for (int i = 0; i < n; ++i) {
    if (u && u->job) ok = begin_job(&f[i], &u->job[i]) && ok;
    else tc_graph_free(f[i].graph), f[i].graph = NULL;
  }
  if (!ok || !list_parts(u)) {
    if (u) unit_free(u);
    return NULL;
  }
  for (int i = 0; i < n; ++i)
    if (u->job[i].graph) make_variants(&u->job[i]);
  u->ok = start(u, out);
  return u;
}

bool tc_unit_waits(const tc_unit *u) {
  for (size_t i = 0; i < u->nparts; ++i)
    if (u->part[i].code) return true;
  return false;
}

bool tc_unit_finish(tc_unit *u, tc_result *result, tc_texts *out) {
  memset(result, 0, (size_t)u->n * sizeof *result);
  for (size_t i = 0; i < u->nparts; ++i)
    if (u->part[i].code) finish_compiler(u, &u->part[i], out);
  for (int i = 0; i < u->n && u->ok; ++i)
    if (u->job[i].v[0].p) u->ok = use(&u->job[i], &result[i], out);
  if (u->ok && out->functions > 0) u->ok = put_around(u, out, result);
  const bool ok = u->ok;
  unit_free(u);
  return ok;
}

bool tc_compile_functions(tc_function *f, int n, const tc_unit_options *o, tc_result *result,
                          tc_texts *out) {
  memset(result, 0, (size_t)n * sizeof *result);
  tc_unit *u = tc_unit_begin(f, n, o, out);
  return u && tc_unit_finish(u, result, out);
}

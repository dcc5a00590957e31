/* compile.c - the driver: optimises, makes the variants of each function (variant.c), gathers the
 * kernels of each backend, has device code made, and puts the unit together. */
#include "backends/compile.h"

#include <stdlib.h>
#include <string.h>

#include "backends/entry/entry.h"
#include "backends/registry.h"
#include "backends/training.h"
#include "backends/variant.h"
#include "graph/passes/pass.h"

/* A backend that the unit has functions from. */
typedef struct part {
  const tc_backend *b;
  void *code; /* of its compiler; NULL: there is none, or nothing to compile */
} part;

struct tc_unit {
  int n;       /* functions of the caller */
  int njob;    /* they come first; behind them the parts of pairs */
  tc_job *job; /* [3 * n] */
  part *part;
  size_t nparts;
  const tc_unit_options *o;
  bool ok;
};

/* ---- kernels for the compiler of the host text ----------------------------------------------- */

/* The variant of function i that comes from the backend, if there is one. */
static const tc_variant *variant_of(const tc_unit *u, int i, const tc_backend *b) {
  for (uint32_t v = 0; v < u->job[i].nvariant; ++v)
    if (u->job[i].v[v].b == b && u->job[i].v[v].p) return &u->job[i].v[v];
  return NULL;
}

/* Whether some function has a variant from the backend. */
static bool has_variants(const tc_unit *u, const tc_backend *b) {
  for (int i = 0; i < u->njob; ++i)
    if (variant_of(u, i, b)) return true;
  return false;
}

static size_t count_kernels(const tc_unit *u, const tc_backend *b) {
  size_t count = 0;
  for (int i = 0; i < u->njob; ++i) {
    const tc_variant *v = variant_of(u, i, b);
    count += v ? v->p->nkernel : 0;
  }
  return count;
}

/* Equal kernels, which are named by their text, are put once.  false: out of memory. */
static bool put_kernels(const tc_unit *u, tc_kernels *out) {
  tc_names names = {0};
  tc_buf bare = {0};
  bool ok = true, fresh;
  for (int i = 0; i < u->njob; ++i) {
    const tc_variant *v = variant_of(u, i, out->backend);
    for (uint32_t k = 0; v && k < v->p->nkernel; ++k) {
      ok = tc_names_number(&names, v->names[k], &fresh) && ok;
      if (fresh) tc_put(&bare, v->kernel[k].text.text);
      out->levels |= v->levels[k];
    }
  }
  ok = ok && !bare.failed && out->backend->complete(bare.text ? bare.text : "", &out->text) &&
       !out->text.failed;
  tc_names_free(&names);
  tc_buf_free(&bare);
  return ok;
}

static bool add_kernels(const tc_unit *u, const tc_backend *b, tc_texts *out) {
  if (!count_kernels(u, b)) return true;
  tc_kernels *more = realloc(out->kernels, (out->nkernels + 1) * sizeof *more);
  if (!more) return false;
  out->kernels = more;
  more[out->nkernels] = (tc_kernels){.backend = b};
  return put_kernels(u, &more[out->nkernels++]);
}

/* ---- kernels for compilers of their own ------------------------------------------------------ */

static bool start_compiler(const tc_unit *u, part *part) {
  const size_t count = count_kernels(u, part->b);
  if (!count) return true;
  tc_device_kernel *kernel = calloc(count, sizeof *kernel);
  size_t n = 0;
  for (int i = 0; kernel && i < u->njob; ++i) {
    const tc_variant *v = variant_of(u, i, part->b);
    for (uint32_t k = 0; v && k < v->p->nkernel; ++k)
      kernel[n++] = (tc_device_kernel){&v->kernel[k], v->p->kernel[k].loc.file};
  }
  part->code = kernel ? part->b->compiler->start(kernel, n, u->o) : NULL;
  free(kernel);
  return part->code != NULL;
}

/* Why the variant has no code; NULL: it has. */
static const char *compiler_problem(const part *part, const tc_variant *v, const char *all) {
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
  for (int i = 0; i < u->njob; ++i) {
    tc_variant *v = (tc_variant *)variant_of(u, i, part->b);
    const char *why = v ? compiler_problem(part, v, all) : NULL;
    if (!why) continue;
    if (!all || !reported || tc_variant_severity(v) == TC_MISSED)
      tc_report_missing(&u->job[i], v, (tc_loc){0}, why);
    reported |= all != NULL;
    tc_variant_free(v);
  }
  for (int i = 0; i < u->njob; ++i) {
    const tc_variant *v = variant_of(u, i, part->b);
    for (uint32_t k = 0; v && k < v->p->nkernel; ++k) compiler->use(part->code, v->names[k]);
  }
  compiler->put(part->code, out);
}

/* ---- the unit -------------------------------------------------------------------------------- */

/* Puts what the host text uses in front of it, and behind it what happens when it is loaded and
 * unloaded. */
static bool put_around(const tc_unit *u, tc_texts *out, const tc_result *result) {
  tc_buf host = {0};
  const tc_function **compiled = calloc((size_t)u->njob + 1, sizeof *compiled);
  int n = 0;
  for (int i = 0; compiled && i < u->n; ++i) {
    const tc_pair *pair = u->job[i].pair;
    if (!result[i].compiled) continue;
    compiled[n++] = u->job[i].f;
    if (pair) compiled[n++] = &pair->forward, compiled[n++] = &pair->backward;
  }
  const char *close = out->close.text ? out->close.text : "";
  tc_entry_put_abi(&host);
  const bool counts = compiled && tc_entry_counts_sizes(compiled, n);
  if (counts) tc_entry_sizes_types(&host);
  for (size_t i = 0; i < u->nparts; ++i) {
    const tc_entry_style *style = u->part[i].b->entry;
    if (style->helpers && has_variants(u, u->part[i].b)) style->helpers(&host);
  }
  tc_put(&host, out->host.text ? out->host.text : "");
  if (compiled) tc_entry_put_registration(compiled, n, close, &host);
  if (counts) tc_entry_sizes_unit(compiled, n, &host);
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
static bool begin_job(tc_function *f, tc_job *j) {
  tc_choice one;
  uint32_t n;
  const tc_choice *choice = choices(f, &one, &n);
  *j = (tc_job){.f = f, .graph = tc_graph_optimize(f->graph), .v = calloc(n, sizeof *j->v)};
  f->graph = NULL;
  if (!j->v) return false;
  j->nvariant = n;
  for (uint32_t i = 0; i < n; ++i)
    j->v[i] = (tc_variant){.b = choice[i].backend, .wish = choice[i].wish, .first = i == 0};
  return true;
}

/* Parts are variants that a function may lack. */
static bool add_part(tc_unit *u, tc_pair *pair, int k) {
  tc_job *j = pair->job[k] = &u->job[u->njob++];
  if (!begin_job(k ? &pair->backward : &pair->forward, j)) return false;
  for (uint32_t i = 0; i < j->nvariant; ++i) {
    j->v[i].first = false;
    if (i == 0) j->v[i].wish = j->f->gradient_wish;
  }
  return true;
}

/* Of the graph as it was captured, which goes with the function's job. */
static bool begin_function(tc_unit *u, tc_function *f, tc_job *j) {
  tc_pair *pair = tc_pair_make(f);
  const bool ok = begin_job(f, j);
  j->pair = pair;
  return ok && (!pair || (add_part(u, pair, 0) && add_part(u, pair, 1)));
}

static void drop_pair(tc_job *j) {
  tc_pair_free(j->pair);
  j->pair = NULL;
}

static void unit_free(tc_unit *u) {
  for (int i = 0; u->job && i < u->njob; ++i) {
    for (uint32_t v = 0; v < u->job[i].nvariant; ++v) tc_variant_free(&u->job[i].v[v]);
    free(u->job[i].v);
    tc_graph_free(u->job[i].graph);
    drop_pair(&u->job[i]);
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
  for (int i = 0; i < u->njob; ++i) most += u->job[i].nvariant;
  u->part = calloc(most + 1, sizeof *u->part);
  for (int i = 0; u->part && i < u->njob; ++i)
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
  if (u) *u = (tc_unit){.n = n, .njob = n, .o = o ? o : &defaults};
  if (u) u->job = calloc(3 * (size_t)n + 1, sizeof *u->job);
  bool ok = u && u->job;
  for (int i = 0; i < n; ++i) {
    if (u && u->job) ok = begin_function(u, &f[i], &u->job[i]) && ok;
    else tc_graph_free(f[i].graph), f[i].graph = NULL;
  }
  if (!ok || !list_parts(u)) {
    if (u) unit_free(u);
    return NULL;
  }
  for (int i = 0; i < u->njob; ++i)
    if (u->job[i].graph) tc_make_variants(&u->job[i]);
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
  for (int i = 0; i < u->n && u->ok; ++i) {
    tc_job *j = &u->job[i];
    if (j->pair && !tc_pair_settle(j->pair)) drop_pair(j);
    j->f->trains = j->pair != NULL;
    if (j->v[0].p) u->ok = tc_use_function(j, &result[i], out);
  }
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

/* variant.c - see variant.h. */
#include "backends/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/entry/entry.h"
#include "backends/plan.h"
#include "backends/tuning/tuning.h"

/* ---- one variant ----------------------------------------------------------------------------- */

void tc_variant_free(tc_variant *v) {
  for (uint32_t i = 0; v->p && v->kernel && i < v->p->nkernel; ++i)
    tc_kernel_text_free(&v->kernel[i]);
  free(v->kernel);
  free(v->names);
  free(v->levels);
  if (v->p) tc_program_free(v->p);
  *v = (tc_variant){.b = v->b, .wish = v->wish, .first = v->first};
}

tc_severity tc_variant_severity(const tc_variant *v) {
  return v->first || v->wish == TC_WISH_WANT ? TC_MISSED : TC_REMARK;
}

/* "'f' <what a missing variant means to the user>: <why>" */
void tc_report_missing(const tc_job *j, const tc_variant *v, tc_loc loc, const char *why) {
  if (v->first)
    tc_report(tc_graph_diag(j->graph), tc_variant_severity(v), loc, "'%s' stays as written: %s",
              j->f->name, why);
  else
    tc_report(tc_graph_diag(j->graph), tc_variant_severity(v), loc,
              "'%s' has no kernels for %s%s: %s", j->f->name,
              j->f->part == TC_PART_WHOLE ? "" : "its gradients on ", v->b->device_label, why);
}

static void dump_kernels(const tc_variant *v) {
  if (!tc_dumps(v->b->name) && !tc_dumps("kernels")) return;
  for (uint32_t i = 0; i < v->p->nkernel; i = tc_launch_end(v->p, i)) {
    const tc_kernel_text *t = &v->kernel[i];
    fprintf(stderr, "// ---- %s\n%s%s", v->names[i], t->text.text ? t->text.text : "",
            t->launcher.text ? t->launcher.text : "");
  }
}

/* Why a backend has no code for a kernel. */
static const char *reason(const tc_kernel *k) {
  return k->kind == TC_KERNEL_CALL ? ", whose function works on data of the host" : "";
}

static bool check(const tc_job *j, const tc_variant *v) {
  char message[256], why[512];
  if (!tc_program_verify(v->p, message, sizeof message)) {
    snprintf(why, sizeof why, "internal: %s", message);
    tc_report_missing(j, v, (tc_loc){0}, why);
    return false;
  }
  if (!tc_entry_has_memory(v->p)) {
    tc_report_missing(j, v, (tc_loc){0}, "no memory is kept between calls");
    return false;
  }
  for (uint32_t i = 0; i < v->p->nkernel; ++i) {
    const tc_kernel *k = &v->p->kernel[i];
    if (v->b->supports(k, v->p)) continue;
    snprintf(why, sizeof why, "the %s backend has no code for %s%s", v->b->name,
             k->name ? k->name : "a kernel", reason(k));
    tc_report_missing(j, v, k->loc, why);
    return false;
  }
  return true;
}

/* false after reporting. */
static bool plan_kernels(const tc_job *j, tc_variant *v) {
  tc_buf why = {0};
  const tc_function *f = j->f;
  const bool ok = tc_plan_program(v->b, v->p, f->setting, f->nsetting, f->symbol, &why) &&
                  tc_tune_program(v->b, v->p, f, &why);
  if (!ok && why.text) tc_report(tc_graph_diag(j->graph), TC_ERROR, (tc_loc){0}, "%s", why.text);
  else if (!ok) tc_report_missing(j, v, (tc_loc){0}, "out of memory");
  tc_buf_free(&why);
  return ok;
}

static bool emit_kernels(const tc_job *j, tc_variant *v) {
  const uint32_t n = v->p->nkernel;
  v->kernel = calloc(n + 1, sizeof *v->kernel);
  v->names = calloc(n + 1, sizeof *v->names);
  v->levels = calloc(n + 1, sizeof *v->levels);
  bool ok = v->kernel && v->names && v->levels;
  for (uint32_t i = 0; ok && i < n; ++i) {
    tc_kernel_text *t = &v->kernel[i];
    t->wanted = j->f->levels;
    ok = v->b->emit_kernel(&v->p->kernel[i], v->p, t) && t->name.text && t->text.text &&
         !t->name.failed && !t->text.failed && !t->launcher.failed;
    v->names[i] = t->name.text;
    v->levels[i] = tc_isa_limit(t->levels, j->f->levels);
  }
  char why[128];
  snprintf(why, sizeof why, "internal: no text from the %s backend", v->b->name);
  if (!ok) tc_report_missing(j, v, (tc_loc){0}, why);
  return ok;
}

/* A launch ends where texts differ: in something that lowering does not know to decide them.  And
 * gradients are wanted one by one. */
static void part_siblings(const tc_job *j, tc_variant *v) {
  for (uint32_t k = 1; k < v->p->nkernel; ++k) {
    tc_kernel *kernel = &v->p->kernel[k];
    const bool alone = j->f->part == TC_PART_BACKWARD || strcmp(v->names[k - 1], v->names[k]) != 0;
    if (kernel->joins && alone) kernel->joins = false;
  }
}

static bool make_variant(const tc_job *j, tc_variant *v) {
  v->p = tc_lower(j->graph, v->b->target);
  if (!v->p) return false;
  const bool planned = plan_kernels(j, v);
  tc_dump_loops(v->b, v->p, j->f->name);
  if (planned) tc_dump_schedule(v->b, v->p, j->f->name, j->f->symbol);
  if (planned && check(j, v) && emit_kernels(j, v)) {
    part_siblings(j, v);
    dump_kernels(v);
    return true;
  }
  tc_variant_free(v);
  return false;
}

void tc_make_variants(const tc_job *j) {
  for (uint32_t i = 0; i < j->nvariant; ++i)
    if (!make_variant(j, &j->v[i]) && i == 0) return;
}

/* ---- entries --------------------------------------------------------------------------------- */

uint32_t tc_variants_made(const tc_job *j) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < j->nvariant; ++i) bits |= (uint32_t)(j->v[i].p != NULL) << i;
  return bits;
}

/* Others than the first are taken where their device has the operands. */
static void put_dispatch(const tc_job *j, tc_buf *out) {
  tc_entry_dispatch_begin(j->f, out);
  for (uint32_t i = 1; i < j->nvariant; ++i)
    if (j->v[i].p) tc_entry_dispatch_to(j->v[i].b, j->f, tc_graph_input_count(j->graph) > 0, out);
  tc_entry_dispatch_end(j->v[0].b, j->f, out);
}

static void dump_entries(const tc_job *j, const tc_buf *host, size_t from) {
  if (host->text && tc_dumps("entries"))
    fprintf(stderr, "// ---- entry of %s\n%s", j->f->name, host->text + from);
}

bool tc_put_entries(const tc_job *j, tc_texts *out) {
  const bool alone = tc_variants_made(j) == 1;
  const size_t from = out->host.len;
  tc_entry_record(j->f, j->graph, (int)tc_launch_count(j->v[0].p), &out->host);
  for (uint32_t i = 0; i < j->nvariant; ++i) {
    const tc_variant *v = &j->v[i];
    if (v->p && !tc_entry_emit(v->b, j->f, v->p, v->names, v->levels, v->kernel, alone, out))
      return false;
  }
  if (!alone) put_dispatch(j, &out->host);
  dump_entries(j, &out->host, from);
  return true;
}

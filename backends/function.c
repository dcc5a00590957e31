/* function.c - what is told of a compiled function, and its entry. */
#include "backends/explain.h"
#include "backends/training.h"

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
static void remark_kernel(const tc_job *j, uint32_t first, uint32_t count) {
  const tc_program *p = j->v[0].p;
  const tc_kernel *k = &p->kernel[first];
  tc_buf ops = {0}, times = {0};
  list_operations(p->graph, k, &ops);
  if (count > 1) tc_putf(&times, ", %u times beside each other", count);
  const char *name = k->name ? k->name : "", *list = ops.text ? ops.text : "";
  const char *sizes = j->f->sizes ? j->f->sizes : "", *given = *sizes ? " for " : "";
  const char *often = times.text ? times.text : "";
  if (k->nfused > 1)
    tc_report(tc_graph_diag(p->graph), TC_REMARK, k->loc,
              "fused %u operations into kernel %s%s%s: %s%s", k->nfused, name, given, sizes, list,
              often);
  else
    tc_report(tc_graph_diag(p->graph), TC_REMARK, k->loc, "kernel %s%s%s: %s%s", name, given, sizes,
              list, often);
  tc_buf_free(&ops);
  tc_buf_free(&times);
}

static void remark_kernels(const tc_job *j) {
  const tc_program *p = j->v[0].p;
  for (uint32_t i = 0, end; i < p->nkernel; i = end) {
    end = tc_launch_end(p, i);
    remark_kernel(j, i, end - i);
  }
}

static void explain(const tc_job *j) {
  tc_buf *out = j->f->explain;
  if (!out) return;
  tc_explain_segment(j->f, j->graph, out);
  for (uint32_t i = 0; i < j->nvariant; ++i) {
    const tc_variant *v = &j->v[i];
    if (v->p) tc_explain_variant(j->f, v->b->device_name, "", v->p, v->names, v->levels, out);
  }
  if (j->pair) tc_pair_explain(j->f, j->pair, out);
}

bool tc_use_function(const tc_job *j, tc_result *result, tc_texts *out) {
  const tc_program *p = j->v[0].p;
  ++out->functions;
  int64_t least, workspace;
  tc_dim_range(tc_graph_dims(p->graph), p->workspace, &least, &workspace);
  *result = (tc_result){true, tc_variants_made(j), (int)tc_launch_count(p), workspace, 0};
  remark_kernels(j);
  if (j->pair) {
    remark_kernels(j->pair->job[0]);
    remark_kernels(j->pair->job[1]);
    tc_pair_remark(j->f, j->pair, j->graph);
    result->saved = j->pair->made.part.bytes;
    if (!tc_pair_put(j->f, j->pair, out)) return false;
  }
  explain(j);
  return tc_put_entries(j, out);
}

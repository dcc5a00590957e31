/* A CUDA graph from what a call recorded.
 *
 * The launches of a kernel run one after the other, the first behind those of the kernels that the
 * program says; so kernels that need nothing of one another run side by side.  A kernel may have no
 * launches (of an empty array, of a gradient that nobody asked for): what waits for it waits for
 * those that it waits for.  A product is a child graph, captured from the library; those that use
 * the library's workspace, which they share, run one after the other. */
#include "runtime/libtcrt/src/cuda/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ----------------------------------------------------------------------------------- */

void tc_cuda_set_args(const list *l, const item *i, void **args) {
  const unsigned n = i->as.kernel.table ? 1 : i->as.kernel.nargs;
  for (unsigned k = 0; k < n; k++) args[k] = &l->word[i->word + k];
}

void tc_cuda_node_of(const list *l, const item *i, cu_kernel_node *node, void **args) {
  const tc_cuda_kernel *k = &i->as.kernel;
  tc_cuda_set_args(l, i, args);
  *node = (cu_kernel_node){.function = k->function,
                           .grid_x = k->grid_x,
                           .grid_y = k->grid_y,
                           .grid_z = 1,
                           .block_x = k->block,
                           .block_y = 1,
                           .block_z = 1,
                           .shared = k->shared,
                           .params = args};
}

static cu_result open_capture(recorder *r, tc_cuda_device *d) {
  if (r->capture && r->device == d) return CU_SUCCESS;
  if (r->capture) r->device->cu->stream_destroy(r->capture);
  r->capture = NULL;
  r->device = d;
  return d->cu->stream_create(&r->capture, CU_STREAM_NON_BLOCKING);
}

cu_result tc_cuda_capture_product(recorder *r, const tcrt_cuda_call *c, const tcrt_cuda_mm *mm,
                                  cu_graph *child) {
  tc_cuda_device *d = c->state;
  *child = NULL;
  cu_result q = open_capture(r, d);
  if (q == CU_SUCCESS) q = d->cu->capture_begin(r->capture, CU_CAPTURE_RELAXED);
  if (q != CU_SUCCESS) return q;
  cu_result product = tc_cuda_product(c, mm, r->capture, NULL);
  q = d->cu->capture_end(r->capture, child);
  if (q == CU_SUCCESS && product == CU_SUCCESS) return CU_SUCCESS;
  if (q == CU_SUCCESS && *child) d->cu->graph_destroy(*child);
  *child = NULL;
  return q == CU_SUCCESS ? product : q;
}

/* ---- what a node waits for ------------------------------------------------------------------- */

typedef struct builder {
  recorder *r;
  const tcrt_cuda_call *c;
  graph *g;
  uint8_t *seen;    /* per group: looked at for the node at hand */
  uint32_t *queue;  /* of groups */
  cu_node *before;  /* nodes that the node at hand waits for, */
  bool products;    /* of which some are products, */
  uint32_t nbefore; /* n of them */
  uint32_t product; /* 1 + the last product so far that uses the workspace */
} builder;

static uint32_t end_of(const list *l, uint32_t group) {
  return group + 1 < l->groups ? l->group[group + 1].first : l->n;
}

static void wait_for(builder *b, uint32_t item) {
  for (uint32_t k = 0; k < b->nbefore; k++)
    if (b->before[k] == b->g->node[item]) return;
  b->before[b->nbefore++] = b->g->node[item];
  b->products |= b->g->made.at[item].product;
}

static void look_at(builder *b, uint32_t group, uint32_t *n) {
  if (b->seen[group]) return;
  b->seen[group] = 1;
  b->queue[(*n)++] = group;
}

/* Queues the groups that a group waits for itself. */
static void look_behind(builder *b, uint32_t at, uint32_t *n) {
  const group *x = &b->g->made.group[at];
  if (x->nafter == AFTER_ALL)
    for (uint32_t k = 0; k < at; k++) look_at(b, k, n);
  else if (x->nafter == 0 && at > 0) look_at(b, 0, n);
  else
    for (uint32_t k = 0; k < x->nafter; k++) look_at(b, x->after[k] + 1, n);
}

/* The last items of the groups that a group waits for; those of an empty one are those that it
 * waits for. */
static void wait_for_groups(builder *b, uint32_t at) {
  const list *l = &b->g->made;
  uint32_t n = 0;
  memset(b->seen, 0, l->groups);
  look_behind(b, at, &n);
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t from = b->queue[k], end = end_of(l, from);
    if (end > l->group[from].first) wait_for(b, end - 1);
    else look_behind(b, from, &n);
  }
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* A kernel that waits by itself for the one in front of it begins while that one runs. */
static cu_result add_kernel(const builder *b, uint32_t k, const item *i) {
  static const cu_edge early = {.from_port = 1, .type = 1};
  graph *g = b->g;
  const tc_cuda_driver *cu = g->device->cu;
  const bool begins = b->nbefore == 1 && !b->products && i->as.kernel.waits && cu->graph_edge;
  cu_kernel_node node;
  void *args[MOST_ARGS];
  tc_cuda_node_of(&g->made, i, &node, args);
  cu_result q = cu->graph_kernel(&g->node[k], g->graph, b->nbefore ? b->before : NULL,
                                 begins ? 0 : b->nbefore, &node);
  if (q != CU_SUCCESS || !begins) return q;
  return cu->graph_edge(g->graph, b->before, &g->node[k], &early, 1);
}

static cu_result add_product(builder *b, uint32_t k, const item *i) {
  const tc_cuda_driver *cu = b->g->device->cu;
  cu_graph child;
  cu_result q = tc_cuda_capture_product(b->r, b->c, &i->as.mm, &child);
  if (q != CU_SUCCESS) return q;
  if (i->shares && b->product) wait_for(b, b->product - 1);
  if (i->shares) b->product = k + 1;
  q = cu->graph_child(&b->g->node[k], b->g->graph, b->nbefore ? b->before : NULL, b->nbefore,
                      child);
  cu->graph_destroy(child);
  return q;
}

static cu_result add_group(builder *b, uint32_t at) {
  const list *l = &b->g->made;
  const uint32_t first = l->group[at].first, end = end_of(l, at);
  cu_result q = CU_SUCCESS;
  for (uint32_t k = first; k < end && q == CU_SUCCESS; k++) {
    b->nbefore = 0;
    b->products = false;
    if (k > first) wait_for(b, k - 1);
    else wait_for_groups(b, at);
    q = l->at[k].product ? add_product(b, k, &l->at[k]) : add_kernel(b, k, &l->at[k]);
  }
  return q;
}

cu_result tc_cuda_build_graph(recorder *r, const tcrt_cuda_call *c, graph *g) {
  const tc_cuda_driver *cu = g->device->cu;
  const uint32_t groups = g->made.groups;
  builder b = {.r = r, .c = c, .g = g};
  b.seen = malloc(groups);
  b.queue = malloc(groups * sizeof *b.queue);
  b.before = malloc((groups + 1) * sizeof *b.before);
  cu_result q = b.seen && b.queue && b.before ? cu->graph_create(&g->graph, 0) : CU_OUT_OF_MEMORY;
  for (uint32_t k = 0; k < groups && q == CU_SUCCESS; k++) q = add_group(&b, k);
  if (q == CU_SUCCESS) q = cu->graph_instantiate(&g->exec, g->graph, 0);
  free(b.seen);
  free(b.queue);
  free(b.before);
  return q;
}

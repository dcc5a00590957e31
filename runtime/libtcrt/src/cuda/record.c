/* Calls submitted as one CUDA graph.
 *
 * Launches and products of a call are collected as a list of items.  At the end the thread looks
 * for a graph that it made from the same sequence before: the same tag, the same kernels, products
 * of the same sizes.  What differs (addresses, sizes, grids) is written into it, node by node, and
 * the graph is launched; in the steady state nothing differs. */
#include "runtime/libtcrt/src/cuda/record.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_GRAPHS = 64 };

static TC_FAST_TLS recorder *mine;
static pthread_key_t thread_end;
static bool have_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- lists ----------------------------------------------------------------------------------- */

static bool grow(void **at, uint32_t *room, uint32_t need, size_t size) {
  if (need <= *room) return true;
  uint32_t more = need < 16 ? 16 : 2 * need;
  void *p = realloc(*at, more * size);
  if (!p) return false;
  *at = p;
  *room = more;
  return true;
}

/* A group begins, behind the kernels that are listed. */
static bool append_group(list *l, const uint32_t *after, uint32_t nafter) {
  void *at = l->group;
  if (!grow(&at, &l->room_groups, l->groups + 1, sizeof *l->group)) return false;
  l->group = at;
  l->group[l->groups++] = (group){l->n, nafter, after};
  return true;
}

static item *append(list *l, uint32_t words) {
  void *at = l->at, *word = l->word;
  bool fits = grow(&at, &l->room, l->n + 1, sizeof *l->at) &&
              grow(&word, &l->room_words, l->words + words, sizeof *l->word);
  l->at = at ? at : l->at;
  l->word = word ? word : l->word;
  if (!fits) return NULL;
  item *i = &l->at[l->n++];
  memset(i, 0, sizeof *i);
  i->word = l->words;
  l->words += words;
  return i;
}

static bool copy_list(list *to, const list *from) {
  *to = (list){.n = from->n, .words = from->words, .groups = from->groups};
  to->at = malloc((from->n + 1) * sizeof *to->at);
  to->word = malloc((from->words + 1) * sizeof *to->word);
  to->group = malloc((from->groups + 1) * sizeof *to->group);
  if (!to->at || !to->word || !to->group) return false;
  memcpy(to->at, from->at, from->n * sizeof *to->at);
  if (from->words) memcpy(to->word, from->word, from->words * sizeof *to->word);
  if (from->groups) memcpy(to->group, from->group, from->groups * sizeof *to->group);
  return true;
}

static void free_list(list *l) {
  free(l->at);
  free(l->word);
  free(l->group);
}

/* ---- collecting ------------------------------------------------------------------------------ */

static void drop_graph(graph *g) {
  const tc_cuda_driver *cu = g->device->cu;
  tc_cuda_current(g->device);
  if (g->exec) cu->exec_destroy(g->exec);
  if (g->graph) cu->graph_destroy(g->graph);
  free_list(&g->made);
  free(g->node);
  free(g);
}

static void forget(void *p) {
  recorder *r = p;
  mine = NULL;
  for (graph *g = r->newest, *next; g; g = next) {
    next = g->next;
    drop_graph(g);
  }
  if (r->capture) r->device->cu->stream_destroy(r->capture);
  free_list(&r->now);
  free(r);
}

static void make_key(void) { have_key = pthread_key_create(&thread_end, forget) == 0; }

void tc_cuda_forget_graphs(void) {
  if (!mine || mine->busy) return;
  pthread_setspecific(thread_end, NULL);
  forget(mine);
}

static recorder *recorder_of_thread(void) {
  if (mine) return mine;
  pthread_once(&once, make_key);
  recorder *r = have_key ? calloc(1, sizeof *r) : NULL;
  if (r && pthread_setspecific(thread_end, r)) {
    free(r);
    r = NULL;
  }
  return mine = r;
}

void tcrt_cuda_record(tcrt_cuda_call *c, const void *tag) {
  const tc_cuda_device *d = c->state;
  recorder *r = d->cu->graphs ? recorder_of_thread() : NULL;
  if (!r || r->busy) return;
  r->busy = true;
  r->tag = tag;
  r->now.n = r->now.words = r->now.groups = 0;
  r->failed = !append_group(&r->now, NULL, 0);
  c->recording = r;
}

void tcrt_cuda_after(tcrt_cuda_call *c, const uint32_t *kernel, uint32_t n) {
  recorder *r = c->recording;
  if (r && !append_group(&r->now, kernel, n)) r->failed = true;
}

void tcrt_cuda_after_all(tcrt_cuda_call *c) { tcrt_cuda_after(c, NULL, AFTER_ALL); }

cu_result tc_cuda_record_kernel(const tcrt_cuda_call *c, const tc_cuda_kernel *k,
                                void *const *args) {
  recorder *r = c->recording;
  item *i = k->nargs <= MOST_ARGS ? append(&r->now, k->nargs) : NULL;
  if (!i) return CU_OUT_OF_MEMORY;
  i->as.kernel = *k;
  uint64_t *word = &r->now.word[i->word];
  if (k->table) memcpy(word, args[0], k->nargs * sizeof *word);
  for (unsigned n = 0; !k->table && n < k->nargs; n++) memcpy(&word[n], args[n], sizeof *word);
  return CU_SUCCESS;
}

cu_result tc_cuda_record_product(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm,
                                 size_t workspace) {
  recorder *r = c->recording;
  item *i = append(&r->now, 0);
  if (!i) return CU_OUT_OF_MEMORY;
  i->product = true;
  i->shares = workspace > 0;
  i->as.mm = *mm;
  return CU_SUCCESS;
}

/* ---- making a graph -------------------------------------------------------------------------- */

static unsigned epoch_now(void) {
  return atomic_load_explicit(&tc_cuda_epoch, memory_order_relaxed);
}

static cu_result fill_graph(recorder *r, const tcrt_cuda_call *c, graph *g) {
  g->node = calloc(r->now.n, sizeof *g->node);
  if (!g->node || !copy_list(&g->made, &r->now)) return CU_OUT_OF_MEMORY;
  g->scratch = tc_cuda_scratch(g->device, TC_SCRATCH_PRODUCT, 0);
  return tc_cuda_build_graph(r, c, g);
}

static graph *make_graph(recorder *r, const tcrt_cuda_call *c) {
  graph *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->tag = r->tag;
  g->device = c->state;
  g->epoch = epoch_now();
  if (fill_graph(r, c, g) == CU_SUCCESS) return g;
  drop_graph(g);
  return NULL;
}

/* ---- finding one, and bringing it up to date ------------------------------------------------- */

/* One problem but for its addresses?  Sizes and flags lie side by side, without gaps. */
static bool same_problem(const tcrt_cuda_mm *a, const tcrt_cuda_mm *b) {
  size_t from = offsetof(tcrt_cuda_mm, batch), to = offsetof(tcrt_cuda_mm, tf32) + 1;
  return !memcmp((const char *)a + from, (const char *)b + from, to - from) &&
         (a->bias != NULL) == (b->bias != NULL);
}

static bool same_product(const tcrt_cuda_mm *a, const tcrt_cuda_mm *b) {
  return a->a == b->a && a->b == b->b && a->c == b->c && a->bias == b->bias && same_problem(a, b);
}

static bool same_kernel(const tc_cuda_kernel *a, const tc_cuda_kernel *b) {
  return a->function == b->function && a->grid_x == b->grid_x && a->grid_y == b->grid_y &&
         a->block == b->block && a->shared == b->shared;
}

static bool same_sequence(const list *a, const list *b) {
  if (a->n != b->n || a->words != b->words || a->groups != b->groups) return false;
  for (uint32_t k = 0; k < a->groups; k++) {
    const group *x = &a->group[k], *y = &b->group[k];
    if (x->first != y->first || x->nafter != y->nafter || x->after != y->after) return false;
  }
  for (uint32_t k = 0; k < a->n; k++) {
    const item *x = &a->at[k], *y = &b->at[k];
    if (x->product != y->product || x->shares != y->shares || x->word != y->word) return false;
    if (x->product ? !same_problem(&x->as.mm, &y->as.mm)
                   : x->as.kernel.function != y->as.kernel.function)
      return false;
  }
  return true;
}

/* Takes the graph out of the thread's list. */
static graph *take_graph(recorder *r, const tc_cuda_device *d) {
  for (graph **at = &r->newest; *at; at = &(*at)->next) {
    graph *g = *at;
    if (g->tag != r->tag || g->device != d || g->epoch != epoch_now() ||
        !same_sequence(&g->made, &r->now))
      continue;
    *at = g->next;
    return g;
  }
  return NULL;
}

static void keep_graph(recorder *r, graph *g) {
  g->next = r->newest;
  r->newest = g;
  graph **at = &r->newest;
  for (int n = 0; *at && n < MOST_GRAPHS; n++) at = &(*at)->next;
  if (!*at) return;
  drop_graph(*at); /* the least recently used */
  *at = NULL;
}

static cu_result update_kernel(graph *g, const list *now, uint32_t k) {
  item *was = &g->made.at[k];
  const item *i = &now->at[k];
  size_t bytes = i->as.kernel.nargs * sizeof *now->word;
  bool same = same_kernel(&was->as.kernel, &i->as.kernel) &&
              (bytes == 0 || !memcmp(g->made.word + i->word, now->word + i->word, bytes));
  if (same) return CU_SUCCESS;
  cu_kernel_node node;
  void *args[MOST_ARGS];
  *was = *i;
  if (bytes) memcpy(g->made.word + i->word, now->word + i->word, bytes);
  tc_cuda_node_of(&g->made, was, &node, args);
  return g->device->cu->exec_set_kernel(g->exec, g->node[k], &node);
}

static cu_result update_product(recorder *r, const tcrt_cuda_call *c, graph *g, uint32_t k,
                                bool moved) {
  const item *i = &r->now.at[k];
  cu_graph child;
  if (!moved && same_product(&g->made.at[k].as.mm, &i->as.mm)) return CU_SUCCESS;
  g->made.at[k] = *i;
  cu_result q = tc_cuda_capture_product(r, c, &i->as.mm, &child);
  if (q != CU_SUCCESS) return q;
  q = g->device->cu->exec_set_child(g->exec, g->node[k], child);
  g->device->cu->graph_destroy(child);
  return q;
}

static cu_result update_graph(recorder *r, const tcrt_cuda_call *c, graph *g) {
  void *scratch = tc_cuda_scratch(g->device, TC_SCRATCH_PRODUCT, 0);
  bool moved = scratch != g->scratch;
  g->scratch = scratch;
  cu_result q = CU_SUCCESS;
  for (uint32_t k = 0; k < r->now.n && q == CU_SUCCESS; k++)
    q = r->now.at[k].product ? update_product(r, c, g, k, moved) : update_kernel(g, &r->now, k);
  return q;
}

/* ---- submitting ------------------------------------------------------------------------------ */

/* Without a graph. */
static cu_result run_one_by_one(const recorder *r, const tcrt_cuda_call *c) {
  cu_stream s = (cu_stream)c->stream;
  cu_result q = CU_SUCCESS;
  for (uint32_t k = 0; k < r->now.n && q == CU_SUCCESS; k++) {
    const item *i = &r->now.at[k];
    void *args[MOST_ARGS];
    if (!i->product) tc_cuda_set_args(&r->now, i, args);
    q = i->product ? tc_cuda_product(c, &i->as.mm, s, NULL)
                   : tc_cuda_start(c->state, &i->as.kernel, args, s);
  }
  return q;
}

static cu_result run_graph(recorder *r, const tcrt_cuda_call *c) {
  tc_cuda_device *d = c->state;
  graph *g = take_graph(r, d);
  if (g && update_graph(r, c, g) != CU_SUCCESS) {
    drop_graph(g);
    g = NULL;
  }
  if (!g) g = make_graph(r, c);
  if (!g) return CU_NOT_SUPPORTED;
  cu_result q = d->cu->exec_launch(g->exec, (cu_stream)c->stream);
  if (q == CU_SUCCESS) keep_graph(r, g);
  else drop_graph(g);
  return q;
}

cu_result tc_cuda_submit(tcrt_cuda_call *c, bool failed) {
  recorder *r = c->recording;
  c->recording = NULL;
  cu_result q = failed ? CU_INVALID_VALUE : CU_SUCCESS;
  if (!failed && r->now.n > 0 && (r->failed || run_graph(r, c) != CU_SUCCESS))
    q = run_one_by_one(r, c);
  r->busy = false;
  return q;
}

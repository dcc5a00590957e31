/* kernel.c - what can be asked of a kernel before it is printed, and its comments. */
#include "backends/print/print.h"

void tc_print_dim(const tc_program *p, tc_dim d, tc_buf *out) {
  tc_dim_print(tc_graph_dims(p->graph), d, "s_", out);
}

/* ---- questions ------------------------------------------------------------------------------- */

static void each_action(const tc_kernel *k, void (*f)(const tc_action *, void *), void *arg) {
  for (uint32_t n = 0; n < k->nnest; ++n)
    for (uint32_t s = 0; s < k->nest[n].nstage; ++s)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; ++a)
        f(&k->nest[n].stage[s].action[a], arg);
  if (k->kind != TC_KERNEL_MATMUL) return;
  for (int i = 0; i < TC_MM_STAGES; ++i)
    for (uint32_t a = 0; a < tc_mm_stage(&k->mm, i)->naction; ++a)
      f(&tc_mm_stage(&k->mm, i)->action[a], arg);
}

static void has_terms(const tc_action *a, void *arg) {
  if (tc_address_is_checked(&a->address) && (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD))
    *(bool *)arg = true;
}

bool tc_print_checks(const tc_kernel *k) {
  bool any = k->kind == TC_KERNEL_CALL && !k->effect; /* the function may say that it failed */
  each_action(k, has_terms, &any);
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    if ((e->kind == TC_EX_LOAD || e->kind == TC_EX_INDEX) && tc_address_is_checked(&e->address))
      any = true;
  }
  return any;
}

typedef struct bounds {
  void (*each)(tc_dim bound, void *arg);
  void *arg;
} bounds;

static void put_bounds(const tc_address *a, const bounds *b) {
  for (int t = 0; t < a->nterm; ++t)
    if (!a->term[t].free) b->each(a->term[t].bound, b->arg);
}

static void bounds_of_store(const tc_action *a, void *arg) {
  if (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) put_bounds(&a->address, arg);
}

void tc_print_each_bound(const tc_kernel *k, void (*each)(tc_dim bound, void *arg), void *arg) {
  bounds b = {each, arg};
  each_action(k, bounds_of_store, &b);
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (k->expr[i].kind == TC_EX_LOAD) put_bounds(&k->expr[i].address, &b);
}

void tc_print_each_scalar(const tc_kernel *k, const tc_program *p, tc_print_scalar *each,
                          void *arg) {
  const uint32_t n = tc_graph_scalar_count(p->graph);
  for (uint32_t i = 0; i < n; ++i)
    each(i, tc_dtype_is_float(tc_graph_scalar_at(p->graph, i)->dtype), arg);
  for (uint32_t i = 1; i < k->nexpr; ++i) /* each constant has one expression */
    if (k->expr[i].kind == TC_EX_SCALAR && k->expr[i].index >= n) each(k->expr[i].index, true, arg);
}

bool tc_print_reads(const tc_kernel *k, uint32_t buffer) {
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == buffer) return true;
  return false;
}

/* Two arena buffers at one place (an input dying where an output is born) must not be restrict, nor
 * inputs that a kernel writes. */
bool tc_print_restrict(const tc_kernel *k, const tc_program *p, uint32_t i) {
  const tc_buffer *b = &p->buffer[k->buffer[i]];
  if (b->kind == TC_BUF_INPUT) return !b->written;
  if (b->kind != TC_BUF_ARENA) return true;
  for (uint32_t j = 0; j < k->nbuffer; ++j) {
    const tc_buffer *o = &p->buffer[k->buffer[j]];
    if (j != i && o->kind == TC_BUF_ARENA && tc_dim_same(o->offset, b->offset)) return false;
  }
  return true;
}

static bool good_dim(tc_dim d) { return !tc_dim_bad(d); }

static bool known_expr(const tc_expr *e) {
  if (e->kind == TC_EX_OP && !tc_op_get(e->op)->expr) return false;
  if (e->kind == TC_EX_RANDOM && e->op != OP_RAND && e->op != OP_RANDN) return false;
  if (e->kind == TC_EX_DIM && !good_dim(e->dim)) return false;
  for (int i = 0; i < e->address.nterm; ++i)
    if (!good_dim(e->address.term[i].stride)) return false;
  return true;
}

static bool known_action(const tc_action *a) {
  if (a->kind != TC_ACT_REDUCE && a->kind != TC_ACT_SCAN) return true;
  return a->reducer > TC_REDUCE_NONE && a->reducer < TC_REDUCE_COUNT;
}

bool tc_print_known(const tc_kernel *k) {
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (!known_expr(&k->expr[i])) return false;
  for (uint32_t n = 0; n < k->nnest; ++n)
    for (uint32_t s = 0; s < k->nest[n].nstage; ++s)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; ++a)
        if (!known_action(&k->nest[n].stage[s].action[a])) return false;
  return true;
}

/* ---- comments -------------------------------------------------------------------------------- */

void tc_print_shape(const tc_program *p, const tc_buffer *b, tc_buf *out) {
  tc_putf(out, " /* %s: ", b->name ? b->name : "");
  tc_type_print(tc_graph_dims(p->graph), &b->type, out);
  tc_put(out, b->kind == TC_BUF_LOCAL     ? ", one row of this thread */\n"
              : b->kind == TC_BUF_PRIVATE ? ", of this thread */\n"
                                          : " */\n");
}

void tc_print_fused(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_putf(out, "\n/* %s", k->name ? k->name : "kernel");
  for (uint32_t i = 0; i < k->nfused; ++i) {
    const tc_node *n = tc_graph_node(p->graph, k->fused[i]);
    tc_putf(out, "%s%s", i ? ", " : ": ", tc_op_get(n->op)->text);
    if (n->loc.line) tc_putf(out, " (line %u)", n->loc.line);
  }
  tc_put(out, " */\n");
}

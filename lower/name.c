/* name.c - readable kernel names, and the place in the source that a kernel is about. */
#include "lower/lowering.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *x, const void *y) {
  uint32_t a = ((const tc_ref *)x)->id, b = ((const tc_ref *)y)->id;
  return (a > b) - (a < b);
}

/* Ops that say what a kernel is about: not constants, casts, views. */
static bool is_telling(const tc_node *n) {
  tc_class c = tc_op_get(n->op)->cls;
  return c != TC_CLASS_LEAF && c != TC_CLASS_VIEW && n->op != OP_CAST && n->op != OP_FULL;
}

/* The distinct ops of a kernel, in order, heavy ones first when there are many. */
static int telling_ops(const tc_graph *g, const tc_kernel *k, tc_op *op, int max) {
  int n = 0;
  for (int heavy = 1; heavy >= 0; heavy--)
    for (uint32_t i = 0; i < k->nfused && n < max; i++) {
      const tc_node *node = tc_graph_node(g, k->fused[i]);
      const tc_op_info *info = tc_op_get(node->op);
      bool is_heavy = info->cls != TC_CLASS_EW || info->transcendental;
      bool seen = !is_telling(node) || is_heavy != heavy;
      for (int j = 0; j < n; j++) seen |= op[j] == node->op;
      if (!seen) op[n++] = node->op;
    }
  return n;
}

static uint32_t sort_unique(tc_ref *r, uint32_t n) {
  uint32_t kept = 0;
  if (n) qsort(r, n, sizeof *r, by_id);
  for (uint32_t i = 0; i < n; i++)
    if (!kept || r[kept - 1].id != r[i].id) r[kept++] = r[i];
  return kept;
}

void lo_name_kernel(lo *L, tc_kernel *k, uint32_t number) {
  enum { WORDS = 4 };
  tc_op op[WORDS];
  tc_buf b = {0};
  k->nfused = sort_unique(k->fused, k->nfused);
  int n = telling_ops(L->g, k, op, WORDS);
  for (int i = 0; i < n; i++) tc_putf(&b, "%s_", tc_op_get(op[i])->text);
  tc_putf(&b, "%s%u", n ? "" : "copy_", number);
  const char *name = b.failed ? NULL : tc_arena_str(L->arena, b.text);
  tc_buf_free(&b);
  if (!name) lo_fail(L, k->loc, "out of memory");
  k->name = name;
  for (uint32_t i = 0; i < k->nfused; i++) {
    const tc_node *node = lo_node(L, k->fused[i]);
    if (is_telling(node) || !k->loc.line) k->loc = node->loc;
  }
}

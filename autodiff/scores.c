/* scores.c - see scores.h. */
#include "autodiff/scores.h"
#include "graph/passes/softmax.h"

#include <stdlib.h>

typedef struct finder {
  const tc_graph *g;
  uint8_t *mark, *reached; /* per value */
  uint8_t part;
} finder;

static const tc_node *node(const finder *f, uint32_t id) {
  return tc_graph_node(f->g, (tc_ref){id});
}

/* Is what is made of `id`, element by element, an operand of a product in the part? */
static bool is_multiplied(finder *f, uint32_t id) {
  for (uint32_t i = id; i <= tc_graph_count(f->g); i++) {
    const tc_node *n = node(f, i);
    bool reads = false;
    for (int k = 0; i > id && k < n->nin; k++) reads |= n->in[k].id >= id && f->reached[n->in[k].id];
    if (reads && n->op == OP_MATMUL && f->mark[i] & f->part) return true;
    f->reached[i] = i == id || (reads && tc_is_by_element(n));
  }
  return false;
}

bool tc_mark_scores(const tc_graph *g, uint8_t *mark, uint8_t part, uint8_t bit) {
  finder f = {.g = g, .mark = mark, .part = part};
  f.reached = calloc(tc_graph_count(g) + 1u, 1);
  for (uint32_t id = 1; f.reached && id <= tc_graph_count(g); id++) {
    const tc_ref x = mark[id] & part ? tc_softmax_operand(g, (tc_ref){id}, f.reached) : (tc_ref){0};
    if (!x.id || !is_multiplied(&f, id) || !tc_is_made_of(g, x, OP_MATMUL, f.reached)) continue;
    for (uint32_t i = 1; i <= x.id; i++)
      if (f.reached[i] && node(&f, i)->op == OP_MATMUL) mark[i] |= bit;
  }
  const bool ok = f.reached != NULL;
  free(f.reached);
  return ok;
}

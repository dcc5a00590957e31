/* scores.c - see scores.h. */
#include "autodiff/scores.h"

#include <stdlib.h>

typedef struct finder {
  const tc_graph *g;
  uint8_t *mark, *reached; /* per value */
  uint8_t part, bit;
} finder;

static const tc_node *node(const finder *f, uint32_t id) {
  return tc_graph_node(f->g, (tc_ref){id});
}

/* Does the value have an element for each one of an operand, or fewer? */
static bool is_by_element(const tc_node *n) {
  const tc_class cls = tc_op_get(n->op)->cls;
  return cls == TC_CLASS_EW || cls == TC_CLASS_VIEW;
}

/* `reached` becomes what `id` is made of, element by element; is the operation there? */
static bool reaches_back(finder *f, uint32_t id, tc_op op) {
  bool found = false;
  for (uint32_t i = 1; i <= id; i++) f->reached[i] = i == id;
  for (uint32_t i = id; i > 0; i--) {
    const tc_node *n = node(f, i);
    found |= f->reached[i] && n->op == op;
    for (int k = 0; f->reached[i] && is_by_element(n) && k < n->nin; k++)
      f->reached[n->in[k].id] = 1;
  }
  return found;
}

/* Is what is made of `id`, element by element, an operand of a product in the part? */
static bool is_multiplied(finder *f, uint32_t id) {
  for (uint32_t i = id; i <= tc_graph_count(f->g); i++) {
    const tc_node *n = node(f, i);
    bool reads = false;
    for (int k = 0; i > id && k < n->nin; k++) reads |= n->in[k].id >= id && f->reached[n->in[k].id];
    if (reads && n->op == OP_MATMUL && f->mark[i] & f->part) return true;
    f->reached[i] = i == id || (reads && is_by_element(n));
  }
  return false;
}

/* e^(x - c), c made of a maximum. */
static bool is_softmax(finder *f, uint32_t id) {
  const tc_node *n = node(f, id);
  if (n->op != OP_EXP || !(f->mark[id] & f->part)) return false;
  n = node(f, n->in[0].id);
  return n->op == OP_SUB && reaches_back(f, n->in[1].id, OP_AMAX);
}

bool tc_mark_scores(const tc_graph *g, uint8_t *mark, uint8_t part, uint8_t bit) {
  finder f = {.g = g, .mark = mark, .part = part, .bit = bit};
  f.reached = calloc(tc_graph_count(g) + 1u, 1);
  for (uint32_t id = 1; f.reached && id <= tc_graph_count(g); id++) {
    if (!is_softmax(&f, id) || !is_multiplied(&f, id)) continue;
    const uint32_t x = node(&f, node(&f, id)->in[0].id)->in[0].id;
    if (!reaches_back(&f, x, OP_MATMUL)) continue;
    for (uint32_t i = 1; i <= x; i++)
      if (f.reached[i] && node(&f, i)->op == OP_MATMUL) mark[i] |= bit;
  }
  const bool ok = f.reached != NULL;
  free(f.reached);
  return ok;
}

/* training.c - see training.h.
 *
 *   what moves   one walk: each value's set of operands that it moves with, as a tape would follow them
 *   joint        the graph with cotangents among its inputs, and the gradients behind its results
 *   parts        of the joint graph, optimised */
#include "autodiff/training.h"

#include "autodiff/autodiff.h"
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RESULTS = 255 }; /* that a tape numbers */

typedef struct maker {
  tc_graph *g;
  tc_training *t;
  tc_buf *why;
  uint64_t *moves; /* [(nodes + 1) * words] the operands that a value moves with */
  bool *stop;      /* [nodes + 1] moves by no derivative: a constant */
  tc_ref *map;     /* [nodes + 1] of g, in the joint graph */
} maker;

static bool refuse(const maker *m, const char *why) {
  if (!m->why->len) tc_put(m->why, why);
  return false;
}

static const char no_memory[] = "out of memory";

/* The first message of the core is the reason. */
static void take_reason(void *self, tc_severity severity, tc_loc loc, const char *text) {
  const maker *m = self;
  if (severity >= TC_MISSED && !m->why->len) {
    if (loc.line) tc_putf(m->why, "line %u: ", loc.line);
    tc_put(m->why, text);
  }
}

/* ---- what moves with what -------------------------------------------------------------------- */

static uint64_t *moves_of(const maker *m, uint32_t id) {
  return m->moves + (size_t)id * m->t->words;
}

static bool any(const maker *m, const uint64_t *set) {
  uint64_t all = 0;
  for (uint32_t k = 0; k < m->t->words; k++) all |= set[k];
  return all != 0;
}

static bool is_float(const tc_graph *g, tc_ref r) {
  return tc_dtype_is_float((tc_dtype)tc_graph_type(g, r)->dtype);
}

static void mark_operands(maker *m) {
  for (uint32_t i = 0; i < m->t->nin; i++) {
    const tc_input *in = tc_graph_input_at(m->g, i);
    if (is_float(m->g, in->node) && !in->written)
      moves_of(m, in->node.id)[i / 64] |= UINT64_C(1) << (i % 64);
  }
}

/* Through an operand without a derivative a tape passes nothing; beside one that moves with the
 * same, it is an error, which the engine reports. */
static void follow(maker *m, uint32_t id) {
  const tc_node *n = tc_graph_node(m->g, (tc_ref){id});
  uint64_t *to = moves_of(m, id);
  bool refused = false;
  for (int i = 0; i < n->nin; i++) {
    const uint64_t *from = moves_of(m, n->in[i].id);
    if (!n->in[i].id || !any(m, from) || !tc_autodiff_passes(m->g, (tc_ref){id}, i)) continue;
    const bool none = n->op != OP_TUPLE && tc_autodiff_refusal(n->op, i);
    refused |= none;
    for (uint32_t k = 0; k < m->t->words && !none; k++) to[k] |= from[k];
  }
  m->stop[id] = refused && !any(m, to);
}

static bool writes_move(const maker *m) {
  for (uint32_t i = 0, input; i < tc_graph_write_count(m->g); i++)
    if (any(m, moves_of(m, tc_graph_write_at(m->g, i, &input).id))) return true;
  return false;
}

static bool find_moves(maker *m) {
  mark_operands(m);
  for (uint32_t id = 1; id <= tc_graph_count(m->g); id++) follow(m, id);
  if (writes_move(m)) return refuse(m, "an operand is written with what gradients may lead to");
  bool some = false;
  for (uint32_t i = 0; i < m->t->nout; i++) {
    const tc_ref r = tc_graph_output_at(m->g, i);
    const uint64_t *of = moves_of(m, r.id);
    m->t->cotangent[i] = is_float(m->g, r) && any(m, of);
    some |= m->t->cotangent[i];
    if (m->t->cotangent[i])
      memcpy(m->t->depends + (size_t)i * m->t->words, of, m->t->words * sizeof *of);
  }
  return some;
}

/* ---- the joint graph ------------------------------------------------------------------------- */

/* Arguments keep their places; cotangents stand behind them. */
static bool add_cotangents(maker *m, tc_ref *cotangent) {
  const uint32_t arguments = tc_graph_input_count(m->g) + tc_graph_scalar_count(m->g);
  for (uint32_t id = 1; id <= arguments; id++) m->map[id].id = id;
  for (uint32_t i = 0, n = 0; i < m->t->nout; i++) {
    const tc_ref r = tc_graph_output_at(m->g, i);
    if (!m->t->cotangent[i]) continue;
    tc_type type = *tc_graph_type(m->g, r);
    type.weak = false;
    cotangent[n] = tc_graph_input(m->t->joint, "cotangent", &type, tc_graph_node(m->g, r)->loc);
    if (!cotangent[n++].id) return refuse(m, no_memory);
  }
  return true;
}

static bool copy_nodes(maker *m) {
  tc_ref in[256];
  for (uint32_t id = 1; id <= tc_graph_count(m->g); id++) {
    const tc_node *n = tc_graph_node(m->g, (tc_ref){id});
    if (m->map[id].id) continue;
    for (int i = 0; i < n->nin; i++) in[i] = m->map[n->in[i].id];
    m->map[id] = tc_rewrite_copy(m->t->joint, m->g, n, in);
    if (!m->map[id].id) return refuse(m, "internal: a node cannot be copied");
  }
  return true;
}

static bool add_roots(maker *m) {
  tc_graph *joint = m->t->joint;
  bool ok = true;
  for (uint32_t i = 0; ok && i < m->t->nout; i++)
    ok = tc_graph_output(joint, m->map[tc_graph_output_at(m->g, i).id]);
  for (uint32_t i = 0, input; ok && i < tc_graph_write_count(m->g); i++) {
    const tc_ref value = tc_graph_write_at(m->g, i, &input);
    ok = tc_graph_write(joint, input, m->map[value.id]);
  }
  return (ok && tc_graph_set_effect(joint, m->map[tc_graph_effect(m->g).id])) ||
         refuse(m, no_memory);
}

/* Lists of the engine's question, each with room for all that there may be. */
typedef struct lists {
  tc_ref *output, *cotangent, *wrt, *gradient, *stop;
  uint32_t *operand; /* of wrt */
  bool *reached;
} lists;

static void fill(const maker *m, lists *l, tc_autodiff *a) {
  for (uint32_t i = 0; i < m->t->nout; i++)
    if (m->t->cotangent[i]) l->output[a->noutput++] = m->map[tc_graph_output_at(m->g, i).id];
  for (uint32_t i = 0; i < m->t->nin; i++) {
    const tc_input *in = tc_graph_input_at(m->g, i);
    bool used = false;
    for (uint32_t k = 0; k < m->t->nout; k++)
      used |= m->t->depends[(size_t)k * m->t->words + i / 64] >> (i % 64) & 1;
    if (used) l->operand[a->nwrt] = i, l->wrt[a->nwrt++] = in->node;
  }
  for (uint32_t id = 1; id <= tc_graph_count(m->g); id++)
    if (m->stop[id]) l->stop[a->nstop++] = m->map[id];
}

static bool add_gradients(maker *m, lists *l) {
  tc_autodiff a = {.output = l->output,
                   .cotangent = l->cotangent,
                   .wrt = l->wrt,
                   .stop = l->stop,
                   .through_integers = true, /* a tape does not track them */
                   .pattern = &tc_autodiff_softmax};
  fill(m, l, &a);
  if (!tc_autodiff_vjp(m->t->joint, &a, l->gradient, l->reached)) return refuse(m, no_memory);
  if (!add_roots(m)) return false;
  for (uint32_t k = 0; k < a.nwrt; k++) {
    m->t->gradient[l->operand[k]] = true;
    if (!tc_graph_output(m->t->joint, l->gradient[k])) return refuse(m, no_memory);
  }
  return true;
}

static bool make_joint(maker *m) {
  const size_t nodes = tc_graph_count(m->g) + 1u, nin = m->t->nin + 1u, nout = m->t->nout + 1u;
  lists l = {.output = calloc(nout, sizeof *l.output),
             .cotangent = calloc(nout, sizeof *l.cotangent),
             .wrt = calloc(nin, sizeof *l.wrt),
             .gradient = calloc(nin, sizeof *l.gradient),
             .stop = calloc(nodes, sizeof *l.stop),
             .operand = calloc(nin, sizeof *l.operand),
             .reached = calloc(nin, sizeof *l.reached)};
  const bool memory =
      l.output && l.cotangent && l.wrt && l.gradient && l.stop && l.operand && l.reached;
  m->t->joint = memory ? tc_graph_derive(m->g) : NULL;
  const bool ok = m->t->joint
                      ? add_cotangents(m, l.cotangent) && copy_nodes(m) && add_gradients(m, &l)
                      : refuse(m, no_memory);
  free(l.output), free(l.cotangent), free(l.wrt), free(l.gradient);
  free(l.stop), free(l.operand), free(l.reached);
  return ok;
}

/* ---- the parts ------------------------------------------------------------------------------- */

static bool divide(maker *m, int64_t max_saved) {
  tc_training *t = m->t;
  t->joint = tc_graph_optimize(t->joint);
  if (!t->joint) return refuse(m, "the joint graph is beyond what the compiler does");
  bool *late = calloc(tc_graph_input_count(t->joint) + 1u, sizeof *late);
  if (!late) return refuse(m, no_memory);
  for (uint32_t i = t->nin; i < tc_graph_input_count(t->joint); i++) late[i] = true;
  const tc_partition_options o = {
      .nforward = t->nout, .late = late, .max_saved = max_saved, .arguments = m->g};
  const bool ok = tc_partition_choose(t->joint, &o, &t->part) &&
                  tc_partition_split(t->joint, &o, &t->part, &t->forward, &t->backward);
  free(late);
  return ok || refuse(m, no_memory);
}

static bool is_fit(const maker *m) {
  for (uint32_t i = 0; i < m->t->nin; i++)
    if (tc_graph_input_at(m->g, i)->leaf) return false; /* gradients are part of the graph */
  return m->t->nout <= MOST_RESULTS || refuse(m, "it has more than 255 results");
}

bool tc_training_make(tc_graph *g, int64_t max_saved, tc_training *t, tc_buf *why) {
  maker m = {.g = g, .t = t, .why = why};
  *t = (tc_training){.nin = tc_graph_input_count(g), .nout = tc_graph_output_count(g)};
  t->words = (t->nin + 63) / 64;
  const size_t nodes = tc_graph_count(g) + 1u;
  t->gradient = calloc(t->nin + 1u, sizeof *t->gradient);
  t->cotangent = calloc(t->nout + 1u, sizeof *t->cotangent);
  t->depends = calloc((size_t)t->nout * t->words + 1u, sizeof *t->depends);
  m.moves = calloc(nodes * t->words + 1u, sizeof *m.moves);
  m.stop = calloc(nodes, sizeof *m.stop);
  m.map = calloc(nodes, sizeof *m.map);
  tc_diag *diag = tc_graph_diag(g), before = diag ? *diag : (tc_diag){0};
  if (diag) *diag = (tc_diag){take_reason, &m};
  const bool memory = t->gradient && t->cotangent && t->depends && m.moves && m.stop && m.map;
  const bool ok = memory ? is_fit(&m) && find_moves(&m) && make_joint(&m) && divide(&m, max_saved)
                         : refuse(&m, no_memory);
  if (diag) *diag = before;
  free(m.moves), free(m.stop), free(m.map);
  if (!ok) tc_training_free(t);
  return ok;
}

void tc_training_free(tc_training *t) {
  tc_partition_free(&t->part);
  if (t->joint) tc_graph_free(t->joint);
  if (t->forward) tc_graph_free(t->forward);
  if (t->backward) tc_graph_free(t->backward);
  free(t->gradient);
  free(t->cotangent);
  free(t->depends);
  *t = (tc_training){0};
}

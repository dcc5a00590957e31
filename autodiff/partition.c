/* partition.c - save or compute again, by a least cut; see partition.h.
 *
 * Value v is an edge in(v) -> out(v), whose capacity is what saving it costs.  On the sink's side,
 * out(v) means that the backward part has v, in(v) that it computes v:
 *   source -> in(v)   computing v again, cut where in(v) is on the sink's side
 *   out(u) -> in(v)   infinite: who computes v has its operands u
 *   out(v) -> sink    infinite: the backward part reads v */
#include "autodiff/partition.h"

#include "autodiff/flow.h"
#include "autodiff/scores.h"
#include "graph/extremum.h"

#include <stdlib.h>
#include <string.h>

enum { LATE = 1, NEEDED = 2, RESULT = 4, INPUT = 8, FORWARD = 16, SCORES = 32 };
enum { SOURCE = 0, SINK = 1 };

typedef struct work {
  tc_graph *g;
  const tc_partition_options *o;
  uint32_t count;
  uint8_t *mark;  /* [count + 1] */
  int64_t *sizes; /* [symbols] */
  tc_flow flow;
} work;

static uint32_t in_of(uint32_t id) { return 2 * id; }
static uint32_t out_of(uint32_t id) { return 2 * id + 1; }

static bool fail(const work *w, tc_loc loc, const char *why) {
  tc_report(tc_graph_diag(w->g), TC_MISSED, loc, "not divided into forward and backward part: %s",
            why);
  return false;
}

/* ---- sizes and costs ------------------------------------------------------------------------- */

static const int64_t huge = INT64_C(1) << 50;

static bool choose_sizes(work *w) {
  const uint32_t n = tc_dims_sym_count(tc_graph_dims(w->g));
  w->sizes = calloc(n + 1u, sizeof *w->sizes);
  for (uint32_t i = 0; w->sizes && i < n; i++) {
    const tc_sym *s = tc_dims_sym(tc_graph_dims(w->g), i);
    int64_t size = w->o->sizes ? w->o->sizes[i] : 128;
    if (!w->o->sizes) size = size < s->lo ? s->lo : size > s->hi ? s->hi : size;
    w->sizes[i] = size;
  }
  return w->sizes != NULL;
}

static int64_t elements(const work *w, const tc_type *t) {
  int64_t n = 1, size;
  for (int i = 0; i < t->rank; i++) {
    if (!tc_dim_eval(tc_graph_dims(w->g), t->dim[i], w->sizes, &size) || size < 0) return huge;
    if (__builtin_mul_overflow(n, size, &n) || n > huge) return huge;
  }
  return n;
}

static int64_t bytes_of(const work *w, tc_ref r) {
  const tc_type *t = tc_graph_type(w->g, r);
  return elements(w, t) * (int64_t)tc_dtype_bytes((tc_dtype)t->dtype);
}

static int64_t operations(const work *w, double n) {
  const double bytes = n * (w->o->bytes_per_flop > 0 ? w->o->bytes_per_flop : 1. / 16);
  return bytes < (double)huge ? (int64_t)bytes : huge;
}

/* Scores of attention that are many beside what makes them, as those of a few experts are not. */
static bool are_made_again(const work *w, tc_ref r) {
  enum { FEW = 4 };
  const tc_node *n = tc_graph_node(w->g, r);
  int64_t operands = 0;
  for (int i = 0; i < n->nin; i++) operands += elements(w, tc_graph_type(w->g, n->in[i]));
  return w->mark[r.id] & SCORES && elements(w, &n->type) >= operands / FEW;
}

static int64_t contraction(const work *w, tc_ref r) {
  int64_t flops = huge;
  if (are_made_again(w, r)) return 0; /* by the kernel that reads weights */
  if (!w->o->repeat_contractions) return TC_FLOW_INFINITE;
  if (!tc_dim_eval(tc_graph_dims(w->g), tc_node_flops(w->g, r), w->sizes, &flops)) flops = huge;
  return operations(w, (double)flops) + bytes_of(w, r);
}

/* Values that are computed again may differ in the last bit from those that the extremum was found
 * among. */
static bool is_found_again(const work *w, const tc_node *n) {
  const tc_ref x = tc_compared_with_extremum(w->g, n, NULL);
  if (!x.id) return false;
  n = tc_graph_node(w->g, x);
  while (tc_op_get(n->op)->cls == TC_CLASS_VIEW) n = tc_graph_node(w->g, n->in[0]);
  return n->op != OP_INPUT;
}

/* What computing it again costs, where its operands are there. */
static int64_t repeat_cost(const work *w, tc_ref r) {
  enum { TRANSCENDENTAL = 16 }; /* operations */
  const tc_node *n = tc_graph_node(w->g, r);
  const tc_op_info *op = tc_op_get(n->op);
  const int each = op->transcendental ? TRANSCENDENTAL : op->moves ? 0 : op->flops ? op->flops : 1;
  switch (op->cls) {
  case TC_CLASS_LEAF:
    return n->op == OP_INPUT || n->op == OP_SCALAR ? TC_FLOW_INFINITE : 0;
  case TC_CLASS_GEN:
  case TC_CLASS_EW:
    return operations(w, (double)each * (double)elements(w, &n->type));
  case TC_CLASS_VIEW:
  case TC_CLASS_JOIN:
    return 0;
  case TC_CLASS_INDEX:
    return bytes_of(w, r);
  case TC_CLASS_REDUCE:
  case TC_CLASS_SCAN:
    return bytes_of(w, n->in[0]) +
           operations(w, (double)elements(w, tc_graph_type(w->g, n->in[0])));
  case TC_CLASS_SCATTER:
    return bytes_of(w, n->in[0]) + bytes_of(w, n->in[2]);
  case TC_CLASS_MATMUL:
    return contraction(w, r);
  default:
    return TC_FLOW_INFINITE;
  }
}

/* Likewise of computing it in the backward part, which costs nothing more where the forward part
 * has no use for it. */
static int64_t cost_of(const work *w, tc_ref r) {
  const tc_node *n = tc_graph_node(w->g, r);
  const bool again = w->mark[r.id] & FORWARD || !n->nin;
  if (is_found_again(w, n)) return TC_FLOW_INFINITE;
  return again ? repeat_cost(w, r) : 0;
}

/* ---- who needs what -------------------------------------------------------------------------- */

/* An input that the forward part writes is, for the backward part, a value that has to be saved. */
static void mark_inputs(work *w) {
  for (uint32_t i = 0; i < tc_graph_input_count(w->g); i++) {
    const tc_input *in = tc_graph_input_at(w->g, i);
    w->mark[in->node.id] |= w->o->late && w->o->late[i] ? LATE : in->written ? 0 : INPUT;
  }
  for (uint32_t i = 0; i < tc_graph_scalar_count(w->g); i++)
    w->mark[tc_graph_scalar_at(w->g, i)->node.id] |= INPUT;
  for (uint32_t id = 1; id <= w->count; id++) {
    const tc_node *n = tc_graph_node(w->g, (tc_ref){id});
    for (int i = 0; i < n->nin; i++) w->mark[id] |= w->mark[n->in[i].id] & LATE;
  }
}

static bool mark_roots(work *w) {
  for (uint32_t i = 0; i < tc_graph_output_count(w->g); i++) {
    const tc_ref r = tc_graph_output_at(w->g, i);
    const bool forward = i < w->o->nforward;
    w->mark[r.id] |= forward ? RESULT | FORWARD : NEEDED;
    if (forward && w->mark[r.id] & LATE)
      return fail(w, tc_graph_node(w->g, r)->loc, "a result of the forward part needs a cotangent");
  }
  for (uint32_t i = 0, input; i < tc_graph_write_count(w->g); i++) {
    const tc_ref r = tc_graph_write_at(w->g, i, &input);
    if (w->mark[r.id] & LATE)
      return fail(w, tc_graph_node(w->g, r)->loc, "a value that is written needs a cotangent");
    w->mark[r.id] |= FORWARD;
  }
  const tc_ref effect = tc_graph_effect(w->g);
  if (w->mark[effect.id] & LATE)
    return fail(w, tc_graph_node(w->g, effect)->loc, "a call needs a cotangent");
  w->mark[effect.id] |= FORWARD;
  for (uint32_t id = w->count; id > 0; id--) {
    const tc_node *n = tc_graph_node(w->g, (tc_ref){id});
    for (int i = 0; i < n->nin; i++) w->mark[n->in[i].id] |= w->mark[id] & (NEEDED | FORWARD);
  }
  return true;
}

/* ---- the cut --------------------------------------------------------------------------------- */

/* `dear` scales what saving costs, to save less. */
static int64_t saving_cost(const work *w, uint32_t id, int64_t dear) {
  const int64_t bytes = bytes_of(w, (tc_ref){id});
  if (tc_graph_node(w->g, (tc_ref){id})->op == OP_SCALAR) return 0; /* no memory */
  if (w->mark[id] & (INPUT | RESULT)) return bytes;
  return bytes < huge / dear ? 2 * dear * bytes : 2 * huge;
}

static bool add_value(work *w, uint32_t id, int64_t dear) {
  const tc_node *n = tc_graph_node(w->g, (tc_ref){id});
  tc_flow *f = &w->flow;
  bool ok = true;
  if (w->mark[id] & LATE) {
    for (int i = 0; ok && i < n->nin; i++) {
      const uint32_t in = n->in[i].id;
      if (in && !(w->mark[in] & LATE)) ok = tc_flow_edge_add(f, out_of(in), SINK, TC_FLOW_INFINITE);
    }
    return ok;
  }
  ok = tc_flow_edge_add(f, SOURCE, in_of(id), cost_of(w, (tc_ref){id})) &&
       tc_flow_edge_add(f, in_of(id), out_of(id), saving_cost(w, id, dear));
  for (int i = 0; ok && i < n->nin; i++)
    if (n->in[i].id) ok = tc_flow_edge_add(f, out_of(n->in[i].id), in_of(id), TC_FLOW_INFINITE);
  return ok;
}

static bool cut(work *w, int64_t dear) {
  tc_flow_free(&w->flow);
  bool ok = tc_flow_begin(&w->flow, 2 * w->count + 2);
  for (uint32_t id = 1; ok && id <= w->count; id++)
    if (w->mark[id] & NEEDED) ok = add_value(w, id, dear);
  for (uint32_t i = w->o->nforward; ok && i < tc_graph_output_count(w->g); i++) {
    const uint32_t id = tc_graph_output_at(w->g, i).id;
    if (!(w->mark[id] & LATE)) ok = tc_flow_edge_add(&w->flow, out_of(id), SINK, TC_FLOW_INFINITE);
  }
  if (!ok) return fail(w, (tc_loc){0, 0, 0, 0}, "out of memory");
  tc_flow_cut(&w->flow, SOURCE, SINK);
  return true;
}

/* Does the backward part compute the value, which the forward part has too? */
static bool is_repeated(const work *w, uint32_t id) {
  return w->mark[id] & NEEDED && w->mark[id] & FORWARD && !w->flow.level[in_of(id)] &&
         tc_graph_node(w->g, (tc_ref){id})->nin > 0;
}

static bool is_saved(const work *w, uint32_t id) {
  return w->mark[id] & NEEDED && !(w->mark[id] & (LATE | INPUT | RESULT)) &&
         w->flow.level[in_of(id)] && !w->flow.level[out_of(id)];
}

static bool collect(work *w, tc_partition *p) {
  TC_VEC(tc_ref) saved = {0}, repeated = {0};
  bool ok = true;
  *p = (tc_partition){0};
  for (uint32_t id = 1; ok && id <= w->count; id++) {
    const tc_ref r = {id};
    if (is_repeated(w, id)) ok = tc_push(&repeated, r);
    if (!is_saved(w, id)) continue;
    ok = ok && tc_push(&saved, r);
    p->bytes += bytes_of(w, r);
  }
  p->saved = saved.at;
  p->nsaved = (uint32_t)saved.n;
  p->repeated = repeated.at;
  p->nrepeated = (uint32_t)repeated.n;
  if (!ok) {
    tc_partition_free(p);
    return fail(w, (tc_loc){0, 0, 0, 0}, "out of memory");
  }
  p->within = !w->o->max_saved || p->bytes <= w->o->max_saved;
  return true;
}

/* The least factor on the cost of saving, a power of 4, that stays within the limit. */
static bool search(work *w, tc_partition *out) {
  for (int64_t dear = 1; dear <= INT64_C(1) << 20; dear *= 4) {
    if (dear > 1) tc_partition_free(out);
    if (!cut(w, dear) || !collect(w, out)) return false;
    if (out->within) break;
  }
  return true;
}

bool tc_partition_choose(tc_graph *joint, const tc_partition_options *o, tc_partition *out) {
  work w = {.g = joint, .o = o, .count = tc_graph_count(joint)};
  *out = (tc_partition){0};
  w.mark = calloc(w.count + 1u, 1);
  bool ok = w.mark && choose_sizes(&w);
  if (!ok) fail(&w, (tc_loc){0, 0, 0, 0}, "out of memory");
  if (ok) mark_inputs(&w);
  ok = ok && mark_roots(&w);
  if (ok && !tc_mark_scores(joint, w.mark, FORWARD, SCORES))
    ok = fail(&w, (tc_loc){0, 0, 0, 0}, "out of memory");
  ok = ok && search(&w, out);
  tc_flow_free(&w.flow);
  free(w.mark);
  free(w.sizes);
  return ok;
}

void tc_partition_free(tc_partition *p) {
  free(p->saved);
  free(p->repeated);
  *p = (tc_partition){0};
}

void tc_partition_print(tc_graph *joint, const tc_partition *p, tc_buf *out) {
  tc_putf(out, "saved %u tensor%s, %lld bytes; %u value%s computed again\n", p->nsaved,
          p->nsaved == 1 ? "" : "s", (long long)p->bytes, p->nrepeated,
          p->nrepeated == 1 ? "" : "s");
  for (uint32_t i = 0; i < p->nsaved; i++) {
    const tc_node *n = tc_graph_node(joint, p->saved[i]);
    tc_putf(out, "  %s ", tc_op_get(n->op)->text);
    tc_type_print(tc_graph_dims(joint), &n->type, out);
    if (n->loc.line) tc_putf(out, ", line %u", n->loc.line);
    tc_put(out, "\n");
  }
}

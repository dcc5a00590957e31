/* subgraph.c - a subgraph of the tape as a tc_graph (constant sizes), to which the engine appends
 * gradients.
 *
 * A value is one node for each version of its memory that was read: the op that made it, or an
 * input; and where it was then written without being recorded, that plus a constant, so that its
 * derivative is that of the value. */
#include "runtime/libtcrt/src/autograd/subgraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autodiff/autodiff.h"

typedef struct entry {
  tape_use of;
  bool written; /* of.version is not that of the value */
  tc_ref ref;   /* written: the constant, then the sum */
} entry;

typedef struct builder {
  tape_graph *i;
  TC_VEC(entry) entry;
  tc_table index;
  tc_ref *node; /* [i->of.n] */
  TC_VEC(tc_ref) output, cotangent, wrt;
  TC_VEC(tape_value *) target; /* of wrt */
} builder;

/* ---- messages -------------------------------------------------------------------------------- */

const tape_op *tc_subgraph_op(const tape_graph *i, tc_loc loc) {
  return loc.raw ? i->plan->op.at[i->of.first + loc.raw - 1] : NULL;
}

tape_op_text tc_describe_op(const tape_op *op) {
  tape_op_text t;
  const char *slash = op->place.file ? strrchr(op->place.file, '/') : NULL;
  const char *file = slash ? slash + 1 : op->place.file;
  if (file && !op->place.line) snprintf(t.text, sizeof t.text, "%s (%s)", op->name, file);
  else if (file) snprintf(t.text, sizeof t.text, "%s (%s:%d)", op->name, file, op->place.line);
  else snprintf(t.text, sizeof t.text, "%s", op->name);
  return t;
}

static void report(void *self, tc_severity severity, tc_loc loc, const char *text) {
  tape_graph *i = self;
  const tape_op *op = tc_subgraph_op(i, loc);
  if (i->told || severity < TC_MISSED) return;
  i->told = true;
  if (op) tc_fail("%s: at %s: %s", i->plan->name, tc_describe_op(op).text, text);
  else tc_fail("%s: %s", i->plan->name, text);
}

/* What failed in the graph has been reported, or there was no memory.  false. */
static bool told(const tape_graph *i) { return i->told ? false : tc_tape_no_memory(); }

/* ---- values ---------------------------------------------------------------------------------- */

static bool same_entry(const void *owner, uint32_t id, const void *key) {
  const entry *e = &((const builder *)owner)->entry.at[id - 1], *k = key;
  return e->of.value == k->of.value && e->written == k->written &&
         (!k->written || e->of.version == k->of.version);
}

static uint64_t entry_hash(const entry *e) {
  const uint64_t key[2] = {(uint64_t)(uintptr_t)e->of.value,
                           e->written ? (uint64_t)e->of.version + 1 : 0};
  return tc_hash(key, sizeof key, 0);
}

static entry *find_entry(const builder *b, tape_use of, bool written) {
  const entry key = {of, written, {0}};
  const uint32_t id = tc_table_find(&b->index, entry_hash(&key), same_entry, b, &key);
  return id ? &b->entry.at[id - 1] : NULL;
}

static bool add_entry(builder *b, tape_use of, bool written, tc_ref ref) {
  const entry e = {of, written, ref};
  if (!ref.id) return false;
  return (tc_push(&b->entry, e) && tc_table_add(&b->index, entry_hash(&e), (uint32_t)b->entry.n)) ||
         tc_tape_no_memory();
}

/* Position in the subgraph of the op that made v; UINT32_MAX: none there. */
static uint32_t position(const builder *b, const tape_value *v) {
  const uint32_t at = tc_plan_position(b->i->plan, v->maker), first = b->i->of.first;
  return at >= first && at - first < b->i->of.n ? at - first : UINT32_MAX;
}

static bool is_made(const builder *b, const tape_value *v) { return position(b, v) != UINT32_MAX; }

static bool is_constant(const tape_value *v) { return !v->maker && !v->leaf; }

/* A C number. */
static bool is_number(const tape_value *v) {
  return is_constant(v) && v->at.key.rank == 0 && v->at.key.flags & TC_FLAG_WEAK && v->at.data &&
         v->at.key.device == TC_CPU;
}

/* A node of equal inputs may have several tensors: one whose memory still is what it was wins. */
static bool set_known(tape_graph *i, tc_ref ref, const tc_tensor *at, uint32_t version) {
  while (i->known.n <= ref.id)
    if (!tc_push(&i->known, ((tape_known){0}))) return tc_tape_no_memory();
  tape_known *k = &i->known.at[ref.id];
  if (!k->at || !k->at->data || tc_tape_version(k->at) != k->version)
    *k = (tape_known){at, version};
  return true;
}

/* ---- inputs come first ----------------------------------------------------------------------- */

static tc_ref input(builder *b, const char *name, const tc_tensor *x) {
  const tc_type type = tc_type_of(x);
  const tc_ref r = tc_graph_input(b->i->g, name, &type, (tc_loc){0});
  if (!r.id) tc_tape_no_memory();
  return r;
}

static bool declare(builder *b, tape_use use) {
  tape_value *v = use.value;
  const bool made = is_made(b, v);
  if (!made && is_number(v)) return true;
  if (!made && !find_entry(b, use, false)) {
    const uint32_t version = v->maker ? v->version : use.version;
    const tape_use base = {v, version};
    const tc_ref r = input(b,
                           is_constant(v) ? "a constant"
                           : v->leaf      ? "a leaf"
                                          : "a result",
                           &v->at);
    if (!add_entry(b, base, false, r) || !set_known(b->i, r, &v->at, version)) return false;
  }
  const uint32_t version = made ? v->version : find_entry(b, use, false)->of.version;
  if (use.version == version || find_entry(b, use, true)) return true;
  return add_entry(b, use, true, input(b, "what was written", &v->at));
}

static bool declare_operands(builder *b) {
  const tape_graph *i = b->i;
  for (uint32_t k = 0; k < i->of.n; k++) {
    const tape_op *op = i->plan->op.at[i->of.first + k];
    for (int a = 0; a < op->nin; a++)
      if (op->in[a].value && !declare(b, op->in[a])) return false;
  }
  return true;
}

/* Gradients that have arrived at results of the subgraph. */
static bool declare_cotangents(builder *b) {
  for (size_t k = 0; k < b->i->plan->grad.n; k++) {
    const tape_grad *e = &b->i->plan->grad.at[k];
    if (!e->sum || !is_made(b, e->value)) continue;
    const tc_ref r = input(b, "the cotangent", e->sum);
    if (!r.id || !set_known(b->i, r, e->sum, tc_tape_version(e->sum))) return false;
    if (!tc_push(&b->cotangent, r)) return tc_tape_no_memory();
  }
  return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static tc_ref number(const builder *b, const tape_value *v, tc_loc loc) {
  const tc_dtype d = (tc_dtype)v->at.key.dtype;
  if (tc_is_float(d)) return tc_graph_const_f(b->i->g, d, true, tc_scalar_f(&v->at), loc);
  return tc_graph_const_i(b->i->g, d, true, tc_scalar_i(&v->at), loc);
}

/* The node of the value as its op made it. */
static tc_ref result(const builder *b, const tape_value *v) {
  const tc_ref node = b->node[position(b, v)];
  const tc_node *n = tc_graph_node(b->i->g, node);
  const tc_ref r = n && n->nresult > 1 ? tc_build_result(b->i->g, node, v->result, n->loc) : node;
  return r.id && set_known(b->i, r, &v->at, v->version) ? r : (tc_ref){0};
}

/* The node of the value as a whole: gradients with respect to it are those of all its versions. */
static tc_ref base_of(const builder *b, tape_use use) {
  if (is_made(b, use.value)) return result(b, use.value);
  const entry *e = find_entry(b, use, false);
  return e ? e->ref : (tc_ref){0};
}

static tc_ref operand(builder *b, tape_use use, tc_loc loc) {
  tape_value *v = use.value;
  if (!v) return (tc_ref){0};
  if (!is_made(b, v) && is_number(v)) return number(b, v, loc);
  const tc_ref base = base_of(b, use);
  entry *e = find_entry(b, use, true);
  if (!e || !base.id) return base;
  if (tc_graph_node(b->i->g, e->ref)->op != OP_INPUT) return e->ref;
  e->ref = tc_build2(b->i->g, OP_ADD, base, e->ref, loc);
  return set_known(b->i, e->ref, &v->at, use.version) ? e->ref : (tc_ref){0};
}

static bool build_op(builder *b, uint32_t k) {
  const tape_op *op = b->i->plan->op.at[b->i->of.first + k];
  const tc_loc loc = {.line = (uint32_t)op->place.line, .raw = k + 1};
  tc_ref in[256];
  for (int a = 0; a < op->nin; a++) {
    in[a] = operand(b, op->in[a], loc);
    if (op->in[a].value && !in[a].id) return told(b->i);
  }
  const int nattr = op->nattr - (op->string != NULL); /* tc_build adds that of the string */
  b->node[k] = tc_build(b->i->g, op->op, op->nin, in, nattr, op->attr, op->string, loc);
  return b->node[k].id != 0 || told(b->i);
}

static bool build_ops(builder *b) {
  for (uint32_t k = 0; k < b->i->of.n; k++)
    if (!build_op(b, k)) return false;
  return true;
}

/* ---- what is asked of the engine ------------------------------------------------------------- */

static bool add_target(builder *b, tape_value *v, tc_ref ref) {
  return ref.id && ((tc_push(&b->wrt, ref) && tc_push(&b->target, v)) || tc_tape_no_memory());
}

/* Values that gradients leave the subgraph for. */
static bool find_targets(builder *b) {
  for (size_t k = 0; k < b->entry.n; k++) {
    const entry e = b->entry.at[k];
    const tape_grad *wanted = tc_plan_find(b->i->plan, e.of.value);
    const bool leads = tc_plan_position(b->i->plan, e.of.value->maker) != UINT32_MAX;
    if (e.written || is_made(b, e.of.value) || !(leads || (wanted && wanted->wanted))) continue;
    if (!add_target(b, e.of.value, e.ref)) return false;
  }
  return true;
}

/* Results of the subgraph: where gradients have arrived, and where the program wants them. */
static bool find_results(builder *b) {
  for (size_t k = 0; k < b->i->plan->grad.n; k++) {
    const tape_grad *e = &b->i->plan->grad.at[k];
    if (!is_made(b, e->value)) continue;
    const tc_ref r = result(b, e->value);
    if (!r.id) return false;
    if (e->sum && !tc_push(&b->output, r)) return tc_tape_no_memory();
    if (e->wanted && !add_target(b, e->value, r)) return false;
  }
  return true;
}

/* What arrives at a result that is wanted has its share in it, and is replaced. */
static bool hand_on(builder *b, const tc_ref *grad, const bool *reached, tc_tensor **out) {
  tape_graph *i = b->i;
  tape_plan *p = i->plan;
  const uint32_t n = (uint32_t)b->wrt.n;
  bool ok = tc_subgraph_evaluate(i, n, grad, out);
  for (uint32_t k = 0; k < n; k++) {
    tape_grad *e = tc_plan_find(p, b->target.at[k]);
    if (e && is_made(b, e->value)) {
      tc_free(e->sum);
      e->sum = NULL;
    }
    if (ok && reached[k]) ok = tc_plan_add(p, b->target.at[k], out[k]);
    else tc_free(out[k]);
  }
  return ok;
}

static bool differentiate(builder *b) {
  const tc_autodiff a = {.noutput = (uint32_t)b->output.n,
                         .output = b->output.at,
                         .cotangent = b->cotangent.at,
                         .nwrt = (uint32_t)b->wrt.n,
                         .wrt = b->wrt.at,
                         .through_integers = true}; /* never tracked */
  tc_ref *grad = calloc(a.nwrt + 1u, sizeof *grad);
  bool *reached = calloc(a.nwrt + 1u, sizeof *reached);
  tc_tensor **out = calloc(a.nwrt + 1u, sizeof *out);
  bool ok = grad && reached && out;
  if (!ok) tc_tape_no_memory();
  b->i->forward = tc_graph_count(b->i->g);
  ok = ok && (tc_autodiff_vjp(b->i->g, &a, grad, reached) || told(b->i));
  ok = ok && hand_on(b, grad, reached, out);
  free(grad);
  free(reached);
  free(out);
  return ok;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool run(builder *b) {
  b->node = calloc(b->i->of.n, sizeof *b->node);
  if (!b->node) return tc_tape_no_memory();
  if (!declare_operands(b) || !declare_cotangents(b)) return false;
  if (!b->cotangent.n) return true; /* no gradient arrived */
  return build_ops(b) && find_targets(b) && find_results(b) && (!b->wrt.n || differentiate(b));
}

/* To the other device. */
static bool run_move(tape_plan *p, const tape_op *op) {
  tape_value *from = op->in[0].value;
  for (size_t k = 0; k < p->grad.n; k++) {
    const tape_grad *e = &p->grad.at[k];
    if (e->value->maker != op || !e->sum) continue;
    tc_tensor *g = tc_to(e->sum, tc_place(&from->at));
    if (!g || !tc_plan_add(p, from, g)) return false;
  }
  return true;
}

bool tc_subgraph_run(tape_plan *p, tape_subgraph at) {
  const tape_op *first = p->op.at[at.first];
  if (first->move) return run_move(p, first);
  if (first->compiled) return tc_compiled_run(p, first);
  tape_graph i = {.plan = p, .of = at};
  builder b = {.i = &i};
  i.diag = (tc_diag){report, &i};
  i.g = tc_graph_new("a tape", &i.diag);
  const bool ok = i.g ? run(&b) : tc_tape_no_memory();
  tc_graph_free(i.g);
  free(i.known.at);
  free(b.entry.at);
  free(b.node);
  free(b.output.at);
  free(b.cotangent.at);
  free(b.wrt.at);
  free(b.target.at);
  tc_table_free(&b.index);
  return ok;
}

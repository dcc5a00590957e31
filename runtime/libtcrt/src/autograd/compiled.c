/* compiled.c - a compiled function as one op of the tape: it keeps what its backward part reads,
 * and runs that.
 *
 * in[] of the op: the operands (values of the tape, or constants), then the results and what was
 * saved, as constants of their own: the results' values hold the op.  What nobody reads is a header
 * without memory. */
#include "runtime/libtcrt/src/autograd/subgraph.h"

#include <stdlib.h>
#include <string.h>

/* ---- forward --------------------------------------------------------------------------------- */

static tape_op *op_new(const tcrt_gradient *g, const tc_value *scalar, tc_device device) {
  const uint32_t n = g->operands + g->results + g->saved;
  const size_t uses = n * sizeof(tape_use), numbers = (g->scalars + 1) * sizeof(tc_value);
  tape_op *op = calloc(1, sizeof *op + uses + numbers);
  if (!op) tc_tape_no_memory();
  if (!op) return NULL;
  op->refs = 1;
  op->compiled = g;
  op->name = g->function->name;
  op->place.file = g->function->location;
  op->device = device;
  op->scalar = (tc_value *)(void *)&op->in[n];
  if (g->scalars) memcpy(op->scalar, scalar, g->scalars * sizeof *scalar);
  return op;
}

static bool keep_constant(tape_op *op, const tc_tensor *x, bool needed) {
  tc_tensor header = tc_alias(x);
  if (!needed) header.data = header.storage = NULL;
  return tc_tape_take(op, tc_tape_value(&header, NULL, 0), tc_tape_version(x));
}

static bool keep_operand(tape_op *op, const tc_tensor *x, bool needed) {
  if (!x->autograd) return keep_constant(op, x, needed);
  tc_tape_ref(tc_tape_link(x));
  return tc_tape_take(op, tc_tape_link(x), tc_tape_version(x));
}

/* Does the result move with a tracked operand? */
static bool is_tracked(const tcrt_gradient *g, const tc_tensor *const *in, uint32_t result) {
  const uint64_t *depends = g->depends + (size_t)result * ((g->operands + 63) / 64);
  for (uint32_t i = 0; i < g->operands; i++)
    if (in[i]->autograd && depends[i / 64] >> (i % 64) & 1) return true;
  return false;
}

static bool record(const tcrt_gradient *g, const tc_tensor *const *in, const tc_value *scalar,
                   tc_tensor **all) {
  const uint32_t n = g->results + g->saved;
  tape_op *op = op_new(g, scalar, tc_place(in[0]));
  bool ok = op != NULL;
  for (uint32_t i = 0; i < g->operands && ok; i++)
    ok = keep_operand(op, in[i], g->operand[i] & TCRT_NEEDED);
  for (uint32_t i = 0; i < n && ok; i++) ok = keep_constant(op, all[i], g->result[i] & TCRT_NEEDED);
  if (ok) op->level++;
  for (uint32_t i = 0; i < g->results && ok; i++)
    if (g->result[i] & TCRT_MOVES && is_tracked(g, in, i))
      ok = tc_tape_link_result(op, all[i], (int)i);
  if (op) tc_tape_op_unref(op);
  return ok;
}

/* Those that are tracked have to be what their memory holds, and what is needed has to stay. */
static bool may_keep(const tcrt_gradient *g, const tc_tensor *const *in) {
  for (uint32_t i = 0; i < g->operands; i++) {
    const tc_tensor *x = in[i];
    if (!x || x->key.flags & TC_FLAG_FREED) return true; /* which the guards find */
    if (x->autograd && !tc_tape_is_current(g->function->name, x)) return false;
    if (g->operand[i] & TCRT_NEEDED && !x->storage && x->key.rank > 0) return false;
  }
  return true;
}

int tcrt_train(const tcrt_gradient *g, const tc_tensor *const *in, const tc_value *scalar,
               tc_tensor **out) {
  const uint32_t n = g->results + g->saved;
  tc_tensor **all = calloc(n, sizeof *all);
  if (!all || !may_keep(g, in)) {
    free(all);
    return tcrt_miss(g->function, TC_MISS_GRAD, -1, -1, 0, 0);
  }
  const int done = g->forward(in, scalar, all);
  const bool ok = done && (!all[0] || record(g, in, scalar, all)); /* NULL: it failed */
  for (uint32_t i = 0; i < n && done; i++) {
    const bool result = ok && i < g->results;
    if (i < g->results) out[i] = result ? all[i] : NULL;
    if (!result) tc_free(all[i]);
  }
  free(all);
  return done;
}

/* ---- backward -------------------------------------------------------------------------------- */

typedef struct pass {
  tape_plan *plan;
  const tape_op *op;
  const tcrt_gradient *g;
  tc_tensor *header;     /* [results] cotangents, as the backward part takes them */
  tc_tensor **cotangent; /* [results] those that are this pass's own */
  const tc_tensor **in;
  tc_tensor **out; /* [operands] */
} pass;

static const tc_tensor *held(const pass *p, uint32_t i) { return &p->op->in[i].value->at; }

static bool is_kept(const pass *p, uint32_t i, bool needed) {
  const tc_tensor *x = held(p, i);
  if (!needed) return true;
  if (!x->data && x->key.device == TC_CPU && tc_elements(x))
    return tc_fail("%s: a value that it needs was not kept", p->plan->name);
  return tc_tape_version(x) == p->op->in[i].version || tc_subgraph_written(p->plan, p->op, x);
}

/* What arrived at a result, which several values may stand for.  false with an error. */
static bool sum_up(pass *p, uint32_t result, bool *any) {
  const tc_tensor *sum = NULL;
  for (size_t k = 0; k < p->plan->grad.n; k++) {
    const tape_grad *e = &p->plan->grad.at[k];
    if (e->value->maker != p->op || e->value->result != result || !e->sum) continue;
    tc_tensor *both = sum ? tc_add(sum, e->sum) : NULL;
    if (sum && !both) return false;
    if (both) tc_free(p->cotangent[result]), p->cotangent[result] = both;
    sum = both ? both : e->sum;
  }
  *any |= sum != NULL;
  if (!sum) sum = p->cotangent[result] = tc_zeros_like(held(p, p->g->operands + result));
  if (sum) p->header[result] = tc_alias(sum);
  p->header[result].key.flags &= (uint8_t)~TC_FLAG_WEAK;
  return sum != NULL;
}

/* Lists what the backward part takes.  *any: some cotangent arrived. */
static bool gather(pass *p, bool *any) {
  const tcrt_gradient *g = p->g;
  const tc_tensor **to = p->in;
  bool ok = true;
  for (uint32_t i = 0; i < g->operands && ok; i++) {
    ok = is_kept(p, i, g->operand[i] & TCRT_NEEDED);
    *to++ = held(p, i);
  }
  for (uint32_t i = 0; i < g->results && ok; i++) {
    if (!(g->result[i] & TCRT_MOVES)) continue;
    ok = sum_up(p, i, any);
    *to++ = &p->header[i];
  }
  for (uint32_t i = 0; i < g->results + g->saved && ok; i++) {
    ok = is_kept(p, g->operands + i, g->result[i] & TCRT_NEEDED);
    *to++ = held(p, g->operands + i);
  }
  return ok;
}

/* Is the gradient of operand i asked for, or on the way to one? */
static bool is_wanted(const pass *p, uint32_t i) {
  tape_value *v = p->op->in[i].value;
  const tape_grad *e = tc_plan_find(p->plan, v);
  return tc_plan_position(p->plan, v->maker) != UINT32_MAX || (e && e->wanted);
}

static bool hand_on(const pass *p) {
  bool ok = true;
  for (uint32_t i = 0, k = 0; i < p->g->operands; i++) {
    if (!(p->g->operand[i] & TCRT_MOVES)) continue;
    tc_tensor *grad = p->out[k++];
    if (ok && is_wanted(p, i)) ok = tc_plan_add(p->plan, p->op->in[i].value, grad);
    else tc_free(grad);
  }
  return ok;
}

static bool run(pass *p) {
  uint64_t want = 0;
  bool any = false;
  for (uint32_t i = 0, k = 0; i < p->g->operands; i++) {
    if (!(p->g->operand[i] & TCRT_MOVES)) continue;
    want |= (uint64_t)is_wanted(p, i) << (k < 63 ? k : 63);
    k++;
  }
  if (!gather(p, &any)) return false;
  if (!any) return true;
  p->op->scalar[p->g->scalars].i = (int64_t)want;
  if (p->g->backward(p->in, p->op->scalar, p->out)) return hand_on(p);
  return tc_fail("%s: the kernels for the gradients of %s did not run", p->plan->name,
                 tc_describe_op(p->op).text);
}

bool tc_compiled_run(tape_plan *plan, const tape_op *op) {
  const tcrt_gradient *g = op->compiled;
  if (!tc_tape_off)
    return tc_fail(
        "%s: %s was compiled with its first derivative alone; for derivatives of gradients "
        "build it with grad=off",
        plan->name, tc_describe_op(op).text);
  pass p = {.plan = plan,
            .op = op,
            .g = g,
            .header = calloc(g->results + 1u, sizeof *p.header),
            .cotangent = calloc(g->results + 1u, sizeof *p.cotangent),
            .in = calloc(g->operands + 2u * g->results + g->saved + 1u, sizeof *p.in),
            .out = calloc(g->operands + 1u, sizeof *p.out)};
  const bool memory = p.header && p.cotangent && p.in && p.out;
  const bool ok = memory ? run(&p) : tc_tape_no_memory();
  for (uint32_t i = 0; p.cotangent && i < g->results; i++) tc_free(p.cotangent[i]);
  free(p.header);
  free(p.cotangent);
  free(p.in);
  free(p.out);
  return ok;
}

/* table.c - the table of rules, and the vocabulary they share. */
#include "autodiff/autodiff.h"
#include "autodiff/rules.h"

#include <stddef.h>

#define IN(i) (1 << (i))

static const tc_vjp_rule rule[OP_COUNT] = {
#define TC_VJP1(id, x) [OP_##id] = {x, NULL, 0},
#define TC_VJP2(id, x, y) [OP_##id] = {x "\n" y, NULL, 0},
#define TC_VJP3(id, x, y, z) [OP_##id] = {x "\n" y "\n" z, NULL, 0},
#define TC_VJP(id, f, set) [OP_##id] = {NULL, tc_vjp_##f, set},
#define TC_NO_VJP(id, why) [OP_##id] = {why, NULL, 1}, /* one operand or the other: none */
#include "autodiff/rules.def"
};

const tc_vjp_rule *tc_vjp_rule_of(tc_op op) { return &rule[op < OP_COUNT ? op : OP_NONE]; }

static bool has_none(const tc_vjp_rule *r) { return !r->fn && (r->operands || !r->text); }

/* The formula of an operand. */
static const char *line_of(const char *text, int operand) {
  while (operand > 0 && *text) operand -= *text++ == '\n';
  return text;
}

bool tc_vjp_differentiates(tc_op op, int operand) {
  const tc_vjp_rule *r = tc_vjp_rule_of(op);
  if (r->fn) return r->operands >> (operand < 7 ? operand : 7) & 1;
  if (has_none(r)) return false;
  const char *line = line_of(r->text, operand);
  return *line && *line != '\n';
}

const char *tc_autodiff_refusal(tc_op op, int operand) {
  if (tc_vjp_differentiates(op, operand)) return NULL;
  const tc_vjp_rule *r = tc_vjp_rule_of(op);
  return has_none(r) && r->text ? r->text : "the op has no derivative with respect to that operand";
}

/* Does the formula, which ends with its line, read the variable?  Names of functions are longer. */
static bool reads(const char *line, char name) {
  for (char before = ' '; *line && *line != '\n'; before = *line++)
    if (*line == name && before < 'a' && line[1] < 'a') return true;
  return false;
}

bool tc_autodiff_reads(tc_op op, int operand, int i) {
  const tc_vjp_rule *r = tc_vjp_rule_of(op);
  if (!tc_vjp_differentiates(op, operand)) return false;
  return r->fn || reads(line_of(r->text, operand), (char)('x' + i));
}

/* ---- vocabulary ------------------------------------------------------------------------------ */

tc_ref vj_dy(const tc_vjp *v) { return dc_in(&v->c, v->dy[0]); }
tc_ref vj_in(const tc_vjp *v, int i) {
  return i < v->n->nin ? dc_in(&v->c, v->n->in[i]) : (tc_ref){0};
}
tc_ref vj_self(const tc_vjp *v) { return dc_in(&v->c, v->self); }
const tc_type *vj_type(const tc_vjp *v, int i) { return tc_graph_type(v->c.g, v->n->in[i]); }
bool vj_wants(const tc_vjp *v, int i) { return i < v->n->nin && v->want[i]; }

tc_ref vj_full(const tc_vjp *v, const tc_type *shape, tc_dtype dtype, double value) {
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(shape->rank)};
  tc_ref one = tc_graph_const_f(v->c.g, dtype, v->c.weak, value, v->c.loc);
  for (int i = 0; i < shape->rank; i++) attr[1 + i] = shape->dim[i];
  attr[1 + shape->rank] = tc_dim_const(dtype);
  return tc_build(v->c.g, OP_FULL, 1, &one, shape->rank + 2, attr, NULL, v->c.loc);
}

tc_ref vj_again(const tc_vjp *v, tc_ref a) {
  return tc_build(v->c.g, v->n->op, 1, &a, v->n->nattr, v->n->attr, NULL, v->c.loc);
}

tc_ref vj_like(const tc_vjp *v, tc_ref a, const tc_type *shape) {
  return dc_reshape(&v->c, a, shape->rank, shape->dim);
}

static tc_ref pad(tc_graph *g, tc_ref a, const tc_dim *before, const tc_dim *after, bool weak,
                  tc_loc loc) {
  tc_dim attr[2 * TC_MAX_RANK + 2];
  if (!a.id) return a;
  const tc_type *t = tc_graph_type(g, a);
  const int rank = t->rank;
  tc_ref in[2] = {a, tc_graph_const_f(g, (tc_dtype)t->dtype, weak, 0, loc)};
  attr[0] = attr[1 + rank] = tc_dim_const(rank);
  for (int i = 0; i < rank; i++) {
    attr[1 + i] = before[i];
    attr[2 + rank + i] = after[i];
  }
  return tc_build(g, OP_PAD, 2, in, 2 * rank + 2, attr, NULL, loc);
}

tc_ref vj_pad(const tc_vjp *v, tc_ref a, const tc_dim *before, const tc_dim *after) {
  return pad(v->c.g, a, before, after, v->c.weak, v->c.loc);
}

tc_ref vj_place(tc_graph *g, tc_ref a, int axis, tc_dim before, tc_dim after, bool weak,
                tc_loc loc) {
  tc_dim first[TC_MAX_RANK] = {{0}}, last[TC_MAX_RANK] = {{0}};
  if (tc_dim_is(before, 0) && tc_dim_is(after, 0)) return a;
  first[axis] = before;
  last[axis] = after;
  return pad(g, a, first, last, weak, loc);
}

tc_ref vj_positions(const tc_vjp *v, const tc_type *shape, int axis) {
  tc_graph *g = v->c.g;
  tc_type t = {.rank = shape->rank};
  for (int i = 0; i < t.rank; i++)
    t.dim[i] = axis < 0 || i == axis ? shape->dim[i] : tc_dim_const(1);
  tc_ref in[2] = {tc_graph_const_i(g, TC_I64, true, 0, v->c.loc),
                  tc_graph_const_i(g, TC_I64, true, 1, v->c.loc)};
  tc_dim attr[2] = {tc_type_numel(tc_graph_dims(g), &t), tc_dim_const(TC_I64)};
  return vj_like(v, tc_build(g, OP_ARANGE, 2, in, 2, attr, NULL, v->c.loc), &t);
}

tc_ref vj_sum(const tc_vjp *v, tc_ref a, const dc_axes *axes) {
  return axes->n ? dc_reduce(&v->c, OP_SUM, a, axes, true) : a;
}

tc_ref vj_swap(const tc_vjp *v, tc_ref a) {
  if (!a.id) return a;
  const int rank = tc_graph_type(v->c.g, a)->rank;
  int axes[TC_MAX_RANK];
  for (int i = 0; i < rank; i++) axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
  return tc_build_permute(v->c.g, a, rank, axes, v->c.loc);
}

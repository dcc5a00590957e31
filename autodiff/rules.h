/* rules.h - what derivative rules are written with.
 *
 * A rule gives cotangents of operands from those of results.  It gives them in any floating dtype,
 * and in any shape that broadcasts with the operand's: the engine (vjp.c) sums over what was
 * broadcast, expands what was reduced, and converts.  Like decompositions (graph/decomp/decomp.h),
 * whose vocabulary they share, rules that do arithmetic do it in the dtype v->c.dtype: f32 for f16
 * and bf16.
 *
 * A rule is linear in dy, and never tests its value: forward mode rests on that. */
#ifndef TC_AUTODIFF_RULES_H
#define TC_AUTODIFF_RULES_H

#include "graph/decomp/decomp.h"

typedef struct tc_vjp {
  dc c; /* graph, place, and the dtype to compute in */
  const tc_node *n;
  tc_ref self;
  /* [results]: cotangents, with dtypes and shapes of the results; ref 0: it is 0 */
  const tc_ref *dy;
  const bool *want; /* [nin] */
  tc_ref *din;      /* [nin] out, where wanted: ref 0 where building failed */
} tc_vjp;
typedef void tc_vjp_fn(tc_vjp *v);

/* A cotangent that is 0 everywhere. */
#define TC_VJP_ZERO ((tc_ref){UINT32_MAX})

typedef struct tc_vjp_rule {
  /* formulas of the operands, a line each, "": none; or why there is no derivative */
  const char *text;
  tc_vjp_fn *fn;    /* instead of formulas */
  uint8_t operands; /* of fn: bit i: operand i has a derivative; bit 7: so have all from 7 on */
} tc_vjp_rule;

const tc_vjp_rule *tc_vjp_rule_of(tc_op op);
bool tc_vjp_differentiates(tc_op op, int operand);

/* Applies a row of formulas (rules.def). */
void tc_vjp_formulas(tc_vjp *v, const char *text);

/* ---- vocabulary ------------------------------------------------------------------------------ */

tc_ref vj_dy(const tc_vjp *v);        /* cotangent of the first result, in the compute dtype */
tc_ref vj_in(const tc_vjp *v, int i); /* an operand, in the compute dtype; ref 0 stays */
tc_ref vj_self(const tc_vjp *v);      /* the result, in the compute dtype */
const tc_type *vj_type(const tc_vjp *v, int i); /* of an operand */
bool vj_wants(const tc_vjp *v, int i);          /* false too where the operand is missing */
tc_ref vj_full(const tc_vjp *v, const tc_type *shape, tc_dtype dtype, double value);
tc_ref vj_again(const tc_vjp *v, tc_ref a); /* the node's op and attributes on another operand */
tc_ref vj_like(const tc_vjp *v, tc_ref a, const tc_type *shape); /* reshaped */
/* before and after each axis: 0 */
tc_ref vj_pad(const tc_vjp *v, tc_ref a, const tc_dim *before, const tc_dim *after);
/* 0, 1, ... along one axis, or of all elements in row-major order (axis -1), shaped to broadcast */
tc_ref vj_positions(const tc_vjp *v, const tc_type *shape, int axis);
tc_ref vj_sum(const tc_vjp *v, tc_ref a, const dc_axes *axes); /* keeps the axes, with size 1 */
/* nn.c: the cotangent of what v's result is the softmax of, along the axes. */
tc_ref vj_softmax(const tc_vjp *v, const dc_axes *axes);
tc_ref vj_swap(const tc_vjp *v, tc_ref a);                     /* the last two axes */

/* The functions of rules.def. */
#define TC_VJP(id, fn, operands) tc_vjp_fn tc_vjp_##fn;
#define TC_VJP1(...)
#define TC_VJP2(...)
#define TC_VJP3(...)
#define TC_NO_VJP(...)
#include "autodiff/rules.def"

#endif

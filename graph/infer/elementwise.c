/* Result types of leaves, of creation, and of elementwise ops. */
#include "graph/infer/infer_impl.h"

/* ---- leaves and creation --------------------------------------------------------------------- */

/* const and dim carry their type in attributes; param and scalar have theirs from the graph. */
bool infer_leaf(tc_infer *c, tc_type *out) {
  if (c->op == OP_CONST) {
    out->dtype = (uint8_t)tc_dim_value(c->attr[0]);
    out->weak = tc_dim_is(c->attr[1], 1);
    return true;
  }
  if (c->op == OP_DIM) {
    out->dtype = TC_I64;
    out->weak = tc_dim_is(c->attr[1], 1);
    return true;
  }
  return infer_fail(c, "declared by the graph, not built");
}

static bool shape_from_attr(tc_infer *c, int k, tc_type *out) {
  int n = (int)tc_dim_value(c->attr[k]);
  for (int i = 0; i < n; i++) {
    tc_dim d = tc_dim_norm(c->dims, c->attr[k + 1 + i]);
    if (!infer_nonnegative(c, d, "a size") || !infer_push_dim(c, out, d)) return false;
  }
  out->dtype = (uint8_t)tc_dim_value(c->attr[k + 1 + n]);
  return true;
}

bool infer_create(tc_infer *c, tc_type *out) {
  return infer_scalar_operand(c, 0, "value") && shape_from_attr(c, 0, out);
}

/* The function says nothing of its result: the attributes do. */
bool infer_call(tc_infer *c, tc_type *out) {
  if (c->in[0]->rank != 0 || c->in[0]->dtype != TC_I64)
    return infer_fail(c, "the first operand is the address of a function");
  return shape_from_attr(c, 0, out);
}

/* Its value stands for its place in the order. */
bool infer_effect(tc_infer *c, tc_type *out) {
  if (c->in[0]->rank != 0 || c->in[0]->dtype != TC_I64)
    return infer_fail(c, "the first operand is the address of a function");
  out->dtype = TC_BOOL;
  return true;
}

bool infer_rand(tc_infer *c, tc_type *out) {
  if (!infer_scalar_operand(c, 0, "seed") || !shape_from_attr(c, 0, out)) return false;
  if (!tc_dtype_is_int((tc_dtype)c->in[0]->dtype))
    return infer_fail(c, "the seed must be an integer");
  if (tc_dtype_is_float((tc_dtype)out->dtype)) return true;
  return infer_fail(c, "gives floating numbers, not %s", tc_dtype_text((tc_dtype)out->dtype));
}

bool infer_arange(tc_infer *c, tc_type *out) {
  tc_dim n = tc_dim_norm(c->dims, c->attr[0]);
  if (!infer_scalar_operand(c, 0, "start") || !infer_scalar_operand(c, 1, "step")) return false;
  out->dtype = (uint8_t)tc_dim_value(c->attr[1]);
  return infer_nonnegative(c, n, "n") && infer_push_dim(c, out, n);
}

bool infer_eye(tc_infer *c, tc_type *out) {
  tc_dim n = tc_dim_norm(c->dims, c->attr[0]), m = tc_dim_norm(c->dims, c->attr[1]);
  out->dtype = (uint8_t)tc_dim_value(c->attr[2]);
  return infer_nonnegative(c, n, "n") && infer_nonnegative(c, m, "m") &&
         infer_push_dim(c, out, n) && infer_push_dim(c, out, m);
}

/* ---- elementwise ----------------------------------------------------------------------------- */

bool infer_same(tc_infer *c, tc_type *out) {
  *out = *c->in[0];
  return true;
}

bool infer_cast(tc_infer *c, tc_type *out) {
  *out = *c->in[0];
  out->dtype = (uint8_t)tc_dim_value(c->attr[0]);
  return true;
}

bool infer_bcast(tc_infer *c, tc_type *out) {
  out->dtype = (uint8_t)infer_promoted(c);
  return infer_broadcast_all(c, out);
}

/* On bool, add is or, mul and square are and; the rest has no meaning there. */
bool infer_arith(tc_infer *c, tc_type *out) {
  if (!infer_bcast(c, out)) return false;
  if (out->dtype != TC_BOOL || c->op == OP_ADD || c->op == OP_MUL || c->op == OP_SQUARE)
    return true;
  if (c->op == OP_SUB) return infer_fail(c, "not defined for bool; use logical_xor, or cast first");
  if (c->op == OP_NEG) return infer_fail(c, "not defined for bool; use logical_not, or cast first");
  return infer_fail(c, "not defined for bool; cast first");
}

bool infer_float(tc_infer *c, tc_type *out) {
  out->dtype = (uint8_t)infer_real(c);
  return infer_broadcast_all(c, out);
}

bool infer_frexp(tc_infer *c, tc_type *out) {
  if (!infer_float(c, out)) return false;
  out[1] = out[0];
  out[1].dtype = TC_I32;
  c->nresult = 2;
  return true;
}

bool infer_act(tc_infer *c, tc_type *out) {
  if (c->nin > 1 && !infer_scalar_operand(c, 1, c->op == OP_ELU ? "alpha" : "slope")) return false;
  *out = *c->in[0];
  out->dtype = (uint8_t)infer_real(c);
  return true;
}

bool infer_cmp(tc_infer *c, tc_type *out) {
  out->dtype = TC_BOOL;
  return infer_broadcast_all(c, out);
}

bool infer_test(tc_infer *c, tc_type *out) { return infer_cmp(c, out); }

bool infer_bits(tc_infer *c, tc_type *out) {
  if (!infer_bcast(c, out)) return false;
  if (!tc_dtype_is_float((tc_dtype)out->dtype)) return true;
  return infer_fail(c, "defined for integers and bool, not %s",
                    tc_dtype_text((tc_dtype)out->dtype));
}

bool infer_shift(tc_infer *c, tc_type *out) {
  for (int i = 0; i < c->nin; i++)
    if (!tc_dtype_is_int((tc_dtype)c->in[i]->dtype))
      return infer_fail(c, "defined for integers, not %s",
                        tc_dtype_text((tc_dtype)c->in[i]->dtype));
  return infer_bcast(c, out);
}

bool infer_where(tc_infer *c, tc_type *out) {
  if (c->in[0]->dtype != TC_BOOL)
    return infer_fail(c, "the condition must be bool, not %s",
                      tc_dtype_text((tc_dtype)c->in[0]->dtype));
  out->dtype = (uint8_t)tc_promote(c->in[1], c->in[2]);
  return infer_broadcast_all(c, out);
}

bool infer_masked_fill(tc_infer *c, tc_type *out) {
  if (c->in[1]->dtype != TC_BOOL)
    return infer_fail(c, "the mask must be bool, not %s", tc_dtype_text((tc_dtype)c->in[1]->dtype));
  out->dtype = c->in[0]->dtype;
  return infer_scalar_operand(c, 2, "value") && infer_broadcast_all(c, out);
}

bool infer_tri(tc_infer *c, tc_type *out) {
  *out = *c->in[0];
  return out->rank >= 2 || infer_fail(c, "takes a tensor of at least 2 axes, not %s", SHAPE(out));
}

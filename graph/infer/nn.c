/* Result types of linear algebra and of neural network ops. */
#include "graph/infer/infer_impl.h"

/* ---- linear algebra -------------------------------------------------------------------------- */

static bool not_bool(tc_infer *c, const tc_type *out) {
  return out->dtype != TC_BOOL || infer_fail(c, "not defined for bool; cast first");
}

/* [..,M,K] x [..,K,N] -> [..,M,N]; a rank-1 operand is a row or a column whose axis is dropped. */
bool infer_matmul(tc_infer *c, tc_type *out) {
  const tc_type *a = c->in[0], *b = c->in[1];
  out->dtype = (uint8_t)infer_promoted(c);
  if (!not_bool(c, out)) return false;
  if (!a->rank || !b->rank)
    return infer_fail(c, "%s x %s: a scalar has no axis to multiply over; use mul", SHAPE(a),
                      SHAPE(b));
  tc_dim k = a->dim[a->rank - 1], l = b->dim[b->rank > 1 ? b->rank - 2 : 0];
  if (tc_dim_bad(tc_dim_unify(c->dims, k, l)))
    return infer_fail(c, "%s x %s: inner sizes differ: %s != %s", SHAPE(a), SHAPE(b), SIZE(k),
                      SIZE(l));
  tc_type left = *a, right = *b;
  left.rank = a->rank > 2 ? a->rank - 2 : 0;
  right.rank = b->rank > 2 ? b->rank - 2 : 0;
  if (!infer_broadcast(c, out, &left) || !infer_broadcast(c, out, &right))
    return infer_fail(c, "%s x %s: leading axes do not broadcast", SHAPE(a), SHAPE(b));
  if (a->rank > 1) out->dim[out->rank++] = a->dim[a->rank - 2];
  if (b->rank > 1) out->dim[out->rank++] = b->dim[b->rank - 1];
  return true;
}

bool infer_linear(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0], *w = c->in[1], *bias = c->nin > 2 ? c->in[2] : NULL;
  *out = *x;
  out->dtype = (uint8_t)infer_promoted(c);
  if (!not_bool(c, out)) return false;
  if (w->rank != 2) return infer_fail(c, "the weight must be [O,I], not %s", SHAPE(w));
  if (!x->rank) return infer_fail(c, "x must have at least one axis");
  tc_dim in = x->dim[x->rank - 1];
  if (tc_dim_bad(tc_dim_unify(c->dims, in, w->dim[1])))
    return infer_fail(c, "x is %s, the weight %s: %s != %s", SHAPE(x), SHAPE(w), SIZE(in),
                      SIZE(w->dim[1]));
  out->dim[x->rank - 1] = w->dim[0];
  if (!bias) return true;
  if (bias->rank != 1 || tc_dim_bad(tc_dim_unify(c->dims, bias->dim[0], w->dim[0])))
    return infer_fail(c, "the bias must be [%s], not %s", SIZE(w->dim[0]), SHAPE(bias));
  return true;
}

bool infer_outer(tc_infer *c, tc_type *out) {
  const tc_type *a = c->in[0], *b = c->in[1];
  if (a->rank != 1 || b->rank != 1)
    return infer_fail(c, "takes vectors, not %s and %s", SHAPE(a), SHAPE(b));
  out->dtype = (uint8_t)infer_promoted(c);
  return infer_push_dim(c, out, a->dim[0]) && infer_push_dim(c, out, b->dim[0]);
}

/* ---- normalisation --------------------------------------------------------------------------- */

/* Optional operand k has the shape of the last n axes of x. */
static bool trailing_shape(tc_infer *c, int k, int n, const char *name) {
  const tc_type *x = c->in[0], *w = c->in[k];
  if (!w) return true;
  tc_type want = {.rank = (uint8_t)n};
  for (int i = 0; i < n; i++) want.dim[i] = x->dim[x->rank - n + i];
  bool same = w->rank == n;
  for (int i = 0; i < n && same; i++)
    same = !tc_dim_bad(tc_dim_unify(c->dims, want.dim[i], w->dim[i]));
  return same || infer_fail(c, "%s must be %s, not %s", name, SHAPE(&want), SHAPE(w));
}

static bool last_axes(tc_infer *c, tc_type *out, int64_t *n) {
  *out = *c->in[0];
  out->dtype = (uint8_t)infer_real(c);
  if (!infer_int(c, 0, "naxes", n)) return false;
  if (*n >= 1 && *n <= out->rank) return true;
  return infer_fail(c, "naxes must be 1 to %d for %s, not %lld", out->rank, SHAPE(out),
                    (long long)*n);
}

bool infer_layer_norm(tc_infer *c, tc_type *out) {
  int64_t n;
  return last_axes(c, out, &n) && trailing_shape(c, 1, (int)n, "the weight") &&
         trailing_shape(c, 2, (int)n, "the bias") && infer_scalar_operand(c, 3, "eps");
}

bool infer_rms_norm(tc_infer *c, tc_type *out) {
  int64_t n;
  return last_axes(c, out, &n) && trailing_shape(c, 1, (int)n, "the weight") &&
         infer_scalar_operand(c, 2, "eps");
}

bool infer_batch_norm(tc_infer *c, tc_type *out) {
  static const char *const name[] = {"x", "the mean", "the variance", "the weight", "the bias"};
  *out = *c->in[0];
  out->dtype = (uint8_t)infer_real(c);
  if (out->rank < 2) return infer_fail(c, "x must be [N,C,...], not %s", SHAPE(out));
  for (int k = 1; k <= 4; k++) {
    const tc_type *p = c->in[k];
    if (p && (p->rank != 1 || tc_dim_bad(tc_dim_unify(c->dims, p->dim[0], out->dim[1]))))
      return infer_fail(c, "%s must be [%s], not %s", name[k], SIZE(out->dim[1]), SHAPE(p));
  }
  return infer_scalar_operand(c, 5, "eps");
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* out is the loss of each sample: reduces it as attribute 0 says. */
static bool reduce_loss(tc_infer *c, tc_type *out) {
  int64_t reduction;
  if (!infer_int(c, 0, "reduction", &reduction)) return false;
  if (reduction < 0 || reduction > 2)
    return infer_fail(c, "reduction must be 0 (none), 1 (mean) or 2 (sum), not %lld",
                      (long long)reduction);
  if (reduction) out->rank = 0;
  return true;
}

/* [N,C] with i64[N], or [C] with a scalar target. */
bool infer_nll(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0], *target = c->in[1];
  tc_dtype d = (tc_dtype)x->dtype;
  if (x->rank != 1 && x->rank != 2) return infer_fail(c, "takes [N,C] or [C], not %s", SHAPE(x));
  if (!infer_index_operand(c, 1)) return false;
  bool same = target->rank == x->rank - 1;
  if (same && target->rank) same = !tc_dim_bad(tc_dim_unify(c->dims, x->dim[0], target->dim[0]));
  if (!same) return infer_fail(c, "the target %s does not fit %s", SHAPE(target), SHAPE(x));
  if (!tc_dim_assume_range(c->dims, x->dim[x->rank - 1], 1, INT64_MAX))
    return infer_fail(c, "%s has no classes", SHAPE(x));
  *out = *target;
  out->dtype = (uint8_t)(tc_dtype_is_float(d) ? d : TC_F32);
  return reduce_loss(c, out);
}

bool infer_pair_loss(tc_infer *c, tc_type *out) {
  out->dtype = (uint8_t)infer_real(c);
  return infer_broadcast_all(c, out) && reduce_loss(c, out);
}

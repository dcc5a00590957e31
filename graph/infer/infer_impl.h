/* infer_impl.h - what inference rules share; see graph/infer/infer.c.
 *
 * A rule sets dtype and shape of *out, or gives false with a message.  The driver has checked the
 * number of operands and the layout of attributes, passes a zeroed *out, sets out->weak, and
 * rejects results whose size leaves 64 bits. */
#ifndef TC_INFER_IMPL_H
#define TC_INFER_IMPL_H

#include "graph/graph.h"

/* Sets the message and gives false. */
bool infer_fail(tc_infer *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Likewise for what is valid but beyond inference. */
bool infer_unsupported(tc_infer *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool infer_overflow(tc_infer *c); /* "size product exceeds 64 bits" */

/* A shape, type, or size as text for a message; released by the next infer_fail. */
typedef struct infer_text {
  char s[160];
} infer_text;
infer_text infer_shape_text(tc_infer *c, const tc_type *t);
infer_text infer_dim_text(tc_infer *c, tc_dim d);
#define SHAPE(t) (infer_shape_text(c, (t)).s)
#define SIZE(d) (infer_dim_text(c, (d)).s)

/* Attribute k as a plain integer; false with a message when it is symbolic. */
bool infer_int(tc_infer *c, int k, const char *name, int64_t *v);
/* Axis in -rank .. rank-1 to 0 .. rank-1; `t` is named in the message. */
bool infer_axis(tc_infer *c, const tc_type *t, int rank, tc_dim axis, int *out);
/* Likewise of what goes along an axis and leaves the others alone: a scalar is as a row of one. */
bool infer_along(tc_infer *c, const tc_type *t, tc_dim axis, int *out);
/* List of distinct such axes at attr[k]: bit i of *mask for axis i.  *n: how many were given. */
bool infer_axes(tc_infer *c, const tc_type *t, int k, uint32_t *mask, int *n);

/* acc becomes the broadcast of acc and b; the dtype of acc stays. */
bool infer_broadcast(tc_infer *c, tc_type *acc, const tc_type *b);
bool infer_broadcast_all(tc_infer *c, tc_type *out); /* of every operand */
/* Axis of a and b have one size, which goes to *out; known 1s broadcast.  false: provably not. */
bool infer_broadcast_dim(tc_infer *c, tc_dim a, tc_dim b, tc_dim *out);

tc_dim infer_unify_guess(tc_infer *c, tc_dim a, tc_dim b); /* unify, where 1 would broadcast */
/* Size a, or 1 where it is at most that (the slice n:n+1), or cannot be the other size beside
 * it. */
tc_dim infer_guess_one(tc_infer *c, tc_dim a, tc_dim other);

tc_dtype infer_promoted(const tc_infer *c); /* of all operands */
tc_dtype infer_real(const tc_infer *c);     /* likewise; integers and bool become f32 (weak: f64) */
bool infer_scalar_operand(tc_infer *c, int k, const char *name); /* operand k has rank 0 */
bool infer_index_operand(tc_infer *c, int k);                    /* operand k is i32 or i64 */
bool infer_nonnegative(tc_infer *c, tc_dim d, const char *what); /* known or assumed: d >= 0 */
bool infer_push_dim(tc_infer *c, tc_type *out, tc_dim d); /* one more axis; false past rank 8 */

#define TC_OP(id, text, lo, hi, cls, cast, attrs, infer, ...) tc_infer_fn infer;
#include "graph/ops/ops.def"

#endif

/* eager.h - one op on tensors: what dispatch hands to the functions in the `eager` column of
 * graph/ops/ops.def, and the walks over strided elements that they share. */
#ifndef TC_EAGER_H
#define TC_EAGER_H

#include "graph/graph.h"
#include "runtime/libtcrt/src/eager/convert.h"
#include "runtime/libtcrt/src/tensor.h"

/* ---- a call ---------------------------------------------------------------------------------- */

typedef struct tc_eager_call {
  tc_op op;
  const char *name; /* public function, for messages */
  int nin;
  const tc_tensor *const *in; /* scalars are tensors of rank 0; NULL: an operand not given */
  const tc_type *const *type; /* of the operands */
  const tc_dim *attr;         /* constants, laid out as graph/ops/ops.def says */
  const char *string;
  tc_device device; /* of the operands, or where a result without operands is made */
  tc_tensor **const *further; /* where results beside the first go; NULL: not wanted */
  /* contiguous, to be filled; a view op gets a header and supplies strides and memory */
  tc_tensor *out;
} tc_eager_call;

/* false after tc_fail; out and what went to `further` is then dropped.  Ops with several results
 * make out themselves. */
typedef bool tc_eager_fn(tc_eager_call *c);

/* Infers the result, allocates it, runs the op's function. NULL with an error. */
tc_tensor *tc_eager_run(tc_eager_call *c, int nattr);
/* An elementwise op without attributes in the name of another function: into x, converted to its
 * dtype; operands that overlap x's memory are x. */
bool tc_eager_update(const char *name, tc_op op, int nin, const tc_tensor *const *in, tc_tensor *x);
/* The same for any operands that broadcast to x; masks keep their dtype, others are converted to
 * that of x first. */
bool tc_update(const char *name, tc_op op, int nin, const tc_tensor *const *in, tc_tensor *x);
/* Another op with one result, on the same operands and with attributes of its own. */
tc_tensor *tc_eager_part(const tc_eager_call *c, tc_op op, int nattr, const tc_dim *attr);
/* Type of an operand, as inference wants it. */
tc_type tc_type_of(const tc_tensor *x);

static inline int64_t tc_arg(const tc_eager_call *c, int k) { return tc_dim_value(c->attr[k]); }

/* Axis from an attribute, checked by inference already.  A scalar is as a row of one. */
static inline int tc_arg_axis(const tc_eager_call *c, int k, int rank) {
  int axis = (int)tc_arg(c, k);
  return axis < 0 ? axis + (rank ? rank : 1) : axis;
}

/* A scalar operand's value. */
double tc_scalar_f(const tc_tensor *x);
int64_t tc_scalar_i(const tc_tensor *x);

/* ---- walking --------------------------------------------------------------------------------- */

enum {
  TC_BLOCK = 256,           /* elements converted at a time */
  TC_CHUNK = 16 * TC_BLOCK, /* elements that a thread takes at a time */
  TC_SEQ_RANK = 2 * TC_MAX_RANK
};

/* Rounds [begin, end) of a loop. */
typedef void tc_range_fn(const void *context, int64_t begin, int64_t end);

/* Calls body with ranges that make up [0, n), in several threads if `work` elements are enough for
 * that.  Ranges begin at multiples of grain. */
void tc_for(int64_t n, int64_t grain, int64_t work, tc_range_fn *body, const void *context);

/* Elements of a tensor in row-major order of a shape.  Axes that step alike are merged. */
typedef struct tc_seq {
  char *data;
  tc_dtype dtype;
  int rank; /* >= 1 */
  int64_t dim[TC_SEQ_RANK], stride[TC_SEQ_RANK];
} tc_seq;

tc_seq tc_seq_make(const tc_tensor *t, int rank, const int64_t *dim, const int64_t *stride);
/* t repeated to the shape (aligned at the right, size 1 repeats). */
tc_seq tc_seq_broadcast(const tc_tensor *t, int rank, const int64_t *dim);
tc_seq tc_seq_of(const tc_tensor *t); /* in its own shape */

/* Elements start .. start+n-1, converted. */
void tc_seq_read_f(const tc_seq *s, int64_t start, int64_t n, double *dst);
void tc_seq_read_i(const tc_seq *s, int64_t start, int64_t n, int64_t *dst);
/* Likewise, as values of the dtype `as`, floating or integer: what the op computes on. */
void tc_seq_read_as_f(const tc_seq *s, tc_dtype as, int64_t start, int64_t n, double *dst);
void tc_seq_read_as_i(const tc_seq *s, tc_dtype as, int64_t start, int64_t n, int64_t *dst);
void tc_seq_write_f(const tc_seq *s, int64_t start, int64_t n, const double *src);
void tc_seq_write_i(const tc_seq *s, int64_t start, int64_t n, const int64_t *src);
/* Their distance from data, in elements. */
void tc_seq_offsets(const tc_seq *s, int64_t start, int64_t n, int64_t *offset);

/* dst = src converted to dst's dtype; src broadcasts to dst's shape.  They must not overlap.  false
 * with an error: only where one of them is on a device. */
bool tc_assign(const tc_tensor *dst, const tc_tensor *src);
/* The same for n elements of two walks. */
void tc_assign_seq(const tc_seq *dst, const tc_seq *src, int64_t n);
/* Every element of dst = value. */
bool tc_assign_f(const tc_tensor *dst, double value);
/* tcrt_pack, also of a tensor on a device to memory there.  false with an error. */
bool tc_pack(const tc_tensor *x, void *dst);

/* x seen as rows: `outer` of them, one for each index of the axes not in the mask, row-major, each
 * `inner` elements long over the axes in the mask.  Element i of row o is element o*inner + i. */
typedef struct tc_rows {
  tc_seq seq;
  int64_t outer, inner;
} tc_rows;
tc_rows tc_rows_of(const tc_tensor *x, uint32_t mask);
/* Calls body with ranges of rows, of all of them. */
static inline void tc_for_rows(const tc_rows *x, tc_range_fn *body, const void *context) {
  tc_for(x->outer, 1, x->outer * x->inner, body, context);
}
/* Mask of the axes listed at attribute k; an empty list means all. */
uint32_t tc_arg_axes(const tc_eager_call *c, int k, int rank);

/* ---- the functions of the `eager` column, with tc_ in front ---------------------------------- */

#define TC_OP(id, text, lo, hi, cls, cast, attrs, infer, decomp, eager, ...) tc_eager_fn tc_##eager;
#include "graph/ops/ops.def"

#endif

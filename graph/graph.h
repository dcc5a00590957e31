/* graph.h - the dataflow graph of one compiled function or segment.
 *
 * Append-only; a node's operands have smaller ids, so ids are a topological order.  Equal (op,
 * operands, attributes) is the same node (interned), except leaves and RAND with different seeds.
 * Types are set by the op's infer rule, never by hand.  A pass builds a new graph.
 *
 * A node has one result or several.  Several are read through RESULT nodes alone, one for each that
 * is wanted: one that nobody reads costs nothing.  TUPLE makes several results of nodes that have
 * one each, which is how a decomposition gives them back.
 *
 * Effects (calls that print, communicate, count) have an order: each names the one before as an
 * operand, so no pass can merge or swap two of them, and the last one is a root.  All else stays
 * pure and free to move.
 *
 * Semantics: values are immutable arrays.  Integer arithmetic wraps; shifts by a count outside
 * [0,bits) give 0 (or the sign); integer division by zero gives 0; NaN propagates through
 * maximum/minimum/max/min; reductions of an empty axis give the identity, for max/min/arg an error
 * (build time when known, else a guard).  Index operands are checked at run time. */
#ifndef TC_GRAPH_H
#define TC_GRAPH_H

#include <tcompile/abi.h> /* tc_dtype, TC_MAX_RANK */

#include "graph/dim/dim.h"
#include "graph/reduction.h"
#include "graph/support/support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tc_op {
  OP_NONE,
#define TC_OP(id, ...) OP_##id,
#include "graph/ops/ops.def"
  OP_COUNT
} tc_op;

typedef enum tc_class {
  TC_CLASS_LEAF,    /* no operands */
  TC_CLASS_GEN,     /* element = f(index) */
  TC_CLASS_EW,      /* element = f(operand elements at the broadcast index) */
  TC_CLASS_REDUCE,  /* combines along axes */
  TC_CLASS_SCAN,    /* prefix combination along one axis */
  TC_CLASS_VIEW,    /* element = operand element at a mapped index */
  TC_CLASS_JOIN,    /* pieces of the result come from different places */
  TC_CLASS_INDEX,   /* element = operand element at an index read from data */
  TC_CLASS_SCATTER, /* written at an index read from data, in order */
  TC_CLASS_MATMUL,  /* template */
  TC_CLASS_SORT,    /* positions of elements in the order of their values, along one axis */
  TC_CLASS_CALL,    /* a function of the program's own computes all of the result */
  TC_CLASS_EFFECT,  /* a function of the program's own is called for what it does */
  /* several results made of nodes, or one of several; decomposition leaves none */
  TC_CLASS_TUPLE,
  TC_CLASS_COMP, /* composite: the decompose pass removes it */
  TC_CLASS_MULTI /* composite with several results: that pass makes it a tuple */
} tc_class;

typedef struct tc_type {
  uint8_t dtype; /* tc_dtype */
  uint8_t rank;
  bool weak; /* a C scalar: rank 0, does not take part in promotion */
  tc_dim dim[TC_MAX_RANK];
} tc_type;

enum { TC_MAX_RESULTS = 8 }; /* of a node */

/* ---- the op table ---------------------------------------------------------------------------- */

/* What an infer rule sees.  dims is NULL when every size is a constant (the eager runtime). */
typedef struct tc_infer {
  tc_op op;
  tc_dims *dims;
  int nin;
  const tc_type *const *in; /* NULL entry: operand not given */
  int nattr;
  const tc_dim *attr;
  const char *string; /* the S attribute, or NULL */
  int nresult;        /* set by the rule where there are several results */
  char *message;      /* receives the error, without op name or location */
  size_t message_size;
  /* set with a failure that is no error of the program: a limit of ours, or it contradicts a guess
   * (tc_dims_guess); the function then stays as it is */
  bool soft;
} tc_infer;

/* Result types, out[0 .. nresult), or false with a message that names shapes ("[3,4] and [5] do not
 * broadcast: 4 != 5").  out has room for TC_MAX_RESULTS; the first is zeroed. */
typedef bool tc_infer_fn(tc_infer *c, tc_type *out);

typedef struct tc_graph tc_graph;
typedef struct tc_ref {
  uint32_t id;
} tc_ref; /* 0 = none */
typedef struct tc_node tc_node;

/* Rewrites node n of the old graph with simpler ops in g; in[] are its operands there.  Returns the
 * result, a TUPLE where n has several, or ref 0 after reporting.  Must keep dtypes and shapes (the
 * driver verifies). */
typedef tc_ref tc_decomp_fn(tc_graph *g, const tc_node *n, const tc_ref *in);

/* The dtype that the operands of an elementwise op are converted to. */
typedef enum tc_computes_in { TC_IN_RESULT, TC_IN_OPERANDS, TC_IN_BOOL } tc_computes_in;

/* What becomes of the floating operands of an op inside of a scope of TC_AUTOCAST:
 * graph/autocast.h. */
typedef enum tc_autocast {
  TC_AUTOCAST_UNDECIDED, /* of no row */
  TC_AUTOCAST_KEEP,      /* nothing: they promote as anywhere */
  TC_AUTOCAST_LOW,       /* the dtype of the scope: products */
  TC_AUTOCAST_F32,       /* f16 and bf16 become f32: what 16 bits are too few for */
  TC_AUTOCAST_WIDEST     /* that of the widest of them, where the op wants one dtype */
} tc_autocast;

/* A row of the op table.  Bit i of a set of operands is operand i. */
typedef struct tc_op_info {
  const char *id, *text;
  uint8_t min_in, max_in;
  uint8_t autocast; /* tc_autocast */
  tc_class cls;
  const char *attrs;
  tc_infer_fn *infer;
  const char *expr;

  /* What rows say by name; nothing said is 0. */
  uint8_t optional;    /* operands that may be missing */
  uint8_t mask;        /* operands that are bool, whatever the others are */
  uint8_t keeps_error; /* operands whose relative error is that of the result, and no more */
  uint8_t selects;     /* operands of which the result is one, or its negative: to round them is to round it, to the bit */
  uint8_t flops;       /* elementwise: operations an element takes; nothing said: 1 */
  bool transcendental; /* as much arithmetic as exp: not lightly repeated */
  bool moves;          /* elementwise: picks, places or converts elements without arithmetic */
  bool positional;     /* an element depends on where it stands along single axes */
  bool commutes;       /* op(a, b) is op(b, a), to the bit */
  bool whole;          /* floating results are whole numbers */
  bool may_copy;       /* a view that is a copy where strides ask for it */
  tc_op swapped;       /* op(a, b) is swapped(b, a) */
  tc_computes_in computes_in; /* elementwise */
  /* of a reduction or scan; of SCATTER_ADD: how elements join what is there */
  tc_reducer reduction;
} tc_op_info;

const tc_op_info *tc_op_get(tc_op op); /* NULL: OP_NONE, or no op */
tc_op tc_op_find(const char *text);    /* OP_NONE if there is none */
bool tc_op_is_pointwise(tc_op op);     /* element = f(operand elements), wherever it stands */
/* The op's decomposition, NULL for primitives.  Apart from the table, so that the runtime links
 * inference without the decompositions. */
tc_decomp_fn *tc_op_decomp(tc_op op);

/* Runs the op's rule after checking operand and attribute counts.  out has room for TC_MAX_RESULTS;
 * of them c->nresult are set.  On failure message reads "matmul: ..." */
bool tc_infer_type(tc_infer *c, tc_type *out);

/* ---- attributes ------------------------------------------------------------------------------ */

/* Attributes are a flat list of dims laid out by the schema of the op: i, b, D one entry each; I
 * its length and then the elements; S one entry, an index for tc_graph_string.
 *
 * Of a built node they are canonical: axes count from 0 and lists of reduced or flipped axes
 * ascend; reshape and expand list the sizes of the result (no -1); slice has 0 <= start, and stop
 * as clamped (-2^60: before element 0), wherever the sizes tell; select has index >= 0. */
tc_dim tc_attr_int(const tc_node *n, const char *name);
int tc_attr_list(const tc_node *n, const char *name, const tc_dim **items); /* length */

/* ---- nodes ----------------------------------------------------------------------------------- */

struct tc_node {
  tc_op op;
  uint16_t nin, nattr;
  uint8_t nresult;
  const tc_ref *in;   /* [nin] */
  const tc_dim *attr; /* [nattr] */
  tc_type type;       /* of the first result */
  tc_type *result;    /* [nresult] types of all; NULL where there is one */
  tc_loc loc;
};

/* What a graph input was declared as. */
typedef struct tc_input {
  const char *name;
  tc_ref node;
  tc_type type;
  bool written;   /* some tc_graph_write targets it */
  /* gradients with respect to it are in the graph: it has to be a leaf of the tape */
  bool leaf;
  bool row_major; /* views are followed that share its memory only where it is in row-major order */
  /* no tape records what is computed from it, nor that it is written (TC_NO_GRAD) */
  bool detached;
} tc_input;

/* A scalar argument: a C expression over the function's parameters, passed by value at the call. */
typedef struct tc_scalar_arg {
  const char *name; /* C expression text, for comments and the call */
  tc_dtype dtype;   /* TC_F64 or TC_I64 */
  tc_ref node;
} tc_scalar_arg;

tc_graph *tc_graph_new(const char *name, tc_diag *diag);
void tc_graph_free(tc_graph *g);
const char *tc_graph_name(const tc_graph *g);
tc_dims *tc_graph_dims(tc_graph *g);
tc_diag *tc_graph_diag(tc_graph *g);
tc_arena *tc_graph_arena(tc_graph *g); /* lives as long as g */
/* A new graph with the same name, diag, inputs, scalars and dims context (shared, reference
 * counted): what a pass starts from.  Input and scalar nodes keep their ids 1..n. */
tc_graph *tc_graph_derive(tc_graph *g);

/* All inputs and scalars come before any other node. */
tc_ref tc_graph_input(tc_graph *g, const char *name, const tc_type *type, tc_loc loc);
tc_ref tc_graph_scalar(tc_graph *g, const char *text, tc_dtype dtype, tc_loc loc);
void tc_graph_require_leaf(tc_graph *g, uint32_t input);
void tc_graph_require_row_major(tc_graph *g, uint32_t input);
void tc_graph_set_detached(tc_graph *g, uint32_t input);
uint32_t tc_graph_input_count(const tc_graph *g);
const tc_input *tc_graph_input_at(const tc_graph *g, uint32_t i);
uint32_t tc_graph_scalar_count(const tc_graph *g);
const tc_scalar_arg *tc_graph_scalar_at(const tc_graph *g, uint32_t i);

/* Leaves.  Constants are rank 0; weak ones act as C scalars in promotion. */
tc_ref tc_graph_const_f(tc_graph *g, tc_dtype dtype, bool weak, double v, tc_loc loc);
tc_ref tc_graph_const_i(tc_graph *g, tc_dtype dtype, bool weak, int64_t v, tc_loc loc);
tc_ref tc_graph_dim_value(tc_graph *g, tc_dim d, bool weak,
                          tc_loc loc); /* i64 scalar with a size's value */
bool tc_node_const(const tc_node *n, double *f,
                   int64_t *i); /* value of a CONST (both are set, converted) */

/* Appends (or finds) a node.  On misuse reports at loc (TC_ERROR, or TC_MISSED for soft failures
 * and in derived graphs, whose nodes the user did not write) and returns ref 0; a ref 0 operand
 * that is not an optional one gives ref 0 silently. `string` is the S attribute or NULL. */
tc_ref tc_build(tc_graph *g, tc_op op, int nin, const tc_ref *in, int nattr, const tc_dim *attr,
                const char *string, tc_loc loc);
/* Result i of a node with several. */
tc_ref tc_build_result(tc_graph *g, tc_ref r, int i, tc_loc loc);
/* Behind all effects so far: calls in[0], an address, with the operands behind it; `types` as for
 * CALL. */
tc_ref tc_build_effect(tc_graph *g, int nin, const tc_ref *in, const char *types, tc_loc loc);
/* Shorthands for passes and decompositions. */
tc_ref tc_build_tuple(tc_graph *g, int n, const tc_ref *in, tc_loc loc);
tc_ref tc_build1(tc_graph *g, tc_op op, tc_ref a, tc_loc loc);
tc_ref tc_build2(tc_graph *g, tc_op op, tc_ref a, tc_ref b, tc_loc loc);
tc_ref tc_build3(tc_graph *g, tc_op op, tc_ref a, tc_ref b, tc_ref c, tc_loc loc);
tc_ref tc_build_cast(tc_graph *g, tc_ref a, tc_dtype dtype, tc_loc loc);
tc_ref tc_build_reduce(tc_graph *g, tc_op op, tc_ref a, int naxes, const int *axes, bool keep,
                       tc_loc loc);
tc_ref tc_build_reshape(tc_graph *g, tc_ref a, int rank, const tc_dim *dims, tc_loc loc);
tc_ref tc_build_expand(tc_graph *g, tc_ref a, int rank, const tc_dim *dims, tc_loc loc);
tc_ref tc_build_permute(tc_graph *g, tc_ref a, int rank, const int *axes, tc_loc loc);

uint32_t tc_graph_count(const tc_graph *g); /* ids are 1 .. count */
const tc_node *tc_graph_node(const tc_graph *g, tc_ref r);
const tc_type *tc_graph_type(const tc_graph *g, tc_ref r); /* those of all results, in order */
/* Brings the types of all nodes up to date with what was assumed after they were built
 * (tc_dim_norm); those of tc_graph_input_at stay as declared, since guards bind names from them. */
void tc_graph_update_types(tc_graph *g);
const char *tc_graph_string(const tc_graph *g, tc_dim attr);
/* Floating-point operations of a primitive: 1 for each element of elementwise arithmetic,
 * comparisons and transcendentals, 1 for each element that a reduction or scan combines, 2 for each
 * product of a matmul; 0 for what moves or converts data, and on integers.  INT64_MAX/4 where that
 * exceeds 64 bits. */
tc_dim tc_node_flops(tc_graph *g, tc_ref r);

/* Roots: results in order, and writes to inputs (applied after everything was read). */
bool tc_graph_output(tc_graph *g, tc_ref r);
uint32_t tc_graph_output_count(const tc_graph *g);
tc_ref tc_graph_output_at(const tc_graph *g, uint32_t i);
bool tc_graph_write(tc_graph *g, uint32_t input,
                    tc_ref value); /* value: the input's shape and dtype */
uint32_t tc_graph_write_count(const tc_graph *g);
tc_ref tc_graph_write_at(const tc_graph *g, uint32_t i, uint32_t *input);

/* The last effect, with those before it as its operands' operands; ref 0: there is none. */
tc_ref tc_graph_effect(const tc_graph *g);
bool tc_graph_set_effect(tc_graph *g, tc_ref r);
/* The first operand that the function of a CALL or EFFECT takes: behind its address, and the effect
 * before. */
int tc_call_first(const tc_node *n);
/* The same calls in the same order, of graphs with the same arguments. */
bool tc_graph_same_effects(const tc_graph *a, const tc_graph *b);

/* ---- types ----------------------------------------------------------------------------------- */

bool tc_dtype_is_float(tc_dtype d);
/* of 16 bits, computed in f32 */
static inline bool tc_dtype_is_half(tc_dtype d) { return d == TC_F16 || d == TC_BF16; }
bool tc_dtype_is_int(tc_dtype d); /* not bool */
size_t tc_dtype_bytes(tc_dtype d);
const char *tc_dtype_text(tc_dtype d); /* "f32" */
bool tc_dtype_parse(const char *text, size_t n, tc_dtype *d);
double tc_dtype_round(tc_dtype d,
                      double v); /* to the nearest value of a floating dtype, half to even */
int64_t tc_dtype_wrap(tc_dtype d, int64_t v); /* to an integer dtype or bool (v != 0) */
/* What a cast makes of a floating number: towards zero; NaN is 0, what d cannot hold is its nearest
 * end; for bool v != 0, so that NaN is true. */
int64_t tc_dtype_truncate(tc_dtype d, double v);
/* The ends of an integer dtype, or of bool. */
int64_t tc_dtype_least(tc_dtype d);
int64_t tc_dtype_most(tc_dtype d);
/* Result dtype of two operands, as documented in tcompile.h. */
tc_dtype tc_promote(const tc_type *a, const tc_type *b);
tc_dtype tc_promote_all(const tc_type *const *t, int n); /* of n; NULL does not count */
/* NumPy's start:stop:step of an axis (step not 0; +-TC_SLICE_ALL and beyond: the ends): the first
 * element taken and how many; false: not resolvable. */
#define TC_SLICE_ALL (INT64_C(1) << 60) /* more than any size: no axis has so many elements */
bool tc_slice_bounds(tc_dims *c, tc_dim size, tc_dim start, tc_dim stop, int64_t step,
                     tc_dim *first, tc_dim *length);
tc_dim tc_type_numel(tc_dims *c, const tc_type *t);
bool tc_type_same(const tc_type *a, const tc_type *b);
/* But for sizes, which later assumptions may say in another way. */
bool tc_type_alike(const tc_type *a, const tc_type *b);
void tc_type_print(tc_dims *c, const tc_type *t, tc_buf *out);  /* "f32[B,784]" */
void tc_shape_print(tc_dims *c, const tc_type *t, tc_buf *out); /* "[B,784]" */
/* Parses TC_SHAPE text: "f32[B<=64,T%8,2*N+1,768]"; declares its symbols.  false: *error names what
 * is wrong, at byte *at. */
bool tc_type_parse(tc_dims *c, const char *text, tc_type *t, const char **error, size_t *at);

#ifdef __cplusplus
}
#endif
#endif

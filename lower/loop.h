/* loop.h - the loop IR: what a kernel computes, and how it is scheduled.
 *
 * A program is a list of kernels over buffers.  A kernel is one parallel region: one or more nests
 * that run in order with a barrier between them, or inside of one parallel loop, or a matmul
 * template.  Backends print from this and know nothing of graphs.
 *
 * A nest has parallel axes, its outer loops, and sequential axes, its inner loops.  Points of the
 * parallel axes (outer points) are independent; for each of them the stages run in order; a stage
 * loops over some of the sequential axes and performs actions at each point.  Softmax over the last
 * axis:
 *
 *   nest parallel r < R, sequential c < C
 *     stage {c}  reduce  #0 = max  x[r*C + c]
 *     stage {c}  store   e[c] = exp(x[r*C + c] - #0)          (e: LOCAL buffer, one row per thread)
 *                reduce  #1 = sum  e
 *     stage {c}  store   y[r*C + c] = e[c] / #1
 *
 * A nest may have stages for rows that no memory keeps, too:
 *
 *     stage {c}  reduce  #0, #1 = online_softmax  x[r*C + c]
 *     stage {c}  store   y[r*C + c] = exp(x[r*C + c] - #0) / #1
 *
 * Values.  Expressions form a DAG in the kernel's pool; operands have smaller indices.  A value of
 * dtype f16 or bf16 does not exist: loads widen to f32, stores round to the buffer's dtype, and a
 * cast to one of them rounds the f32 value in place (TC_EX_ROUND).  bool is 0 or 1 in a byte.
 *
 * Order.  Outer points are independent: a backend may run them in any order, on any thread.  A
 * reduction over sequential axes combines lane-wise and then as a tree, in an order that depends
 * only on sizes and the ISA, never on threads.  Reductions that cross outer points are written by
 * lowering as two nests: partial results of fixed chunks, then their combination.
 *
 * Index arithmetic is in elements, int64, and never overflows for tensors that exist. */
#ifndef TC_LOOP_H
#define TC_LOOP_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TC_MAX_AXES 16 /* rank 8, each axis split at most once */

/* ---- layouts --------------------------------------------------------------------------------- */

/* Element (i_0, i_1, ...) of an array lies at the sum over its axes of
 *
 *   block <= 1:  i * stride
 *   otherwise:   (i / block) * stride + (i % block) * within
 *
 * elements from the array's first one.  A permuted array has the strides of another order of axes;
 * a padded one has strides larger than what lies between; a packed one has blocks, the last of
 * which is whole in memory: B[K,N] in panels of 16 columns is {16, 1, -} for k and {16*K, 16, 1}
 * for n. */
typedef struct tc_buf_axis {
  tc_dim stride;
  int64_t block;
  tc_dim within;
} tc_buf_axis;

typedef struct tc_buf_layout {
  bool strided; /* false: row-major without gaps, whatever `axis` says */
  tc_buf_axis axis[TC_MAX_RANK];
} tc_buf_layout;

/* Elements of the memory of an array of type t, padding included.  TC_DIM_INVALID: two elements may
 * share a place, for there is no order of the axes in which each steps over all that those inside
 * of it take; or the size exceeds 64 bits. */
tc_dim tc_layout_numel(tc_dims *c, const tc_type *t, const tc_buf_layout *l);
/* The same for an array of that rank. */
bool tc_layout_same(const tc_buf_layout *a, const tc_buf_layout *b, int rank);

/* ---- buffers --------------------------------------------------------------------------------- */

/* Whose memory it is, and with it how long it holds a value. */
typedef enum {
  /* graph input `index`: contiguous, or with rows as far apart as its pitch says, a symbol of the
   * program that stands for the last size in every address (the entry packs other strided
   * operands) */
  TC_BUF_INPUT,
  TC_BUF_OUTPUT, /* result `index`: fresh, contiguous */
  TC_BUF_ARENA,  /* workspace at byte `offset`; lifetimes planned, within the call */
  TC_BUF_LOCAL,  /* scratch of one thread within one kernel: holds a row between stages */
  TC_BUF_KEPT,   /* the function's own, from call to call, while `version` holds */
  TC_BUF_PRIVATE /* scratch of one thread within one kernel of a fused outer loop: holds what nests leave to later ones */
} tc_buf_kind;

/* What the value of a KEPT buffer depends on.  Packed weights depend on an operand, graph input
 * `version`: they hold for calls of equal sizes in which that operand is the same memory and was
 * not written to since.  Kernels that store to the buffer run where they do not hold; so these
 * kernels store nothing else, and read nothing but the operand and what depends on it.  TC_STATE:
 * no operand decides; the kernels run in each call, and find what the call before left (zeros in
 * the first). */
#define TC_STATE UINT32_MAX

typedef struct tc_buffer {
  tc_buf_kind kind;
  uint32_t index;
  tc_dtype dtype;
  tc_dim numel;    /* elements of its memory: tc_layout_numel of type and layout */
  tc_dim offset;   /* ARENA: bytes from the start of the workspace, a multiple of 64 */
  tc_buf_layout layout; /* ARENA, KEPT; others are row-major */
  uint32_t version; /* KEPT: a graph input, or TC_STATE */
  const char *name; /* for comments and variables: "x", "h" */
  tc_type type;    /* shape and dtype of the value */
  bool written;    /* an INPUT that a kernel writes (in-place op) */
  bool pitched;    /* an INPUT whose pitch stands in the place of its last size in addresses */
  /* OUTPUT, ARENA: the value that it holds; none for scratch of a split reduction */
  tc_ref node;
  /* why the value is an array and is not computed where it is read; NULL: it is a result */
  const char *why;
} tc_buffer;

/* Is it scratch of a thread? */
static inline bool tc_buffer_of_thread(const tc_buffer *b) {
  return b->kind == TC_BUF_LOCAL || b->kind == TC_BUF_PRIVATE;
}

/* ---- axes and addresses ---------------------------------------------------------------------- */

typedef struct tc_axis {
  const char *name; /* loop variable */
  tc_dim extent;
  /* A split axis: of >= 0 means this (inner) axis runs over chunk number axis[of] of a longer axis
   * of `total` points, `extent` each; the last chunk is shorter: i < min(extent, total -
   * axis[of]*extent). */
  int of;
  tc_dim total;
} tc_axis;

typedef struct tc_val { uint32_t id; } tc_val; /* index in the pool; 0 = none */

/* offset + sum coef[i] * axis[i] + sum value(term[j]) * stride(term[j]), in elements from the
 * kernel's base. */
typedef struct tc_term {
  tc_val value;
  tc_dim stride;
  tc_dim bound; /* 0 <= value < bound is checked: data decides */
  /* it is not: the element is in the array by what the value is made of, and there is no bound */
  bool free;
} tc_term;
typedef struct tc_address {
  tc_dim offset;
  tc_dim coef[TC_MAX_AXES];
  /* parts that are no sum of axes: gather, embedding, scatter; where a piece of a concatenation
   * begins */
  int nterm;
  tc_term term[2];
} tc_address;

bool tc_address_same(const tc_address *a, const tc_address *b); /* of one kernel */

/* Is some part of the address checked? */
static inline bool tc_address_is_checked(const tc_address *a) {
  for (int i = 0; i < a->nterm; i++)
    if (!a->term[i].free) return true;
  return false;
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef enum {
  TC_EX_NONE,
  TC_EX_CONST,  /* f (floating dtypes) or i */
  /* scalar argument `index`, converted to dtype: of the graph, then the program's constants */
  TC_EX_SCALAR,
  TC_EX_DIM,    /* value of a size, i64 */
  /* value of an address expression (no buffer), i64: iota, tril, positions of what is reduced; its
   * terms are checked as those of a LOAD are (one_hot) */
  TC_EX_INDEX,
  TC_EX_LOAD,   /* buffer[address], widened; when `guard` is set: guard ? buffer[address] : 0 */
  TC_EX_OP,     /* elementwise primitive of the op table, all operands of its compute dtype */
  /* converts to dtype: floats to integers as tc_dtype_truncate, integers wrap; to bool: != 0 */
  TC_EX_CAST,
  TC_EX_ROUND,  /* f32 rounded through `storage` (f16, bf16) */
  TC_EX_RESULT, /* result `index` of a reduction or scan of this nest, or the matmul's product */
  TC_EX_RANDOM  /* Philox: op RAND or RANDN, in[0] seed (i64), address = element number, storage =
                 * dtype of the numbers (it decides how many bits a uniform has) */
} tc_ex_kind;

typedef struct tc_expr {
  tc_ex_kind kind;
  tc_op op;
  tc_dtype dtype;   /* of the value; never f16 or bf16 */
  tc_dtype storage; /* ROUND */
  tc_val in[3];
  tc_val guard;     /* LOAD */
  uint32_t buffer;  /* LOAD: index into the kernel's buffers */
  uint32_t index;   /* SCALAR, RESULT */
  /* OP: has the same bits wherever it is computed; it is no part of a fused multiply-add */
  bool reproducible;
  double f;
  int64_t i;
  tc_dim dim;
  tc_address address;
  tc_loc loc;       /* the source expression it came from */
} tc_expr;

static inline bool tc_expr_has_address(const tc_expr *e) {
  return e->kind == TC_EX_LOAD || e->kind == TC_EX_INDEX || e->kind == TC_EX_RANDOM;
}

/* ---- actions, stages, nests ------------------------------------------------------------------ */

typedef enum {
  TC_ACT_STORE,  /* buffer[address] = value */
  TC_ACT_ADD,    /* buffer[address] += value, in order (scatter_add): the nest is serial */
  /* results index, index + 1, .. = the accumulators, combined over the stage's axes */
  TC_ACT_REDUCE,
  TC_ACT_SCAN    /* the same = running combination up to and with this point */
} tc_act_kind;

typedef struct tc_action {
  tc_act_kind kind;
  tc_reducer reducer; /* REDUCE, SCAN */
  tc_val value;
  /* REDUCE, SCAN: what joins accumulators 1, 2, .. as `value` joins 0 */
  tc_val further[TC_MAX_ACCUMULATORS - 1];
  /* REDUCE by a reduction with terms: what accumulator 1 sums, of `value` and of RESULT `index`,
   * which is accumulator 0 once the element has joined it */
  tc_val term;
  tc_val guard;    /* STORE: only where true; 0 = always */
  uint32_t buffer, index;
  tc_dtype dtype;  /* REDUCE, SCAN: of the elements that are combined */
  /* REDUCE: 1 + the result of a later stage whose `skip_if` and `skip_value` alone read this one,
   * which may take operands and terms below the normal range as 0; or 0 */
  uint32_t serves;
  tc_address address;
} tc_action;

typedef struct tc_stage {
  uint32_t axes; /* bit i: loops over axis i (sequential axes only); 0: once per outer point */
  /* Optional: of the nest's vector axis, which is one of `axes`, the stage takes the interval from
   * `first` to in front of `end` alone, counted along the whole axis where that is cut into chunks.
   * There may be none of them. */
  bool interval;
  tc_dim first, end;
  uint32_t naction;
  tc_action *action;
  /* Optional: where `skip_if` (bool, the same at all points of an outer point) holds, the stage may
   * be skipped; the result of its one action, a REDUCE, is `skip_value` then.  A backend may run it
   * all the same, which takes less time where its `points` are fewer than `skip_points`. */
  tc_val skip_if, skip_value;
  tc_dim points;
  int64_t skip_points;
  /* Optional: where the stage of result `skipped` was skipped, these do what `action` does, each at
   * the same place, by fewer operations and within the rounding of what they store.  A backend may
   * ignore them. */
  tc_action *if_skipped;
  uint32_t skipped;
} tc_stage;

/* A reduction or scan whose size is a symbol may have nests of both kinds; the launcher takes one.
 * CUT: parts of it, and their combination; WHOLE: one nest, for up to `whole` elements, or from
 * `many` results on. */
typedef enum { TC_ALWAYS, TC_WHERE_CUT, TC_WHERE_WHOLE } tc_when;

typedef struct tc_nest {
  int naxis, nparallel; /* axis[0 .. nparallel) are parallel, the rest sequential */
  tc_axis axis[TC_MAX_AXES];
  uint32_t nstage;
  tc_stage *stage;
  /* Optional: behind stage[nstage], so many stages that do the same where rows are not kept between
   * stages.  There are no LOCAL buffers: what a stage needs is loaded and computed again. */
  uint32_t nstreamed;
  uint32_t nresult; /* reductions and scans are numbered 0 .. nresult-1 */
  /* schedule */
  int vector;     /* axis run in vector lanes, or -1: all scalar.  An outer vector axis puts
                   * neighbouring outer points in the lanes of every stage */
  bool serial;    /* outer points in order on one thread (scatter) */
  tc_dim work;    /* estimated scalar operations, for the decision to go parallel */
  tc_when when;
  tc_dim elements, results; /* CUT, WHOLE: elements of one result, and results */
  int64_t whole, many;
} tc_nest;

/* with those of a streamed run */
static inline uint32_t tc_nest_stages(const tc_nest *n) { return n->nstage + n->nstreamed; }
/* The nest as it is where rows are not kept. */
static inline tc_nest tc_nest_streamed(const tc_nest *n) {
  tc_nest streamed = *n;
  if (n->nstreamed)
    streamed.stage += n->nstage, streamed.nstage = n->nstreamed, streamed.nstreamed = 0;
  return streamed;
}

/* C[b,m,n] = sum_k A[b,m,k] * B[b,k,n], axes numbered batch 0..nbatch-1, then m, n, k.
 *
 * Each of m, n, k may run over several axes at once, as k does over (c, r, s) in a convolution.
 * These are its parts: axis[nbatch + 3 .. tc_mm_axes), of which `of` names the axis.  Parts of one
 * axis stand from the outermost to the innermost; their extents multiply to its own.  Addresses are
 * sums over both.
 *
 * In a chain of products A is made of an inner product, or of two, which are no arrays:
 *
 *   RESULT 1 = sum_d inner.a[0][b,m,d] * inner.b[0][b,d,k]     d the last axes, one for each; no axis has parts
 *   RESULT 4 = sum_e inner.a[1][b,m,e] * inner.b[1][b,e,k]
 *
 * and rows of the first may be reduced over k beside it: RESULTs 2, 3 are the accumulators of
 * `rows`, by a reduction with terms, of the row (b,m); there is no second one then.  A is a term of
 * theirs times values that know nothing of RESULT 2, or knows nothing of it at all.  So a backend
 * may compute A tile by tile with what accumulator 0 is so far, and multiply sums of earlier tiles
 * by `rescale` where it changes: attention, of which rows are its softmax's.  Two inner products
 * have the derivatives of attention, which make scores and their cotangents again.  Where both are
 * there and no rows are reduced, the chain may have a second outer product over the same axes:
 *
 *   RESULT 5 = sum_k beside.a[b,m,k] * beside.b[b,k,n]
 *
 * as the gradients of keys and values, which are made of the same scores.  And A may be summed along
 * m, too, with what is stored of such sums at each (b,k,n):
 *
 *   RESULT 6 = sum_m a[b,m,k] * across.b[b,m,n]
 *
 * as the gradient of queries. */
enum { TC_MM_INNERS = 2 };
typedef struct tc_mm_inner_products {
  int n; /* 0: A is made of no product */
  tc_val a[TC_MM_INNERS], b[TC_MM_INNERS];
  tc_stage rows;   /* axes unused; the one action, or none */
  /* axes unused; with rows: stores of (b,m) once their accumulators are complete */
  tc_stage finish;
} tc_mm_inner_products;

typedef struct tc_mm_factors {
  tc_val a, b; /* none: a.id 0 */
} tc_mm_factors;

typedef struct tc_mm_across {
  tc_val b; /* none: b.id 0 */
  tc_stage epilogue; /* axes unused */
} tc_mm_across;

/* RESULTs */
enum {
  TC_MM_PRODUCT,
  TC_MM_INNER,
  TC_MM_ROWS,
  TC_MM_SECOND = TC_MM_ROWS + 2,
  TC_MM_BESIDE,
  TC_MM_ACROSS,
  TC_MM_RESULTS
};

typedef struct tc_mm_loop {
  int nbatch, npart;
  tc_axis axis[TC_MAX_AXES]; /* nbatch + 3 + npart, and those of inner products */
  tc_dtype operand; /* what the multiplier is fed: f32 f64 bf16 f16 i8 u8 i16 i32 i64 */
  tc_dtype acc;     /* f32 for f16 and bf16, else the operand type */
  /* over (batch, m, k) and (batch, k, n); a bare LOAD is the plain case, any other expression is a
   * prologue applied while packing */
  tc_val a, b;
  tc_mm_inner_products inner; /* of the same operand type */
  tc_mm_factors beside;       /* of a chain's second outer product */
  tc_mm_across across;        /* of a chain's sums along m */
  /* axes unused; actions at each (batch, m, n); RESULT 0 is the product, of type acc; of a chain
   * those of its rows and the second outer product, too */
  tc_stage epilogue;
  /* 1 + a buffer that no access names, row-major (batch, m, n), of the operand type or acc: room
   * for the bare product where every store of the epilogue is in place; 0: none */
  uint32_t product;
  bool costly;       /* the epilogue has a transcendental of the product */
  /* a backend's plan: 1 + the first kernel that packs the same B, where several do */
  uint32_t packed;
} tc_mm_loop;

static inline bool tc_mm_is_chain(const tc_mm_loop *mm) { return mm->inner.n > 0; }
static inline bool tc_mm_has_beside(const tc_mm_loop *mm) { return mm->beside.a.id != 0; }
static inline bool tc_mm_has_across(const tc_mm_loop *mm) { return mm->across.b.id != 0; }
/* What it stores, stage by stage. */
enum { TC_MM_STAGES = 3 };
static inline const tc_stage *tc_mm_stage(const tc_mm_loop *mm, int i) {
  return i == 0 ? &mm->inner.finish : i == 1 ? &mm->across.epilogue : &mm->epilogue;
}
static inline int tc_mm_axes(const tc_mm_loop *mm) {
  return mm->nbatch + 3 + mm->npart + mm->inner.n;
}
/* RESULT and axis of an inner product. */
static inline uint32_t tc_mm_inner_result(int i) { return i ? TC_MM_SECOND : TC_MM_INNER; }
static inline int tc_mm_deep(const tc_mm_loop *mm, int i) { return mm->nbatch + 3 + i; }
static inline int tc_mm_first_part(const tc_mm_loop *mm) { return tc_mm_axes(mm) - mm->npart; }
/* The parts of an axis, as bits; the innermost of them, which advances with it, or -1. */
uint32_t tc_mm_parts(const tc_mm_loop *mm, int axis);
int tc_mm_innermost(const tc_mm_loop *mm, int axis);
/* Points of the parts inside of `part`: the part is axis / inner % extent. */
tc_dim tc_mm_inner(tc_dims *c, const tc_mm_loop *mm, int part);
/* Elements between neighbours along m, n or k, as long as no other part of it changes. */
tc_dim tc_mm_step(tc_dims *c, const tc_mm_loop *mm, const tc_address *a, int axis);
/* Is the access contiguous along the axis, for half a vector at least? */
bool tc_mm_has_neighbours(tc_dims *c, const tc_mm_loop *mm, const tc_address *a, int axis);
/* Does the address step along a part? */
bool tc_mm_by_parts(const tc_mm_loop *mm, const tc_address *a);

/* Of a chain's row m: all keys but those from `first` to before `end` have a score of -inf,
 * whatever it is made of; each bound is affine in batches and m, and of m's coefficients only the
 * sign matters, for they are constant.  A backend need not compute what such keys would add.  And
 * where all rows at hand have a key, the comparison that says so is the same for them:
 * `first_holds`, `end_holds`. */
typedef struct tc_mm_keys {
  bool has_first, has_end, first_holds, end_holds;
  tc_address first, end;
  tc_val first_test, end_test;
} tc_mm_keys;

struct tc_kernel;
tc_mm_keys tc_mm_find_keys(const struct tc_kernel *k, tc_dims *dims);

/* The value that a symbol of the program has in one kernel. */
typedef struct tc_own_size {
  uint32_t sym;
  tc_dim value;
} tc_own_size;

/* For each (o, i): buffer 0, i64[outer,k,inner], gets where the first k elements of buffer 1,
 * [outer,n,inner], are in the order of their values: stable, -0 equal to 0, NaN above all
 * others. */
typedef struct tc_sort_loop {
  tc_dim outer, n, inner, k; /* k <= n */
  tc_dtype dtype;
  bool descending;
} tc_sort_loop;

/* Nests whose outermost loops are fused into one: for each value of symbol `sym` from 0 to in front
 * of `extent`, the nests run in order, by one thread, without a barrier between them.  Addresses
 * name the symbol, the axes of nests are those inside of the loop. */
typedef struct tc_outer_loop {
  bool fused;
  uint32_t sym; /* TC_SYM_OWN */
  tc_dim extent;
} tc_outer_loop;

/* CALL: a function of the program's own, called on the host with tensors over the buffers. */
typedef enum { TC_KERNEL_NESTS, TC_KERNEL_MATMUL, TC_KERNEL_SORT, TC_KERNEL_CALL } tc_kernel_kind;

typedef struct tc_kernel {
  tc_kernel_kind kind;
  const char *name;    /* readable: "softmax_2", from the ops it fuses */
  uint32_t nbuffer;
  uint32_t *buffer;    /* program buffers in argument order; exprs and actions index this list */
  /* for each, the element that its argument points to: addresses count from there */
  tc_dim *base;
  uint32_t nexpr;
  tc_expr *expr;       /* the pool; expr[0] unused */
  uint32_t nnest;
  tc_nest *nest;
  tc_outer_loop outer; /* of the nests */
  tc_mm_loop mm;
  tc_sort_loop sort;
  tc_ref call;         /* CALL: the node; it writes buffer 0, */
  bool effect;         /* or, called for its effect, nothing */
  uint32_t *operand;   /* CALL: for each operand of the node, its buffer; of numbers: UINT32_MAX */
  /* Siblings are kernels of one nest that are equal but for buffers, bases, numbers and own sizes,
   * and of which none waits for another: one launch runs them, in any order or side by side. */
  bool sibling; /* its text runs on a list of these */
  bool joins;   /* in the launch of the kernel in front of it */
  uint32_t nsize;
  /* sizes in which siblings differ, or products of one text: of symbols that no other kernels
   * name */
  tc_own_size *size;
  /* of products of one text: elements of each buffer, own sizes where they differ; NULL: as the
   * buffers have them */
  tc_dim *numel;
  uint32_t nfused;
  tc_ref *fused;       /* graph nodes it computes, for names and reports */
  tc_dim flops; /* of the nodes in `fused` (tc_node_flops) */
  tc_dim bytes; /* least traffic: every element that it reads or writes, once */
  tc_loc loc;
  const struct tc_schedule *schedule; /* how it runs, by the backend's plan; NULL: there is none */
} tc_kernel;

/* Does it take whole arrays, without expressions that say what it reads?  It writes buffer 0. */
static inline bool tc_kernel_takes_arrays(const tc_kernel *k) {
  return k->kind == TC_KERNEL_CALL || k->kind == TC_KERNEL_SORT;
}

typedef struct tc_program {
  tc_graph *graph; /* the optimised graph; borrowed, or that of `own` */
  tc_graph *own;   /* one in which ops that the target has no kernels for are others; or NULL */
  tc_arena *arena; /* owns everything below */
  uint32_t nbuffer;
  tc_buffer *buffer;
  uint32_t nkernel;
  tc_kernel *kernel; /* in launch order */
  tc_dim workspace;  /* bytes of all ARENA buffers after planning */
  uint32_t noutput;
  uint32_t *output;  /* program buffer of each result (an OUTPUT buffer) */
  uint32_t nconstant;
  /* scalars of kernels that are equal but for them: f64, behind those of the graph */
  double *constant;
} tc_program;

/* Of siblings: none, pointwise kernels, kernels of one nest. */
typedef enum tc_sibling_kind { TC_SIBLINGS_NONE, TC_SIBLINGS_POINTWISE, TC_SIBLINGS_NESTS } tc_sibling_kind;

/* Of products: none; all, and k of products of one row; those of f16 and bf16. */
typedef enum tc_product_parts { TC_PARTS_NONE, TC_PARTS_ALL, TC_PARTS_HALVES } tc_product_parts;

/* What a schedule depends on: how the machine at hand is fed and what it does well.  Sizes are in
 * elements. */
typedef struct tc_target {
  const char *name;
  int64_t chunk;       /* of one outer point of flat elementwise work; 0: such work is not cut */
  int64_t split;       /* of one partial reduction ... */
  int64_t least_part;  /* ... of which at least so many along the axis that is cut */
  int64_t least_of_row; /* ... or so many where lanes run along rows, of which each is a task by itself; 0: the same */
  int64_t most_parts;  /* ... and of which there are at most so many, or so many where the size
                        * is a symbol (empty ones at the end); 0: any number */
  int64_t few_rows;    /* fewer outer points than this do not feed the machine */
  int64_t enough_rows; /* as many rows feed it whose reductions wait for others; 0: few_rows says */
  int64_t few_columns; /* ... when the lanes run along them */
  int64_t long_column; /* elements of one result from which on it is cut then; 0: as otherwise */
  /* rows that are reduced and then stored: fewer of them that are longer than this, or columns, have
   * nests for parts of them, too (tc_when); 0: none have */
  int64_t few_kept_rows, few_kept_columns, long_kept_row, long_kept_column;
  bool cut_unknown;    /* sizes that may be few and long count as such then; where they may be
                        * short too, there are nests of both kinds (tc_when) */
  bool keep_loads;     /* what several stages load is kept in LOCAL rows, as expensive values are */
  bool intervals;      /* stages may run over an interval of the vector axis (tc_stage.interval) */
  /* LOCAL rows of fewer elements than this are kept where neighbouring points share a vector,
   * too */
  int64_t lane_rows;
  bool streams;        /* nests have stages for rows that are not kept, too (tc_nest.nstreamed) */
  /* in rows of so many elements on, a maximum and a sum of exponentials that nothing else needs are
   * one reduction (lower/nest/online_softmax.c); 0: in none */
  int64_t online_from;
  int64_t across;      /* operations to combine the lanes of a vector */
  /* rows that are next to each other in memory are read as one piece, however narrow they are */
  bool row_tiles;
  /* of nests that only store, neighbours in what is stored share a vector, however few a row has: threads count points */
  bool lanes_along_stores;
  bool split_scans;    /* scans are cut as reductions are, for one more pass over their elements */
  bool scan_lanes;     /* lanes may run along the axis of a scan */
  bool scatter_lanes;  /* ... and along one whose points a scatter puts in different places */
  int64_t long_pass;   /* of rows from here on, a pass costs more than a sum in another pass does
                        * and what is computed of its result; 0: none */
  int64_t interleave;  /* stores at distances of up to so many elements along the lanes are
                        * interleaved to whole vectors; 0: they are not */
  /* of programs of so many operands or fewer, these may have rows that lie apart
   * (lower/memory/pitch.c) */
  uint32_t pitched;
  tc_sibling_kind siblings; /* which siblings one launch runs */
  /* rows of halves that products read or make begin at multiples of so many bytes, where padding is
   * all that it takes (lower/memory/padding.c); 0: anywhere */
  int64_t row_bytes;
  bool share_products; /* products that differ in sizes have one text */
  /* split reductions of a kernel: their accumulators are in registers together; 0: any number */
  uint32_t most_sums;
  bool epilogue_in_place; /* a product's epilogue may read the element that it overwrites */
  /* an operand of a product of halves is computed while it is read where at most so many results
   * need each element of it; 0: however many */
  int64_t prologue_results;
  /* m, n and k may run over several axes (tc_mm_loop.npart) where operands need it, */
  tc_product_parts product_parts;
  bool epilogue_parts;    /* ... and m and n where the epilogue does */
  bool terms_apart;       /* products of few terms with one matrix run faster as nests (lower/few_terms.c) */
  /* there are kernels that sort; else it is counted what comes before each element */
  bool sorts;
  /* windows along several axes are reduced at once, rather than along one after the other, and */
  bool windows_at_once;
  /* ... a row times a matrix of them is a sum of products, rather than of an array
   * (lower/windows.c) */
  bool windows_summed;
  bool fused_outer;       /* kernels of nests may have a fused outer loop (lower/outer_fusion.c) */
  /* convolutions of f16 and bf16 are products of images whose channels are neighbours
   * (lower/convolution.c) */
  bool channels_last;
  /* windows of a padded array are loaded where it was not padded: there is no such array */
  bool guards;
  bool product_apart;     /* ... and there is to be room for the bare product then */
  /* Optional: does this chain of products run better as one kernel than as three?  Without it there
   * are none. */
  bool (*chain)(const struct tc_program *p, const struct tc_kernel *k);
  /* Optional: chooses the layout of an ARENA buffer, which holds the value buffer[i].node; false:
   * row-major.  Taken where every access is affine in it and no function of the program sees it. */
  bool (*layout)(const struct tc_program *p, uint32_t i, tc_buf_layout *out);
} tc_target;

/* A few cores, each with caches and vector registers. */
extern const tc_target tc_target_cores;

/* requires: optimised, verified graph.  NULL after reporting TC_MISSED at the node that cannot be
 * lowered.  The program borrows g. */
tc_program *tc_lower(tc_graph *g, const tc_target *target);
void tc_program_free(tc_program *p);

/* Is that symbol the pitch of an input of p?  Programs of graphs that share their symbols have
 * pitches of their own. */
bool tc_is_pitch(const tc_program *p, uint32_t sym);
/* A step in an operand as it is where rows follow each other: with the last size in the place of
 * the pitch. */
tc_dim tc_dense_step(const tc_program *p, tc_dim step);
/* Elements from the first one of the buffer to the end of its last row: with the pitch in the place
 * of the last size. */
tc_dim tc_buffer_span(const tc_program *p, uint32_t buffer);

/* The first kernel behind the launch that kernel k begins, and the number of launches. */
uint32_t tc_launch_end(const tc_program *p, uint32_t k);
uint32_t tc_launch_count(const tc_program *p);
/* Elements of buffer i, as k's text has them. */
tc_dim tc_kernel_numel(const tc_kernel *k, const tc_program *p, uint32_t i);
/* The symbol that stands for d in k's text where siblings differ in it; else d. */
tc_dim tc_kernel_size(const tc_kernel *k, const tc_program *p, tc_dim d);

/* Kernel `kernel`, which is no call, as a program of its own that has k for it: itself, or another
 * one over the same buffers, such as the nests of a product.  It is called "kernel"; the program's
 * buffers are those of its list, and the text says all that there is of the kernel.  Results that
 * other kernels read are in the workspace.  It lives as long as p and is not freed.  false: out of
 * memory. */
bool tc_kernel_alone(const tc_program *p, uint32_t kernel, const tc_kernel *k, tc_program *alone);

/* Does one of two kernels store to memory that the other one names, or have both an effect? */
bool tc_kernels_meet(const tc_program *p, const tc_kernel *x, const tc_kernel *y);

/* Does some action of k store to its buffer, an index of k's list?  A call writes buffer 0. */
bool tc_kernel_writes(const tc_kernel *k, uint32_t buffer);
/* That, or its product stands there in front of the epilogue. */
bool tc_kernel_stores(const tc_kernel *k, uint32_t buffer);

/* marked[k->nexpr], one for each value; that of 0, no value, becomes 0.  Marks what the action
 * takes: value, all that is combined, guard and index operands.  Marks what the stage's actions
 * take, and those where it is skipped, and what says whether it is.  Marks what all marked values
 * are made of, down to loads and constants: their operands, guards and index operands. */
void tc_mark_action(const tc_action *a, uint8_t *marked);
void tc_mark_stage(const tc_stage *s, uint8_t *marked);
void tc_mark_operands(const tc_kernel *k, uint8_t *marked);
void tc_mark_operands_of(const tc_expr *e, uint8_t *marked); /* those of one alone */
/* Is the floating value v 0, rounded or not, of either sign? */
bool tc_is_zero(const tc_kernel *k, tc_val v);
/* Which operand of a where(), 1 or 2, is 0; 0: neither, or e is none. */
int tc_zero_operand(const tc_kernel *k, const tc_expr *e);
/* Has the epilogue of a product a transcendental of the product?  of_product[k->nexpr]: room. */
bool tc_costly_epilogue(const tc_kernel *k, uint8_t *of_product);

/* A column of a reduction (graph/ops/reductions.def) as expressions, for elements of one dtype: the
 * pool of a kernel that has nothing else, and the value of each accumulator.  RESULTs stand for
 * what it is made from.  Of `combine`, with n accumulators: 0 .. n-1 are those of a, n .. 2n-1
 * those of b; of `lift`: 0 is the element, 1 its position; of `term` and `rescale`, which
 * accumulator 1 alone may have: 0 is x or a0, 1 is r0; of `later`, which is bool and of accumulator
 * 1, too: 0 is a0, 1 is r0, 2 is x.  The kernel points into the struct, which is not to be
 * copied. */
enum { TC_RULE_EXPRS = 32 };
typedef struct tc_rule {
  tc_kernel kernel;
  tc_expr expr[TC_RULE_EXPRS];
  tc_val value[TC_MAX_ACCUMULATORS];
} tc_rule;

/* false: the table is wrong. */
bool tc_combine_rule(tc_reducer r, tc_dtype element, tc_rule *rule);
bool tc_lift_rule(tc_reducer r, tc_dtype element, tc_rule *rule);
bool tc_reducer_has_later(tc_reducer r); /* it has this one: */
bool tc_later_rule(tc_reducer r, tc_dtype element, tc_rule *rule);
bool tc_reducer_has_terms(tc_reducer r); /* it has both of these: */
bool tc_term_rule(tc_reducer r, tc_dtype element, tc_rule *rule);
bool tc_rescale_rule(tc_reducer r, tc_dtype element, tc_rule *rule);
/* Of accumulator i, where elements are of dtype `element`; and its identity, as a CONST. */
tc_dtype tc_accumulator_dtype(tc_reducer r, int i, tc_dtype element);
tc_expr tc_accumulator_identity(tc_reducer r, int i, tc_dtype element);

/* For launches that may run side by side: those that must have ended before launch k begins are
 * on[first[k]] to on[first[k + 1] - 1], each less than k.  They write what it reads, or read or
 * write what it writes, or their arrays lie where its own do; not listed are those that others of
 * the list wait for.  Effects keep their order. */
typedef struct tc_dependences {
  uint32_t *first, *on;
  uint32_t n, room;
} tc_dependences;

/* false: no memory.  The caller frees what it is given. */
bool tc_program_dependences(const tc_program *p, tc_dependences *d);
void tc_dependences_free(tc_dependences *d);

/* The loop IR as text (TC_DUMP=loops). */
void tc_program_print(const tc_program *p, tc_buf *out);
/* The program of such a text, verified; NULL after reporting "line 3: ..." to diag.  Its graph is
 * made for it: inputs and scalars are those of the text, results are zeros; the caller frees
 * p->graph behind p.  What the text leaves out is not there: the nodes behind arrays and kernels,
 * and values that no action takes.  A call of a function of the program has no text.
 *
 *   program softmax: 1 kernels, workspace 0 bytes    counts, workspace, flops, bytes and work may be left out
 *   sizes R, C 1..4096 %8                            what is known of symbols, as in the text of a graph
 *   buffer 0 output 0 result f32[R,C]
 *   buffer 1 input 0 x f32[R,C]
 *   buffer 2 local 0 row f32[C]
 *   kernel softmax_1  flops 5*C*R  bytes 8*C*R
 *     nest r < R | c < C  lanes c  work 14*C*R       parallel | sequential
 *       stage { c }
 *         %1 = load x[C*r + c] : f32                 names behind '*' and alone are axes, others are sizes
 *         #0 = max %1 : f32
 *       stage { c }
 *         %2 = #0 : f32
 *         %3 = sub %1 %2 : f32
 *         %4 = exp %3 : f32
 *         store row.2[c] %4                          all but inputs: name and number
 *         #1 = sum %4 : f32
 *       stage { c }
 *         %5 = load row.2[c] : f32
 *         %6 = #1 : f32
 *         %7 = div %5 %6 : f32
 *         store result.0[C*r + c] %7
 *
 *   kernel conv_1                                    m, n, k last; the parts of an axis behind it
 *     matmul f32 m < N n < F k < 9*C (c < C, r < 3, s < 3)
 *       a %4  b %5
 *         %4 = load x[..] where %3 : f32
 *         %5 = load w[F*k + n] : f32
 *       epilogue
 *         %6 = #0 : f32
 *         store result.0[F*m + n] %6
 *
 *   kernel order_1
 *     sort result.0 of x  outer R  n C  inner 1  first C  descending     result i64[R,C,1], x f32[R,C,1]
 *
 *   nest i < N | j < M  lanes j                      a stage of an interval of j; an address that begins at a chosen row
 *     stage { j from 1 to M }
 *       %7 = index i : i64
 *       %8 = where %6 %7 %5 : i64
 *       %9 = load x[(M)*%8 + j + -1] : f32           %8{<N}: data decides, and it is checked
 *
 * ';' starts a comment. */
tc_program *tc_program_read(const char *text, tc_diag *diag);
/* Checks the rules above. */
bool tc_program_verify(const tc_program *p, char *message, size_t size);

#ifdef __cplusplus
}
#endif
#endif

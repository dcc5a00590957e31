/* lowering.h - what the steps of tc_lower share.
 *
 * Of the graph, before it is lowered; each gives a graph of its own, or the same:
 *   convolution.c       convolutions of halves with channels last;  convolution_find.c,
 *                       convolution_build.c, convolution_weights.c: windows, operands, gradients
 *   cropped_phases.c    parts of interleaved arrays are made of parts of these
 *   folded_windows.c    sums by position in windows are products of windows
 *   batched_sums.c      sums over batches of products are one product
 *   few_terms.c         products of few terms are sums
 *   windows.c           windows are read where they are reduced
 *   sort.c              sorting, for targets without a kernel for it
 *
 * fusion/: which nodes share a kernel, and at which index each is computed.
 *   facts.c             forwards: what each node costs and reads
 *   index.c             affine indices over the axes of a group, interned
 *   operand.c           index of a node -> index of its operand
 *   cut.c               axes of a group are cut where a view divides them
 *   group.c             groups of nodes that share a loop nest, and what may join them
 *   demand.c            who reads a node, and the arrays that it is written to
 *   pieces.c            concatenations and padded arrays that are computed where they are read
 *   reproducible.c      values that have to have the same bits in every loop
 *   place.c             backwards: every node gets a group, or is recomputed where it is read;
 *                       place_anchors.c: reductions, matmuls and what has loops of its own
 *   last.c              which nodes are placed first
 *
 * nest/: a group becomes a nest or a product.
 *   element.c           element of a buffer -> address, by the buffer's layout (memory/layout.c)
 *   value.c             value of a node at an index -> expression;  piece.c: of one made of pieces
 *   reduce.c            reductions and scans of a group;  split.c: those that are cut into chunks;
 *   row_parts.c         and those of rows that are stored, too;  emit.c: a group's nests
 *   expr.c              the pool of expressions of a kernel;  actions.c: what is done with them
 *   nest.c              group -> loop nest;  axes.c: merging and cutting its axes;
 *                       vector_axis.c: which of them runs in vector lanes
 *   local_rows.c        values kept between stages
 *   online_softmax.c, single_pass_variance.c, distribute_scale.c
 *                       stages that earlier ones can replace or make cheaper
 *   channel_unroll.c    short last axes
 *   matmul.c            group -> matmul template;  call.c: -> a kernel of whole arrays
 *
 * memory/: arrays.
 *   workspace.c         where those between kernels lie;  layout.c: what a layout takes
 *   inplace.c           writes into operands
 *   rows.c              arrays whose rows may lie apart: pitch.c, operands;  padding.c,
 *                       intermediates;  flat_rows.c: in nests without rows
 *   base.c              constant parts of addresses become parts of pointers
 *
 * Of kernels that are made.
 *   chain.c             kernels of attention -> one;  chain_values.c: what they compute, in its
 *                       axes;  chain_bounds.c: which keys a row has
 *   outer_fusion.c      kernels of padded arrays and their windows -> one;  flat_windows.c: short rows of them
 *   order.c             kernels that run earlier than they were made
 *   siblings.c          kernels that one launch runs;  canonical.c: how they are compared;
 *                       sizes.c: sizes in which they differ become arguments;
 *                       product_sizes.c: those of products
 *   constants.c         numbers in which kernels differ become arguments
 *   name.c              their names
 *
 * Placement.  Nodes are visited from results to operands, so every reader of a node is known when
 * it is placed.  A reader demands a value at an index over the axes of its own group.  Groups are
 * numbered in order of creation and run in descending order: a node may join any group whose number
 * is not below those of its readers, which keeps the order acyclic without a search.
 *
 * Memory.  Everything is in arenas (alloc.c); exhaustion unwinds to tc_lower by longjmp.
 * buffers.c: those of the program. */
#ifndef TC_LOWERING_H
#define TC_LOWERING_H

#include <setjmp.h>

#include "lower/loop.h"

enum {
  LO_AXES = 14,         /* axes of a group, before the schedule splits them */
  /* nodes of a group: bounds the depth of expressions and the size of kernels */
  LO_MEMBERS = 256,
  /* nodes of a group, once for each interval of its lanes' axis: bounds the size of kernels */
  LO_INTERVAL_NODES = 1024,
  LO_LOOK_BACK = 16,     /* groups that are tried for independent work */
  LO_SOURCES = 8         /* arrays that are known one by one */
};

/* ---- indices --------------------------------------------------------------------------------- */

typedef struct lo_index lo_index;

/* A data-dependent part: (value of node at `at`) * stride, 0 <= value < bound. */
typedef struct lo_term {
  uint64_t node;
  const lo_index *at;
  tc_dim stride, bound;
} lo_term;

enum { LO_TERMS = sizeof((tc_address){0}.term) / sizeof(tc_term) };

/* offset + sum coef[a] * axis a + terms */
typedef struct lo_lin {
  tc_dim offset;
  tc_dim coef[LO_AXES];
  uint64_t nterm;
  lo_term term[LO_TERMS];
} lo_lin;

/* One lin per dimension, or a single lin that numbers elements in row-major order (flat).
 * Interned: equal indices are the same pointer. */
struct lo_index {
  uint32_t rank, flat;
  uint32_t axes;  /* bit a: depends on axis a, terms included */
  uint32_t terms; /* some dimension has a term */
  lo_lin dim[TC_MAX_RANK]; /* only [0, rank) is stored */
};

/* ---- facts ----------------------------------------------------------------------------------- */

typedef struct lo_fact {
  tc_dim numel;
  tc_dim reduced;   /* elements that a reduction in the cone combines; 0: none */
  tc_dim rows;      /* results of that reduction */
  uint64_t sources; /* bloom filter of the arrays that the node is made of, */
  uint32_t source[LO_SOURCES]; /* and their nodes, of up to so many */
  uint8_t nsource;             /* LO_SOURCES + 1: there are more */
  uint16_t cone;    /* operations to recompute one element from materialised arrays, saturated */
  uint8_t reads;    /* arrays of the node's own size or a larger one among them, saturated */
  bool costly;      /* the cone has a transcendental */
  /* the cone converts floating numbers to integers: comparisons with their bounds, and NaN */
  bool to_whole;
  bool product;     /* elementwise on a matmul's result: fit for its epilogue */
  bool reproducible; /* reproducible.c */
} lo_fact;

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct lo_reduce {
  tc_ref node;
  const lo_index *at;        /* of the result: over parallel axes */
  int naxis; /* reduced dimensions of the operand (of a product of a row: parts of k) */
  int axis[TC_MAX_RANK];     /* group axis of each, -1: size 1 */
} lo_reduce;

typedef struct lo_store {
  tc_ref node;
  const lo_index *at; /* index of the value */
  uint32_t buffer;    /* program buffer */
  const lo_index *to; /* index in the buffer, which has this shape */
  const tc_type *shape;
  bool add;
} lo_store;

/* Along one dimension, bound[p] to in front of bound[p + 1] is piece p: an operand of a
 * concatenation, by its number, or of a padded array 0, the operand, and 1, the edges. */
typedef struct lo_pieces {
  int dim, n;
  tc_dim *bound;
  uint32_t *source;
} lo_pieces;

/* Places along an axis at which what is read of one value becomes the next piece. */
typedef struct lo_cut {
  uint32_t n;
  tc_dim *at;
} lo_cut;

/* Points along the axis at which every cut has one piece: piece[c] of cut c.  There may be none. */
typedef struct lo_interval {
  tc_dim first, end;
  uint32_t *piece;
} lo_interval;

typedef struct lo_group {
  uint32_t id;      /* runs before all groups with smaller ids */
  uint32_t kernel;  /* groups with equal nonzero numbers are nests of one kernel */
  int naxis;
  tc_dim extent[LO_AXES];
  uint32_t sequential; /* bit a: axis a runs inside of stages */
  bool closed;      /* joins, pads, scatters, scans: nothing joins but what they read */
  bool piece;       /* of a concatenation: a product may write it, as a kernel of its own */
  bool pieces;      /* it computes concatenations or padded arrays where it reads them, */
  /* ... which change from piece to piece at places along this axis, in front of which stages end;
   * or -1 */
  int lane;
  uint32_t ncut, ccut;
  lo_cut *cut;
  uint32_t ninterval; /* that the cuts make; 1: there is no cut */
  bool serial;      /* scatter */
  /* reduction or scan with few outer points: partial results of chunks, then further nests */
  bool split;
  bool columns;     /* split: lanes run along results */
  /* split: elements up to which, and results from which on, one nest does it all; 0: there is
   * none */
  int64_t whole, many;
  tc_ref matmul, scan, call;
  const lo_index *at; /* of the matmul's or scan's result */
  int k, nk;        /* matmul: axes of k, from k on, and how many they are */
  bool parts;       /* matmul: operands are read along parts of m, n or k */
  struct lo_demand *demand; /* what it reads */
  uint64_t sources;  /* as of a node */
  uint32_t nsource, csource, *source;
  bool more_sources; /* than are listed */
  bool is_output;
  bool updates; /* it stores what is written into operands */
  bool apart;   /* split reductions that updates read as arrays */
  uint32_t nmember, cmember, nreduce, creduce, nstore, cstore;
  tc_ref *member;
  lo_reduce *reduce;
  lo_store *store;
} lo_group;

/* ---- placement ------------------------------------------------------------------------------- */

typedef struct lo_demand {
  struct lo_demand *next;  /* of the node that is read */
  struct lo_demand *other; /* of the group that reads */
  uint32_t group;
  bool load;      /* only a materialised array will do */
  bool prologue;  /* as an operand of the group's matmul */
  bool in_reduce; /* the value feeds a reduction of the group */
  /* it is computed at places, too, at which another piece is chosen; loads are guarded there */
  bool select;
  const lo_index *at;
} lo_demand;

typedef struct lo_target {
  struct lo_target *next;
  uint32_t buffer;
} lo_target;

typedef struct lo_place {
  lo_demand *demand;
  lo_target *target; /* results and writes that are this node */
  uint32_t buffer;   /* program buffer + 1 where the node is materialised; 0: nowhere */
  uint32_t group;    /* that computes it; 0: none or many */
  bool update;       /* it is written into an operand */
} lo_place;

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct lo_write {
  uint32_t input, buffer; /* program buffers: the input's, and where the new value is put */
  tc_ref value;
  bool direct; /* nothing is copied at the end */
} lo_write;

typedef struct lo {
  tc_graph *g;
  const tc_target *target;
  tc_dims *dims;
  tc_program *p;
  tc_arena *arena;   /* the program's */
  tc_arena *scratch; /* dies with the lowering */
  jmp_buf failed;
  uint32_t count;
  lo_fact *fact;   /* [count + 1] */
  lo_place *place; /* [count + 1] */
  uint32_t ngroup, cgroup;
  lo_group **group; /* [1 .. ngroup] */
  uint32_t nkernelid;
  uint32_t cbuffer, ckernel, cconstant;
  uint32_t *input_buffer; /* per graph input: program buffer + 1 */
  uint32_t nwrite;
  lo_write *write;
  const char *why; /* the last reason not to fuse; see lo_no */
  const lo_index **table; /* interned indices, open addressing */
  uint32_t ntable, ctable;
} lo;

/* alloc.c: never NULL */
void *lo_alloc(lo *L, tc_arena *a, size_t bytes);
/* items with room for one more than n */
void *lo_grow(lo *L, tc_arena *a, void *items, uint32_t *cap, uint32_t n, size_t size);
_Noreturn void lo_fail(lo *L, tc_loc loc, const char *why);

/* false, noting why something was not fused: tc_buffer.why of the array that it becomes. */
static inline bool lo_no(lo *L, const char *why) {
  L->why = why;
  return false;
}

static inline const tc_node *lo_node(const lo *L, tc_ref r) { return tc_graph_node(L->g, r); }
static inline tc_class lo_class(const tc_node *n) { return tc_op_get(n->op)->cls; }

/* sizes; unknown sizes count as large */
tc_dim lo_product(lo *L, const tc_dim *d, int n);
bool lo_at_most(lo *L, tc_dim d, int64_t v); /* provably */
int64_t lo_guess(lo *L, tc_dim d);           /* the constant, or a typical size */
/* Product that never becomes invalid (estimates only). */
tc_dim lo_estimate(lo *L, tc_dim a, tc_dim b);

/* facts.c */
void lo_find_facts(lo *L);
/* a matmul with one row or column, or many small ones: lowered as a reduction */
bool lo_is_dot(lo *L, const tc_node *n);

/* index.c */
const lo_index *lo_intern(lo *L, lo_index *draft); /* fills axes, terms */
const lo_index *lo_empty_index(lo *L);
const lo_index *lo_zero_index(lo *L, const tc_type *t); /* element (0, ..., 0) */
lo_lin lo_axis_lin(int axis);
/* a += b * scale; false: too many terms */
bool lo_lin_add(lo *L, lo_lin *a, const lo_lin *b, tc_dim scale);
bool lo_lin_is_zero(const lo_lin *l);
uint32_t lo_lin_axes(const lo_lin *l); /* terms included */
int lo_lin_axis(const lo_lin *l); /* the axis when l is exactly that, else -1 */
/* For all points of g: least <= l < end; and is that within first <= l < limit?  false: it is not
 * known. */
bool lo_lin_range(lo *L, const lo_group *g, const lo_lin *l, tc_dim *least, tc_dim *end);
bool lo_lin_within(lo *L, const lo_group *g, const lo_lin *l, tc_dim first, tc_dim limit);
bool lo_flatten(lo *L, const lo_index *at, const tc_type *t, lo_lin *out);
/* the first dimension that is not 1; t's rank: there is none */
int lo_first_nonunit(const tc_type *t);
/* Index of element number `flat` of an array of type t over the axes of g: one lin per dimension
 * where dividing by the sizes is exact for all points of g, else flat. */
const lo_index *lo_unflatten(lo *L, const lo_group *g, const lo_lin *flat, const tc_type *t);
/* l = quotient * by + rest, 0 <= rest < by for all points of g; false: neither is affine */
bool lo_lin_divide(lo *L, const lo_group *g, const lo_lin *l, tc_dim by, lo_lin *quotient,
                   lo_lin *rest);
/* axes, in order, for the dimensions of t that are not 1, in a group that has exactly those */
const lo_index *lo_identity(lo *L, const tc_type *t);
/* The same over the given axes of g; NULL: there are not enough. */
const lo_index *lo_index_over(lo *L, const lo_group *g, const tc_type *t, uint32_t axes);

/* operand.c: NULL when the operand has to be materialised in n's own shape, or n itself has to */
const lo_index *lo_operand_index(lo *L, const lo_group *g, const tc_node *n, int k,
                                 const lo_index *at);
bool lo_inlinable(lo *L, const lo_group *g, const tc_node *n, const lo_index *at);
int lo_axis_attr(const tc_node *n, int rank);              /* attribute "axis", not negative */
uint32_t lo_reduced_dims(const tc_node *n, int rank);      /* bits of the reduced dimensions */
const lo_index *lo_reduce_operand(lo *L, const lo_group *g, const lo_reduce *r, int k);
/* deep: the place along what is summed */
const lo_index *lo_matmul_operand(lo *L, const tc_node *mm, int k, const lo_index *at,
                                  const lo_lin *deep);
lo_lin lo_deep(lo *L, const lo_group *g); /* of a matmul's group: k over its axes */
uint32_t lo_deep_axes(const lo_group *g);
/* Flat `at` as the number of a row of t and the place in it, a row being the last dimensions; flat
 * where they cannot be told apart */
const lo_index *lo_trailing(lo *L, const lo_group *g, const tc_type *t, const lo_index *at,
                            int last);
/* scatter: where element `at` of the index goes */
const lo_index *lo_scatter_index(lo *L, const tc_node *n, const lo_index *at);
/* put: where element `at` of the part goes */
const lo_index *lo_put_index(lo *L, const tc_node *n, const lo_index *at);
/* `at` shifted by `by` along dimension d */
const lo_index *lo_shift(lo *L, const lo_index *at, int d, tc_dim by);

/* cut.c: cuts axes of g such that element number `flat` of an array of type t has one lin per
 * dimension.  All indices over g's axes change with them.  matrices: rows, columns and k of a
 * product may be cut, too.  false, and nothing is cut: g's loops would suffer. */
bool lo_cut_axes(lo *L, lo_group *g, const lo_lin *flat, const tc_type *t, bool matrices);

/* reproducible.c */
void lo_find_reproducible(lo *L);

/* group.c */
lo_group *lo_new_group(lo *L, const tc_type *shape);
void lo_add_member(lo *L, lo_group *g, tc_ref n);
void lo_add_sources(lo *L, lo_group *g, tc_ref n); /* g reads what n is made of */
bool lo_shares_source(lo *L, const lo_group *g, tc_ref n); /* some of that */
/* ... as is known of n's arrays one by one */
bool lo_lists_source(lo *L, const lo_group *g, tc_ref n);
void lo_add_store(lo *L, lo_group *g, lo_store s);
bool lo_has_room(const lo_group *g);
bool lo_can_host(lo *L, const lo_group *g, tc_ref n, const lo_index *at); /* every element once */
/* Is the scan of the group to be cut into chunks?  Says so of it. */
void lo_choose_split_scan(lo *L, lo_group *g);
/* Updates of operands that are many and alike: each is a kernel, and one launch runs them. */
bool lo_has_many_updates(const lo *L);
/* Are reductions that such a group reads, and that are split, kernels of their own? */
bool lo_runs_apart(const lo *L, const lo_group *g);
/* feeds_reduce: the result is an operand of another reduction of g */
bool lo_join_reduce(lo *L, lo_group *g, tc_ref n, const lo_index *at, bool feeds_reduce);
bool lo_can_join_matmul(lo *L, const lo_group *g, tc_ref n, const lo_index *at);
tc_dim lo_group_numel(lo *L, const lo_group *g, uint32_t axes);
bool lo_shares(lo *L, const lo_group *g, tc_ref r); /* may independent work share a nest? */
/* is r's shape that of these axes? */
bool lo_same_space(lo *L, const lo_group *g, tc_ref r, uint32_t axes);

/* last.c: [nodes + 1] */
const bool *lo_find_last(lo *L);

/* demand.c */
/* Node r is read by group g at index `at` (NULL: as an array). */
lo_demand *lo_demand_value(lo *L, tc_ref r, lo_group *g, const lo_index *at, bool prologue,
                           bool in_reduce); /* NULL: r is no array and no computation */
/* r is computed where d, which need not be listed, reads it: `group`, `at`, `prologue`, `in_reduce`
 * and `select` count. */
void lo_compute(lo *L, tc_ref r, const lo_demand *d);
lo_demand *lo_latest(lo_place *p); /* the inline demand of the group that runs first, or NULL */
void lo_make_buffer(lo *L, tc_ref r);
void lo_store_all(lo *L, lo_group *g, tc_ref value, const lo_index *at, tc_ref owner,
                  const lo_index *to, bool add);

/* pieces.c.  false: n is not made of pieces along dimension dim, but for empty ones. */
bool lo_find_pieces(lo *L, const tc_node *n, int dim, lo_pieces *out);
/* Of a value that is read at `l`: the piece that is read in all of the interval (NULL: at all
 * points), or -1. */
int lo_piece_at(lo *L, const lo_group *g, const lo_pieces *p, const lo_lin *l,
                const lo_interval *in);
/* in the order of the axis */
lo_interval *lo_find_intervals(lo *L, const lo_group *g, uint32_t *n);
/* May r be computed where its value is not chosen, too, of loads that are 0 there?  Not what takes
 * long. */
bool lo_may_select(const lo *L, tc_ref r);
/* computes r wherever it is read; false: it becomes an array */
bool lo_fuse_pieces(lo *L, tc_ref r);

/* place.c */
void lo_place_all(lo *L);

/* place_anchors.c */
void lo_place_reduce(lo *L, tc_ref r);
void lo_place_matmul(lo *L, tc_ref r);
void lo_place_scan(lo *L, tc_ref r);
bool lo_has_windows(const lo_index *at); /* some dimension runs over several axes */
void lo_place_join(lo *L, tc_ref r);
void lo_place_scatter(lo *L, tc_ref r);
void lo_place_sort(lo *L, tc_ref r);
void lo_place_call(lo *L, tc_ref r);
void lo_place_effect(lo *L, tc_ref r);

/* buffers.c: of the program */
uint32_t lo_new_buffer(lo *L, tc_buf_kind kind, uint32_t index, tc_dtype dtype, const tc_type *t,
                       const char *name);
uint32_t lo_input_buffer(lo *L, uint32_t input);

/* ---- kernels under construction -------------------------------------------------------------- */

typedef struct lo_act {
  tc_action a;
  int level;     /* stages in order of level */
  const lo_interval *interval; /* that it is done in; NULL: in all of them */
  uint32_t axes; /* sequential axes it runs over */
  tc_val skip_if, skip_value; /* of the stage, which is its own, */
  tc_dim points;         /* and of which there are so many */
  /* another value to store, where the stage of result `skipped` was skipped */
  tc_val if_skipped;
  uint32_t skipped;
} lo_act;

typedef struct lo_slot { /* an axis while it is being scheduled */
  tc_dim extent, total;
  int of;
  bool dead, sequential;
  bool columns; /* of a product, which merge with each other alone */
} lo_slot;

typedef struct lo_memo {
  uint32_t node;
  const lo_index *at;
  uint32_t guard;
  tc_val v;
} lo_memo;

/* The value of a reduction, which another nest has left in an array. */
typedef struct lo_total {
  bool there;
  uint32_t buffer; /* of the program */
  tc_address at;
} lo_total;

typedef struct lo_kb { /* kernel builder */
  lo *L;
  tc_kernel *k;
  lo_group *g; /* of the nest at hand */
  const lo_interval *interval; /* in which values are asked for; NULL: everywhere */
  const lo_interval *intervals; /* of the nest at hand, where its group has cuts */
  uint32_t ninterval;
  uint32_t cexpr, cbuffer, cnest, cfused;
  uint32_t first;     /* pool: expressions of the nest at hand start here */
  uint32_t *table;    /* interned expressions of the nest */
  uint32_t ctable;
  lo_memo *memo;
  uint32_t nmemo, cmemo;
  int *level;         /* per expression: stage level it can be computed in */
  uint32_t *axes;     /* per expression: slots it depends on */
  uint32_t clevel;
  lo_act *act;
  uint32_t nact, cact;
  uint32_t nresult, cresult;
  int *result_level;  /* level after which result i is there */
  tc_dtype *result_type;
  tc_val guard;    /* of loads: where the value at hand is asked for at all; 0: everywhere */
  tc_val *reduced; /* per reduction of g: its value, once emitted */
  const lo_total *total; /* per reduction of g: where its value is to be loaded from, if it is there; or NULL */
  tc_val scanned;
  lo_slot slot[TC_MAX_AXES];
  int nslot;
  uint32_t result_axes; /* a scan: the axes its result depends on */
} lo_kb;

/* expr.c */
tc_val lo_expr(lo_kb *b, const tc_expr *e);
void lo_begin_pool(lo_kb *b); /* a new nest: nothing is shared with earlier ones */
void lo_forget_values(lo_kb *b); /* of nodes: those of another interval are others */
tc_val lo_const_f(lo_kb *b, tc_dtype d, double v);
tc_val lo_const_i(lo_kb *b, tc_dtype d, int64_t v);
tc_val lo_cast(lo_kb *b, tc_val v, tc_dtype d);
tc_val lo_op(lo_kb *b, tc_op op, tc_dtype d, tc_val x, tc_val y, tc_val z, tc_loc loc);
/* The rule's values, RESULT i of which is from[i]. */
void lo_apply(lo_kb *b, const tc_rule *rule, const tc_val *from, tc_loc loc, tc_val value[]);
tc_val lo_load(lo_kb *b, uint32_t program_buffer, tc_address a, tc_loc loc);
tc_val lo_result(lo_kb *b, uint32_t index, tc_loc loc);
uint32_t lo_kernel_buffer(lo_kb *b, uint32_t program_buffer);
tc_dtype lo_compute_type(tc_dtype d); /* f32 for f16 and bf16 */
uint32_t lo_new_result(lo_kb *b, tc_dtype type, int level);
void lo_refresh(lo_kb *b); /* levels and axes after addresses changed */
int lo_expr_cost(const tc_expr *e);

/* value.c */
tc_val lo_value(lo_kb *b, tc_ref n, const lo_index *at);
tc_val lo_index_value(lo_kb *b, const lo_lin *l, tc_loc loc); /* i64 */
tc_val lo_convert(lo_kb *b, tc_val v, tc_dtype to, tc_loc loc);

/* piece.c: of a concatenation or padded array */
tc_val lo_joined(lo_kb *b, const tc_node *n, const lo_index *at);
tc_address lo_lin_address(lo_kb *b, const lo_lin *l);

/* reduce.c */
typedef struct lo_combined { /* what a reduction combines */
  tc_reducer reducer;
  tc_dtype type; /* of the elements */
  tc_val value[TC_MAX_ACCUMULATORS];
} lo_combined;
/* Emits a reduction over the slots in `axes`; its first result. */
uint32_t lo_push_reduce(lo_kb *b, lo_combined c, uint32_t axes);
/* Emits reduction r of the group; its accumulators are in value[].  What it combines. */
lo_combined lo_reduce_all(lo_kb *b, const lo_reduce *r, tc_val value[TC_MAX_ACCUMULATORS]);
void lo_emit_reduce(lo_kb *b, uint32_t i);
lo_combined lo_operand_of_scan(lo_kb *b);
uint32_t lo_push_scan(lo_kb *b, lo_combined c, uint32_t axes); /* as a reduction */
void lo_emit_scan(lo_kb *b);

/* element.c */
/* The address of element `at` of an array of that shape in a program buffer, by its layout */
tc_address lo_element(lo_kb *b, uint32_t buffer, const tc_type *shape, const lo_index *at);
/* Asks the target for layouts.  requires: all nodes are placed, and no address is made. */
void lo_choose_layouts(lo *L);

/* nest.c, matmul.c */
void lo_begin_nest(lo_kb *b, lo_group *g); /* slots are the group's axes; an empty pool */
void lo_emit_nest(lo_kb *b, lo_group *g); /* emit.c */

/* split.c */
void lo_split(lo_kb *b, lo_group *g); /* the group's reductions or scan */
/* A nest that leaves partial results of chunks, and one that combines them, which is not finished: of the reductions
 * whose stage[] is `at`, of all where stage is NULL. */
void lo_reduce_parts(lo_kb *b, lo_group *g, const int *stage, int at);
/* Begins a nest over the group's results, without the axes that are reduced. */
void lo_begin_results(lo_kb *b, lo_group *g);
tc_address lo_result_address(lo_kb *b); /* of a result in an array of them */

/* row_parts.c: may there be few long rows, which are reduced and then stored?  Nests of parts of them. */
bool lo_may_part_rows(lo *L, const lo_group *g);
void lo_part_rows(lo_kb *b, lo_group *g);
void lo_emit_matmul(lo_kb *b, lo_group *g);
void lo_emit_call(lo_kb *b, lo_group *g); /* call.c */
/* A nest that copies one buffer to another, both of the shape of that node. */
void lo_emit_copy(lo_kb *b, tc_ref shape, uint32_t from, uint32_t to);
void lo_emit_stores(lo_kb *b);
void lo_emit_store(lo_kb *b, const lo_store *s);
void lo_push_store(lo_kb *b, tc_act_kind kind, tc_val v, uint32_t program_buffer, tc_address to);
void lo_emit_whole(lo_kb *b, lo_group *g); /* one nest does it all */
/* The acts so far become a nest of the kernel. */
void lo_finish_nest(lo_kb *b);

/* actions.c */
void lo_push_act(lo_kb *b, lo_act a);
int lo_value_level(const lo_kb *b, const tc_action *a); /* of its operands */

/* local_rows.c: expensive values that several stages need are kept in LOCAL rows */
void lo_keep_rows(lo_kb *b);
/* online_softmax.c: the maximum and the sum of exponentials of a row by one reduction; terms_alone:
 * where nothing else needs the exponentials.  false: there are none */
bool lo_online_softmax(lo_kb *b, bool terms_alone);
/* The reduction of x to RESULTs first and first + 1 by it. */
tc_action lo_online_action(lo_kb *b, tc_val x, uint32_t first, tc_loc loc);
/* Is v the RESULT, or where(isfinite(it), it, 0)? */
bool lo_is_online_centre(const lo_kb *b, tc_val v, uint32_t result);
/* Of RESULTs first and first + 1, accumulators of online_softmax: the sum of e^(x - c), c being
 * `centre`, the maximum, or that where it is finite and else 0. */
tc_val lo_online_total(lo_kb *b, uint32_t first, tc_val centre, tc_loc loc);
/* single_pass_variance.c: variances of rows from the pass that sums them, where that keeps their
 * digits */
void lo_single_pass_variance(lo_kb *b);
/* distribute_scale.c: (x - m) * r as x * r - m * r, r the reciprocal of a deviation, where the
 * stage of the variance `result` was skipped */
void lo_distribute_scale(lo_kb *b, tc_val difference, uint32_t result);

/* vector_axis.c: the slot whose neighbouring points share a vector, or -1 */
int lo_choose_vector(lo_kb *b);
/* channel_unroll.c: an axis of few points that all stores have is unrolled into actions at the same
 * point; nests of a kernel that each store one channel become one. */
void lo_unroll_channels(lo_kb *b);
void lo_join_channels(lo *L, tc_kernel *k);

/* axes.c */
uint32_t lo_sequential_slots(const lo_kb *b); /* bits of the axes that run inside of stages */
void lo_coalesce(lo_kb *b);
int lo_add_slot(lo_kb *b, tc_dim extent, bool sequential);
int lo_split_slot(lo_kb *b, int s, tc_dim chunk); /* returns the new outer slot */
void lo_finish_axes(lo_kb *b, const int *order, int n, tc_axis *axis);
void lo_map_addresses(lo_kb *b, void (*f)(lo_kb *, tc_address *, const void *), const void *arg);

/* memory/inplace.c, order.c, memory/workspace.c, memory/pitch.c, memory/padding.c, traffic.c,
 * name.c */
void lo_resolve_writes(lo *L);
bool lo_same_place(const tc_address *a, const tc_address *b); /* provably the same element */
/* Moves kernels behind `first` in front of it: those wanted, and those that they follow.  false:
 * one of them follows `first` itself, and nothing is moved. */
bool lo_run_before(lo *L, uint32_t first, const bool *wanted);
/* outer_fusion.c: kernels that pad arrays and those that read them become one, where the target
 * takes that.  requires: in front of lo_plan */
void lo_fuse_outer_loops(lo *L);
/* flat_windows.c, wide_planes.c: of a kernel that came of that. */
void lo_flatten_windows(lo *L, tc_kernel *k);
void lo_widen_planes(lo *L, const tc_kernel *k);
void lo_plan(lo *L);
void lo_share_constants(lo *L);

/* g, or a graph of its own in which positions in order are counted (sort.c); NULL after
 * reporting. */
tc_graph *lo_without_sorts(tc_graph *g);
/* g, or a graph of its own in which windows are read where they are reduced, or multiplied by one
 * row, or rows are reduced before what is in a row (windows.c); NULL after reporting. */
tc_graph *lo_with_windows_at_once(tc_graph *g);
tc_graph *lo_with_rows_reduced_first(tc_graph *g);
tc_graph *lo_with_windows_summed(tc_graph *g);
/* g, or a graph of its own in which slices of interleaved arrays are arrays of their slices (cropped_phases.c); likewise. */
tc_graph *lo_with_phases_cropped(tc_graph *g);
/* g, or a graph of its own whose convolutions are products of arrays with the channels last
 * (convolution.c); NULL after reporting. */
tc_graph *lo_with_channels_last(tc_graph *g);
/* g, or a graph of its own in which sums by position of products are products of windows
 * (folded_windows.c); likewise. */
tc_graph *lo_with_folds_in_products(tc_graph *g);
/* g, or a graph of its own in which sums over batches of products are products (batched_sums.c);
 * NULL after reporting. */
tc_graph *lo_with_batches_in_products(tc_graph *g);
/* g, or a graph of its own in which products of few terms are sums of products element by element
 * (few_terms.c); likewise. */
tc_graph *lo_without_few_terms(tc_graph *g);
/* per expression: may it be an argument?  NULL: none may */
bool *lo_find_numbers(lo *L, const tc_kernel *k);
void lo_make_argument(lo *L, tc_expr *e);
tc_kernel lo_canonical(lo *L, const tc_kernel *k); /* canonical.c */
void lo_join_siblings(lo *L);
/* Are these equal but for arrays and sizes?  number: the expression of either may be an
 * argument. */
bool lo_alike_buffers(const tc_program *p, const tc_kernel *a, const tc_kernel *b);
bool lo_alike_expr(const tc_expr *a, const tc_expr *b, bool number);
bool lo_alike_stage(const tc_stage *a, const tc_stage *b);
void lo_share_product_sizes(lo *L); /* product_sizes.c */
/* chain.c: products that feed each other through a softmax become one, where the target takes that.
 * requires: in front of lo_resolve_writes */
void lo_make_chains(lo *L);
void lo_own_sizes(lo *L, tc_kernel *k, uint32_t n); /* of n siblings that stand behind each other */
/* Calls f for each size that the text of a kernel of nests names, in an order that its form
 * decides. */
typedef void lo_size(void *self, tc_dim *d);
void lo_each_size(tc_kernel *k, lo_size *f, void *self);
/* Operands whose rows may lie apart get a pitch (pitch.c), where the target takes that.  requires:
 * the addresses of all kernels are final, but for their bases */
void lo_choose_pitches(lo *L);
/* Intermediates get padded rows (padding.c), where the target wants them aligned.  requires: as
 * lo_choose_pitches, and no workspace is planned */
void lo_pad_rows(lo *L);
void lo_move_bases(lo *L, tc_kernel *k);
/* Calls f for every load and store of a kernel. */
typedef void lo_access(void *self, uint32_t *buffer, tc_address *a);
void lo_each_access(tc_kernel *k, lo_access *f, void *self);
void lo_estimate_bytes(lo *L, tc_kernel *k); /* of the finished program */
void lo_name_kernel(lo *L, tc_kernel *k, uint32_t number);

#endif

/* print.h - what the printers of all backends share: values of a kernel as text.
 *
 * One way to compute.  Every value of a kernel is a vector of TC_L lanes.  A value that does not
 * depend on the vector axis has equal lanes; a tail computes all lanes and loads and stores only
 * the first n.  So there is one spelling of an op, and no scalar copy of the prelude.  Plain
 * arithmetic of values with equal lanes is done once, on u<i> (single.c); any other op on them is
 * one of vectors.  What differs between machines is in the preludes, in the nest printers, and in
 * the few words of tc_spelling.
 *
 * Names in kernel text
 *   b<i>          buffer i of the kernel's list, restrict pointer to its storage type; for buffers
 *                 of kind LOCAL the part of the thread (or group of threads) at hand
 *   s_<name>      symbol, of the index type
 *   a<i>          scalar argument i, double or int64_t
 *   v<i>          value of expression i in the scope at hand, all lanes
 *   u<i>          the same as one element, tc_<T>
 *   r<i>          result i of the nest, after its reduction
 *   w<i>          the tc_random_run of expression i
 *   bad           int, set nonzero when an index operand is out of range
 *   tc_..., TC_.. prelude
 *
 * Types of the prelude (T: f32 f64 i8 u8 i16 i32 i64 b8 f16 bf16; f16 and bf16 compute as f32)
 *   tc_f32 ...    element in memory; tc_f16 and tc_bf16 are unsigned short, tc_b8 unsigned char
 *   tc_vf32 ...   TC_L lanes of a compute type (no tc_vf16, tc_vbf16)
 * Functions of the prelude (p: pointer to elements; n: count of valid lanes, 1..TC_L)
 *   tc_load_T(p)            TC_L neighbours, widened
 *   tc_loadn_T(p, n)        the first n; others 0
 *   tc_splat_T(p)           *p in all lanes
 *   tc_set_T(x)             x in all lanes
 *   tc_gather_T(p, i, n)    p[i[l]], i: a vector of indices
 *   tc_loadg_T, tc_gatherg_T  the same where a guard (tc_vb8) holds, else 0
 *   tc_store_T(p, v)        rounded to T
 *   tc_storen_T(p, v, n)    the first n
 *   tc_store1_T(p, v)       lane 0
 *   tc_scatter_T, tc_scatteradd_T(p, i, v, g, n)   p[i[l]] = v[l], += v[l], where g[l], in order
 *   TC_CAST(U, v)           to compute type U, as C (bool: tc_ne_T(v, 0))
 *   tc_round_f16(v), tc_round_bf16(v)   an f32 rounded to what the type holds
 *   tc_exp_f32(v) ...       the spellings of the op table
 *   TC_LANES(T)             {0, 1, 2, ...} of compute type T
 *   tc_index(v, bound, live, &bad)      checked index operands
 *   tc_index_free(v)        those that are in range by what they are made of */
#ifndef TC_PRINT_H
#define TC_PRINT_H

#include "backends/backend.h"

/* The words in which texts for different machines differ. */
struct tc_print_scope;
typedef struct tc_spelling {
  const char *vector, *uniform; /* prefix of the type of a value that varies along the lanes, and of
                                 * one that does not: "tc_v" */
  const char *index, *uniform_index; /* the same for vectors of indices, whole: "tc_vi64" */
  const char *lanes;                 /* the lane numbers as a vector of indices */
  const char *single; /* prefix of the type of u<i>: "tc_"; NULL: values of equal lanes have no form
                       * of their own */
  const char *nan, *inf; /* expressions of type double */
  const char *size;      /* prefix of symbols in values: of type int64_t; "s_" */
  const char *integer;   /* type of extents and counters */
  const char *wide;      /* that of numbers which may exceed it; NULL: none does */
  /* there is tc_index_one(v, bound, &bad): tc_index of equal lanes, one of which is live */
  bool index_one;
  /* there are tc_strided_T(p, s, n): p[l * s], and tc_storeapart_T(p, s, v, n) */
  bool strided;
  /* there is tc_randrun_T(run, seed, i): tc_rand_T of neighbours, in a loop that keeps the tc_random_run */
  bool random_runs;
  bool unaligned;        /* tc_load_T and tc_loadn_T take any address */
  /* there is tc_loadstride<s>_T(p): p[l * s] of all lanes, for s = 2 .. interleave */
  int interleave;
  /* Optional.  An OP is spelled otherwise than in the op table: writes that text. */
  bool (*op)(const struct tc_print_scope *s, const tc_expr *e, tc_buf *out);
} tc_spelling;

/* A place in the text where values of a kernel can be computed: which point of the iteration space
 * (a C expression for every axis), which axis runs along the lanes, and what has been printed. */
typedef struct tc_print_scope {
  const tc_kernel *k;
  const tc_program *p;
  const tc_spelling *words;
  tc_buf *out;
  int indent; /* spaces before each statement */
  int naxis;
  const char *axis[TC_MAX_AXES]; /* text of axis i; of the vector axis: its value in lane 0 */
  int vector;                    /* axis along the lanes, or -1: all lanes are equal */
  int part; /* 1 + the part of that axis that advances with it (tc_mm_loop); 0: none */
  /* Lanes that go on from row to row: the axes that they run through (0: `vector` alone), text of the index of each as a
   * vector, and the steps of an address whose elements are neighbours all the same. */
  uint32_t counted;
  const char *lane_axis[TC_MAX_AXES];
  const tc_dim *dense;
  const char *lanes;             /* NULL: all TC_L lanes are valid; else text of their number n */
  /* Other lanes may hold anything, and PRIVATE arrays have room for a vector behind their elements: it is loaded whole. */
  bool whole_private;
  const char *const *result;     /* text of RESULT i, a vector variable */
  const uint32_t *result_axes;   /* bit j: RESULT i depends on axis j */
  /* text of the flag `nontemporal` of stores to OUTPUT buffers, or NULL: tc_store */
  const char *nontemporal;
  uint32_t *depends;     /* per expression: bit j: depends on axis j.  tc_print_depends */
  /* per expression: its 17 leading bits are enough; NULL: nowhere */
  const uint8_t *reduced_precision;
  uint8_t *printed;      /* per expression: bit 0: v<i> is visible, bit 1: u<i> */
  /* Optional.  LOAD `id` is taken from elsewhere (a register, a tile): writes that text. */
  bool (*load)(const struct tc_print_scope *s, uint32_t id, tc_buf *out);
  /* Optional.  Of value `id`, which lanes in two rows share: writes a vector of both, which `of_rows` (C, a function's beginning)
   * hands to the lanes; false: it is none. */
  bool (*rows)(const struct tc_print_scope *s, uint32_t id, tc_buf *out);
  const char *of_rows;
  /* what is called in the place of tc_load_<T>; NULL: nothing, for no load if there is no function */
  const char *(*load_neighbours)(const struct tc_print_scope *s, uint32_t id);
  const char *store_neighbours; /* the same of tc_store_<T>; NULL: nothing */
  /* Optional.  A STORE goes elsewhere: prints the statement. */
  bool (*store)(struct tc_print_scope *s, const tc_action *a);
  void *self; /* of the two above */
} tc_print_scope;

/* Fills depends[nexpr]; result_axes as above (may be NULL when there is no RESULT). */
void tc_print_depends(const tc_kernel *k, const uint32_t *result_axes, uint32_t *depends);

/* Bit j: some value or address of the stage does. */
uint32_t tc_print_stage_axes(const tc_stage *st, const uint32_t *depends);

/* Prints `const tc_vT v<i> = ...;` for v and everything it needs that is not printed yet. */
void tc_print_value(tc_print_scope *s, tc_val v);
/* The same for u<i> of a v that is equal in all lanes. */
void tc_print_one(tc_print_scope *s, tc_val v);
/* Prints those among v and its operands that depend only on the axes in mask: what a caller places
 * in front of a loop over the other axes.  Such values must not depend on the vector axis unless it
 * is in mask. */
void tc_print_hoist(tc_print_scope *s, tc_val v, uint32_t mask);
/* The expression of LOAD `id`, ahead of its definition; its guard and index operands are printed.
 */
void tc_print_load(tc_print_scope *s, uint32_t id, tc_buf *out);
/* A STORE or ADD action at the point of the scope, its values included. */
void tc_print_store(tc_print_scope *s, const tc_action *a);
/* Values and addresses of an action, as tc_print_hoist. */
void tc_print_hoist_action(tc_print_scope *s, const tc_action *a, uint32_t mask);
/* of all of its actions */
void tc_print_hoist_stage(tc_print_scope *s, const tc_stage *st, uint32_t mask);
/* A copy of `printed` for an inner C block, so that what the block declares is forgotten after it.
 */
uint8_t *tc_print_enter(tc_print_scope *s);             /* the outer set; NULL: out of memory */
void tc_print_leave(tc_print_scope *s, uint8_t *outer); /* frees the inner set */

/* Is the address of elements that lie apart in lanes which go on from row to row? */
bool tc_print_is_apart(const tc_print_scope *s, const tc_address *a);
/* The affine part of an address at the point of the scope (lane 0), as a C expression in elements.
 */
void tc_print_address(const tc_print_scope *s, const tc_address *a, tc_buf *out);
/* The same in 64 bits: of numbers of elements that no array need have. */
void tc_print_number(const tc_print_scope *s, const tc_address *a, tc_buf *out);
/* The type whose bits a random number has. */
const char *tc_print_random_type(const tc_expr *e);
/* Of a bound of a chain's keys (tc_mm_find_keys), along whose rows axis m runs: the upper or the
 * lower one of rows m0 to `last`. */
void tc_print_key_bound(tc_print_scope *s, const tc_address *a, int m, bool upper, tc_buf *out);
/* Elements from lane to lane, beside what index operands add. */
tc_dim tc_print_step(const tc_print_scope *s, const tc_address *a);
/* A part of m, n or k as an expression of that axis: "(k / 3 % 3)". */
void tc_print_axis_part(const tc_print_scope *s, const tc_mm_loop *mm, int part, tc_buf *out);
/* The text of all parts in the scope, kept in text[TC_MAX_AXES], which the caller frees. */
void tc_print_axis_parts(tc_print_scope *s, const tc_mm_loop *mm, tc_buf *text);

/* spelling.c.  A new line at the scope's indentation, printf-like. */
void tc_print_line(tc_print_scope *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *
tc_print_compute(tc_dtype d); /* suffix of the compute type: f32 for f16 and bf16, b8 for bool */
/* The spelling of the op to 17 bits; NULL: there is none. */
const char *tc_print_approximation(const tc_expr *e);
const char *tc_print_storage(tc_dtype d); /* suffix of the storage type */
/* A C expression of a size over s_<name>. */
void tc_print_dim(const tc_program *p, tc_dim d, tc_buf *out);
/* Extent of an axis at the point of the scope; a split axis ends with its longer one. */
void tc_print_extent(const tc_print_scope *s, const tc_axis *a, tc_buf *out);

/* ---- reductions ------------------------------------------------------------------------------ */

typedef struct tc_print_name {
  char text[32];
} tc_print_name;

bool tc_print_is_tuple(const tc_action *a); /* it has several accumulators */
/* Of accumulators together: f32; f32_i64.  Of the function that combines two of them: add, mul,
 * max; argmax. */
tc_print_name tc_print_tuple_type(tc_reducer r, tc_dtype element);
tc_print_name tc_print_combine(tc_reducer r);
/* of the op that alone combines accumulator i */
tc_print_name tc_print_combine_part(tc_reducer r, int i);
bool tc_print_is_op(tc_reducer r); /* that function is the one of an op */
/* totals of f32 are kept in f64: it is one accumulator, which rounds */
bool tc_print_widens(tc_reducer r);
bool tc_print_sums_in_f64(const tc_action *a); /* that of f32 elements */
int tc_print_start(const tc_action *a);        /* of products and sums: 1, 0 */
/* tc_set_T(...), or a tuple of them: what changes nothing. */
void tc_print_identity(const tc_spelling *w, tc_reducer r, tc_dtype element, tc_buf *out);
void tc_print_accumulator_identity(const tc_spelling *w, tc_reducer r, int i, tc_dtype element,
                                   tc_buf *out);
/* v<i>, or a tuple: what joins the accumulators at a point, its values printed. */
void tc_print_tuple(const tc_action *a, tc_buf *out);
/* Statements that give all results of a reduction or scan their part of `value`; declare: the
 * prefix of the types of new variables, or NULL. */
void tc_print_set_results(tc_print_scope *s, const tc_action *a, const char *declare,
                          const char *value);
/* Which axes the results of a nest depend on: a reduction's on the outer ones, a scan's on those of
 * its stage too. */
void tc_print_result_axes(const tc_nest *n, uint32_t *result_axes);

/* The statements, at that indentation, that compute the values v<id> of a rule, whose RESULT i is
 * from[i]. */
void tc_print_rule(const tc_spelling *w, const tc_rule *rule, const char *const *from, int indent,
                   tc_buf *out);

/* A reduction of elements of one type, as the chunks of a prelude that are its functions have
 * it. */
typedef struct tc_print_reducer {
  tc_reducer r;
  int n; /* accumulators */
  tc_dtype element;
  const char *t;          /* of an element */
  tc_print_name type, op; /* tc_print_tuple_type, tc_print_combine */
} tc_print_reducer;

tc_print_reducer tc_print_reducer_of(tc_reducer r, tc_dtype element);
const char *tc_print_part(const tc_print_reducer *f, int i); /* the type of accumulator i */
/* The statements that combine a and b, values or structs of members a0, a1, ..; `each` is a format
 * that takes what names an accumulator.  Accumulator i becomes v<rule->value[i].id>. */
void tc_print_combined(const tc_print_reducer *f, const tc_spelling *words, const char *each,
                       tc_rule *rule, tc_buf *out);
/* A chunk begins with that name. */
bool tc_print_has_chunk(const tc_buf *prelude, const char *name);

/* ---- kernels --------------------------------------------------------------------------------- */

bool tc_print_reads(const tc_kernel *k, uint32_t buffer);  /* some expression loads it */
bool tc_print_checks(const tc_kernel *k); /* it has index operands: it can find one out of range */
/* The sizes of the axes that its index operands pick elements from. */
/* Scalars that the text of k may name as a<index>: the graph's, and those constants that k
 * takes. */
typedef void tc_print_scalar(uint32_t index, bool is_float, void *arg);
void tc_print_each_scalar(const tc_kernel *k, const tc_program *p, tc_print_scalar *each,
                          void *arg);
void tc_print_each_bound(const tc_kernel *k, void (*each)(tc_dim bound, void *arg), void *arg);
/* No other buffer of the kernel can be the same memory. */
bool tc_print_restrict(const tc_kernel *k, const tc_program *p, uint32_t buffer);
/* Ops and actions that every backend has a spelling for. */
bool tc_print_known(const tc_kernel *k);
/* What is fused, from which lines; and name and shape of a buffer. */
void tc_print_fused(const tc_kernel *k, const tc_program *p, tc_buf *out);
void tc_print_shape(const tc_program *p, const tc_buffer *b, tc_buf *out);

/* Takes a kernel's raw text, in which @NAME@ stands for its name: drops the declarations
 * `  const T s_<name> = ...;` and `  const T a<i> = ...;` that nothing below them names, numbers
 * the symbols and scalars that it takes as arrays by the order of the text (t->sym and t->scalar
 * are their numbers in the program), forms the name tck_<readable>_<hash>, and puts it in.  Texts
 * that are equal but for comments and the names of symbols have equal names. */
bool tc_print_finish(const tc_kernel *k, const char *raw, tc_kernel_text *t, tc_buf *out);
/* The same for a kernel and its launcher, which takes the arrays; into t->text and t->launcher. */
bool tc_print_finish_pair(const tc_kernel *k, const char *raw, const char *launcher,
                          const char *suffix, tc_kernel_text *t);
/* Numbers the arguments of a text; `nameless` receives it with numbers in place of their names
 * (s_B, and z_B of the same symbol). */
bool tc_print_arguments(const char *text, tc_kernel_text *t, tc_buf *out, tc_buf *nameless);
/* Appends `text` with @NAME@ replaced. */
void tc_print_named(const char *text, const char *name, tc_buf *out);

/* For a prelude that is not made for speed: a C function for each elementwise op that has a formula
 * (graph/ops/formulas.def), double tc_float_<op>(double x, double y, double z, int bits), and
 * tc_int_<op> of int64_t; bits: of the result's dtype, 1 of bool; and the functions of
 * runtime/libtcrt/src/eager/philox.h.  They want int64_t, uint64_t and uint32_t, and bring the
 * declarations of what they call. */
void tc_print_formulas(tc_buf *out);
bool tc_print_has_formula(tc_op op, bool floating);

/* Appends to out the chunks of a prelude that text needs, in their order.  A chunk opens with a
 * line `slash-star @ name name ...`: what it defines; a name may hold one '*'; a chunk that lists
 * none is always taken. */
bool tc_print_prelude(const char *prelude, const char *text, tc_buf *out);
/* With chunks that `put` appends for each reduction of which text names functions. */
typedef void tc_print_put_reducer(const tc_print_reducer *f, tc_buf *prelude);
bool tc_print_prelude_with_reductions(const char *prelude, const char *text,
                                      tc_print_put_reducer *put, tc_buf *out);

#endif

/* matmul.h - a matmul kernel being printed.  matmul.c prints the kernel and its table of tiles,
 * micro_kernel.c the tiles, operand.c how A and B are read and packed, spans.c the same of a B by
 * parts, lanes.c the loops of that, epilogue.c what becomes of finished tiles, chain.c products of
 * which one makes an operand of the other, winograd.c convolutions with fewer multiplications,
 * helper.c what functions for the drivers begin and end with.  The drivers and the micro-kernels
 * are prelude text (prelude/80_matmul.c to 87). */
#ifndef TC_OMP_MATMUL_H
#define TC_OMP_MATMUL_H

#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

/* What a packed operand is made of, and so which micro-kernel runs. */
typedef struct tc_omp_element {
  const char *tile;  /* suffix of the micro-kernel */
  const char *store; /* suffix of the prelude's store to packed memory */
  int bytes, sum;    /* of an element, of an accumulator */
  const char *sums;  /* suffix of the prelude's load of accumulators */
} tc_omp_element;

typedef struct tc_omp_matmul {
  const tc_kernel *k;
  const tc_program *p;
  const tc_mm_loop *mm;
  tc_buf *out;
  tc_omp_element e; /* below level bf16 for bf16 operands, else at every level */
  bool vnni;        /* bf16: two neighbours along k in a 32-bit word, from level bf16 on */
  /* of A, i8 or u8, where integers of 8 bits are multiplied: four in a word, from that level on; or
   * bool */
  tc_dtype bytes;
  int am, an, ak;   /* axis numbers of m, n, k */
  bool checks;      /* index operands: the callbacks report through g->bad */
  char axis[TC_MAX_AXES][16];
  tc_buf part[TC_MAX_AXES]; /* text of a part of m, n or k */
  int axis_of_runs;         /* of the loop at hand: its parts have variables */
  const char *longest;      /* C: lanes of a run at most, from k on; NULL: TC_L */
  tc_print_scope s;
  tc_mm_loop own; /* of a part of a chain, or of bytes: what mm points to */
  tc_action *stores; /* of a chain with several outer products: those of this one */
  int inner; /* of a chain: 1 + which inner product this is, or 0; */
  bool keys; /* not all keys count, and there is a function that says which */
  uint32_t result_axes[TC_MM_RESULTS];
  const char *result[TC_MM_RESULTS];
} tc_omp_matmul;

/* A bare load that a micro-kernel or a packer may address: no guard, no index operands, equal steps
 * along m, n and k. */
const tc_expr *tc_omp_mm_plain(const tc_omp_matmul *x, tc_val v);
/* A, 8-bit integers, and B, signed ones, both widened to i32: the product is of the bytes; false:
 * it is no such. */
bool tc_omp_mm_take_bytes(tc_omp_matmul *x);
/* Elements along k in a word of packed operands from level bf16 on: 1, 2 or 4. */
static inline int tc_omp_mm_quads(const tc_omp_matmul *x) { return x->vnni ? 2 : x->bytes ? 4 : 1; }
/* Marks v and everything it needs; NULL: out of memory. */
uint8_t *tc_omp_mm_reach(const tc_omp_matmul *x, tc_val v);
/* Whether memory of this dtype is what the micro-kernel reads. */
static inline bool tc_omp_mm_same(const tc_omp_matmul *x, tc_dtype d) {
  return d == x->mm->operand && d != TC_F16 && d != TC_BF16 && d != TC_I8 && d != TC_U8;
}
/* lanes.c.  Does v change along parts of the axis? */
bool tc_omp_mm_by_parts(const tc_omp_matmul *x, tc_val v, int axis);
/* Declares where the parts of the axis are at `from`: a loop counts them along. */
void tc_omp_mm_open_parts(tc_omp_matmul *x, int axis, const char *from);
/* At the end of the loop's body: moves them on, each where the one inside of it begins again. */
void tc_omp_mm_close_parts(tc_omp_matmul *x, int axis, const char *by);
/* A loop over points of the axis, of which v is computed: `head` opens it. */
void tc_omp_mm_open_points(tc_omp_matmul *x, tc_val v, int axis, const char *from,
                           const char *head);
void tc_omp_mm_close_points(tc_omp_matmul *x, tc_val v, int axis);
/* A loop along an axis in vectors, each of which ends where the innermost part begins again.
 * longest: C: their lanes at most, or NULL. */
void tc_omp_mm_open_runs(tc_omp_matmul *x, int axis, const char *longest, const char *from,
                         const char *to);
/* Opens a loop along m, n or k from `from` to `to`, in vectors, for values that depend on the axes
 * `depends`; a vector has `rest` lanes, or all where every vector is whole.  Where the values
 * change along parts of the axis, the lanes of a vector are neighbours along the innermost one. */
void tc_omp_mm_open_lanes(tc_omp_matmul *x, int axis, uint32_t depends, const char *from,
                          const char *to, bool whole);
void tc_omp_mm_close_lanes(tc_omp_matmul *x);
/* Of the axes `usual` and `other`, the one along which more loads of v are contiguous, matrices
 * before vectors. */
int tc_omp_mm_lanes(const tc_omp_matmul *x, tc_val v, int usual, int other);
/* The load that B is read by along its contiguous axis, which is prefetched: of several the one of
 * the largest elements; or NULL. */
const tc_expr *tc_omp_mm_b_source(const tc_omp_matmul *x);
/* Few rows or columns: sums of products without packing (dot.c). */
bool tc_omp_mm_is_dot(const tc_omp_matmul *x);
/* ... where that is known at run time only; and the condition for that. */
bool tc_omp_mm_may_be_dot(const tc_omp_matmul *x);
void tc_omp_mm_put_is_dot(const tc_omp_matmul *x, tc_buf *out);
/* The product as a kernel of nests, in p's arena; NULL: out of memory.  emit: that of the
 * schedule. */
tc_kernel *tc_omp_mm_make_dot(const tc_omp_matmul *x, tc_program *p);
bool tc_omp_mm_emit_dot(const tc_omp_matmul *x);
/* Are panels of B equally wide in both products, at every level, where N is the same? */
bool tc_omp_mm_same_panels(const tc_kernel *x, const tc_kernel *y);
/* Is A packed with rows side by side?  Else with k side by side. */
bool tc_omp_mm_a_cols(const tc_omp_matmul *x);

/* helper.c.  A helper's first lines: kernel arguments, index of every batch axis; and its last. */
void tc_omp_mm_open(tc_omp_matmul *x, const char *signature);
void tc_omp_mm_close(tc_omp_matmul *x);

/* chain.c.  @NAME@_rows: inner products become A; @NAME@_keys, and @NAME@_finish. */
void tc_omp_mm_put_rows(tc_omp_matmul *x);
/* Bytes of a thread's scratch, and of the scratch that they share. */
void tc_omp_mm_chain_shared(const tc_omp_matmul *x, tc_buf *out);
void tc_omp_mm_chain_scratch(const tc_omp_matmul *x, tc_buf *out);
/* Declares `chain` of the descriptions `inner` and `g`. */
void tc_omp_mm_put_chain(const tc_omp_matmul *x, tc_buf *out);
/* The accumulators of row m, as results. */
void tc_omp_mm_put_row_results(tc_omp_matmul *x);

/* winograd.c.  A convolution with windows of 3 x 3 neighbours in f32, of which the parts of n and k
 * say where they are. */
bool tc_omp_mm_is_winograd(const tc_omp_matmul *x);
/* Bytes of its transformed weights. */
tc_dim tc_omp_mm_winograd_bytes(const tc_omp_matmul *x);
/* The gradient of such a convolution by its weights, of all images. */
bool tc_omp_mm_is_winograd_gradient(const tc_omp_matmul *x);
void tc_omp_mm_put_image(tc_omp_matmul *x); /* @NAME@_image, and of a gradient @NAME@_rows */
/* Declare `w` of the description `g`. */
void tc_omp_mm_put_winograd(const tc_omp_matmul *x);
void tc_omp_mm_put_winograd_gradient(const tc_omp_matmul *x);

/* A micro-kernel, once in a unit: tc_mm_<type>_<rows>x<vectors>; masked: one of one vector, which stores as many columns
 * as it is told (TC_MM_COLUMNS). */
void tc_omp_mm_put_tile(tc_buf *out, const char *type, int rows, int vectors, bool masked);
/* spans.c.  The body of b_pack where B is a load by parts of n, vnni: into pairs of bf16; or
 * false. */
bool tc_omp_mm_put_spans(tc_omp_matmul *x, bool vnni);
/* Is B such a load, of a type that is packed without conversion, bf16 from level bf16 on? */
bool tc_omp_mm_may_have_spans(const tc_omp_matmul *x);
/* operand.c.  Is it packed so?  Then the shared scratch begins with a table of so many bytes, which @NAME@_b_rows fills:
 * where each row of B begins. */
bool tc_omp_mm_has_spans(const tc_omp_matmul *x);
tc_dim tc_omp_mm_spans_bytes(const tc_omp_matmul *x);
void tc_omp_mm_put_b_rows(tc_omp_matmul *x);
void tc_omp_mm_put_operands(tc_omp_matmul *x); /* @NAME@_a_at, _b_at, _a_pack, _b_pack */
void tc_omp_mm_put_epilogue(tc_omp_matmul *x); /* @NAME@_c_at, _epilogue */
void tc_omp_mm_put_prefetch(tc_omp_matmul *x); /* @NAME@_prefetch */
/* The STORE of a bare product of the accumulator's dtype, with n contiguous: C in place; or NULL.
 */
const tc_action *tc_omp_mm_direct(const tc_omp_matmul *x);
/* The same of a product of bf16 whose sums are rounded to bf16, by micro-kernels of level bf16. */
const tc_action *tc_omp_mm_rounded(const tc_omp_matmul *x);

#endif

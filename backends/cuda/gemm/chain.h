/* chain.h - what the templates of chains share.  chain.c: rows, keys and the epilogue;
 * chain_scores.c: what becomes of a tile of scores; chain_random.c: their random numbers; chain_mma.c: products of halves on tensor
 * cores; chain_wide.c: products of f32 and f64, on tensor cores or not; chain_simt.c: the
 * same by way of parts of tiles, of any dtype and any widths. */
#ifndef TC_CUDA_CHAIN_H
#define TC_CUDA_CHAIN_H

#include "backends/cuda/gemm/matmul.h"

enum { TC_CUDA_CHAIN_PAD = 8 }; /* elements behind each row of finished sums in shared memory */

/* The letter of an operand's tiles and lanes. */
extern const char tc_cuda_chain_letter[TC_CUDA_OPERANDS];

/* Operands whose lanes are arguments of function templates, in order: those of a second inner
 * product come last. */
extern const int tc_cuda_chain_lanes[6];
int tc_cuda_chain_count_lanes(const tc_cuda_product *x);

static inline bool tc_cuda_chain_has_second(const tc_cuda_product *x) { return x->mm->inner.n > 1; }

/* The outer products: where their B is, and the names of what they have. */
typedef struct tc_cuda_chain_outer {
  int same; /* the inner product that has the same B; -1: B has tiles of its own */
  int b;    /* the operand that is B */
  const char *sum, *weights, *score;
  uint32_t result;
} tc_cuda_chain_outer;
static inline int tc_cuda_chain_outers(const tc_cuda_product *x) {
  return 1 + tc_mm_has_beside(x->mm);
}
tc_cuda_chain_outer tc_cuda_chain_outer_of(const tc_cuda_product *x, int i);
static inline bool tc_cuda_chain_has_own_b(const tc_cuda_product *x) {
  return tc_cuda_chain_outer_of(x, 0).same < 0;
}

/* What inner products sum over, and columns, that tiles of functions have, in multiples of `unit`;
 * e: 0 where there is no second inner product.  Sizes that are known at run time only have the i-th
 * class, from the narrowest on; false: there are no more. */
typedef struct tc_cuda_chain_widths {
  int d, e, n;
} tc_cuda_chain_widths;
bool tc_cuda_chain_widths_of(const tc_cuda_product *x, int i, int unit, tc_cuda_chain_widths *to);

/* A tile of rows of an inner product's A, or of keys from `key` on of its B or the outer one's. */
tc_cuda_fill tc_cuda_chain_fill(const tc_cuda_product *x, const tc_cuda_operand *o, int which,
                                const char *key);

/* Which rows, scores and sums a thread has, in C. */
typedef struct tc_cuda_chain_layout {
  const char *rows, *place;               /* how many rows; of row h: where it is in the block */
  /* how many scores; of score i: its key behind key0, and the h of its row */
  const char *scores, *key, *row;
  /* how many sums; of sum i: its column, and the h of its row */
  const char *sums, *column, *row_of_sum;
  int threads, apart; /* so many have the same rows, whose numbers are so far apart */
  /* which of all that have the same rows store what is reduced; NULL: all do */
  const char *first;
  bool columns;                           /* values of keys are in shared memory */
  bool shares;                            /* uniforms: scores lie as tc_words_of_rows has it */
  const char *meet;                       /* a barrier of all that have rows */
} tc_cuda_chain_layout;

/* The reduction of rows; NULL: there is none. */
static inline const tc_action *tc_cuda_chain_rows(const tc_cuda_product *x) {
  return x->mm->inner.rows.naction ? x->mm->inner.rows.action : NULL;
}

/* Values of a key that are made of arrays, and of the type of sums: a thread needs those of all keys of its
 * tiles, so the block has them in shared memory.  How many they are; v: NULL, or gets them. */
enum { TC_CUDA_CHAIN_COLUMNS = 8 };
int tc_cuda_chain_columns(const tc_cuda_product *x, tc_val *v);
/* C: those of keys from `key` on are on their way, to fresh[]; and from there to place `to`. */
void tc_cuda_chain_put_columns(tc_cuda_product *x, const char *key);
void tc_cuda_chain_put_fresh(tc_cuda_product *x, const char *to);

/* The head of the function template @NAME@_<of>, whose first parameters are `numbers`, and its
 * body. */
void tc_cuda_chain_put_template(const tc_cuda_product *x, const char *numbers, const char *of,
                                const char *body, const tc_cuda_bodies *b, tc_buf *out);

/* All that follows is C.  d_end and e_end: what inner products sum over. */
void tc_cuda_chain_put_ends(tc_cuda_product *x);
/* The loop over tiles of M x N; where keys begin or end with the row, those of most keys come first, of all batches: head by head
 * the same multiprocessors would have all heavy ones. */
void tc_cuda_chain_open_tiles(tc_cuda_product *x, const tc_mm_keys *keys);
/* m0 and n0, of `tile`: a block's first row and column. */
void tc_cuda_chain_put_first(tc_cuda_product *x, const tc_mm_keys *keys);
/* The keys that any of the block's rows has terms of, first to end, from a multiple of KEYS on, and
 * those that all have. */
void tc_cuda_chain_put_keys(tc_cuda_product *x, const tc_mm_keys *keys);
/* Sums of all products, and the thread's rows with their accumulators. */
void tc_cuda_chain_put_start(tc_cuda_product *x, const tc_cuda_chain_layout *l);
/* score[] (and other[]), the inner products of keys key0 to key1, becomes A of the outer product;
 * where rows are reduced: most[] and total[] have these keys, too, and sums of those before want
 * factor[], if any has `changed`. */
void tc_cuda_chain_put_scores(tc_cuda_product *x, const tc_cuda_chain_layout *l,
                              const tc_mm_keys *keys);
void tc_cuda_chain_put_rescale(tc_cuda_product *x, const tc_cuda_chain_layout *l);
/* What sums are multiplied by whose rows had accumulator 0 from[0], and have from[1]: the value's
 * number. */
uint32_t tc_cuda_chain_put_factor(tc_cuda_product *x, const char *const from[2]);
/* Sums and accumulators go through `shared`, a pointer, so that a thread of the epilogue has
 * neighbours along n. */
void tc_cuda_chain_put_epilogue(tc_cuda_product *x, const tc_cuda_operand *o,
                                const tc_cuda_chain_layout *l, const char *shared);

/* chain_random.c: uniforms that lanes share.  In front of what becomes of a tile: where their blocks are, and, of which the text
 * for whole tiles is, that they are shared.  In front of the loop over a thread's scores: their words; and in it: their
 * values. */
void tc_cuda_chain_put_uniforms(tc_cuda_product *x);
void tc_cuda_chain_put_all_shared(tc_cuda_product *x);
void tc_cuda_chain_put_words(tc_cuda_product *x);
void tc_cuda_chain_take_uniforms(tc_cuda_product *x, bool whole);

/* chain_parts.c, where keys are shared out (tc_cuda_has_k_parts; else nothing).  C: first
 * and end become those of part `share`; behind the sums in shared memory, they are left in k_sums;
 * all_rows; `name`, where sums of a part and a row are; of the launcher, behind its choice of a function,
 * k_parts and k_sums. */
void tc_cuda_chain_put_share(tc_cuda_product *x);
void tc_cuda_chain_put_leave(tc_cuda_product *x);
void tc_cuda_chain_put_all_rows(tc_cuda_product *x);
void tc_cuda_chain_put_place(tc_cuda_product *x, const char *name, const char *part, const char *row);
void tc_cuda_chain_put_parts(const tc_cuda_product *x, tc_buf *out);
/* ... of the entry: k_parts at most, and bytes of k_sums for so many; and what launchers call. */
void tc_cuda_chain_put_most_parts(const tc_kernel *k, const tc_program *p, const char *info, tc_buf *out);
void tc_cuda_chain_put_sums_bytes(const tc_kernel *k, const tc_program *p, const char *parts, tc_buf *out);
extern const char tc_cuda_chain_parts_helper[];
/* chain_gather.c: the body of the function that puts parts together, the function, and the launcher's end. */
void tc_cuda_chain_gather(tc_cuda_product *x, const tc_cuda_operand *o);
void tc_cuda_chain_put_gather(const tc_cuda_product *x, const tc_cuda_bodies *b, const char *body,
                              unsigned number, tc_buf *out);
void tc_cuda_chain_put_gather_launch(unsigned function, tc_buf *out);

/* Of the launcher: `width`, the largest of those that are known at run time only. */
void tc_cuda_chain_put_width(const tc_cuda_product *x, tc_buf *out);

/* chain_simt.c: the functions of tc_cuda_chain_simt, from `number` on, of 16-byte accesses, or
 * `least` of them for any sizes, and behind them that of single elements; how many they are.  And
 * bytes of shared memory of a block of so many rows. */
uint32_t tc_cuda_chain_put_general(const tc_cuda_product *x, const tc_cuda_operand *o,
                                   const tc_cuda_bodies *b, int number, bool least, tc_buf *out);
int tc_cuda_chain_general_shared(const tc_cuda_product *x, int rows, int columns);
/* of a block that any sizes suit */
enum { TC_CUDA_CHAIN_GENERAL_ROWS = 64, TC_CUDA_CHAIN_GENERAL_COLUMNS = 64 };

#endif

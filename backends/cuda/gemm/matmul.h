/* matmul.h - a matrix product on its way to CUDA C: what its templates share.  simt.c: every
 * thread multiplies and adds, any dtype; mma.c: f16 and bf16 on tensor cores; chain_mma.c,
 * chain_wide.c, chain_simt.c: the same of chains of products. */
#ifndef TC_CUDA_MATMUL_H
#define TC_CUDA_MATMUL_H

#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/product.h"

typedef struct tc_cuda_product {
  tc_print_scope s;
  const tc_kernel *k;
  const tc_program *p;
  const tc_mm_loop *mm;
  const tc_cuda_kernel_schedule *plan;
  int m, n, kk; /* axis numbers */
  char text[TC_MAX_AXES][16];
  tc_buf part[TC_MAX_AXES]; /* text of a part of m, n or k */
  const char *result[TC_MM_RESULTS];
  uint32_t axes[TC_MM_RESULTS];
} tc_cuda_product;

/* Threads that bring tiles (TC_PRODUCERS of the prelude), and registers of a multiprocessor. */
enum { TC_CUDA_PRODUCERS = 128, TC_CUDA_REGISTERS = 65536 };

/* A tile in shared memory (tc_place): what runs along an axis of an operand. */
typedef struct tc_cuda_span {
  int axis;
  /* C: the first, the end of the axis, how many; all are of tc_int, `count` constant */
  const char *from, *end, *count;
} tc_cuda_span;
typedef struct tc_cuda_fill {
  const tc_cuda_operand *o;
  char name; /* the tile is <name>_tile, and accesses are of <name>_lanes elements */
  tc_cuda_span outer, deep;
  const char *what; /* of pieces: for the text's reader */
} tc_cuda_fill;

/* fill.c: in front of the loop over the deep axis, what of each copy's address and guard does not
 * change in it.  Points outside of the outer axis are the last ones inside then, for nobody asks
 * for the results there. */
void tc_cuda_begin_fill(tc_cuda_product *x, const tc_cuda_fill *f);
/* Copies or values of the tile, on their way; and where that was begun. */
void tc_cuda_put_fill(tc_cuda_product *x, const tc_cuda_fill *f);
void tc_cuda_put_begun_fill(tc_cuda_product *x, const tc_cuda_fill *f);
/* By threads that have few registers, `thread` (C) of `threads`, a multiple of those that one row of the tile takes:
 * each steps from copy to copy.  Of an array as it is, where steps are the same everywhere and all points are there: */
bool tc_cuda_has_steps(const tc_cuda_product *x, const tc_cuda_fill *f);
void tc_cuda_put_stepped_fill(tc_cuda_product *x, const tc_cuda_fill *f, const char *thread,
                              const char *threads);

/* fill_rows.c: the tile as rows of the deep axis in shared memory, of which `row_at`(row) (C) says where it begins behind `tile`,
 * in the type that sums have; blocks have THREADS.  Of an array as it is they are copies in the
 * background, which the caller ends and waits for. */
void tc_cuda_put_tile_rows(tc_cuda_product *x, const tc_cuda_fill *f, const char *tile,
                      const char *row_at);

/* pieces.c: the tile from memory to registers, `to`[e] for the thread's piece e, zeros outside; and
 * from there to `to`[deep][outer] in shared memory.  Blocks have TC_CUDA_THREADS. */
void tc_cuda_put_fetch(tc_cuda_product *x, const tc_cuda_fill *f, const char *to);
void tc_cuda_put_place(tc_cuda_product *x, const tc_cuda_fill *f, const char *from, const char *to);
/* lanes of its pieces, such that every thread has one */
int tc_cuda_piece(const tc_cuda_operand *o);

/* producers.c: opens what warps that bring tiles do, of so many registers a thread, and behind that what the others do, of a
 * block of which a multiprocessor holds `blocks` (C): they have the rest. */
void tc_cuda_open_producers(tc_cuda_product *x, int registers);
void tc_cuda_open_consumers(tc_cuda_product *x, int registers, const char *blocks);

/* Texts of function bodies.  all: the names in it say which parameters functions take. */
typedef struct tc_cuda_bodies {
  const char *body, *tensor, *general, *all;
} tc_cuda_bodies;

/* What differs between the templates. */
typedef struct tc_cuda_template {
  const char *own; /* C: may the template be asked before the library is? */
  /* Optional.  Are operands that are aligned and results that are not seen to?  `vectorized` is of
   * the operands alone then, and `wide_results` of the results, which bodies may ask, too. */
  bool (*unaligned_results)(const tc_cuda_product *x, const tc_cuda_operand *o);
  void (*body)(tc_cuda_product *x, const tc_cuda_operand *o); /* o: [TC_CUDA_OPERANDS] */
  /* optional, and may put nothing: the same on tensor cores */
  void (*tensor)(tc_cuda_product *x, const tc_cuda_operand *o);
  /* optional, and may put nothing: for sizes that body is not for */
  void (*general)(tc_cuda_product *x, const tc_cuda_operand *o);
  /* The functions, from 0 on.  How many they are. */
  uint32_t (*put)(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b,
                  tc_buf *out);
  /* C: function, block, shared and grid, from m, n, batches, vectorized. */
  void (*launch)(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out);
} tc_cuda_template;
extern const tc_cuda_template tc_cuda_simt, tc_cuda_mma, tc_cuda_chain, tc_cuda_chain_wide,
    tc_cuda_chain_simt;

/* tiles.c, from here on.  In C: an axis' size, and how many batches there are. */
void tc_cuda_put_size(const tc_program *p, const tc_mm_loop *mm, int axis, tc_buf *out);
void tc_cuda_put_batch_count(const tc_program *p, const tc_mm_loop *mm, tc_buf *out);
const char *tc_cuda_acc(const tc_cuda_product *x); /* compute type of the sums */
/* The loop over tiles of `high` x `broad` results: `tile` is at hand, of m_tiles by n_tiles for
 * each point of the batch axes. */
void tc_cuda_open_tiles(tc_cuda_product *x, const char *high, const char *broad);
/* ... in an order that has the first tile of all batches first, then the second one of each: where
 * those in front take longer, what takes least fills the machine at the end. */
void tc_cuda_open_tiles_of_all(tc_cuda_product *x, const char *high, const char *broad);
/* The brace that ends a loop or a block of C: also that of tiles. */
void tc_cuda_close_scope(tc_cuda_product *x);
/* A function: an instance of the template @NAME@_<of> with these arguments, `blocks` of a
 * multiprocessor, with producers behind its threads where there may be any. */
void tc_cuda_put_instance(const tc_cuda_product *x, const tc_cuda_bodies *b, const char *of,
                          int number, int threads, bool producers, int blocks, const char *arguments,
                          tc_buf *out);
/* ... of so many threads, producers among them, as C says. */
void tc_cuda_put_instance_of(const tc_cuda_product *x, const tc_cuda_bodies *b, const char *of, int number,
                             const char *threads, int blocks, const char *arguments, tc_buf *out);
/* The numbers of the batch axes of `tile`, and of `rest`, which counts batches. */
void tc_cuda_put_batches(tc_cuda_product *x);
void tc_cuda_put_batch_numbers(tc_cuda_product *x);
void tc_cuda_put_extent(tc_cuda_product *x, const char *name, int axis); /* a variable of tc_int */
/* The value of an operand at the point at hand, as what the multiplier takes, assigned to `part`.
 */
void tc_cuda_put_part(tc_cuda_product *x, const tc_cuda_operand *o, int lanes);
/* May the results' rows be unaligned where the operands' are not?  Then they are stored one by
 * one. */
bool tc_cuda_may_be_unaligned(const tc_cuda_product *x, const tc_cuda_operand *o);
/* Values and stores of the epilogue, or of a chain's finished rows, at the point at hand; r0 is the
 * product. */
void tc_cuda_put_finish(tc_cuda_product *x, const tc_stage *st, int lanes);

#endif

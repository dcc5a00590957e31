/* product.h - the decisions about a product of matrices: its template, and how operands are
 * read. */
#ifndef TC_CUDA_PRODUCT_H
#define TC_CUDA_PRODUCT_H

#include "backends/cuda/schedule/facts.h"

/* An operand, or the epilogue, as a nest: for widths and conditions. */
typedef struct tc_cuda_operand {
  tc_val value;
  int along, across; /* axis of neighbours in memory, and the other one */
  /* an array as it is, where a guard of places holds: nothing to compute, no rounding */
  bool plain;
  /* ... of which 8 neighbours from a multiple of 8 on, as far as the axis has them, are neighbours in
   * memory, wherever these begin */
  bool neighbours;
  tc_nest nest;      /* lanes along `along` */
  tc_stage stage;
  tc_action action;
  tc_cuda_nest_schedule plan; /* form, width and indices */
} tc_cuda_operand;

int tc_cuda_operands(const tc_mm_loop *mm); /* how many of TC_CUDA_OPERANDS there are */

/* of no id: it is an epilogue, or A of a chain */
tc_val tc_cuda_operand_value(const tc_mm_loop *mm, int which);
/* along: a tc_cuda_along, of an operand.  The struct is not to be copied.  false: out of memory. */
bool tc_cuda_open_operand(const tc_kernel *k, const tc_program *p, int which, int along,
                          tc_cuda_operand *o);
bool tc_cuda_may_mma(const tc_mm_loop *mm); /* tensor cores multiply such operands */
/* Does the kernel multiply halves of the program's buffer, as it is, on tensor cores? */
bool tc_cuda_multiplies_rows(const tc_kernel *k, const tc_program *p, uint32_t buffer);
/* there is a template for the chain */
bool tc_cuda_may_chain(const tc_program *p, const tc_kernel *k);
/* ... and chains are made for it: of rows that shared memory holds, or of sizes that are known at run
 * time only. */
bool tc_cuda_takes_chain(const tc_program *p, const tc_kernel *k);
/* ... by tensor cores: of halves. */
bool tc_cuda_may_chain_mma(const tc_program *p, const tc_kernel *k);
/* The i-th width that there are functions for where sizes are known at run time only; 0: there are
 * no more, or the one before suits all sizes.  And may a size be larger than all of them? */
int tc_cuda_chain_class(const tc_program *p, const tc_mm_loop *mm, int i);
bool tc_cuda_chain_is_wider(const tc_program *p, const tc_mm_loop *mm);
/* The inner product of a chain whose B is the same array as B of an outer one, along n as along its
 * d; -1: there is none. */
int tc_cuda_same_b(const tc_kernel *k, const tc_program *p, tc_val b);
/* Are there tiles of that side, by that template? */
bool tc_cuda_may_side(const tc_mm_loop *mm, int template, uint32_t side);
/* Are there functions on tensor cores (gemm/mma_f32.c) beside those of every thread's own sums, where tiles are that large? */
bool tc_cuda_may_mma_f32(const tc_mm_loop *mm);
enum { TC_CUDA_MMA_F32_SIDE = 64 };
/* the rates are those of such products */
bool tc_cuda_may_one_pass(const tc_mm_loop *mm, int template);
bool tc_cuda_has_k_parts(const tc_kernel *k); /* by its schedule, k, or keys, may be shared out */
/* Skinny products: of at most so many columns, or rows, and a k of so many bytes at least (H200: shorter ones are faster by tiles, and
 * so are more columns, of halves by tensor cores); or of at most so long a k, which is at most so much times columns or rows; or of
 * a k that takes less time than to write the results (OUTER_K).  What reads or makes fewer elements takes no time that matters. */
enum {
  TC_CUDA_FEW = 4,
  TC_CUDA_SKINNY_BYTES = 2048,
  TC_CUDA_SHORT_K = 16,
  TC_CUDA_OUTER_K = 8,
  TC_CUDA_OUTER_K_OF_HALVES = 5,
  TC_CUDA_MOST_SHORT = 64,
  TC_CUDA_LEAST_READ = 1 << 18,
  TC_CUDA_LEAST_RESULTS = 1 << 16
};
int64_t tc_cuda_outer_k(const tc_mm_loop *mm);  /* the longest k of the last ones */
int64_t tc_cuda_skinny_k(const tc_mm_loop *mm); /* the least k, in elements */
/* Which of these may the sizes be?  What is read once lies along k.  Not where k is shared out among blocks. */
enum { TC_CUDA_COLUMNS_ARE_FEW = 1, TC_CUDA_ROWS_ARE_FEW = 2, TC_CUDA_K_IS_SHORT = 4, TC_CUDA_OUTER = 8 };
uint32_t tc_cuda_skinny_ways(const tc_kernel *k, const tc_program *p, const tc_cuda_kernel_schedule *s);
/* Fills in what is of products.  false: out of memory. */
bool tc_cuda_plan_product(const tc_kernel *k, const tc_program *p, tc_cuda_kernel_schedule *s);

/* gemm/library.c: can the library do the product?  And the kernel of the nest that it leaves, in
 * the program's arena; NULL: there is none.  false: out of memory. */
bool tc_cuda_library_takes(const tc_kernel *k, const tc_program *p);
bool tc_cuda_library_rest(const tc_kernel *k, const tc_program *p, tc_kernel **out);

#endif

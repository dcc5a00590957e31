/* chain_wide.h - how warps of a block multiply whose operands have the type of the sums (chain_wide.c): every thread by itself
 * (chain_fma.c), or tensor cores (chain_tf32.c). */
#ifndef TC_CUDA_CHAIN_WIDE_H
#define TC_CUDA_CHAIN_WIDE_H

#include "backends/cuda/gemm/chain.h"

struct tc_cuda_chain_unit;

/* A block: its warps, the rows and columns of scores that a thread has, in the unit's rows and in steps of 8 keys, and the widths of
 * its tiles, of which e is 0 where there is no second inner product. */
typedef struct tc_cuda_chain_shape {
  const struct tc_cuda_chain_unit *unit;
  int warps, rows, cols;
  int d, e, n;
  bool raw; /* A of inner products is as it came in shared memory, and parted where it is read; where the unit has parts */
} tc_cuda_chain_shape;

typedef struct tc_cuda_chain_unit {
  tc_cuda_chain_layout layout;
  int rows;   /* of a warp, for each of the shape's */
  int width;  /* of tiles: a multiple of so many words */
  bool pairs; /* B of the outer product of its own lies as pairs of rows */
  bool parts; /* functions have a number RAW behind ROWS and COLS */
  /* what is in shared memory beside tiles of so many rows and keys, in elements; C that names where that is, and `behind`, which
   * follows it */
  int (*places)(const tc_cuda_product *x, const tc_cuda_chain_shape *s, int rows, int keys);
  void (*put_places)(tc_cuda_product *x, const char *tiles_end);
  /* registers of a thread that sums, scores and operands take */
  int (*registers)(const tc_cuda_product *x, const tc_cuda_chain_shape *s);
  /* what a multiplication takes, in any unit, of so many warps of a multiprocessor: where they are few there is waiting */
  double (*cost)(const tc_cuda_product *x, const tc_cuda_chain_shape *s, int warps);
  const char *place; /* C: where the thread is: own, its first row of the block, and what layout.place names */
  /* C: operands of the inner products have arrived: A (rows), or B of tiles `now`.  Optional. */
  void (*arrived)(tc_cuda_product *x, bool rows);
  /* C: the inner products, of tiles `now`; the i-th outer one, in front of whose B of its own `arrival` stands */
  void (*inner)(tc_cuda_product *x);
  void (*outer)(tc_cuda_product *x, int i, void (*arrival)(tc_cuda_product *x));
} tc_cuda_chain_unit;
extern const tc_cuda_chain_unit tc_cuda_chain_fma, tc_cuda_chain_tf32;

/* Words of an element, and elements of a 16-byte access. */
static inline int tc_cuda_chain_words(const tc_cuda_product *x) { return (int)tc_dtype_bytes(x->mm->acc) / 4; }
static inline int tc_cuda_chain_access(const tc_cuda_product *x) { return 4 / tc_cuda_chain_words(x); }

/* Of a row of all tiles of inner products: elements. */
static inline int tc_cuda_chain_wide_row(const tc_cuda_product *x, const tc_cuda_chain_shape *s) {
  const int pad = tc_cuda_chain_access(x);
  return s->d + pad + (s->e ? s->e + pad : 0);
}
/* ... and of one of the outer product's own B, if it has one. */
static inline int tc_cuda_chain_own_row(const tc_cuda_product *x, const tc_cuda_chain_shape *s) {
  return tc_cuda_chain_has_own_b(x) ? s->n + tc_cuda_chain_access(x) : 0;
}

/* The name of a tile's width, and C that is where B of an outer product is. */
static inline char tc_cuda_chain_wide_of(int which) {
  return which == TC_CUDA_B ? 'N' : which >= TC_CUDA_SECOND_A ? 'E' : 'D';
}
static inline const char *tc_cuda_chain_slot_of(const tc_cuda_chain_outer *y) {
  return y->same < 0 ? "" : tc_cuda_chain_wide_of(y->b) == 'E' ? " + now * (KEYS * E_WIDE)" : " + now * (KEYS * D_WIDE)";
}

#endif

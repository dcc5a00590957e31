/* schedule.h - how a nest runs on a GPU: what tc_cuda_plan decides and the printers of nest/ and
 * launch.c read (backends/schedule/schedule.h holds it together).
 *
 * A nest takes one of six forms.
 *   FLAT     one stage of stores: a thread takes `lanes` neighbouring points, `unroll` of them at a time.
 *   TRANSPOSE  the same where loads and stores run along different axes: a block takes a square of
 *            points, by way of shared memory.
 *   ROWS     stages over sequential axes, lanes along them (or none): a group of neighbouring threads for
 *            each outer point.  Rows between stages (LOCAL buffers) are in registers: every thread
 *            keeps the items that it computed itself.
 *   COLUMNS  the same with lanes along a parallel axis: neighbouring threads are neighbouring outer
 *            points, a group is a column of the block.
 *   SERIAL   points in order: a thread owns destinations, and visits every point.
 *   SCATTER  the same where that is one store at a computed place: a warp owns destinations, whose elements its lanes
 *            have, and the threads of its block look for their points together.
 *
 * An item is `lanes` neighbouring points of a row.  The form and what the text of a nest says are
 * the same in all variants; a variant is a function, an instance of that text. */
#ifndef TC_CUDA_SCHEDULE_H
#define TC_CUDA_SCHEDULE_H

#include "backends/schedule/schedule.h"

typedef enum {
  TC_CUDA_FLAT,
  TC_CUDA_TRANSPOSE,
  TC_CUDA_ROWS,
  TC_CUDA_COLUMNS,
  TC_CUDA_SERIAL,
  TC_CUDA_SCATTER
} tc_cuda_form;

enum {
  TC_CUDA_THREADS = 256,        /* of a block, but for groups of more */
  TC_CUDA_LARGEST_GROUP = 1024, /* threads */
  TC_CUDA_BLOCK = 128,          /* threads of a block of several groups */
  TC_CUDA_ITEMS = 8,            /* of a thread where the launcher says how many share a row */
  TC_CUDA_LEAST_OVERLAPPING = 16, /* items of a row of columns that may overlap: single elements of fewer are as fast */
  TC_CUDA_SIDE = 64             /* points of a tile along the axis of the stores */
};

typedef enum { TC_CUDA_SIMT, TC_CUDA_MMA, TC_CUDA_CHAIN } tc_cuda_template_kind; /* of products */
typedef enum { TC_CUDA_ALONG_M, TC_CUDA_ALONG_N, TC_CUDA_ALONG_K, TC_CUDA_ALONG_D } tc_cuda_along;
/* What a product reads; the epilogue's lanes run along n.  What follows it is of a chain, whose A
 * is nowhere in memory: of its inner product, and of a second one. */
enum {
  TC_CUDA_A,
  TC_CUDA_B,
  TC_CUDA_EPILOGUE,
  TC_CUDA_INNER_A,
  TC_CUDA_INNER_B,
  TC_CUDA_SECOND_A,
  TC_CUDA_SECOND_B,
  TC_CUDA_OPERANDS
};

/* Of a kernel; what is behind `approximate` is of products.  The template is asked for products
 * that are no matter of the library's, and for short ones. */
typedef struct tc_cuda_kernel_schedule {
  bool approximate;     /* elementary functions of f32 have the digits that 16-bit results hold */
  int template;         /* a tc_cuda_template_kind; -1: it is no product */
  /* tc_cuda_along: the axis along which accesses of an operand are wide; -1: not said */
  int along[TC_CUDA_OPERANDS];
  /* elements that alignment is asked for, of operands and epilogue */
  int64_t width[TC_CUDA_OPERANDS];
  bool index64; /* index arithmetic may exceed 32 bits whatever the sizes of the buffers */
  tc_schedule_list sides; /* of tiles, each with a function, from the largest to the smallest */
  bool library; /* it is asked first; its product is followed by the nest of tc_schedule.product */
  bool tf32;    /* ... and may round operands of f32 to TF32 */
  /* ... but for products that fill no more tiles of this side than there are multiprocessors, and
   * are not longer along k; 0: for none */
  int64_t short_side, short_depth;
  /* of a sort: numbers, a power of 2, that a block has in shared memory; longer rows are selected
   * from */
  int64_t room;
  /* ... nor for those that the library needs one more kernel for, which takes longer */
  bool one_pass;
  /* where tiles are few, k (of a chain: keys) is shared out among so many blocks at most; 0: not */
  int64_t k_parts;
  /* skinny products have functions of their own, in front of the library and of tiles */
  bool skinny;
} tc_cuda_kernel_schedule;

/* Of a nest, in all variants.  Lists of loads are of expressions of the kernel. */
typedef struct tc_cuda_nest_schedule {
  int form;      /* a tc_cuda_form */
  int64_t width; /* elements of the widest accesses: what alignment is asked for */
  bool index64;  /* index arithmetic may exceed 32 bits whatever the sizes of the buffers */
  /* A reduction that has nests for both ways (tc_nest.when) is not cut up to so many elements of a
   * result, or from so many results on; 0: whatever their number. */
  int64_t whole, many_results;
  int along, across;     /* TRANSPOSE: axis of the stores, axis of the loads; else -1 */
  int64_t side, overlap; /* unaligned TRANSPOSE: points of a tile across; rows in front of it */
  tc_schedule_list tile,
      unaligned_tile; /* TRANSPOSE: loads by way of shared memory, in both texts */
  /* ROWS without registers: loads that the first pass caches in shared memory */
  tc_schedule_list cache;
  /* ROWS in registers: loads that are issued in front of the first pass */
  tc_schedule_list prefetch;
  /* ROWS by tiles: loads that a thread issues once for all of its rows, which share them */
  tc_schedule_list load_once;
  /* ROWS in registers: loads whose lines are to stay in the L2 cache */
  tc_schedule_list evict_last;
  tc_schedule_list bypass_l1; /* COLUMNS: loads that leave no lines in the L1 cache */
  /* ROWS: so many loads of a stage that all rows share are not issued early; 0: they are */
  int64_t late_shared;
  /* stages whose f32 sums join an f64 total after each `unroll` items */
  tc_schedule_list f64_totals;
  /* ROWS, COLUMNS: stages that keep the item of the best element, not its position */
  tc_schedule_list in_order;
} tc_cuda_nest_schedule;

/* Of a variant: a function.  The launcher takes the first whose conditions hold. */
typedef struct tc_cuda_variant {
  /* Conditions.  aligned: what accesses of `width` elements need; index32: what 32-bit indices
   * need; longest, least: items of a row at most, and at least (0: any); full: the row fills the
   * group exactly (of warps: each of some number of them), so that no thread tests whether it has
   * an item.  least (but for rows in phase) and full ask for many rows, too. */
  bool aligned, index32, full;
  /* As aligned, but of stores and sizes alone: loads of several elements begin at any address, and
   * are of the aligned words that those lie in. */
  bool aligned_stores;
  /* Rows begin anywhere, but all that the nest reads or writes equally far behind an aligned address: items begin at aligned
   * ones, head and tail are peeled. */
  bool in_phase;
  /* The same of stores alone (or of one load): the others begin anywhere. */
  bool stores_in_phase;
  /* FLAT: all points together follow one another in what is stored, which begins at aligned addresses: lanes of an item go on from
   * row to row, and what they load lies apart, or begins anywhere. */
  bool dense;
  /* COLUMNS: loads and stores begin anywhere; where columns end within an item, it begins earlier, and its first ones are
   * computed twice.  Asks for many columns, if they do. */
  bool overlapping;
  int64_t longest, least;
  bool registers; /* rows are in registers, `unroll` items a thread */
  /* rows begin anywhere: 16-byte accesses where they are aligned, head and tail one by one;
   * TRANSPOSE: and 8-byte stores */
  bool unaligned;
  /* TRANSPOSE: no tile; a thread has all points across, `longest` at most, beside one of the
   * others */
  bool narrow;
  /* ROWS: those of a block pass through shared memory, 16 bytes at a time, wherever they begin */
  bool tile;
  bool warps;    /* full, of any number of warps: each of them has neighbouring items */
  bool shared;   /* the shared-memory cache is filled and read */
  int64_t lanes;  /* TC_L: elements of an access */
  int64_t unroll; /* TC_U: items that a thread loads before it uses the first */
  int64_t group; /* threads of the thread group: a constant of the function; 0: the launcher says */
  int64_t items; /* of a thread where the row is long enough */
  int64_t most;  /* threads of the largest group */
  int64_t threads; /* ROWS: of a block of several groups; FLAT, SCATTER: of a block */
  int64_t blocks;  /* that a multiprocessor is to hold at least; 0: no matter */
} tc_cuda_variant;

static inline const tc_cuda_kernel_schedule *tc_cuda_kernel_schedule_of(const tc_kernel *k) {
  return (const tc_cuda_kernel_schedule *)((const tc_schedule *)k->schedule)->kernel;
}
static inline const tc_cuda_nest_schedule *tc_cuda_nest_schedule_of(const tc_schedule_nest *s) {
  return (const tc_cuda_nest_schedule *)s->common;
}
static inline const tc_cuda_variant *tc_cuda_variant_of(const tc_schedule_nest *s, uint32_t i) {
  return (const tc_cuda_variant *)s->variant[i].nest;
}
static inline bool tc_cuda_is_phased(const tc_cuda_variant *v) { return v->in_phase || v->stores_in_phase; }
/* Is there such a function? */
static inline bool tc_cuda_has_aligned_stores(const tc_schedule_nest *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->nvariant; ++i) any |= tc_cuda_variant_of(s, i)->aligned_stores;
  return any;
}
static inline bool tc_cuda_has_loads_anywhere(const tc_schedule_nest *s) {
  bool any = tc_cuda_has_aligned_stores(s);
  for (uint32_t i = 0; i < s->nvariant; ++i)
    any |= tc_cuda_variant_of(s, i)->stores_in_phase || tc_cuda_variant_of(s, i)->dense || tc_cuda_variant_of(s, i)->overlapping;
  return any;
}
static inline bool tc_cuda_has_overlap(const tc_schedule_nest *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->nvariant; ++i) any |= tc_cuda_variant_of(s, i)->overlapping;
  return any;
}
static inline bool tc_cuda_has_dense_stores(const tc_schedule_nest *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->nvariant; ++i) any |= tc_cuda_variant_of(s, i)->dense;
  return any;
}
static inline bool tc_cuda_has_rows_in_phase(const tc_schedule_nest *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->nvariant; ++i) any |= tc_cuda_is_phased(tc_cuda_variant_of(s, i));
  return any;
}

#endif

/* access.h - the wide accesses of a nest: of neighbours along the axis of its lanes. */
#ifndef TC_CUDA_ACCESS_H
#define TC_CUDA_ACCESS_H

#include "backends/cuda/schedule/facts.h"

/* One access of neighbours along an axis. */
typedef struct tc_cuda_access {
  const tc_address *address;
  uint32_t buffer;
  int axis;
} tc_cuda_access;

/* Where to look.  axis: of the lanes, -1: there are no wide accesses; across: TRANSPOSE: of the
 * loads that fill a tile, else -1; part: of a product's axis, the part that advances with it, or
 * -1; copies: a product's operand that is an array as it is, whose guard is one for all lanes;
 * partial: ... of halves, which copies in the background may end within (tc_cuda_is_plain); tail: elements
 * behind the last whole access are taken one by one. */
typedef struct tc_cuda_accesses {
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *n;
  int axis, across, part;
  bool copies, partial, tail;
  const uint8_t *need; /* expressions of the nest */
} tc_cuda_accesses;

typedef void tc_cuda_each_access_fn(const tc_cuda_accesses *x, tc_cuda_access a, void *self);
typedef void tc_cuda_each_size_fn(const tc_cuda_accesses *x, tc_dim d, void *self);

tc_cuda_accesses tc_cuda_accesses_of(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                     const tc_cuda_nest_schedule *s, const uint8_t *need);
void tc_cuda_each_wide_load(const tc_cuda_accesses *x, tc_cuda_each_access_fn *f, void *self);
void tc_cuda_each_wide_store(const tc_cuda_accesses *x, tc_cuda_each_access_fn *f, void *self);
/* What one access is apart from others; and how far the axes go that lanes run along. */
void tc_cuda_each_step(const tc_cuda_accesses *x, tc_cuda_access a, tc_cuda_each_size_fn *f,
                       void *self);
/* ... where accesses of `width` elements are to end with them. */
void tc_cuda_each_extent(const tc_cuda_accesses *x, int width, tc_cuda_each_size_fn *f, void *self);
size_t tc_cuda_element_bytes(const tc_cuda_accesses *x, uint32_t buffer);
/* Have the functions of wide accesses a tail: does no row end but with the array?  Sizes do not forbid them, then. */
bool tc_cuda_has_tail(const tc_kernel *k, const tc_nest *n, const tc_cuda_nest_schedule *s);
/* May there be something in it? */
bool tc_cuda_leaves_tail(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s);
/* Does the load count elements through rows which may lie apart (lower/flat_rows.h), in a nest that has a tail?  Accesses of
 * more than one are to end with a row, if there is anything between rows. */
bool tc_cuda_counts_rows(const tc_kernel *k, const tc_nest *n, const tc_cuda_nest_schedule *s, const tc_expr *load);
/* Do all points together store neighbours, in the order in which the nest takes them (the axis of the lanes is the fastest)?
 * Lanes may go on from row to row then.  steps: if not NULL, of such an address, by axis. */
bool tc_cuda_stores_densely(const tc_kernel *k, const tc_program *p, const tc_nest *n, tc_dim steps[TC_MAX_AXES]);
/* ... and does that pay: are elements smaller than a word, and is there a row that ends, or that lies apart, between them? */
bool tc_cuda_may_be_dense(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s);
/* May an item of columns begin earlier than where the one before it ends: does nobody read what the nest writes?  Does that pay:
 * are elements that it loads smaller than a word? */
bool tc_cuda_may_overlap(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s);
/* Is the size no multiple of that number for some values of its symbols? */
bool tc_cuda_may_not_divide(const tc_cuda_accesses *x, tc_dim d, int lanes);

#endif

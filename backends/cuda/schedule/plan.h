/* plan.h - the decisions about a nest, each of which sees those before it. */
#ifndef TC_CUDA_PLAN_H
#define TC_CUDA_PLAN_H

#include "backends/cuda/schedule/facts.h"

enum { TC_CUDA_VARIANTS = 64 /* of a nest, at most: some 40 where rows of unknown length are loaded once and may begin anywhere */ };

typedef struct tc_cuda_plan {
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *n;
  uint8_t *need; /* expressions of the nest */
  tc_cuda_nest_schedule *nest;
  bool phased;   /* functions for rows in phase leave short ones to others */
  uint32_t nvariant;
  tc_cuda_variant variant[TC_CUDA_VARIANTS];
} tc_cuda_plan;

/* plan.c.  All schedules of a program, in its arena.  false: out of memory. */
bool tc_cuda_plan_program(tc_program *p);
/* A function.  The last one, which has no conditions, is there in any case: launchers look until
 * one fits. */
static inline void tc_cuda_add(tc_cuda_plan *x, tc_cuda_variant v) {
  if (x->nvariant == TC_CUDA_VARIANTS) x->nvariant--;
  x->variant[x->nvariant++] = v;
}

/* form.c.  Form, width, indices: what depends on nothing else.  Of a nest that is not the kernel's;
 * false: out of memory. */
void tc_cuda_plan_form(tc_cuda_plan *x);
bool tc_cuda_plan_access(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         tc_cuda_nest_schedule *out);

/* row_mapping.c.  Adds the functions of a nest of rows that are like v, its lanes and widths of
 * indices; those of rows that begin anywhere and are read once. */
bool tc_cuda_plan_rows(tc_cuda_plan *x, tc_cuda_variant v); /* false: none pays */
void tc_cuda_plan_unaligned_rows(tc_cuda_plan *x, tc_cuda_variant v);
/* of a row or column; -1: their number is not known */
int64_t tc_cuda_constant_items(const tc_nest *n, int lanes);

/* row_tiles.c.  Adds the function of narrow rows of constant length that begin anywhere, and those
 * for narrow rows of any length, where there are many. */
void tc_cuda_plan_tiled_rows(tc_cuda_plan *x, tc_cuda_variant v);
void tc_cuda_add_tiled_rows(tc_cuda_plan *x, tc_cuda_variant v);

/* access_width.c.  The widest accesses: of 16 bytes, which constant sizes may forbid, but not where
 * rows are peeled; do sizes allow those? */
typedef enum tc_cuda_alignment { TC_CUDA_ALWAYS, TC_CUDA_SOMETIMES, TC_CUDA_NEVER } tc_cuda_alignment;
int tc_cuda_choose_width(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const tc_cuda_nest_schedule *s, const uint8_t *need);
tc_cuda_alignment tc_cuda_find_alignment(const tc_cuda_plan *x, bool loads /* else stores alone */);
/* Are there functions that peel rows, of items of so many lanes, where all are in phase, and may rows be long enough? */
bool tc_cuda_may_be_in_phase(const tc_kernel *k, const tc_program *p, const tc_nest *n, int lanes);
/* Is there a wide load of an operand of elements of less than so many bytes? */
bool tc_cuda_loads_operand(const tc_cuda_plan *x, size_t bytes);

/* transpose.c.  Is the nest one (sets form, along and across)?  Its functions. */
bool tc_cuda_plan_transpose(tc_cuda_plan *x);
void tc_cuda_plan_tiles(tc_cuda_plan *x, tc_cuda_variant aligned, tc_cuda_variant scalar,
                        bool may_be_unaligned);
bool tc_cuda_stores_along(const tc_nest *n, int axis); /* all stores are of neighbours there */
/* What functions for arrays whose rows begin anywhere are like (tc_cuda_nest_schedule); false:
 * there are none. */
typedef struct tc_cuda_tiles {
  int64_t side, overlap, lanes;
} tc_cuda_tiles;
bool tc_cuda_find_tiles(const tc_cuda_plan *x, tc_cuda_tiles *out);
/* Marks the loads of the kernel without rows whose tiles fit into so many bytes; bytes that those
 * of a list of the kernel's loads take. */
enum { TC_CUDA_SHARED = 49152 };
void tc_cuda_mark_tiles(const tc_cuda_plan *x, bool unaligned, size_t shared, uint8_t *marked);
size_t tc_cuda_tiles_bytes(const tc_cuda_plan *x, bool unaligned, const tc_schedule_list *l);

/* loads.c: lists of loads and stages; what is cached is decided before the functions are, the rest
 * behind them.  false: out of memory. */
bool tc_cuda_plan_cache(tc_cuda_plan *x);
bool tc_cuda_plan_lists(tc_cuda_plan *x);
/* Marks the loads that may be issued in front of a row's first pass, for later ones: all rows share
 * them. */
bool tc_cuda_mark_prefetch(const tc_cuda_plan *x, uint8_t *marked);
/* Marks the loads along a row that all rows share. */
bool tc_cuda_mark_shared(const tc_cuda_plan *x, uint8_t *marked);

/* approximate.c: are all results of the kernel of 16 bits? */
bool tc_cuda_stores_halves(const tc_kernel *k, const tc_program *p);

#endif

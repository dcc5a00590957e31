/* facts.h - what decisions and printers of a nest ask of it. */
#ifndef TC_CUDA_FACTS_H
#define TC_CUDA_FACTS_H

#include "backends/cuda/schedule/schedule.h"

/* facts.c */
bool tc_cuda_is_store(const tc_action *a);
bool tc_cuda_is_local(const tc_kernel *k, const tc_program *p, uint32_t buffer);
bool tc_cuda_has_kind(const tc_nest *n, tc_act_kind kind);
tc_cuda_form tc_cuda_form_of(const tc_nest *n); /* but for transposes, which are FLAT */
bool tc_cuda_has_tuples(const tc_nest *n);      /* a reduction of several accumulators */
/* Has the stage reductions to the place of an element along its one axis, of which it takes the
 * elements in their order? */
bool tc_cuda_finds_places(const tc_kernel *k, const tc_nest *n, const tc_stage *st);
bool tc_cuda_is_pass(const tc_nest *n, const tc_stage *st); /* over all sequential axes */
/* Marks the expressions that the nest's actions need. */
void tc_cuda_mark(const tc_kernel *k, const tc_nest *n, uint8_t *need);
void tc_cuda_mark_stage(const tc_kernel *k, const tc_stage *st, uint8_t *need);
/* one of those marked does */
bool tc_cuda_loads(const tc_kernel *k, const uint8_t *need, uint32_t buffer);
tc_dim tc_cuda_points(const tc_program *p, const tc_nest *n, int from, int to); /* of these axes */
bool tc_cuda_is_far(const tc_kernel *k, const tc_program *p, const tc_nest *n, const uint8_t *need);
int tc_cuda_count_passes(const tc_nest *n); /* over a row that is not kept */
/* Does the address change with the parallel axes, or with data? */
bool tc_cuda_changes(const tc_nest *n, const tc_address *a);
/* Does a load run along `across` in memory, and not along `along`? */
bool tc_cuda_crosses(const tc_expr *e, int along, int across);
/* Does the address differ from point to point, along every axis? */
bool tc_cuda_covers(const tc_nest *n, const tc_address *a);

/* LOCAL rows that live at once between two stages, in 32-bit registers an element.  need: nexpr
 * bytes, which are overwritten. */
int tc_cuda_count_rows(const tc_kernel *k, const tc_program *p, const tc_nest *n, uint8_t *need);
uint32_t tc_cuda_slice_axes(const tc_nest *n); /* SERIAL, SCATTER: those that threads share out */
/* Of a serial nest: does it do nothing but store at computed destinations?  And the axes along
 * which these are computed, by tc_cuda_depends. */
bool tc_cuda_scatters(const tc_kernel *k, const tc_nest *n, const uint8_t *need);
uint32_t tc_cuda_index_axes(const tc_nest *n, const uint32_t *depends);
size_t tc_cuda_unaligned_tile(int64_t overlap, size_t bytes); /* elements of one in shared memory */
int tc_cuda_tile_padding(size_t bytes); /* elements behind a row of an aligned one */
/* Does the stage store a point of its own for each of the nest? */
bool tc_cuda_writes_all(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                        const tc_stage *st);
/* Which axes each expression depends on (tc_print_depends), to be freed.  NULL: out of memory. */
uint32_t *tc_cuda_depends(const tc_kernel *k, const tc_nest *n);
bool tc_cuda_sums_in_f64(const tc_stage *st); /* some f32 sum of it may have an f64 total */
/* Does load `id` read what no other one of the nest reads, and nobody writes? */
bool tc_cuda_reads_once(const tc_kernel *k, const tc_nest *n, uint32_t id);
bool tc_cuda_is_only_read(const tc_kernel *k, const tc_program *p, const tc_expr *e);

/* nest/shared_cache.c: marks LOADs of rows that more than one pass reads, if `marked` is given; the
 * bytes that an item of all of them takes, 0: there are none. */
int tc_cuda_find_smem_cache(const tc_kernel *k, const tc_program *p, const tc_nest *n, int lanes,
                            uint8_t *marked);
/* The same of the loads of a list. */
int tc_cuda_cache_bytes(const tc_kernel *k, const tc_program *p, const tc_schedule_list *l,
                        int lanes);

/* row_tiles.c: arrays whose rows are next to each other in memory; how many of them may pass
 * through shared memory, and the bytes of an element of all, unless `bytes` is NULL.  The address
 * of a buffer's rows, or NULL; does an access go to these?  need: the nest's expressions
 * (tc_cuda_mark). */
int tc_cuda_row_tiles(const tc_kernel *k, const tc_program *p, const tc_nest *n, int *bytes);
const tc_address *tc_cuda_row_tile(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                   const uint8_t *need, uint32_t buffer);
bool tc_cuda_loads_by_tile(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                           const uint8_t *need, uint32_t id);
bool tc_cuda_stores_by_tile(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                            const uint8_t *need, const tc_action *a);

/* Is v, an operand of the product, an array of the multiplier's type, under no guard but of places?
 * -1: out of memory.  One of halves is copied in the background, TC_CUDA_COPIED of them at a
 * time. */
int tc_cuda_is_plain(const tc_kernel *k, const tc_program *p, tc_val v);
enum { TC_CUDA_COPIED = 8 };

/* unaligned_rows.c: the one vectorized load of a row; 0: no function takes rows that begin
 * anywhere. */
uint32_t tc_cuda_unaligned_load(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                const uint8_t *need);
/* Are there functions of a nest that peel its rows? */
bool tc_cuda_may_peel(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                      const uint8_t *need);
/* Rows of a nest that reads them several times or writes them, and may peel them all alike: where all of them begin equally
 * far behind an aligned address (in phase), the first that is stored, or loaded, says how far.  No address: there is no such
 * function. */
typedef struct tc_cuda_row {
  const tc_address *address;
  uint32_t buffer;
  size_t bytes; /* of an element */
} tc_cuda_row;
tc_cuda_row tc_cuda_phase(const tc_kernel *k, const tc_program *p, const tc_nest *n);
/* Items of a row in phase, at least: with fewer a warp has threads without any, and elements one by one take less.  Those of
 * words do as long as registers hold the row.  (H200: softmax, norms, losses and their gradients.) */
static inline int64_t tc_cuda_least_in_phase(int64_t lanes) { return lanes > 4 ? 32 : 1025; }

#endif

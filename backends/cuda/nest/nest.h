/* nest.h - a nest on its way to CUDA C, as its schedule says (schedule/schedule.h).
 *
 * kinds.c lists what prints each form: body.c what a thread does, stage.c its stages,
 * strided_loop.c the loops of a stage, actions.c what it does at a point; ../launch.c prints the C
 * that picks function and grid. */
#ifndef TC_CUDA_NEST_H
#define TC_CUDA_NEST_H

#include "backends/cuda/schedule/facts.h"
#include "backends/print/print.h"

/* A nest of a kernel, and what its schedule says. */
typedef struct tc_cuda_text {
  const tc_kernel *k;
  const tc_program *p;
  uint32_t nest;  /* its number in the kernel */
  uint32_t first; /* the number of its first function in the image */
  const tc_schedule_nest *schedule;
} tc_cuda_text;

/* The printing cursor: a place in the text of one body.  What is to be printed there is decided
 * (`plan`). */
typedef struct tc_cuda_nest {
  tc_print_scope s;
  const tc_nest *nest;
  tc_nest streamed; /* the nest, where no rows are in registers */
  uint32_t number;
  const tc_cuda_nest_schedule *plan;
  const tc_stage *stages; /* of the nest, for rows that are kept and for others */
  bool scan;                  /* the nest has one */
  /* this body keeps rows in registers; takes unaligned rows; has no tiles */
  bool in_registers, unaligned, narrow;
  bool phased;   /* its unaligned rows are in phase */
  bool peeled;   /* elements at hand are those beside the aligned ones */
  bool tiled;    /* its rows pass through shared memory */
  bool overlaps; /* columns: the last item may begin earlier */
  bool dense;    /* lanes go on from row to row */
  tc_dim dense_steps[TC_MAX_AXES];
  char lane_text[TC_MAX_AXES][16];
  bool anywhere; /* TC_ANYWHERE says in which functions of it loads begin anywhere */
  uint8_t *need; /* the expressions of the nest, where they do */
  uint32_t parallel; /* mask of the parallel axes */
  uint32_t divisors; /* axes whose items tc_divisor n<i> counts in the loop at hand */
  bool whole;        /* all TC_U items at hand are there */
  bool decoded;      /* k<i>[u]: indices of the items at hand, found for the early loads */
  const char *unroll; /* items at hand: TC_U, or half of them */
  char axis_text[TC_MAX_AXES][16];
  char (*result_text)[16];
  const char **result;
  uint32_t *result_axes;
  /* Per expression.  early: a LOAD that was issued before the loop over the items at hand, as
   * w<id>[u]; prefetched: the same in front of the row's first reduction, until the row ends. */
  uint8_t *early, *prefetched;
  uint8_t *smem_cache; /* per expression: a tc_cuda_smem */
  uint8_t *residency;  /* per expression: a tc_cuda_residency */
} tc_cuda_nest;

extern const tc_spelling tc_cuda_words;

/* conditions.c: conditions of functions.
 *
 * What 16-byte accesses take for granted, as ` && (...)`: alignment, sizes that are multiples of
 * TC_L.  And what 32-bit indices do: small buffers and (points) iteration spaces. */
void tc_cuda_put_aligned(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const tc_cuda_nest_schedule *s, tc_buf *loads,
                         tc_buf *stores /* and sizes, and shared rows; may be the same */);
/* ... of stores that all points together make one behind another. */
void tc_cuda_put_dense(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s, tc_buf *out);
void tc_cuda_put_small(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       const tc_cuda_nest_schedule *s, bool points, tc_buf *out);

/* transpose.c: by way of shared memory, or (narrow) point by point. */
void tc_cuda_put_transpose(tc_cuda_nest *x);

/* transpose_unaligned.c: transposes of arrays whose rows begin anywhere.
 *
 * The tile at hand: fills shared memory, and stores. */
void tc_cuda_put_unaligned_tile(tc_cuda_nest *x);
/* Writes what stands for LOAD `id` there. */
bool tc_cuda_take_unaligned_load(const tc_cuda_nest *x, uint32_t id, tc_buf *out);
/* copies.c: the load of a tile that an action stores as it is, or 0; loads that all actions only
 * copy need no value. */
uint32_t tc_cuda_copied(const tc_cuda_nest *x, const tc_action *a);
void tc_cuda_skip_copied(tc_cuda_nest *x);

/* body.c: the statements of one thread of a nest, as they stand in the function template. */
typedef enum {
  TC_CUDA_IN_REGISTERS,
  TC_CUDA_ROW_TILES,
  TC_CUDA_PLAIN,
  TC_CUDA_UNALIGNED,
  TC_CUDA_NARROW,
  TC_CUDA_PHASED,
  TC_CUDA_PHASED_IN_REGISTERS,
  TC_CUDA_DENSE,
  TC_CUDA_BODY_KINDS
} tc_cuda_body_kind;
bool tc_cuda_put_body(const tc_cuda_text *text, tc_cuda_body_kind kind, tc_buf *out);

/* A loop over the items of a thread, which are `step` apart. */
typedef struct tc_cuda_loop {
  const tc_stage *st;
  uint32_t axes;            /* that an item is decoded into */
  const char *first, *step; /* first item of the thread; from one of its items to the next */
  const char *hop;          /* from TC_U items to the next TC_U */
  bool once;                /* TC_U items are all */
  /* there is one at least, and early loads beyond the last are of that: in conditions of their own they would hardly
   * overlap (H100: 2.5 TB/s for 1.2 of single bf16 elements) */
  bool clamped;
} tc_cuda_loop;
void tc_cuda_put_loop(tc_cuda_nest *x, const tc_cuda_loop *w); /* strided_loop.c */

/* items.c: product of the extents of the axes, the vector axis in steps of TC_L. */
void tc_cuda_put_count(tc_cuda_nest *x, uint32_t axes, tc_buf *out);
/* Divisors n<i> of the axes whose extents only the launch knows: their reciprocals are found
 * once. */
void tc_cuda_put_divisors(tc_cuda_nest *x, uint32_t axes);
void tc_cuda_put_decode(tc_cuda_nest *x, uint32_t axes, const char *item);
/* a variable's name */
void tc_cuda_put_decode_by(tc_cuda_nest *x, uint32_t axes, const char *item, const char *rest);
/* The items at hand from `base` on: a loop that decodes each.  Are all of them there (x->whole), none is asked
 * for; of a clamped loop those beyond the last are the last one then. */
void tc_cuda_open_items(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base);
void tc_cuda_close_items(tc_cuda_nest *x);

/* early_loads.c: those of the stage, in front of the loop over the items at hand; they hold until
 * tc_cuda_end_loads. */
void tc_cuda_put_loads(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base);
void tc_cuda_end_loads(tc_cuda_nest *x);
/* Rows in registers: declares what later stages load and all rows share.  The first stage
 * prefetches it into registers while it waits for the row itself. */
void tc_cuda_declare_prefetched(tc_cuda_nest *x);
void tc_cuda_put_prefetched(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base);
/* Rows by tiles: the same of all stages, in front of the loop over tiles. */
void tc_cuda_put_loads_once(tc_cuda_nest *x);
/* Writes what stands for LOAD `id` where it was issued early. */
bool tc_cuda_take_early(const tc_cuda_nest *x, uint32_t id, tc_buf *out);
/* ... of both rows that the lanes are in, as they are there. */
bool tc_cuda_take_rows(const tc_print_scope *s, uint32_t id, tc_buf *out);
/* What loads neighbours where TC_ANYWHERE says in which functions loads begin anywhere; NULL: this
 * one does not. */
const char *tc_cuda_load_neighbours(const tc_print_scope *s, uint32_t id);

/* flat_rows.c: loads that skip what lies between rows of which the nest counts the elements.  Is it one?  In front of the
 * loop over items: rows<i>, by which elements are divided; at one: row<i>, the
 * address of a load, and the load itself where lanes go on from row to row. */
bool tc_cuda_loads_by_row(const tc_cuda_nest *x, uint32_t id);
void tc_cuda_put_row_divisors(tc_cuda_nest *x, const tc_stage *st);
void tc_cuda_put_rows_at_hand(tc_cuda_nest *x, const uint8_t *loads);
void tc_cuda_put_row_address(const tc_cuda_nest *x, uint32_t id, tc_buf *out);
void tc_cuda_put_row_load(const tc_cuda_nest *x, uint32_t id, tc_buf *out);
/* Rows that only loads at hand name need no value. */
void tc_cuda_skip_rows(tc_cuda_nest *x, const tc_stage *st);

/* dense_stores.c: lanes that go on from row to row.  Names their indices; declares those of the item at hand, and the rows that
 * its elements are in, of which row<row> is the first. */
void tc_cuda_open_dense(tc_cuda_nest *x);
void tc_cuda_put_lane_indices(tc_cuda_nest *x, const int list[], int n); /* all axes, to the fastest */
void tc_cuda_put_lane_rows(tc_cuda_nest *x, uint32_t row, tc_dim width);
/* LOAD `id` of elements that lie apart, in all lanes, or in both rows where each has one (tc_cuda_is_of_rows); of one that skips
 * what lies between rows. */
bool tc_cuda_is_of_rows(const tc_cuda_nest *x, uint32_t id);
void tc_cuda_put_load_of_lanes(tc_cuda_nest *x, uint32_t id, tc_buf *out);
void tc_cuda_put_lanes_by_row(const tc_cuda_nest *x, uint32_t id, uint32_t row, tc_buf *out);

/* shared_cache.c: rows that several passes read are cached in shared memory by the first. */
typedef enum { TC_CUDA_SMEM_NONE, TC_CUDA_SMEM_FILL, TC_CUDA_SMEM_FILLED } tc_cuda_smem;
/* Declares cached, the number of items that find room, and s<id>, where those of LOAD id lie. */
void tc_cuda_declare_smem_cache(tc_cuda_nest *x);
/* The loads at hand that later passes need, to shared memory. */
void tc_cuda_put_smem_fill(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base);

/* l2_residency.c: hints for lines of arrays that are larger than the L2 cache. */
typedef enum { TC_CUDA_NO_HINT, TC_CUDA_READ_ONCE, TC_CUDA_READ_OFTEN } tc_cuda_residency;
/* Marks the loads of the nest that have such; the bytes of a point that they read once. */
void tc_cuda_mark_residency(tc_cuda_nest *x);
int tc_cuda_resident_bytes(const tc_cuda_text *x);
/* Declares policy, the residency policy of lines: evict_last if the kernel's parameter
 * release_from, the row from which on lines are released, is below the number of rows. */
void tc_cuda_declare_residency(tc_cuda_nest *x);
/* Does the stage release lines?  Prints that for the item at hand. */
bool tc_cuda_releases(const tc_cuda_nest *x, const tc_stage *st);
void tc_cuda_put_release(tc_cuda_nest *x);

/* row_tiles.c: rows of a block in shared memory.
 *
 * Opens and closes the loops over tiles and the rows of one: point, which is live if the thread has
 * one of its own. */
void tc_cuda_open_row_tiles(tc_cuda_nest *x);
void tc_cuda_close_row_tiles(tc_cuda_nest *x);
/* Writes what stands for LOAD `id`, and prints a store, where those are by tile. */
bool tc_cuda_take_tiled_load(const tc_cuda_nest *x, uint32_t id, tc_buf *out);
bool tc_cuda_take_tiled_store(tc_cuda_nest *x, const tc_action *a);

/* ... rows in phase with those that say where items begin. */
void tc_cuda_put_in_phase(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                          const tc_cuda_nest_schedule *s, tc_buf *loads, tc_buf *stores);

/* unaligned_rows.c: rows that begin anywhere.
 *
 * Declares the aligned items of the row, head, the elements in front of them, and ends, the peeled
 * elements: head and tail. */
void tc_cuda_put_peeled_bounds(tc_cuda_nest *x);
/* Opens and closes the loop over the peeled elements, whose values are uniform. */
void tc_cuda_open_peeled(tc_cuda_nest *x);
void tc_cuda_close_peeled(tc_cuda_nest *x);
/* The reductions of a stage over the peeled elements. */
void tc_cuda_put_peeled(tc_cuda_nest *x, const tc_stage *st);

void tc_cuda_put_stages(tc_cuda_nest *x); /* stage.c */

/* actions.c: of a stage at a point; in front of its loops, and behind them.  A fold adds
 * accumulators to f64 totals. */
bool tc_cuda_has_scan(const tc_stage *st);
void tc_cuda_declare_results(tc_cuda_nest *x, const tc_stage *st);
void tc_cuda_put_carries(tc_cuda_nest *x, const tc_stage *st);
/* r<i> in every thread of the group */
void tc_cuda_put_results(tc_cuda_nest *x, const tc_stage *st);
void tc_cuda_put_actions(tc_cuda_nest *x, const tc_stage *st);
void tc_cuda_put_accumulators(tc_cuda_nest *x, const tc_stage *st, bool totals);
void tc_cuda_put_accumulator(tc_cuda_nest *x, const tc_stage *st, const tc_action *a);
void tc_cuda_put_fold(tc_cuda_nest *x, const tc_stage *st);
bool tc_cuda_is_total(const tc_cuda_nest *x, const tc_stage *st, const tc_action *a);
bool tc_cuda_folds(const tc_cuda_nest *x, const tc_stage *st);

/* term_sums.c: stages that sum terms of a reduction (tc_action.term), many items at a time.  Is it
 * one, here? */
bool tc_cuda_sums_terms(const tc_cuda_nest *x, const tc_stage *st);
void tc_cuda_put_term_sums(tc_cuda_nest *x, const tc_stage *st);

/* The prefix of a stage's accumulators: do lanes run along its elements, or along results?  Then
 * there is a vector of each. */
static inline const char *tc_cuda_kind(const tc_cuda_nest *x, const tc_stage *st) {
  const int v = x->s.vector;
  return v >= 0 && ((st->axes | x->parallel) >> v & 1) ? "tc_v" : "tc_u";
}

/* in_order.c: reductions to the place of an element, by stages that take elements in their order.
 * Is one, at hand? What is in front of the loop over the items, at each, and behind the loop: the
 * accumulators acc<i> of the thread. */
bool tc_cuda_is_in_order(const tc_cuda_nest *x, const tc_stage *st, const tc_action *a);
void tc_cuda_begin_in_order(tc_cuda_nest *x, const tc_cuda_loop *w);
void tc_cuda_put_in_order(tc_cuda_nest *x, const tc_stage *st, const tc_action *a);
void tc_cuda_end_in_order(tc_cuda_nest *x, const tc_cuda_loop *w);

/* kinds.c: what is printed for each form of nest, by tc_cuda_form. */
typedef struct tc_cuda_launch {
  const tc_cuda_text *text;
  const tc_kernel *k;
  const tc_program *p;
  const tc_nest *n;
  const tc_cuda_nest_schedule *plan;
  tc_buf *out;
} tc_cuda_launch;
typedef struct tc_cuda_printer {
  const char *name;
  void (*put)(tc_cuda_nest *x);            /* what a thread does */
  void (*launch)(const tc_cuda_launch *x); /* group, block, shared, grid, from sizes and `f` */
} tc_cuda_printer;
extern const tc_cuda_printer tc_cuda_kinds[];
void tc_cuda_put_flat(tc_cuda_nest *x);
void tc_cuda_put_rows(tc_cuda_nest *x);
void tc_cuda_put_columns(tc_cuda_nest *x);
void tc_cuda_put_serial(tc_cuda_nest *x); /* scatter.c */
void tc_cuda_put_scatter(tc_cuda_nest *x);

/* launch.c */
void tc_cuda_put_launcher(const tc_kernel *k, const tc_program *p, const tc_cuda_text *nests,
                          const tc_buf *bodies, tc_buf *out);
/* rest: of the parameters, behind those that are always there. */
void tc_cuda_put_host_head(const tc_kernel *k, const tc_program *p, const char *name,
                           const char *rest, const char *body, tc_buf *out);

/* siblings.c: is the kernel one of siblings, and does one launch run them?  Then its functions take
 * a table; their templates take, in front of all else, the sibling's own blocks. */
bool tc_cuda_joins(const tc_cuda_text *t, const char *body);
/* The parameter of such a function, and statements that find the block's sibling and declare all
 * that `body` names. */
extern const char tc_cuda_table_parameter[];
void tc_cuda_put_own_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                                tc_buf *out);
/* In the launcher of one sibling: adds it to the launch of function f.  And the launcher of all. */
void tc_cuda_put_join(const tc_kernel *k, const tc_program *p, const char *body, tc_buf *out);
void tc_cuda_put_siblings_launcher(const tc_kernel *k, int functions, tc_buf *out);
/* C that such launchers use. */
void tc_cuda_put_sibling_helpers(tc_buf *out);

/* One nest: its functions; `both` receives the bodies.  And its launch. */
bool tc_cuda_put_nest(const tc_cuda_text *text, tc_buf *both, tc_buf *out);
void tc_cuda_put_nest_launch(const tc_cuda_text *text, const char *body, tc_buf *out);

/* matmul.c; *functions: how many there are */
bool tc_cuda_put_matmul(const tc_kernel *k, const tc_program *p, tc_buf *device, tc_buf *host,
                        uint32_t *functions);

/* ../sort.c */
bool tc_cuda_put_sort(const tc_kernel *k, const tc_program *p, tc_buf *device, tc_buf *host,
                      uint32_t *functions);

/* library.c: the product by cuBLASLt, where it can take it: statements of the launcher that return
 * when it did, unless `own` (C; the product is `mm`), and functions from number `first` on for the
 * rest of the epilogue.  The next free number. */
uint32_t tc_cuda_put_library(const tc_kernel *k, const tc_program *p, uint32_t first,
                             const char *own, tc_buf *device, tc_buf *host, bool *failed);

/* parameters.c: those that a body's text names, in their order.  LAUNCH: the launcher found it out,
 * and hands it on to one launch.  shared: siblings have it in common.  false: out of memory. */
typedef enum { TC_CUDA_POINTER, TC_CUDA_INTEGER, TC_CUDA_NUMBER, TC_CUDA_LAUNCH } tc_cuda_parameter_kind;
typedef struct tc_cuda_parameter {
  const char *name, *type, *comment; /* it is declared as type, name, comment */
  const char *address;               /* of its 8 bytes, in the launcher */
  tc_cuda_parameter_kind kind;
  bool shared;
} tc_cuda_parameter;
typedef void tc_cuda_each_parameter(const tc_cuda_parameter *a, void *arg);
bool tc_cuda_visit_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                              tc_cuda_each_parameter *each, void *arg);
/* All of them, as declared, as passed on, and as the launcher's array of addresses. */
typedef enum { TC_CUDA_DECLARE, TC_CUDA_PASS, TC_CUDA_ADDRESS } tc_cuda_use;
void tc_cuda_put_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                            tc_cuda_use use, tc_buf *out);
bool tc_cuda_names(const char *text, const char *word);
/* The first statements of a function that tc_cuda_follow launches: it begins before the one in
 * front of it has ended, waits, and looks at memory then; global: by addresses that the compiler
 * knows to be of global memory. */
void tc_cuda_put_wait(const tc_kernel *k, const tc_program *p, const char *body, bool global,
                      tc_buf *out);
/* Declares the symbols that a body names, of the type of its index arithmetic. */
void tc_cuda_put_symbols(const tc_program *p, const char *text, tc_buf *out);
/* Kernels whose results are halves use approximate elementary functions: the text in front of one,
 * and behind it. */
void tc_cuda_put_approximate_math(const tc_kernel *k, bool begin, tc_buf *out);

#endif

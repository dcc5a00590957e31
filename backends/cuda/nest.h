/* nest.h - a nest on its way to CUDA C.
 *
 * A nest takes one of five forms.
 *   FLAT     one stage of stores: a thread takes TC_L neighbouring points, TC_U of them at a time.
 *   TILES    the same where loads and stores run along different axes: a block takes a square of
 *            points, by way of shared memory.
 *   ROWS     stages over inner axes, lanes along them (or none): a team of neighbouring threads for
 *            each outer point.  Rows between stages (LOCAL buffers) live in registers: every thread
 *            keeps the items it computed itself.
 *   COLUMNS  the same with lanes along an outer axis: neighbouring threads are neighbouring outer
 *            points, a team is a column of the block.
 *   SERIAL   points in order (scatter): a thread owns destinations, and looks at every point.
 *
 * plan.c decides; body.c prints what a thread does, walk.c its loops, stage.c reductions and scans;
 * launch.c prints the C that picks function and grid. */
#ifndef TC_CUDA_NEST_H
#define TC_CUDA_NEST_H

#include "backends/print/print.h"

typedef enum {
  TC_CUDA_FLAT,
  TC_CUDA_TILES,
  TC_CUDA_ROWS,
  TC_CUDA_COLUMNS,
  TC_CUDA_SERIAL
} tc_cuda_kind;

enum {
  TC_CUDA_THREADS = 256, /* of a block, but for teams of more */
  TC_CUDA_TEAM = 512,    /* threads of the largest team */
  TC_CUDA_GENERAL = 4    /* items in flight where accesses are of one element */
};

typedef struct tc_cuda_plan {
  tc_cuda_kind kind;
  int lanes;  /* TC_L of the wide function: elements of a 16-byte access */
  int unroll; /* TC_U of the wide function: items that a thread loads before it uses the first */
  bool kept;  /* the wide function keeps rows in registers: TC_U items a thread */
  int group;  /* kept rows of constant length: threads of a team; 0: the launcher says */
  bool scan, args;   /* has a scan; has argmax or argmin */
  int along, across; /* TILES: axis of the stores, axis of the loads */
  uint32_t extra;    /* kept rows of any length: number of the function for those that do not fit */
  bool far;          /* index arithmetic may exceed 32 bits whatever the sizes of the buffers */
} tc_cuda_plan;

typedef struct tc_cuda_nest {
  tc_print_scope s;
  const tc_nest *nest;
  uint32_t number;
  tc_cuda_plan plan;
  bool kept;      /* this body keeps rows in registers */
  uint32_t outer; /* mask of the outer axes */
  char axis_text[TC_MAX_AXES][16];
  char (*result_text)[16];
  const char **result;
  uint32_t *result_axes;
  uint8_t *early; /* per expression: a LOAD that has been issued ahead, as w<id>[u] */
} tc_cuda_nest;

extern const tc_spelling tc_cuda_words;

/* plan.c */
tc_cuda_plan tc_cuda_plan_nest(const tc_kernel *k, const tc_program *p, const tc_nest *n);
bool tc_cuda_has_rows(const tc_kernel *k, const tc_program *p);
/* What the wide function takes for granted, as ` && (...)`: alignment, sizes that are multiples of
 * TC_L, buffers and (points) iteration spaces that 32-bit indices reach. */
void tc_cuda_put_conditions(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                            const tc_cuda_plan *plan, bool points, tc_buf *out);
int tc_cuda_each(const tc_cuda_plan *plan);
bool tc_cuda_is_walked(const tc_nest *n, const tc_stage *st); /* over all inner axes */
uint32_t tc_cuda_parallel_axes(const tc_nest *n); /* SERIAL: those that threads share out */

/* tiles.c */
bool tc_cuda_plan_tiles(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                        const uint8_t *need, tc_cuda_plan *plan);
void tc_cuda_put_tiles(tc_cuda_nest *x);

/* rows.c: a copy of the kernel in which LOCAL rows are computed again where they are read. */
bool tc_cuda_without_rows(const tc_kernel *k, const tc_program *p, tc_kernel *out, tc_arena *arena);

/* body.c: the statements of one thread of a nest, as they stand in the function template. */
bool tc_cuda_put_body(const tc_kernel *k, const tc_program *p, uint32_t nest,
                      const tc_cuda_plan *plan, bool kept, tc_buf *out);

/* walk.c */
typedef struct tc_cuda_walk {
  const tc_stage *st;
  uint32_t axes;            /* that an item is decoded into */
  const char *first, *step; /* first item of the thread; from one of its items to the next */
  const char *hop;          /* from TC_U items to the next TC_U */
  bool once;                /* TC_U items are all */
} tc_cuda_walk;
void tc_cuda_put_walk(tc_cuda_nest *x, const tc_cuda_walk *w);
/* Writes what stands for LOAD `id` where it has been issued ahead. */
bool tc_cuda_take_early(const tc_cuda_nest *x, uint32_t id, tc_buf *out);
void tc_cuda_put_decode(tc_cuda_nest *x, uint32_t axes, const char *item);
/* Product of the extents of the axes, the vector axis in steps of TC_L. */
void tc_cuda_put_count(tc_cuda_nest *x, uint32_t axes, tc_buf *out);

/* stage.c */
void tc_cuda_put_stages(tc_cuda_nest *x);
void tc_cuda_put_actions(tc_cuda_nest *x, const tc_stage *st);
void tc_cuda_put_accumulators(tc_cuda_nest *x, const tc_stage *st, bool totals);
void tc_cuda_put_fold(tc_cuda_nest *x, const tc_stage *st);
bool tc_cuda_folds(const tc_cuda_nest *x, const tc_stage *st);

/* launch.c */
void tc_cuda_put_launcher(const tc_kernel *k, const tc_program *p, const tc_cuda_plan *plan,
                          const tc_buf *bodies, tc_buf *out);
void tc_cuda_put_host_head(const tc_program *p, const char *body, tc_buf *out);

/* One nest: its functions 2i and 2i + 1; `both` receives the bodies.  And its launch. */
bool tc_cuda_put_nest(const tc_kernel *k, const tc_kernel *plain, const tc_program *p, uint32_t i,
                      const tc_cuda_plan *plan, tc_buf *both, tc_buf *out);
void tc_cuda_put_nest_launch(const tc_kernel *k, const tc_program *p, uint32_t i,
                             const tc_cuda_plan *plan, const char *body, tc_buf *out);

/* matmul.c; *functions: how many there are */
bool tc_cuda_put_matmul(const tc_kernel *k, const tc_program *p, tc_buf *device, tc_buf *host,
                        uint32_t *functions);

/* library.c: the product by cuBLASLt, where it can take it: statements of the launcher that return
 * when it did, and functions 2 and 3 for the rest of the epilogue.  The number of functions. */
uint32_t tc_cuda_put_library(const tc_kernel *k, const tc_program *p, tc_buf *device, tc_buf *host,
                             bool *failed);

/* kernel.c: parameters that a body's text names, as declared, as passed on, and as the launcher's
 * array of addresses. */
typedef enum { TC_CUDA_DECLARE, TC_CUDA_PASS, TC_CUDA_ADDRESS } tc_cuda_form;
void tc_cuda_put_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                            tc_cuda_form form, tc_buf *out);
bool tc_cuda_names(const char *text, const char *word);

#endif

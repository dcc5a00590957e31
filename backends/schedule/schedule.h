/* schedule.h - how the nests of a kernel run on a machine: what all backends' schedules share.
 *
 * A backend's `plan` makes one schedule for each kernel of nests, in the program's arena, and
 * nobody changes it afterwards: printers read it and decide nothing.  The decisions themselves are
 * structs of the backend, of three levels: of a kernel, of a nest, of a stage.
 *
 * A nest has one or more variants.  At run time the first runs whose conditions hold; the last has
 * none. */
#ifndef TC_SCHEDULE_H
#define TC_SCHEDULE_H

#include "lower/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* extent(axis) < bound, or >= bound; in vectors: >= bound times the lanes of a vector.  Of an axis
 * that runs over chunks of a longer one, the extent of that. */
typedef struct tc_schedule_compare {
  int axis;
  bool less, vectors;
  int64_t bound;
} tc_schedule_compare;

enum { TC_SCHEDULE_COMPARES = 4 };

typedef struct tc_schedule_variant {
  uint32_t nwhen; /* all of them hold */
  tc_schedule_compare when[TC_SCHEDULE_COMPARES];
  const void *nest;  /* the backend's decisions of a nest, */
  const void *stage; /* and an array of those of its stages */
  /* of the text that says so, for each word (words.h); NULL: it was planned */
  const uint32_t *line;
} tc_schedule_variant;

typedef struct tc_schedule_nest {
  /* the backend's decisions that hold in all variants; NULL: it has none such */
  const void *common;
  const uint32_t *line; /* as of a variant */
  uint32_t nvariant;
  tc_schedule_variant *variant;
} tc_schedule_nest;

/* Of a kernel.  That of a product says which nests do it, for sizes for which these are faster than
 * the template: a kernel with a schedule of its own, or NULL. */
typedef struct tc_schedule {
  const void *kernel;     /* the backend's decisions of a kernel */
  const uint32_t *line;   /* as of a variant */
  tc_schedule_nest *nest; /* one for each nest of the kernel */
  tc_kernel *product;
} tc_schedule;

/* Numbers in ascending order. */
typedef struct tc_schedule_list {
  uint32_t n;
  uint32_t *at;
} tc_schedule_list;

bool tc_schedule_has(const tc_schedule_list *l, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif

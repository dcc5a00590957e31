/* reduction.h - the table of reductions (graph/ops/reductions.def). */
#ifndef TC_REDUCTION_H
#define TC_REDUCTION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tc_reducer {
  TC_REDUCE_NONE,
#define TC_REDUCER(id, ...) TC_REDUCE_##id,
#include "graph/ops/reductions.def"
  TC_REDUCE_COUNT
} tc_reducer;

enum { TC_MAX_ACCUMULATORS = 2 }; /* of a reduction */

typedef enum tc_accumulator_type { TC_ACCUMULATES_ELEMENT, TC_ACCUMULATES_POSITION } tc_accumulator_type;
typedef enum tc_identity { TC_IDENTITY_ZERO, TC_IDENTITY_ONE, TC_IDENTITY_LEAST, TC_IDENTITY_MOST } tc_identity;

/* A row; the columns mean what the head of the table says. */
typedef struct tc_accumulator {
  tc_accumulator_type type;
  tc_identity identity;
  const char *lift, *combine;
  bool rounds;
  const char *term, *rescale; /* both or none */
  const char *later;          /* of a position, or none */
} tc_accumulator;

typedef struct tc_reducer_info {
  const char *text;
  int result;
  tc_accumulator keep[TC_MAX_ACCUMULATORS];
  int n; /* accumulators */
} tc_reducer_info;

/* Every reducer but TC_REDUCE_NONE has a row. */
const tc_reducer_info *tc_reducer_get(tc_reducer r);

#ifdef __cplusplus
}
#endif
#endif

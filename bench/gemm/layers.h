/* layers.h - where a product's time goes.  Text put before the kernels of a unit sends their calls
 * of the blocked driver through one that can time the callbacks, or run the largest tile alone. */
#ifndef BENCH_GEMM_LAYERS_H
#define BENCH_GEMM_LAYERS_H

#include <stdbool.h>

#include "mm_case.h"

extern const char layers_text[];

typedef struct layers {
  double tiles, a, b, epilogue; /* shares of the threads' time */
  double alone;                 /* GFLOP/s of the largest tile on panels in the near caches */
} layers;

/* The fastest of some calls of f from the library, its time taken apart; and the tile alone.  False
 * where f multiplies without the driver. */
bool layers_measure(void *library, mm_function *f, void *const *buf, const int64_t *sym,
                    int threads, layers *l);

#endif
